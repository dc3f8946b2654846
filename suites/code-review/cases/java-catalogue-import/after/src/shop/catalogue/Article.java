package shop.catalogue;

import java.math.BigDecimal;

/** What a supplier offers. */
public record Article(String sku, String name, BigDecimal price) {}
