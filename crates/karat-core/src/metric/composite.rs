//! Composite indices (tier 7).

use super::{Undefined, Value};
use crate::profile::SuiWeights;

/// What the security understanding index is made of: the metrics of [`SuiParts::IDS`]. It takes 1 less the last, an error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SuiParts(pub [Value; 5]);

impl SuiParts {
    /// The metrics that the parts are, in the order of the weights.
    pub const IDS: [&'static str; 5] = ["verdict_f2", "target_detection_rate", "finding_precision", "reasoning", "ece"];

    /// The parts; `fill` makes a missing calibration 0.5, and any other missing part 0.
    fn values(&self, fill: bool) -> [Value; 5] {
        let mut values = self.0;
        values[4] = values[4].map(|ece| 1.0 - ece);
        let filled = |at: usize| Ok(values[at].unwrap_or(if at == 4 { 0.5 } else { 0.0 }));
        if fill { std::array::from_fn(filled) } else { values }
    }

    /// The parts as numbers, calibration being 1 less its error, or the id of the first that is undefined and not filled in.
    pub fn known(&self, fill: bool) -> Result<[f64; 5], &'static str> {
        let mut known = [0.0; 5];
        for (own, (part, id)) in known.iter_mut().zip(self.values(fill).into_iter().zip(Self::IDS)) {
            *own = part.map_err(|_| id)?;
        }
        Ok(known)
    }

    /// The weighted mean of the parts; undefined with the first part that is, unless what is missing is filled in.
    pub fn sui(&self, weights: &SuiWeights, fill: bool) -> Value {
        weighted(self.values(fill), weights.list())
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
    let parts: Vec<[Value; 5]> = tools.iter().map(|tool| tool.values(fill)).collect();
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
