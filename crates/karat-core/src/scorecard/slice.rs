//! Metrics over slices of the suite.

use super::aggregate::{add_spread_over_trials, is_plain, metrics, verdict_metrics};
use super::trial::{counted_misses, false_findings};
use super::{CaseScore, Metrics, TrialScore};
use crate::finding::Finding;
use crate::golden::{Golden, Severity};
use crate::metric::estimate::Estimate;
use crate::metric::table::{METRICS, Metric};
use crate::metric::{Part, Undefined};
use crate::profile::{Method, Profile};
use crate::stats::summary::{mean, sample_std};
use crate::suite::{Case, Suite};
use crate::trial::Trial;
use std::collections::{BTreeMap, BTreeSet, HashSet};

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
    by_style: &BTreeMap<String, Vec<CaseScore>>,
    labels: LabelTables,
    suite: &Suite,
    profile: &Profile,
    warnings: &mut Vec<String>,
) -> (Slices, BTreeMap<String, Metrics>) {
    // A part of which nothing is known is left out, lest it enter the mean over parts.
    let is_known = |case: &&CaseScore| case.counted().next().is_some();
    let cases: Vec<&CaseScore> = cases.iter().copied().filter(is_known).collect();
    let cases = cases.as_slice();
    let mut by = Slices::new();
    let mut groups = groups(cases, suite);
    let styles = by_style.iter().map(|(style, own)| (style.clone(), own.iter().filter(is_known).collect::<Vec<_>>()));
    groups.insert("style".to_owned(), styles.filter(|(_, own)| !own.is_empty()).collect());
    retain_dimensions(&mut groups, warnings);
    for (dimension, groups) in groups {
        let slice = |members: Vec<&CaseScore>| Slice { metrics: part(&members, suite, profile), cases: members.len() };
        by.insert(dimension, groups.into_iter().map(|(value, members)| (value, slice(members))).collect());
    }
    if labels.has_too_many {
        warn_once(
            warnings,
            format!(
                "findings state more than {MOST_VALUES} categories that the suite does not name, too many to slice by; skipped"
            ),
        );
    }
    let mut category = label_slices(labels.category);
    add_verdicts_by_category(&mut category, cases, suite, profile);
    by.insert("category".to_owned(), category);
    if profile.method != Method::Verdict {
        by.insert("severity".to_owned(), label_slices(labels.severity));
    }
    by.retain(|_, values| !values.is_empty());
    let macro_by = by.iter().map(|(dimension, values)| (dimension.clone(), macro_mean(values))).collect();
    (by, macro_by)
}

/// The metrics of a part: beyond counts and verdicts, those alone that have a value there.
fn part(members: &[&CaseScore], suite: &Suite, profile: &Profile) -> Metrics {
    let mut metrics = metrics(members, suite, profile);
    add_spread_over_trials(&mut metrics, members, suite, profile);
    metrics.retain(|(id, estimate)| estimate.value.is_some() || is_plain(id));
    metrics
}

type Groups<'c> = BTreeMap<String, BTreeMap<String, Vec<&'c CaseScore>>>;

fn groups<'c>(cases: &[&'c CaseScore], suite: &Suite) -> Groups<'c> {
    let mut groups = Groups::new();
    for &score in cases {
        for (dimension, value) in suite.cases[score.case].fields() {
            groups.entry(dimension).or_default().entry(value.to_owned()).or_default().push(score);
        }
    }
    groups
}

fn retain_dimensions(groups: &mut Groups<'_>, warnings: &mut Vec<String>) {
    groups.retain(|dimension, values| {
        let keep = values.len() <= MOST_VALUES;
        if !keep {
            warn_once(warnings, format!("{dimension} has {} values, too many to slice by; skipped", values.len()));
        }
        keep
    });
}

/// Several tools have the same fields.
fn warn_once(warnings: &mut Vec<String>, warning: String) {
    if !warnings.contains(&warning) {
        warnings.push(warning);
    }
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
        let mut verdicts = verdict_metrics(&members, profile);
        add_spread_over_trials(&mut verdicts, &members, suite, profile);
        slice.metrics.extend(verdicts);
    }
}

type LabelOf<T> = fn(&T) -> Option<&str>;

/// What cases add to recall by the golden's label and to precision by the finding's own. The two are kept apart, because a golden
/// and the finding that matched it may have different labels.
#[derive(Default)]
pub(super) struct LabelTables {
    category: LabelTable,
    severity: LabelTable,
    /// How many categories are stated by findings alone.
    unnamed: usize,
    /// Whether these are too many to slice by: none of them is then kept.
    has_too_many: bool,
}

/// The categories that a suite names.
pub(super) struct NamedCategories(HashSet<String>);

impl NamedCategories {
    pub(super) fn new(suite: &Suite) -> Self {
        let goldens = suite.cases.iter().flat_map(|case| &case.goldens);
        let categories = suite.cases.iter().flat_map(|case| &case.categories);
        Self(goldens.filter_map(|golden| golden.category.as_ref()).chain(categories).cloned().collect())
    }
}

type LabelTable = BTreeMap<String, [LabelValues; 2]>;

#[derive(Default)]
struct LabelValues {
    /// Cases with the label, whether they have a value or not.
    cases: usize,
    values: Vec<f64>,
}

/// The mean over trials of recall and of precision by label; `None` where the case has nothing of that label.
type CaseLabelTable = BTreeMap<String, [Option<Option<f64>>; 2]>;

/// What one case adds to the tables of a tool.
#[derive(Clone)]
pub(super) struct CaseLabels {
    category: CaseLabelTable,
    severity: CaseLabelTable,
}

impl CaseLabels {
    pub(super) fn new(case: &Case, scores: &[TrialScore], trials: &[Trial], profile: &Profile) -> Self {
        let by_label = |golden: LabelOf<Golden>, finding: LabelOf<Finding>| match profile.method {
            Method::Verdict => CaseLabelTable::new(),
            _ => by_label(case, scores, trials, profile, golden, finding),
        };
        Self {
            category: by_label(|golden| golden.category.as_deref(), |finding| finding.category.as_deref()),
            severity: by_label(
                |golden| golden.severity.map(Severity::as_str),
                |finding| finding.severity.map(Severity::as_str),
            ),
        }
    }
}

impl LabelTables {
    /// Adds a case; those of a suite are added in its order.
    pub(super) fn add(&mut self, labels: CaseLabels, named: &NamedCategories) {
        labels.severity.into_iter().for_each(|(label, own)| add_label(&mut self.severity, label, own));
        for (label, own) in labels.category {
            if !named.0.contains(&label) && !self.category.contains_key(&label) {
                self.unnamed += 1;
            }
            if self.unnamed > MOST_VALUES && !self.has_too_many {
                self.has_too_many = true;
                self.category.retain(|label, _| named.0.contains(label));
            }
            if !self.has_too_many || named.0.contains(&label) {
                add_label(&mut self.category, label, own);
            }
        }
    }
}

fn add_label(table: &mut LabelTable, label: String, own: [Option<Option<f64>>; 2]) {
    for (all, own) in table.entry(label).or_default().iter_mut().zip(own) {
        all.cases += usize::from(own.is_some());
        all.values.extend(own.flatten());
    }
}

fn by_label(
    case: &Case,
    scores: &[TrialScore],
    trials: &[Trial],
    profile: &Profile,
    golden_label: LabelOf<Golden>,
    finding_label: LabelOf<Finding>,
) -> CaseLabelTable {
    let mut own: BTreeMap<&str, [Vec<Part>; 2]> = BTreeMap::new();
    for trial in scores.iter().filter(|trial| trial.counted && !trial.unjudged.target) {
        let matches = &trial.result.matches;
        let missed = counted_misses(&trial.result).map(|miss| miss.golden);
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
    let share = |part: &Part| part.share("undefined").ok();
    let of_trials =
        |parts: Vec<Part>| (!parts.is_empty()).then(|| mean(&parts.iter().filter_map(share).collect::<Vec<_>>()));
    own.into_iter().map(|(label, both)| (label.to_owned(), both.map(of_trials))).collect()
}

fn label_slices(table: LabelTable) -> BTreeMap<String, Slice> {
    let slice = |(label, [recalled, precise]): (String, [LabelValues; 2])| {
        let metrics = METRICS.iter().filter_map(|metric| match metric.id {
            "precision" => Some((metric.id, labelled(metric, &precise.values))),
            "recall" => Some((metric.id, labelled(metric, &recalled.values))),
            _ => None,
        });
        (label, Slice { metrics: metrics.collect(), cases: recalled.cases.max(precise.cases) })
    };
    table.into_iter().map(slice).collect()
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

fn labelled(metric: &Metric, values: &[f64]) -> Estimate {
    let overall = mean(values).ok_or(Undefined(metric.undefined_when));
    Estimate { std_cases: sample_std(values), ..Estimate::new(overall, values.len(), metric.direction) }
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
