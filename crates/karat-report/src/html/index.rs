//! The index of cases and tools for the grid, in compact columns so that thousands of cases load quickly.

use crate::number::{rank_metric, ranked};
use karat_core::metric::table::{Direction, find};
use karat_core::profile::Method;
use karat_core::trial::Outcome;
use karat_format::report::{CaseInfoV1, CaseResultV1, ReportV1, ToolV1, TrialResultV1};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Serialize)]
pub(super) struct Index<'a> {
    suite: &'a str,
    down: bool,
    tools: Vec<&'a str>,
    ids: Vec<&'a str>,
    names: Vec<Option<&'a str>>,
    portion: &'a [usize],
    /// By dimension, such as `language`: the values of each case.
    by: BTreeMap<&'a str, Vec<BTreeSet<&'a str>>>,
    /// Titles of each case's goldens, for searching.
    goldens: Vec<Vec<&'a str>>,
    cells: Vec<Column>,
}

#[derive(Debug, Default, Serialize)]
struct Column {
    value: Vec<Option<i32>>,
    tp: Vec<usize>,
    fp: Vec<usize>,
    missed: Vec<usize>,
    failed: Vec<usize>,
    unavailable: Vec<usize>,
    /// Bits: 1 some goldens are found in some trials only, 2 called vulnerable without the target.
    flags: Vec<u8>,
}

impl Column {
    /// How well the tool did on a case; `None` if every trial met an outage. The grid orders cases by the same figure.
    fn worth(&self, at: usize, down: bool) -> Option<f64> {
        let is_tried = self.tp[at] + self.fp[at] + self.missed[at] + self.failed[at] > 0;
        match self.value[at].map(|value| f64::from(value) / 1000.0) {
            Some(value) => Some(if down { -value } else { value }),
            None if self.unavailable[at] > 0 && !is_tried => None,
            None if self.fp[at] > 0 => Some(-(self.fp[at] as f64) / 1000.0),
            None => Some(1.0),
        }
    }
}

/// A case on which tools did badly.
#[derive(Debug)]
pub(super) struct HardCase<'a> {
    pub(super) case: &'a CaseInfoV1,
    /// The mean of the ranking metric over tools that have a value.
    pub(super) mean: Option<f64>,
    /// Required goldens that were found, and all of them, over all tools and trials.
    pub(super) found: usize,
    pub(super) required: usize,
    pub(super) false_alarms: usize,
}

/// The cases on which tools did worst, in the order in which the grid shows the hardest first.
pub(super) fn hardest(report: &ReportV1, most: usize) -> Vec<HardCase<'_>> {
    let metric = rank_metric(report);
    let is_down = is_down(report);
    let columns: Vec<Column> = ranked(report).iter().map(|tool| column(report, tool, metric)).collect();
    let mut cases: Vec<(usize, f64)> = Vec::new();
    for at in 0..report.cases.len() {
        let worths: Vec<f64> = columns.iter().filter_map(|column| column.worth(at, is_down)).collect();
        if !worths.is_empty() {
            cases.push((at, worths.iter().sum::<f64>() / worths.len() as f64));
        }
    }
    let best = if is_down { 0.0 } else { 1.0 };
    cases.retain(|(_, worth)| *worth < best);
    cases.sort_by(|a, b| a.1.total_cmp(&b.1));
    cases.truncate(most);
    let hard_case = |(at, _): (usize, f64)| {
        let values: Vec<i32> = columns.iter().filter_map(|column| column.value[at]).collect();
        let mean = f64::from(values.iter().sum::<i32>()) / values.len() as f64 / 1000.0;
        let found: usize = columns.iter().map(|column| column.tp[at]).sum();
        HardCase {
            case: &report.cases[at],
            mean: (!values.is_empty()).then_some(mean),
            found,
            required: found + columns.iter().map(|column| column.missed[at]).sum::<usize>(),
            false_alarms: columns.iter().map(|column| column.fp[at]).sum(),
        }
    };
    cases.into_iter().map(hard_case).collect()
}

/// Whether less of the value of a cell is better.
fn is_down(report: &ReportV1) -> bool {
    let is_verdict = report.profile.method == Method::Verdict;
    !is_verdict && find(rank_metric(report)).is_some_and(|metric| metric.direction == Direction::Down)
}

pub(super) fn build<'a>(report: &'a ReportV1, portion: &'a [usize]) -> Index<'a> {
    let metric = rank_metric(report);
    let tools = ranked(report);
    let mut by: BTreeMap<&str, Vec<BTreeSet<&str>>> = BTreeMap::new();
    for (at, case) in report.cases.iter().enumerate() {
        let fields = case.fields.iter().map(|(field, value)| (field.as_str(), value.as_str()));
        let fields = fields.filter(|(field, _)| !["severity", "category"].contains(field));
        let severities = case.issues.iter().filter_map(|issue| issue.severity).map(|severity| severity.as_str());
        let of_goldens = case.issues.iter().filter_map(|issue| issue.category.as_deref());
        let categories = case.categories.iter().map(String::as_str).chain(of_goldens);
        let named = severities.map(|value| ("severity", value)).chain(categories.map(|value| ("category", value)));
        for (dimension, value) in fields.chain(named) {
            let values = by.entry(dimension).or_insert_with(|| vec![BTreeSet::new(); report.cases.len()]);
            values[at].insert(value);
        }
    }
    let titles = |case: &'a CaseInfoV1| case.issues.iter().map(|issue| issue.title.as_str()).collect();
    Index {
        suite: &report.suite.name,
        down: is_down(report),
        tools: tools.iter().map(|tool| tool.tool.as_str()).collect(),
        ids: report.cases.iter().map(|case| case.case.as_str()).collect(),
        names: report.cases.iter().map(|case| case.name.as_deref()).collect(),
        portion,
        by,
        goldens: report.cases.iter().map(titles).collect(),
        cells: tools.iter().map(|tool| column(report, tool, metric)).collect(),
    }
}

fn column(report: &ReportV1, tool: &ToolV1, metric: &str) -> Column {
    let results: BTreeMap<&str, &CaseResultV1> = tool.cases.iter().map(|case| (case.case.as_str(), case)).collect();
    let flaky: BTreeSet<&str> = tool.flaky.iter().map(|golden| golden.case.as_str()).collect();
    let lucky: BTreeSet<&str> = tool.lucky.iter().map(|guess| guess.case.as_str()).collect();
    let mut column = Column::default();
    for case in &report.cases {
        let (id, result) = (case.case.as_str(), results.get(case.case.as_str()));
        let trials = result.map_or(&[][..], |result| &result.trials);
        let value = match report.profile.method {
            Method::Verdict => right(trials),
            _ => result.and_then(|result| result.value(metric)),
        };
        column.value.push(value.map(|value| (value * 1000.0).round() as i32));
        let counted = || trials.iter().filter(|trial| trial.counted);
        column.tp.push(counted().map(|trial| trial.tp).sum());
        column.fp.push(case.false_alarms(counted().map(|trial| trial.fp).sum()));
        column.missed.push(counted().map(|trial| trial.r#fn).sum());
        let outages = trials.iter().filter(|trial| trial.outcome == Outcome::Unavailable).count();
        let reports = trials.iter().filter(|trial| trial.outcome == Outcome::Reported).count();
        column.failed.push(trials.len() - reports - outages);
        column.unavailable.push(outages);
        column.flags.push(u8::from(flaky.contains(id)) | u8::from(lucky.contains(id)) << 1);
    }
    column
}

fn right(trials: &[TrialResultV1]) -> Option<f64> {
    let known: Vec<bool> =
        trials.iter().filter(|trial| trial.counted).filter_map(|trial| trial.verdict_correct).collect();
    let right = known.iter().filter(|correct| **correct).count();
    (!known.is_empty()).then(|| right as f64 / known.len() as f64)
}
