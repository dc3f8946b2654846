//! Calibration of stated confidence (tier 6).

use super::{Part, Undefined, Value, ratio};
use crate::profile::CalibrationRules;
use crate::stats::interval::Interval;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) confidence: f64,
    pub(crate) right: bool,
    /// 1, or a case's share where it has several trials.
    pub(crate) weight: f64,
}

/// A point of a reliability diagram.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "BinV1")]
pub struct Bin {
    /// Where the bin starts.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
    /// The mean confidence in it.
    pub confidence: f64,
    /// The share that was right.
    pub accuracy: f64,
    /// How much it weighs: so many cases.
    pub weight: f64,
    /// The 95 % interval of the share that was right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci: Option<[f64; 2]>,
}

/// Sums over statements with a confidence; those of two lots of statements add up to those of both.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ConfidenceSums {
    /// What the bins of equal width, (low, high], hold; empty where nothing was said.
    pub(crate) bins: Vec<BinSums>,
    /// The weight of all statements, those in no bin among them.
    pub(crate) total: f64,
    /// Σ weight · (confidence − right)².
    pub(crate) loss: f64,
    /// The weight of wrong statements among the confident ones, and of all of these.
    pub(crate) confident: Part,
    /// The weight of right statements among the doubtful ones, and of all of these.
    pub(crate) doubtful: Part,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct BinSums {
    pub(crate) weight: f64,
    pub(crate) claimed: f64,
    pub(crate) right: f64,
    /// Σ over cases of (right − claimed)².
    pub(crate) gap_squares: f64,
    /// Σ over cases of weight².
    pub(crate) weight_squares: f64,
}

impl ConfidenceSums {
    /// The sums over the statements of one case. A confidence of 0 falls in the first bin, or in none.
    pub(crate) fn new(points: &[Point], rules: &CalibrationRules, zero_in_no_bin: bool) -> Self {
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
                sums.confident += Part { part: weight * (1.0 - right), whole: weight };
            }
            if point.confidence < rules.underconfident_below {
                sums.doubtful += Part { part: weight * right, whole: weight };
            }
            if !(zero_in_no_bin && point.confidence <= 0.0) {
                // By the edges themselves: 0.3 times 10 is not 3, and would land a bin too far.
                let passed = (1..count).filter(|bin| point.confidence > edge(*bin, count)).count();
                sums.bins[passed].add(*point);
            }
        }
        for bin in &mut sums.bins {
            bin.gap_squares = (bin.right - bin.claimed).powi(2);
            bin.weight_squares = bin.weight.powi(2);
        }
        sums
    }

    /// Bins of equal width, without the empty ones. Points get no interval here.
    pub(crate) fn diagram(&self) -> Vec<Bin> {
        let count = self.bins.len() as u32;
        let bins = (0..count).zip(&self.bins).filter(|(_, bin)| bin.weight > 0.0);
        bins.map(|(at, bin)| bin.point(edge(at, count), edge(at + 1, count))).collect()
    }

    /// How many cases each point of the diagram rests on.
    pub(crate) fn effective_cases(&self) -> impl Iterator<Item = usize> + '_ {
        self.bins.iter().filter(|bin| bin.weight > 0.0).map(BinSums::effective_cases)
    }

    /// Σ share of bin · |accuracy − confidence|. Statements in no bin count in the total.
    pub(crate) fn ece(&self, reason: &'static str) -> Value {
        expected_error(&self.bins, self.total, reason)
    }

    /// The root mean square of the gaps between accuracy and confidence, without what chance adds to them.
    ///
    /// The errors of two different cases in a bin are independent, so the mean of their products estimates the bin's squared
    /// gap without bias, while the square of the mean error contains the variance of the mean (Bröcker 2012; Ferro and Fricker
    /// 2012; Kumar, Liang and Ma 2019). The estimate of a square can be negative; then so is its root. Cutting it off at 0
    /// would bring the bias back. A bin with one case says nothing about its gap and is left out.
    pub(crate) fn ece_debiased(&self, reason: &'static str) -> Value {
        if self.total <= 0.0 {
            return Err(Undefined(reason));
        }
        let (mut squares, mut left_out) = (0.0, 0.0);
        for bin in &self.bins {
            match bin.squared_gap() {
                Some(square) => squares += bin.weight * square,
                None => left_out += bin.weight,
            }
        }
        let whole = self.total - left_out;
        if whole <= 1e-9 { Err(NO_PAIR) } else { Ok(signed_root(squares / whole)) }
    }

    pub(crate) fn mce(&self, reason: &'static str) -> Value {
        let widest = self.bins.iter().map(BinSums::gap).fold(0.0, f64::max);
        if self.total > 0.0 { Ok(widest) } else { Err(Undefined(reason)) }
    }

    pub(crate) fn brier(&self, reason: &'static str) -> Value {
        ratio(self.loss, self.total, reason)
    }
}

const NO_PAIR: Undefined = Undefined("no two cases state a confidence in the same bin");

/// Rounding must not turn a gap of 0 into one that is seen, as a root does.
fn signed_root(square: f64) -> f64 {
    if square.abs() < 1e-12 { 0.0 } else { square.abs().sqrt().copysign(square) }
}

/// A debiased error on the scale of squares, where it is unbiased.
pub(crate) fn signed_square(error: f64) -> f64 {
    error * error.abs()
}

/// The interval of a debiased error from that of its square.
pub(crate) fn root_of_interval(squares: Interval) -> Interval {
    let [low, high] = [squares.low, squares.high].map(|end| signed_root(end.clamp(-1.0, 1.0)));
    Interval { low, high, ..squares }
}

fn edge(bin: u32, count: u32) -> f64 {
    f64::from(bin) / f64::from(count)
}

/// Bins of equal weight, without the empty ones. Equal confidences share a bin, so the order of points does not matter.
pub(crate) fn equal_mass(points: &[Point], bins: u32) -> Vec<BinSums> {
    let bins = bins.max(1) as usize;
    let mut sorted: Vec<Point> = points.iter().filter(|point| point.weight > 0.0).copied().collect();
    sorted.sort_by(|a, b| a.confidence.total_cmp(&b.confidence).then(a.right.cmp(&b.right)));
    let total: f64 = sorted.iter().map(|point| point.weight).sum();
    let mut by_bin = vec![BinSums::default(); bins];
    let mut before = 0.0;
    for equal in sorted.chunk_by(|a, b| a.confidence == b.confidence) {
        let weight: f64 = equal.iter().map(|point| point.weight).sum();
        // The middle of the group decides, so that a group wider than a bin lands in the middle of the bins it spans.
        let middle = (before + weight / 2.0) / total;
        // Weights such as a third add up to a little more or less than an edge; what lies on it is in the bin above.
        let bin = (middle * bins as f64 + 1e-9) as usize;
        equal.iter().for_each(|point| by_bin[bin.min(bins - 1)].add(*point));
        before += weight;
    }
    by_bin.retain(|bin| bin.weight > 0.0);
    by_bin
}

impl BinSums {
    fn add(&mut self, point: Point) {
        self.weight += point.weight;
        self.claimed += point.weight * point.confidence;
        self.right += if point.right { point.weight } else { 0.0 };
    }

    fn point(&self, low: f64, high: f64) -> Bin {
        let Self { weight, claimed, right, .. } = *self;
        Bin { low, high, confidence: claimed / weight, accuracy: right / weight, weight, ci: None }
    }

    fn gap(&self) -> f64 {
        if self.weight > 0.0 { (self.right / self.weight - self.claimed / self.weight).abs() } else { 0.0 }
    }

    /// The mean product of the errors of two different cases; none of fewer than two cases.
    fn squared_gap(&self) -> Option<f64> {
        let pairs = self.weight.powi(2) - self.weight_squares;
        // Where there are pairs this is at least the product of two weights; what rounding leaves is far less.
        (pairs > 1e-9).then(|| ((self.right - self.claimed).powi(2) - self.gap_squares) / pairs)
    }

    /// How many cases of equal weight have a mean of the same variance (Kish 1965).
    fn effective_cases(&self) -> usize {
        (self.weight.powi(2) / self.weight_squares).round() as usize
    }
}

/// Σ share of bin · |accuracy − confidence|, of statements that weigh `total`.
pub(crate) fn expected_error(bins: &[BinSums], total: f64, reason: &'static str) -> Value {
    ratio(bins.iter().map(|bin| bin.weight * bin.gap()).sum(), total, reason)
}

#[cfg(test)]
mod tests;
