//! Asks about whole trials: one audit each.

use super::{JudgeEvent, JudgeSession, NO_DECISION, cannot_audit, judgement};
use crate::failure::{Failure, Result};
use crate::judge::registry::{Judge, JudgeKind};
use crate::judge::{audit, code_context};
use karat_core::finding::Finding;
use karat_core::judgement::{AuditDecision, ClassifiedFinding, Decision, Judgement};
use karat_core::panel::AuditField;
use karat_core::stats::agreement::Rating;
use karat_core::suite::Case;
use karat_core::trial::{Outcome, Trial};
use karat_llm::ledger::Exchange;
use karat_llm::prompt::Question;
use std::collections::HashMap;

type OpenTrial<'a> = (&'a Case, &'a Trial);

/// An audit, and the key of the exchange that it comes from.
type Audited = Option<(AuditDecision, Option<String>)>;

impl JudgeSession<'_, '_> {
    /// Audits every trial that no given judgement audits. Those given come first, then the others in the order of the trials.
    pub(super) fn audit(&mut self, trials: &[Trial], mut given: Vec<Judgement>) -> Result<Vec<Judgement>> {
        let judge = self.judge;
        // Before any model is paid.
        if let Some(name) = judge.cannot_audit() {
            return Err(Failure::failed(cannot_audit(name)));
        }
        let cases: HashMap<&str, &Case> =
            self.context.loaded.suite.cases.iter().map(|case| (case.id.as_str(), case)).collect();
        let mut by_trial: HashMap<(&str, &str, u32), Vec<&Judgement>> = HashMap::new();
        for judgement in &given {
            let key = (judgement.case.as_str(), judgement.tool.as_str(), judgement.trial);
            by_trial.entry(key).or_default().push(judgement);
        }
        let is_open = |trial: &&Trial| {
            let judgements = by_trial.get(&(trial.case.as_str(), trial.tool.as_str(), trial.number));
            trial.outcome == Outcome::Reported && !judgements.is_some_and(|judgements| is_audited(trial, judgements))
        };
        let open: Vec<OpenTrial<'_>> =
            trials.iter().filter(is_open).filter_map(|trial| Some((*cases.get(trial.case.as_str())?, trial))).collect();
        match &judge.kind {
            JudgeKind::Panel(panel) => {
                let voices = panel.members.iter().map(|member| self.audit_alone(member, &open));
                let voices = voices.collect::<Result<Vec<_>, _>>()?;
                let own = self.usage.for_judge(judge);
                own.asked += open.iter().filter(|(case, trial)| audit::by_rule(case, trial).is_none()).count();
                let unanswered = (0..open.len()).filter(|index| voices.iter().all(|voice| voice[*index].is_none()));
                unanswered.for_each(|_| own.fail(NO_DECISION));
                let verdicts = (0..open.len()).map(|index| verdicts(&voices, index));
                self.usage.set_agreement(&panel.members, Some(AuditField::SaidVulnerable), verdicts);
                // Scoring merges them, as it does when they are read from a file.
                for (member, audits) in panel.members.iter().zip(voices) {
                    given.extend(judgements(member, &open, audits));
                }
            }
            _ => {
                let audits = self.audit_alone(judge, &open)?;
                given.extend(judgements(judge, &open, audits));
            }
        }
        Ok(given)
    }

    /// The audits of a single judge; trials without a response are audited by rule.
    fn audit_alone(&mut self, judge: &Judge, open: &[OpenTrial<'_>]) -> Result<Vec<Audited>> {
        let Some(engine) = judge.engine() else {
            return Err(Failure::failed(cannot_audit(&judge.name)));
        };
        let mut audits: Vec<Audited> =
            open.iter().map(|(case, trial)| audit::by_rule(case, trial).map(|audit| (audit, None))).collect();
        let mut indices: Vec<usize> = Vec::new();
        let mut questions: Vec<Question> = Vec::new();
        for (index, (case, trial)) in open.iter().enumerate() {
            let id = format!("{}/{}/{}", trial.case, trial.tool, trial.number);
            let code = code_context::excerpts(self.context.loaded, &case.id, &case.goldens, &trial.findings);
            if let Some(question) = audit::question(id, case, trial, code.as_deref()) {
                indices.push(index);
                questions.push(question);
            }
        }
        (self.context.report)(JudgeEvent::Round(questions.len()));
        let own = self.usage.for_judge(judge);
        own.asked += questions.len();
        let mut faults: Vec<String> = Vec::new();
        let mut receive = |number: usize, exchange: &Exchange| {
            let (Some(&index), Some(answer)) = (indices.get(number), exchange.answer.value()) else { return };
            let (case, trial) = open[index];
            match audit::decision(answer, case, trial) {
                Ok(audit) => audits[index] = Some((audit, Some(exchange.key.to_string()))),
                Err(fault) => faults.push(fault),
            }
        };
        own.ask_model(engine, questions, self.context, &mut receive)?;
        faults.iter().for_each(|why| own.fail(why));
        self.usage.voices.extend(judgements(judge, open, audits.clone()));
        Ok(audits)
    }
}

/// Whether nothing about a trial is left to ask. A person may have looked at some of its findings only.
fn is_audited(trial: &Trial, judgements: &[&Judgement]) -> bool {
    let audits = judgements.iter().filter_map(|judgement| match &judgement.decision {
        Decision::Audit(audit) => Some((judgement.judge.is_human(), audit)),
        _ => None,
    });
    let (people, models): (Vec<_>, Vec<_>) = audits.partition(|(human, _)| *human);
    let is_classified = |finding: &Finding| {
        let classified = |found: &ClassifiedFinding| found.finding == finding.id && found.classification.is_some();
        people.iter().any(|(_, audit)| audit.findings.iter().any(classified))
    };
    !models.is_empty() || !people.is_empty() && trial.findings.iter().all(is_classified)
}

fn judgements(judge: &Judge, open: &[OpenTrial<'_>], audits: Vec<Audited>) -> impl Iterator<Item = Judgement> {
    open.iter().zip(audits).filter_map(move |((_, trial), audited)| {
        let (audit, exchange) = audited?;
        Some(judgement(trial, &judge.name, exchange, Decision::Audit(audit)))
    })
}

fn verdicts(voices: &[Vec<Audited>], index: usize) -> Vec<Rating> {
    let ratings = voices.iter().enumerate().filter_map(|(rater, voice)| {
        let (audit, _) = voice[index].as_ref()?;
        let verdict = audit.said_vulnerable?.value();
        Some(Rating { rater, category: verdict.map_or(0, |vulnerable| 1 + usize::from(vulnerable)) })
    });
    ratings.collect()
}
