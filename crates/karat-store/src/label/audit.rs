//! Labels that classify findings of audited cases.

use super::key::Key;
use super::pair::{FindingText, GoldenText, to_json};
use super::{Annotator, Source};
use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::ids::{CaseId, ToolName};
use karat_core::judgement::{AuditDecision, Classification, ClassifiedFinding, Decision, Judgement, TargetAssessment};
use karat_core::scorecard::stated_verdict;
use karat_core::suite::{Case, Suite, Verdict};
use karat_core::trial::{Outcome, Trial};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The key of a case, its target and a finding.
pub type AuditKey = Key<'a'>;

impl AuditKey {
    /// The key of the text written by [`AuditSubject::text`].
    pub fn from_text(text: &str) -> Self {
        Self::hashed(&["audit", text])
    }
}

/// The class of that name, such as `TARGET_MATCH`; case-insensitive.
pub fn class_named(name: &str) -> Option<Classification> {
    Classification::ALL.into_iter().find(|class| class.as_str().eq_ignore_ascii_case(name))
}

/// A finding of an audited case, as shown to the annotator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "field names say it")]
pub struct AuditSubject {
    pub case: CaseId,
    /// The golden to find; `None` for a safe case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<GoldenText>,
    pub reported: FindingText,
}

impl AuditSubject {
    /// Builds it from a case and a finding.
    pub fn new(case: &Case, finding: &Finding) -> Self {
        let target = target(case).map(|golden| GoldenText::new(case, golden));
        Self { case: case.id.clone(), target, reported: FindingText::new(finding) }
    }

    /// The JSON that is hashed and stored.
    pub fn text(&self) -> String {
        to_json(self)
    }

    /// The key of its labels.
    pub fn key(&self) -> AuditKey {
        AuditKey::from_text(&self.text())
    }
}

/// The target of an audit: the marked golden, else the first required one.
fn target(case: &Case) -> Option<&Golden> {
    let mut required = case.goldens.iter().filter(|golden| golden.is_required());
    case.goldens.iter().find(|golden| golden.target && golden.is_required()).or_else(|| required.next())
}

/// A label of an audited finding to store.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct NewAuditLabel {
    pub shown: AuditSubject,
    pub annotator: Annotator,
    pub classification: Classification,
    pub note: Option<String>,
    pub source: Source,
}

/// A stored label of an audited finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct AuditLabel {
    /// Consecutive number, in the order of storing.
    pub sequence: i64,
    pub finding: AuditKey,
    pub case: CaseId,
    pub annotator: Annotator,
    pub classification: Classification,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Milliseconds since 1970.
    pub made_ms: i64,
    pub source: Source,
    /// Neither corrected nor withdrawn.
    pub counts: bool,
    /// Milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub withdrawn_ms: Option<i64>,
}

/// A distinct finding that a person may be asked to classify.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct OpenAudit<'a> {
    pub key: AuditKey,
    pub case: &'a Case,
    /// As reported by the first trial that has it.
    pub finding: &'a Finding,
    pub tools: usize,
    pub trials: usize,
}

/// All distinct findings of these trials: those reported by most tools first, then by most trials.
pub fn audit_queue<'a>(suite: &'a Suite, trials: &'a [Trial]) -> Vec<OpenAudit<'a>> {
    let cases: HashMap<&str, &Case> = suite.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let mut once: BTreeMap<AuditKey, (OpenAudit<'a>, Reports<'a>)> = BTreeMap::new();
    for trial in trials.iter().filter(|trial| trial.outcome == Outcome::Reported) {
        let Some(&case) = cases.get(trial.case.as_str()) else { continue };
        for finding in &trial.findings {
            let key = AuditSubject::new(case, finding).key();
            let open = || (OpenAudit { key: key.clone(), case, finding, tools: 0, trials: 0 }, Reports::new());
            once.entry(key.clone()).or_insert_with(open).1.insert((&trial.tool, trial.number));
        }
    }
    let counted = |(open, reports): (OpenAudit<'a>, Reports<'a>)| {
        let tools: BTreeSet<&ToolName> = reports.iter().map(|(tool, _)| *tool).collect();
        OpenAudit { tools: tools.len(), trials: reports.len(), ..open }
    };
    let mut queue: Vec<OpenAudit<'a>> = once.into_values().map(counted).collect();
    queue.sort_by_key(|open| (Reverse(open.tools), Reverse(open.trials)));
    queue
}

type Reports<'a> = BTreeSet<(&'a ToolName, u32)>;

/// Labels of audited findings as judgements of these trials: one audit per annotator and trial, with the labels it comes
/// from, ordered by trial and annotator.
pub fn audit_label_judgements<'l>(
    labels: &'l [AuditLabel],
    suite: &Suite,
    trials: &[Trial],
) -> Vec<(Vec<&'l AuditLabel>, Judgement)> {
    let cases: HashMap<&str, &Case> = suite.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let mut by_text: HashMap<&AuditKey, Vec<&'l AuditLabel>> = HashMap::new();
    let mut labelled: BTreeSet<&CaseId> = BTreeSet::new();
    for label in labels.iter().filter(|label| label.counts) {
        by_text.entry(&label.finding).or_default().push(label);
        labelled.insert(&label.case);
    }
    let mut judgements = Vec::new();
    for trial in trials.iter().filter(|trial| trial.outcome == Outcome::Reported && labelled.contains(&trial.case)) {
        let Some(&case) = cases.get(trial.case.as_str()) else { continue };
        let mut by_person: BTreeMap<&Annotator, Vec<(&Finding, &'l AuditLabel)>> = BTreeMap::new();
        for finding in &trial.findings {
            for label in by_text.get(&AuditSubject::new(case, finding).key()).into_iter().flatten() {
                by_person.entry(&label.annotator).or_default().push((finding, *label));
            }
        }
        for (annotator, labelled) in by_person {
            let judgement = judgement(case, trial, annotator, &labelled);
            judgements.push((labelled.into_iter().map(|(_, label)| label).collect(), judgement));
        }
    }
    judgements
}

fn judgement(case: &Case, trial: &Trial, annotator: &Annotator, labelled: &[(&Finding, &AuditLabel)]) -> Judgement {
    let classified = |(finding, label): &(&Finding, &AuditLabel)| ClassifiedFinding {
        finding: finding.id.clone(),
        classification: label.classification,
        matches_target: Some(label.classification == Classification::TargetMatch),
        is_valid_concern: Some(label.classification.is_valid()),
    };
    let is_target = |(_, label): &&(&Finding, &AuditLabel)| label.classification == Classification::TargetMatch;
    let by = labelled.iter().find(is_target).map(|(finding, _)| finding.id.clone());
    let complete = labelled.len() == trial.findings.len();
    let assessment =
        |found: bool, finding| TargetAssessment { found, finding, type_match: None, rcir: None, ava: None, fsv: None };
    let notes =
        labelled.iter().filter_map(|(finding, label)| Some(format!("{}: {}", finding.id, label.note.as_ref()?)));
    let notes: Vec<String> = notes.collect();
    Judgement {
        case: trial.case.clone(),
        tool: trial.tool.clone(),
        trial: trial.number,
        judge: annotator.judge(),
        exchange: None,
        decision: Decision::Audit(AuditDecision {
            said_vulnerable: Some(stated_verdict(case, trial) == Verdict::Vulnerable),
            confidence_expressed: trial.confidence,
            findings: labelled.iter().map(classified).collect(),
            // Only an annotator who labelled all findings can say that the target is missing.
            target: match (target(case), by) {
                (Some(_), Some(finding)) => Some(assessment(true, Some(finding))),
                (Some(_), None) if complete => Some(assessment(false, None)),
                _ => None,
            },
            explanation: (!notes.is_empty()).then(|| notes.join("\n")),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(id: &str, title: &str) -> Finding {
        Finding { title: Some(title.to_owned()), line_start: Some(3), ..Finding::new(id) }
    }

    fn suite() -> Suite {
        let marked = Golden { target: true, title: Some("reentrancy".to_owned()), ..Golden::new("g2") };
        let case = Case { goldens: vec![Golden::new("g1"), marked], ..Case::new("c") };
        Suite { name: "s".to_owned(), digest: String::new(), cases: vec![case, Case::new("safe")] }
    }

    fn trial(case: &str, tool: &str, number: u32, findings: &[Finding]) -> Trial {
        Trial { findings: findings.to_vec(), ..Trial::reported(case.into(), ToolName::new(tool), number) }
    }

    fn label(suite: &Suite, finding: &Finding, name: &str, classification: Classification) -> AuditLabel {
        AuditLabel {
            sequence: 1,
            finding: AuditSubject::new(&suite.cases[0], finding).key(),
            case: "c".into(),
            annotator: Annotator::new(name).unwrap(),
            classification,
            note: Some("seen".to_owned()),
            made_ms: 0,
            source: Source::Asked,
            counts: true,
            withdrawn_ms: None,
        }
    }

    #[test]
    fn a_key_hangs_on_the_case_its_target_and_the_finding() {
        let suite = suite();
        let shown = AuditSubject::new(&suite.cases[0], &finding("f1", "drain"));
        assert_eq!(
            shown.text(),
            r#"{"case":"c","target":{"case":"c","golden":"g2","title":"reentrancy"},"reported":{"lines":[3,3],"title":"drain"}}"#
        );
        // Labels of last year hang on it.
        assert_eq!(shown.key().short(), "02c0ef2cd1aa");
        assert_eq!(AuditSubject::new(&suite.cases[0], &finding("other", "drain")).key(), shown.key());
        assert_ne!(AuditSubject::new(&suite.cases[1], &finding("f1", "drain")).key(), shown.key());
        let mut moved = suite.clone();
        moved.cases[0].goldens[1].target = false;
        assert_ne!(AuditSubject::new(&moved.cases[0], &finding("f1", "drain")).key(), shown.key());
    }

    #[test]
    fn what_most_tools_report_is_asked_first_and_once() {
        let suite = suite();
        let trials = [
            trial("c", "one", 1, &[finding("f1", "rare"), finding("f2", "often")]),
            trial("c", "two", 1, &[finding("x", "often")]),
            trial("c", "two", 2, &[finding("y", "often"), finding("z", "often")]),
            Trial { outcome: Outcome::Crashed, ..trial("c", "two", 3, &[finding("w", "lost")]) },
        ];
        let queue = audit_queue(&suite, &trials);
        let lines: Vec<String> = queue.iter().map(|o| format!("{} {}", o.finding.headline(), o.trials)).collect();
        assert_eq!(lines, ["often 3", "rare 1"]);
    }

    #[test]
    fn labels_become_one_audit_of_each_trial_and_person() {
        use Classification::{Hallucinated, TargetMatch};
        let suite = suite();
        let trials = [
            trial("c", "one", 1, &[finding("f1", "drain"), finding("f2", "style")]),
            trial("c", "two", 1, &[finding("x", "style")]),
            trial("safe", "one", 1, &[finding("f1", "drain")]),
        ];
        let labels = [
            label(&suite, &finding("f", "drain"), "anna", TargetMatch),
            label(&suite, &finding("f", "style"), "anna", Hallucinated),
            label(&suite, &finding("f", "style"), "ben", TargetMatch),
            AuditLabel { counts: false, ..label(&suite, &finding("f", "drain"), "ben", TargetMatch) },
        ];
        let lines = |(labels, judgement): &(Vec<&AuditLabel>, Judgement)| {
            let Decision::Audit(audit) = &judgement.decision else { panic!("{judgement:?}") };
            let classes = audit.findings.iter().map(|f| format!("{}={}", f.finding, f.classification.as_str()));
            let target = audit.target.as_ref().map(|t| (t.found, t.finding.as_ref().map(ToString::to_string)));
            assert_eq!((labels.len(), audit.said_vulnerable), (audit.findings.len(), Some(true)));
            let (tool, judge) = (&judgement.tool, &judgement.judge);
            format!("{tool} {judge} {} {target:?}", classes.collect::<Vec<_>>().join(" "))
        };
        let judgements: Vec<String> = audit_label_judgements(&labels, &suite, &trials).iter().map(lines).collect();
        assert_eq!(
            judgements,
            [
                "one human:anna f1=TARGET_MATCH f2=HALLUCINATED Some((true, Some(\"f1\")))",
                "one human:ben f2=TARGET_MATCH Some((true, Some(\"f2\")))",
                "two human:anna x=HALLUCINATED Some((false, None))",
                "two human:ben x=TARGET_MATCH Some((true, Some(\"x\")))",
            ]
        );
    }
}
