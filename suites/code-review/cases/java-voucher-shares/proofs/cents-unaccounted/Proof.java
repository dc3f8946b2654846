import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import shop.basket.Line;
import shop.voucher.VoucherShares;

public class Proof {
    public static void main(String[] args) {
        for (String[] prices : new String[][] {{"5.00", "5.00", "5.00"}, {"0.99", "12.49", "7.00", "3.35"}, {"20.00"}}) {
            List<Line> lines = new ArrayList<>();
            for (String price : prices) {
                lines.add(new Line("a", new BigDecimal(price)));
            }
            BigDecimal sum = BigDecimal.ZERO;
            for (BigDecimal share : VoucherShares.spread(new BigDecimal("10.00"), lines)) {
                sum = sum.add(share);
            }
            if (sum.compareTo(new BigDecimal("10.00")) != 0) {
                System.err.println("10.00 became " + sum);
                System.exit(1);
            }
        }
    }
}
