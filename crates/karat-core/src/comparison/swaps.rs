//! Permutation test by swapping sides, for metrics that are no mean of cases.

use super::rows::{Row, Statistic, add, by_row, difference, without_residue};
use crate::stats::random::{Random, seed_of};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The two-sided p value: in what share of ways to swap sides the figures lie at least as far apart.
///
/// Where there are no more ways than would be drawn, all are counted; else `resamples` are drawn and p is `(b+1)/(m+1)`.
/// A way that leaves the figure undefined counts against a difference. Cases of a cluster are swapped together.
pub(super) fn p(
    rows: &[[Row; 2]],
    columns: usize,
    value: &Statistic<'_>,
    clusters: Option<&[usize]>,
    resamples: usize,
    seed: Option<u64>,
) -> Option<f64> {
    let mut both = vec![0.0; columns];
    for row in rows.iter().flatten() {
        add(&mut both, row, 1.0);
    }
    p_of_units(&both, &units(rows, clusters), value, resamples, seed)
}

/// The same of what both sides add together, and of what sets them apart by unit.
pub(super) fn p_of_units(
    both: &[f64],
    units: &[Row],
    value: &Statistic<'_>,
    resamples: usize,
    seed: Option<u64>,
) -> Option<f64> {
    let swapped = |signs: &mut dyn FnMut(usize) -> bool| {
        let mut moved = vec![0.0; both.len()];
        for (at, unit) in units.iter().enumerate() {
            add(&mut moved, unit, if signs(at) { -1.0 } else { 1.0 });
        }
        apart(both, &moved, value)
    };
    let observed = swapped(&mut |_| false)?;
    let far = |signs: &mut dyn FnMut(usize) -> bool| is_as_far(swapped(signs), observed);
    if let Some(ways) = ways(units.len(), resamples) {
        let hits = (0..ways).into_par_iter().filter(|way| far(&mut |at| way >> at & 1 == 1)).count();
        return Some(hits as f64 / ways as f64);
    }
    let seed = seed.unwrap_or_else(|| seed_of(units.iter().flatten().flat_map(|(c, v)| [*c as f64, *v])));
    let drawn = |way: &usize| {
        let (mut random, mut bits) = (Random::new(seed, *way as u64), 0);
        far(&mut |at| {
            if at % 64 == 0 {
                bits = random.bits();
            }
            bits >> (at % 64) & 1 == 1
        })
    };
    let hits = (0..resamples).into_par_iter().with_min_len(32).filter(drawn).count();
    Some((hits + 1) as f64 / (resamples + 1) as f64)
}

/// How many ways there are to swap so many units, where they are no more than would be drawn.
pub(super) fn ways(units: usize, resamples: usize) -> Option<usize> {
    let ways = u32::try_from(units).ok().and_then(|n| 1usize.checked_shl(n))?;
    (ways > 0 && ways <= resamples).then_some(ways)
}

/// How far apart the figures of both sides lie. Both sides together stay what they are; only what sets them apart changes its
/// sign.
pub(super) fn apart(both: &[f64], moved: &[f64], value: &Statistic<'_>) -> Option<f64> {
    let side = |sign: f64| -> Vec<f64> {
        let half = |(both, moved): (&f64, &f64)| ((both + sign * moved) / 2.0).max(0.0);
        without_residue(both.iter().zip(moved).map(half).collect())
    };
    Some((value(&side(1.0))? - value(&side(-1.0))?).abs()).filter(|v| v.is_finite())
}

/// Whether figures lie at least as far apart as was observed; a figure that is undefined counts as if they did.
pub(super) fn is_as_far(apart: Option<f64>, observed: f64) -> bool {
    apart.is_none_or(|v| v >= observed * (1.0 - 1e-9) - 1e-12)
}

/// What sets the sides apart, by case or by cluster; without those that nothing does, in an order of their own.
fn units(rows: &[[Row; 2]], clusters: Option<&[usize]>) -> Vec<Row> {
    let mut by_unit: BTreeMap<usize, [Row; 2]> = BTreeMap::new();
    for (at, pair) in rows.iter().enumerate() {
        let unit = by_unit.entry(clusters.map_or(at, |names| names[at])).or_default();
        for (all, row) in unit.iter_mut().zip(pair) {
            all.extend(row);
        }
    }
    let mut units: Vec<Row> = by_unit.values().map(|[a, b]| difference(a, b)).filter(|row| !row.is_empty()).collect();
    units.sort_by(by_row);
    units
}
