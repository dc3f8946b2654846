//! Labels as judgements of trials.

use super::subject::{FindingText, GoldenText, LabelKey, Subject, audit_target};
use super::{Annotator, Answer, Label, LabelAnswer, LabelKind};
use karat_core::finding::Finding;
use karat_core::ids::{CaseId, JudgeName};
use karat_core::judgement::{
    AuditDecision, Classification, ClassifiedFinding, Decision, ExtraDecision, Judgement, PairDecision,
    TargetAssessment,
};
use karat_core::scorecard::stated_verdict;
use karat_core::suite::{Case, Suite, Verdict};
use karat_core::trial::{Outcome, Trial};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};

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
    cases: HashMap<&'s CaseId, &'s Case>,
    goldens: HashMap<&'s CaseId, Vec<String>>,
}

impl<'l, 's> CurrentLabels<'l, 's> {
    fn new(labels: &'l [Label], suite: &'s Suite) -> Self {
        let mut by_key: HashMap<_, Vec<_>> = HashMap::new();
        let mut labelled = HashSet::new();
        let mut labelled_goldens = HashSet::new();
        for label in labels.iter().filter(|label| label.counts) {
            by_key.entry(&label.key).or_default().push(label);
            labelled.insert((label.kind(), &label.case));
            labelled_goldens.extend(label.golden.as_ref().map(|golden| (&label.case, golden)));
        }
        let mut goldens: HashMap<_, Vec<_>> = HashMap::new();
        for case in &suite.cases {
            for golden in case.goldens.iter().filter(|golden| labelled_goldens.contains(&(&case.id, &golden.id))) {
                goldens.entry(&case.id).or_default().push(GoldenText::new(case, golden).text());
            }
        }
        Self { by_key, labelled, cases: suite.cases.iter().map(|case| (&case.id, case)).collect(), goldens }
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
        let mut by_person: BTreeMap<&Annotator, Vec<Classified<'_, 'l>>> = BTreeMap::new();
        for finding in &trial.findings {
            for &label in self.find(&Subject::audit(case, finding).key()) {
                let LabelAnswer::Audit { classification } = label.answer else { continue };
                by_person.entry(&label.annotator).or_default().push((finding, classification, label));
            }
        }
        let judged = by_person.into_iter().map(|(annotator, classified)| {
            let decision = Decision::Audit(audit(case, trial, &classified));
            let labels = classified.into_iter().map(|(_, _, label)| label).collect();
            (labels, judgement(trial, annotator.judge(), decision))
        });
        judged.collect()
    }
}

type Classified<'f, 'l> = (&'f Finding, Classification, &'l Label);

fn judgement(trial: &Trial, judge: JudgeName, decision: Decision) -> Judgement {
    let (case, tool) = (trial.case.clone(), trial.tool.clone());
    Judgement { case, tool, trial: trial.number, judge, exchange: None, decision }
}

fn audit(case: &Case, trial: &Trial, classified: &[Classified<'_, '_>]) -> AuditDecision {
    let found = classified.iter().find(|(_, class, _)| *class == Classification::TargetMatch);
    let complete = classified.len() == trial.findings.len();
    // Only an annotator who labelled all findings can say that the target is missing.
    let is_judged = audit_target(case).is_some() && (found.is_some() || complete);
    let notes = classified.iter().filter_map(|(finding, _, label)| {
        let note = label.note.as_ref()?;
        Some(format!("{}: {note}", finding.id))
    });
    let notes: Vec<String> = notes.collect();
    AuditDecision {
        said_vulnerable: Some(stated_verdict(case, trial) == Verdict::Vulnerable),
        confidence_expressed: trial.confidence,
        findings: classified
            .iter()
            .map(|(finding, classification, _)| ClassifiedFinding {
                finding: finding.id.clone(),
                classification: *classification,
                matches_target: Some(*classification == Classification::TargetMatch),
                is_valid_concern: Some(classification.is_valid()),
            })
            .collect(),
        target: is_judged.then(|| TargetAssessment {
            found: found.is_some(),
            finding: found.map(|(finding, ..)| finding.id.clone()),
            type_match: None,
            rcir: None,
            ava: None,
            fsv: None,
        }),
        explanation: (!notes.is_empty()).then(|| notes.join("\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::Source;
    use karat_core::golden::Golden;
    use karat_core::ids::ToolName;

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
            label(&subject, name, LabelAnswer::Audit { classification })
        };
        let labels = [
            audit("drain", "anna", TargetMatch),
            audit("style", "anna", Hallucinated),
            audit("style", "ben", TargetMatch),
            Label { counts: false, ..audit("drain", "ben", TargetMatch) },
        ];
        let line = |(labels, judgement): &Judged<'_>| {
            let Decision::Audit(audit) = &judgement.decision else { panic!("{judgement:?}") };
            let classes = audit.findings.iter().map(|f| format!("{}={}", f.finding, f.classification.as_str()));
            let target = audit.target.as_ref().map(|t| (t.found, t.finding.as_ref().map(ToString::to_string)));
            assert_eq!((labels.len(), audit.said_vulnerable), (audit.findings.len(), Some(true)));
            let (tool, judge) = (&judgement.tool, &judgement.judge);
            format!("{tool} {judge} {} {target:?}", classes.collect::<Vec<_>>().join(" "))
        };
        let judgements: Vec<String> = label_judgements(&labels, &suite, &trials).iter().map(line).collect();
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
