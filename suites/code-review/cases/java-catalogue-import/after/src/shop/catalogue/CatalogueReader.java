package shop.catalogue;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;

/** Reads the articles of one file. Readers do not close the stream. */
public interface CatalogueReader {
    List<Article> read(InputStream in) throws IOException;
}
