package shop.catalogue;

import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/** Reads what two suppliers deliver instead of a table. */
public final class FeedCatalogue implements CatalogueReader {
    @Override
    public List<Article> read(InputStream in) throws IOException {
        Document document;
        try {
            DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
            factory.setNamespaceAware(true);
            document = factory.newDocumentBuilder().parse(in);
        } catch (ParserConfigurationException | SAXException e) {
            throw new IOException("not a catalogue: " + e.getMessage(), e);
        }
        List<Article> articles = new ArrayList<>();
        NodeList elements = document.getDocumentElement().getElementsByTagName("article");
        for (int i = 0; i < elements.getLength(); i++) {
            articles.add(article((Element) elements.item(i)));
        }
        return articles;
    }

    private static Article article(Element element) throws IOException {
        String sku = element.getAttribute("sku");
        String price = element.getAttribute("price");
        if (sku.isBlank()) {
            throw new IOException("an article has no sku");
        }
        try {
            return new Article(sku, element.getTextContent().strip(), new BigDecimal(price));
        } catch (NumberFormatException e) {
            throw new IOException("not a price: " + price, e);
        }
    }
}
