//! One-dimensional logistic regression: maps scores to probabilities.

use crate::local_judge::arithmetic::{log_loss, probability};

/// Ridge penalty on the steepness, which perfectly separable pairs would make infinite.
const RIDGE: f64 = 0.02;

/// Newton's method needs a handful from a good start.
const MOST_STEPS: usize = 50;

/// The log-odds of a match are `base + steepness * score`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::calibrate) struct Logistic {
    pub(in crate::calibrate) base: f64,
    pub(in crate::calibrate) steepness: f64,
}

impl Logistic {
    /// The log-odds of a score.
    pub(in crate::calibrate) fn log_odds(self, score: f64) -> f64 {
        self.base + self.steepness * score
    }

    /// How badly it fits scores that are known to match or not.
    pub(in crate::calibrate) fn loss(self, scored: &[(f64, bool)]) -> f64 {
        let one = |&(score, matched): &(f64, bool)| {
            let log_odds = self.log_odds(score);
            log_loss(if matched { log_odds } else { -log_odds })
        };
        scored.iter().map(one).sum::<f64>() + 0.5 * RIDGE * self.steepness * self.steepness
    }

    /// The best fit, starting from this one. The steepness is never negative.
    pub(in crate::calibrate) fn fitted(self, scored: &[(f64, bool)]) -> Self {
        // Far from the answer the slopes vanish; then a start from nothing is the better one.
        let start = if self.loss(scored) < Self::default().loss(scored) { self } else { Self::default() };
        let found = start.newton(scored, true);
        if found.steepness >= 0.0 { found } else { Self::default().newton(scored, false) }
    }

    fn newton(mut self, scored: &[(f64, bool)], steep: bool) -> Self {
        let mut here = self.loss(scored);
        for _ in 0..MOST_STEPS {
            let Some((base, steepness)) = self.step(scored, steep) else { break };
            // A whole step may overshoot; some part of it never does.
            let part =
                |share: f64| Self { base: self.base + share * base, steepness: self.steepness + share * steepness };
            let shares = std::iter::successors(Some(1.0), |share| Some(share / 2.0)).take(60);
            let better = shares.map(part).map(|next| (next, next.loss(scored))).find(|(_, there)| *there < here);
            let Some((next, there)) = better else { break };
            let gain = here - there;
            (self, here) = (next, there);
            if gain < 1e-12 * here.max(1e-12) {
                break;
            }
        }
        self
    }

    /// Newton's step in both numbers, or in the base alone.
    fn step(self, scored: &[(f64, bool)], steep: bool) -> Option<(f64, f64)> {
        let (mut base, mut steepness) = (0.0, -RIDGE * self.steepness);
        let (mut a, mut b, mut c) = (1e-12, 0.0, RIDGE);
        for &(score, matched) in scored {
            let p = probability(self.log_odds(score));
            let (error, weight) = (f64::from(matched) - p, p * (1.0 - p));
            base += error;
            steepness += error * score;
            a += weight;
            b += weight * score;
            c += weight * score * score;
        }
        if !steep {
            return Some((base / a, 0.0));
        }
        let determinant = a * c - b * b;
        (determinant > 0.0)
            .then(|| ((c * base - b * steepness) / determinant, (a * steepness - b * base) / determinant))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores that are 0 or 1 have a solution by hand but for the ridge: the log-odds of the shares.
    #[test]
    fn shares_become_log_odds() {
        let mut scored = Vec::new();
        for (score, hits, misses) in [(0.0, 2000, 8000), (1.0, 7500, 2500)] {
            scored.extend((0..hits).map(|_| (score, true)).chain((0..misses).map(|_| (score, false))));
        }
        let found = Logistic::default().fitted(&scored);
        assert!((found.base - 0.25_f64.ln()).abs() < 1e-3, "{found:?}");
        assert!((found.steepness - (3.0_f64.ln() - 0.25_f64.ln())).abs() < 1e-3, "{found:?}");
        // From a bad start it ends at the same place.
        let again = Logistic { base: 40.0, steepness: 300.0 }.fitted(&scored);
        assert!((found.base - again.base).abs() < 1e-4, "{found:?} {again:?}");
    }

    #[test]
    fn scores_that_mislead_tell_nothing() {
        let found = Logistic::default().fitted(&[(0.9, false), (0.8, false), (0.1, true), (0.2, true), (0.3, true)]);
        assert!(found.steepness == 0.0 && (found.base - 1.5_f64.ln()).abs() < 1e-6, "{found:?}");
        let apart = Logistic::default().fitted(&[(0.9, true), (0.1, false)]);
        assert!(apart.steepness.is_finite() && apart.steepness > 1.0, "{apart:?}");
    }
}
