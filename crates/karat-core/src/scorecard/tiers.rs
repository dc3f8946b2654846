//! Metrics beyond counts and verdicts: targets, audited findings, reasoning, confidence, locations and composites.

use super::trial::false_findings;
use super::{CaseScore, Metrics, TrialScore};
use crate::finding::Finding;
use crate::judgement::TypeMatch;
use crate::metric::calibration::{ConfidenceSums, Point};
use crate::metric::estimate::Estimate;
use crate::metric::levels::{self, Cell, Confidences, Levels};
use crate::metric::sums::{CaseSums, NO_AUDIT, Sums};
use crate::metric::sweep::{Scale, Sweep};
use crate::metric::table::{self, METRICS, Metric, Source};
use crate::metric::targets::{spread, target_severity, weighted_recall};
use crate::metric::{Part, Undefined, Value, ratio};
use crate::profile::{Method, Profile};
use crate::suite::{Case, Verdict};
use crate::trial::{Outcome, Trial};

/// A metric of the matches or of the audit of one trial.
pub(super) fn trial_value(metric: &Metric, case: &Case, trial: &TrialScore, profile: &Profile) -> Value {
    let reason = Undefined(metric.undefined_when);
    let share = |yes: bool| f64::from(u8::from(yes));
    let vulnerable = case.verdict == Verdict::Vulnerable;
    let audited = trial.audited.as_ref();
    let classified = audited.filter(|audited| audited.is_classified);
    let target = audited.and_then(|audited| audited.target.as_ref());
    let typed = || target.and_then(|target| target.type_match).filter(|_| vulnerable).ok_or(reason);
    match metric.id {
        "severity_weighted_recall" | "precision_lower" | "precision_upper" if profile.method == Method::Verdict => {
            Err(Undefined("the profile compares only verdicts"))
        }
        "severity_weighted_recall" if trial.unjudged.target => Err(NO_AUDIT),
        "severity_weighted_recall" => {
            let mut found = vec![false; case.goldens.len()];
            trial.found.iter().for_each(|golden| found[*golden as usize] = true);
            weighted_recall(case, profile.method, |golden| found[golden], &profile.severity_weights)
        }
        "precision_lower" | "precision_upper" => precision_bound(metric.id, case, trial, profile),
        "target_detection_rate" | "partial_credit_detection"
            if vulnerable && (trial.unaudited || audited.is_some() && trial.target_found.is_none()) =>
        {
            Err(NO_AUDIT)
        }
        "target_detection_rate" => trial.target_found.filter(|_| vulnerable).map(share).ok_or(reason),
        "partial_credit_detection" => trial.target_credit.filter(|_| vulnerable).ok_or(reason),
        // A trial that failed discovered nothing.
        "bonus_discovery_rate" if trial.outcome != Outcome::Reported => Ok(0.0),
        "bonus_discovery_rate" => classified.map(|audited| share(audited.has_bonus(profile))).ok_or(reason),
        "finding_precision_macro" => match classified.map(|audited| audited.classes.precision()) {
            None => Err(reason),
            Some(Err(_)) if profile.audit_conventions.no_findings_is_precise => Ok(1.0),
            Some(rate) => rate,
        },
        "over_flagging_score" => classified.map(|audited| audited.classes.invalid()).ok_or(reason),
        "mean_rcir" => target.and_then(|target| target.rcir).ok_or(reason),
        "mean_ava" => target.and_then(|target| target.ava).ok_or(reason),
        "mean_fsv" => target.and_then(|target| target.fsv).ok_or(reason),
        "exact_match_rate" => typed().map(|level| share(level == TypeMatch::Exact)),
        "semantic_match_rate" => typed().map(|level| share(matches!(level, TypeMatch::Exact | TypeMatch::Semantic))),
        "partial_match_rate" => typed().map(|level| share(level == TypeMatch::Partial)),
        _ => Err(Undefined("not a metric of single trials")),
    }
}

fn precision_bound(id: &str, case: &Case, trial: &TrialScore, profile: &Profile) -> Value {
    if case.is_clean() {
        return Err(Undefined("no required golden"));
    }
    if trial.unjudged.target {
        return Err(NO_AUDIT);
    }
    let open = if id == "precision_upper" { trial.unlabelled } else { 0 };
    let value = ratio((trial.counts.tp + open) as f64, trial.countable_findings() as f64, "no countable findings");
    if profile.undefined_is_zero { Ok(value.unwrap_or(0.0)) } else { value }
}

/// Ratios of sums over single findings, which only a whole suite has.
const OF_FINDINGS: [&str; 3] = ["finding_ece", "finding_ece_debiased", "finding_brier"];

/// The metrics that are not means of cases, without those of verdicts.
pub(super) fn metrics(cases: &[&CaseScore], profile: &Profile) -> Metrics {
    let mut metrics = Metrics::new();
    let sums = total_sums(cases.iter().copied());
    let confidences = cases.iter().map(|case| confidences(&case.trials).len()).sum();
    for metric in METRICS.iter().filter(|metric| metric.tier != 1 && !OF_FINDINGS.contains(&metric.id)) {
        let (value, n) = match metric.source {
            Source::Sums => {
                let value = sums.value(metric.id, profile).unwrap_or(Err(Undefined("not a ratio of sums")));
                (value, sample_size(metric.id, cases, &sums, confidences, profile))
            }
            Source::Spread(other) => {
                let scores: Vec<f64> = cases.iter().filter_map(|case| case.value(other)?.ok()).collect();
                (spread(&scores, profile.audit_conventions.population_std), scores.len())
            }
            Source::Levels(Scale::Verdict) => {
                (levels::adaptive_error(levels_at(cases, Scale::Verdict), profile.calibration.bins), confidences)
            }
            _ => continue,
        };
        metrics.push((metric.id, Estimate::new(value, n, metric.direction)));
    }
    metrics
}

/// How many cases add something to a ratio of sums.
pub(super) fn cases_that_add(id: &str, cases: &[&CaseScore], profile: &Profile) -> usize {
    let columns = Sums::columns(id, profile.calibration.bins as usize).unwrap_or_default();
    let adds = |case: &&&CaseScore| case.sums.numbers().any(|(column, _)| columns.binary_search(&column).is_ok());
    cases.iter().filter(adds).count()
}

/// How many cases or items a ratio of sums rests on.
fn sample_size(id: &str, cases: &[&CaseScore], sums: &Sums, confidences: usize, profile: &Profile) -> usize {
    let count = |with: fn(&Sums) -> bool| cases.iter().filter(|case| with(&case.sums.sums())).count();
    match id {
        "location_iou" | "location_exact" | "location_within_5" => sums.places.count as usize,
        "severity_weighted_detection" => count(|own| own.severe.whole > 0.0),
        "lucky_guess_rate" => count(|own| own.lucky.whole > 0.0),
        "reasoning" => sums.rated.iter().map(|rated| rated.whole as usize).max().unwrap_or(0),
        "ece" | "ece_debiased" | "mce" | "brier" => confidences,
        "overconfidence_rate" | "underconfidence_rate" => cases_that_add(id, cases, profile),
        "sui" | "true_understanding_score" | "true_understanding_geometric" | "lucky_guess_indicator" => {
            cases.iter().filter(|case| case.counted().next().is_some()).count()
        }
        _ => sums.classes.total() as usize,
    }
}

/// Metrics over single findings with their own confidence or severity, and the curves they come from.
pub(super) fn of_findings(cases: &[&CaseScore], profile: &Profile) -> (Metrics, Vec<Sweep>) {
    let mut metrics = Metrics::new();
    let mut push = |id: &str, value: Value, n: usize| {
        if let Some(metric) = table::find(id) {
            metrics.push((metric.id, Estimate::new(value, n, metric.direction)));
        }
    };
    let sums = total_sums(cases.iter().copied());
    for id in OF_FINDINGS {
        let value = sums.value(id, profile).unwrap_or(Err(Undefined("not a ratio of sums")));
        push(id, value, sums.finding_confidence.total as usize);
    }
    let counts = counts_of_findings(&sums, profile);
    let required = (counts[0] + counts[2]) as usize;
    let mut drawn = Vec::new();
    for (scale, area, best) in [
        (Scale::Confidence, "average_precision", "best_f1"),
        (Scale::Severity, "severity_average_precision", "severity_best_f1"),
    ] {
        let sweep = levels::swept(scale, levels_at(cases, scale), counts);
        push(area, sweep.average_precision, required);
        push(best, sweep.best_f1(), required);
        drawn.extend((!sweep.points.is_empty()).then_some(sweep));
    }
    (metrics, drawn)
}

/// A profile of verdicts has no goldens to find.
fn counts_of_findings(sums: &Sums, profile: &Profile) -> [f64; 3] {
    if profile.method == Method::Verdict { [0.0; 3] } else { sums.counts }
}

/// A metric of thresholds from the counts at every level of its scale.
pub(super) fn of_levels(
    id: &str,
    scale: Scale,
    cells: impl Iterator<Item = (Cell, f64)>,
    sums: &Sums,
    profile: &Profile,
) -> Value {
    if scale == Scale::Verdict {
        return levels::adaptive_error(cells, profile.calibration.bins);
    }
    let sweep = levels::swept(scale, cells, counts_of_findings(sums, profile));
    if AREAS.contains(&id) { sweep.average_precision } else { sweep.best_f1() }
}

/// The metrics of thresholds that are areas under a curve; the others are its best point.
const AREAS: [&str; 2] = ["average_precision", "severity_average_precision"];

fn levels_at(cases: &[&CaseScore], scale: Scale) -> impl Iterator<Item = (Cell, f64)> {
    cases.iter().flat_map(move |case| case.levels.at_scale(scale))
}

pub(super) fn total_sums<'c>(cases: impl IntoIterator<Item = &'c CaseScore>) -> Sums {
    CaseSums::total(cases.into_iter().map(|case| &case.sums))
}

pub(super) fn sums(case: &Case, scores: &[TrialScore], trials: &[Trial], profile: &Profile) -> Sums {
    let counted = || scores.iter().filter(|trial| trial.counted);
    let vulnerable = case.verdict == Verdict::Vulnerable;
    // A case weighs 1, shared among the trials of which a verdict is known.
    let share = 1.0 / counted().filter(|trial| trial.verdict_correct.is_some()).count() as f64;
    let mut sums = Sums::default();
    let mut points = Vec::new();
    for trial in counted() {
        if let Some(correct) = trial.verdict_correct {
            sums.verdicts.add(vulnerable, correct, share);
        }
        for (sum, count) in sums.counts.iter_mut().zip([trial.counts.tp, trial.counts.fp, trial.counts.fn_]) {
            *sum += count as f64;
        }
        if vulnerable && trial.verdict_correct == Some(true) && trial.lucky_guess.is_some() {
            sums.lucky += Part { part: if trial.lucky_guess == Some(true) { share } else { 0.0 }, whole: share };
        }
        if let Some(audited) = &trial.audited {
            sums.audits += f64::from(u8::from(audited.is_classified));
            sums.classes += audited.classes;
        }
        let Some(line) = trial.line else { continue };
        for m in &trial.result.matches {
            sums.places.add(&case.goldens[m.golden], &trials[line].findings[m.finding]);
        }
        points.extend(
            countable(trial, trials, profile)
                .filter_map(|(finding, right)| Some(Point { confidence: finding.confidence?, right, weight: 1.0 })),
        );
    }
    let targets = || counted().filter_map(|trial| trial.target_found).map(|found| f64::from(u8::from(found)));
    if vulnerable {
        sums.targets.add_mean(1.0, targets());
        let mut credit = Part::default();
        credit.add_mean(1.0, counted().filter_map(|trial| trial.target_credit));
        sums.target_credit = credit.part;
        if let Some(severity) = target_severity(case) {
            sums.severe.add_mean(profile.severity_weights.weight(severity), targets());
        }
    }
    let rated = || counted().filter_map(|trial| trial.audited.as_ref()?.target.as_ref());
    sums.rated[0].add_mean(1.0, rated().filter_map(|target| target.rcir));
    sums.rated[1].add_mean(1.0, rated().filter_map(|target| target.ava));
    sums.rated[2].add_mean(1.0, rated().filter_map(|target| target.fsv));
    let in_no_bin = profile.audit_conventions.zero_confidence_in_no_bin;
    sums.verdict_confidence = ConfidenceSums::new(&confidences(scores), &profile.calibration, in_no_bin);
    if profile.method != Method::Verdict {
        sums.finding_confidence = ConfidenceSums::new(&points, &profile.calibration, in_no_bin);
    }
    sums
}

pub(super) fn levels(
    scores: &[TrialScore],
    trials: &[Trial],
    profile: &Profile,
    all_confidences: &Confidences,
) -> Levels {
    let verdict =
        |point: Point| (Cell { scale: Scale::Verdict, level: point.confidence, right: point.right }, point.weight);
    let mut weights: Vec<(Cell, f64)> = confidences(scores).into_iter().map(verdict).collect();
    let counted = scores.iter().filter(|trial| trial.counted && profile.method != Method::Verdict);
    for (finding, right) in counted.flat_map(|trial| countable(trial, trials, profile)) {
        if let Some(confidence) = finding.confidence {
            let level = all_confidences.level(confidence);
            weights.push((Cell { scale: Scale::Confidence, level, right }, 1.0));
        }
        if let Some(severity) = finding.severity {
            // From 1 for info to 5 for critical.
            let level = 5.0 - f64::from(severity as u8);
            weights.push((Cell { scale: Scale::Severity, level, right }, 1.0));
        }
    }
    Levels::new(weights)
}

/// A case's verdicts with a confidence: it weighs 1, shared among its trials that state one.
fn confidences(trials: &[TrialScore]) -> Vec<Point> {
    let sure = || trials.iter().filter(|trial| trial.counted && trial.outcome == Outcome::Reported);
    let stated = || sure().filter_map(|trial| Some((trial.confidence?, trial.verdict_correct?)));
    let weight = 1.0 / stated().count() as f64;
    stated().map(|(confidence, right)| Point { confidence, right, weight }).collect()
}

fn countable<'t>(
    score: &'t TrialScore,
    trials: &'t [Trial],
    profile: &'t Profile,
) -> impl Iterator<Item = (&'t Finding, bool)> + 't {
    let findings = score.line.map_or(&[][..], |line| trials[line].findings.as_slice());
    // Recorded matches may hold a golden or a finding more than once; each golden counts once.
    let mut goldens = std::collections::BTreeSet::new();
    let right = score.result.matches.iter().filter(move |m| goldens.insert(m.golden)).map(|m| (m.finding, true));
    let wrong = false_findings(&score.result, profile).map(|finding| (finding, false));
    right.chain(wrong).filter_map(|(finding, right)| Some((findings.get(finding)?, right)))
}
