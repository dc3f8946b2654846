import java.math.BigDecimal;
import java.util.List;
import shop.basket.Line;
import shop.voucher.VoucherShares;

public class Proof {
    public static void main(String[] args) {
        try {
            VoucherShares.spread(new BigDecimal("0.00"), List.of(new Line("sample", new BigDecimal("0.00"))));
        } catch (ArithmeticException e) {
            System.err.println("a basket of 0.00 cannot be spread: " + e);
            System.exit(1);
        }
    }
}
