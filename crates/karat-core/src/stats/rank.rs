//! Rank correlation: Spearman's rho and Kendall's tau-b.

/// The rank of each value from the smallest, counted from 1; tied values share the mean of their ranks.
pub fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for tied in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let shared = before as f64 + (tied.len() + 1) as f64 / 2.0;
        tied.iter().for_each(|&index| ranks[index] = shared);
        before += tied.len();
    }
    ranks
}

/// Spearman's rho: the correlation of the ranks. None where one side is all the same, or there are fewer than two values.
pub fn spearman(a: &[f64], b: &[f64]) -> Option<f64> {
    let (a, b) = (ranks(a), ranks(b));
    let (mean_a, mean_b) = (super::summary::mean(&a)?, super::summary::mean(&b)?);
    correlation(a.iter().zip(&b).map(|(a, b)| (a - mean_a, b - mean_b)))
}

/// Kendall's tau-b: pairs in the same order less pairs in opposite order, corrected for ties on both sides.
pub fn kendall(a: &[f64], b: &[f64]) -> Option<f64> {
    let pairs = (0..a.len().min(b.len())).flat_map(|i| (0..i).map(move |j| (i, j)));
    correlation(pairs.map(|(i, j)| (way(a[i], a[j]), way(b[i], b[j]))))
}

fn correlation(pairs: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (mut both, mut own, mut other) = (0.0, 0.0, 0.0);
    for (a, b) in pairs {
        both += a * b;
        own += a * a;
        other += b * b;
    }
    (own > 0.0 && other > 0.0).then(|| (both / (own * other).sqrt()).clamp(-1.0, 1.0))
}

fn way(a: f64, b: f64) -> f64 {
    f64::from(i8::from(a > b) - i8::from(a < b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tied_values_share_their_ranks() {
        assert_eq!(ranks(&[0.3, 0.1, 0.3, 0.9]), [2.5, 1.0, 2.5, 4.0]);
        assert_eq!(ranks(&[0.0, -0.0]), [1.5, 1.5]);
        assert_eq!(ranks(&[]), [] as [f64; 0]);
    }

    #[test]
    fn constant_values_have_no_rank_correlation() {
        for (a, b) in [(vec![], vec![]), (vec![1.0], vec![2.0]), (vec![1.0, 1.0], vec![1.0, 2.0])] {
            assert_eq!((spearman(&a, &b), kendall(&a, &b)), (None, None), "{a:?} {b:?}");
        }
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[9.0, 5.0, 1.0]), Some(-1.0));
        assert_eq!(kendall(&[1.0, 2.0, 3.0], &[9.0, 5.0, 1.0]), Some(-1.0));
    }
}
