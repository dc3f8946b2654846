use super::*;
use proptest::prelude::*;

fn points(text: &str) -> Vec<Point> {
    let point = |word: &str| {
        let (confidence, right) = word.split_at(word.len() - 1);
        Point { confidence: confidence.parse().unwrap(), right: right == "y", weight: 1.0 }
    };
    text.split_whitespace().map(point).collect()
}

fn sure(points: &[Point], bins: u32, zero_in_no_bin: bool) -> ConfidenceSums {
    ConfidenceSums::new(
        points,
        &CalibrationRules { bins, overconfident_above: 0.8, underconfident_below: 0.5 },
        zero_in_no_bin,
    )
}

fn close(got: Value, expect: f64) {
    assert!(got.is_ok_and(|value| (value - expect).abs() < 1e-12), "{got:?}, expected {expect}");
}

/// Ten verdicts. By scikit-learn 1.9.1: `brier_score_loss` 0.265, and from `calibration_curve(n_bins=10)` weighted by
/// the bins' sizes an ECE of 0.34 and an MCE of 0.9.
const TEN: &str = "0.95y 0.9y 0.85n 0.8y 0.7n 0.65y 0.55y 0.4n 0.3n 0.1y";

#[test]
fn figures_of_scikit_learn() {
    let ten = points(TEN);
    let sums = sure(&ten, 10, false);
    close(sums.brier("-"), 0.265);
    close(sums.ece("-"), 0.34);
    close(sums.mce("-"), 0.9);
}

#[test]
fn by_hand() {
    // (0.8, 0.9]: mean 0.85, right 1/2, gap 0.35, weight 2; (0.2, 0.3]: 0.25, right 1, gap 0.75.
    let three = points("0.9y 0.8n 0.25y 0.85n");
    let sums = sure(&three, 10, false);
    // 0.8 closes its bin from above.
    let actual: Vec<String> =
        sums.diagram().iter().map(|bin| format!("{:.1}-{:.1} {}", bin.low, bin.high, bin.weight)).collect();
    assert_eq!(actual, ["0.2-0.3 1", "0.7-0.8 1", "0.8-0.9 2"]);
    close(sums.ece("-"), (0.75 + 0.8 + 2.0 * 0.375) / 4.0);
    close(sums.mce("-"), 0.8);
    close(sums.confident.share("-"), 0.5);
    close(sums.doubtful.share("-"), 1.0);
    assert_eq!(sure(&points("0.8n"), 10, false).confident, Part::default());
    assert_eq!(sure(&points("0.5y"), 10, false).doubtful, Part::default());
}

#[test]
fn nothing_said_is_undefined() {
    let none = sure(&[], 10, false);
    assert_eq!([none.ece("none"), none.mce("none"), none.brier("none")], [Err(Undefined("none")); 3]);
    assert!(equal_mass(&[], 10).is_empty());
}

#[test]
fn a_confidence_of_zero_falls_in_the_first_bin_or_in_none_and_counts_in_the_total() {
    let two = points("0y 0.95n");
    close(sure(&two, 10, false).ece("-"), (1.0 + 0.95) / 2.0);
    close(sure(&two, 10, true).ece("-"), 0.95 / 2.0);
    close(sure(&points("0y"), 10, true).mce("-"), 0.0);
}

#[test]
fn edges_belong_to_the_bin_below() {
    for bin in 1..=10_u32 {
        let edge = f64::from(bin) / 10.0;
        let one = [Point { confidence: edge, right: true, weight: 1.0 }];
        assert_eq!(sure(&one, 10, false).diagram()[0].high, edge);
    }
}

#[test]
fn crowded_confidences_are_split_by_mass() {
    // All but one lie in the last equal bin; by mass each pair is a bin.
    let crowd = points("0.91n 0.92n 0.93n 0.94y 0.95y 0.96y 0.97y 0.98y");
    let bins = equal_mass(&crowd, 4);
    assert_eq!(bins.iter().map(|bin| bin.weight).collect::<Vec<_>>(), [2.0; 4]);
    close(expected_error(&bins, 8.0, "-"), (0.915 + (0.935 - 0.5) + 0.045 + 0.025) / 4.0);
    assert_eq!(equal_mass(&points("0.5y 0.5n 0.5y"), 10).len(), 1);
}

fn any_points() -> impl Strategy<Value = Vec<Point>> {
    let one = (0..=20_u32, any::<bool>());
    let point = |(step, right): (u32, bool)| Point { confidence: f64::from(step) / 20.0, right, weight: 1.0 };
    proptest::collection::vec(one.prop_map(point), 1..40)
}

proptest! {
    #[test]
    fn bounds_and_order(points in any_points(), bins in 1_u32..15) {
        let (width, mass) = (sure(&points, bins, false), equal_mass(&points, bins));
        let wide = width.ece("-").unwrap();
        prop_assert!((0.0..=1.0).contains(&wide) && wide <= width.mce("-").unwrap() + 1e-12);
        for bins in [&width.diagram(), &mass] {
            let weight: f64 = bins.iter().map(|bin| bin.weight).sum();
            prop_assert!((weight - points.len() as f64).abs() < 1e-9);
        }
        let mut turned = points.clone();
        turned.reverse();
        let again = sure(&turned, bins, false).ece("-").unwrap();
        prop_assert!((wide - again).abs() < 1e-12);
        let total = points.len() as f64;
        let by_mass = |bins: &[Bin]| expected_error(bins, total, "-").unwrap();
        let (a, b) = (by_mass(&mass), by_mass(&equal_mass(&turned, bins)));
        prop_assert!((a - b).abs() < 1e-12);
        // Everything said twice means the same.
        let twice: Vec<Point> = points.iter().chain(&points).copied().collect();
        let said_twice = sure(&twice, bins, false);
        prop_assert!((said_twice.brier("-").unwrap() - width.brier("-").unwrap()).abs() < 1e-12);
        prop_assert!((said_twice.ece("-").unwrap() - wide).abs() < 1e-12);
    }
}
