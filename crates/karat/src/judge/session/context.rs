//! What a judge works with and reports while it is asked.

use crate::suite::LoadedSuite;
use karat_core::ids::JudgeName;
use karat_core::judgement::{Decision, Judgement};
use karat_core::trial::Trial;
use karat_io::cancel::Cancel;
use karat_llm::engine::EngineError;
use karat_llm::ledger::Ledger;
use std::time::Duration;

/// What a judge needs to answer.
pub struct JudgeContext<'a> {
    pub(in crate::judge) loaded: &'a LoadedSuite,
    pub(in crate::judge) ledger: &'a mut dyn Ledger,
    pub(in crate::judge) labels: &'a [Judgement],
    pub(in crate::judge) cancel: &'a Cancel,
    pub(in crate::judge) report: &'a mut dyn FnMut(JudgeEvent<'_>),
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
    Retrying { wait: Duration, why: &'a str },
}

/// Why asking ended early.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum AskError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("stopped: what was answered is kept in the ledger, and the same command goes on from there")]
    Stopped,
    #[error("the judge {judge} answered none of {questions} questions, the first because {why}")]
    NoAnswer { judge: String, questions: usize, why: String },
    #[error(
        "the judge {judge} decides about pairs alone, and this profile audits whole responses; name a model with --judge"
    )]
    CannotAudit { judge: String },
}

/// The reason if a panel has no answer or equally many votes for both.
pub(super) const NO_DECISION: &str = "the panel came to no decision";

pub(super) fn judgement(trial: &Trial, judge: &JudgeName, exchange: Option<String>, decision: Decision) -> Judgement {
    let Trial { case, tool, number, .. } = trial;
    Judgement { case: case.clone(), tool: tool.clone(), trial: *number, judge: judge.clone(), exchange, decision }
}
