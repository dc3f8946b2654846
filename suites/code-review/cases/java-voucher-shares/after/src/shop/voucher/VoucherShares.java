package shop.voucher;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import shop.basket.Line;

/** How much of a voucher each line of a basket has used. */
public final class VoucherShares {
    private VoucherShares() {}

    /**
     * Spreads a value over lines in proportion to their prices.
     *
     * @param value what the customer redeems, at most the sum of the prices
     * @return one share for each line, in the same order
     */
    public static List<BigDecimal> spread(BigDecimal value, List<Line> lines) {
        BigDecimal total = lines.stream().map(Line::price).reduce(BigDecimal.ZERO, BigDecimal::add);
        if (value.signum() < 0 || value.compareTo(total) > 0) {
            throw new IllegalArgumentException("a voucher of " + value + " does not fit " + total);
        }
        List<BigDecimal> shares = new ArrayList<>(lines.size());
        if (total.equals(BigDecimal.ZERO)) {
            for (int i = 0; i < lines.size(); i++) {
                shares.add(BigDecimal.ZERO);
            }
            return shares;
        }
        for (Line line : lines) {
            shares.add(value.multiply(line.price()).divide(total, 2, RoundingMode.HALF_UP));
        }
        return shares;
    }
}
