//! Paired statistics of two tools on the same cases: tests, effect size and power.

mod permutation;

pub use permutation::{EXACT_UNITS, Permutation, sign_flip};

use super::distribution::{beta_cumulative, quantile, two_sided};
use super::interval::{Interval, NoInterval, clopper_pearson};
use super::summary::{mean, sample_std};

/// Cohen's dz: the mean of paired differences over their standard deviation (Cohen 1988).
///
/// Undefined of fewer than two differences, and where all are the same.
pub fn cohens_dz(differences: &[f64]) -> Option<f64> {
    let spread = sample_std(differences)?;
    let mean = mean(differences)?;
    (spread > 1e-12 * mean.abs()).then(|| mean / spread)
}

/// Holm-adjusted p values (Holm 1979), in the order given.
///
/// Sorted upward, the i-th of m is multiplied by m−i+1, made monotone and capped at 1. The family-wise error rate stays below
/// the significance level, whether or not the tests depend on each other.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut adjusted = vec![0.0; p.len()];
    let mut least = 0.0_f64;
    for (place, &at) in order.iter().enumerate() {
        least = least.max((p.len() - place) as f64 * p[at]).min(1.0);
        adjusted[at] = least;
    }
    adjusted
}

/// Holm-adjusted p values of what could be tested; nothing else is part of the family.
pub(crate) fn holm_of_tested(p: impl Iterator<Item = Option<f64>> + Clone) -> Vec<Option<f64>> {
    let mut adjusted = holm(&p.clone().flatten().collect::<Vec<_>>()).into_iter();
    p.map(|p| p.and_then(|_| adjusted.next())).collect()
}

pub(crate) fn is_significant(p: f64, level: f64) -> bool {
    // Tolerance for 1 − 0.95, which is slightly more than 0.05.
    p <= 1.0 - level + 1e-12
}

/// The verdict on a difference, where more is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DifferenceVerdict {
    /// The whole interval lies above 0.
    Better,
    /// The whole interval lies below 0.
    Worse,
    /// The whole interval lies within the margin, on whichever side of 0: a difference too small to matter.
    Equivalent,
    /// Neither: more cases are needed.
    Inconclusive,
}

impl DifferenceVerdict {
    /// The verdict as it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Equivalent => "equivalent",
            Self::Inconclusive => "inconclusive",
        }
    }
}

/// The verdict on a difference by its interval. Differences within ± `margin` do not matter, even where they are certain.
pub fn verdict(interval: &Interval, margin: f64) -> DifferenceVerdict {
    match (interval.low, interval.high) {
        (low, high) if low > -margin && high < margin => DifferenceVerdict::Equivalent,
        (low, _) if low > 0.0 => DifferenceVerdict::Better,
        (_, high) if high < 0.0 => DifferenceVerdict::Worse,
        _ => DifferenceVerdict::Inconclusive,
    }
}

/// The result of McNemar's test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct McNemar {
    /// The two-sided exact p value.
    pub p: f64,
    /// How many times as often only the first succeeds as only the second; none where only the second never does.
    pub odds_ratio: Option<f64>,
    /// Its exact interval, from that of Clopper and Pearson; the upper end is infinite where only the second never succeeds.
    pub interval: Result<Interval, NoInterval>,
}

/// McNemar's exact test of `first` pairs on which only the first succeeds, and `second` on which only the second does.
///
/// Pairs on which both do the same are ignored. `p = min(1, 2 P(X ≤ min(b, c)))` of X binomial with b+c draws
/// at one half (McNemar 1947; no mid-p). Without any such pair p is 1, and the odds ratio `b/c` undefined.
pub fn mcnemar(first: usize, second: usize, level: f64) -> McNemar {
    let (few, n) = (first.min(second), first + second);
    // P(X ≤ k) of a binomial at one half is a share of a beta distribution.
    let tail = if n == 0 { 1.0 } else { beta_cumulative((n - few) as f64, few as f64 + 1.0, 0.5) };
    let odds = |share: f64| if share < 1.0 { share / (1.0 - share) } else { f64::INFINITY };
    let interval = clopper_pearson(first, n, level).map(|share| Interval {
        low: odds(share.low),
        high: odds(share.high),
        method: "clopper-pearson-odds",
        ..share
    });
    McNemar { p: (2.0 * tail).min(1.0), odds_ratio: (second > 0).then(|| first as f64 / second as f64), interval }
}

/// The smallest true difference that a two-sided test finds with that power: `(z₁ + z₂) · se`.
///
/// z₁ is the deviate of the test's level (1.96 for 95 %) and z₂ that of the power (0.84 for 80 %). `error` is the standard
/// error of the mean difference, clustered where cases are. Undefined where level or power is not between 0 and 1.
pub fn minimum_detectable(error: f64, level: f64, power: f64) -> Option<f64> {
    Some(deviates(level, power)? * error).filter(|v| v.is_finite())
}

/// How many independent pairs a two-sided test needs to find a true difference with that power: `((z₁ + z₂) · s / δ)²`,
/// rounded up.
///
/// `spread` is the standard deviation of paired differences. Undefined of a difference of 0, or where level or power is not
/// between 0 and 1. For clusters of m cases that correlate by ρ, multiply with the design effect 1 + (m−1)ρ.
pub fn sample_size(spread: f64, difference: f64, level: f64, power: f64) -> Option<usize> {
    let pairs = (deviates(level, power)? * spread / difference).powi(2);
    (difference != 0.0 && pairs.is_finite()).then(|| (pairs.ceil() as usize).max(2))
}

fn deviates(level: f64, power: f64) -> Option<f64> {
    let inside = |v: f64| v > 0.0 && v < 1.0;
    (inside(level) && inside(power)).then(|| two_sided(level) + quantile(power))
}
