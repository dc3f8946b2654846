//! How many cases a difference needs: from how much results differ from case to case, and from trial to trial.

use crate::comparison::{Refusal, Side, contributions, single};
use karat_core::clusters::ClusterBy;
use karat_core::golden::Acceptance;
use karat_core::metric::counts::Counts;
use karat_core::profile::Profile;
use karat_core::stats::cluster::{Correction, design_effect, standard_error};
use karat_core::stats::paired::{minimum_detectable, sample_size};
use karat_core::stats::summary::sample_std;
use karat_core::stats::variance::{Observation, components};
use karat_core::trial::Outcome;
use karat_core::wording::count;
use karat_format::power::{PowerV1, PresentV1, SCHEMA, VarianceV1};
use karat_format::report::{CaseInfoV1, ReportV1, ToolV1, TrialResultV1};
use std::collections::{BTreeMap, BTreeSet};

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The metric.
    pub metric: &'a str,
    /// The difference that is to be seen.
    pub effect: f64,
    /// How often it is to be seen.
    pub power: f64,
    /// Which cases are alike, and count as one.
    pub cluster: &'a ClusterBy,
}

/// How often intervals hold the truth.
const LEVEL: f64 = 0.95;

/// A tool of a report, and what the report is called.
#[derive(Clone, Copy)]
pub struct Taken<'a> {
    /// The report.
    pub report: &'a ReportV1,
    /// The tool.
    pub tool: &'a ToolV1,
}

/// From a spread that somebody states.
pub fn stated(spread: f64, effect: f64, power: f64) -> PowerV1 {
    let none = Spread { of: "as stated".to_owned(), std: spread, design: None, present: None };
    answer(None, none, effect, power)
}

/// From how much the differences between two tools differ from case to case.
pub fn of_pair(a: Taken<'_>, b: Taken<'_>, question: &Question<'_>) -> Result<PowerV1, Refusal> {
    let sides = [a, b].map(|taken| Side::of_report(taken.report, taken.tool, &taken.tool.tool));
    let by_case = contributions(&sides[0], &sides[1], question.metric, question.cluster)?;
    let of = format!("differences between {} and {}", a.tool.tool, b.tool.tool);
    let spread = spread(&by_case.values, by_case.clusters.as_deref(), of, 1.0, question.power);
    let mut answer = answer(Some(question.metric), spread, question.effect, question.power);
    answer.notes.extend(by_case.warning);
    let difference = |x: f64, y: f64| y - x;
    let trials = pair_of_trials(a, b, question.metric, difference);
    answer.variance = shares(&trials);
    note_trials(&mut answer, &trials);
    Ok(answer)
}

/// From how much the values of one tool differ from case to case, as if those of another had nothing in common with them. The
/// same tool under several judges says how much of that is the judges' doing.
pub fn of_tool(judged: &[Taken<'_>], question: &Question<'_>) -> Result<Option<PowerV1>, Refusal> {
    let Some(first) = judged.first() else { return Ok(None) };
    let side = Side::of_report(first.report, first.tool, &first.tool.tool);
    let by_case = single(&side, question.metric, question.cluster)?;
    let of = format!("values of {}, times √2", first.tool.tool);
    let spread = spread(&by_case.values, by_case.clusters.as_deref(), of, 2.0_f64.sqrt(), question.power);
    let mut answer = answer(Some(question.metric), spread, question.effect, question.power);
    answer.notes.extend(by_case.warning);
    answer.notes.push(
        "only one tool: the other is assumed to be independent of it, which overestimates the cases needed; name two with --tools"
            .to_owned(),
    );
    let mut trials = Vec::new();
    for (judge, taken) in judged.iter().enumerate() {
        trials.extend(of_trials(*taken, question.metric).into_iter().map(|one| Observation { judge, ..one }));
    }
    answer.variance = shares(&trials);
    note_trials(&mut answer, &trials);
    Ok(Some(answer))
}

struct Spread {
    of: String,
    std: f64,
    /// The design effect, and how many cases a cluster has on average.
    design: Option<(f64, f64)>,
    present: Option<PresentV1>,
}

fn spread(values: &[f64], clusters: Option<&[usize]>, of: String, times: f64, power: f64) -> Spread {
    let std = sample_std(values).unwrap_or(0.0) * times;
    let n = values.len();
    let groups = clusters.map(|names| names.iter().collect::<BTreeSet<_>>().len());
    let error = standard_error(values, clusters, Correction::Cr1).map(|error| error * times);
    let effect = clusters.and_then(|names| design_effect(values, names));
    let design = groups.zip(effect).map(|(groups, effect)| (effect, n as f64 / groups.max(1) as f64));
    let detectable = error.filter(|error| *error > 0.0).and_then(|error| minimum_detectable(error, LEVEL, power));
    Spread { of, std, design, present: Some(PresentV1 { cases: n, clusters: groups, detectable }) }
}

fn answer(metric: Option<&str>, spread: Spread, effect: f64, power: f64) -> PowerV1 {
    let plain = (spread.std > 0.0).then(|| sample_size(spread.std, effect, LEVEL, power)).flatten();
    let design = spread.design.map_or(1.0, |(effect, _)| effect);
    let cases = plain.map(|cases| ((cases as f64 * design).ceil() as usize).max(2));
    let clusters = cases.zip(spread.design).map(|(cases, (_, size))| (cases as f64 / size).ceil() as usize);
    let mut notes = Vec::new();
    if spread.std <= 0.0 {
        notes.push("the values of all cases are equal, so no number of cases can be computed".to_owned());
    }
    if let Some(few) =
        spread.present.as_ref().map(|present| present.clusters.unwrap_or(present.cases)).filter(|n| *n < 30)
    {
        notes.push(format!("n = {few}: the spread is estimated from few values and may be far off"));
    }
    PowerV1 {
        schema: SCHEMA.to_owned(),
        metric: metric.map(str::to_owned),
        effect,
        power,
        level: LEVEL,
        spread: spread.std,
        spread_of: spread.of,
        design_effect: spread.design.map(|(effect, _)| effect),
        cases,
        clusters,
        present: spread.present,
        variance: None,
        notes,
    }
}

/// Every trial's value of a metric.
fn of_trials(taken: Taken<'_>, id: &str) -> Vec<Observation> {
    let Taken { report, tool } = taken;
    let printed = serde_json::to_value(&report.profile).and_then(serde_json::from_value);
    let Ok(profile) = printed else { return Vec::new() };
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

/// The differences of two tools, trial by trial of the same number.
fn pair_of_trials(a: Taken<'_>, b: Taken<'_>, id: &str, difference: impl Fn(f64, f64) -> f64) -> Vec<Observation> {
    let of_a = of_trials(a, id);
    let by_place: BTreeMap<(usize, usize), f64> = of_a.iter().map(|one| ((one.case, one.trial), one.value)).collect();
    let paired = |one: Observation| {
        let first = by_place.get(&(one.case, one.trial))?;
        Some(Observation { value: difference(*first, one.value), ..one })
    };
    of_trials(b, id).into_iter().filter_map(paired).collect()
}

/// A metric of one trial; none where it has no value, or trials do not have one.
fn value(id: &str, info: &CaseInfoV1, trial: &TrialResultV1, profile: &Profile) -> Option<f64> {
    let reported = trial.outcome == Outcome::Reported;
    let clean = !info.issues.iter().any(|issue| issue.acceptance == Acceptance::Required);
    let yes = |holds: bool| Some(if holds { 1.0 } else { 0.0 });
    match id {
        "accuracy" => yes(trial.verdict_correct),
        "clean_pass" => {
            if clean {
                yes(reported && trial.fp == 0)
            } else {
                None
            }
        }
        _ if clean => None,
        _ => {
            let counts = Counts { tp: trial.tp, fp: trial.fp, fn_: trial.r#fn };
            let value = counts.value(id, profile.beta)?;
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

fn note_trials(answer: &mut PowerV1, trials: &[Observation]) {
    if answer.variance.is_some() {
        return;
    }
    let several: BTreeSet<usize> = trials.iter().map(|one| one.trial).collect();
    let why = match several.len() {
        0 => "reports do not contain this metric by trial, so the variance of cases and trials cannot be separated"
            .to_owned(),
        1 => "there is one trial of each case, so the variance of cases and trials cannot be separated".to_owned(),
        n => {
            format!("all {} agree with one another, or too few differ to separate cases and trials", count(n, "trial"))
        }
    };
    answer.notes.push(why);
}
