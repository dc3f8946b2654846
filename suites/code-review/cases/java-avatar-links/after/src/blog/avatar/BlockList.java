package blog.avatar;

import java.util.Set;
import java.util.function.Supplier;

/** Addresses whose picture is not shown. */
public final class BlockList {
    private final Supplier<Set<String>> loader;
    private volatile Set<String> addresses;

    public BlockList(Supplier<Set<String>> loader) {
        this.loader = loader;
    }

    public boolean contains(String address) {
        return addresses().contains(address);
    }

    private Set<String> addresses() {
        Set<String> result = addresses;
        if (result == null) {
            synchronized (this) {
                if (addresses == null) {
                    addresses = Set.copyOf(loader.get());
                }
                result = addresses;
            }
        }
        return result;
    }
}
