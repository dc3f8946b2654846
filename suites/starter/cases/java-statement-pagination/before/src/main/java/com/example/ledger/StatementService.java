package com.example.ledger;

import java.util.Comparator;
import java.util.List;

/** Lists the entries of an account, newest first. */
public final class StatementService {

    /** One booking on an account. */
    public record Entry(Long id, String text, long cents, long bookedAt) {}

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
}
