package fleet.channel;

/** Opens channels; takes up to two seconds over a mobile network. */
public interface Connector {
    Channel open(String deviceId) throws ChannelException;
}
