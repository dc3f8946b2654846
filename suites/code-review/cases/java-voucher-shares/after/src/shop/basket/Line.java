package shop.basket;

import java.math.BigDecimal;

/** One article in a basket, with the price of the whole line in euros and cents. */
public record Line(String article, BigDecimal price) {
    public Line {
        if (price.signum() < 0 || price.scale() > 2) {
            throw new IllegalArgumentException("not a price: " + price);
        }
    }
}
