package harbour.invoice;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** The short name under which an invoice is filed. */
public final class FileName {
    private FileName() {
    }

    public static String of(String customer, int number) throws NoSuchAlgorithmException {
        MessageDigest digest = MessageDigest.getInstance("MD5");
        byte[] text = (customer + "/" + number).getBytes(StandardCharsets.UTF_8);
        return HexFormat.of().formatHex(digest.digest(text)).substring(0, 12);
    }
}
