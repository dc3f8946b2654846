//! The sign-flip permutation test.

use crate::stats::random::{Random, seed_of};
use crate::stats::summary::{mean, sums_by_cluster};
use rayon::prelude::*;

/// Up to this many units all sign flips are enumerated; beyond, they are sampled.
pub const EXACT_UNITS: usize = 20;

/// The result of a sign-flip permutation test.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Permutation {
    pub mean: f64,
    pub p: f64,
    /// How many units may flip: cases, or clusters where clusters are named, whose differences do not add up to 0.
    pub units: usize,
    /// How many ways were drawn; none where every way was counted.
    pub drawn: Option<usize>,
}

/// The two-sided sign-flip test of paired differences (Fisher 1935).
///
/// Under the null hypothesis every difference could as well have the other sign; where clusters are named, all of a cluster
/// at once. p is the share of ways to flip in which the mean lies at least as far from 0. Up to [`EXACT_UNITS`] units all
/// ways are counted; beyond, `resamples` ways are drawn and `p = (b+1)/(m+1)` (Phipson and Smyth 2010). Undefined without
/// differences, or where not every difference has its cluster named; p is 1 where all differences are 0.
pub fn sign_flip(
    differences: &[f64],
    clusters: Option<&[usize]>,
    resamples: usize,
    seed: Option<u64>,
) -> Option<Permutation> {
    let mean = mean(differences)?;
    let mut units = sums_by_cluster(differences, clusters)?;
    // Flipping nothing changes nothing.
    units.retain(|v| *v != 0.0);
    // Signs do not matter to what flips, and the order in which cases came must not.
    let observed = units.iter().sum::<f64>().abs();
    units.iter_mut().for_each(|v| *v = v.abs());
    units.sort_by(f64::total_cmp);
    // Tolerance, so that rounding cannot separate equal sums.
    let far = observed - 1e-12 * units.iter().sum::<f64>();
    if units.len() <= EXACT_UNITS {
        return Some(Permutation { mean, p: exact(&units, far), units: units.len(), drawn: None });
    }
    let seed = seed.unwrap_or_else(|| seed_of(units.iter().copied()));
    let hits = (0..resamples)
        .into_par_iter()
        .with_min_len(32)
        .filter(|way| {
            let mut random = Random::new(seed, *way as u64);
            let mut total = 0.0;
            for some in units.chunks(64) {
                let signs = random.bits();
                for (at, value) in some.iter().enumerate() {
                    total += if signs >> at & 1 == 0 { *value } else { -*value };
                }
            }
            total.abs() >= far
        })
        .count();
    let p = (hits + 1) as f64 / (resamples + 1) as f64;
    Some(Permutation { mean, p, units: units.len(), drawn: Some(resamples) })
}

/// The share of all ways in which the sum lies so far from 0. Sums of either half are made once and put together.
fn exact(units: &[f64], far: f64) -> f64 {
    let (left, right) = units.split_at(units.len() / 2);
    let (left, mut right) = (all_sums(left), all_sums(right));
    right.sort_by(f64::total_cmp);
    let hits: usize = left
        .iter()
        .map(|l| {
            if far <= 0.0 {
                return right.len();
            }
            right.partition_point(|r| l + r <= -far) + right.len() - right.partition_point(|r| l + r < far)
        })
        .sum();
    hits as f64 / (left.len() * right.len()) as f64
}

fn all_sums(units: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for unit in units {
        sums = sums.iter().flat_map(|sum| [sum + unit, sum - unit]).collect();
    }
    sums
}
