package com.example.ledger;

import java.util.Comparator;
import java.util.List;

/** Lists the entries of an account, newest first, a page at a time. */
public final class StatementService {

    /** One booking on an account. */
    public record Entry(Long id, String text, long cents, long bookedAt) {}

    /** A page of entries; the first page has number 1. */
    public record Page(int number, List<Entry> entries, boolean last) {}

    /** Where entries come from. */
    public interface EntryStore {
        List<Entry> entriesOf(String accountId);
    }

    private final EntryStore store;

    public StatementService(EntryStore store) {
        this.store = store;
    }

    public List<Entry> statement(String accountId) {
        return store.entriesOf(accountId).stream()
                .sorted(Comparator.comparingLong(Entry::bookedAt).reversed())
                .toList();
    }

    public Page page(String accountId, int number, int size) {
        if (number < 1 || size < 1) {
            throw new IllegalArgumentException("page number and size start at 1");
        }
        List<Entry> all = statement(accountId);
        int from = number * size;
        if (from >= all.size()) {
            return new Page(number, List.of(), true);
        }
        int to = Math.min(from + size, all.size());
        return new Page(number, all.subList(from, to), to == all.size());
    }

    /** The entries older than the one a client saw last; all of them when that one is unknown. */
    public List<Entry> after(String accountId, Long lastSeenId) {
        List<Entry> all = statement(accountId);
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i).id() == lastSeenId) {
                return all.subList(i + 1, all.size());
            }
        }
        return all;
    }
}
