//! What changed in the scores from one report to a later one of the same tools.

use karat_core::metric::table::{METRICS, Source};
use karat_format::report::{CaseResultV1, ReportV1, SliceV1, ToolV1};
use karat_report::number::{rank_metric, stated};
use std::collections::{BTreeMap, BTreeSet};

/// What changed in the scores from one report to a later one.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct ScoreChanges {
    /// What the earlier report is, such as `round 1`.
    pub since: String,
    /// Tools with other figures.
    pub tools: Vec<ToolChange>,
    pub goldens: Vec<GoldenChange>,
}

/// A tool in two reports.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct ToolChange {
    pub tool: String,
    /// Metrics with another value: the ranking metric and others of the leaderboard first.
    pub metrics: Vec<MetricChange>,
    pub false_positives: [usize; 2],
    /// Dimensions by which some part of the suite has other figures.
    pub slices: Vec<String>,
}

impl ToolChange {
    fn is_empty(&self) -> bool {
        let [before, after] = self.false_positives;
        self.metrics.is_empty() && before == after && self.slices.is_empty()
    }
}

/// The value of a metric in two reports.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct MetricChange {
    pub metric: String,
    /// Before and after.
    pub value: [Option<f64>; 2],
}

/// A golden in two reports; `None` where there is no such golden.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct GoldenChange {
    pub tool: String,
    pub case: String,
    pub golden: String,
    pub before: Option<Found>,
    pub after: Option<Found>,
}

/// In how many trials a golden was found, and in how many it was looked for.
pub type Found = (usize, usize);

impl ScoreChanges {
    /// What is different in a report since another, which `since` names.
    pub(crate) fn between(before: &ReportV1, after: &ReportV1, since: String) -> Self {
        ComparedScores::new(after).compare(since, &ComparedScores::new(before))
    }

    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.goldens.is_empty()
    }
}

/// Differences below it come from the order of summation.
const ROUNDING: f64 = 1e-9;

/// What is compared of two reports.
pub(crate) struct ComparedScores {
    cases: BTreeSet<String>,
    tools: BTreeMap<String, ToolFigures>,
    /// By tool, case and golden.
    goldens: BTreeMap<(String, String, String), Found>,
}

/// What is compared of a tool.
struct ToolFigures {
    /// In the order in which they are shown.
    metrics: Vec<(String, Option<f64>)>,
    false_positives: usize,
    /// By dimension.
    slices: BTreeMap<String, SliceFigures>,
}

/// By value of the dimension, then by metric.
type SliceFigures = BTreeMap<String, BTreeMap<String, Option<f64>>>;

impl ComparedScores {
    pub(crate) fn new(report: &ReportV1) -> Self {
        let cases = report.cases.iter().map(|case| case.case.clone()).collect();
        let mut scores = Self { cases, tools: BTreeMap::new(), goldens: BTreeMap::new() };
        for tool in &report.tools {
            scores.tools.insert(tool.tool.clone(), ToolFigures::new(report, tool));
            for (case, info) in tool.cases.iter().zip(&report.cases) {
                for golden in info.issues.iter().filter(|golden| golden.counts()) {
                    // Without detail it is not known which were found.
                    for found in case.counted().filter_map(|trial| trial.found(&golden.id)) {
                        let key = (tool.tool.clone(), case.case.clone(), golden.id.clone());
                        let entry = scores.goldens.entry(key).or_default();
                        *entry = (entry.0 + usize::from(found), entry.1 + 1);
                    }
                }
            }
        }
        scores
    }

    pub(crate) fn compare(&self, since: String, before: &Self) -> ScoreChanges {
        let mut changes = ScoreChanges { since, ..ScoreChanges::default() };
        for (tool, after) in &self.tools {
            // Figures of other cases say nothing about a change.
            let Some(then) = before.tools.get(tool).filter(|_| self.cases == before.cases) else { continue };
            let change = after.compare(tool, then);
            if !change.is_empty() {
                changes.tools.push(change);
            }
        }
        let is_shared =
            |(tool, case, _): &&(String, String, String)| before.tools.contains_key(tool) && self.cases.contains(case);
        let keys: BTreeSet<&(String, String, String)> =
            self.goldens.keys().filter(is_shared).chain(before.goldens.keys().filter(is_shared)).collect();
        for key in keys.into_iter().filter(|(tool, ..)| self.tools.contains_key(tool)) {
            let [then, now] = [before, self].map(|scores| scores.goldens.get(key).copied());
            if then != now {
                let (tool, case, golden) = key.clone();
                changes.goldens.push(GoldenChange { tool, case, golden, before: then, after: now });
            }
        }
        changes
    }
}

impl ToolFigures {
    fn new(report: &ReportV1, tool: &ToolV1) -> Self {
        let mut shown = vec![rank_metric(report)];
        shown.extend(report.profile.headline.iter().map(String::as_str));
        // What no single tool has depends on which others were scored.
        shown.extend(METRICS.iter().filter(|metric| metric.source != Source::Whole).map(|metric| metric.id));
        let mut known = BTreeSet::new();
        shown.retain(|id| known.insert(*id));
        let metrics = shown.into_iter().filter_map(|id| Some((id.to_owned(), stated(report, tool, id)?.value)));
        let slices = tool.by.iter().map(|(dimension, slices)| (dimension.clone(), slice_figures(slices)));
        Self {
            metrics: metrics.collect(),
            false_positives: tool.cases.iter().flat_map(CaseResultV1::counted).map(|trial| trial.fp).sum(),
            slices: slices.collect(),
        }
    }

    /// What only one of the reports has, since an older version made the other, is no change.
    fn compare(&self, tool: &str, before: &Self) -> ToolChange {
        let metrics = self.metrics.iter().filter_map(|(metric, after)| {
            let (_, then) = before.metrics.iter().find(|(id, _)| id == metric)?;
            let value = [*then, *after];
            differ(value).then(|| MetricChange { metric: metric.clone(), value })
        });
        let slices = self
            .slices
            .iter()
            .filter(|(dimension, after)| before.slices.get(*dimension).is_some_and(|then| slices_differ(then, after)));
        ToolChange {
            tool: tool.to_owned(),
            metrics: metrics.collect(),
            false_positives: [before.false_positives, self.false_positives],
            slices: slices.map(|(dimension, _)| dimension.clone()).collect(),
        }
    }
}

fn slice_figures(slices: &BTreeMap<String, SliceV1>) -> SliceFigures {
    let figures = |(value, slice): (&String, &SliceV1)| {
        let metrics = slice.metrics.iter().map(|(id, estimate)| (id.clone(), estimate.value));
        (value.clone(), metrics.collect())
    };
    slices.iter().map(figures).collect()
}

fn slices_differ(before: &SliceFigures, after: &SliceFigures) -> bool {
    if !before.keys().eq(after.keys()) {
        return true;
    }
    before.values().zip(after.values()).any(|(before, after)| {
        after.iter().any(|(metric, now)| before.get(metric).is_some_and(|then| differ([*then, *now])))
    })
}

fn differ(value: [Option<f64>; 2]) -> bool {
    match value {
        [Some(before), Some(after)] => (after - before).abs() > ROUNDING,
        [before, after] => before.is_some() != after.is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(figures: ToolFigures, cases: &[&str], found: &[(&str, &str, Found)]) -> ComparedScores {
        let key = |case: &str, golden: &str| ("t".to_owned(), case.to_owned(), golden.to_owned());
        ComparedScores {
            cases: cases.iter().map(|case| (*case).to_owned()).collect(),
            tools: BTreeMap::from([("t".to_owned(), figures)]),
            goldens: found.iter().map(|(case, golden, n)| (key(case, golden), *n)).collect(),
        }
    }

    fn f1(value: f64) -> ToolFigures {
        figures(&[("f1", Some(value))], &[])
    }

    fn figures(metrics: &[(&str, Option<f64>)], by_language: &[(&str, f64)]) -> ToolFigures {
        let slice =
            |(value, figure): &(&str, f64)| ((*value).to_owned(), BTreeMap::from([("f1".to_owned(), Some(*figure))]));
        ToolFigures {
            metrics: metrics.iter().map(|(id, value)| ((*id).to_owned(), *value)).collect(),
            false_positives: 2,
            slices: BTreeMap::from([("language".to_owned(), by_language.iter().map(slice).collect())]),
        }
    }

    #[test]
    fn scores_are_compared_by_tool_and_golden() {
        let before = scores(f1(0.25), &["c"], &[("c", "g", (0, 2)), ("c", "h", (2, 2)), ("c", "gone", (2, 2))]);
        assert!(before.compare("x".to_owned(), &before).is_empty());
        let after = scores(f1(0.5), &["c"], &[("c", "g", (2, 2)), ("c", "h", (2, 2)), ("c", "new", (0, 2))]);
        let changes = after.compare("round 4".to_owned(), &before);
        assert_eq!(changes.since, "round 4");
        let change = MetricChange { metric: "f1".to_owned(), value: [Some(0.25), Some(0.5)] };
        assert_eq!(changes.tools[0].metrics, [change]);
        let goldens: Vec<_> = changes.goldens.iter().map(|g| (g.golden.as_str(), g.before, g.after)).collect();
        assert_eq!(
            goldens,
            [("g", Some((0, 2)), Some((2, 2))), ("gone", Some((2, 2)), None), ("new", None, Some((0, 2)))]
        );
    }

    #[test]
    fn every_metric_and_slice_is_compared() {
        let before = figures(
            &[("f1", Some(0.5)), ("recall", Some(0.1)), ("ece", None), ("accuracy", Some(0.7))],
            &[("go", 0.5), ("java", 0.5)],
        );
        let changed = |metrics: &[(&str, Option<f64>)], slices: &[(&str, f64)]| {
            let change = figures(metrics, slices).compare("t", &before);
            let metrics: Vec<String> = change.metrics.into_iter().map(|metric| metric.metric).collect();
            (metrics.join(" "), change.slices.join(" "))
        };
        let same = [("go", 0.5), ("java", 0.5)];
        // A sum in another order, and a metric that the earlier version did not have, are no changes.
        let metrics = [("f1", Some(0.5 + 1e-12)), ("recall", Some(0.2)), ("ece", Some(0.0)), ("f2", Some(1.0))];
        assert_eq!(changed(&metrics, &same), ("recall ece".to_owned(), String::new()));
        assert_eq!(changed(&[], &[("go", 0.4), ("java", 0.6)]), (String::new(), "language".to_owned()));
        assert_eq!(changed(&[], &[("go", 0.5), ("kotlin", 0.5)]), (String::new(), "language".to_owned()));
        assert_eq!(changed(&[], &same), (String::new(), String::new()));
    }

    #[test]
    fn figures_of_other_cases_are_no_change() {
        let before = scores(f1(0.25), &["c", "d"], &[("c", "g", (2, 2)), ("d", "g", (0, 2))]);
        let after = scores(f1(0.5), &["c"], &[("c", "g", (2, 2))]);
        assert!(after.compare("x".to_owned(), &before).is_empty());
    }
}
