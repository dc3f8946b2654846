//! The jackknife: by how much a figure moves when one case is left out says how far to trust it.

use super::distribution::two_sided;
use super::interval::{Interval, NoInterval, checked};
use super::summary::sample_std;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The interval of a figure of sums over cases: the figure ± z · se, with `se² = (G−1)/G Σ (θ₍ᵢ₎ − θ̄)²` over its values without
/// one of G cases each (Tukey 1958). `clusters` names the cluster of every case; clusters are then left out whole.
pub fn jackknife(
    rows: &[Vec<f64>],
    clusters: Option<&[usize]>,
    level: f64,
    figure: impl Fn(&[f64]) -> Option<f64> + Sync,
) -> Result<Interval, NoInterval> {
    let mut units: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        let unit = clusters.and_then(|names| names.get(at).copied()).unwrap_or(usize::MAX - at);
        add(units.entry(unit).or_insert_with(|| vec![0.0; row.len()]), row, 1.0);
    }
    let units: Vec<Vec<f64>> = units.into_values().collect();
    let mut totals = vec![0.0; units.first().ok_or(NoInterval::Undefined)?.len()];
    units.iter().for_each(|unit| add(&mut totals, unit, 1.0));
    let value = figure(&totals).ok_or(NoInterval::Undefined)?;
    if units.len() < 2 {
        return Err(NoInterval::OneUnit);
    }
    let without = |unit: &Vec<f64>| {
        let mut rest = totals.clone();
        add(&mut rest, unit, -1.0);
        // What is left of a sum when all that it was made of is taken away may not be exactly 0.
        rest.iter_mut().filter(|v| v.abs() < 1e-9).for_each(|v| *v = 0.0);
        figure(&rest)
    };
    let mut left_out: Vec<f64> = units.par_iter().filter_map(without).collect();
    if left_out.len() * 20 < units.len() * 19 {
        return Err(NoInterval::OftenUndefined);
    }
    // The order of cases must not change a digit.
    left_out.sort_unstable_by(f64::total_cmp);
    let count = left_out.len() as f64;
    let spread = sample_std(&left_out).ok_or(NoInterval::OneUnit)?;
    let error = spread * (count - 1.0) / count.sqrt();
    if error <= 1e-12 * value.abs().max(1e-3) {
        return Err(NoInterval::NothingVaries);
    }
    let half = two_sided(checked(level)?) * error;
    let method = if units.len() < rows.len() { "cluster-jackknife" } else { "jackknife" };
    Ok(Interval { low: value - half, high: value + half, method, level, n: units.len() })
}

fn add(sums: &mut [f64], values: &[f64], times: f64) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += times * value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::summary::standard_error;

    fn mean(totals: &[f64]) -> Option<f64> {
        (totals[1] > 0.0).then(|| totals[0] / totals[1])
    }

    fn rows(values: &[f64]) -> Vec<Vec<f64>> {
        values.iter().map(|value| vec![*value, 1.0]).collect()
    }

    /// `scipy.stats.sem` of SciPy 1.17.1, and NumPy 2.4.6 leaving out one row at a time.
    #[test]
    fn standard_errors_of_a_mean_and_of_a_ratio() {
        let found = jackknife(&rows(&[1.0, 2.0, 4.0, 7.0, 9.0]), None, 0.95, mean).unwrap();
        let half = (found.high - found.low) / 2.0;
        assert!((half - 1.959963984540054 * 1.5033296378372907).abs() < 1e-9, "{half}");
        assert_eq!((found.method, found.n), ("jackknife", 5));
        let ratio = [[1.0, 2.0], [2.0, 1.0], [4.0, 3.0], [7.0, 2.0], [9.0, 3.0]].map(Vec::from);
        let found = jackknife(&ratio, None, 0.95, mean).unwrap();
        let error = (found.high - found.low) / 2.0 / 1.959963984540054;
        assert!((error - 0.5796806272678342).abs() < 1e-9, "{error}");
    }

    #[test]
    fn clusters_are_left_out_whole() {
        let values = [1.0, 2.0, 3.0, 6.0, 5.0, 2.0];
        let names = [0, 0, 1, 1, 2, 2];
        let found = jackknife(&rows(&values), Some(&names), 0.95, mean).unwrap();
        // Of clusters of equal size it is the clustered standard error.
        let expect = two_sided(0.95) * standard_error(&values, Some(&names)).unwrap();
        assert!((found.high - found.low - 2.0 * expect).abs() < 1e-12, "{found:?}");
        assert_eq!((found.method, found.n), ("cluster-jackknife", 3));
    }

    #[test]
    fn reasons_for_no_interval() {
        let none = |values: &[f64]| jackknife(&rows(values), None, 0.95, mean).unwrap_err();
        assert_eq!(none(&[]), NoInterval::Undefined);
        assert_eq!(none(&[1.0]), NoInterval::OneUnit);
        assert_eq!(none(&[0.1; 7]), NoInterval::NothingVaries);
        // Without the only case that counts there is no mean.
        let one = [vec![1.0, 1.0], vec![0.0, 0.0], vec![0.0, 0.0]];
        assert_eq!(jackknife(&one, None, 0.95, mean).unwrap_err(), NoInterval::OftenUndefined);
        assert_eq!(jackknife(&rows(&[1.0, 2.0]), None, 1.5, mean).unwrap_err(), NoInterval::Level);
    }
}
