//! Estimates how many cases a difference needs, from how much results vary between cases and between trials.

use crate::comparison::{ByCase, Side, by_case};
use crate::failure::{Failure, Result};
use crate::judge::run::JudgeObserver;
use crate::report_source::{
    ReportLoader, find_metric, refuse_assessment_metrics, select_tools, tool_names, unknown_tool,
};
use karat_core::clusters::ClusterBy;
use karat_core::golden::Acceptance;
use karat_core::metric::counts::Counts;
use karat_core::profile::Profile;
use karat_core::stats::paired::{minimum_detectable, sample_size};
use karat_core::stats::summary::{design_effect, sample_std, standard_error};
use karat_core::stats::variance::{Observation, components};
use karat_core::trial::Outcome;
use karat_core::wording::count;
use karat_format::power::{PowerV1, PresentV1, SCHEMA, VarianceV1};
use karat_format::report::{CaseInfoV1, ReportV1, ToolV1, TrialResultV1};
use karat_report::number::rank_metric;
use karat_store::StoreLocation;
use std::collections::{BTreeMap, BTreeSet};

/// What to estimate, and from what.
#[expect(missing_docs, reason = "field names say it")]
pub struct PowerRequest {
    /// Runs or report files; several must be of one tool with different judges.
    pub reports: Vec<String>,
    pub effect: f64,
    pub power: f64,
    /// Default: the one tools are ranked by.
    pub metric: Option<String>,
    /// One tool, or two whose differences are used; optional if the report has no more.
    pub tools: Vec<String>,
    /// The standard deviation of paired differences, if there is no report.
    pub std: Option<f64>,
    /// The field that clusters cases; default: decided from the cases.
    pub cluster: Option<String>,
    pub store: StoreLocation,
}

/// Estimates how many cases are needed to detect a difference, and what more trials gain.
pub fn estimate(request: &PowerRequest, observer: &mut dyn JudgeObserver) -> Result<PowerV1> {
    if let Some(id) = &request.metric {
        find_metric(id)?;
    }
    let mut loader = ReportLoader { store: &request.store, observer };
    let load = |name| Ok((name, loader.report(name)?));
    let reports = request.reports.iter().map(String::as_str).map(load).collect::<Result<Vec<_>>>()?;
    let Some((place, first)) = reports.first() else {
        let std = request.std.ok_or_else(|| {
            Failure::usage("no report or run given to estimate the variance from; name one, or use --std 0.3")
        })?;
        let PowerRequest { effect, power, .. } = *request;
        let stated = PowerV1 { effect, power, spread: std, spread_of: "as stated".to_owned(), ..PowerV1::default() };
        return Ok(with_needed_cases(stated));
    };
    refuse_assessment_metrics(&request.metric, first, place)?;
    let metric = request.metric.as_deref().unwrap_or_else(|| rank_metric(first));
    let cluster = ClusterBy::parse(request.cluster.as_deref());
    let question = Question { metric, effect: request.effect, power: request.power, cluster: &cluster };
    match select_tools(first, &request.tools, place)?.as_slice() {
        [tool] => of_tool((first, tool), &other_judges(&reports, tool)?, &question),
        [a, b] if reports.len() == 1 => of_pair(first, a, b, &question),
        _ if reports.len() > 1 => {
            Err(Failure::usage("several reports must be of one tool with several judges; select the tool with --tool"))
        }
        several => {
            let there = several.iter().map(|tool| tool.tool.as_str()).collect::<Vec<_>>().join(", ");
            Err(Failure::usage(format!("select one tool with --tool, or two with --tools a,b; available: {there}")))
        }
    }
}

/// The same tool in the reports after the first; all must have the same cases and different judges.
fn other_judges<'r>(reports: &'r [(&str, ReportV1)], tool: &ToolV1) -> Result<Vec<ReportTool<'r>>> {
    let Some(((first_place, first), others)) = reports.split_first() else { return Ok(Vec::new()) };
    let judges_of = |report: &'r ReportV1| report.judges.iter().map(|judge| judge.judge.as_str()).collect::<Vec<_>>();
    let mut judges = vec![judges_of(first)];
    let mut found = Vec::new();
    for (place, report) in others {
        let own = report.tools.iter().find(|own| own.tool == tool.tool);
        let tool = own.ok_or_else(|| unknown_tool(place, &tool.tool, &tool_names(report)))?;
        if report.cases.iter().map(|case| &case.case).ne(first.cases.iter().map(|case| &case.case)) {
            let message = format!("{first_place} and {place} have different cases; score both against the same suite");
            return Err(Failure::bad_input(message));
        }
        let own = judges_of(report);
        if judges.contains(&own) {
            let message =
                format!("{place} has the same judge as another report; judge variance needs different judges");
            return Err(Failure::bad_input(message));
        }
        judges.push(own);
        found.push((report, tool));
    }
    Ok(found)
}

pub(crate) struct Question<'a> {
    pub(crate) metric: &'a str,
    pub(crate) effect: f64,
    pub(crate) power: f64,
    pub(crate) cluster: &'a ClusterBy,
}

const LEVEL: f64 = 0.95;

/// A tool and the report that it is in.
pub(crate) type ReportTool<'a> = (&'a ReportV1, &'a ToolV1);

/// Estimates from the differences between two tools, case by case.
fn of_pair(report: &ReportV1, a: &ToolV1, b: &ToolV1, question: &Question<'_>) -> Result<PowerV1> {
    let sides = [a, b].map(|tool| Side::of_report(report, tool, &tool.tool));
    let by_case = by_case(Some(&sides[0]), &sides[1], question.metric, question.cluster)?;
    let of = format!("differences between {} and {}", a.tool, b.tool);
    // Between trials of the same number.
    let [of_a, of_b] = [a, b].map(|tool| of_trials((report, tool), question.metric));
    let by_place: BTreeMap<(usize, usize), f64> = of_a.iter().map(|one| ((one.case, one.trial), one.value)).collect();
    let difference = |one: Observation| {
        let first = by_place.get(&(one.case, one.trial))?;
        Some(Observation { value: one.value - first, ..one })
    };
    let trials: Vec<Observation> = of_b.into_iter().filter_map(difference).collect();
    Ok(from_cases(by_case, of, 1.0, question, None, &trials))
}

/// Estimates from the values of one tool, as if those of another were independent of them; other judges add their variance.
pub(crate) fn of_tool(first: ReportTool<'_>, others: &[ReportTool<'_>], question: &Question<'_>) -> Result<PowerV1> {
    let (report, tool) = first;
    let side = Side::of_report(report, tool, &tool.tool);
    let by_case = by_case(None, &side, question.metric, question.cluster)?;
    let of = format!("values of {}, times √2", tool.tool);
    let note = "only one tool: the other is assumed to be independent of it, which overestimates the cases needed; name two with --tools";
    let mut trials = Vec::new();
    for (judge, own) in std::iter::once(&first).chain(others).enumerate() {
        trials.extend(of_trials(*own, question.metric).into_iter().map(|one| Observation { judge, ..one }));
    }
    Ok(from_cases(by_case, of, 2.0_f64.sqrt(), question, Some(note), &trials))
}

fn from_cases(
    by_case: ByCase,
    of: String,
    times: f64,
    question: &Question<'_>,
    note: Option<&str>,
    trials: &[Observation],
) -> PowerV1 {
    let (values, clusters) = (by_case.values.as_slice(), by_case.clusters.as_deref());
    let groups = clusters.map(|names| names.iter().collect::<BTreeSet<_>>().len());
    let error = standard_error(values, clusters).map(|error| error * times);
    let detectable = error.filter(|e| *e > 0.0).and_then(|e| minimum_detectable(e, LEVEL, question.power));
    let mut answer = with_needed_cases(PowerV1 {
        metric: Some(question.metric.to_owned()),
        effect: question.effect,
        power: question.power,
        spread: sample_std(values).unwrap_or(0.0) * times,
        spread_of: of,
        design_effect: clusters.and_then(|names| design_effect(values, names)),
        present: Some(PresentV1 { cases: values.len(), clusters: groups, detectable }),
        ..PowerV1::default()
    });
    answer.notes.extend(by_case.warning);
    answer.notes.extend(note.map(str::to_owned));
    answer.variance = shares(trials);
    if answer.variance.is_none() {
        answer.notes.push(why_not_separated(trials));
    }
    answer
}

/// Fills in how many cases and clusters are needed by the spread of the present ones.
fn with_needed_cases(mut answer: PowerV1) -> PowerV1 {
    answer.schema = SCHEMA.to_owned();
    answer.level = LEVEL;
    let plain = (answer.spread > 0.0).then(|| sample_size(answer.spread, answer.effect, LEVEL, answer.power)).flatten();
    let design = answer.design_effect.unwrap_or(1.0);
    answer.cases = plain.map(|cases| ((cases as f64 * design).ceil() as usize).max(2));
    if answer.spread <= 0.0 {
        answer.notes.push("the values of all cases are equal, so no number of cases can be computed".to_owned());
    }
    if let Some(present) = &answer.present {
        let groups = present.clusters.filter(|_| answer.design_effect.is_some());
        let size = groups.map(|groups| present.cases as f64 / groups.max(1) as f64);
        answer.clusters = answer.cases.zip(size).map(|(cases, size)| (cases as f64 / size).ceil() as usize);
        let n = present.clusters.unwrap_or(present.cases);
        if n < 30 {
            answer.notes.push(format!("n = {n}: the spread is estimated from few values and may be far off"));
        }
    }
    answer
}

fn of_trials((report, tool): ReportTool<'_>, id: &str) -> Vec<Observation> {
    let Ok(profile) = serde_json::to_value(&report.profile).and_then(serde_json::from_value) else { return Vec::new() };
    // Cases are numbered by their names, so that several reports number them alike.
    let numbers: BTreeMap<&str, usize> = report.cases.iter().map(|case| case.case.as_str()).zip(0..).collect();
    let mut found = Vec::new();
    for (info, result) in report.cases.iter().zip(&tool.cases) {
        let case = numbers.get(info.case.as_str()).copied().unwrap_or_default();
        for trial in result.counted() {
            if let Some(value) = value(id, info, trial, &profile) {
                found.push(Observation { case, trial: trial.trial as usize, judge: 0, value });
            }
        }
    }
    found
}

/// A metric of one trial; none where it has no value, or trials do not have one.
fn value(id: &str, info: &CaseInfoV1, trial: &TrialResultV1, profile: &Profile) -> Option<f64> {
    let reported = trial.outcome == Outcome::Reported;
    let clean = !info.issues.iter().any(|issue| issue.acceptance == Acceptance::Required);
    let yes = |holds: bool| Some(if holds { 1.0 } else { 0.0 });
    match id {
        "accuracy" => trial.verdict_correct.and_then(yes),
        "clean_pass" if clean => yes(reported && info.false_alarms(trial.fp) == 0),
        "clean_pass" => None,
        _ if clean => None,
        _ => {
            let value = Counts { tp: trial.tp, fp: trial.fp, fn_: trial.r#fn }.value(id, profile.beta)?;
            value.ok().or(profile.undefined_is_zero.then_some(0.0))
        }
    }
}

/// Shares of the variance of the mean.
fn shares(trials: &[Observation]) -> Option<VarianceV1> {
    let found = components(trials)?;
    let (cases, t, j) = (found.case_count as f64, found.trials_per_case, found.judges_per_trial);
    let whole = found.variance_of_mean();
    if whole <= 0.0 {
        return None;
    }
    let halving = found.halving();
    Some(VarianceV1 {
        cases: found.cases / cases / whole,
        trials: found.trials / (cases * t) / whole,
        judges: found.judges.map(|judges| judges / j / whole),
        rest: found.rest.map(|rest| rest / (cases * t * j) / whole),
        case_count: found.case_count,
        trials_per_case: t,
        judges_per_trial: j,
        halved_by_cases: halving.cases,
        halved_by_trials: halving.trials,
        halved_by_judges: halving.judges,
    })
}

fn why_not_separated(trials: &[Observation]) -> String {
    let several: BTreeSet<usize> = trials.iter().map(|one| one.trial).collect();
    match several.len() {
        0 => "reports do not contain this metric by trial, so the variance of cases and trials cannot be separated"
            .to_owned(),
        1 => "there is one trial of each case, so the variance of cases and trials cannot be separated".to_owned(),
        n => {
            format!("all {} agree with one another, or too few differ to separate cases and trials", count(n, "trial"))
        }
    }
}
