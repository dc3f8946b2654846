package shop.receipt;

import java.math.BigDecimal;
import shop.basket.Basket;
import shop.basket.Line;

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
        for (Line line : basket.lines()) {
            text.append(String.format("%-30s %10s%n", line.article(), line.price().toPlainString()));
        }
        text.append(String.format("%-30s %10s%n", "voucher", voucher.negate().toPlainString()));
        text.append(String.format("%-30s %10s%n", "total", basket.total().subtract(voucher).toPlainString()));
        return text.toString();
    }
}
