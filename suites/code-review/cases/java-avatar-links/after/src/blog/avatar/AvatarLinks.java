package blog.avatar;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;

/** Makes links to pictures at the avatar service. */
public final class AvatarLinks {
    private static final String SERVICE = "https://avatars.example.org/avatar/";
    private static final String NOBODY = "0".repeat(32);

    private final BlockList blocked;
    private final int size;

    public AvatarLinks(BlockList blocked, int size) {
        this.blocked = blocked;
        this.size = size;
    }

    /** The link for an address; blocked and missing addresses share one neutral picture. */
    public String link(String email) {
        if (email == null || email.isBlank()) {
            return SERVICE + NOBODY + "?s=" + size;
        }
        String normal = email.strip().toLowerCase(Locale.ROOT);
        return SERVICE + (blocked.contains(normal) ? NOBODY : digest(normal)) + "?s=" + size;
    }

    private static String digest(String address) {
        try {
            MessageDigest digest = MessageDigest.getInstance("MD5");
            return HexFormat.of().formatHex(digest.digest(address.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            // Every Java platform has to have it.
            throw new IllegalStateException(e);
        }
    }
}
