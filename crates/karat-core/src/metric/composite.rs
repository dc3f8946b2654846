//! One number for everything, and what it hides: tier 7.

use super::{Undefined, Value};
use crate::profile::SuiWeights;

/// What the security understanding index is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SuiParts {
    /// F2 of the verdicts.
    pub verdict_f2: Value,
    /// Share of targets found.
    pub target_detection_rate: Value,
    /// Share of valid findings.
    pub finding_precision: Value,
    /// How well found targets were understood.
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

/// Target detection · reasoning · (1 − invalid rate).
pub fn true_understanding(target: Value, reasoning: Value, invalid: Value) -> Value {
    Ok(target? * reasoning? * (1.0 - invalid?))
}

/// The geometric mean of the same three, which one low factor does not bring down as far.
pub fn true_understanding_geometric(target: Value, reasoning: Value, invalid: Value) -> Value {
    true_understanding(target, reasoning, invalid).map(f64::cbrt)
}

/// Accuracy − target detection: how far verdicts run ahead of understanding.
pub fn lucky_guess_indicator(accuracy: Value, target: Value) -> Value {
    Ok(accuracy? - target?)
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
mod tests {
    use super::*;

    const WEIGHTS: SuiWeights = SuiWeights {
        verdict_f2: 0.25,
        target_detection_rate: 0.25,
        finding_precision: 0.15,
        reasoning: 0.25,
        calibration: 0.10,
    };
    const NONE: Value = Err(Undefined("x"));

    fn parts(verdict_f2: f64, target: f64, precision: f64, reasoning: Value, ece: Value) -> SuiParts {
        SuiParts {
            verdict_f2: Ok(verdict_f2),
            target_detection_rate: Ok(target),
            finding_precision: Ok(precision),
            reasoning,
            ece,
        }
    }

    fn close(got: Value, expect: f64) {
        assert!(got.is_ok_and(|value| (value - expect).abs() < 1e-12), "{got:?}, expected {expect}");
    }

    #[test]
    fn sui_by_hand() {
        let whole = parts(0.8, 0.6, 0.5, Ok(0.75), Ok(0.2));
        close(whole.sui(&WEIGHTS, false), 0.2 + 0.15 + 0.075 + 0.1875 + 0.08);
        let bare = parts(0.8, 0.6, 0.5, NONE, NONE);
        assert_eq!(bare.sui(&WEIGHTS, false), NONE);
        close(bare.sui(&WEIGHTS, true), 0.2 + 0.15 + 0.075 + 0.0 + 0.05);
        assert_eq!(bare.known(false), Err("reasoning"));
        assert_eq!(bare.known(true), Ok([0.8, 0.6, 0.5, 0.0, 0.5]));
        // Other weights are scaled to 1, and a part of no weight need not be there.
        let two = SuiWeights {
            verdict_f2: 3.0,
            target_detection_rate: 1.0,
            finding_precision: 0.0,
            reasoning: 0.0,
            calibration: 0.0,
        };
        close(bare.sui(&two, false), 0.75);
        let none = SuiWeights { verdict_f2: 0.0, target_detection_rate: 0.0, ..two };
        assert_eq!(whole.sui(&none, false), Err(Undefined("all weights are 0")));
    }

    #[test]
    fn understanding_by_hand() {
        close(true_understanding(Ok(0.9), Ok(0.9), Ok(0.5)), 0.405);
        close(true_understanding_geometric(Ok(0.9), Ok(0.9), Ok(0.5)), 0.405_f64.powf(1.0 / 3.0));
        assert_eq!(true_understanding(Ok(0.9), NONE, Ok(0.5)), NONE);
        assert_eq!(true_understanding_geometric(NONE, Ok(0.9), Ok(0.5)), NONE);
        close(lucky_guess_indicator(Ok(0.9), Ok(0.6)), 0.3);
        assert_eq!(lucky_guess_indicator(Ok(0.9), NONE), NONE);
    }

    #[test]
    fn ranks_that_rest_on_the_weights_are_not_stable() {
        let better = parts(0.9, 0.9, 0.9, Ok(0.9), Ok(0.1));
        let worse = parts(0.1, 0.1, 0.1, Ok(0.1), Ok(0.9));
        assert_eq!(rank_stability(&[worse, better], &WEIGHTS, false), [Ok(1.0), Ok(1.0)]);
        // One leads by its verdicts, the other by as much through its targets: the weights decide.
        let (a, b) = (parts(0.81, 0.6, 0.5, Ok(0.5), Ok(0.5)), parts(0.6, 0.8, 0.5, Ok(0.5), Ok(0.5)));
        let both = rank_stability(&[a, b], &WEIGHTS, false);
        // Of nine ratios of the two weights three are below 1, and six are not.
        assert_eq!(both, [Ok(6.0 / 9.0), Ok(6.0 / 9.0)]);
        assert!(rank_stability(&[a], &WEIGHTS, false)[0].is_err());
        let bare = parts(0.8, 0.6, 0.5, NONE, NONE);
        assert!(rank_stability(&[a, b, bare], &WEIGHTS, false)[2].is_err());
        assert!(rank_stability(&[a, b, bare], &WEIGHTS, true)[2].is_ok());
    }
}
