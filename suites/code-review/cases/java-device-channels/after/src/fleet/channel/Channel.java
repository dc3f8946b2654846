package fleet.channel;

/** An open connection to a device. Implementations may be used by several threads. */
public interface Channel {
    String send(String command) throws ChannelException;

    void close() throws ChannelException;
}
