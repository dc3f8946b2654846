import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import shop.catalogue.Article;
import shop.catalogue.FeedCatalogue;

public class Proof {
    public static void main(String[] args) throws Exception {
        Path file = Path.of(".proof", "private.txt").toAbsolutePath();
        Files.writeString(file, "content-of-a-local-file");
        String xml = "<!DOCTYPE catalogue [<!ENTITY x SYSTEM \"" + file.toUri() + "\">]>"
                + "<catalogue><article sku=\"1\" price=\"2.00\">&x;</article></catalogue>";
        try {
            for (Article article : new FeedCatalogue().read(new ByteArrayInputStream(xml.getBytes(StandardCharsets.UTF_8)))) {
                if (article.name().contains("content-of-a-local-file")) {
                    System.err.println("a local file was read: " + article);
                    System.exit(1);
                }
            }
        } catch (IOException e) {
            System.out.println("refused: " + e.getMessage());
        }
        String plain = "<catalogue><article sku=\"1\" price=\"2.00\">pen</article></catalogue>";
        if (new FeedCatalogue().read(new ByteArrayInputStream(plain.getBytes(StandardCharsets.UTF_8))).size() != 1) {
            System.exit(5);
        }
    }
}
