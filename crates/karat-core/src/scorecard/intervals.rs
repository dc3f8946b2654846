//! Adds intervals and standard errors to a finished scorecard.

use super::aggregate::{is_over_trials, means_of_cases, trial_value};
use super::tiers::total_sums;
use super::{CaseScore, Metrics, Scorecard, ToolScore};
use crate::clusters::{self, ClusterBy};
use crate::metric::Part;
use crate::metric::calibration::{root_of_interval, signed_square};
use crate::metric::estimate::Estimate;
use crate::metric::sums::Sums;
use crate::metric::table::{self, IntervalRule, METRICS, Metric, Source};
use crate::profile::Profile;
use crate::stats::bootstrap::{BootstrapKind, BootstrapOptions, CaseData, RESAMPLES, joint_estimates};
use crate::stats::interval::{Interval, IntervalEstimate, NoInterval, clopper_pearson_of_share, wilson_of_share};
use crate::stats::jackknife::jackknife;
use crate::stats::summary::{mean, standard_error};
use crate::suite::Suite;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, PartialEq)]
pub struct Intervals {
    /// Where random numbers start from; none takes a seed from the data.
    pub seed: Option<u64>,
    pub resamples: usize,
    pub kind: BootstrapKind,
    pub proportions: Proportions,
    pub cluster: ClusterBy,
}

/// Which interval a plain proportion gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Proportions {
    /// Wilson's, which covers as often as it says on average.
    Wilson,
    /// Clopper and Pearson's, which never covers less often.
    ClopperPearson,
}

impl Proportions {
    pub(crate) fn interval(self, share: f64, n: usize) -> Result<Interval, NoInterval> {
        match self {
            Self::Wilson => wilson_of_share(share, n, Intervals::LEVEL),
            Self::ClopperPearson => clopper_pearson_of_share(share, n, Intervals::LEVEL),
        }
    }
}

impl Intervals {
    /// How often intervals hold the truth.
    pub const LEVEL: f64 = 0.95;

    pub(crate) fn bootstrap(&self, resample_trials: bool) -> BootstrapOptions {
        let Self { resamples, seed, kind, .. } = *self;
        BootstrapOptions { resamples, seed, level: Self::LEVEL, kind, resample_trials }
    }
}

impl Default for Intervals {
    fn default() -> Self {
        Self {
            seed: None,
            resamples: RESAMPLES,
            kind: BootstrapKind::Bca,
            proportions: Proportions::Wilson,
            cluster: ClusterBy::Default,
        }
    }
}

impl Scorecard {
    /// Adds to every metric of every tool its interval, or why there is none. Slices have none.
    pub fn add_intervals(&mut self, suite: &Suite, profile: &Profile, intervals: &Intervals) {
        let clustering = intervals.cluster.decide(suite);
        let clusters =
            clustering.used_field().map(|field| clusters::numbers(suite.cases.iter().map(|case| case.field(field))));
        for tool in &mut self.tools {
            IntervalBuilder { suite, profile, intervals, clusters: clusters.as_deref() }.add_to(tool);
        }
    }
}

struct IntervalBuilder<'a> {
    suite: &'a Suite,
    profile: &'a Profile,
    intervals: &'a Intervals,
    clusters: Option<&'a [usize]>,
}

/// The metrics of a tool by how their intervals come about.
struct MetricsBySource {
    means: Vec<&'static Metric>,
    sums: Vec<&'static str>,
    pooled: Vec<&'static str>,
    /// The dimension of the headline, its groups, and the verdict metrics over it.
    groups: Vec<BTreeSet<usize>>,
    grouped: Vec<&'static str>,
}

impl IntervalBuilder<'_> {
    fn add_to(&self, tool: &mut ToolScore) {
        let sorted = self.sorted(tool);
        let bins = self.profile.calibration.bins as usize;
        let cases: Vec<&CaseScore> = tool.cases.iter().filter(|case| case.counted().next().is_some()).collect();
        let trials: Vec<Vec<Vec<Option<f64>>>> =
            cases.iter().map(|case| self.trial_values(case, &sorted.means)).collect();
        let width = Sums::names(bins).len() + VERDICTS * sorted.groups.len();
        // Most columns are 0 in all cases, and a large suite has many cases.
        let live: BTreeSet<usize> =
            cases.iter().flat_map(|case| Self::columns(case, &sorted, width)).map(|(at, _)| at).collect();
        let live: Vec<usize> = live.into_iter().collect();
        let row = |case: &&CaseScore| {
            let mut row = vec![0.0; live.len()];
            for (column, number) in Self::columns(case, &sorted, width) {
                if let Ok(at) = live.binary_search(&column) {
                    row[at] = number;
                }
            }
            row
        };
        let rows: Vec<Vec<f64>> = cases.iter().map(row).collect();
        let clusters: Option<Vec<usize>> =
            self.clusters.map(|names| cases.iter().map(|case| names[case.case]).collect());
        let widened = |totals: &[f64]| {
            let mut row = vec![0.0; width];
            live.iter().zip(totals).for_each(|(at, total)| row[*at] = *total);
            row
        };
        let figures = |totals: &[f64]| self.figures(&widened(totals), &sorted, bins);
        let all = CaseData { trials: &trials, rows: &rows, clusters: clusters.as_deref() };
        let found = joint_estimates(&all, &figures, &self.intervals.bootstrap(true));
        let errors: Vec<Option<f64>> =
            (0..sorted.means.len()).map(|at| error(&trials, at, clusters.as_deref())).collect();
        let total = total_sums(&tool.cases);
        for ((metric, figure), se) in sorted.means.iter().zip(found.means).zip(errors) {
            if let Some(estimate) = find(&mut tool.metrics, metric.id) {
                estimate.se = se;
                estimate.set_interval(self.or_share_interval(metric, figure, estimate.n), false);
            }
        }
        let mut figures = found.figures.into_iter();
        for (id, figure) in sorted.sums.iter().zip(&mut figures) {
            let pooled = table::find(id).is_some_and(|m| m.aggregation == table::Aggregation::Pooled);
            self.set_interval(&mut tool.metrics, id, total.proportion(id), figure, pooled);
        }
        for (id, figure) in sorted.pooled.iter().zip(&mut figures) {
            self.set_interval(&mut tool.micro, id, total.pooled_proportion(id), figure, true);
        }
        let dimension = self.profile.headline_macro_by.as_deref().unwrap_or_default();
        if let Some(metrics) = tool.macro_by.get_mut(dimension) {
            for (id, figure) in sorted.grouped.iter().zip(&mut figures) {
                self.set_interval(metrics, id, None, figure, false);
            }
        }
        for (point, n) in tool.reliability.iter_mut().zip(total.verdict_confidence.effective_cases()) {
            let interval = self.intervals.proportions.interval(point.accuracy, n);
            point.ci = interval.ok().map(|interval| [interval.low, interval.high]);
        }
        for metric in METRICS {
            let Some(estimate) = find(&mut tool.metrics, metric.id).filter(|estimate| estimate.value.is_some()) else {
                continue;
            };
            match metric.interval {
                IntervalRule::OfSource if estimate.ci.is_some() => {}
                IntervalRule::OfSource => {
                    estimate.no_ci.get_or_insert("it is not a mean or ratio over cases, so cases cannot be resampled");
                }
                IntervalRule::JackknifeOfSquare => {
                    let square = |totals: &[f64]| {
                        let value = Sums::from_row(&widened(totals), bins).value(metric.id, self.profile)?;
                        value.ok().map(signed_square)
                    };
                    let squares = jackknife(&rows, clusters.as_deref(), Intervals::LEVEL, square);
                    estimate
                        .set_interval(squares.map(root_of_interval), metric.aggregation == table::Aggregation::Pooled);
                }
                IntervalRule::Without(reason) => estimate.no_ci = Some(reason),
            }
        }
        // Resamples shrink towards the mean and vary around it, which may take them past what the metric can be.
        for (id, estimate) in tool.metrics.iter_mut().chain(&mut tool.micro) {
            if let (Some(ends), Some(metric)) = (&mut estimate.ci, table::find(id)) {
                let (least, most) = metric.range();
                *ends = ends.map(|end| end.clamp(least, most));
            }
        }
    }

    /// Only what has a value gets an interval.
    fn sorted(&self, tool: &ToolScore) -> MetricsBySource {
        let defined = |metrics: &Metrics, id: &str| metrics.iter().any(|(own, e)| *own == id && e.value.is_some());
        let sampled = |metric: &&Metric| metric.interval == IntervalRule::OfSource;
        let of_sums = table::from_source(Source::Sums).filter(sampled).map(|metric| metric.id);
        let verdicts = table::METRICS.iter().filter(|metric| metric.tier == 1).map(|metric| metric.id);
        let dimension = self.profile.headline_macro_by.as_deref();
        let by_value = dimension.and_then(|dimension| tool.macro_by.get(dimension));
        MetricsBySource {
            means: means_of_cases().filter(|metric| defined(&tool.metrics, metric.id)).collect(),
            sums: of_sums.filter(|id| defined(&tool.metrics, id)).collect(),
            pooled: tool.micro.iter().filter(|(_, e)| e.value.is_some()).map(|(id, _)| *id).collect(),
            groups: dimension.map_or_else(Vec::new, |dimension| groups(self.suite, tool, dimension)),
            grouped: verdicts.filter(|id| by_value.is_some_and(|metrics| defined(metrics, id))).collect(),
        }
    }

    fn trial_values(&self, score: &CaseScore, metrics: &[&'static Metric]) -> Vec<Vec<Option<f64>>> {
        let of_trial = |trial| {
            let value = |metric: &&'static Metric| match is_over_trials(metric) {
                true => score.value(metric.id)?.ok(),
                false => trial_value(metric, &self.suite.cases[score.case], trial, self.profile).ok(),
            };
            metrics.iter().map(value).collect()
        };
        score.counted().map(of_trial).collect()
    }

    /// What is not 0 of what a case adds up to, by column; the last columns are its verdicts once more for each group it belongs to.
    fn columns<'c>(
        case: &'c CaseScore,
        sorted: &'c MetricsBySource,
        width: usize,
    ) -> impl Iterator<Item = (usize, f64)> + 'c {
        let groups = (0..).zip(&sorted.groups).filter(|(_, group)| group.contains(&case.case));
        let first = width - VERDICTS * sorted.groups.len();
        let repeated = groups.flat_map(move |(at, _): (usize, _)| {
            let verdicts = case.sums.numbers().take_while(|(column, _)| *column < VERDICTS);
            verdicts.map(move |(column, number)| (first + VERDICTS * at + column, number))
        });
        case.sums.numbers().chain(repeated)
    }

    fn figures(&self, row: &[f64], sorted: &MetricsBySource, bins: usize) -> Vec<Option<f64>> {
        let (own, groups) = row.split_at(row.len() - VERDICTS * sorted.groups.len());
        let sums = Sums::from_row(own, bins);
        let of_sums = sorted.sums.iter().map(|id| sums.value(id, self.profile).and_then(Result::ok));
        let pooled = sorted.pooled.iter().map(|id| sums.pooled(id, self.profile).and_then(Result::ok));
        let groups: Vec<Sums> = groups.chunks(VERDICTS).map(|verdicts| Sums::from_row(verdicts, 0)).collect();
        let grouped = sorted.grouped.iter().map(|id| {
            let values: Vec<f64> =
                groups.iter().filter_map(|sums| sums.value(id, self.profile).and_then(Result::ok)).collect();
            mean(&values)
        });
        of_sums.chain(pooled).chain(grouped).collect()
    }

    /// Sets the interval of a plain proportion of independent items; that of the figure where items come in clusters.
    fn set_interval(&self, all: &mut Metrics, id: &str, part: Option<Part>, figure: IntervalEstimate, pooled: bool) {
        let Some(estimate) = find(all, id) else { return };
        let interval = match part.filter(|_| self.clusters.is_none()) {
            Some(Part { part, whole }) => self.intervals.proportions.interval(part / whole, whole.round() as usize),
            None => figure.interval,
        };
        estimate.set_interval(interval, pooled);
    }

    /// Where every case has the same share of 0 or 1, resampling says nothing, and all that is known is how many there are.
    fn or_share_interval(&self, metric: &Metric, figure: IntervalEstimate, n: usize) -> Result<Interval, NoInterval> {
        let share = figure.value.filter(|value| *value == 0.0 || *value == 1.0);
        match (figure.interval, share) {
            (Err(_), Some(share)) if metric.unit == "share" && self.clusters.is_none() => {
                self.intervals.proportions.interval(share, n)
            }
            (interval, _) => interval,
        }
    }
}

/// How many numbers of a row are about verdicts; they come first.
const VERDICTS: usize = 4;

/// The cases of a tool that count, by the values of a dimension.
fn groups(suite: &Suite, tool: &ToolScore, dimension: &str) -> Vec<BTreeSet<usize>> {
    let mut groups: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    let counted = tool.cases.iter().filter(|score| score.counted().next().is_some());
    for (at, case) in counted.map(|score| (score.case, &suite.cases[score.case])) {
        let categories = case.categories.iter().filter(|_| dimension == "category");
        for value in categories.map(String::as_str).chain(case.field(dimension)) {
            groups.entry(value).or_default().insert(at);
        }
    }
    groups.into_values().collect()
}

fn find<'m>(metrics: &'m mut Metrics, id: &str) -> Option<&'m mut Estimate> {
    metrics.iter_mut().find(|(own, _)| *own == id).map(|(_, estimate)| estimate)
}

fn error(trials: &[Vec<Vec<Option<f64>>>], at: usize, clusters: Option<&[usize]>) -> Option<f64> {
    let own = |(case, trials): (usize, &Vec<Vec<Option<f64>>>)| {
        let value = mean(&trials.iter().filter_map(|trial| trial[at]).collect::<Vec<_>>())?;
        Some((value, clusters.map_or(case, |names| names[case])))
    };
    let (values, names): (Vec<f64>, Vec<usize>) = trials.iter().enumerate().filter_map(own).unzip();
    standard_error(&values, clusters.map(|_| names.as_slice()))
}
