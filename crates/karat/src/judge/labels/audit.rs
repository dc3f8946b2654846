//! What people call the findings of audited cases: the target, near it, another true problem, or one of six kinds of wrong.

use super::key::Key;
use super::pair::{Known, Reported, written};
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
    /// The key of what [`ShownAudit::text`] writes.
    pub fn of(text: &str) -> Self {
        Self::hashed(&["audit", text])
    }
}

/// The class of that name, as `TARGET_MATCH`, in small or capital letters.
pub fn class_named(name: &str) -> Option<Classification> {
    Classification::ALL.into_iter().find(|class| class.as_str().eq_ignore_ascii_case(name))
}

/// A finding as a person sees it who is asked what it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShownAudit {
    /// The case.
    pub case: CaseId,
    /// What is to be found in it; nothing in a safe case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Known>,
    /// The finding.
    pub reported: Reported,
}

impl ShownAudit {
    /// What is shown of a finding in a case.
    pub fn of(case: &Case, finding: &Finding) -> Self {
        let target = target(case).map(|golden| Known::of(case, golden));
        Self { case: case.id.clone(), target, reported: Reported::of(finding) }
    }

    /// The text that is hashed and stored.
    pub fn text(&self) -> String {
        written(self)
    }

    /// What a label of it hangs on.
    pub fn key(&self) -> AuditKey {
        AuditKey::of(&self.text())
    }
}

/// What an audit looks for in a case: the golden that is marked, else the first that is required.
fn target(case: &Case) -> Option<&Golden> {
    let mut required = case.goldens.iter().filter(|golden| golden.is_required());
    case.goldens.iter().find(|golden| golden.target && golden.is_required()).or_else(|| required.next())
}

/// A label of an audited finding to be kept.
#[derive(Clone, Debug, PartialEq)]
pub struct NewAuditLabel {
    /// What the person saw.
    pub shown: ShownAudit,
    /// Who says it.
    pub annotator: Annotator,
    /// What they call it.
    pub classification: Classification,
    /// Their words.
    pub note: Option<String>,
    /// How it came in.
    pub source: Source,
}

/// A label of an audited finding as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AuditLabel {
    /// Its place among all labels of audited findings, in the order in which they came in.
    pub sequence: i64,
    /// What it hangs on.
    pub finding: AuditKey,
    /// The case.
    pub case: CaseId,
    /// Who says it.
    pub annotator: Annotator,
    /// What they call it.
    pub classification: Classification,
    /// Their words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
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

/// A finding that a person may be asked to classify, whoever reports it.
#[derive(Clone, Debug)]
pub struct OpenAudit<'a> {
    /// What a label of it hangs on.
    pub key: AuditKey,
    /// The case.
    pub case: &'a Case,
    /// The finding, in the first trial that has it.
    pub finding: &'a Finding,
    /// How many tools report it.
    pub tools: usize,
    /// In how many trials it is reported.
    pub trials: usize,
}

/// All findings of these trials, those that say the same once. First comes what most tools report, then what is reported most
/// often: one answer settles all of it.
pub fn audit_queue<'a>(suite: &'a Suite, trials: &'a [Trial]) -> Vec<OpenAudit<'a>> {
    let cases: HashMap<&str, &Case> = suite.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let mut once: BTreeMap<AuditKey, (OpenAudit<'a>, Reports<'a>)> = BTreeMap::new();
    for trial in trials.iter().filter(|trial| trial.outcome == Outcome::Reported) {
        let Some(&case) = cases.get(trial.case.as_str()) else { continue };
        for finding in &trial.findings {
            let key = ShownAudit::of(case, finding).key();
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

/// The trials that report something, by tool and number.
type Reports<'a> = BTreeSet<(&'a ToolName, u32)>;

/// Labels of audited findings as judgements of these trials: one audit for each annotator and trial, of the findings that they
/// have labelled, each with the labels it comes from. In the order of the trials and the annotators' names.
pub fn audits_heard<'l>(
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
    let mut heard = Vec::new();
    for trial in trials.iter().filter(|trial| trial.outcome == Outcome::Reported && labelled.contains(&trial.case)) {
        let Some(&case) = cases.get(trial.case.as_str()) else { continue };
        let mut by_person: BTreeMap<&Annotator, Vec<(&Finding, &'l AuditLabel)>> = BTreeMap::new();
        for finding in &trial.findings {
            for label in by_text.get(&ShownAudit::of(case, finding).key()).into_iter().flatten() {
                by_person.entry(&label.annotator).or_default().push((finding, *label));
            }
        }
        for (annotator, said) in by_person {
            let judgement = judgement(case, trial, annotator, &said);
            heard.push((said.into_iter().map(|(_, label)| label).collect(), judgement));
        }
    }
    heard
}

fn judgement(case: &Case, trial: &Trial, annotator: &Annotator, said: &[(&Finding, &AuditLabel)]) -> Judgement {
    let classified = |(finding, label): &(&Finding, &AuditLabel)| ClassifiedFinding {
        finding: finding.id.clone(),
        classification: label.classification,
        matches_target: Some(label.classification == Classification::TargetMatch),
        is_valid_concern: Some(label.classification.is_valid()),
    };
    let is_target = |(_, label): &&(&Finding, &AuditLabel)| label.classification == Classification::TargetMatch;
    let by = said.iter().find(is_target).map(|(finding, _)| finding.id.clone());
    let complete = said.len() == trial.findings.len();
    let assessment =
        |found: bool, finding| TargetAssessment { found, finding, type_match: None, rcir: None, ava: None, fsv: None };
    let notes = said.iter().filter_map(|(finding, label)| Some(format!("{}: {}", finding.id, label.note.as_ref()?)));
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
            findings: said.iter().map(classified).collect(),
            // Whoever has not looked at all findings does not know that the target is missing.
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
        Finding { title: Some(title.to_owned()), line_start: Some(3), ..Finding::named(id) }
    }

    fn suite() -> Suite {
        let marked = Golden { target: true, title: Some("reentrancy".to_owned()), ..Golden::named("g2") };
        let case = Case { goldens: vec![Golden::named("g1"), marked], ..Case::named("c") };
        Suite { name: "s".to_owned(), digest: String::new(), cases: vec![case, Case::named("safe")] }
    }

    fn trial(case: &str, tool: &str, number: u32, findings: &[Finding]) -> Trial {
        Trial { findings: findings.to_vec(), ..Trial::reported(case.into(), ToolName::new(tool), number) }
    }

    fn label(suite: &Suite, finding: &Finding, name: &str, classification: Classification) -> AuditLabel {
        AuditLabel {
            sequence: 1,
            finding: ShownAudit::of(&suite.cases[0], finding).key(),
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
        let shown = ShownAudit::of(&suite.cases[0], &finding("f1", "drain"));
        assert_eq!(
            shown.text(),
            r#"{"case":"c","target":{"case":"c","golden":"g2","title":"reentrancy"},"reported":{"lines":[3,3],"title":"drain"}}"#
        );
        // Labels of last year hang on it.
        assert_eq!(shown.key().short(), "02c0ef2cd1aa");
        assert_eq!(ShownAudit::of(&suite.cases[0], &finding("other", "drain")).key(), shown.key());
        assert_ne!(ShownAudit::of(&suite.cases[1], &finding("f1", "drain")).key(), shown.key());
        let mut moved = suite.clone();
        moved.cases[0].goldens[1].target = false;
        assert_ne!(ShownAudit::of(&moved.cases[0], &finding("f1", "drain")).key(), shown.key());
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
        let told: Vec<String> = queue.iter().map(|o| format!("{} {}", o.finding.headline(), o.trials)).collect();
        assert_eq!(told, ["often 3", "rare 1"]);
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
        let told = |(labels, judgement): &(Vec<&AuditLabel>, Judgement)| {
            let Decision::Audit(audit) = &judgement.decision else { panic!("{judgement:?}") };
            let classes = audit.findings.iter().map(|f| format!("{}={}", f.finding, f.classification.as_str()));
            let target = audit.target.as_ref().map(|t| (t.found, t.finding.as_ref().map(ToString::to_string)));
            assert_eq!((labels.len(), audit.said_vulnerable), (audit.findings.len(), Some(true)));
            let (tool, judge) = (&judgement.tool, &judgement.judge);
            format!("{tool} {judge} {} {target:?}", classes.collect::<Vec<_>>().join(" "))
        };
        let heard: Vec<String> = audits_heard(&labels, &suite, &trials).iter().map(told).collect();
        assert_eq!(
            heard,
            [
                "one human:anna f1=TARGET_MATCH f2=HALLUCINATED Some((true, Some(\"f1\")))",
                "one human:ben f2=TARGET_MATCH Some((true, Some(\"f2\")))",
                "two human:anna x=HALLUCINATED Some((false, None))",
                "two human:ben x=TARGET_MATCH Some((true, Some(\"x\")))",
            ]
        );
    }
}
