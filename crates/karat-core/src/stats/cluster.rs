//! Clustered standard errors of a mean.

use super::distribution::{t_two_sided, two_sided};
use super::interval::{Interval, IntervalEstimate, NoInterval, checked};
use super::summary::mean;
use std::collections::BTreeMap;

/// What is done about few clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Correction {
    /// Nothing: CR0, too small with few clusters.
    Cr0,
    /// The variance times G/(G−1) of G clusters: CR1. With every value its own cluster, this is s/√n.
    Cr1,
}

/// What the standard error is multiplied with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reference {
    /// Student's t with one degree of freedom less than there are clusters.
    StudentT,
    /// The normal deviate, which needs many clusters.
    Normal,
}

/// The clustered standard error of the mean (Liang and Zeger 1986).
///
/// `√(Σ_g (Σ_{i∈g} (yᵢ − ȳ))²) / n`, with the given correction. Undefined with fewer than two clusters, or
/// where not every value has its cluster named. Without clusters every value is its own.
pub fn standard_error(values: &[f64], clusters: Option<&[usize]>, correction: Correction) -> Option<f64> {
    let sums = sums(values, clusters)?;
    let count = sums.len() as f64;
    if sums.len() < 2 {
        return None;
    }
    let squares: f64 = sums.iter().map(|sum| sum * sum).sum();
    let factor = match correction {
        Correction::Cr0 => 1.0,
        Correction::Cr1 => count / (count - 1.0),
    };
    Some((squares * factor).sqrt() / values.len() as f64)
}

/// The design effect: how many times as large the variance of the mean is as if its values were independent. Undefined with fewer
/// than two clusters, or where nothing varies.
pub fn design_effect(values: &[f64], clusters: &[usize]) -> Option<f64> {
    let clustered = standard_error(values, Some(clusters), Correction::Cr1)?;
    let independent = standard_error(values, None, Correction::Cr1)?;
    (independent > 1e-12).then(|| (clustered / independent).powi(2))
}

/// The mean with `ȳ ± q · se`, where se is CR1 and q the quantile of the given reference.
pub fn interval(values: &[f64], clusters: Option<&[usize]>, reference: Reference, level: f64) -> IntervalEstimate {
    let value = mean(values);
    let ends = || {
        let level = checked(level)?;
        let (Some(value), Some(sums)) = (value, sums(values, clusters)) else { return Err(NoInterval::Undefined) };
        let error = standard_error(values, clusters, Correction::Cr1).ok_or(NoInterval::OneUnit)?;
        if error <= 1e-12 * value.abs().max(1e-3) {
            return Err(NoInterval::NothingVaries);
        }
        let (times, method) = match reference {
            Reference::StudentT => (t_two_sided((sums.len() - 1) as f64, level), "clustered-cr1-t"),
            Reference::Normal => (two_sided(level), "clustered-cr1-normal"),
        };
        Ok(Interval { low: value - times * error, high: value + times * error, method, level, n: sums.len() })
    };
    IntervalEstimate { value, interval: ends() }
}

/// Distances from the mean, added up by cluster.
fn sums(values: &[f64], clusters: Option<&[usize]>) -> Option<Vec<f64>> {
    let mean = mean(values)?;
    match clusters {
        None => Some(values.iter().map(|v| v - mean).collect()),
        Some(names) if names.len() == values.len() => {
            let mut sums = BTreeMap::new();
            for (value, name) in values.iter().zip(names) {
                *sums.entry(*name).or_insert(0.0) += value - mean;
            }
            Some(sums.into_values().collect())
        }
        Some(_) => None,
    }
}
