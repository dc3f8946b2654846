package shop.catalogue;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;

/** Loads what suppliers upload. */
public final class Importer {
    /** An upload that can be opened once. */
    public interface Source {
        String name();

        InputStream open() throws IOException;
    }

    private final CatalogueReader reader = new CsvCatalogue();

    public List<Article> load(Source source) throws IOException {
        try (InputStream in = source.open()) {
            return reader.read(in);
        }
    }
}
