//! Labels of extras: is a finding that matches no golden a real problem?

use super::key::Key;
use super::pair::{FindingText, to_json};
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
    /// The key of the text written by [`ExtraSubject::text`].
    pub fn from_text(text: &str) -> Self {
        Self::hashed(&["extra", text])
    }
}

/// An extra, as shown to the annotator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "field names say it")]
pub struct ExtraSubject {
    pub case: CaseId,
    pub reported: FindingText,
}

impl ExtraSubject {
    /// Builds it from a case and a finding.
    pub fn new(case: &CaseId, finding: &Finding) -> Self {
        Self { case: case.clone(), reported: FindingText::new(finding) }
    }

    /// The JSON that is hashed and stored.
    pub fn text(&self) -> String {
        to_json(self)
    }

    /// The key of its labels.
    pub fn key(&self) -> ExtraKey {
        ExtraKey::from_text(&self.text())
    }
}

/// A label of an extra to store.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct NewExtraLabel {
    pub shown: ExtraSubject,
    pub annotator: Annotator,
    pub valid: bool,
    pub note: Option<String>,
    /// Sampling probability; `None` if the extra was not sampled.
    pub picked_with_probability: Option<f64>,
    pub source: Source,
}

/// A stored label of an extra.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct ExtraLabel {
    /// Consecutive number, in the order of storing.
    pub sequence: i64,
    pub extra: ExtraKey,
    pub case: CaseId,
    pub annotator: Annotator,
    pub valid: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Sampling probability; `None` if the extra was not sampled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picked_with_probability: Option<f64>,
    /// Milliseconds since 1970.
    pub made_ms: i64,
    pub source: Source,
    /// Neither corrected nor withdrawn.
    pub counts: bool,
    /// Milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub withdrawn_ms: Option<i64>,
}

impl ExtraLabel {
    /// The answer in words.
    pub fn word(&self) -> &'static str {
        validity_word(self.valid)
    }
}

/// The word for a label of an extra.
pub fn validity_word(valid: bool) -> &'static str {
    if valid { "yes" } else { "no" }
}

/// Labels of extras as judgements of these trials, each with its label, ordered by trial, finding and label. Findings that
/// match a golden get theirs too; scoring ignores those.
pub fn extra_label_judgements<'l>(labels: &'l [ExtraLabel], trials: &[Trial]) -> Vec<(&'l ExtraLabel, Judgement)> {
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
        let judgements = trial.findings.iter().flat_map(|finding| {
            let labels = by_text.get(&ExtraSubject::new(&trial.case, finding).key());
            labels.into_iter().flatten().map(|label| (*label, judgement(label, trial, finding)))
        });
        judgements.collect()
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
        Finding { title: Some(title.to_owned()), line_start: Some(3), ..Finding::new(id) }
    }

    #[test]
    fn a_key_stays_what_it_is_and_tells_no_tool() {
        let shown = ExtraSubject::new(&CaseId::new("c"), &finding("f1", "query"));
        assert_eq!(shown.text(), r#"{"case":"c","reported":{"lines":[3,3],"title":"query"}}"#);
        // Labels of last year hang on it.
        assert_eq!(shown.key().short(), "216f3905f247");
        assert_eq!(ExtraKey::parse(shown.key().as_str()), Some(shown.key()));
        assert_eq!(ExtraKey::parse("0"), None);
        let unseen = Finding { rule_id: Some("B1".to_owned()), confidence: Some(0.5), ..finding("f9", "query") };
        assert_eq!(ExtraSubject::new(&CaseId::new("c"), &unseen).key(), shown.key());
        assert_ne!(ExtraSubject::new(&CaseId::new("d"), &finding("f1", "query")).key(), shown.key());
        assert_ne!(ExtraSubject::new(&CaseId::new("c"), &finding("f1", "queries")).key(), shown.key());
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
            extra: ExtraSubject::new(&"c".into(), &finding("f", "query")).key(),
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
        let line = |(_, judgement): &(&ExtraLabel, Judgement)| {
            let Decision::Extra(extra) = &judgement.decision else { panic!("{judgement:?}") };
            assert_eq!(extra.probability, Some(0.5));
            format!("{} {} {} {}", judgement.judge, judgement.tool, extra.finding, validity_word(extra.valid))
        };
        let judgements: Vec<String> = extra_label_judgements(&labels, &trials).iter().map(line).collect();
        assert_eq!(judgements, ["human:anna a f1 yes", "human:ben a f1 no", "human:anna b x yes", "human:ben b x no"]);
    }
}
