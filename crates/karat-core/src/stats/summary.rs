//! Sum, mean, standard deviation, standard error and quantile.

use std::collections::BTreeMap;

/// The sum, starting from plain 0: of an empty list it is 0, not −0.
pub(crate) fn sum(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |total, value| total + value)
}

/// The arithmetic mean; none of an empty list.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

pub(crate) fn squares_about_mean(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    Some(values.iter().map(|value| (value - mean).powi(2)).sum())
}

/// The standard deviation of a sample, which divides by n − 1; none of fewer than two values.
pub fn sample_std(values: &[f64]) -> Option<f64> {
    let squares = squares_about_mean(values).filter(|_| values.len() > 1)?;
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// The clustered standard error of the mean (Liang and Zeger 1986), with the correction CR1 for few clusters.
///
/// `√(G/(G−1) Σ_g (Σ_{i∈g} (yᵢ − ȳ))²) / n` of G clusters. With every value its own cluster, this is s/√n. Undefined with fewer than
/// two clusters, or where not every value has its cluster named. Without clusters every value is its own.
pub fn standard_error(values: &[f64], clusters: Option<&[usize]>) -> Option<f64> {
    let mean = mean(values)?;
    let distances: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let sums = sums_by_cluster(&distances, clusters).filter(|sums| sums.len() > 1)?;
    let count = sums.len() as f64;
    let squares: f64 = sums.iter().map(|sum| sum * sum).sum();
    Some((squares * (count / (count - 1.0))).sqrt() / values.len() as f64)
}

/// The variance of the mean relative to independent values. Undefined with fewer than two clusters, or where nothing varies.
pub fn design_effect(values: &[f64], clusters: &[usize]) -> Option<f64> {
    let clustered = standard_error(values, Some(clusters))?;
    let independent = standard_error(values, None)?;
    (independent > 1e-12).then(|| (clustered / independent).powi(2))
}

/// Values added up by cluster; none where not every value has its cluster named.
pub(super) fn sums_by_cluster(values: &[f64], clusters: Option<&[usize]>) -> Option<Vec<f64>> {
    let Some(names) = clusters else { return Some(values.to_vec()) };
    let mut sums = BTreeMap::new();
    for (value, name) in values.iter().zip(names) {
        *sums.entry(*name).or_insert(0.0) += value;
    }
    (names.len() == values.len()).then(|| sums.into_values().collect())
}

/// The value below which a share of sorted values lies, interpolated between two of them; none of an empty list.
pub fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let at = share.clamp(0.0, 1.0) * sorted.len().checked_sub(1)? as f64;
    let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    Some(low + (high - low) * at.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_values() {
        // numpy.quantile([1, 2, 4, 8], …) in NumPy 2, whose method is linear.
        let of = |share| quantile(&[1.0, 2.0, 4.0, 8.0], share).unwrap();
        for (share, expect) in [(0.0, 1.0), (0.25, 1.75), (0.5, 3.0), (0.9, 6.8), (1.0, 8.0)] {
            assert!((of(share) - expect).abs() < 1e-12, "{share}: {}", of(share));
        }
        assert_eq!((quantile(&[3.0], 0.99), quantile(&[], 0.5)), (Some(3.0), None));
    }

    #[test]
    fn the_sample_divides_by_one_less() {
        // statistics.stdev([2, 4, 4, 4, 5, 5, 7, 9]) in Python 3.11.
        let std = sample_std(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert!(std.is_some_and(|s| (s - 2.138_089_935_299_395).abs() < 1e-12), "{std:?}");
        assert_eq!(sample_std(&[1.0]), None);
        assert_eq!(mean(&[]), None);
    }
}
