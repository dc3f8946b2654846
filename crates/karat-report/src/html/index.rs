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

pub(super) fn build<'a>(report: &'a ReportV1, portion: &'a [usize]) -> Index<'a> {
    let metric = rank_metric(report);
    let (tools, verdicts) = (ranked(report), report.profile.method == Method::Verdict);
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
        down: !verdicts && find(metric).is_some_and(|metric| metric.direction == Direction::Down),
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
            _ => result.and_then(|result| result.metrics.get(metric)).and_then(|estimate| estimate.value),
        };
        column.value.push(value.map(|value| (value * 1000.0).round() as i32));
        let counted = || trials.iter().filter(|trial| trial.counted);
        column.tp.push(counted().map(|trial| trial.tp).sum());
        column.fp.push(counted().map(|trial| trial.fp).sum());
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
    let counted: Vec<&TrialResultV1> = trials.iter().filter(|trial| trial.counted).collect();
    let right = counted.iter().filter(|trial| trial.verdict_correct).count();
    (!counted.is_empty()).then(|| right as f64 / counted.len() as f64)
}
