package shop.catalogue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Reads lines of SKU, name and price, separated by semicolons. */
public final class CsvCatalogue implements CatalogueReader {
    @Override
    public List<Article> read(InputStream in) throws IOException {
        List<Article> articles = new ArrayList<>();
        BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] fields = line.split(";", -1);
            if (fields.length != 3) {
                throw new IOException("expected three fields: " + line);
            }
            try {
                articles.add(new Article(fields[0], fields[1], new BigDecimal(fields[2])));
            } catch (NumberFormatException e) {
                throw new IOException("not a price: " + fields[2], e);
            }
        }
        return articles;
    }
}
