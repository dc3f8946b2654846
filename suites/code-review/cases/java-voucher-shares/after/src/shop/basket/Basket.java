package shop.basket;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/** The articles of one purchase, in the order in which they were scanned. */
public final class Basket {
    private final List<Line> lines = new ArrayList<>();

    public void add(Line line) {
        lines.add(line);
    }

    public List<Line> lines() {
        return List.copyOf(lines);
    }

    public BigDecimal total() {
        return lines.stream().map(Line::price).reduce(BigDecimal.ZERO, BigDecimal::add);
    }
}
