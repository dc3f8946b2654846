//! Per-case contributions of two sides to a metric, the statistics of their difference, and the test that swaps sides.

use super::Rules;
use crate::stats::bootstrap::{BootstrapOptions, CaseData, interval_of_mean, joint_estimates};
use crate::stats::interval::{Interval, NoInterval};
use crate::stats::paired::sign_flip;
use crate::stats::random::{Random, seed_of};
use crate::stats::summary::mean;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// One entry for each case that both sides have: the first side's, then the second's.
#[derive(Clone)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum Pairs<'a> {
    /// The metric is the mean of one value a case.
    Values(Vec<[f64; 2]>),
    /// The metric is a figure of columns that are added up over cases: a share of pooled findings, a rate over verdicts.
    Sums { rows: Vec<[Row; 2]>, columns: usize, value: &'a Statistic<'a> },
}

impl Pairs<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Values(values) => values.len(),
            Self::Sums { rows, .. } => rows.len(),
        }
    }

    pub(super) fn sides(&self) -> [Option<f64>; 2] {
        [0, 1].map(|side| match self {
            Self::Values(values) => mean(&values.iter().map(|pair| pair[side]).collect::<Vec<_>>()),
            Self::Sums { rows, columns, value } => {
                let mut total = vec![0.0; *columns];
                rows.iter().for_each(|pair| add(&mut total, &pair[side], 1.0));
                value(&total).filter(|v| v.is_finite())
            }
        })
    }

    pub(super) fn all_equal(&self) -> bool {
        match self {
            Self::Values(values) => values.iter().all(|[a, b]| (a - b).abs() <= SAME),
            Self::Sums { rows, .. } => rows.iter().all(|[a, b]| difference(a, b).is_empty()),
        }
    }

    /// How much each case contributes to the difference: its own difference, or what leaving it out changes (the jackknife's
    /// pseudovalues, which are the same where the metric is a mean).
    pub fn contributions(&self) -> Vec<f64> {
        match self {
            Self::Values(values) => values.iter().map(|[a, b]| b - a).collect(),
            Self::Sums { .. } => self.left_out(|[a, b]| Some(b? - a?)),
        }
    }

    /// The same of the second side's figure alone.
    pub fn of_second(&self) -> Vec<f64> {
        match self {
            Self::Values(values) => values.iter().map(|[_, b]| *b).collect(),
            Self::Sums { .. } => self.left_out(|[_, b]| b),
        }
    }

    /// What leaving out each case changes of a figure of both sides. Where leaving one out leaves nothing, the figure itself.
    fn left_out(&self, figure: impl Fn([Option<f64>; 2]) -> Option<f64>) -> Vec<f64> {
        let Self::Sums { rows, columns, value } = self else { return Vec::new() };
        let Some(whole) = figure(self.sides()) else { return Vec::new() };
        let mut totals = [vec![0.0; *columns], vec![0.0; *columns]];
        for pair in rows {
            totals.iter_mut().zip(pair).for_each(|(total, row)| add(total, row, 1.0));
        }
        let n = rows.len() as f64;
        let without = |pair: &[Row; 2]| {
            let side = |side: usize| {
                let mut rest = totals[side].clone();
                add(&mut rest, &pair[side], -1.0);
                value(&without_residue(rest)).filter(|v| v.is_finite())
            };
            figure([side(0), side(1)]).map_or(whole, |rest| n * whole - (n - 1.0) * rest)
        };
        rows.iter().map(without).collect()
    }

    /// Cases are drawn, or clusters, with the trials they have, since a case's mean already holds the noise of its trials.
    pub(super) fn interval(&self, clusters: Option<&[usize]>, rules: &Rules) -> Result<Interval, NoInterval> {
        let options = BootstrapOptions {
            resamples: rules.resamples,
            seed: rules.seed,
            level: rules.level,
            resample_trials: false,
            ..BootstrapOptions::default()
        };
        let (rows, columns, value) = match self {
            Self::Values(_) => return interval_of_mean(&self.contributions(), clusters, &options).interval,
            Self::Sums { rows, columns, value } => (rows, *columns, value),
        };
        let wide = |[a, b]: &[Row; 2]| {
            let mut row = vec![0.0; columns * 2];
            add(&mut row[..columns], a, 1.0);
            add(&mut row[columns..], b, 1.0);
            row
        };
        let rows: Vec<Vec<f64>> = rows.iter().map(wide).collect();
        let trials = vec![Vec::new(); rows.len()];
        let figure = |row: &[f64]| {
            let (a, b) = row.split_at(columns);
            vec![value(b).zip(value(a)).map(|(b, a)| b - a)]
        };
        let found = joint_estimates(&CaseData { trials: &trials, rows: &rows, clusters }, &figure, &options);
        found.figures.first().map_or(Err(NoInterval::Undefined), |figure| figure.interval)
    }

    /// The p value of a permutation: signs of differences flip, or the sides of cases are swapped; of clusters, all at once.
    pub(super) fn p(&self, clusters: Option<&[usize]>, permutations: usize, seed: Option<u64>) -> Option<f64> {
        match self {
            Self::Values(values) => {
                let near = |d: f64| if d.abs() <= SAME { 0.0 } else { d };
                let differences: Vec<f64> = values.iter().map(|[a, b]| near(b - a)).collect();
                sign_flip(&differences, clusters, permutations, seed)
            }
            Self::Sums { rows, columns, value } => {
                let mut both = vec![0.0; *columns];
                rows.iter().flatten().for_each(|row| add(&mut both, row, 1.0));
                p_of_units(&both, &units(rows, clusters), *value, permutations, seed)
            }
        }
    }
}

/// What a case adds to the columns of a metric: the numbers of columns, upward, and what is added; all others are 0.
pub type Row = Vec<(usize, f64)>;

/// A figure from the columns of all cases, added up; none where it is undefined.
pub type Statistic<'a> = dyn Fn(&[f64]) -> Option<f64> + Sync + 'a;

/// Values no further apart are the same: sums in another order differ in their last digits, and stored values have six digits.
pub(super) const SAME: f64 = 1e-6;

/// Less than this is what rounding leaves of a sum when all that it was made of is taken away.
const RESIDUE: f64 = 1e-9;

fn without_residue(mut columns: Vec<f64>) -> Vec<f64> {
    columns.iter_mut().filter(|column| column.abs() < RESIDUE).for_each(|column| *column = 0.0);
    columns
}

fn add(columns: &mut [f64], row: &Row, times: f64) {
    for (column, added) in row {
        columns[*column] += times * added;
    }
}

/// The second row minus the first, without what is 0.
fn difference(a: &Row, b: &Row) -> Row {
    let mut columns = BTreeMap::new();
    for (row, sign) in [(a, -1.0), (b, 1.0)] {
        for (column, added) in row {
            *columns.entry(*column).or_insert(0.0) += sign * added;
        }
    }
    columns.into_iter().filter(|(_, v): &(usize, f64)| v.abs() > SAME).collect()
}

/// The two-sided p value: the share of ways to swap sides of units in which the figures differ at least as much.
/// Where there are no more ways than would be drawn, all are counted; else `resamples` are drawn and p is `(b+1)/(m+1)`.
/// A way that leaves the figure undefined counts against a difference. `units` are the differences between the sides.
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
        for (all, row) in by_unit.entry(clusters.map_or(at, |names| names[at])).or_default().iter_mut().zip(pair) {
            all.extend(row);
        }
    }
    let mut units: Vec<Row> = by_unit.values().map(|[a, b]| difference(a, b)).filter(|row| !row.is_empty()).collect();
    units.sort_by(|a, b| {
        let mut orders = a.iter().zip(b).map(|((i, x), (j, y))| i.cmp(j).then_with(|| x.total_cmp(y)));
        orders.find(|order| order.is_ne()).unwrap_or_else(|| a.len().cmp(&b.len()))
    });
    units
}
