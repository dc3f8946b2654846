//! Asking about whole trials: one audit each.

use super::members::exchange;
use super::panel::{DIVIDED, agreement};
use super::usage::UsageTable;
use super::{AskError, JudgeContext, JudgeEvent};
use crate::judge::audit;
use crate::judge::code_context;
use crate::judge::registry::{Judge, Kind};
use karat_core::finding::Finding;
use karat_core::ids::JudgeName;
use karat_core::judgement::{AuditDecision, Decision, Judgement};
use karat_core::panel;
use karat_core::stats::agreement::Rating;
use karat_core::suite::Case;
use karat_core::trial::{Outcome, Trial};
use karat_llm::engine::Engine;
use karat_llm::ledger::Exchange;
use karat_llm::prompt::Question;
use std::collections::HashMap;

/// A trial that is to be audited.
struct Open<'a> {
    case: &'a Case,
    trial: &'a Trial,
}

/// Audits every trial that no given judgement audits. Those given come first, then the others in the order of the trials.
pub(super) fn ask(
    judge: &Judge,
    trials: &[Trial],
    given: Vec<Judgement>,
    context: &mut JudgeContext<'_>,
    usage_table: &mut UsageTable,
) -> Result<Vec<Judgement>, AskError> {
    // Before anybody is asked in vain.
    if let Some(name) = judge.cannot_audit() {
        return Err(AskError::CannotAudit { judge: name.to_string() });
    }
    let cases: HashMap<&str, &Case> = context.loaded.suite.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let mut done: HashMap<(&str, &str, u32), Vec<&Judgement>> = HashMap::new();
    for judgement in &given {
        let about = (judgement.case.as_str(), judgement.tool.as_str(), judgement.trial);
        done.entry(about).or_default().push(judgement);
    }
    let is_done = |trial: &&Trial| {
        let heard = done.get(&(trial.case.as_str(), trial.tool.as_str(), trial.number));
        heard.is_some_and(|heard| is_audited(trial, heard))
    };
    let open: Vec<Open<'_>> = trials
        .iter()
        .filter(|trial| trial.outcome == Outcome::Reported)
        .filter(|trial| !is_done(trial))
        .filter_map(|trial| Some(Open { case: cases.get(trial.case.as_str())?, trial }))
        .collect();
    let decided = match &judge.kind {
        Kind::Panel(panel) => {
            let mut voices = Vec::new();
            for member in &panel.members {
                voices.push(one(member, &open, context, usage_table)?);
            }
            let decided = together(&voices, open.len());
            let silent = |open: &Open<'_>| audit::by_rule(open.case, open.trial).is_some();
            let page = usage_table.page(judge);
            page.asked += open.iter().filter(|open| !silent(open)).count();
            decided.iter().filter(|audit| audit.is_none()).for_each(|_| page.fail(DIVIDED));
            usage_table.agree(verdicts(&panel.members, &voices));
            decided
        }
        _ => one(judge, &open, context, usage_table)?,
    };
    let made = open.iter().zip(decided).filter_map(|(open, audit)| Some(judgement(open, &judge.name, audit?)));
    let made: Vec<Judgement> = made.collect();
    Ok(given.into_iter().chain(made).collect())
}

/// Whether nothing of a trial is left to ask about. A person may have looked at some of its findings only.
fn is_audited(trial: &Trial, heard: &[&Judgement]) -> bool {
    let audits = heard.iter().filter_map(|judgement| match &judgement.decision {
        Decision::Audit(audit) => Some((judgement.judge.is_human(), audit)),
        _ => None,
    });
    let (people, models): (Vec<_>, Vec<_>) = audits.partition(|(human, _)| *human);
    let spoken_of = |finding: &Finding| {
        people.iter().any(|(_, audit)| audit.findings.iter().any(|found| found.finding == finding.id))
    };
    !models.is_empty() || !people.is_empty() && trial.findings.iter().all(spoken_of)
}

/// An audit, and the key of the exchange that it comes from.
type Audited = Option<(AuditDecision, Option<String>)>;

/// What one judge makes of each trial.
fn one(
    judge: &Judge,
    open: &[Open<'_>],
    context: &mut JudgeContext<'_>,
    usage_table: &mut UsageTable,
) -> Result<Vec<Audited>, AskError> {
    let Kind::Model(engine) = &judge.kind else {
        return Err(AskError::CannotAudit { judge: judge.name.to_string() });
    };
    let mut audits: Vec<Audited> =
        open.iter().map(|open| audit::by_rule(open.case, open.trial).map(|audit| (audit, None))).collect();
    let asked: Vec<(usize, Question)> =
        open.iter().enumerate().filter_map(|(index, open)| Some((index, question(open, context)?))).collect();
    (context.tell)(JudgeEvent::Round(asked.len()));
    usage_table.page(judge).asked += asked.len();
    by_model(engine, judge, open, asked, context, usage_table, &mut audits)?;
    let made = open.iter().zip(&audits).filter_map(|(open, audit)| Some(judgement(open, &judge.name, audit.clone()?)));
    usage_table.keep(&made.collect::<Vec<_>>());
    Ok(audits)
}

fn by_model(
    engine: &Engine,
    judge: &Judge,
    open: &[Open<'_>],
    asked: Vec<(usize, Question)>,
    context: &mut JudgeContext<'_>,
    usage_table: &mut UsageTable,
    audits: &mut [Audited],
) -> Result<(), AskError> {
    let (places, questions): (Vec<usize>, Vec<Question>) = asked.into_iter().unzip();
    let mut unfit: Vec<String> = Vec::new();
    let mut hear = |index: usize, exchange: &Exchange| {
        let (Some(&place), Some(answer)) = (places.get(index), exchange.decision()) else { return };
        let (Some(open), Some(slot)) = (open.get(place), audits.get_mut(place)) else { return };
        match audit::decision(answer, open.case, open.trial) {
            Ok(audit) => *slot = Some((audit, Some(exchange.key.to_string()))),
            Err(fault) => unfit.push(fault.to_string()),
        }
    };
    exchange(engine, questions, context, usage_table.page(judge), &mut hear)?;
    unfit.iter().for_each(|why| usage_table.page(judge).fail(why));
    Ok(())
}

/// The question about a trial, with the code around the target.
fn question(open: &Open<'_>, context: &JudgeContext<'_>) -> Option<Question> {
    let trial = open.trial;
    let id = format!("{}/{}/{}", trial.case, trial.tool, trial.number);
    let code = code_context::of_case(context.loaded, open.case, &trial.findings);
    audit::question(id, open.case, trial, code.as_deref())
}

/// What several audits of each trial come to.
fn together(voices: &[Vec<Audited>], trials: usize) -> Vec<Audited> {
    let of_trial = |index: usize| {
        let heard: Vec<&AuditDecision> =
            voices.iter().filter_map(|voice| voice.get(index)?.as_ref().map(|(audit, _)| audit)).collect();
        panel::settle_audits(&heard).map(|consensus| (consensus.decision, None))
    };
    (0..trials).map(of_trial).collect()
}

/// How far judges agree about the verdict.
fn verdicts(members: &[Judge], voices: &[Vec<Audited>]) -> karat_format::report::AgreementV1 {
    let trials = voices.iter().map(Vec::len).max().unwrap_or(0);
    let item = |index: usize| -> Vec<Rating> {
        let said = voices.iter().enumerate().filter_map(|(rater, voice)| {
            let (audit, _) = voice.get(index)?.as_ref()?;
            let category = match audit.said_vulnerable {
                None => 0,
                Some(false) => 1,
                Some(true) => 2,
            };
            Some(Rating { rater, category })
        });
        said.collect()
    };
    agreement(members.iter().map(|member| member.name.to_string()).collect(), (0..trials).map(item).collect())
}

fn judgement(open: &Open<'_>, judge: &JudgeName, (audit, exchange): (AuditDecision, Option<String>)) -> Judgement {
    Judgement {
        case: open.trial.case.clone(),
        tool: open.trial.tool.clone(),
        trial: open.trial.number,
        judge: judge.clone(),
        exchange,
        decision: Decision::Audit(audit),
    }
}
