//! Confidence intervals, those of proportions, and reasons why there is none.

#![expect(missing_docs, reason = "names of fields and variants say it")]

use super::distribution::{beta_quantile, two_sided};

/// An interval that states its method, its level and what it rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
    pub method: &'static str,
    /// How often such intervals hold the truth: 0.95 for 95 %.
    pub level: f64,
    /// How many independent units it rests on: cases, or clusters where clusters are named.
    pub n: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoInterval {
    Undefined,
    OneUnit,
    NothingVaries,
    OftenUndefined,
    Level,
}

impl NoInterval {
    pub fn reason(self) -> &'static str {
        match self {
            Self::Undefined => "the value is undefined",
            Self::OneUnit => "only one case or cluster: no interval possible",
            Self::NothingVaries => "every resample gives the same value: no interval possible",
            Self::OftenUndefined => "undefined in more than 5 % of the resamples",
            Self::Level => "invalid level: expected a number between 0 and 1",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntervalEstimate {
    pub value: Option<f64>,
    pub interval: Result<Interval, NoInterval>,
}

pub(super) fn checked(level: f64) -> Result<f64, NoInterval> {
    if level > 0.0 && level < 1.0 { Ok(level) } else { Err(NoInterval::Level) }
}

/// Wilson's score interval (1927), without continuity correction.
///
/// With `p = k/n` and the normal deviate `z`: `(p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n)`. Undefined of none.
pub fn wilson(k: usize, n: usize, level: f64) -> Result<Interval, NoInterval> {
    wilson_of_share(k as f64 / n as f64, n, level)
}

/// The same of a share of `n` that need be no whole number of them, as where the trials of a case disagree.
pub fn wilson_of_share(share: f64, n: usize, level: f64) -> Result<Interval, NoInterval> {
    let level = checked(level)?;
    if n == 0 || !(0.0..=1.0).contains(&share) {
        return Err(NoInterval::Undefined);
    }
    let (low, high) = wilson_ends(share, n as f64, two_sided(level));
    // Of none and of all the end is exact; rounding must not move it.
    let low = if share == 0.0 { 0.0 } else { low.max(0.0) };
    let high = if share == 1.0 { 1.0 } else { high.min(1.0) };
    Ok(Interval { low, high, method: "wilson", level, n })
}

/// The ends of Wilson's interval for any number of items; rounding may move them beyond 0 and 1.
pub(super) fn wilson_ends(share: f64, count: f64, z: f64) -> (f64, f64) {
    let centre = share + z * z / (2.0 * count);
    let half = z * (share * (1.0 - share) / count + z * z / (4.0 * count * count)).sqrt();
    let whole = 1.0 + z * z / count;
    ((centre - half) / whole, (centre + half) / whole)
}

/// The exact interval of Clopper and Pearson (1934): never covers less often than its level, mostly more often.
///
/// With α = 1 − level: the α/2 quantile of Beta(k, n−k+1), 0 of none, and the 1−α/2 quantile of Beta(k+1, n−k), 1 of all.
pub fn clopper_pearson(k: usize, n: usize, level: f64) -> Result<Interval, NoInterval> {
    clopper_pearson_of_share(k as f64 / n as f64, n, level)
}

/// The same of a share of `n` that need be no whole number of them.
pub fn clopper_pearson_of_share(share: f64, n: usize, level: f64) -> Result<Interval, NoInterval> {
    let level = checked(level)?;
    if n == 0 || !(0.0..=1.0).contains(&share) {
        return Err(NoInterval::Undefined);
    }
    let (hits, misses, tail) = (share * n as f64, (1.0 - share) * n as f64, (1.0 - level) / 2.0);
    let low = if share == 0.0 { 0.0 } else { beta_quantile(hits, misses + 1.0, tail) };
    let high = if share == 1.0 { 1.0 } else { beta_quantile(hits + 1.0, misses, 1.0 - tail) };
    Ok(Interval { low, high, method: "clopper-pearson", level, n })
}
