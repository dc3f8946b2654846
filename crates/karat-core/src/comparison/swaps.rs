//! Sparse rows of what cases add to the columns of a metric, and the permutation test that swaps the sides of such rows.

use crate::stats::random::{Random, seed_of};
use rayon::prelude::*;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// What a case adds to the columns of a metric: the numbers of columns, upward, and what is added; all others are 0.
pub type Row = Vec<(usize, f64)>;

/// A figure from the columns of all cases, added up; none where it is undefined.
pub type Statistic<'a> = dyn Fn(&[f64]) -> Option<f64> + Sync + 'a;

/// Values no further apart are the same: means of the same trials in another order may differ in their last digits, and what was
/// kept may have been rounded to six.
pub(super) const SAME: f64 = 1e-6;

/// Less than this is what rounding leaves of a sum when all that it was made of is taken away.
const RESIDUE: f64 = 1e-9;

/// The same columns, with 0 where rounding left less than anything that was added.
pub(super) fn without_residue(mut columns: Vec<f64>) -> Vec<f64> {
    columns.iter_mut().filter(|column| column.abs() < RESIDUE).for_each(|column| *column = 0.0);
    columns
}

/// Adds a row to columns, that many times.
pub(super) fn add(columns: &mut [f64], row: &Row, times: f64) {
    for (column, added) in row {
        columns[*column] += times * added;
    }
}

/// The second row minus the first, without what is 0.
pub(super) fn difference(a: &Row, b: &Row) -> Row {
    let mut columns = BTreeMap::new();
    for (row, sign) in [(a, -1.0), (b, 1.0)] {
        for (column, added) in row {
            *columns.entry(*column).or_insert(0.0) += sign * added;
        }
    }
    columns.into_iter().filter(|(_, v): &(usize, f64)| v.abs() > SAME).collect()
}

/// An order of rows that follows from what they hold.
fn by_row(a: &Row, b: &Row) -> Ordering {
    let differs = a.iter().zip(b).map(|((i, x), (j, y))| i.cmp(j).then_with(|| x.total_cmp(y)));
    differs.into_iter().find(|order| order.is_ne()).unwrap_or_else(|| a.len().cmp(&b.len()))
}

/// The two-sided p value: the share of ways to swap sides in which the figures differ at least as much.
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

/// The same from the sums of both sides, and from their difference by unit.
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

/// By how much the figures of both sides differ. The sum of both sides stays; only their difference changes its sign.
pub(super) fn apart(both: &[f64], moved: &[f64], value: &Statistic<'_>) -> Option<f64> {
    let side = |sign: f64| -> Vec<f64> {
        let half = |(both, moved): (&f64, &f64)| ((both + sign * moved) / 2.0).max(0.0);
        without_residue(both.iter().zip(moved).map(half).collect())
    };
    Some((value(&side(1.0))? - value(&side(-1.0))?).abs()).filter(|v| v.is_finite())
}

/// Whether figures differ at least as much as observed; an undefined figure counts as if they did.
pub(super) fn is_as_far(apart: Option<f64>, observed: f64) -> bool {
    apart.is_none_or(|v| v >= observed * (1.0 - 1e-9) - 1e-12)
}

/// The differences between the sides, by case or by cluster, without empty ones, in an order that follows from what they hold.
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
