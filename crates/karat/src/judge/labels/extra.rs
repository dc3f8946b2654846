//! What people say of extras: is a finding that reports no golden a real problem?

use super::key::Key;
use super::pair::{Reported, written};
use super::{Annotator, Source};
use karat_core::finding::Finding;
use karat_core::ids::CaseId;
use karat_core::judgement::{Decision, ExtraDecision, Judgement};
use karat_core::trial::Trial;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// The key of a case and a finding in it.
pub type ExtraKey = Key<'e'>;

impl ExtraKey {
    /// The key of what [`ShownExtra::text`] writes.
    pub fn of(text: &str) -> Self {
        Self::hashed(&["extra", text])
    }
}

/// A finding as a person sees it who is asked whether it is a real problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShownExtra {
    /// The case.
    pub case: CaseId,
    /// The finding.
    pub reported: Reported,
}

impl ShownExtra {
    /// What is shown of a finding in a case.
    pub fn of(case: &CaseId, finding: &Finding) -> Self {
        Self { case: case.clone(), reported: Reported::of(finding) }
    }

    /// The text that is hashed and stored.
    pub fn text(&self) -> String {
        written(self)
    }

    /// What a label of it hangs on.
    pub fn key(&self) -> ExtraKey {
        ExtraKey::of(&self.text())
    }
}

/// A label of an extra to be kept.
#[derive(Clone, Debug, PartialEq)]
pub struct NewExtraLabel {
    /// What the person saw.
    pub shown: ShownExtra,
    /// Who says it.
    pub annotator: Annotator,
    /// Whether it is a real problem.
    pub valid: bool,
    /// Their words.
    pub note: Option<String>,
    /// The probability with which it was picked for a label; `None` where chance had no part in it.
    pub picked_with_probability: Option<f64>,
    /// How it came in.
    pub source: Source,
}

/// A label of an extra as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExtraLabel {
    /// Its place among all labels of extras, in the order in which they came in.
    pub sequence: i64,
    /// What it hangs on.
    pub extra: ExtraKey,
    /// The case.
    pub case: CaseId,
    /// Who says it.
    pub annotator: Annotator,
    /// Whether it is a real problem.
    pub valid: bool,
    /// Their words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The probability with which it was picked for a label; `None` where chance had no part in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picked_with_probability: Option<f64>,
    /// When, in milliseconds since 1970.
    pub made_ms: i64,
    /// How it came in.
    pub source: Source,
    /// Whether it counts: the annotator has neither corrected nor withdrawn it since.
    pub counts: bool,
    /// When it was withdrawn, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub withdrawn_ms: Option<i64>,
}

impl ExtraLabel {
    /// The answer in words.
    pub fn word(&self) -> &'static str {
        said(self.valid)
    }
}

/// What somebody says of an extra, in words.
pub fn said(valid: bool) -> &'static str {
    if valid { "yes" } else { "no" }
}

/// Labels of extras as judgements of these trials, each with the label it comes from, in the order of the trials, their
/// findings and the labels. A finding that reports a golden has its judgements too: scoring knows that they decide nothing.
pub fn extras_heard<'l>(labels: &'l [ExtraLabel], trials: &[Trial]) -> Vec<(&'l ExtraLabel, Judgement)> {
    let mut by_text: HashMap<&ExtraKey, Vec<&'l ExtraLabel>> = HashMap::new();
    let mut cases: HashSet<&CaseId> = HashSet::new();
    for label in labels.iter().filter(|label| label.counts) {
        by_text.entry(&label.extra).or_default().push(label);
        cases.insert(&label.case);
    }
    let of_trial = |trial: &Trial| -> Vec<(&'l ExtraLabel, Judgement)> {
        if !cases.contains(&trial.case) {
            return Vec::new();
        }
        let heard = trial.findings.iter().flat_map(|finding| {
            let labels = by_text.get(&ShownExtra::of(&trial.case, finding).key());
            labels.into_iter().flatten().map(|label| (*label, judgement(label, trial, finding)))
        });
        heard.collect()
    };
    trials.par_iter().flat_map_iter(of_trial).collect()
}

fn judgement(label: &ExtraLabel, trial: &Trial, finding: &Finding) -> Judgement {
    Judgement {
        case: trial.case.clone(),
        tool: trial.tool.clone(),
        trial: trial.number,
        judge: label.annotator.judge(),
        exchange: None,
        decision: Decision::Extra(ExtraDecision {
            finding: finding.id.clone(),
            valid: label.valid,
            explanation: label.note.clone(),
            probability: label.picked_with_probability,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use karat_core::ids::ToolName;

    fn finding(id: &str, title: &str) -> Finding {
        Finding { title: Some(title.to_owned()), line_start: Some(3), ..Finding::named(id) }
    }

    #[test]
    fn a_key_stays_what_it_is_and_tells_no_tool() {
        let shown = ShownExtra::of(&CaseId::new("c"), &finding("f1", "query"));
        assert_eq!(shown.text(), r#"{"case":"c","reported":{"lines":[3,3],"title":"query"}}"#);
        // Labels of last year hang on it.
        assert_eq!(shown.key().short(), "216f3905f247");
        assert_eq!(ExtraKey::parse(shown.key().as_str()), Some(shown.key()));
        assert_eq!(ExtraKey::parse("0"), None);
        let unseen = Finding { rule_id: Some("B1".to_owned()), confidence: Some(0.5), ..finding("f9", "query") };
        assert_eq!(ShownExtra::of(&CaseId::new("c"), &unseen).key(), shown.key());
        assert_ne!(ShownExtra::of(&CaseId::new("d"), &finding("f1", "query")).key(), shown.key());
        assert_ne!(ShownExtra::of(&CaseId::new("c"), &finding("f1", "queries")).key(), shown.key());
    }

    #[test]
    fn a_label_is_heard_wherever_a_finding_says_the_same() {
        let trial = |tool: &str, findings: Vec<Finding>| {
            let mut trial = Trial::reported("c".into(), ToolName::new(tool), 1);
            trial.findings = findings;
            trial
        };
        let trials =
            [trial("a", vec![finding("f1", "query"), finding("f2", "other")]), trial("b", vec![finding("x", "query")])];
        let label = |name: &str, valid: bool, counts: bool| ExtraLabel {
            sequence: 1,
            extra: ShownExtra::of(&"c".into(), &finding("f", "query")).key(),
            case: "c".into(),
            annotator: Annotator::new(name).unwrap(),
            valid,
            note: None,
            picked_with_probability: Some(0.5),
            made_ms: 0,
            source: Source::Asked,
            counts,
            withdrawn_ms: None,
        };
        let labels = [label("anna", false, false), label("anna", true, true), label("ben", false, true)];
        let told = |(_, judgement): &(&ExtraLabel, Judgement)| {
            let Decision::Extra(extra) = &judgement.decision else { panic!("{judgement:?}") };
            assert_eq!(extra.probability, Some(0.5));
            format!("{} {} {} {}", judgement.judge, judgement.tool, extra.finding, said(extra.valid))
        };
        let heard: Vec<String> = extras_heard(&labels, &trials).iter().map(told).collect();
        assert_eq!(heard, ["human:anna a f1 yes", "human:ben a f1 no", "human:anna b x yes", "human:ben b x no"]);
    }
}
