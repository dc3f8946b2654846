import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import shop.catalogue.Importer;

public class Proof {
    public static void main(String[] args) {
        boolean[] closed = new boolean[1];
        try {
            new Importer().load(new Importer.Source() {
                public String name() {
                    return "articles.csv";
                }

                public InputStream open() {
                    return new ByteArrayInputStream("only one field".getBytes()) {
                        @Override
                        public void close() {
                            closed[0] = true;
                        }
                    };
                }
            });
        } catch (IOException expected) {
            System.out.println(expected.getMessage());
        }
        if (!closed[0]) {
            System.err.println("the upload is still open");
            System.exit(1);
        }
    }
}
