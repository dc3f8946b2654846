//! Calibration of stated confidence (tier 6).

use super::{Part, Undefined, Value, ratio};
use crate::profile::CalibrationRules;
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
}

impl ConfidenceSums {
    /// The sums over these statements. A confidence of 0 falls in the first bin, or in none.
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
        sums
    }

    /// Bins of equal width, without the empty ones.
    pub(crate) fn diagram(&self) -> Vec<Bin> {
        let count = self.bins.len() as u32;
        (0..count).zip(&self.bins).filter_map(|(at, sums)| sums.bin(edge(at, count), edge(at + 1, count))).collect()
    }

    /// Σ share of bin · |accuracy − confidence|. Statements in no bin count in the total.
    pub(crate) fn ece(&self, reason: &'static str) -> Value {
        expected_error(&self.diagram(), self.total, reason)
    }

    pub(crate) fn mce(&self, reason: &'static str) -> Value {
        let widest = self.diagram().iter().map(Bin::gap).fold(0.0, f64::max);
        if self.total > 0.0 { Ok(widest) } else { Err(Undefined(reason)) }
    }

    pub(crate) fn brier(&self, reason: &'static str) -> Value {
        ratio(self.loss, self.total, reason)
    }
}

fn edge(bin: u32, count: u32) -> f64 {
    f64::from(bin) / f64::from(count)
}

/// Bins of equal weight, without the empty ones. Equal confidences share a bin, so the order of points does not matter.
pub(crate) fn equal_mass(points: &[Point], bins: u32) -> Vec<Bin> {
    let bins = bins.max(1) as usize;
    let mut sorted: Vec<Point> = points.iter().filter(|point| point.weight > 0.0).copied().collect();
    sorted.sort_by(|a, b| a.confidence.total_cmp(&b.confidence).then(a.right.cmp(&b.right)));
    let total: f64 = sorted.iter().map(|point| point.weight).sum();
    let mut by_bin: Vec<Vec<Point>> = vec![Vec::new(); bins];
    let mut before = 0.0;
    for equal in sorted.chunk_by(|a, b| a.confidence == b.confidence) {
        let weight: f64 = equal.iter().map(|point| point.weight).sum();
        // The middle of the group decides, so that a group wider than a bin lands in the middle of the bins it spans.
        let middle = (before + weight / 2.0) / total;
        // Weights such as a third add up to a little more or less than an edge; what lies on it is in the bin above.
        let bin = (middle * bins as f64 + 1e-9) as usize;
        by_bin[bin.min(bins - 1)].extend(equal);
        before += weight;
    }
    let summed = |points: &Vec<Point>| {
        let (first, last) = (points.first()?, points.last()?);
        let mut sums = BinSums::default();
        points.iter().for_each(|point| sums.add(*point));
        sums.bin(first.confidence, last.confidence)
    };
    by_bin.iter().filter_map(summed).collect()
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

/// Σ share of bin · |accuracy − confidence|, of statements that weigh `total`.
pub(crate) fn expected_error(bins: &[Bin], total: f64, reason: &'static str) -> Value {
    ratio(bins.iter().map(|bin| bin.weight * bin.gap()).sum(), total, reason)
}

#[cfg(test)]
mod tests;
