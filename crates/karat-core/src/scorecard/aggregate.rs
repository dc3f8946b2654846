//! Aggregates trials to cases, and cases to the suite.

use super::tiers;
use super::{CaseScore, Metrics, TWIN_METRICS, TrialFigures, TrialScore};
use crate::metric::counts::Counts;
use crate::metric::estimate::Estimate;
use crate::metric::sums::{CaseSums, NO_AUDIT, Sums};
use crate::metric::table::{METRICS, Metric, Source, find, from_source};
use crate::metric::targets::spread;
use crate::metric::{Undefined, Value};
use crate::profile::{Method, Profile};
use crate::stats::summary::{mean, sample_std};
use crate::suite::{Case, Suite, Verdict};
use std::collections::BTreeSet;

/// The metrics that are means of cases, in the order in which a case lists its values.
pub(super) fn means_of_cases() -> impl Iterator<Item = &'static Metric> {
    let of_counts = METRICS.iter().filter(|metric| is_of_counts(metric));
    of_counts.chain([Source::Matches, Source::Audits, Source::Twins].into_iter().flat_map(from_source))
}

/// Whether it is made of counts, so that every case has a value or a reason why not.
fn is_of_counts(metric: &Metric) -> bool {
    matches!(metric.source, Source::Counts | Source::Trials)
}

/// Whether it looks at several trials or cases at once.
pub(super) fn is_over_trials(metric: &Metric) -> bool {
    matches!(metric.source, Source::Trials | Source::Twins)
}

/// The metrics of a case, those beyond counts only where they have a value: most of many cases have no audit.
pub(super) fn case_values(case: &Case, trials: &[TrialScore], profile: &Profile) -> Vec<(&'static str, Value)> {
    let counted: Vec<&TrialScore> = trials.iter().filter(|t| t.counted).collect();
    let judged: Vec<&TrialScore> = counted.iter().copied().filter(|trial| !trial.unjudged.target).collect();
    let found = found_counts(case, profile, judged.iter().copied());
    let any_audit = counted.iter().any(|trial| trial.audited.is_some());
    let value = |metric: &'static Metric| {
        let value = match metric.source {
            Source::Trials if judged.is_empty() && !counted.is_empty() => Err(NO_AUDIT),
            Source::Trials => steadiness(metric.id, &found, judged.len(), profile),
            Source::Audits if !any_audit => return None,
            Source::Twins => return None,
            _ => mean_value(counted.iter().map(|t| trial_value(metric, case, t, profile))),
        };
        (is_of_counts(metric) || value.is_ok()).then_some((metric.id, value))
    };
    means_of_cases().filter_map(value).collect()
}

/// The mean of the defined values; where there are none, the reason of the last undefined one.
fn mean_value(values: impl Iterator<Item = Value>) -> Value {
    let mut reason = Undefined("no countable trial");
    let mut defined = Vec::new();
    for value in values {
        match value {
            Ok(value) => defined.push(value),
            Err(undefined) => reason = undefined,
        }
    }
    mean(&defined).ok_or(reason)
}

pub(super) fn trial_value(metric: &Metric, case: &Case, trial: &TrialScore, profile: &Profile) -> Value {
    if metric.source != Source::Counts {
        return tiers::trial_value(metric, case, trial, profile);
    }
    if profile.method == Method::Verdict {
        return Err(Undefined("the profile compares only verdicts"));
    }
    match (metric.id == "clean_pass", case.is_clean()) {
        (true, true) if !trial.pass && trial.counts.fp == 0 && trial.unjudged.has_findings() => return Err(NO_AUDIT),
        // Without goldens, it passes without extras, or where its case allows them.
        (true, true) => return Ok(if trial.pass { 1.0 } else { 0.0 }),
        (true, false) => return Err(Undefined("no clean case")),
        (false, true) => return Err(Undefined("no required golden")),
        (false, false) if trial.unjudged.target => return Err(NO_AUDIT),
        (false, false) => {}
    }
    match trial.counts.value(metric.id, profile.beta).unwrap_or(Err(Undefined("not a metric of counts"))) {
        Err(_) if profile.undefined_is_zero => Ok(0.0),
        value => value,
    }
}

/// `found` says of each required golden in how many of the trials it was found.
fn steadiness(id: &str, found: &[(usize, usize)], trials: usize, profile: &Profile) -> Value {
    if profile.method == Method::Verdict {
        return Err(Undefined("the profile compares only verdicts"));
    }
    if found.is_empty() {
        return Err(Undefined("no required golden"));
    }
    if trials == 0 || (id == "consistency" && trials < 2) {
        return Err(Undefined("too few trials"));
    }
    let all = found.iter().filter(|(_, count)| *count == trials).count();
    let none = found.iter().filter(|(_, count)| *count == 0).count();
    let part = match id {
        "found_any" => found.len() - none,
        "found_all" => all,
        _ => all + none,
    };
    Ok(part as f64 / found.len() as f64)
}

pub(super) fn found_counts<'t>(
    case: &Case,
    profile: &Profile,
    trials: impl Iterator<Item = &'t TrialScore>,
) -> Vec<(usize, usize)> {
    let mut count = vec![0_usize; case.goldens.len()];
    for found in trials.flat_map(|trial| &trial.found) {
        count[*found as usize] += 1;
    }
    case.compared_goldens(profile.method).into_iter().map(|golden| (golden, count[golden])).collect()
}

/// All metrics over some cases, but for those that only a whole suite has, in the order of the table.
pub(super) fn metrics(cases: &[&CaseScore], suite: &Suite, profile: &Profile) -> Metrics {
    let any_audit = cases.iter().flat_map(|case| case.counted()).any(|trial| trial.audited.is_some());
    let mut metrics: Metrics = Vec::with_capacity(METRICS.len());
    for metric in means_of_cases() {
        let estimate = if any_audit || metric.source != Source::Audits {
            mean_of_cases(metric, cases, suite, profile)
        } else {
            Estimate::new(Err(NO_AUDIT), 0, metric.direction)
        };
        metrics.push((metric.id, estimate));
    }
    metrics.extend(verdict_metrics(cases, profile));
    metrics.extend(tiers::metrics(cases, profile));
    in_order(metrics)
}

/// Whether it is made of counts or verdicts, which every suite has.
pub(super) fn is_plain(id: &str) -> bool {
    find(id).is_some_and(|metric| metric.tier == 1 || is_of_counts(metric))
}

pub(super) fn in_order(mut metrics: Metrics) -> Metrics {
    metrics.sort_by_key(|(id, _)| METRICS.iter().position(|metric| metric.id == *id));
    metrics
}

fn mean_of_cases(metric: &Metric, cases: &[&CaseScore], suite: &Suite, profile: &Profile) -> Estimate {
    let mut reason = None;
    // Why a case that counts has no value says more than that another one does not count.
    let mut uncounted = Undefined(if is_of_counts(metric) { "no case" } else { metric.undefined_when });
    let mut values = Vec::with_capacity(cases.len());
    let (mut left_out, mut without_value) = (0, 0);
    for score in cases {
        match score.value(metric.id) {
            Some(Ok(value)) => values.push(value),
            Some(Err(undefined)) => {
                // Clean cases have no precision or recall by design; only the others are missing from the mean.
                let missing = suite.cases[score.case].is_clean() == (metric.id == "clean_pass");
                left_out += usize::from(missing);
                if score.counted().next().is_none() {
                    uncounted = undefined;
                    continue;
                }
                if missing || without_value == 0 {
                    reason = Some(undefined);
                }
                without_value += usize::from(missing);
            }
            None => {
                let case = &suite.cases[score.case];
                if is_missed(metric.id, case) {
                    left_out += 1;
                    let mut counted = score.counted();
                    reason = reason.or_else(|| counted.find_map(|own| trial_value(metric, case, own, profile).err()));
                }
            }
        }
    }
    Estimate {
        left_out,
        std_cases: sample_std(&values),
        ..Estimate::new(mean(&values).ok_or(reason.unwrap_or(uncounted)), values.len(), metric.direction)
    }
}

/// Whether a case without a value of this metric is one that should have it.
fn is_missed(id: &str, case: &Case) -> bool {
    match id {
        "severity_weighted_recall" | "precision_lower" | "precision_upper" => !case.is_clean(),
        "target_detection_rate" | "partial_credit_detection" => case.verdict == Verdict::Vulnerable,
        _ => false,
    }
}

pub(super) fn verdict_metrics(cases: &[&CaseScore], profile: &Profile) -> Metrics {
    let verdict_value =
        |id: &str, sums: &Sums| sums.value(id, profile).unwrap_or(Err(Undefined("not a metric of verdicts")));
    let all = tiers::total_sums(cases.iter().copied());
    let of = |metric: &Metric| {
        let n = tiers::cases_that_add(metric.id, cases, profile);
        Estimate::new(verdict_value(metric.id, &all), n, metric.direction)
    };
    METRICS.iter().filter(|m| m.tier == 1).map(|m| (m.id, of(m))).collect()
}

/// Adds the standard deviation over trials to every metric that has a value and that a single trial has.
pub(super) fn add_spread_over_trials(metrics: &mut Metrics, cases: &[&CaseScore], suite: &Suite, profile: &Profile) {
    let numbers: BTreeSet<u32> = cases.iter().flat_map(|case| &*case.by_trial).map(|own| own.number).collect();
    if numbers.len() < 2 {
        return;
    }
    let trials: Vec<TrialOfAll<'_>> =
        numbers.into_iter().map(|number| TrialOfAll::new(number, cases, suite, profile)).collect();
    for (id, estimate) in metrics.iter_mut().filter(|(_, estimate)| estimate.value.is_some()) {
        let value = |metric| trials.iter().filter_map(|trial| trial.value(metric)?.ok()).collect::<Vec<f64>>();
        estimate.std_trials = find(id).and_then(|metric| sample_std(&value(metric)));
    }
}

/// The trials of all cases that have the same number.
struct TrialOfAll<'a> {
    trials: Vec<(&'a Case, &'a TrialScore)>,
    figures: Vec<&'a TrialFigures>,
    sums: Sums,
    profile: &'a Profile,
}

impl<'a> TrialOfAll<'a> {
    fn new(number: u32, cases: &[&'a CaseScore], suite: &'a Suite, profile: &'a Profile) -> Self {
        let of_case = |score: &&'a CaseScore| {
            let case = &suite.cases[score.case];
            score.counted().filter(|trial| trial.number == number).map(move |trial| (case, trial)).collect::<Vec<_>>()
        };
        let figures: Vec<&TrialFigures> =
            cases.iter().flat_map(|score| &*score.by_trial).filter(|own| own.number == number).collect();
        let sums = CaseSums::total(figures.iter().map(|own| &own.sums));
        Self { trials: cases.iter().flat_map(of_case).collect(), figures, sums, profile }
    }

    /// The metric of these trials alone; none where it is about several trials or tools.
    fn value(&self, metric: &Metric) -> Option<Value> {
        Some(match metric.source {
            Source::Counts | Source::Matches | Source::Audits => self.mean_of_cases(metric),
            Source::Twins => {
                let at = TWIN_METRICS.iter().position(|id| *id == metric.id)?;
                let values: Vec<f64> = self.figures.iter().filter_map(|own| own.twins[at]).collect();
                mean(&values).ok_or(Undefined(metric.undefined_when))
            }
            Source::Sums => self.sums.value(metric.id, self.profile)?,
            Source::Spread(other) => {
                let values = self.values(find(other)?);
                spread(&values, self.profile.audit_conventions.population_std)
            }
            Source::Levels(scale) => {
                let cells = self.figures.iter().flat_map(|own| own.levels.at_scale(scale));
                tiers::of_levels(metric.id, scale, cells, &self.sums, self.profile)
            }
            Source::Trials | Source::Fixes | Source::Whole => return None,
        })
    }

    fn mean_of_cases(&self, metric: &Metric) -> Value {
        mean(&self.values(metric)).ok_or(Undefined(metric.undefined_when))
    }

    fn values(&self, metric: &Metric) -> Vec<f64> {
        let value = |(case, trial): &(&Case, &TrialScore)| trial_value(metric, case, trial, self.profile).ok();
        self.trials.iter().filter_map(value).collect()
    }
}

pub(super) fn micro(counts: Counts, profile: &Profile) -> Metrics {
    let pooled = |metric: &'static Metric| {
        let value = match (counts.value(metric.id, profile.beta)?, profile.method) {
            (_, Method::Verdict) => Err(Undefined("the profile compares only verdicts")),
            (value, _) => value,
        };
        let n = match metric.id {
            "precision" => counts.tp + counts.fp,
            "recall" => counts.tp + counts.fn_,
            _ => counts.tp + counts.fp + counts.fn_,
        };
        let estimate = Estimate::new(value, n, metric.direction);
        Some((metric.id, Estimate { method: Some("pooled over items".into()), ..estimate }))
    };
    METRICS.iter().filter_map(pooled).collect()
}
