//! Whether confidence means what it says: tier 6.

use super::{Undefined, Value, ratio};

/// A statement with its confidence, and whether it was right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// From 0 to 1.
    pub confidence: f64,
    /// Whether what was said is true.
    pub right: bool,
    /// 1, or a case's share where it has several trials.
    pub weight: f64,
}

/// A point of a reliability diagram: what was claimed and what came of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// Where the bin starts.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
    /// The mean confidence in it.
    pub confidence: f64,
    /// The share that was right.
    pub accuracy: f64,
    /// How much it weighs.
    pub weight: f64,
}

/// Bins of equal width, (low, high], without the empty ones. A confidence of 0 falls in the first, or in none.
pub fn equal_width(points: &[Point], bins: u32, zero_in_no_bin: bool) -> Vec<Bin> {
    let bins = bins.max(1);
    let edge = |bin: u32| f64::from(bin) / f64::from(bins);
    let mut held: Vec<Vec<Point>> = vec![Vec::new(); bins as usize];
    for point in points.iter().filter(|point| !(zero_in_no_bin && point.confidence <= 0.0)) {
        // By the edges themselves: 0.3 times 10 is not 3, and would land a bin too far.
        let passed = (1..bins).filter(|bin| point.confidence > edge(*bin)).count();
        held[passed].push(*point);
    }
    (0..bins).zip(&held).filter_map(|(bin, held)| summed(held, edge(bin), edge(bin + 1))).collect()
}

/// Bins of equal weight, without the empty ones. Equal confidences share a bin, so the order of points is no matter.
pub fn equal_mass(points: &[Point], bins: u32) -> Vec<Bin> {
    let bins = bins.max(1) as usize;
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a.confidence.total_cmp(&b.confidence).then(a.right.cmp(&b.right)));
    let total: f64 = sorted.iter().map(|point| point.weight).sum();
    let mut held: Vec<Vec<Point>> = vec![Vec::new(); bins];
    let mut before = 0.0;
    for equal in sorted.chunk_by(|a, b| a.confidence == b.confidence) {
        let weight: f64 = equal.iter().map(|point| point.weight).sum();
        // The middle of the group decides, so that a group wider than a bin lands in the middle of the bins it spans.
        let middle = (before + weight / 2.0) / total;
        held[((middle * bins as f64) as usize).min(bins - 1)].extend(equal);
        before += weight;
    }
    let ends = |held: &Vec<Point>| Some((held.first()?.confidence, held.last()?.confidence));
    held.iter().filter_map(|held| ends(held).and_then(|(low, high)| summed(held, low, high))).collect()
}

fn summed(held: &[Point], low: f64, high: f64) -> Option<Bin> {
    let weight: f64 = held.iter().map(|point| point.weight).sum();
    let claimed: f64 = held.iter().map(|point| point.weight * point.confidence).sum();
    let right: f64 = held.iter().filter(|point| point.right).map(|point| point.weight).sum();
    (weight > 0.0).then(|| Bin { low, high, confidence: claimed / weight, accuracy: right / weight, weight })
}

impl Bin {
    fn gap(&self) -> f64 {
        (self.accuracy - self.confidence).abs()
    }
}

/// Σ share of bin · |accuracy − confidence|. `points` count in the total even where they are in no bin.
pub fn ece(bins: &[Bin], points: &[Point], reason: &'static str) -> Value {
    let total: f64 = points.iter().map(|point| point.weight).sum();
    ratio(bins.iter().map(|bin| bin.weight * bin.gap()).sum(), total, reason)
}

/// The widest gap of a bin.
pub fn mce(bins: &[Bin], points: &[Point], reason: &'static str) -> Value {
    if points.is_empty() {
        return Err(Undefined(reason));
    }
    Ok(bins.iter().map(Bin::gap).fold(0.0, f64::max))
}

/// The mean of (confidence − right)².
pub fn brier(points: &[Point], reason: &'static str) -> Value {
    let loss = |point: &Point| point.weight * (point.confidence - f64::from(u8::from(point.right))).powi(2);
    ratio(points.iter().map(loss).sum(), points.iter().map(|point| point.weight).sum(), reason)
}

/// P(wrong | confidence above `above`).
pub fn overconfidence(points: &[Point], above: f64) -> Value {
    share(points, |point| point.confidence > above, |point| !point.right, "no verdict is that confident")
}

/// P(right | confidence below `below`).
pub fn underconfidence(points: &[Point], below: f64) -> Value {
    share(points, |point| point.confidence < below, |point| point.right, "no verdict is that doubtful")
}

fn share(
    points: &[Point],
    among: impl Fn(&Point) -> bool,
    hit: impl Fn(&Point) -> bool,
    reason: &'static str,
) -> Value {
    let among: Vec<&Point> = points.iter().filter(|point| among(point)).collect();
    let whole = among.iter().map(|point| point.weight).sum();
    ratio(among.iter().filter(|point| hit(point)).map(|point| point.weight).sum(), whole, reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn points(text: &str) -> Vec<Point> {
        let point = |word: &str| {
            let (confidence, right) = word.split_at(word.len() - 1);
            Point { confidence: confidence.parse().unwrap(), right: right == "y", weight: 1.0 }
        };
        text.split_whitespace().map(point).collect()
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
        let bins = equal_width(&ten, 10, false);
        close(brier(&ten, "-"), 0.265);
        close(ece(&bins, &ten, "-"), 0.34);
        close(mce(&bins, &ten, "-"), 0.9);
    }

    #[test]
    fn by_hand() {
        // (0.8, 0.9]: mean 0.85, right 1/2, gap 0.35, weight 2; (0.2, 0.3]: 0.25, right 1, gap 0.75.
        let three = points("0.9y 0.8n 0.25y 0.85n");
        let bins = equal_width(&three, 10, false);
        // 0.8 closes its bin from above.
        let told: Vec<String> =
            bins.iter().map(|bin| format!("{:.1}-{:.1} {}", bin.low, bin.high, bin.weight)).collect();
        assert_eq!(told, ["0.2-0.3 1", "0.7-0.8 1", "0.8-0.9 2"]);
        close(ece(&bins, &three, "-"), (0.75 + 0.8 + 2.0 * 0.375) / 4.0);
        close(mce(&bins, &three, "-"), 0.8);
        close(overconfidence(&three, 0.8), 0.5);
        close(underconfidence(&three, 0.5), 1.0);
        assert_eq!(overconfidence(&points("0.8n"), 0.8), Err(Undefined("no verdict is that confident")));
        assert_eq!(underconfidence(&points("0.5y"), 0.5), Err(Undefined("no verdict is that doubtful")));
    }

    #[test]
    fn nothing_said_is_undefined() {
        assert_eq!(ece(&[], &[], "none"), Err(Undefined("none")));
        assert_eq!(mce(&[], &[], "none"), Err(Undefined("none")));
        assert_eq!(brier(&[], "none"), Err(Undefined("none")));
        assert!(equal_mass(&[], 10).is_empty());
    }

    #[test]
    fn a_confidence_of_zero_falls_in_the_first_bin_or_in_none_and_counts_in_the_total() {
        let two = points("0y 0.95n");
        close(ece(&equal_width(&two, 10, false), &two, "-"), (1.0 + 0.95) / 2.0);
        close(ece(&equal_width(&two, 10, true), &two, "-"), 0.95 / 2.0);
        close(mce(&equal_width(&points("0y"), 10, true), &points("0y"), "-"), 0.0);
    }

    #[test]
    fn edges_belong_to_the_bin_below() {
        for bin in 1..=10_u32 {
            let edge = f64::from(bin) / 10.0;
            let one = [Point { confidence: edge, right: true, weight: 1.0 }];
            assert_eq!(equal_width(&one, 10, false)[0].high, edge);
        }
    }

    #[test]
    fn crowded_confidences_are_split_by_mass() {
        // All but one lie in the last equal bin; by mass each pair is a bin.
        let crowd = points("0.91n 0.92n 0.93n 0.94y 0.95y 0.96y 0.97y 0.98y");
        let bins = equal_mass(&crowd, 4);
        assert_eq!(bins.iter().map(|bin| bin.weight).collect::<Vec<_>>(), [2.0; 4]);
        close(ece(&bins, &crowd, "-"), (0.915 + (0.935 - 0.5) + 0.045 + 0.025) / 4.0);
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
            let (width, mass) = (equal_width(&points, bins, false), equal_mass(&points, bins));
            let wide = ece(&width, &points, "-").unwrap();
            prop_assert!((0.0..=1.0).contains(&wide) && wide <= mce(&width, &points, "-").unwrap() + 1e-12);
            for bins in [&width, &mass] {
                let weight: f64 = bins.iter().map(|bin| bin.weight).sum();
                prop_assert!((weight - points.len() as f64).abs() < 1e-9);
            }
            let mut turned = points.clone();
            turned.reverse();
            let again = ece(&equal_width(&turned, bins, false), &turned, "-").unwrap();
            prop_assert!((wide - again).abs() < 1e-12);
            let (a, b) = (ece(&mass, &points, "-").unwrap(), ece(&equal_mass(&turned, bins), &turned, "-").unwrap());
            prop_assert!((a - b).abs() < 1e-12);
            // Everything said twice means the same.
            let twice: Vec<Point> = points.iter().chain(&points).copied().collect();
            prop_assert!((brier(&twice, "-").unwrap() - brier(&points, "-").unwrap()).abs() < 1e-12);
            prop_assert!((ece(&equal_width(&twice, bins, false), &twice, "-").unwrap() - wide).abs() < 1e-12);
        }
    }
}
