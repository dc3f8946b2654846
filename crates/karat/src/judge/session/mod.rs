//! Asks a judge about many trials, and counts what that took.

mod audits;
mod pairs;
mod usage;

pub use usage::SessionResult;

use super::registry::{Judge, JudgeKind};
use crate::failure::{Failure, Result};
use crate::suite::LoadedSuite;
use karat_core::ids::JudgeName;
use karat_core::judgement::{Decision, Judgement};
use karat_core::local_judge::LocalJudge;
use karat_core::profile::{Method, Profile};
use karat_core::scorecard::{CaseContext, PairQuestion, run_judge_rounds_in};
use karat_core::trial::Trial;
use karat_io::cancel::Cancel;
use karat_llm::engine::Retry;
use karat_llm::ledger::Ledger;
use pairs::{PanelAnswer, PanelVotes, answer_locally};
use std::collections::BTreeSet;
use std::convert::Infallible;
use usage::UsageTable;

/// What a judge needs to answer.
pub struct JudgeContext<'a> {
    pub(super) loaded: &'a LoadedSuite,
    pub(super) ledger: &'a mut dyn Ledger,
    pub(super) labels: &'a [Judgement],
    pub(super) cancel: &'a Cancel,
    pub(super) report: &'a mut dyn FnMut(JudgeEvent<'_>),
}

/// Progress of a judge.
#[derive(Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub enum JudgeEvent<'a> {
    /// The number of further questions.
    Round(usize),
    /// A question is done, with or without a decision.
    Settled { answered: bool },
    /// A request failed and is repeated.
    Retrying(&'a Retry),
}

pub(super) fn cannot_audit(judge: &JudgeName) -> String {
    let help = "name a model with --judge";
    format!("the judge {judge} decides about pairs alone, and this profile audits whole responses; {help}")
}

pub(super) fn no_answer(judge: &JudgeName, questions: usize, why: &str) -> Failure {
    Failure::failed(format!("the judge {judge} answered none of {questions} questions, the first because {why}"))
}

/// The reason if a panel has no answer or equally many votes for both.
const NO_DECISION: &str = "the panel came to no decision";

fn judgement(trial: &Trial, judge: &JudgeName, exchange: Option<String>, decision: Decision) -> Judgement {
    let Trial { case, tool, number, .. } = trial;
    Judgement { case: case.clone(), tool: tool.clone(), trial: *number, judge: judge.clone(), exchange, decision }
}

/// Asks a judge what the profile needs: about every pair that can still change the assignment of a trial, or about every trial
/// as a whole. What the given judgements decide is not asked about.
pub(super) fn ask(
    judge: &Judge,
    trials: &[Trial],
    given: Vec<Judgement>,
    profile: &Profile,
    context: &mut JudgeContext<'_>,
) -> Result<SessionResult> {
    let mut session = JudgeSession::new(judge, context);
    let (mut judgements, saved) = match profile.method {
        Method::Audit => (session.audit(trials, given)?, 0),
        _ => session.ask_pairs(trials, &given, profile)?,
    };
    session.usage.require_answers(judge)?;
    add_extra_labels(&mut judgements, session.context.labels);
    Ok(SessionResult { judgements, ..session.usage.finish(judge, saved) })
}

impl JudgeContext<'_> {
    /// Asks a judge about exactly these pairs. There is a judgement for each of them.
    pub(crate) fn ask_about(&mut self, judge: &Judge, questions: &[PairQuestion<'_>]) -> Result<SessionResult> {
        let mut session = JudgeSession::new(judge, self);
        let judgements = session.answer(questions, PanelAnswer::Decision)?;
        Ok(SessionResult { judgements, ..session.usage.finish(judge, 0) })
    }
}

/// Asks a judge about the trials of some cases after the other. Only for judges whose answer about a trial depends on nothing but
/// the trial and its case.
pub(crate) struct CaseSession<'a> {
    judge: &'a Judge,
    local: &'a LocalJudge,
    usage: UsageTable,
    saved: usize,
}

impl<'a> CaseSession<'a> {
    /// A session with the judge; `None` if it must see all trials at once.
    pub(crate) fn new(judge: &'a Judge, profile: &Profile) -> Option<Self> {
        match &judge.kind {
            JudgeKind::Local(local) if profile.method != Method::Audit => {
                Some(Self { judge, local, usage: UsageTable::default(), saved: 0 })
            }
            _ => None,
        }
    }

    /// All judgements of the trials of these cases: those given, then those made.
    pub(crate) fn ask(&mut self, cases: CaseContext<'_>, trials: &[Trial], given: Vec<Judgement>) -> Vec<Judgement> {
        let usage = self.usage.for_judge(self.judge);
        let mut answer = |questions: &[PairQuestion<'_>]| {
            usage.asked += questions.len();
            Ok::<_, Infallible>(answer_locally(self.local, &self.judge.name, questions))
        };
        match run_judge_rounds_in(cases, trials, given, &self.judge.name, &mut answer) {
            Ok(rounds) => {
                self.saved += rounds.saved;
                rounds.judgements
            }
            Err(never) => match never {},
        }
    }

    /// The figures of the judge, without judgements.
    pub(crate) fn finish(self) -> SessionResult {
        self.usage.finish(self.judge, self.saved)
    }
}

struct JudgeSession<'a, 'c> {
    judge: &'a Judge,
    context: &'a mut JudgeContext<'c>,
    usage: UsageTable,
    votes: PanelVotes,
}

impl<'a, 'c> JudgeSession<'a, 'c> {
    fn new(judge: &'a Judge, context: &'a mut JudgeContext<'c>) -> Self {
        Self { judge, context, usage: UsageTable::default(), votes: PanelVotes::default() }
    }
}

/// Adds people's labels of extras, which no judge is asked about, unless the same judgement was given.
fn add_extra_labels(judgements: &mut Vec<Judgement>, labels: &[Judgement]) {
    let key = |judgement: &Judgement| match &judgement.decision {
        Decision::Extra(extra) => {
            let Judgement { case, tool, trial, judge, .. } = judgement;
            Some((case.clone(), tool.clone(), *trial, judge.clone(), extra.finding.clone()))
        }
        _ => None,
    };
    let given: BTreeSet<_> = judgements.iter().filter_map(key).collect();
    judgements.extend(labels.iter().filter(|label| key(label).is_some_and(|key| !given.contains(&key))).cloned());
}
