//! Inter-rater agreement: percent, Cohen, Fleiss, Krippendorff and Gwet's AC1, with intervals.
//!
//! Every figure is a function of how often each *pattern* of ratings occurs (see [`Ratings`]). A sample of the items is then
//! nothing but other counts of the same patterns, which is what makes resampling a hundred thousand items quick.

mod cohen;
mod krippendorff;
mod ratings;
mod shares;

pub use super::interval::{Interval, NoInterval};
use crate::stats::bootstrap::{accelerated_ends, acceleration};
use crate::stats::distribution::quantile;
use crate::stats::interval::wilson_of_share;
use crate::stats::random::Random;
pub use cohen::{Weights, cohen};
pub(crate) use cohen::{binary_kappa, kappa_of_table};
pub use krippendorff::{Level, krippendorff};
pub use ratings::{Rating, Ratings};
use rayon::prelude::*;
pub use shares::{ac1, fleiss, percent};

/// A figure, or the reason why there is none. 0/0 is never a number.
pub type Value = Result<f64, &'static str>;

/// Why a figure has no value: there is nothing to compare.
pub const NO_OVERLAP: &str = "no item was rated by two raters";

/// Why a figure has no value: there is nothing to tell apart.
pub const ONE_CATEGORY: &str = "all ratings are the same, so agreement by chance is 1";

/// A figure with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The figure on all items.
    pub value: Value,
    /// Its interval at 95 %, or why there is none.
    pub interval: Result<Interval, NoInterval>,
    /// How many items it rests on: those with two ratings or more.
    pub n: usize,
}

/// Cohen's kappa of two raters, plain and weighted.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct PairEstimate {
    pub a: usize,
    /// The second rater, always the greater number.
    pub b: usize,
    pub plain: Estimate,
    pub linear: Estimate,
    pub quadratic: Estimate,
}

/// All agreement figures.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Agreement {
    /// The share of agreeing pairs of ratings, averaged over items.
    pub percent: Estimate,
    /// Each pair of raters, in rising order.
    pub cohen: Vec<PairEstimate>,
    pub fleiss: Estimate,
    /// Krippendorff's alpha for categories without an order.
    pub nominal: Estimate,
    /// Krippendorff's alpha for categories with an order.
    pub ordinal: Estimate,
    pub interval: Estimate,
    pub ac1: Estimate,
}

/// All figures with their intervals; `pairs` are the raters to compare, the smaller number first.
///
/// The same ratings and seed give the same figures to the bit, with any number of threads.
pub fn measure(ratings: &Ratings, pairs: &[(usize, usize)], seed: u64) -> Agreement {
    let prepared: Vec<cohen::Pair> = pairs.iter().map(|&(a, b)| cohen::Pair::new(ratings, a, b)).collect();
    let figures = |times: &[f64]| {
        let shares = shares::Shares::new(ratings, times);
        let mut all = vec![shares.percent, shares.fleiss(), shares.ac1()];
        all.extend([Level::Nominal, Level::Ordinal, Level::Interval].map(|l| krippendorff::alpha(ratings, times, l)));
        for pair in &prepared {
            let sums = pair.sums(ratings, times);
            all.extend([Weights::Equal, Weights::Linear, Weights::Quadratic].map(|weights| sums.kappa(weights)));
        }
        all
    };
    let n = ratings.pairable();
    let mut estimates = estimates(ratings, seed, &figures).into_iter();
    let mut next = |n: usize| {
        let (value, interval) = estimates.next().unwrap_or((Err(NO_OVERLAP), Err(NoInterval::Undefined)));
        Estimate { value, interval, n }
    };
    let mut percent = next(n);
    if ratings.patterns.iter().all(|pattern| pattern.ratings.len() <= 2) {
        // With two ratings an item agrees or does not, and a share of items has an interval of its own.
        let share = percent.value.map_err(|_| NoInterval::Undefined);
        percent.interval = share.and_then(|share| wilson_of_share(share, n, 0.95));
    }
    let (fleiss, ac1) = (next(n), next(n));
    let (nominal, ordinal, interval) = (next(n), next(n), next(n));
    let cohen = prepared.iter().map(|pair| PairEstimate {
        a: pair.a,
        b: pair.b,
        plain: next(pair.n),
        linear: next(pair.n),
        quadratic: next(pair.n),
    });
    Agreement { cohen: cohen.collect(), percent, fleiss, nominal, ordinal, interval, ac1 }
}

/// How many samples are drawn.
pub const RESAMPLES: usize = 2000;

/// Every figure on all items, with its bias-corrected and accelerated bootstrap interval (Efron 1987).
/// One set of samples serves all figures. Acceleration comes from a jackknife that leaves out one item at a time, or one block
/// of items drawn at random where there are more than [`BLOCKS`] of them.
fn estimates(
    ratings: &Ratings,
    seed: u64,
    figures: &(impl Fn(&[f64]) -> Vec<Value> + Sync),
) -> Vec<(Value, Result<Interval, NoInterval>)> {
    let times = ratings.times();
    let values = figures(&times);
    // An item without any rating is not part of the sample.
    let rated = |at: &usize| !ratings.patterns[*at].ratings.is_empty();
    let mut items: Vec<u32> = ratings.items.iter().filter(|at| rated(at)).map(|at| *at as u32).collect();
    // Samples must not depend on the order in which items came.
    items.sort_unstable();
    if items.len() < 2 {
        let why = |value: Value| if value.is_ok() { NoInterval::NothingVaries } else { NoInterval::Undefined };
        return values.into_iter().map(|value| (value, Err(why(value)))).collect();
    }
    let drawn: Vec<Vec<Value>> = (0..RESAMPLES as u64)
        .into_par_iter()
        .map(|number| {
            let mut random = Random::new(seed, number);
            let mut times = vec![0.0; times.len()];
            for _ in 0..items.len() {
                times[items[random.below(items.len())] as usize] += 1.0;
            }
            figures(&times)
        })
        .collect();
    let left_out = jackknife(&times, &items, seed, figures);
    let column = |rows: &[Vec<Value>], at: usize| -> Vec<f64> { rows.iter().filter_map(|row| row[at].ok()).collect() };
    let interval = |(at, value): (usize, Value)| {
        let interval = value
            .map_err(|_| NoInterval::Undefined)
            .and_then(|v| accelerated(v, column(&drawn, at), &column(&left_out, at), items.len()));
        (value, interval)
    };
    values.into_iter().enumerate().map(interval).collect()
}

const BLOCKS: usize = 200;

fn jackknife(
    times: &[f64],
    items: &[u32],
    seed: u64,
    figures: &(impl Fn(&[f64]) -> Vec<Value> + Sync),
) -> Vec<Vec<Value>> {
    let mut order = items.to_vec();
    if items.len() > BLOCKS {
        let mut random = Random::new(seed, RESAMPLES as u64);
        for last in (1..order.len()).rev() {
            order.swap(last, random.below(last + 1));
        }
    }
    let blocks: Vec<&[u32]> = order.chunks(order.len().div_ceil(BLOCKS)).collect();
    let without = |block: &&[u32]| {
        let mut times = times.to_vec();
        for &pattern in *block {
            times[pattern as usize] -= 1.0;
        }
        figures(&times)
    };
    blocks.par_iter().map(without).collect()
}

fn accelerated(value: f64, mut drawn: Vec<f64>, left_out: &[f64], n: usize) -> Result<Interval, NoInterval> {
    if drawn.len() * 20 < RESAMPLES * 19 {
        return Err(NoInterval::OftenUndefined);
    }
    drawn.sort_by(f64::total_cmp);
    let (Some(&least), Some(&most)) = (drawn.first(), drawn.last()) else { return Err(NoInterval::OftenUndefined) };
    // The same figure added up in another order may differ in its last digits.
    if most - least < 1e-12 {
        return Err(NoInterval::NothingVaries);
    }
    let (low, high) = accelerated_ends(&drawn, value, 0.0, acceleration(left_out), quantile(0.975));
    Ok(Interval { low, high, method: "bootstrap-bca", level: 0.95, n })
}
