//! Metrics over slices of the suite.

use super::aggregate::{is_plain, metrics, verdict_metrics};
use super::trial::false_findings;
use super::{CaseScore, Metrics};
use crate::finding::Finding;
use crate::golden::{Golden, Severity};
use crate::metric::estimate::Estimate;
use crate::metric::table::{METRICS, Metric};
use crate::metric::{Part, Undefined};
use crate::profile::{Method, Profile};
use crate::stats::summary::{mean, sample_std};
use crate::suite::Suite;
use crate::trial::Trial;
use std::collections::{BTreeMap, BTreeSet};

/// Dimension, then value, then the slice.
pub type Slices = BTreeMap<String, BTreeMap<String, Slice>>;

#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    pub metrics: Metrics,
    pub cases: usize,
}

/// A free field with more values than this is a name, not a dimension.
const MOST_VALUES: usize = 100;

/// All slices, and the plain mean over the values of each dimension.
pub(super) fn slices(
    cases: &[&CaseScore],
    suite: &Suite,
    trials: &[Trial],
    profile: &Profile,
    warnings: &mut Vec<String>,
) -> (Slices, BTreeMap<String, Metrics>) {
    // A part of which nothing is known is left out, lest it enter the mean over parts.
    let cases: Vec<&CaseScore> = cases.iter().copied().filter(|case| case.counted().next().is_some()).collect();
    let cases = cases.as_slice();
    let mut by = Slices::new();
    for (dimension, groups) in groups(cases, suite, warnings) {
        let slice = |members: Vec<&CaseScore>| Slice { metrics: part(&members, suite, profile), cases: members.len() };
        by.insert(dimension, groups.into_iter().map(|(value, members)| (value, slice(members))).collect());
    }
    let by_label = |golden: LabelOf<Golden>, finding: LabelOf<Finding>| match profile.method {
        Method::Verdict => BTreeMap::new(),
        _ => by_label(cases, suite, trials, profile, golden, finding),
    };
    let by_category = || {
        let mut slices = by_label(|golden| golden.category.as_deref(), |finding| finding.category.as_deref());
        add_verdicts_by_category(&mut slices, cases, suite, profile);
        slices
    };
    let by_severity =
        || by_label(|golden| golden.severity.map(Severity::as_str), |finding| finding.severity.map(Severity::as_str));
    let (category, severity) = rayon::join(by_category, by_severity);
    by.insert("category".to_owned(), category);
    if profile.method != Method::Verdict {
        by.insert("severity".to_owned(), severity);
    }
    by.retain(|_, values| !values.is_empty());
    let macro_by = by.iter().map(|(dimension, values)| (dimension.clone(), macro_mean(values))).collect();
    (by, macro_by)
}

/// The metrics of a part: beyond counts and verdicts, those alone that have a value there.
fn part(members: &[&CaseScore], suite: &Suite, profile: &Profile) -> Metrics {
    let mut metrics = metrics(members, suite, profile);
    metrics.retain(|(id, estimate)| estimate.value.is_some() || is_plain(id));
    metrics
}

type Groups<'c> = BTreeMap<String, BTreeMap<String, Vec<&'c CaseScore>>>;

fn groups<'c>(cases: &[&'c CaseScore], suite: &Suite, warnings: &mut Vec<String>) -> Groups<'c> {
    let mut groups = Groups::new();
    for &score in cases {
        for (dimension, value) in suite.cases[score.case].fields() {
            groups.entry(dimension).or_default().entry(value.to_owned()).or_default().push(score);
        }
    }
    groups.retain(|dimension, values| {
        let keep = values.len() <= MOST_VALUES;
        if !keep {
            let warning = format!("{dimension} has {} values, too many to slice by; skipped", values.len());
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        keep
    });
    groups
}

fn add_verdicts_by_category(
    slices: &mut BTreeMap<String, Slice>,
    cases: &[&CaseScore],
    suite: &Suite,
    profile: &Profile,
) {
    let mut members: BTreeMap<&str, Vec<&CaseScore>> = BTreeMap::new();
    for &score in cases {
        for category in BTreeSet::from_iter(&suite.cases[score.case].categories) {
            members.entry(category).or_default().push(score);
        }
    }
    for (category, members) in members {
        let slice = slices.entry(category.to_owned()).or_insert(Slice { metrics: Vec::new(), cases: 0 });
        slice.cases = slice.cases.max(members.len());
        slice.metrics.extend(verdict_metrics(&members, suite, profile));
    }
}

type LabelOf<T> = fn(&T) -> Option<&str>;

/// Recall by the golden's label, precision by the finding's own.
fn by_label(
    cases: &[&CaseScore],
    suite: &Suite,
    trials: &[Trial],
    profile: &Profile,
    golden_label: LabelOf<Golden>,
    finding_label: LabelOf<Finding>,
) -> BTreeMap<String, Slice> {
    // Recall and precision are kept apart, because a golden and the finding that matched it may have different labels.
    let mut by_label: BTreeMap<&str, [Vec<Vec<Part>>; 2]> = BTreeMap::new();
    for &score in cases {
        let case = &suite.cases[score.case];
        let mut own: BTreeMap<&str, [Vec<Part>; 2]> = BTreeMap::new();
        for trial in score.counted() {
            let matches = &trial.result.matches;
            let missed = trial.result.misses.iter().map(|miss| miss.golden);
            let of_golden = |golden: usize| golden_label(&case.goldens[golden]);
            for (label, found) in labelled_parts(matches.iter().map(|m| m.golden), missed, of_golden) {
                own.entry(label).or_default()[0].push(found);
            }
            let Some(line) = trial.line.filter(|_| !case.is_clean()) else { continue };
            let wrong = false_findings(&trial.result, profile);
            let of_finding = |finding: usize| finding_label(&trials[line].findings[finding]);
            for (label, right) in labelled_parts(matches.iter().map(|m| m.finding), wrong, of_finding) {
                own.entry(label).or_default()[1].push(right);
            }
        }
        for (label, parts) in own {
            let all = by_label.entry(label).or_default();
            for (all, parts) in all.iter_mut().zip(parts).filter(|(_, parts)| !parts.is_empty()) {
                all.push(parts);
            }
        }
    }
    let slice = |(label, [recalled, precise]): (&str, [Vec<Vec<Part>>; 2])| {
        let metrics = METRICS.iter().filter_map(|metric| match metric.id {
            "precision" => Some((metric.id, labelled(metric, &precise))),
            "recall" => Some((metric.id, labelled(metric, &recalled))),
            _ => None,
        });
        (label.to_owned(), Slice { metrics: metrics.collect(), cases: recalled.len().max(precise.len()) })
    };
    by_label.into_iter().map(slice).collect()
}

/// By label, the part of what is right, each counting once, in what is right or wrong.
fn labelled_parts<'l>(
    right: impl Iterator<Item = usize>,
    wrong: impl Iterator<Item = usize>,
    label: impl Fn(usize) -> Option<&'l str>,
) -> BTreeMap<&'l str, Part> {
    let mut parts: BTreeMap<&str, Part> = BTreeMap::new();
    for label in right.collect::<BTreeSet<usize>>().into_iter().filter_map(&label) {
        *parts.entry(label).or_default() += Part::count(1, 1);
    }
    for label in wrong.filter_map(&label) {
        *parts.entry(label).or_default() += Part::count(0, 1);
    }
    parts
}

fn labelled(metric: &Metric, cases: &[Vec<Part>]) -> Estimate {
    let share = |part: &Part| part.share(metric.undefined_when).ok();
    let of_case = |trials: &Vec<Part>| mean(&trials.iter().filter_map(share).collect::<Vec<_>>());
    let values: Vec<f64> = cases.iter().filter_map(of_case).collect();
    let overall = mean(&values).ok_or(Undefined(metric.undefined_when));
    Estimate { std_cases: sample_std(&values), ..Estimate::new(overall, values.len(), metric.direction) }
}

fn macro_mean(values: &BTreeMap<String, Slice>) -> Metrics {
    let of = |metric: &Metric| {
        let own = |slice: &Slice| slice.metrics.iter().find(|(id, _)| *id == metric.id).map(|(_, own)| own.value);
        let stated: Vec<Option<f64>> = values.values().filter_map(own).collect();
        let found: Vec<f64> = stated.iter().copied().flatten().collect();
        let value = mean(&found).ok_or(Undefined(metric.undefined_when));
        let estimate =
            Estimate { method: Some("mean over values".into()), ..Estimate::new(value, found.len(), metric.direction) };
        (!stated.is_empty()).then_some((metric.id, estimate))
    };
    METRICS.iter().filter_map(of).collect()
}
