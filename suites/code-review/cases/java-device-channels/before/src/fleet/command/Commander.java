package fleet.command;

import fleet.channel.Channel;
import fleet.channel.Connector;

/** Sends commands to devices on behalf of the worker threads. */
public final class Commander {
    private final Connector connector;

    public Commander(Connector connector) {
        this.connector = connector;
    }

    public String execute(String deviceId, String command) {
        Channel channel = connector.open(deviceId);
        try {
            return channel.send(command);
        } finally {
            channel.close();
        }
    }
}
