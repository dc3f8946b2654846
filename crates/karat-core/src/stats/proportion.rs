//! Confidence intervals of proportions.

use super::distribution::{beta_quantile, two_sided};
use super::interval::{Interval, NoInterval, checked};

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
    let (count, z) = (n as f64, two_sided(level));
    let centre = share + z * z / (2.0 * count);
    let half = z * (share * (1.0 - share) / count + z * z / (4.0 * count * count)).sqrt();
    let whole = 1.0 + z * z / count;
    // Of none and of all the end is exact; rounding must not move it.
    let low = if share == 0.0 { 0.0 } else { ((centre - half) / whole).max(0.0) };
    let high = if share == 1.0 { 1.0 } else { ((centre + half) / whole).min(1.0) };
    Ok(Interval { low, high, method: "wilson", level, n })
}

/// The exact interval of Clopper and Pearson (1934): never covers less often than its level, mostly more often.
///
/// With α = 1 − level: the ends are the α/2 quantile of Beta(k, n−k+1) and the 1−α/2 quantile of Beta(k+1, n−k); 0 of none
/// and 1 of all. Undefined of none.
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
