import fleet.channel.Channel;
import fleet.channel.ChannelException;
import fleet.channel.ChannelPool;
import java.util.concurrent.atomic.AtomicLong;

public class Proof {
    public static void main(String[] args) {
        AtomicLong now = new AtomicLong();
        ChannelPool pool = new ChannelPool(id -> new Channel() {
            public String send(String command) {
                return command;
            }

            public void close() {
                throw new ChannelException("gateway gone");
            }
        }, now::get, 1000);
        for (int i = 0; i < 5; i++) {
            pool.acquire("d" + i);
            pool.release("d" + i);
        }
        now.set(5000);
        try {
            pool.closeIdle();
        } catch (ChannelException e) {
            System.err.println("the round ended early: " + e);
        }
        if (pool.size() != 0) {
            System.err.println(pool.size() + " idle channels are left");
            System.exit(1);
        }
    }
}
