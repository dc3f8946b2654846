//! Paired statistics of two tools on the same cases: tests, effect size and power.

use super::distribution::{beta_cumulative, quantile, two_sided};
use super::interval::Interval;
use super::random::{Random, seed_of};
use super::summary::{mean, sample_std, sums_by_cluster};
use rayon::prelude::*;

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

named_enum! {
    /// What may be said of the second side.
    #[schemars(rename = "ConclusionV1")]
    DifferenceVerdict {
        /// It does better, and that is no chance.
        Better = "better",
        /// It does worse, and that is no chance.
        Worse = "worse",
        /// It does the same, within the margin.
        Equivalent = "equivalent",
        /// Its result is the same on every case.
        Identical = "identical",
        /// The data do not decide.
        Inconclusive = "inconclusive",
    }
}

/// The verdict on a difference by its interval, where more is better. Differences within ± `margin` do not matter, even where they
/// are certain.
pub fn verdict(interval: &Interval, margin: f64) -> DifferenceVerdict {
    match (interval.low, interval.high) {
        (low, high) if low > -margin && high < margin => DifferenceVerdict::Equivalent,
        (low, _) if low > 0.0 => DifferenceVerdict::Better,
        (_, high) if high < 0.0 => DifferenceVerdict::Worse,
        _ => DifferenceVerdict::Inconclusive,
    }
}

/// The largest share of units that could still differ where none of `n` does, at this level: `1 − (1 − level)^(1/n)`.
///
/// The one-sided limit of Clopper and Pearson (1934) of none of n. Undefined of none.
pub fn unseen_share(n: usize, level: f64) -> Option<f64> {
    (n > 0 && level > 0.0 && level < 1.0).then(|| 1.0 - libm::pow(1.0 - level, 1.0 / n as f64))
}

/// The result of McNemar's test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct McNemar {
    /// The two-sided exact p value.
    pub p: f64,
    /// How many times as often only the first succeeds as only the second; none where only the second never does.
    pub odds_ratio: Option<f64>,
}

/// McNemar's exact test of `first` pairs on which only the first succeeds, and `second` on which only the second does.
///
/// Pairs on which both do the same are ignored. `p = min(1, 2 P(X ≤ min(b, c)))` of X binomial with b+c draws
/// at one half (McNemar 1947; no mid-p). Without any such pair p is 1, and the odds ratio `b/c` undefined.
pub fn mcnemar(first: usize, second: usize) -> McNemar {
    let (few, n) = (first.min(second), first + second);
    // P(X ≤ k) of a binomial at one half is a share of a beta distribution.
    let tail = if n == 0 { 1.0 } else { beta_cumulative((n - few) as f64, few as f64 + 1.0, 0.5) };
    McNemar { p: (2.0 * tail).min(1.0), odds_ratio: (second > 0).then(|| first as f64 / second as f64) }
}

/// The smallest true difference that a two-sided test finds with that power: `(z₁ + z₂) · se`.
///
/// z₁ is the deviate of the test's level (1.96 for 95 %) and z₂ that of the power (0.84 for 80 %). `error` is the standard
/// error of the mean difference, clustered where cases are. Undefined where level or power is not between 0 and 1.
pub fn minimum_detectable(error: f64, level: f64, power: f64) -> Option<f64> {
    Some(deviates(level, power)? * error).filter(|v| v.is_finite())
}

/// How many independent pairs a two-sided test needs to find a true difference with that power: `⌈((z₁ + z₂) · s / δ)²⌉`.
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

/// Up to this many units all sign flips are enumerated; beyond, they are sampled.
pub const EXACT_UNITS: usize = 20;

/// The p value of the two-sided sign-flip test of paired differences (Fisher 1935).
///
/// Under the null hypothesis every difference could as well have the other sign; where clusters are named, all of a cluster
/// at once. p is the share of ways to flip in which the mean lies at least as far from 0. Up to [`EXACT_UNITS`] units all
/// ways are counted; beyond, `resamples` ways are drawn and `p = (b+1)/(m+1)` (Phipson and Smyth 2010). Undefined without
/// differences, or where not every difference has its cluster named; p is 1 where all differences are 0.
pub fn sign_flip(differences: &[f64], clusters: Option<&[usize]>, resamples: usize, seed: Option<u64>) -> Option<f64> {
    let mut units = sums_by_cluster(differences, clusters).filter(|_| !differences.is_empty())?;
    // Flipping nothing changes nothing.
    units.retain(|v| *v != 0.0);
    // Signs do not matter to what flips, and the order in which cases came must not.
    let observed = units.iter().sum::<f64>().abs();
    units.iter_mut().for_each(|v| *v = v.abs());
    units.sort_by(f64::total_cmp);
    // Tolerance, so that rounding cannot separate equal sums.
    let far = observed - 1e-12 * units.iter().sum::<f64>();
    if units.len() <= EXACT_UNITS {
        return Some(exact(&units, far));
    }
    let seed = seed.unwrap_or_else(|| seed_of(units.iter().copied()));
    let hits = (0..resamples)
        .into_par_iter()
        .with_min_len(32)
        .filter(|way| {
            let mut random = Random::new(seed, *way as u64);
            let mut total = 0.0;
            for some in units.chunks(64) {
                let signs = random.bits();
                for (at, value) in some.iter().enumerate() {
                    total += if signs >> at & 1 == 0 { *value } else { -*value };
                }
            }
            total.abs() >= far
        })
        .count();
    Some((hits + 1) as f64 / (resamples + 1) as f64)
}

/// The share of all ways in which the sum lies so far from 0. Sums of either half are made once and put together.
fn exact(units: &[f64], far: f64) -> f64 {
    let (left, right) = units.split_at(units.len() / 2);
    let (left, mut right) = (all_sums(left), all_sums(right));
    right.sort_by(f64::total_cmp);
    let hits: usize = left
        .iter()
        .map(|l| {
            if far <= 0.0 {
                return right.len();
            }
            right.partition_point(|r| l + r <= -far) + right.len() - right.partition_point(|r| l + r < far)
        })
        .sum();
    hits as f64 / (left.len() * right.len()) as f64
}

fn all_sums(units: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for unit in units {
        sums = sums.iter().flat_map(|sum| [sum + unit, sum - unit]).collect();
    }
    sums
}
