//! Checks that scoring can have made a report, a baseline or an assessment: values within the range of their metric, ordered
//! intervals, counts that fit the cases, and figures that follow from the file's own cases. Every file is checked on reading.

use crate::comparison::{Side, recomputed};
use crate::failure::{Failure, Result};
use crate::sensitivity::is_plain;
use karat_core::golden::Acceptance;
use karat_core::metric::estimate::RELIABLE_N;
use karat_core::metric::table::{self, Aggregation};
use karat_core::wording::{count, plural};
use karat_format::assessment::AssessmentReportV1;
use karat_format::baseline::{BaselineToolV1, BaselineV1};
use karat_format::diagnostic::harmless;
use karat_format::report::{
    CaseInfoV1, CaseResultV1, CorrectedV1, EstimateV1, MetricsV1, ReportV1, ToolV1, TrialResultV1,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Arguments, Display};

const MOST_NAMED: usize = 10;

const SHARE: (f64, f64) = (0.0, 1.0);
const AT_LEAST_ZERO: (f64, f64) = (0.0, f64::MAX);

/// Sums in another order differ by less.
const NEAR: f64 = 1e-9;

/// Figures no further apart are the same; what was kept may have been rounded to six digits.
const SAME: f64 = 1e-5;

pub(crate) fn require(file: &str, violations: &[String]) -> Result<()> {
    if violations.is_empty() {
        return Ok(());
    }
    let shown: String = violations.iter().take(MOST_NAMED).map(|violation| format!("\n  {violation}")).collect();
    let more = violations.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
    let what = count(violations.len(), "value");
    let text = format!(
        "{file} has {what} that no scoring gives:{shown}{more}\nhelp: make the file again; it is not edited by hand"
    );
    Err(Failure::bad_input(text.lines().map(harmless).collect::<Vec<_>>().join("\n")))
}

/// What is impossible in a report: where it stands, such as `tools[0].metrics.f1.value`, what it is, and what it should be.
pub fn check_report(report: &ReportV1) -> Vec<String> {
    let mut found = Violations::default();
    let cases = report.cases.len();
    let rule = format_args!("it is {}, and the report has {}", report.suite.cases, count(cases, "case"));
    found.check(report.suite.cases == cases, format_args!("suite.cases"), rule);
    let issues: usize = report.cases.iter().map(|case| case.issues.len()).sum();
    let rule = format_args!("it is {}, and the cases have {issues}", report.suite.issues);
    found.check(report.suite.issues == issues, format_args!("suite.issues"), rule);
    found.twice("cases", "case", report.cases.iter().map(|case| case.case.as_str()));
    for (at, case) in report.cases.iter().enumerate() {
        found.twice(&format!("cases[{at}].issues"), "golden", case.issues.iter().map(|issue| issue.id.as_str()));
    }
    found.twice("tools", "tool", report.tools.iter().map(|tool| tool.tool.as_str()));
    for (at, tool) in report.tools.iter().enumerate() {
        check_tool(&mut found, &format!("tools[{at}]"), report, tool);
    }
    for (at, judge) in report.judges.iter().enumerate() {
        let path = format!("judges[{at}]");
        let rule = format_args!("it is {}, and {} are unjudged", judge.refused, judge.unjudged);
        found.check(judge.refused <= judge.unjudged, format_args!("{path}.refused"), rule);
        found.within(format_args!("{path}.usd"), judge.usd, AT_LEAST_ZERO);
        let kappa = judge.measured_agreement.map(|agreement| agreement.kappa);
        found.within(format_args!("{path}.measured_agreement.kappa"), kappa, (-1.0, 1.0));
    }
    if let Some(own) = &report.sensitivity {
        let counts = [own.disputed, own.refused, own.refused_on_same_lines];
        let rule =
            format_args!("{counts:?} are the disputed pairs, those among them refused, and those on the same lines");
        found.check(counts.is_sorted_by(|a, b| a >= b), format_args!("sensitivity.disputed"), rule);
        found.within(format_args!("sensitivity.band"), Some(own.band), SHARE);
    }
    let is_plain = report.measured.label_source.as_deref().is_none_or(is_plain);
    let rule = format_args!("it has characters that a shell reads");
    found.check(is_plain, format_args!("measured.label_source"), rule);
    for (tool, cost) in &report.measured.cost {
        found.within(format_args!("measured.cost.{tool}.usd"), cost.usd, AT_LEAST_ZERO);
    }
    for (tool, usd) in &report.measured.outages_usd {
        found.within(format_args!("measured.outages_usd.{tool}"), Some(*usd), AT_LEAST_ZERO);
    }
    for (tool, latency) in &report.measured.latency {
        found.within(format_args!("measured.latency.{tool}.mean_ms"), Some(latency.mean_ms), AT_LEAST_ZERO);
    }
    if let Some(ranking) = &report.ranking {
        found.twice("ranking.tools", "tool", ranking.tools.iter().map(|tool| tool.tool.as_str()));
        for (at, tool) in ranking.tools.iter().enumerate() {
            let path = format_args!("ranking.tools[{at}]");
            found.figure(path, &ranking.metric, tool.value, tool.ci);
            let (low, high) = (tool.rank_low.unwrap_or(1), tool.rank_high.unwrap_or(ranking.tools.len()));
            let rule = format_args!("the ranks {low} to {high} do not lie within 1 to {}", ranking.tools.len());
            let holds = (1..=high).contains(&low) && high <= ranking.tools.len();
            found.check(holds, format_args!("{path}.rank_low"), rule);
        }
    }
    found.0
}

fn check_tool(found: &mut Violations, path: &str, report: &ReportV1, tool: &ToolV1) {
    let cases = report.cases.len();
    if tool.cases.iter().map(|c| &c.case).ne(report.cases.iter().map(|c| &c.case)) {
        // Everything else is put to cases by their place.
        let rule = format!("the cases of the tool {:?} are not those of the report", tool.tool);
        return found.add(format_args!("{path}.cases"), rule);
    }
    let outcomes: usize = tool.outcomes.values().sum();
    let rule = format_args!("they add up to {outcomes}, and it has {}", count(tool.trials, "trial"));
    found.check(outcomes == tool.trials, format_args!("{path}.outcomes"), rule);
    found.metrics(&format!("{path}.metrics"), &tool.metrics, Some(cases));
    found.metrics(&format!("{path}.micro"), &tool.micro, None);
    for (dimension, slices) in &tool.by {
        for (value, slice) in slices {
            let path = format!("{path}.by.{dimension}.{value}");
            found.metrics(&format!("{path}.metrics"), &slice.metrics, Some(cases));
            let rule = format_args!("it is {}, and the report has {cases}", slice.cases);
            found.check(slice.cases <= cases, format_args!("{path}.cases"), rule);
        }
    }
    for (dimension, metrics) in &tool.macro_by {
        found.metrics(&format!("{path}.macro_by.{dimension}"), metrics, None);
    }
    if let Some(corrected) = &tool.corrected {
        for (id, metric) in [("precision", &corrected.precision), ("recall", &corrected.recall), ("f1", &corrected.f1)]
        {
            for (name, own) in [("rogan_gladen", &metric.rogan_gladen), ("ppi", &metric.ppi)] {
                if let CorrectedV1::Value { value, ci, .. } = own {
                    found.figure(format_args!("{path}.corrected.{id}.{name}"), id, Some(*value), Some(*ci));
                }
            }
        }
    }
    let verdicts = [tool.verdicts.tp, tool.verdicts.fp, tool.verdicts.tn, tool.verdicts.fn_];
    for (name, value) in ["tp", "fp", "tn", "fn"].iter().zip(verdicts) {
        found.within(format_args!("{path}.verdicts.{name}"), Some(value), AT_LEAST_ZERO);
    }
    let sum: f64 = verdicts.iter().sum();
    if sum > cases as f64 + NEAR * cases.max(1) as f64 {
        let rule = format!("they add up to {sum}, and the report has {}", count(cases, "case"));
        found.add(format_args!("{path}.verdicts"), rule);
    }
    for (at, flaky) in tool.flaky.iter().enumerate() {
        let rule = format_args!("it is {}, and the golden has {}", flaky.found, count(flaky.trials, "trial"));
        found.check(flaky.found <= flaky.trials, format_args!("{path}.flaky[{at}].found"), rule);
    }
    for (at, bin) in tool.reliability.iter().enumerate() {
        let shares = [("low", bin.low), ("high", bin.high), ("accuracy", bin.accuracy), ("confidence", bin.confidence)];
        for (name, value) in shares {
            found.within(format_args!("{path}.reliability[{at}].{name}"), Some(value), SHARE);
        }
        for end in bin.ci.into_iter().flatten() {
            found.within(format_args!("{path}.reliability[{at}].ci"), Some(end), SHARE);
        }
        found.within(format_args!("{path}.reliability[{at}].weight"), Some(bin.weight), AT_LEAST_ZERO);
    }
    for (at, sweep) in tool.sweeps.iter().enumerate() {
        found.within(format_args!("{path}.sweeps[{at}].average_precision"), sweep.average_precision, SHARE);
        for (point, own) in sweep.points.iter().chain(&sweep.best).enumerate() {
            for (name, value) in [("precision", own.precision), ("recall", own.recall), ("f1", own.f1)] {
                found.within(format_args!("{path}.sweeps[{at}].points[{point}].{name}"), Some(value), SHARE);
            }
        }
    }
    let mut counts = [0, 0, 0];
    let untouched: usize = tool.cases.iter().map(|case| case.untouched_extras).sum();
    let rule = format_args!("it is {}, and the cases come to {untouched}", tool.untouched_extras);
    found.check(tool.untouched_extras == untouched, format_args!("{path}.untouched_extras"), rule);
    for (at, (info, case)) in report.cases.iter().zip(&tool.cases).enumerate() {
        check_case(found, &format!("{path}.cases[{at}]"), info, case, &mut counts);
    }
    let stated = [("tp", tool.counts.tp), ("fp", tool.counts.fp), ("fn", tool.counts.fn_)];
    for ((name, stated), counted) in stated.into_iter().zip(counts) {
        let rule = format_args!("it is {stated}, and the trials come to {counted}");
        found.check(stated == counted, format_args!("{path}.counts.{name}"), rule);
    }
    let stated = tool.metrics.iter().filter_map(|(id, estimate)| Some((id, estimate.value?)));
    compare(found, path, stated, &recomputed(&Side::of_report(report, tool, &tool.tool), tool.metrics.keys()));
}

fn check_case(found: &mut Violations, path: &str, info: &CaseInfoV1, case: &CaseResultV1, counts: &mut [usize; 3]) {
    found.metrics(&format!("{path}.metrics"), &case.metrics, None);
    for (id, value) in case.values.iter() {
        found.figure(format_args!("{path}.values.{id}"), id, Some(value), None);
    }
    let untouched = case.counted().fold(0_usize, |sum, trial| sum.saturating_add(trial.untouched_extras));
    let rule = format_args!("it is {}, and the trials come to {untouched}", case.untouched_extras);
    found.check(case.untouched_extras == untouched, format_args!("{path}.untouched_extras"), rule);
    let mut numbers = BTreeSet::new();
    for (at, trial) in case.trials.iter().enumerate() {
        let path = format_args!("{path}.trials[{at}]");
        let rule = format_args!("the number {} stands twice", trial.trial);
        found.check(numbers.insert(trial.trial), format_args!("{path}.trial"), rule);
        if trial.counted {
            for (sum, own) in counts.iter_mut().zip([trial.tp, trial.fp, trial.r#fn]) {
                *sum = sum.saturating_add(own);
            }
        }
        check_trial(found, path, info, trial);
    }
}

fn check_trial(found: &mut Violations, path: Arguments<'_>, info: &CaseInfoV1, trial: &TrialResultV1) {
    let required = info.issues.iter().filter(|issue| issue.acceptance == Acceptance::Required).count();
    for (name, value) in [("tp", trial.tp), ("fn", trial.r#fn)] {
        let rule = format_args!("it is {value}, and the case has {}", count(required, "required golden"));
        found.check(value <= required, format_args!("{path}.{name}"), rule);
    }
    if trial.detail.is_all() {
        let rule = format_args!("it is {}, and the trial has {}", trial.fp, count(trial.findings.len(), "finding"));
        found.check(trial.fp <= trial.findings.len(), format_args!("{path}.fp"), rule);
        let left_out = trial.extras.iter().filter(|extra| extra.left_out).count();
        let others = plural(left_out, "extra is", "extras are");
        let rule = format_args!("it is {}, and {others} left out", trial.untouched_extras);
        found.check(trial.untouched_extras == left_out, format_args!("{path}.untouched_extras"), rule);
    }
    found.within(format_args!("{path}.confidence"), trial.confidence, SHARE);
    let goldens: BTreeSet<&str> = info.issues.iter().map(|issue| issue.id.as_str()).collect();
    let findings: BTreeSet<&str> = trial.findings.iter().map(|finding| finding.id.as_str()).collect();
    for (at, own) in trial.matches.iter().enumerate() {
        let path = format_args!("{path}.matches[{at}]");
        let rule = format_args!("the case has no golden {:?}", own.golden);
        found.check(goldens.contains(own.golden.as_str()), format_args!("{path}.golden"), rule);
        let rule = format_args!("the trial has no finding {:?}", own.finding);
        found.check(findings.contains(own.finding.as_str()), format_args!("{path}.finding"), rule);
    }
}

pub(crate) fn check_baseline(baseline: &BaselineV1) -> Vec<String> {
    let mut found = Violations::default();
    found.twice("tools", "tool", baseline.tools.iter().map(|tool| tool.tool.as_str()));
    for (at, tool) in baseline.tools.iter().enumerate() {
        check_baseline_tool(&mut found, &format!("tools[{at}]"), baseline, tool);
    }
    found.0
}

fn check_baseline_tool(found: &mut Violations, path: &str, baseline: &BaselineV1, tool: &BaselineToolV1) {
    // Means over parts of a suite count parts, and are no sums over cases.
    let over_parts = tool.cases.iter().any(|case| !case.parts.is_empty());
    for (id, metric) in &tool.metrics {
        let path = format_args!("{path}.metrics.{id}");
        found.figure(path, id, metric.value, metric.ci);
        if !over_parts {
            found.at_most_cases(path, id, metric.n, tool.cases.len());
        }
    }
    found.twice(&format!("{path}.cases"), "case", tool.cases.iter().map(|case| case.case.as_str()));
    for (at, case) in tool.cases.iter().enumerate() {
        for (id, value) in &case.values {
            found.figure(format_args!("{path}.cases[{at}].values.{id}"), id, Some(*value), None);
        }
        for (golden, [hits, trials]) in &case.found {
            let rule = format_args!("it is found in {hits} of {}", count(*trials, "trial"));
            found.check(hits <= trials, format_args!("{path}.cases[{at}].found.{golden}"), rule);
        }
    }
    if !over_parts {
        let stated = tool.metrics.iter().filter_map(|(id, metric)| Some((id, metric.value?)));
        compare(found, path, stated, &recomputed(&Side::of_baseline(baseline, tool, &tool.tool), tool.metrics.keys()));
    }
}

/// What is impossible in the report of an assessment: every figure of a known metric, wherever it stands.
pub(crate) fn check_assessment(report: &AssessmentReportV1) -> Vec<String> {
    let mut found = Violations::default();
    walk(&mut found, "", None, &serde_json::to_value(report).unwrap_or_default());
    found.0
}

fn walk(found: &mut Violations, path: &str, id: Option<&str>, value: &Value) {
    match value {
        Value::Object(entries) => {
            if let Some(id) = id.filter(|_| entries.contains_key("direction"))
                && let Ok(estimate) = serde_json::from_value::<EstimateV1>(value.clone())
            {
                found.estimate(format_args!("{path}"), id, &estimate);
            }
            for (key, value) in entries {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                walk(found, &path, table::find(key).map(|metric| metric.id), value);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                walk(found, &format!("{path}[{at}]"), None, item);
            }
        }
        _ => {}
    }
}

/// Holds figures against what the cases of the same file come to.
fn compare<'i>(
    found: &mut Violations,
    path: &str,
    stated: impl Iterator<Item = (&'i String, f64)>,
    computed: &BTreeMap<String, Option<f64>>,
) {
    for (id, stated) in stated {
        let rule = match computed.get(id) {
            None => continue,
            Some(None) => format!("it is {stated}, and the cases of the file come to no value"),
            Some(Some(own)) if (own - stated).abs() <= SAME * stated.abs().max(1.0) => continue,
            Some(Some(own)) => {
                format!("it is {stated}, and the cases of the file come to {own}, a difference of {:+.6}", stated - own)
            }
        };
        found.add(format_args!("{path}.metrics.{id}.value"), rule);
    }
}

#[derive(Default)]
struct Violations(Vec<String>);

impl Violations {
    fn add(&mut self, path: Arguments<'_>, rule: impl Display) {
        self.0.push(format!("{path}: {rule}"));
    }

    fn check(&mut self, holds: bool, path: Arguments<'_>, rule: Arguments<'_>) {
        if !holds {
            self.add(path, rule);
        }
    }

    fn twice<'n>(&mut self, path: &str, what: &str, names: impl Iterator<Item = &'n str>) {
        let mut seen = BTreeSet::new();
        for (at, name) in names.enumerate() {
            if !seen.insert(name) {
                self.add(format_args!("{path}[{at}]"), format_args!("the {what} {name:?} stands twice"));
            }
        }
    }

    fn metrics(&mut self, path: &str, metrics: &MetricsV1, cases: Option<usize>) {
        for (id, estimate) in metrics {
            let at = format_args!("{path}.{id}");
            self.estimate(at, id, estimate);
            let Some(cases) = cases else { continue };
            self.at_most_cases(at, id, estimate.n, cases);
            let rule = format_args!("it is {}, and n is {}", estimate.unreliable, estimate.n);
            self.check(estimate.unreliable == (estimate.n < RELIABLE_N), format_args!("{at}.unreliable"), rule);
        }
    }

    fn estimate(&mut self, path: Arguments<'_>, id: &str, estimate: &EstimateV1) {
        self.figure(path, id, estimate.value, estimate.ci);
        let spreads = [("se", estimate.se), ("std_trials", estimate.std_trials), ("std_cases", estimate.std_cases)];
        for (name, value) in spreads {
            self.within(format_args!("{path}.{name}"), value, AT_LEAST_ZERO);
        }
    }

    /// A value and its interval, within the range of the metric; one that this version does not know can have any.
    fn figure(&mut self, path: Arguments<'_>, id: &str, value: Option<f64>, ci: Option<[f64; 2]>) {
        let range = table::find(id).map_or((f64::MIN, f64::MAX), |metric| metric.range());
        self.within(format_args!("{path}.value"), value, range);
        let Some([from, to]) = ci else { return };
        if from > to {
            self.add(format_args!("{path}.ci"), format_args!("the interval {from} … {to} is upside down"));
        } else {
            let end = if is_within(from, range) { to } else { from };
            self.within(format_args!("{path}.ci"), Some(end), range);
        }
    }

    /// A mean of cases rests on no more of them than there are; of other metrics n counts items, trials or tools.
    fn at_most_cases(&mut self, path: Arguments<'_>, id: &str, n: usize, cases: usize) {
        let counts_cases = || table::find(id).is_some_and(|metric| metric.aggregation == Aggregation::MeanOfCases);
        if n > cases && counts_cases() {
            self.add(format_args!("{path}.n"), format_args!("it is {n}, and there are {}", count(cases, "case")));
        }
    }

    fn within(&mut self, path: Arguments<'_>, value: Option<f64>, (low, high): (f64, f64)) {
        let Some(value) = value.filter(|value| !is_within(*value, (low, high))) else { return };
        let rule = match high < f64::MAX {
            true => format!("it is {value}, and must lie between {low} and {high}"),
            false => format!("it is {value}, and must be a number of {low} or more"),
        };
        self.add(path, rule);
    }
}

fn is_within(value: f64, (low, high): (f64, f64)) -> bool {
    (low - NEAR..=high + NEAR).contains(&value)
}
