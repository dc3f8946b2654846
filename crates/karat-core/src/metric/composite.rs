//! Composite indices (tier 7).

use super::{Undefined, Value};
use crate::profile::{CompositeMean, Profile};

/// What the security understanding index is made of: the metrics of [`SuiParts::ids`]. It takes 1 less the last, an error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SuiParts(pub [Value; 5]);

impl SuiParts {
    /// The metrics that the parts are under a profile, in the order of the weights.
    pub fn ids(profile: &Profile) -> [&'static str; 5] {
        let composites = &profile.composites;
        ["verdict_f2", composites.detection.id(), composites.precision.id(), "reasoning", "ece"]
    }

    /// The parts; where the profile fills in what is missing, calibration is 0.5, and any other missing part 0.
    fn values(&self, profile: &Profile) -> [Value; 5] {
        let mut values = self.0;
        values[4] = values[4].map(|ece| 1.0 - ece);
        let filled = |at: usize| Ok(values[at].unwrap_or(if at == 4 { 0.5 } else { 0.0 }));
        if profile.audit_conventions.sui_fills_missing { std::array::from_fn(filled) } else { values }
    }

    /// The parts as numbers, calibration being 1 less its error, or the id of the first that is undefined and not filled in.
    pub fn known(&self, profile: &Profile) -> Result<[f64; 5], &'static str> {
        let mut known = [0.0; 5];
        for (own, (part, id)) in known.iter_mut().zip(self.values(profile).into_iter().zip(Self::ids(profile))) {
            *own = part.map_err(|_| id)?;
        }
        Ok(known)
    }

    /// The weighted mean of the parts; undefined with the first part that is, unless what is missing is filled in.
    pub fn sui(&self, profile: &Profile) -> Value {
        weighted(self.values(profile), profile.sui.list(), profile.composites.mean)
    }
}

fn weighted(parts: [Value; 5], weights: [f64; 5], mean: CompositeMean) -> Value {
    let mut known = [0.0; 5];
    for ((known, part), weight) in known.iter_mut().zip(parts).zip(weights) {
        // A part of no weight need not be there.
        if weight > 0.0 {
            *known = part?;
        }
    }
    weighted_mean(&known, &weights, mean).ok_or(Undefined("all weights are 0"))
}

/// The weighted mean of numbers from 0 to 1; none where all weights are 0.
pub(crate) fn weighted_mean(parts: &[f64; 5], weights: &[f64; 5], mean: CompositeMean) -> Option<f64> {
    let whole: f64 = weights.iter().sum();
    if whole <= 0.0 {
        return None;
    }
    let weighed = || parts.iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
    Some(match mean {
        CompositeMean::AsPublished => weighed().map(|(part, weight)| weight * part).sum::<f64>() / whole + 0.0,
        // Rounding can leave next to nothing below 0, which has no power.
        CompositeMean::Geometric => weighed().map(|(part, weight)| libm::pow(part.max(0.0), weight / whole)).product(),
    })
}

/// Of all weightings that halve, keep or raise by half each weight, the share that leaves each tool its rank.
pub fn rank_stability(tools: &[SuiParts], profile: &Profile) -> Vec<Value> {
    const STEPS: [f64; 3] = [0.5, 1.0, 1.5];
    const ALONE: Undefined = Undefined("fewer than two tools have an SUI");
    let parts: Vec<[Value; 5]> = tools.iter().map(|tool| tool.values(profile)).collect();
    let ranks = |weights: [f64; 5]| -> Vec<Option<usize>> {
        let score = |parts: &[Value; 5]| weighted(*parts, weights, profile.composites.mean).ok();
        let scores: Vec<Option<f64>> = parts.iter().map(score).collect();
        // Equal but for the last bits is equal.
        let ahead = |own: f64| scores.iter().flatten().filter(|other| **other > own + 1e-12).count();
        scores.iter().map(|score| score.map(ahead)).collect()
    };
    let base = ranks(profile.sui.list());
    if base.iter().flatten().count() < 2 {
        return vec![Err(ALONE); tools.len()];
    }
    let mut kept = vec![0_usize; tools.len()];
    let all = STEPS.len().pow(5);
    for weighting in 0..all {
        let mut perturbed = profile.sui.list();
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
