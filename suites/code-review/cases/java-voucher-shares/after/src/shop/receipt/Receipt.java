package shop.receipt;

import java.math.BigDecimal;
import java.util.List;
import shop.basket.Basket;
import shop.basket.Line;
import shop.voucher.VoucherShares;

/** Prints what the customer takes home. */
public final class Receipt {
    private final Basket basket;
    private final BigDecimal voucher;

    public Receipt(Basket basket, BigDecimal voucher) {
        this.basket = basket;
        this.voucher = voucher;
    }

    public String print() {
        StringBuilder text = new StringBuilder();
        List<Line> lines = basket.lines();
        List<BigDecimal> shares = VoucherShares.spread(voucher, lines);
        for (int i = 0; i < lines.size(); i++) {
            text.append(row(lines.get(i).article(), lines.get(i).price()));
            if (shares.get(i).signum() > 0) {
                text.append(row("  voucher", shares.get(i).negate()));
            }
        }
        text.append(row("total", basket.total().subtract(voucher)));
        return text.toString();
    }

    private static String row(String label, BigDecimal amount) {
        return String.format("%-30s %10s%n", label, amount.toPlainString());
    }
}
