//! Composite indices (tier 7).

use super::{Undefined, Value};
use crate::profile::SuiWeights;

/// What the security understanding index is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct SuiParts {
    /// F2 of the verdicts.
    pub verdict_f2: Value,
    pub target_detection_rate: Value,
    pub finding_precision: Value,
    pub reasoning: Value,
    /// The expected calibration error; the index takes 1 less it.
    pub ece: Value,
}

impl SuiParts {
    /// The metrics that the parts are, in the order of the weights.
    pub const IDS: [&'static str; 5] = ["verdict_f2", "target_detection_rate", "finding_precision", "reasoning", "ece"];

    fn values(&self) -> [Value; 5] {
        let calibration = self.ece.map(|ece| 1.0 - ece);
        [self.verdict_f2, self.target_detection_rate, self.finding_precision, self.reasoning, calibration]
    }

    /// The parts with what is missing filled in: 0.5 for calibration, 0 for all others.
    fn filled(&self) -> [Value; 5] {
        let [f2, target, precision, reasoning, calibration] = self.values();
        let or = |value: Value, default: f64| Ok(value.unwrap_or(default));
        [or(f2, 0.0), or(target, 0.0), or(precision, 0.0), or(reasoning, 0.0), or(calibration, 0.5)]
    }

    /// The parts as numbers, calibration being 1 less its error; the id of the first that is undefined, unless what is missing is
    /// filled in.
    pub fn known(&self, fill: bool) -> Result<[f64; 5], &'static str> {
        let parts = if fill { self.filled() } else { self.values() };
        let mut known = [0.0; 5];
        for (own, (part, id)) in known.iter_mut().zip(parts.into_iter().zip(Self::IDS)) {
            *own = part.map_err(|_| id)?;
        }
        Ok(known)
    }

    /// The weighted mean of the parts; undefined with the first part that is, unless what is missing is filled in.
    pub fn sui(&self, weights: &SuiWeights, fill: bool) -> Value {
        weighted(if fill { self.filled() } else { self.values() }, weights.list())
    }
}

fn weighted(parts: [Value; 5], weights: [f64; 5]) -> Value {
    let (mut sum, mut whole) = (0.0, 0.0);
    for (part, weight) in parts.into_iter().zip(weights) {
        // A part of no weight need not be there.
        if weight > 0.0 {
            sum += weight * part?;
            whole += weight;
        }
    }
    super::ratio(sum, whole, "all weights are 0")
}

/// Of all weightings that halve, keep or raise by half each weight, the share that leaves each tool its rank.
pub fn rank_stability(tools: &[SuiParts], weights: &SuiWeights, fill: bool) -> Vec<Value> {
    const STEPS: [f64; 3] = [0.5, 1.0, 1.5];
    const ALONE: Undefined = Undefined("fewer than two tools have an SUI");
    let parts: Vec<[Value; 5]> = tools.iter().map(|tool| if fill { tool.filled() } else { tool.values() }).collect();
    let ranks = |weights: [f64; 5]| -> Vec<Option<usize>> {
        let scores: Vec<Option<f64>> = parts.iter().map(|parts| weighted(*parts, weights).ok()).collect();
        // Equal but for the last bits is equal.
        let ahead = |own: f64| scores.iter().flatten().filter(|other| **other > own + 1e-12).count();
        scores.iter().map(|score| score.map(ahead)).collect()
    };
    let base = ranks(weights.list());
    if base.iter().flatten().count() < 2 {
        return vec![Err(ALONE); tools.len()];
    }
    let mut kept = vec![0_usize; tools.len()];
    let all = STEPS.len().pow(5);
    for weighting in 0..all {
        let mut perturbed = weights.list();
        let mut rest = weighting;
        for weight in &mut perturbed {
            *weight *= STEPS[rest % STEPS.len()];
            rest /= STEPS.len();
        }
        for (kept, (own, now)) in kept.iter_mut().zip(base.iter().zip(ranks(perturbed))) {
            *kept += usize::from(*own == now);
        }
    }
    let share = |(rank, kept): (&Option<usize>, usize)| rank.map(|_| kept as f64 / all as f64).ok_or(ALONE);
    base.iter().zip(kept).map(share).collect()
}

#[cfg(test)]
mod tests;
