//! Intervals by resampling cases, or whole clusters of them, and then the trials within each case.
//!
//! The mean of a case's trials already holds the noise of its trials. Drawing cases with replacement therefore shows that
//! noise once, and drawing trials within them shows it again: of three trials that differ as much as cases do, the plain
//! two-stage bootstrap makes intervals 8 % too wide, and of trials that are nothing but noise 29 %. So the distances of cases
//! from the mean are first shrunk by what the trials add (after Davison and Hinkley 1997, section 3.8). With `c` the shrinking,
//! `T` the sums of distances from the mean by cluster (by case without clusters), and `s²ᵢ` the variance of case i's `mᵢ`
//! trials, which divides by mᵢ: `c² = 1 − Σ s²ᵢ/mᵢ / Σ T²`, and 0 where that is below. With one trial a case, c is 1, and
//! nothing differs from the plain bootstrap.

mod joint;
mod mean;

pub use joint::{CaseData, JointEstimates, joint_estimates};
pub use mean::interval_of_mean;

use super::distribution::{cumulative, quantile};
use super::interval::NoInterval;
use super::summary;
use rayon::prelude::*;

/// Default number of resamples.
pub const RESAMPLES: usize = 10_000;

/// How the ends come from the samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BootstrapKind {
    /// The ends are quantiles of the samples (Efron 1979).
    Percentile,
    /// The quantiles are moved for bias and for a spread that changes with the value (Efron 1987).
    Bca,
}

/// Whether the trials of a case are drawn again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TrialResampling {
    /// Cases are drawn, then trials within each, with distances shrunk as the module says.
    Resampled,
    /// Cases are drawn with the trials they have.
    Kept,
}

/// How to resample.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct BootstrapOptions {
    pub resamples: usize,
    /// Where the samples come from; none takes a seed from the data.
    pub seed: Option<u64>,
    /// How often such intervals shall hold the truth: 0.95 for 95 %.
    pub level: f64,
    pub kind: BootstrapKind,
    pub trials: TrialResampling,
}

impl Default for BootstrapOptions {
    fn default() -> Self {
        Self {
            resamples: RESAMPLES,
            seed: None,
            level: 0.95,
            kind: BootstrapKind::Bca,
            trials: TrialResampling::Resampled,
        }
    }
}

/// What an interval is called that was made so: with trials drawn again, by clusters, and so on.
fn method(kind: BootstrapKind, clustered: bool, again: bool) -> &'static str {
    match (kind, clustered, again) {
        (BootstrapKind::Bca, false, true) => "hierarchical-bootstrap-bca",
        (BootstrapKind::Bca, true, true) => "hierarchical-cluster-bootstrap-bca",
        (BootstrapKind::Bca, false, false) => "bootstrap-bca",
        (BootstrapKind::Bca, true, false) => "cluster-bootstrap-bca",
        (BootstrapKind::Percentile, false, true) => "hierarchical-bootstrap-percentile",
        (BootstrapKind::Percentile, true, true) => "hierarchical-cluster-bootstrap-percentile",
        (BootstrapKind::Percentile, false, false) => "bootstrap-percentile",
        (BootstrapKind::Percentile, true, false) => "cluster-bootstrap-percentile",
    }
}

/// Adding from plain zero: the sum of nothing is 0, not −0.
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |total, value| total + value)
}

/// The ends of the interval, moved where an acceleration is given.
fn ends(
    value: f64,
    mut drawn: Vec<f64>,
    acceleration: Option<f64>,
    level: f64,
    resamples: usize,
) -> Result<(f64, f64), NoInterval> {
    if drawn.is_empty() || drawn.len() * 20 < resamples * 19 {
        return Err(NoInterval::OftenUndefined);
    }
    drawn.par_sort_unstable_by(f64::total_cmp);
    // The same figure added up in another order may differ in its last digits.
    if drawn[drawn.len() - 1] - drawn[0] <= 1e-12 * value.abs().max(1e-3) {
        return Err(NoInterval::NothingVaries);
    }
    let tail = (1.0 - level) / 2.0;
    let Some(acceleration) = acceleration else { return Ok((at_share(&drawn, tail), at_share(&drawn, 1.0 - tail))) };
    let n = drawn.len() as f64;
    let near = 1e-12 * value.abs().max(1e-3);
    let (below, above) = (drawn.partition_point(|v| *v < value - near), drawn.partition_point(|v| *v <= value + near));
    let share = (below as f64 + above as f64) / (2.0 * n);
    // Where all samples lie on one side, the correction is as large as these samples can show.
    let bias = quantile(share.clamp(0.5 / n, 1.0 - 0.5 / n));
    let end = |z: f64| {
        let moved = bias + z;
        at_share(&drawn, cumulative(bias + moved / (1.0 - acceleration * moved)))
    };
    let z = quantile(1.0 - tail);
    Ok((end(-z), end(z)))
}

/// A sixth of the skewness of the jackknife's values.
pub(super) fn acceleration(left_out: &[f64]) -> f64 {
    let mean = sum(left_out.iter().copied()) / left_out.len().max(1) as f64;
    let squares = sum(left_out.iter().map(|v| (mean - v).powi(2)));
    let cubes = sum(left_out.iter().map(|v| (mean - v).powi(3)));
    if squares > 0.0 { cubes / (6.0 * libm::pow(squares, 1.5)) } else { 0.0 }
}

/// The value below which that share of sorted values lies; there must be at least one value.
pub(super) fn at_share(sorted: &[f64], share: f64) -> f64 {
    summary::quantile(sorted, share).unwrap_or(f64::NAN)
}
