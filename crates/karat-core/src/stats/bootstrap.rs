//! Intervals by resampling cases, or whole clusters of them, and then the trials within each case.
//!
//! The mean of a case's trials already holds the noise of its trials. Drawing cases with replacement therefore shows that
//! noise once, and drawing trials within them shows it again: of three trials that differ as much as cases do, the plain
//! two-stage bootstrap makes intervals 8 % too wide, and of trials that are nothing but noise 29 %. So the distances of cases
//! from the mean are first shrunk by what the trials add (after Davison and Hinkley 1997, section 3.8). With `c` the shrinking,
//! `T` the sums of distances from the mean by cluster (by case without clusters), and `s²ᵢ` the variance of case i's `mᵢ`
//! trials, which divides by mᵢ: `c² = 1 − Σ s²ᵢ/mᵢ / Σ T²`, at least 0. One trial a case makes c 1: the plain bootstrap.

mod joint;

pub use joint::{CaseData, JointEstimates, joint_estimates};

use super::distribution::{cumulative, quantile};
use super::interval::{Interval, IntervalEstimate, NoInterval, checked};
use super::random::{Random, seed_of};
use super::summary::{self, sum};
use rayon::prelude::*;
use std::cmp::Ordering;

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

/// How to resample.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct BootstrapOptions {
    pub resamples: usize,
    /// Where the samples come from; none takes a seed from the data.
    pub seed: Option<u64>,
    /// How often such intervals should contain the truth: 0.95 for 95 %.
    pub level: f64,
    pub kind: BootstrapKind,
    /// Whether trials are drawn within each case that is drawn, with distances shrunk as the module says.
    pub resample_trials: bool,
}

impl Default for BootstrapOptions {
    fn default() -> Self {
        Self { resamples: RESAMPLES, seed: None, level: 0.95, kind: BootstrapKind::Bca, resample_trials: true }
    }
}

fn method(kind: BootstrapKind, clustered: bool, again: bool) -> &'static str {
    let [bca, percentile] = match (clustered, again) {
        (false, false) => ["bootstrap-bca", "bootstrap-percentile"],
        (true, false) => ["cluster-bootstrap-bca", "cluster-bootstrap-percentile"],
        (false, true) => ["hierarchical-bootstrap-bca", "hierarchical-bootstrap-percentile"],
        (true, true) => ["hierarchical-cluster-bootstrap-bca", "hierarchical-cluster-bootstrap-percentile"],
    };
    if kind == BootstrapKind::Bca { bca } else { percentile }
}

/// The mean of one value a case, with its interval. `clusters` names the cluster of every case; clusters are then drawn whole.
///
/// Neither the order of cases nor the number of threads changes a digit.
pub fn interval_of_mean(values: &[f64], clusters: Option<&[usize]>, options: &BootstrapOptions) -> IntervalEstimate {
    let (values, starts) = by_cluster(values.iter().copied().enumerate(), clusters, f64::total_cmp);
    let (count, units) = (values.len() as f64, starts.len() - 1);
    let total = sum(values.iter().copied());
    let mean = total / count;
    let drawn = || {
        let seed = options.seed.unwrap_or_else(|| seed_of(values.iter().flat_map(|value| [1.0, *value])));
        // By way of their distance from the mean, since reports hold every digit.
        let placed: Vec<f64> = values.iter().map(|value| mean + (value - mean)).collect();
        let draw = |number: usize| {
            // Each sample has a stream of its own, whichever thread draws it.
            let mut random = Random::new(seed, number as u64);
            if units == placed.len() {
                return sum((0..placed.len()).map(|_| placed[random.below(placed.len())])) / count;
            }
            let (mut total, mut drawn) = (0.0_f64, 0);
            for _ in 0..units {
                let cluster = random.below(units);
                let cases = &placed[starts[cluster]..starts[cluster + 1]];
                cases.iter().for_each(|value| total += value);
                drawn += cases.len();
            }
            total / drawn as f64
        };
        (0..options.resamples).into_par_iter().with_min_len(32).map(draw).filter(|v| v.is_finite()).collect()
    };
    let without = |cluster: &[usize]| {
        let cases = &values[cluster[0]..cluster[1]];
        (total - sum(cases.iter().copied())) / (values.len() - cases.len()) as f64
    };
    let left_out = || starts.windows(2).map(without).filter(|v| v.is_finite()).collect();
    let method = method(options.kind, units < values.len(), false);
    estimate(Some(mean), units, method, options, drawn, left_out)
}

/// Any figure of units, such as a rank correlation, with its interval. `figure` gets how often each unit was drawn.
///
/// The samples depend on the order of the units, which the caller makes the same for the same data. There must be a seed.
pub(crate) fn interval_of_units(
    units: usize,
    figure: impl Fn(&[u32]) -> Option<f64> + Sync,
    seed: u64,
    options: &BootstrapOptions,
) -> IntervalEstimate {
    let draw = |number: usize| {
        let mut random = Random::new(seed, number as u64);
        let mut times = vec![0; units];
        (0..units).for_each(|_| times[random.below(units)] += 1);
        figure(&times)
    };
    let drawn = || (0..options.resamples).into_par_iter().with_min_len(32).filter_map(draw).collect();
    let without = |own: usize| figure(&(0..units).map(|unit| u32::from(unit != own)).collect::<Vec<_>>());
    let left_out = || (0..units).filter_map(without).collect();
    estimate(figure(&vec![1; units]), units, method(options.kind, false, false), options, drawn, left_out)
}

/// A figure with the interval that its samples give, and for BCa its values without one unit each.
fn estimate(
    value: Option<f64>,
    units: usize,
    method: &'static str,
    options: &BootstrapOptions,
    drawn: impl FnOnce() -> Vec<f64>,
    left_out: impl FnOnce() -> Vec<f64>,
) -> IntervalEstimate {
    let value = value.filter(|v| v.is_finite());
    let Some(known) = value else { return IntervalEstimate { value, interval: Err(NoInterval::Undefined) } };
    if units < 2 {
        return IntervalEstimate { value, interval: Err(NoInterval::OneUnit) };
    }
    let skewed = (options.kind == BootstrapKind::Bca).then(|| acceleration(&left_out()));
    let ends = checked(options.level).and_then(|level| ends(known, drawn(), skewed, level, options.resamples));
    let interval = ends.map(|(low, high)| Interval { low, high, method, level: options.level, n: units });
    IntervalEstimate { value, interval }
}

/// Cases sorted by value within clusters, clusters likewise, and where each starts and the last ends. Unnamed cases stand alone.
fn by_cluster<T>(
    cases: impl Iterator<Item = (usize, T)>,
    clusters: Option<&[usize]>,
    order: impl Fn(&T, &T) -> Ordering,
) -> (Vec<T>, Vec<usize>) {
    let name = |at: usize| clusters.and_then(|names| names.get(at).copied()).unwrap_or(usize::MAX - at);
    let mut named: Vec<(usize, T)> = cases.map(|(at, case)| (name(at), case)).collect();
    named.sort_by(|(a, x), (b, y)| a.cmp(b).then_with(|| order(x, y)));
    let mut groups: Vec<(usize, Vec<T>)> = Vec::new();
    for (cluster, case) in named {
        match groups.last_mut() {
            Some((last, group)) if *last == cluster => group.push(case),
            _ => groups.push((cluster, vec![case])),
        }
    }
    groups.sort_by(|(_, a), (_, b)| first(a.iter().zip(b).map(|(a, b)| order(a, b))).then(a.len().cmp(&b.len())));
    let mut starts = vec![0];
    for (_, group) in &groups {
        starts.push(starts[starts.len() - 1] + group.len());
    }
    (groups.into_iter().flat_map(|(_, group)| group).collect(), starts)
}

fn first(mut orders: impl Iterator<Item = Ordering>) -> Ordering {
    orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

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
    Ok(accelerated_ends(&drawn, value, 1e-12 * value.abs().max(1e-3), acceleration, quantile(1.0 - tail)))
}

/// The ends of a BCa interval (Efron 1987) `z` deviates wide, from sorted samples; those within `near` of the figure equal it.
pub(super) fn accelerated_ends(drawn: &[f64], value: f64, near: f64, acceleration: f64, z: f64) -> (f64, f64) {
    let n = drawn.len() as f64;
    let (below, above) = (drawn.partition_point(|v| *v < value - near), drawn.partition_point(|v| *v <= value + near));
    let share = (below as f64 + above as f64) / (2.0 * n);
    // Where all samples lie on one side, the correction is as large as these samples can show.
    let bias = quantile(share.clamp(0.5 / n, 1.0 - 0.5 / n));
    let end = |z: f64| {
        let moved = bias + z;
        at_share(drawn, cumulative(bias + moved / (1.0 - acceleration * moved)))
    };
    (end(-z), end(z))
}

/// A sixth of the skewness of the jackknife's values.
pub(super) fn acceleration(left_out: &[f64]) -> f64 {
    let mean = sum(left_out.iter().copied()) / left_out.len().max(1) as f64;
    let squares = sum(left_out.iter().map(|v| (mean - v).powi(2)));
    let cubes = sum(left_out.iter().map(|v| (mean - v).powi(3)));
    if squares > 0.0 { cubes / (6.0 * libm::pow(squares, 1.5)) } else { 0.0 }
}

/// The value below which that share of sorted values lies; there must be at least one value.
fn at_share(sorted: &[f64], share: f64) -> f64 {
    summary::quantile(sorted, share).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_of_units_that_is_a_mean_has_the_interval_of_a_mean() {
        // Sorted, as the mean sorts them, and so with the same samples.
        let values = [0.0, 0.1, 0.15, 0.4, 0.45, 0.5, 0.8, 0.9, 1.0];
        let options = BootstrapOptions { resamples: 1_000, seed: Some(7), ..BootstrapOptions::default() };
        let mean = |times: &[u32]| {
            let drawn: u32 = times.iter().sum();
            Some(
                values.iter().zip(times).map(|(value, times)| value * f64::from(*times)).sum::<f64>()
                    / f64::from(drawn),
            )
        };
        let found = interval_of_units(values.len(), mean, 7, &options).interval.unwrap();
        let expect = interval_of_mean(&values, None, &options).interval.unwrap();
        assert!(
            (found.low - expect.low).abs() < 1e-12 && (found.high - expect.high).abs() < 1e-12,
            "{found:?} {expect:?}"
        );
        assert_eq!((found.method, found.n), (expect.method, 9));
    }

    #[test]
    fn figures_without_an_interval_say_why() {
        let options = BootstrapOptions { resamples: 100, ..BootstrapOptions::default() };
        let why =
            |units: usize, figure: fn(&[u32]) -> Option<f64>| interval_of_units(units, figure, 1, &options).interval;
        assert_eq!(why(5, |_| Some(0.25)), Err(NoInterval::NothingVaries));
        assert_eq!(why(1, |_| Some(0.25)), Err(NoInterval::OneUnit));
        assert_eq!(why(5, |_| None), Err(NoInterval::Undefined));
    }
}
