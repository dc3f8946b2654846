//! Labels as judgements of trials.

use super::subject::{FindingText, GoldenText, LabelKey, Subject};
use super::{Annotator, Answer, Label, LabelAnswer, LabelKind, LabelQuestion};
use karat_core::ids::{CaseId, FindingId, JudgeName};
use karat_core::judgement::{AuditDecision, Decision, ExtraDecision, Judgement, PairDecision};
use karat_core::panel::AuditField;
use karat_core::suite::{Case, Suite};
use karat_core::trial::{Outcome, Trial};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Labels as judgements of these trials.
pub fn labels_as_judgements(labels: &[Label], suite: &Suite, trials: &[Trial]) -> Vec<Judgement> {
    label_judgements(labels, suite, trials).into_iter().map(|(_, judgement)| judgement).collect()
}

/// Labels as judgements of these trials, each with the labels it comes from: those of pairs, then of extras, each ordered by
/// trial, finding, golden and label; then one audit per trial and annotator. Findings that match a golden get the labels of
/// extras too; scoring ignores those.
pub fn label_judgements<'l>(labels: &'l [Label], suite: &Suite, trials: &[Trial]) -> Vec<(Vec<&'l Label>, Judgement)> {
    let current = CurrentLabels::new(labels, suite);
    let pairs = trials.par_iter().flat_map_iter(|trial| current.pairs(trial));
    let extras = trials.par_iter().flat_map_iter(|trial| current.extras(trial));
    let audits = trials.par_iter().flat_map_iter(|trial| current.audits(trial));
    pairs.chain(extras).chain(audits).collect()
}

type Judged<'l> = (Vec<&'l Label>, Judgement);

/// The labels that count, by key. Only cases with labels are considered, and the text of each golden is built once.
struct CurrentLabels<'l, 's> {
    by_key: HashMap<&'l LabelKey, Vec<&'l Label>>,
    labelled: HashSet<(LabelKind, &'l CaseId)>,
    /// The decisions of audits that there are labels of, and the cases with such labels of whole responses.
    audited: BTreeSet<AuditField>,
    of_responses: HashSet<&'l CaseId>,
    cases: HashMap<&'s CaseId, &'s Case>,
    goldens: HashMap<&'s CaseId, Vec<String>>,
}

impl<'l, 's> CurrentLabels<'l, 's> {
    fn new(labels: &'l [Label], suite: &'s Suite) -> Self {
        let mut by_key: HashMap<_, Vec<_>> = HashMap::new();
        let mut labelled = HashSet::new();
        let mut labelled_goldens = HashSet::new();
        let (mut audited, mut of_responses) = (BTreeSet::new(), HashSet::new());
        for label in labels.iter().filter(|label| label.counts) {
            by_key.entry(&label.key).or_default().push(label);
            labelled.insert((label.kind(), &label.case));
            if let LabelQuestion::Audit(field) = label.answer.question() {
                audited.insert(field);
                of_responses.extend((!field.is_of_finding()).then_some(&label.case));
            }
            labelled_goldens.extend(label.golden.as_ref().map(|golden| (&label.case, golden)));
        }
        let mut goldens: HashMap<_, Vec<_>> = HashMap::new();
        for case in &suite.cases {
            for golden in case.goldens.iter().filter(|golden| labelled_goldens.contains(&(&case.id, &golden.id))) {
                goldens.entry(&case.id).or_default().push(GoldenText::new(case, golden).text());
            }
        }
        let cases = suite.cases.iter().map(|case| (&case.id, case)).collect();
        Self { by_key, labelled, audited, of_responses, cases, goldens }
    }

    fn find(&self, key: &LabelKey) -> &[&'l Label] {
        self.by_key.get(key).map_or(&[], Vec::as_slice)
    }

    fn pairs(&self, trial: &Trial) -> Vec<Judged<'l>> {
        let mut judged = Vec::new();
        let Some(goldens) = self.goldens.get(&trial.case) else { return judged };
        for finding in &trial.findings {
            let text = FindingText::new(finding).text();
            let labels = goldens.iter().flat_map(|golden| self.find(&LabelKey::pair(golden, &text)));
            judged.extend(labels.filter_map(|&label| {
                let LabelAnswer::Pair { answer: Answer { matched, partial }, confidence } = label.answer else {
                    return None;
                };
                let decision = PairDecision {
                    probability: label.picked_with_probability,
                    golden: label.golden.clone(),
                    finding: finding.id.clone(),
                    matched,
                    partial,
                    confidence,
                    explanation: label.note.clone(),
                    grounds: None,
                };
                Some((vec![label], judgement(trial, label.annotator.judge(), Decision::Pair(decision))))
            }));
        }
        judged
    }

    fn extras(&self, trial: &Trial) -> Vec<Judged<'l>> {
        let mut judged = Vec::new();
        if !self.labelled.contains(&(LabelKind::Extra, &trial.case)) {
            return judged;
        }
        for finding in &trial.findings {
            let labels = self.find(&Subject::extra(&trial.case, finding).key());
            judged.extend(labels.iter().filter_map(|&label| {
                let LabelAnswer::Extra { valid } = label.answer else { return None };
                let decision = ExtraDecision {
                    finding: finding.id.clone(),
                    valid,
                    explanation: label.note.clone(),
                    probability: label.picked_with_probability,
                };
                Some((vec![label], judgement(trial, label.annotator.judge(), Decision::Extra(decision))))
            }));
        }
        judged
    }

    fn audits(&self, trial: &Trial) -> Vec<Judged<'l>> {
        let is_labelled = self.labelled.contains(&(LabelKind::Audit, &trial.case));
        let Some(&case) = self.cases.get(&trial.case).filter(|_| is_labelled && trial.outcome == Outcome::Reported)
        else {
            return Vec::new();
        };
        let findings = trial.findings.iter().map(|finding| (Some(&finding.id), Subject::audit(case, finding)));
        let response = || (None, Subject::audit_response(case, trial));
        let subjects = findings.chain(self.of_responses.contains(&trial.case).then(response));
        let mut by_person: BTreeMap<&Annotator, Audited<'_, 'l>> = BTreeMap::new();
        for (finding, subject) in subjects {
            for field in self.audited.iter().filter(|field| field.is_of_finding() == finding.is_some()) {
                for &label in self.find(&subject.asking(*field).key()) {
                    by_person.entry(&label.annotator).or_default().push((finding, label));
                }
            }
        }
        let judged = by_person.into_iter().map(|(annotator, answers)| {
            let decision = Decision::Audit(audit(&answers));
            let labels = answers.into_iter().map(|(_, label)| label).collect();
            (labels, judgement(trial, annotator.judge(), decision))
        });
        judged.collect()
    }
}

/// A person's answers about one trial, those about findings with the finding.
type Audited<'f, 'l> = Vec<(Option<&'f FindingId>, &'l Label)>;

fn judgement(trial: &Trial, judge: JudgeName, decision: Decision) -> Judgement {
    let (case, tool) = (trial.case.clone(), trial.tool.clone());
    Judgement { case, tool, trial: trial.number, judge, exchange: None, decision }
}

/// Only what they were asked: scoring derives from the answers what follows from them.
fn audit(answers: &[(Option<&FindingId>, &Label)]) -> AuditDecision {
    let mut audit = AuditDecision::default();
    let mut notes = Vec::new();
    for (finding, label) in answers {
        let LabelAnswer::Audit(own) = label.answer else { continue };
        own.field.state(&mut audit, *finding, own.answer);
        notes.extend(label.note.as_ref().map(|note| format!("{}: {note}", note_head(*finding, own.field))));
    }
    audit.explanation = (!notes.is_empty()).then(|| notes.join("\n"));
    audit
}

/// What begins the note on an answer: the finding or, if it is not about its class, the decision or both.
pub(super) fn note_head(finding: Option<&FindingId>, field: AuditField) -> String {
    match (finding, field) {
        (Some(finding), AuditField::Classification) => finding.to_string(),
        (Some(finding), field) => format!("{finding} {}", field.as_str()),
        (None, field) => field.as_str().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::{AuditLabel, Source};
    use karat_core::finding::Finding;
    use karat_core::golden::Golden;
    use karat_core::ids::ToolName;
    use karat_core::judgement::{Classification, Expressed};

    fn finding(id: &str, title: &str) -> Finding {
        Finding { title: Some(title.to_owned()), line_start: Some(3), ..Finding::new(id) }
    }

    fn suite() -> Suite {
        let marked = Golden { target: true, title: Some("reentrancy".to_owned()), ..Golden::new("g2") };
        let case = Case { goldens: vec![Golden::new("g1"), marked], ..Case::new("c") };
        Suite { name: "s".to_owned(), digest: String::new(), cases: vec![case, Case::new("safe")] }
    }

    fn trial(case: &str, tool: &str, findings: &[Finding]) -> Trial {
        Trial { findings: findings.to_vec(), ..Trial::reported(case.into(), ToolName::new(tool), 1) }
    }

    fn label(subject: &Subject, name: &str, answer: LabelAnswer) -> Label {
        Label {
            sequence: 1,
            key: subject.key(),
            case: "c".into(),
            golden: None,
            annotator: Annotator::new(name).unwrap(),
            answer,
            note: Some("seen".to_owned()),
            picked_with_probability: Some(0.5),
            made_ms: 0,
            source: Source::Asked,
            counts: true,
            withdrawn_ms: None,
        }
    }

    #[test]
    fn extra_label_applies_to_findings_with_the_same_text() {
        let trials = [
            trial("c", "a", &[finding("f1", "query"), finding("f2", "other")]),
            trial("c", "b", &[finding("x", "query")]),
        ];
        let subject = Subject::extra(&"c".into(), &finding("f", "query"));
        let extra = |name: &str, valid: bool| label(&subject, name, LabelAnswer::Extra { valid });
        let labels = [Label { counts: false, ..extra("anna", false) }, extra("anna", true), extra("ben", false)];
        let line = |(_, judgement): &Judged<'_>| {
            let Decision::Extra(extra) = &judgement.decision else { panic!("{judgement:?}") };
            assert_eq!(extra.probability, Some(0.5));
            format!("{} {} {} {}", judgement.judge, judgement.tool, extra.finding, extra.valid)
        };
        let judgements: Vec<String> = label_judgements(&labels, &suite(), &trials).iter().map(line).collect();
        let expect = ["human:anna a f1 true", "human:ben a f1 false", "human:anna b x true", "human:ben b x false"];
        assert_eq!(judgements, expect);
    }

    #[test]
    fn audit_labels_give_one_audit_per_trial_and_person() {
        use Classification::{Hallucinated, TargetMatch};
        let suite = suite();
        let trials = [
            trial("c", "one", &[finding("f1", "drain"), finding("f2", "style")]),
            trial("c", "two", &[finding("x", "style")]),
            trial("safe", "one", &[finding("f1", "drain")]),
        ];
        let audit = |title: &str, name: &str, classification| {
            let subject = Subject::audit(&suite.cases[0], &finding("f", title));
            label(&subject, name, LabelAnswer::class(classification))
        };
        let labels = [
            audit("drain", "anna", TargetMatch),
            audit("style", "anna", Hallucinated),
            audit("style", "ben", TargetMatch),
            Label { counts: false, ..audit("drain", "ben", TargetMatch) },
        ];
        let line = |(labels, judgement): &Judged<'_>| {
            let Decision::Audit(audit) = &judgement.decision else { panic!("{judgement:?}") };
            let classes =
                audit.findings.iter().map(|f| format!("{}={}", f.finding, f.classification.unwrap().as_str()));
            // Nobody was asked anything else.
            let unasked = AuditDecision {
                findings: audit.findings.clone(),
                explanation: audit.explanation.clone(),
                ..AuditDecision::default()
            };
            assert_eq!((labels.len(), audit), (audit.findings.len(), &unasked));
            let (tool, judge) = (&judgement.tool, &judgement.judge);
            format!("{tool} {judge} {}", classes.collect::<Vec<_>>().join(" "))
        };
        let judgements: Vec<String> = label_judgements(&labels, &suite, &trials).iter().map(line).collect();
        assert_eq!(
            judgements,
            [
                "one human:anna f1=TARGET_MATCH f2=HALLUCINATED",
                "one human:ben f2=TARGET_MATCH",
                "two human:anna x=HALLUCINATED",
                "two human:ben x=TARGET_MATCH",
            ]
        );
    }

    #[test]
    fn any_of_the_ten_decisions_becomes_its_field_and_no_other() {
        let suite = suite();
        let trial = trial("c", "one", &[finding("f1", "drain")]);
        let answers = ["false", "TARGET_MATCH", "vulnerable", "none", "semantic", "0.75", "0.5", "0.25"];
        let check = |field: AuditField, word: &str| {
            let subject = match field.is_of_finding() {
                true => Subject::audit(&suite.cases[0], &trial.findings[0]),
                false => Subject::audit_response(&suite.cases[0], &trial),
            };
            let Some(answer) = AuditLabel::parse(field, word) else { return };
            let labels = [label(&subject.asking(field), "anna", LabelAnswer::Audit(answer))];
            let judged = label_judgements(&labels, &suite, std::slice::from_ref(&trial));
            let [(_, Judgement { decision: Decision::Audit(audit), .. })] = judged.as_slice() else {
                panic!("{field:?} {judged:?}")
            };
            for other in AuditField::ALL {
                let stated = other.stated(audit);
                let expected = (other == field).then_some(answer.answer);
                assert_eq!(
                    stated.iter().map(|(_, answer)| *answer).collect::<Vec<_>>(),
                    Vec::from_iter(expected),
                    "{other:?}"
                );
            }
            assert!(audit.explanation.as_ref().unwrap().ends_with(": seen"));
        };
        for field in AuditField::ALL {
            answers.iter().for_each(|word| check(field, word));
        }
        // Several answers of one person are one judgement.
        let whole = Subject::audit_response(&suite.cases[0], &trial);
        let made =
            [(AuditField::ConfidenceExpressed, "none"), (AuditField::SaidVulnerable, "no"), (AuditField::Rcir, "0.75")];
        let labels = made.map(|(field, word)| {
            label(&whole.asking(field), "anna", LabelAnswer::Audit(AuditLabel::parse(field, word).unwrap()))
        });
        let judged = labels_as_judgements(&labels, &suite, std::slice::from_ref(&trial));
        let [Judgement { decision: Decision::Audit(audit), .. }] = judged.as_slice() else { panic!("{judged:?}") };
        assert_eq!(audit.said_vulnerable, Some(Expressed::Value(false)));
        assert_eq!(audit.confidence_expressed, Some(Expressed::Nothing));
        assert_eq!(audit.target.as_ref().unwrap().rcir, Some(0.75));
        assert_eq!(audit.target.as_ref().unwrap().found, None);
    }
}
