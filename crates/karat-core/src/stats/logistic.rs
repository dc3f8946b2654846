//! Logistic models: probabilities and losses of log-odds, and regressions of any number of weights or of a single score.

pub(crate) fn probability(log_odds: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-log_odds))
}

/// How bad it is that something with these log-odds happened after all: the negative logarithm of its probability.
pub(crate) fn log_loss(log_odds: f64) -> f64 {
    let beyond = libm::log1p(libm::exp(-log_odds.abs()));
    if log_odds < 0.0 { beyond - log_odds } else { beyond }
}

/// [`log_loss`] and [`probability`] together, which take half as long.
pub(crate) fn log_loss_and_probability(log_odds: f64) -> (f64, f64) {
    let odds = libm::exp(-log_odds.abs());
    let (beyond, less) = (libm::log1p(odds), odds / (1.0 + odds));
    if log_odds < 0.0 { (beyond - log_odds, less) } else { (beyond, 1.0 - less) }
}

/// A row, the log-odds that are known of it already, and what came of it.
#[derive(Clone, Debug)]
pub(crate) struct Observation {
    pub(crate) row: Vec<f64>,
    pub(crate) known: f64,
    pub(crate) outcome: bool,
}

/// Finds `base` and weights that make the outcomes likeliest, weights held back by `ridge`.
/// Rows may be of any length, the same for all. Where the outcomes are all alike the weights are 0 for want of contrast.
pub(crate) fn fit(observations: &[Observation], ridge: f64) -> (f64, Vec<f64>) {
    let width = observations.first().map_or(0, |own| own.row.len());
    let mut solution = vec![0.0; width + 1];
    let hits = observations.iter().filter(|own| own.outcome).count();
    if hits == 0 || hits == observations.len() {
        return (0.0, vec![0.0; width]);
    }
    // Newton's method overshoots from where nearly all outcomes look certain, so it starts at the share of hits.
    let known = observations.iter().map(|own| own.known).sum::<f64>() / observations.len() as f64;
    solution[0] = libm::log(hits as f64 / (observations.len() - hits) as f64) - known;
    for _ in 0..MOST_STEPS {
        let (gradient, curvature) = slopes(observations, &solution, ridge);
        let step = solve(curvature, gradient);
        for (value, step) in solution.iter_mut().zip(&step) {
            *value += step.clamp(-LONGEST_STEP, LONGEST_STEP);
        }
        if step.iter().all(|step| step.abs() < 1e-9) {
            break;
        }
    }
    let weights = solution.split_off(1);
    (solution[0], weights)
}

/// Newton's method needs about eight; more means that the outcomes are separable.
const MOST_STEPS: usize = 60;

/// Longer steps overshoot where the outcomes are nearly separable.
const LONGEST_STEP: f64 = 4.0;

/// The gradient of the likelihood and its negative curvature; the base stands first.
fn slopes(observations: &[Observation], solution: &[f64], ridge: f64) -> (Vec<f64>, Vec<Vec<f64>>) {
    let size = solution.len();
    let mut gradient = vec![0.0; size];
    let mut curvature = vec![vec![0.0; size]; size];
    let mut full = vec![1.0; size];
    for Observation { row, known, outcome } in observations {
        full[1..].copy_from_slice(row);
        let p = probability(known + full.iter().zip(solution).map(|(x, w)| x * w).sum::<f64>());
        let weight = (p * (1.0 - p)).max(1e-9);
        let error = f64::from(*outcome) - p;
        for i in 0..size {
            gradient[i] += error * full[i];
            for (sum, value) in curvature[i].iter_mut().zip(&full) {
                *sum += weight * full[i] * value;
            }
        }
    }
    for i in 1..size {
        gradient[i] -= ridge * solution[i];
        curvature[i][i] += ridge;
    }
    (gradient, curvature)
}

/// The solution of linear equations; 0 for what they leave open.
pub(crate) fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let size = right.len();
    for column in 0..size {
        let pivot = (column..size)
            .fold(column, |best, row| if matrix[row][column].abs() > matrix[best][column].abs() { row } else { best });
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        let divisor = matrix[column][column];
        if divisor.abs() < 1e-12 {
            continue;
        }
        let (above, below) = matrix.split_at_mut(column + 1);
        for (offset, row) in below.iter_mut().enumerate() {
            let factor = row[column] / divisor;
            for (value, pivot) in row.iter_mut().zip(&above[column]) {
                *value -= factor * pivot;
            }
            right[column + 1 + offset] -= factor * right[column];
        }
    }
    let mut solution = vec![0.0; size];
    for row in (0..size).rev() {
        let known: f64 = (row + 1..size).map(|k| matrix[row][k] * solution[k]).sum();
        let divisor = matrix[row][row];
        solution[row] = if divisor.abs() < 1e-12 { 0.0 } else { (right[row] - known) / divisor };
    }
    solution
}

/// Ridge penalty on the steepness, which perfectly separable pairs would make infinite.
pub(crate) const STEEPNESS_RIDGE: f64 = 0.02;

/// Newton's method needs a handful from a good start.
const MOST_LINE_STEPS: usize = 50;

/// The log-odds of a match are `base + steepness * score`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Logistic {
    pub(crate) base: f64,
    pub(crate) steepness: f64,
}

impl Logistic {
    pub(crate) fn log_odds(self, score: f64) -> f64 {
        self.base + self.steepness * score
    }

    pub(crate) fn loss(self, scored: &[(f64, bool)]) -> f64 {
        let one = |&(score, matched): &(f64, bool)| {
            let log_odds = self.log_odds(score);
            log_loss(if matched { log_odds } else { -log_odds })
        };
        scored.iter().map(one).sum::<f64>() + 0.5 * STEEPNESS_RIDGE * self.steepness * self.steepness
    }

    /// The best fit, starting from this one. The steepness is never negative.
    pub(crate) fn fitted(self, scored: &[(f64, bool)]) -> Self {
        // Far from the answer the slopes vanish; then a start from nothing is the better one.
        let start = if self.loss(scored) < Self::default().loss(scored) { self } else { Self::default() };
        let found = start.newton(scored, true);
        if found.steepness >= 0.0 { found } else { Self::default().newton(scored, false) }
    }

    fn newton(mut self, scored: &[(f64, bool)], steep: bool) -> Self {
        let mut here = self.loss(scored);
        for _ in 0..MOST_LINE_STEPS {
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
        let (mut base, mut steepness) = (0.0, -STEEPNESS_RIDGE * self.steepness);
        let (mut a, mut b, mut c) = (1e-12, 0.0, STEEPNESS_RIDGE);
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

    #[test]
    fn log_loss_is_low_for_likely_and_high_for_unlikely_events() {
        for (log_odds, expect) in
            [(0.0, std::f64::consts::LN_2), (800.0, 0.0), (-800.0, 800.0), (2.0, 0.126_928_011_042_972_52)]
        {
            assert!((log_loss(log_odds) - expect).abs() < 1e-12, "{log_odds}: {}", log_loss(log_odds));
        }
    }

    #[test]
    fn both_together_are_the_same() {
        for x in [-800.0, -3.0, -0.1, 0.0, 0.1, 3.0, 800.0] {
            let (loss, p) = log_loss_and_probability(x);
            assert!((loss - log_loss(x)).abs() < 1e-15 && (p - probability(x)).abs() < 1e-15, "{x}");
        }
    }

    #[test]
    fn probabilities_stay_within_their_range() {
        for x in [f64::INFINITY, f64::NEG_INFINITY, 0.0, 1e308, -1e308, 5e-324] {
            assert!((0.0..=1.0).contains(&probability(x)), "{x}");
        }
        assert_eq!(probability(0.0), 0.5);
    }

    /// One feature that is 0 or 1 has a solution by hand: without a ridge, the log-odds of the shares.
    #[test]
    fn shares_become_log_odds() {
        let mut observed = Vec::new();
        for (value, hits) in [(0.0, 20), (1.0, 75)] {
            observed.extend((0..100).map(|n| Observation { row: vec![value], known: 0.0, outcome: n < hits }));
        }
        let (base, weights) = fit(&observed, 0.0);
        assert!((base - 0.25_f64.ln()).abs() < 1e-9, "{base}");
        assert!((weights[0] - (3.0_f64.ln() - 0.25_f64.ln())).abs() < 1e-9, "{weights:?}");
        let (_, held_back) = fit(&observed, 20.0);
        assert!(held_back[0] > 0.0 && held_back[0] < weights[0]);
        // What is known already need not be fitted.
        observed.iter_mut().for_each(|own| own.known = 0.25_f64.ln() + own.row[0]);
        let (rest, more) = fit(&observed, 0.0);
        assert!(rest.abs() < 1e-9 && (more[0] + 1.0 - weights[0]).abs() < 1e-9, "{rest} {more:?}");
        // However far from the truth it is.
        observed.iter_mut().for_each(|own| own.known = 6.0);
        let (rest, more) = fit(&observed, 0.0);
        assert!((rest + 6.0 - base).abs() < 1e-9 && (more[0] - weights[0]).abs() < 1e-9, "{rest} {more:?}");
    }

    #[test]
    fn outcomes_that_are_alike_or_told_apart_at_once_stay_finite() {
        let two = |outcomes: [bool; 2]| {
            let rows = [vec![0.0, 1.0], vec![1.0, 1.0]];
            rows.into_iter()
                .zip(outcomes)
                .map(|(row, outcome)| Observation { row, known: 0.0, outcome })
                .collect::<Vec<_>>()
        };
        assert_eq!(fit(&two([true, true]), 1.0), (0.0, vec![0.0, 0.0]));
        assert_eq!(fit(&[], 1.0), (0.0, Vec::new()));
        let (base, weights) = fit(&two([false, true]), 0.0);
        assert!(base.is_finite() && weights.iter().all(|weight| weight.is_finite()));
    }

    /// Scores that are 0 or 1 have a solution by hand but for the ridge: the log-odds of the shares.
    #[test]
    fn shares_become_log_odds_of_scores() {
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
