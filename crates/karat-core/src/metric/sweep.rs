//! Precision and recall over thresholds on confidence or severity.

use super::{Undefined, Value, f_score};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a level is a level of: the confidence of a verdict or of a finding, or a severity from 1 (info) to 5 (critical).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scale {
    Verdict,
    Confidence,
    Severity,
}

names!(Scale { Verdict = "verdict", Confidence = "confidence", Severity = "severity" });

/// Countable findings of one score: how many are right, and how many wrong. Those of two lots of findings add up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// What they score; findings without a score are shown last.
    pub score: Option<f64>,
    pub right: f64,
    pub wrong: f64,
}

impl Level {
    fn total(&self) -> f64 {
        self.right + self.wrong
    }
}

/// What is left at one threshold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "OperatingV1")]
pub struct OperatingPoint {
    /// Findings from here on are shown; null: all of them.
    pub threshold: Option<f64>,
    /// The precision of those shown.
    pub precision: f64,
    /// The share of required goldens they find.
    pub recall: f64,
    /// Of the two.
    pub f1: f64,
}

/// All thresholds, from the strictest.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// What the threshold is laid on.
    pub by: Scale,
    /// Σ (recall gained) · precision.
    pub average_precision: Value,
    /// The strictest threshold with the highest F1.
    pub best: Option<OperatingPoint>,
    /// Points to draw: all, or, where there are very many, some of them at equal steps, with the last.
    pub points: Vec<OperatingPoint>,
}

const MOST_POINTS: usize = 200;

/// Lays every threshold on the findings. `required` counts the goldens there are to find; the pairs stay as they are.
pub fn sweep(by: Scale, levels: &[Level], required: f64) -> Sweep {
    let reason = match by {
        _ if required <= 0.0 => "no required golden",
        Scale::Severity => "no finding states a severity",
        _ => "no finding states a confidence",
    };
    let mut sorted: Vec<Level> = levels.iter().filter(|level| level.total() > 0.0).copied().collect();
    if required <= 0.0 || sorted.iter().all(|level| level.score.is_none()) {
        return Sweep { by, average_precision: Err(Undefined(reason)), best: None, points: Vec::new() };
    }
    let rank = |level: &Level| level.score.unwrap_or(f64::NEG_INFINITY);
    sorted.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
    let (mut shown, mut found, mut area) = (0.0, 0.0, 0.0);
    let mut points = Vec::new();
    for equal in sorted.chunk_by(|a, b| rank(a) == rank(b)) {
        let gained: f64 = equal.iter().map(|level| level.right).sum();
        shown += equal.iter().map(Level::total).sum::<f64>();
        found += gained;
        let precision = found / shown;
        area += gained / required * precision;
        let Ok(f1) = f_score(found, shown - found, (required - found).max(0.0), 1.0, reason) else { continue };
        let threshold = equal.first().and_then(|level| level.score);
        points.push(OperatingPoint { threshold, precision, recall: found / required, f1 });
    }
    let best = points.iter().copied().reduce(|best, next| if next.f1 > best.f1 { next } else { best });
    let step = points.len().div_ceil(MOST_POINTS).max(1);
    let last = points.len().saturating_sub(1);
    let drawn = points.iter().enumerate().filter(|(index, _)| index % step == 0 || *index == last);
    Sweep { by, average_precision: Ok(area), best, points: drawn.map(|(_, point)| *point).collect() }
}

impl Sweep {
    pub fn best_f1(&self) -> Value {
        self.average_precision.and(self.best.map(|best| best.f1).ok_or(Undefined("no countable findings")))
    }
}

#[cfg(test)]
mod tests;
