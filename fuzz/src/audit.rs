//! Answers of judges to audits: read with patience, and then taken by every rule or not at all.

use super::records::judgements_survive;
use karat::judge::audit::{LEVELS, decision, question};
use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::ids::JudgeName;
use karat_core::judgement::{AuditDecision, Classification, Decision, Expressed, Judgement};
use karat_core::panel::{self, AuditVote, AuditVotes};
use karat_core::suite::{Case, Verdict};
use karat_core::trial::Trial;
use karat_llm::answer;

/// An answer that is taken follows the rubric and survives being written; reading what was read changes nothing. The first
/// byte chooses a vulnerable or a safe case, and listed findings or free text.
pub fn check(bytes: &[u8]) {
    let Some((choice, bytes)) = bytes.split_first() else { return };
    let (case, trial) = scene(*choice);
    let Some(question) = question("q", &case, &trial, None) else { panic!("there is something to ask") };
    let (schema, form) = (question.prompt().schema, question.form);
    let text = String::from_utf8_lossy(bytes);
    if let Ok(raw) = serde_json::from_str(&text) {
        // Also what no schema has seen is refused in words.
        let _ = decision(&raw, &case, &trial).map_err(|fault| fault.to_string());
    }
    let Ok(answer) = answer::parse_text(&text, &schema) else { return };
    assert_eq!(answer::parse_text(&answer.to_string(), &schema), Ok(answer.clone()));
    let taken = decision(&answer, &case, &trial);
    let checked = form.map(|form| form.check.check(&answer));
    assert_eq!(checked, Some(taken.as_ref().map(drop).map_err(ToString::to_string)));
    if let Ok(audit) = taken {
        follows(&audit, &case, &trial);
        let judge = JudgeName::new("j");
        let vote = AuditVote { judge: &judge, decision: &audit };
        let alone = panel::merge_audits(&AuditVotes { audits: vec![vote, vote], ..AuditVotes::default() });
        assert_eq!(alone.map(|merged| merged.decision), Some(audit.clone()));
        let (case, tool) = (trial.case, trial.tool);
        judgements_survive(&[Judgement {
            case,
            tool,
            trial: 1,
            judge,
            exchange: None,
            decision: Decision::Audit(audit),
        }]);
    }
}

fn follows(audit: &AuditDecision, case: &Case, trial: &Trial) {
    let names: Vec<&str> = audit.findings.iter().map(|found| found.finding.as_str()).collect();
    match trial.findings.is_empty() {
        true => assert!(audit.findings.iter().all(|found| found.finding.is_claim())),
        false => assert_eq!(names, trial.findings.iter().map(|finding| finding.id.as_str()).collect::<Vec<_>>()),
    }
    assert!(audit.confidence_expressed.and_then(Expressed::value).is_none_or(|share| (0.0..=1.0).contains(&share)));
    assert_eq!(audit.target.is_some(), case.verdict == Verdict::Vulnerable);
    let Some(target) = &audit.target else { return };
    let found = target.found == Some(true);
    for score in [target.rcir, target.ava, target.fsv] {
        assert!(score.map_or(!found, |score| found && LEVELS.contains(&score)));
    }
    let named = target.finding.as_ref().and_then(|id| audit.findings.iter().find(|found| found.finding == *id));
    let class = named.and_then(|named| named.classification);
    assert_eq!(class.is_some_and(Classification::is_about_target), found);
}

fn scene(choice: u8) -> (Case, Trial) {
    let verdict = if choice & 1 == 0 { Verdict::Vulnerable } else { Verdict::Safe };
    let golden = Golden { title: Some("Reentrancy".into()), target: true, ..Golden::new("g") };
    let goldens = if verdict == Verdict::Vulnerable { vec![golden] } else { Vec::new() };
    let mut trial = Trial::reported("c".into(), "t".into(), 1);
    if choice & 2 == 0 {
        trial.findings = ["one", "two"].map(Finding::new).into();
    } else {
        trial.response = Some("The balance is set\n after the call. The fallback may withdraw again. é".into());
    }
    (Case { verdict, goldens, ..Case::new("c") }, trial)
}
