package fleet.command;

import fleet.channel.Channel;
import fleet.channel.ChannelPool;

/** Sends commands to devices on behalf of the worker threads. */
public final class Commander {
    private final ChannelPool pool;

    public Commander(ChannelPool pool) {
        this.pool = pool;
    }

    public String execute(String deviceId, String command) {
        Channel channel = pool.acquire(deviceId);
        try {
            return channel.send(command);
        } finally {
            pool.release(deviceId);
        }
    }
}
