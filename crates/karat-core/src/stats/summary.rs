//! Mean, standard deviation and quantile.

/// The arithmetic mean; none of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The standard deviation of a sample, which divides by n − 1; none of fewer than two values.
pub fn sample_std(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// The value below which a share of sorted values lies, between two of them where it falls there; none of nothing.
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
