//! Aggregates requirements: every requirement of a bundle is an item that contributes to each metric.

use crate::comparison::{self, MetricDifference, PairedMetric, Pairs, Row};
use crate::metric::estimate::Estimate;
use crate::metric::table::{self, Metric};
use crate::metric::{Part, Undefined, Value};
use crate::scorecard::Intervals;
use crate::stats::bootstrap::{CaseData, joint_estimates};
use crate::stats::summary::{mean, standard_error};

/// What a requirement adds to one metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Adds {
    Value(Value),
    /// The metric is the share of the parts of all requirements in their wholes.
    Share(Part),
}

impl Adds {
    fn share(self) -> Option<Part> {
        if let Self::Share(part) = self { Some(part) } else { None }
    }
}

/// Why the metrics of a requirement are undefined about which an assessor could not be asked.
pub(super) const NOT_ASKED: Undefined = Undefined("the assessor could not be asked");

fn is_left_out(item: &Item) -> bool {
    item.iter().any(|(_, adds)| *adds == Adds::Value(Err(NOT_ASKED)))
}

/// What a requirement adds to each metric, in the order in which metrics are shown. Every requirement has the same metrics.
pub type Item = Vec<(&'static str, Adds)>;

/// The metrics of all requirements.
pub fn estimates(items: &[Item]) -> Vec<(&'static str, Estimate)> {
    let Some(first) = items.first() else { return Vec::new() };
    let estimate = |(at, (id, _)): (usize, &(&'static str, Adds))| {
        let metric = table::find(id)?;
        Some((metric.id, point(items, at, metric)))
    };
    first.iter().enumerate().filter_map(estimate).collect()
}

/// The metrics of all requirements with their intervals, or why there is none. Clusters of requirements are drawn whole.
pub fn with_intervals(
    items: &[Item],
    clusters: Option<&[usize]>,
    intervals: &Intervals,
) -> Vec<(&'static str, Estimate)> {
    let mut found = estimates(items);
    let mean = |(_, adds): &(&str, Adds)| if let Adds::Value(value) = adds { Some(value.ok()) } else { None };
    let means = |item: &Item| item.iter().filter_map(mean).collect();
    let shares =
        |item: &Item| item.iter().filter_map(|(_, adds)| adds.share()).flat_map(|s| [s.part, s.whole]).collect();
    let trials: Vec<Vec<Vec<Option<f64>>>> = items.iter().map(|item| vec![means(item)]).collect();
    let rows: Vec<Vec<f64>> = items.iter().map(shares).collect();
    let figures = |row: &[f64]| row.chunks(2).map(|share| share_of(share).ok()).collect();
    let cases = CaseData { trials: &trials, rows: &rows, clusters };
    let drawn = joint_estimates(&cases, &figures, &intervals.bootstrap(false));
    let (mut of_means, mut of_shares) = (drawn.means.into_iter(), drawn.figures.into_iter());
    for (at, (_, estimate)) in found.iter_mut().enumerate() {
        let is_mean = items.first().is_some_and(|item| matches!(item[at].1, Adds::Value(_)));
        let figure = if is_mean { of_means.next() } else { of_shares.next() };
        let Some((figure, value)) = figure.zip(estimate.value) else { continue };
        // A share of independent items has an interval of its own, and resampling a mean that is 0 or 1 everywhere shows nothing.
        let flat = is_mean && figure.interval.is_err() && (value == 0.0 || value == 1.0);
        let is_yes_or_no = |item: &Item| value_of(item, at).is_ok_and(|value| value == 0.0 || value == 1.0);
        let proportion = !is_mean || flat || items.iter().all(is_yes_or_no);
        let interval = match (clusters, proportion) {
            (None, true) => intervals.proportions.interval(value, estimate.n),
            _ => figure.interval,
        };
        if is_mean {
            let own =
                |(i, item): (usize, &Item)| Some((value_of(item, at).ok()?, clusters.map_or(i, |names| names[i])));
            let (values, names): (Vec<f64>, Vec<usize>) = items.iter().enumerate().filter_map(own).unzip();
            estimate.se = standard_error(&values, clusters.map(|_| names.as_slice()));
        }
        estimate.set_interval(interval, !is_mean);
    }
    found
}

/// Two answers to the same requirements, compared with each other.
#[derive(Clone, Copy, Debug)]
pub struct AnswerPair<'a> {
    pub a: &'a [Item],
    pub b: &'a [Item],
}

/// Compares one metric of several pairs of answers to the same requirements, in the same order. They are one family.
pub fn compare(
    sides: &[AnswerPair<'_>],
    id: &str,
    clusters: Option<&[usize]>,
    rules: &comparison::Rules,
) -> Vec<MetricDifference> {
    let direction = table::direction(id);
    let share = |sums: &[f64]| share_of(sums).ok();
    let adds = |item: &Item| item.iter().find(|(own, _)| *own == id).map(|(_, adds)| *adds);
    let comparand = |sides: &AnswerPair<'_>| {
        let (mut values, mut rows, mut names) = (Vec::new(), Vec::new(), Vec::new());
        for (at, (a, b)) in sides.a.iter().zip(sides.b).enumerate() {
            if is_left_out(a) || is_left_out(b) {
                continue;
            }
            match (adds(a), adds(b)) {
                (Some(Adds::Value(Ok(a))), Some(Adds::Value(Ok(b)))) => values.push([a, b]),
                (Some(Adds::Share(a)), Some(Adds::Share(b))) => rows.push([row(a), row(b)]),
                _ => continue,
            }
            names.push(clusters.map_or(at, |names| names[at]));
        }
        let pairs = match rows.is_empty() {
            true => Pairs::Values(values),
            false => Pairs::Sums { rows, columns: 2, value: &share },
        };
        PairedMetric { pairs, clusters: clusters.map(|_| names), direction }
    };
    comparison::compare(&sides.iter().map(comparand).collect::<Vec<_>>(), rules)
}

/// The value of a metric at a place of an item; a share of its own where the metric is pooled.
fn value_of(item: &Item, at: usize) -> Value {
    match item[at].1 {
        Adds::Value(value) => value,
        Adds::Share(Part { part, whole }) => share_of(&[part, whole]),
    }
}

fn point(items: &[Item], at: usize, metric: &Metric) -> Estimate {
    let is_not_asked = |item: &Item| item[at].1 == Adds::Value(Err(NOT_ASKED));
    let reason = match items.iter().any(is_not_asked) || items.iter().all(is_left_out) {
        true => NOT_ASKED,
        false => Undefined(metric.undefined_when),
    };
    let shares: Vec<Part> = items.iter().filter_map(|item| item[at].1.share()).collect();
    if !shares.is_empty() {
        let mut sum = Part::default();
        shares.into_iter().for_each(|part| sum += part);
        return Estimate::new(sum.share(reason.0), sum.whole.round() as usize, metric.direction);
    }
    let values: Vec<f64> = items.iter().filter_map(|item| value_of(item, at).ok()).collect();
    let left_out = items.len() - values.len();
    Estimate { left_out, ..Estimate::new(mean(&values).ok_or(reason), values.len(), metric.direction) }
}

fn row(Part { part, whole }: Part) -> Row {
    [(0, part), (1, whole)].into_iter().filter(|(_, sum)| *sum != 0.0).collect()
}

fn share_of(sums: &[f64]) -> Value {
    Part { part: sums[0], whole: sums[1] }.share("the denominator is 0")
}

#[cfg(test)]
mod tests;
