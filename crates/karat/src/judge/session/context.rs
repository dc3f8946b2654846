//! What a judge works with and reports while it is asked.

use crate::failure::Failure;
use crate::suite::LoadedSuite;
use karat_core::ids::JudgeName;
use karat_core::judgement::{Decision, Judgement};
use karat_core::trial::Trial;
use karat_io::cancel::Cancel;
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

pub(in crate::judge) fn cannot_audit(judge: &JudgeName) -> String {
    let help = "name a model with --judge";
    format!("the judge {judge} decides about pairs alone, and this profile audits whole responses; {help}")
}

pub(in crate::judge) fn no_answer(judge: &JudgeName, questions: usize, why: &str) -> Failure {
    Failure::failed(format!("the judge {judge} answered none of {questions} questions, the first because {why}"))
}

/// The reason if a panel has no answer or equally many votes for both.
pub(super) const NO_DECISION: &str = "the panel came to no decision";

pub(super) fn judgement(trial: &Trial, judge: &JudgeName, exchange: Option<String>, decision: Decision) -> Judgement {
    let Trial { case, tool, number, .. } = trial;
    Judgement { case: case.clone(), tool: tool.clone(), trial: *number, judge: judge.clone(), exchange, decision }
}
