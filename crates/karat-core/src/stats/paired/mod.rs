//! Two tools on the same cases: does one do better, by how much, and could a difference have been seen at all?

mod mcnemar;
mod permutation;
mod power;

pub use mcnemar::{McNemar, mcnemar};
pub use permutation::{EXACT_UNITS, Permutation, sign_flip};
pub use power::{minimum_detectable, sample_size};

use super::interval::Interval;
use super::summary::{mean, sample_std};

/// Cohen's dz: the mean of paired differences over their standard deviation (Cohen 1988).
///
/// Undefined of fewer than two differences, and where all are the same.
pub fn cohens_dz(differences: &[f64]) -> Option<f64> {
    let spread = sample_std(differences)?;
    let mean = mean(differences)?;
    (spread > 1e-12 * mean.abs()).then(|| mean / spread)
}

/// p values adjusted for how many there are, by Holm (1979), in the order given.
///
/// Sorted upward, the i-th of m is multiplied with m−i+1, never falls below the one before, and never exceeds 1. The chance
/// of any false alarm among them stays below the level they are held against, whether or not they depend on each other.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut adjusted = vec![0.0; p.len()];
    let mut least = 0.0_f64;
    for (place, &at) in order.iter().enumerate() {
        least = least.max((p.len() - place) as f64 * p[at]).min(1.0);
        adjusted[at] = least;
    }
    adjusted
}

/// What an interval of a difference says, where more is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The whole interval lies above 0.
    Better,
    /// The whole interval lies below 0.
    Worse,
    /// The whole interval lies within the margin, on whichever side of 0: a difference too small to matter.
    Equivalent,
    /// Neither: more cases are needed.
    Inconclusive,
}

impl Verdict {
    /// The verdict as it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Equivalent => "equivalent",
            Self::Inconclusive => "inconclusive",
        }
    }
}

/// The verdict on a difference by its interval. Differences within ± `margin` do not matter, even where they are certain.
pub fn verdict(interval: &Interval, margin: f64) -> Verdict {
    match (interval.low, interval.high) {
        (low, high) if low > -margin && high < margin => Verdict::Equivalent,
        (low, _) if low > 0.0 => Verdict::Better,
        (_, high) if high < 0.0 => Verdict::Worse,
        _ => Verdict::Inconclusive,
    }
}
