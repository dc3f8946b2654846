import fleet.channel.Channel;
import fleet.channel.ChannelPool;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

public class Proof {
    public static void main(String[] args) throws Exception {
        AtomicInteger opened = new AtomicInteger();
        CountDownLatch both = new CountDownLatch(2);
        ChannelPool pool = new ChannelPool(id -> {
            opened.incrementAndGet();
            both.countDown();
            try {
                // Waits for the other thread, which arrives here only if nothing keeps it out.
                both.await(3, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return new Channel() {
                public String send(String command) {
                    return command;
                }

                public void close() {}
            };
        }, () -> 0L, 1000);
        Thread[] threads = new Thread[2];
        for (int i = 0; i < 2; i++) {
            threads[i] = new Thread(() -> pool.acquire("pump-7"));
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (opened.get() != 1) {
            System.err.println(opened.get() + " channels were opened for one device");
            System.exit(1);
        }
    }
}
