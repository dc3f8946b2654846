//! Intervals by resampling items with replacement.

use super::{Ratings, Value};
use crate::stats::bootstrap::{accelerated_ends, acceleration};
use crate::stats::distribution::quantile;
use crate::stats::interval::{Interval, NoInterval};
use crate::stats::random::Random;
use rayon::prelude::*;

/// How many samples are drawn.
pub const RESAMPLES: usize = 2000;

/// Every figure on all items, with its bias-corrected and accelerated bootstrap interval (Efron 1987).
///
/// One set of samples serves all figures. Acceleration comes from a jackknife that leaves out one item at a time, or one block
/// of items drawn at random where there are more than [`BLOCKS`] of them.
pub(super) fn estimates(
    ratings: &Ratings,
    seed: u64,
    figures: &(impl Fn(&[f64]) -> Vec<Value> + Sync),
) -> Vec<(Value, Result<Interval, NoInterval>)> {
    let times = ratings.times();
    let values = figures(&times);
    // An item without any rating is not part of the sample.
    let rated = |at: &usize| !ratings.patterns()[*at].ratings.is_empty();
    let mut items: Vec<u32> = ratings.row_of().iter().filter(|at| rated(at)).map(|at| *at as u32).collect();
    // Samples must not depend on the order in which items came.
    items.sort_unstable();
    if items.len() < 2 {
        return values.into_iter().map(|value| (value, Err(without(value)))).collect();
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

fn without(value: Value) -> NoInterval {
    if value.is_ok() { NoInterval::NothingVaries } else { NoInterval::Undefined }
}

/// Maximum number of jackknife blocks.
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
