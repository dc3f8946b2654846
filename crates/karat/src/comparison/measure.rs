//! From a metric and two sides to what every case adds on either.

use super::pairing::Paired;
use super::side::CaseSide;
use karat_core::comparison::{Comparand, Pairs, Row, Statistic};
use karat_core::metric::sums::Sums;
use karat_core::metric::table::{self, Aggregation, Direction};
use karat_core::profile::Profile;
use karat_core::stats::random::Random;
use karat_core::stats::summary::mean;
use std::collections::{BTreeMap, BTreeSet};

/// A metric of two sides, case by case.
pub(super) struct Measured {
    kind: Kind,
    /// The places of the cases, among those of the pair.
    pub(super) cases: Vec<usize>,
    /// The cluster of each.
    pub(super) clusters: Option<Vec<usize>>,
    /// Cases on which only one side has a value.
    pub(super) left_out: usize,
    /// Why the metric cannot be compared case by case at all.
    pub(super) missing: Option<&'static str>,
}

enum Kind {
    Values(Vec<[f64; 2]>),
    Sums { rows: Vec<[Row; 2]>, columns: usize, value: Box<Statistic<'static>> },
}

impl Measured {
    pub(super) fn comparand(&self, direction: Direction) -> Comparand<'_> {
        let pairs = match &self.kind {
            Kind::Values(values) => Pairs::Values(values.clone()),
            Kind::Sums { rows, columns, value } => {
                Pairs::Sums { rows: rows.clone(), columns: *columns, value: value.as_ref() }
            }
        };
        Comparand { pairs, clusters: self.clusters.clone(), direction }
    }
}

/// Which way is better.
pub(super) fn direction(id: &str) -> Direction {
    table::find(id).map_or(Direction::Up, |metric| metric.direction)
}

/// A metric of two sides: a mean of cases by their values, any other by what cases add to it.
pub(super) fn measure(pair: &Paired<'_>, id: &str) -> Measured {
    let mean = is_mean(id);
    let profile = pair.a.resolved.as_ref().or(pair.b.resolved.as_ref());
    match profile.filter(|profile| !mean && Sums::default().value(id, profile).is_some()) {
        Some(profile) => sums(pair, id, profile),
        None => values(pair, id, mean),
    }
}

fn is_mean(id: &str) -> bool {
    table::find(id).is_none_or(|metric| metric.aggregation == Aggregation::MeanOfCases)
}

fn values(pair: &Paired<'_>, id: &str, mean: bool) -> Measured {
    let (mut values, mut cases, mut left_out) = (Vec::new(), Vec::new(), 0);
    for (at, (_, a, b)) in pair.cases.iter().enumerate() {
        match (a.values.get(id), b.values.get(id)) {
            (Some(a), Some(b)) => {
                values.push([*a, *b]);
                cases.push(at);
            }
            (None, None) => {}
            _ => left_out += 1,
        }
    }
    let missing = (!mean).then_some("it is no sum over cases, so that cases cannot be compared one by one");
    Measured { kind: Kind::Values(values), cases, clusters: None, left_out, missing }
}

/// What cases add. Where the metrics that come first are means over the parts of a suite, metrics of verdicts are so here too:
/// every part has columns of its own.
fn sums(pair: &Paired<'_>, id: &str, profile: &Profile) -> Measured {
    let bins = profile.calibration.bins as usize;
    let names = Sums::names(bins);
    let value = |columns: &[f64]| Sums::from_row(columns, bins).value(id, profile).and_then(Result::ok);
    let used = used(names.len(), &value);
    let of_verdicts = table::find(id).is_some_and(|metric| metric.tier == 1);
    let dimension = pair.a.macro_by.as_ref().or(pair.b.macro_by.as_ref()).filter(|_| of_verdicts);
    let parts = dimension.map(|dimension| Parts::of(pair, dimension));
    let (mut rows, mut cases) = (Vec::new(), Vec::new());
    for (at, (_, a, b)) in pair.cases.iter().enumerate() {
        let own = parts.as_ref().map_or(&[0][..], |parts| &parts.of_case[at]);
        let row = |side: &CaseSide| -> Row {
            let stated = |(at, column): (usize, &usize)| Some((at, *side.sums.get(&names[*column])?));
            let sums: Row = used.iter().enumerate().filter_map(stated).filter(|(_, v)| *v != 0.0).collect();
            let width = used.len();
            own.iter().copied().flat_map(|part| sums.iter().map(move |(at, v)| (part * width + at, *v))).collect()
        };
        let both = [row(a), row(b)];
        // A case that adds nothing on either side is none that the metric is about.
        if both.iter().any(|row| !row.is_empty()) {
            rows.push(both);
            cases.push(at);
        }
    }
    let states = |side: fn(&(&str, &CaseSide, &CaseSide)) -> bool| pair.cases.iter().any(side);
    let missing = !(states(|(_, a, _)| !a.sums.is_empty()) && states(|(_, _, b)| !b.sums.is_empty()));
    if missing {
        (rows, cases) = (Vec::new(), Vec::new());
    }
    let missing = missing.then_some("a side does not state what cases add to it: score it again");
    let columns = used.len() * parts.as_ref().map_or(1, |parts| parts.count);
    let (own, id) = (profile.clone(), id.to_owned());
    let of_part = move |columns: &[f64]| {
        let mut whole = vec![0.0; names.len()];
        used.iter().zip(columns).for_each(|(at, sum)| whole[*at] = *sum);
        Sums::from_row(&whole, bins).value(&id, &own).and_then(Result::ok)
    };
    let width = columns.checked_div(parts.map_or(1, |parts| parts.count)).unwrap_or(1).max(1);
    let value = move |columns: &[f64]| mean(&columns.chunks(width).filter_map(&of_part).collect::<Vec<_>>());
    Measured { kind: Kind::Sums { rows, columns, value: Box::new(value) }, cases, clusters: None, left_out: 0, missing }
}

/// The parts of a suite by the values of a dimension.
struct Parts {
    count: usize,
    /// The parts that each case belongs to, upward.
    of_case: Vec<Vec<usize>>,
}

impl Parts {
    fn of(pair: &Paired<'_>, dimension: &str) -> Self {
        let values = |case: &CaseSide| -> BTreeSet<String> {
            match dimension {
                "category" => case.categories.iter().cloned().collect(),
                field => case.fields.get(field).cloned().into_iter().collect(),
            }
        };
        // A baseline does not say what cases are about; the other side does.
        let of_case: Vec<BTreeSet<String>> =
            pair.cases.iter().map(|(_, a, b)| values(a).union(&values(b)).cloned().collect()).collect();
        let all: BTreeSet<&String> = of_case.iter().flatten().collect();
        let numbers: BTreeMap<&String, usize> = all.into_iter().zip(0..).collect();
        let number = |own: &BTreeSet<String>| own.iter().filter_map(|value| numbers.get(value).copied()).collect();
        Self { count: numbers.len(), of_case: of_case.iter().map(number).collect() }
    }
}

/// The names of what a case adds to a metric; none where the metric is a mean of cases.
pub fn columns(id: &str, profile: &Profile) -> Vec<String> {
    let bins = profile.calibration.bins as usize;
    let names = Sums::names(bins);
    if is_mean(id) || Sums::default().value(id, profile).is_none() {
        return Vec::new();
    }
    let value = |columns: &[f64]| Sums::from_row(columns, bins).value(id, profile).and_then(Result::ok);
    used(names.len(), &value).into_iter().map(|column| names[column].clone()).collect()
}

/// The columns that a figure depends on: those whose change changes it somewhere. It is looked at from many places, since a
/// figure such as the widest gap of all bins shows one bin at a time.
fn used(columns: usize, value: &Statistic<'_>) -> Vec<usize> {
    let mut used = BTreeSet::new();
    for place in 0..PLACES {
        let mut random = Random::new(PLACES, place);
        let mut row: Vec<f64> = (0..columns).map(|_| 1.0 + random.unit()).collect();
        let at = value(&row);
        for column in 0..columns {
            row[column] += 1.0;
            let differs = match (value(&row), at) {
                (Some(now), Some(at)) => (now - at).abs() > 1e-9,
                (now, at) => now.is_some() != at.is_some(),
            };
            if differs {
                used.insert(column);
            }
            row[column] -= 1.0;
        }
    }
    used.into_iter().collect()
}

/// From so many places; of ten bins each is the widest in some.
const PLACES: u64 = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bin_counts_for_the_widest_gap() {
        let profile = crate::profile::resolve("karat", &|_| None, &[]).unwrap();
        let count = |id: &str, of: &str| columns(id, &profile).iter().filter(|name| name.starts_with(of)).count();
        // The weight, the claims and the right ones of ten bins; and the weight of all, without which there is none.
        assert_eq!(count("mce", "verdict_confidence.bin"), 30);
        assert_eq!(count("ece", "verdict_confidence.bin"), 20);
        assert_eq!(columns("accuracy", &profile), ["verdict.tp", "verdict.fp", "verdict.tn", "verdict.fn"]);
        assert_eq!(columns("recall", &profile), [] as [&str; 0]);
    }
}
