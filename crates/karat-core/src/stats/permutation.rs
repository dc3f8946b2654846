//! Permutation tests of figures that are costly to compute.

use rayon::prelude::*;

/// The most permutations that are drawn. The smallest p value that they can show is 0.01.
const PERMUTATIONS: usize = 99;

/// So many permutations that reach a figure put its p value above 0.05, however many more are drawn.
const MOST_HITS: usize = 5;

/// How many permutations are drawn at a time. The number of threads must not decide after which one drawing stops.
const ROUND: usize = 10;

/// One-sided p values of figures, given what the same figures are under the permutation of each number.
///
/// Drawing stops for a figure once [`MOST_HITS`] permutations have reached it, and p is their share of those drawn so far
/// (Besag and Clifford 1991): most of what chance explains is known to be so after ten or twenty. Otherwise
/// `p = (hits + 1)/(drawn + 1)` (Phipson and Smyth 2010). A figure that is undefined under a permutation reaches all.
pub(crate) fn sequential_p<const N: usize>(
    observed: [f64; N],
    permuted: impl Fn(u64) -> [Option<f64>; N] + Sync,
) -> [f64; N] {
    let mut all = observed.map(|observed| Tally { least: observed - 1e-12, hits: 0, drawn: 0 });
    let mut next = 0;
    while next < PERMUTATIONS && all.iter().any(|tally| tally.hits < MOST_HITS) {
        let numbers = next..PERMUTATIONS.min(next + ROUND);
        next = numbers.end;
        let figures: Vec<_> = numbers.into_par_iter().map(|number| permuted(number as u64)).collect();
        for row in figures {
            all.iter_mut().zip(row).for_each(|(tally, figure)| tally.add(figure));
        }
    }
    all.map(|tally| tally.p())
}

struct Tally {
    /// What reaches the figure; slightly less than it, so that rounding cannot separate equals.
    least: f64,
    hits: usize,
    drawn: usize,
}

impl Tally {
    fn add(&mut self, figure: Option<f64>) {
        if self.hits == MOST_HITS {
            return;
        }
        self.drawn += 1;
        self.hits += usize::from(figure.is_none_or(|figure| figure >= self.least));
    }

    fn p(&self) -> f64 {
        match self.hits {
            MOST_HITS => MOST_HITS as f64 / self.drawn as f64,
            hits => (hits + 1) as f64 / (self.drawn + 1) as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::random::Random;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn p_is_the_share_of_permutations_that_reach_the_figure() {
        // Every fourth reaches 0.75, so that the fifth is the 17th; those that are undefined reach all.
        let drawn = AtomicUsize::new(0);
        let permuted = |number: u64| {
            drawn.fetch_add(1, Ordering::Relaxed);
            [Some(if number.is_multiple_of(4) { 0.75 } else { 0.5 }), None]
        };
        assert_eq!(sequential_p([0.75, 2.0], permuted), [5.0 / 17.0, 1.0]);
        assert_eq!(drawn.load(Ordering::Relaxed), 20);
        assert_eq!(sequential_p([2.0], |_| [Some(0.75)]), [1.0 / 100.0]);
        assert_eq!(sequential_p([2.0], |number| [Some(number.min(2) as f64)]), [5.0 / 7.0]);
    }

    /// Where the figure is one more draw of the same kind, p is at most α in a share of α.
    #[test]
    fn chance_is_significant_as_often_as_it_may_be() {
        let tests = 4_000;
        let p = |test: u64| {
            let draw = |number: u64| Random::new(test, number).unit();
            let [p] = sequential_p([draw(1_000)], |number| [Some(draw(number))]);
            p
        };
        let all: Vec<f64> = (0..tests).map(p).collect();
        for level in [0.01, 0.05, 0.2, 0.5] {
            let share = all.iter().filter(|p| **p <= level + 1e-12).count() as f64 / tests as f64;
            let spread = (level * (1.0 - level) / tests as f64).sqrt();
            assert!(share < level + 4.0 * spread, "{level}: {share}");
            assert!(level > 0.05 || share > level - 4.0 * spread, "{level}: {share}");
        }
    }
}
