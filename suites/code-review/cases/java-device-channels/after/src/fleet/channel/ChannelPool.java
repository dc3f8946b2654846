package fleet.channel;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/** Keeps one open channel for each device. */
public final class ChannelPool {
    private static final System.Logger LOG = System.getLogger("fleet.channel");

    private static final class Entry {
        final Channel channel;
        final AtomicInteger users = new AtomicInteger();
        volatile long lastUsed;

        Entry(Channel channel) {
            this.channel = channel;
        }
    }

    private final Map<String, Entry> entries = new ConcurrentHashMap<>();
    private final Connector connector;
    private final LongSupplier clock;
    private final long idleMillis;

    public ChannelPool(Connector connector, LongSupplier clock, long idleMillis) {
        this.connector = connector;
        this.clock = clock;
        this.idleMillis = idleMillis;
    }

    /** Returns the channel of a device; the caller gives it back with {@link #release}. */
    public Channel acquire(String deviceId) {
        Entry entry = entries.get(deviceId);
        if (entry == null) {
            entry = new Entry(connector.open(deviceId));
            entries.put(deviceId, entry);
        }
        entry.users.incrementAndGet();
        entry.lastUsed = clock.getAsLong();
        return entry.channel;
    }

    public void release(String deviceId) {
        Entry entry = entries.get(deviceId);
        if (entry != null) {
            entry.lastUsed = clock.getAsLong();
            entry.users.decrementAndGet();
        }
    }

    /** Closes the channels that nobody has used for a while, and returns their number. */
    public int closeIdle() {
        long now = clock.getAsLong();
        int closed = 0;
        for (String deviceId : entries.keySet()) {
            Channel[] idle = new Channel[1];
            entries.computeIfPresent(deviceId, (id, entry) -> {
                if (entry.users.get() > 0 || now - entry.lastUsed < idleMillis) {
                    return entry;
                }
                idle[0] = entry.channel;
                return null;
            });
            if (idle[0] != null) {
                idle[0].close();
                closed++;
            }
        }
        LOG.log(System.Logger.Level.DEBUG, "{0} idle channels closed", closed);
        return closed;
    }

    public int size() {
        return entries.size();
    }
}
