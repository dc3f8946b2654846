//! What changed in the scores from one report to a later one of the same tools.

use karat_format::report::{CaseResultV1, ReportV1};
use karat_report::number::{rank_metric, stated};
use std::collections::{BTreeMap, BTreeSet};

/// What changed in the scores from one report to a later one.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct ScoreChanges {
    /// What the earlier report is, such as `round 1`.
    pub since: String,
    /// The metric that tools are ranked by.
    pub metric: String,
    /// Tools with another value or another number of false positives.
    pub tools: Vec<ToolChange>,
    pub goldens: Vec<GoldenChange>,
}

/// A tool in two reports.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct ToolChange {
    pub tool: String,
    /// The ranking metric, before and after.
    pub value: [Option<f64>; 2],
    pub false_positives: [usize; 2],
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

/// What is compared of two reports.
pub(crate) struct ComparedScores {
    metric: String,
    cases: BTreeSet<String>,
    /// By tool: the ranking metric, and false positives.
    tools: BTreeMap<String, (Option<f64>, usize)>,
    /// By tool, case and golden.
    goldens: BTreeMap<(String, String, String), Found>,
}

impl ComparedScores {
    pub(crate) fn new(report: &ReportV1) -> Self {
        let metric = rank_metric(report).to_owned();
        let cases = report.cases.iter().map(|case| case.case.clone()).collect();
        let mut scores = Self { metric, cases, tools: BTreeMap::new(), goldens: BTreeMap::new() };
        for tool in &report.tools {
            let value = stated(report, tool, &scores.metric).and_then(|estimate| estimate.value);
            let false_positives = tool.cases.iter().flat_map(CaseResultV1::counted).map(|trial| trial.fp).sum();
            scores.tools.insert(tool.tool.clone(), (value, false_positives));
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
        let mut changes = ScoreChanges { since, metric: self.metric.clone(), ..ScoreChanges::default() };
        for (tool, after) in &self.tools {
            // Figures of other cases, and another metric, say nothing about a change.
            let Some(then) = before.tools.get(tool).filter(|_| self.cases == before.cases) else { continue };
            let value = if self.metric == before.metric { [then.0, after.0] } else { [after.0; 2] };
            if value[0] != value[1] || then.1 != after.1 {
                let change = ToolChange { tool: tool.clone(), value, false_positives: [then.1, after.1] };
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

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(value: f64, cases: &[&str], found: &[(&str, &str, Found)]) -> ComparedScores {
        let key = |case: &str, golden: &str| ("t".to_owned(), case.to_owned(), golden.to_owned());
        ComparedScores {
            metric: "f1".to_owned(),
            cases: cases.iter().map(|case| (*case).to_owned()).collect(),
            tools: BTreeMap::from([("t".to_owned(), (Some(value), 2))]),
            goldens: found.iter().map(|(case, golden, n)| (key(case, golden), *n)).collect(),
        }
    }

    #[test]
    fn scores_are_compared_by_tool_and_golden() {
        let before = scores(0.25, &["c"], &[("c", "g", (0, 2)), ("c", "h", (2, 2)), ("c", "gone", (2, 2))]);
        assert!(before.compare("x".to_owned(), &before).is_empty());
        let after = scores(0.5, &["c"], &[("c", "g", (2, 2)), ("c", "h", (2, 2)), ("c", "new", (0, 2))]);
        let changes = after.compare("round 4".to_owned(), &before);
        assert_eq!(changes.since, "round 4");
        assert_eq!(changes.tools[0].value, [Some(0.25), Some(0.5)]);
        let goldens: Vec<_> = changes.goldens.iter().map(|g| (g.golden.as_str(), g.before, g.after)).collect();
        assert_eq!(
            goldens,
            [("g", Some((0, 2)), Some((2, 2))), ("gone", Some((2, 2)), None), ("new", None, Some((0, 2)))]
        );
    }

    #[test]
    fn figures_of_other_cases_are_no_change() {
        let before = scores(0.25, &["c", "d"], &[("c", "g", (2, 2)), ("d", "g", (0, 2))]);
        let after = scores(0.5, &["c"], &[("c", "g", (2, 2))]);
        assert!(after.compare("x".to_owned(), &before).is_empty());
    }
}
