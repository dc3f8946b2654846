package fleet.channel;

/** The device or its gateway did not answer as expected. */
public class ChannelException extends RuntimeException {
    public ChannelException(String message) {
        super(message);
    }
}
