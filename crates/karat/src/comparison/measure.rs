//! How much each case adds to a metric of a side.
//!
//! The figure of each side is computed from all of its cases and compared with what the side states; where the two differ, the
//! metric is not compared.

use super::are_compared;
use super::pairing::Paired;
use super::side::{CaseSide, Side, SideKind, depends_on_trials};
use karat_core::comparison::{FoundCount, Pairs, Row, Statistic, ToolScores, at_fewer_trials};
use karat_core::metric::levels::{Cell, adaptive_error, swept};
use karat_core::metric::sums::Sums;
use karat_core::metric::sweep::Scale;
use karat_core::metric::table::{Basis, basis};
use karat_core::metric::targets::spread_of_moments;
use karat_core::stats::summary::mean;
use std::collections::{BTreeMap, BTreeSet};

/// How many cases have trials that count on one side only, and what either side states where all of its cases are compared.
pub(super) fn stated_figures(pair: &Paired<'_>, id: &str) -> (usize, [Option<f64>; 2]) {
    let left_out = pair.cases.iter().filter(|(_, a, b)| a.counted != b.counted).count();
    let same_cases = left_out == 0 && pair.left_out.is_empty() && !has_other_trials(pair, id);
    let stated = |side: &Side| side.stated.get(id)?.value.filter(|_| same_cases);
    (left_out, [stated(pair.a), stated(pair.b)])
}

/// Whether a metric depends on the number of trials, and both sides have different numbers.
pub(super) fn has_other_trials(pair: &Paired<'_>, id: &str) -> bool {
    let differ = |(_, a, b): &(&str, &CaseSide, &CaseSide)| {
        are_compared(a, b) && trials(a).zip(trials(b)).is_some_and(|(a, b)| a != b)
    };
    depends_on_trials(id) && pair.cases.iter().any(differ)
}

/// How many trials of a case count; none where the side does not say what was found.
fn trials(case: &CaseSide) -> Option<usize> {
    case.found.values().map(|count| count.trials).max()
}

/// The values of both sides of a case, of a metric over trials at the smaller number of them.
fn paired_values(id: &str, a: &CaseSide, b: &CaseSide) -> Option<[f64; 2]> {
    let fewest = trials(a).zip(trials(b)).map(|(a, b)| a.min(b));
    Some([value_at(id, a, fewest)?, value_at(id, b, fewest)?])
}

/// The value of a case, of a metric over trials at so many of them.
fn value_at(id: &str, case: &CaseSide, fewest: Option<usize>) -> Option<f64> {
    match trials(case).zip(fewest).filter(|_| depends_on_trials(id)) {
        Some((own, fewest)) if own > fewest => {
            at_fewer_trials(id, &case.found.values().copied().collect::<Vec<FoundCount>>(), fewest)
        }
        _ => case.values.get(id),
    }
}

/// The figures of all cases, of those metrics that a side keeps the data of; means over the parts of a suite are ignored.
pub(crate) fn recomputed<'i>(side: &Side, ids: impl Iterator<Item = &'i String>) -> BTreeMap<String, Option<f64>> {
    let side = Side { over_parts: BTreeSet::new(), ..side.clone() };
    let totals = Totals::new(&side);
    // A report of an older version, or an invented one, may have no sums.
    let has_sums = !totals.sums.is_empty();
    let figure = |id: &String| {
        let formula = MetricFormula::new(&[&side], id).ok()?;
        let stated = match formula.basis {
            Basis::Values | Basis::Spread(_) => true,
            _ => has_sums && formula.columns.keys().any(|name| totals.sums.contains_key(name.as_str())),
        };
        stated.then(|| (id.clone(), formula.total_figure(&totals)))
    };
    ids.filter_map(figure).collect()
}

struct Totals<'s> {
    /// By metric: how many cases have a value, the sum of these values, and of their squares.
    values: BTreeMap<&'s str, [f64; 3]>,
    sums: BTreeMap<&'s str, f64>,
}

impl<'s> Totals<'s> {
    fn new(side: &'s Side) -> Self {
        let (mut values, mut sums) = (BTreeMap::new(), BTreeMap::new());
        for case in side.cases.values() {
            for (id, value) in case.values.iter() {
                let total = values.entry(id).or_insert([0.0; 3]);
                *total = [total[0] + 1.0, total[1] + value, total[2] + value * value];
            }
            for (name, sum) in case.sums.iter() {
                *sums.entry(name).or_insert(0.0) += sum;
            }
        }
        Self { values, sums }
    }
}

/// A case of a side, if trials of it count.
fn counted<'s>(side: &'s Side, name: &str) -> Option<&'s CaseSide> {
    side.cases.get(name).filter(|case| case.counted)
}

/// Figures that differ by less are equal, since stored ones may be rounded to six digits.
const SAME: f64 = 1e-5;

/// Why a metric is not compared.
#[derive(Debug)]
pub(crate) struct NotCompared {
    pub(super) reason: String,
    /// Whether a report or baseline lacks what it is computed from, so that it must be written again.
    pub(super) lacks_data: bool,
}

/// How a metric is computed from the data of cases.
pub(crate) struct MetricFormula {
    basis: Basis,
    id: String,
    /// The columns of one part, by name; of a mean or a spread they have no name.
    columns: BTreeMap<String, usize>,
    width: usize,
    /// Where the figure is a mean over the parts of the suite, every part has columns of its own.
    parts: Option<Parts>,
    value: Box<Statistic<'static>>,
}

impl MetricFormula {
    /// The formula by which all sides have the value that they state, or why there is none.
    pub(super) fn checked(sides: &[&Side], id: &str) -> Result<Self, NotCompared> {
        let lacks = |reason: String| NotCompared { reason, lacks_data: true };
        let cannot = |reason: String| NotCompared { reason, lacks_data: false };
        for side in sides {
            let label = &side.label;
            return Err(match (side.stated.get(id), side.kept) {
                (Some(estimate), _) if estimate.value.is_some() => continue,
                (Some(estimate), _) => {
                    let undefined = estimate.undefined.as_deref().unwrap_or("no reason given");
                    cannot(format!("{label} has no value: {undefined}"))
                }
                (None, SideKind::Report) => lacks(format!("the report of {label} does not contain it: score it again")),
                (None, SideKind::Baseline) => {
                    lacks(format!("the baseline of {label} does not contain it: write it again with --metric {id}"))
                }
            });
        }
        let formula = Self::new(sides, id).map_err(|reason| match basis(id) {
            Some(Basis::Whole(_)) => cannot(reason),
            _ => lacks(reason),
        })?;
        for side in sides {
            let Some(stated) = side.stated.get(id).and_then(|estimate| estimate.value) else { continue };
            let computed = formula.figure(side);
            if computed.is_some_and(|computed| (computed - stated).abs() <= SAME * stated.abs().max(1.0)) {
                continue;
            }
            let label = &side.label;
            return Err(match (&formula.parts, side.kept) {
                (_, SideKind::Baseline) => {
                    lacks(format!("the baseline of {label} lacks data to compute it: write it again"))
                }
                (Some(parts), SideKind::Report) => cannot(format!(
                    "it is the mean over each {} of single goldens and findings, and cases do not add up to it",
                    parts.dimension
                )),
                (None, SideKind::Report) => {
                    lacks(format!("the report of {label} lacks data to compute it: score it again"))
                }
            });
        }
        Ok(formula)
    }

    pub(crate) fn new(sides: &[&Side], id: &str) -> Result<Self, String> {
        let basis = basis(id).unwrap_or(Basis::Values);
        let profile = sides.iter().find_map(|side| side.resolved.as_ref());
        let rules = || profile.ok_or("baselines do not contain the rules to compute it: compare with a report");
        let cases = || sides.iter().flat_map(|side| side.cases.values());
        let (names, value): (Vec<String>, Box<Statistic<'static>>) = match basis {
            Basis::Whole(reason) => return Err(reason.to_owned()),
            Basis::Values => (Vec::new(), Box::new(|sums: &[f64]| (sums[1] > 0.0).then(|| sums[0] / sums[1]))),
            Basis::Spread(_) => {
                let population = rules()?.audit_conventions.population_std;
                let value = move |sums: &[f64]| spread_of_moments(sums[0], sums[1], sums[2], population).ok();
                (Vec::new(), Box::new(value))
            }
            Basis::Share => {
                let share = |sums: &[f64]| (sums[1] > 0.0).then(|| sums[0] / sums[1]);
                (share_columns(id).to_vec(), Box::new(share))
            }
            Basis::Sums => {
                let (profile, id) = (rules()?.clone(), id.to_owned());
                let bins = profile.calibration.bins as usize;
                let all = Sums::names(bins);
                let read = Sums::columns(&id, bins).unwrap_or_default();
                let names = read.iter().map(|at| all[*at].clone()).collect();
                let value = move |columns: &[f64]| {
                    let mut whole = vec![0.0; all.len()];
                    read.iter().zip(columns).for_each(|(at, sum)| whole[*at] = *sum);
                    Sums::from_row(&whole, bins).value(&id, &profile).and_then(Result::ok)
                };
                (names, Box::new(value))
            }
            Basis::Levels(scale) => {
                let bins = rules()?.calibration.bins;
                let cells = levels(cases(), scale);
                let counts = if scale == Scale::Verdict { &[][..] } else { &COUNTS };
                let names = counts.iter().map(|name| (*name).to_owned()).chain(cells.iter().map(Cell::name)).collect();
                (names, of_levels(id, scale, cells, bins))
            }
        };
        let width = match basis {
            Basis::Values => 2,
            Basis::Spread(_) => 3,
            _ => names.len(),
        };
        let parts = Parts::averaged(sides, id);
        let value = over_parts(value, width);
        Ok(Self { basis, id: id.to_owned(), columns: names.into_iter().zip(0..).collect(), width, parts, value })
    }

    /// The values of both sides, case by case, and the indices of these cases among those of the pair.
    pub(super) fn pairs(&self, pair: &Paired<'_>) -> (Pairs<'_>, Vec<usize>) {
        let (mut rows, mut cases) = (Vec::new(), Vec::new());
        for (at, (name, a, b)) in pair.cases.iter().enumerate().filter(|(_, (_, a, b))| are_compared(a, b)) {
            if depends_on_trials(&self.id) && paired_values(&self.id, a, b).is_none() {
                continue;
            }
            let both = [self.row(name, a), self.row(name, b)];
            // The metric does not apply to a case that adds nothing on either side.
            if both.iter().any(|row| !row.is_empty()) {
                rows.push(both);
                cases.push(at);
            }
        }
        let values = |at: &usize| {
            let (_, a, b) = &pair.cases[*at];
            paired_values(&self.id, a, b)
        };
        // The differences of cases say more than two sums do.
        let values = self.is_mean_of_cases().then(|| cases.iter().map(values).collect::<Option<_>>()).flatten();
        let sums = || Pairs::Sums { rows, columns: self.columns(), value: self.value.as_ref() };
        (values.map_or_else(sums, Pairs::Values), cases)
    }

    /// The values of several tools on the same cases.
    pub(super) fn tool_scores(&self, sides: &[&Side], cases: &[&str]) -> ToolScores<'_> {
        if self.is_mean_of_cases() {
            let fewest = |name: &&str| sides.iter().filter_map(|side| trials(counted(side, name)?)).min();
            let fewest: Vec<Option<usize>> = cases.iter().map(fewest).collect();
            let values = |side: &&Side| {
                let value = |(name, fewest): (&&str, &Option<usize>)| value_at(&self.id, counted(side, name)?, *fewest);
                cases.iter().zip(&fewest).map(value).collect()
            };
            return ToolScores::Values(sides.iter().map(values).collect());
        }
        // Sums of different cases are not compared: a case counts for all tools or for none.
        let counts = |name: &str| sides.iter().all(|side| counted(side, name).is_some());
        let row = |side: &Side, name: &str| match counted(side, name).filter(|_| counts(name)) {
            Some(case) => self.row(name, case),
            None => Row::new(),
        };
        let rows = sides.iter().map(|side| cases.iter().map(|name| row(side, name)).collect()).collect();
        ToolScores::Sums { rows, columns: self.columns(), value: self.value.as_ref() }
    }

    /// Whether it is computed from these values of cases.
    pub(crate) fn reads_value(&self, id: &str) -> bool {
        id == self.id || matches!(self.basis, Basis::Spread(of) if of == id)
    }

    /// Whether it is computed from these sums of cases.
    pub(crate) fn reads_sum(&self, name: &str) -> bool {
        self.columns.contains_key(name)
    }

    fn is_mean_of_cases(&self) -> bool {
        self.parts.is_none() && matches!(self.basis, Basis::Values)
    }

    fn columns(&self) -> usize {
        self.width * self.parts.as_ref().map_or(1, |parts| parts.count)
    }

    fn row(&self, name: &str, case: &CaseSide) -> Row {
        let sums: Row = match self.basis {
            Basis::Values => case.values.get(&self.id).map(|value| vec![(0, value), (1, 1.0)]),
            Basis::Spread(of) => case.values.get(of).map(|value| vec![(0, 1.0), (1, value), (2, value * value)]),
            _ => Some(case.sums.iter().filter_map(|(name, sum)| Some((*self.columns.get(name)?, sum))).collect()),
        }
        .unwrap_or_default();
        let mut sums: Row = sums.into_iter().filter(|(_, sum)| *sum != 0.0).collect();
        sums.sort_by_key(|(column, _)| *column);
        let Some(parts) = &self.parts else { return sums };
        let own = parts.of_case.get(name).into_iter().flatten();
        own.flat_map(|part| sums.iter().map(move |(column, sum)| (part * self.width + column, *sum))).collect()
    }

    /// The figure of all cases together, where it is not a mean over parts of the suite.
    fn total_figure(&self, totals: &Totals<'_>) -> Option<f64> {
        let moments = |id: &str| totals.values.get(id).copied().unwrap_or_default();
        let columns = match self.basis {
            Basis::Values => {
                let [n, sum, _] = moments(&self.id);
                vec![sum, n]
            }
            Basis::Spread(of) => moments(of).to_vec(),
            _ => {
                let mut columns = vec![0.0; self.width];
                for (name, at) in &self.columns {
                    columns[*at] = totals.sums.get(name.as_str()).copied().unwrap_or(0.0);
                }
                columns
            }
        };
        (self.value)(&columns).filter(|value| value.is_finite())
    }

    fn figure(&self, side: &Side) -> Option<f64> {
        let mut totals = vec![0.0; self.columns()];
        for (name, case) in &side.cases {
            for (column, sum) in self.row(name, case) {
                totals[column] += sum;
            }
        }
        (self.value)(&totals).filter(|value| value.is_finite())
    }
}

/// The mean of a figure over parts with so many columns each.
fn over_parts(value: Box<Statistic<'static>>, width: usize) -> Box<Statistic<'static>> {
    Box::new(move |columns: &[f64]| mean(&columns.chunks(width.max(1)).filter_map(&value).collect::<Vec<_>>()))
}

/// The sums of a share: its parts, and their wholes.
pub(super) fn share_columns(id: &str) -> [String; 2] {
    [format!("{id}.part"), format!("{id}.whole")]
}

/// Pooled true positives, false positives and misses.
const COUNTS: [&str; 3] = ["tp", "fp", "fn"];

fn levels<'c>(cases: impl Iterator<Item = &'c CaseSide>, scale: Scale) -> Vec<Cell> {
    let names: BTreeSet<&str> = cases.flat_map(|case| case.sums.names()).collect();
    names.into_iter().filter_map(Cell::parse).filter(|cell| cell.scale == scale).collect()
}

fn of_levels(id: &str, scale: Scale, cells: Vec<Cell>, bins: u32) -> Box<Statistic<'static>> {
    if scale == Scale::Verdict {
        return Box::new(move |sums: &[f64]| {
            adaptive_error(cells.iter().copied().zip(sums.iter().copied()), bins).ok()
        });
    }
    let best = id.ends_with("best_f1");
    Box::new(move |sums: &[f64]| {
        let [tp, fp, fn_, levels @ ..] = sums else { return None };
        let sweep = swept(scale, cells.iter().copied().zip(levels.iter().copied()), [*tp, *fp, *fn_]);
        if best { sweep.best_f1().ok() } else { sweep.average_precision.ok() }
    })
}

/// The parts of a suite by the values of a dimension.
struct Parts {
    dimension: String,
    count: usize,
    /// The parts that each case belongs to, upward.
    of_case: BTreeMap<String, Vec<usize>>,
}

impl Parts {
    /// The parts whose mean is the figure that sides state of a metric; none where it is a figure of all cases.
    fn averaged(sides: &[&Side], id: &str) -> Option<Self> {
        let side = sides.iter().find(|side| side.over_parts.contains(id))?;
        let mut values: BTreeMap<&String, BTreeSet<&String>> = BTreeMap::new();
        for (name, case) in sides.iter().flat_map(|side| &side.cases) {
            values.entry(name).or_default().extend(&case.parts);
        }
        let all: BTreeSet<&String> = values.values().flatten().copied().collect();
        let numbers: BTreeMap<&String, usize> = all.into_iter().zip(0..).collect();
        let number = |own: &BTreeSet<&String>| own.iter().filter_map(|value| numbers.get(value).copied()).collect();
        Some(Self {
            dimension: side.macro_by.clone().unwrap_or_default(),
            count: numbers.len(),
            of_case: values.iter().map(|(name, own)| ((*name).clone(), number(own))).collect(),
        })
    }
}
