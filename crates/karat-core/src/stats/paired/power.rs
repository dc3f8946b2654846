//! What difference could be seen, and how many cases a wanted one needs. Both by the normal approximation.

use crate::stats::distribution::{quantile, two_sided};

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
