//! Whether confidence means what it says: tier 6.

use super::{Undefined, Value, ratio};
use crate::profile::CalibrationRules;
use std::ops::AddAssign;

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

/// Sums over statements with a confidence; those of two lots of statements add up to those of both.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sure {
    /// What the bins of equal width, (low, high], hold; empty where nothing was said.
    pub bins: Vec<BinSums>,
    /// The weight of all statements, those in no bin among them.
    pub total: f64,
    /// Σ weight · (confidence − right)².
    pub loss: f64,
    /// The weight of wrong statements among the confident ones, and of all of these.
    pub confident: [f64; 2],
    /// The weight of right statements among the doubtful ones, and of all of these.
    pub doubtful: [f64; 2],
}

/// What the statements in a bin add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BinSums {
    /// The weight of its statements.
    pub weight: f64,
    /// Σ weight · confidence.
    pub claimed: f64,
    /// The weight of its right statements.
    pub right: f64,
}

impl Sure {
    /// The sums over these statements. A confidence of 0 falls in the first bin, or in none.
    pub fn of(points: &[Point], rules: &CalibrationRules, zero_in_no_bin: bool) -> Self {
        let mut sums = Self::default();
        if points.is_empty() {
            return sums;
        }
        let count = rules.bins.max(1);
        sums.bins = vec![BinSums::default(); count as usize];
        for point in points {
            let (weight, right) = (point.weight, f64::from(u8::from(point.right)));
            sums.total += weight;
            sums.loss += weight * (point.confidence - right).powi(2);
            if point.confidence > rules.overconfident_above {
                sums.confident[0] += weight * (1.0 - right);
                sums.confident[1] += weight;
            }
            if point.confidence < rules.underconfident_below {
                sums.doubtful[0] += weight * right;
                sums.doubtful[1] += weight;
            }
            if !(zero_in_no_bin && point.confidence <= 0.0) {
                // By the edges themselves: 0.3 times 10 is not 3, and would land a bin too far.
                let passed = (1..count).filter(|bin| point.confidence > edge(*bin, count)).count();
                sums.bins[passed].add(*point);
            }
        }
        sums
    }

    /// The points of a reliability diagram: bins of equal width, without the empty ones.
    pub fn diagram(&self) -> Vec<Bin> {
        let count = self.bins.len() as u32;
        let bin = |(at, held): (u32, &BinSums)| held.bin(edge(at, count), edge(at + 1, count));
        (0..count).zip(&self.bins).filter_map(bin).collect()
    }

    /// Σ share of bin · |accuracy − confidence|. Statements in no bin count in the total.
    pub fn ece(&self, reason: &'static str) -> Value {
        expected_error(&self.diagram(), self.total, reason)
    }

    /// The widest gap of a bin.
    pub fn mce(&self, reason: &'static str) -> Value {
        let widest = self.diagram().iter().map(Bin::gap).fold(0.0, f64::max);
        if self.total > 0.0 { Ok(widest) } else { Err(Undefined(reason)) }
    }

    /// The mean of (confidence − right)².
    pub fn brier(&self, reason: &'static str) -> Value {
        ratio(self.loss, self.total, reason)
    }

    /// P(wrong | more confident than the rules call confident).
    pub fn overconfidence(&self) -> Value {
        ratio(self.confident[0], self.confident[1], "no verdict is that confident")
    }

    /// P(right | less confident than the rules call doubtful).
    pub fn underconfidence(&self) -> Value {
        ratio(self.doubtful[0], self.doubtful[1], "no verdict is that doubtful")
    }
}

impl AddAssign<&Self> for Sure {
    fn add_assign(&mut self, other: &Self) {
        if self.bins.len() < other.bins.len() {
            self.bins.resize(other.bins.len(), BinSums::default());
        }
        for (own, more) in self.bins.iter_mut().zip(&other.bins) {
            own.weight += more.weight;
            own.claimed += more.claimed;
            own.right += more.right;
        }
        self.total += other.total;
        self.loss += other.loss;
        for at in 0..2 {
            self.confident[at] += other.confident[at];
            self.doubtful[at] += other.doubtful[at];
        }
    }
}

/// Where a bin of equal width starts.
fn edge(bin: u32, count: u32) -> f64 {
    f64::from(bin) / f64::from(count)
}

/// Bins of equal weight, without the empty ones. Equal confidences share a bin, so the order of points is no matter.
pub fn equal_mass(points: &[Point], bins: u32) -> Vec<Bin> {
    let bins = bins.max(1) as usize;
    let mut sorted: Vec<Point> = points.iter().filter(|point| point.weight > 0.0).copied().collect();
    sorted.sort_by(|a, b| a.confidence.total_cmp(&b.confidence).then(a.right.cmp(&b.right)));
    let total: f64 = sorted.iter().map(|point| point.weight).sum();
    let mut held: Vec<Vec<Point>> = vec![Vec::new(); bins];
    let mut before = 0.0;
    for equal in sorted.chunk_by(|a, b| a.confidence == b.confidence) {
        let weight: f64 = equal.iter().map(|point| point.weight).sum();
        // The middle of the group decides, so that a group wider than a bin lands in the middle of the bins it spans.
        let middle = (before + weight / 2.0) / total;
        // Weights such as a third add up to a little more or less than an edge; what lies on it is in the bin above.
        let bin = (middle * bins as f64 + 1e-9) as usize;
        held[bin.min(bins - 1)].extend(equal);
        before += weight;
    }
    let ends = |held: &Vec<Point>| Some((held.first()?.confidence, held.last()?.confidence));
    held.iter().filter_map(|held| ends(held).and_then(|(low, high)| summed(held, low, high))).collect()
}

fn summed(held: &[Point], low: f64, high: f64) -> Option<Bin> {
    let mut sums = BinSums::default();
    held.iter().for_each(|point| sums.add(*point));
    sums.bin(low, high)
}

impl BinSums {
    fn add(&mut self, point: Point) {
        self.weight += point.weight;
        self.claimed += point.weight * point.confidence;
        self.right += if point.right { point.weight } else { 0.0 };
    }

    fn bin(&self, low: f64, high: f64) -> Option<Bin> {
        let Self { weight, claimed, right } = *self;
        (weight > 0.0).then(|| Bin { low, high, confidence: claimed / weight, accuracy: right / weight, weight })
    }
}

impl Bin {
    fn gap(&self) -> f64 {
        (self.accuracy - self.confidence).abs()
    }
}

/// The expected error over bins of equal weight.
pub fn adaptive_error(points: &[Point], bins: u32, reason: &'static str) -> Value {
    let total = points.iter().map(|point| point.weight).sum();
    expected_error(&equal_mass(points, bins), total, reason)
}

/// Σ share of bin · |accuracy − confidence|, of statements that weigh `total`.
pub fn expected_error(bins: &[Bin], total: f64, reason: &'static str) -> Value {
    ratio(bins.iter().map(|bin| bin.weight * bin.gap()).sum(), total, reason)
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

    fn sure(points: &[Point], bins: u32, zero_in_no_bin: bool) -> Sure {
        Sure::of(
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
        let told: Vec<String> =
            sums.diagram().iter().map(|bin| format!("{:.1}-{:.1} {}", bin.low, bin.high, bin.weight)).collect();
        assert_eq!(told, ["0.2-0.3 1", "0.7-0.8 1", "0.8-0.9 2"]);
        close(sums.ece("-"), (0.75 + 0.8 + 2.0 * 0.375) / 4.0);
        close(sums.mce("-"), 0.8);
        close(sums.overconfidence(), 0.5);
        close(sums.underconfidence(), 1.0);
        assert_eq!(sure(&points("0.8n"), 10, false).overconfidence(), Err(Undefined("no verdict is that confident")));
        assert_eq!(sure(&points("0.5y"), 10, false).underconfidence(), Err(Undefined("no verdict is that doubtful")));
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
            // The sums of two lots are those of both.
            let mut both = width.clone();
            both += &width;
            prop_assert!((both.ece("-").unwrap() - wide).abs() < 1e-12);
        }
    }
}
