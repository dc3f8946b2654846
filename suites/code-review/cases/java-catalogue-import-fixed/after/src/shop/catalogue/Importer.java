package shop.catalogue;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Loads what suppliers upload. */
public final class Importer {
    /** An upload that can be opened once. */
    public interface Source {
        String name();

        InputStream open() throws IOException;
    }

    private final Map<String, CatalogueReader> readers = Map.of("csv", new CsvCatalogue(), "xml", new FeedCatalogue());

    public List<Article> load(Source source) throws IOException {
        CatalogueReader reader = readers.get(extension(source.name()));
        if (reader == null) {
            throw new IOException("unknown kind of catalogue: " + source.name());
        }
        List<Article> articles;
        try (InputStream in = source.open()) {
            articles = reader.read(in);
        }
        if (articles.isEmpty()) {
            throw new IOException("no article in " + source.name());
        }
        return articles;
    }

    private static String extension(String name) {
        return name.substring(name.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
    }
}
