//! What happens in a run, told to everyone who wants to know.

use super::record::{TrialKey, TrialRecord};
use crate::format::run::{PlanV1, ToolFactsV1};
use karat_core::ids::ToolName;
use std::error::Error;

/// Something happened.
#[derive(Debug)]
pub enum RunEvent<'a> {
    /// The run begins, or goes on with so many trials done before.
    Began {
        /// What it is going to do.
        plan: &'a PlanV1,
        /// Trials that are done already.
        done: usize,
        /// Trials that are left.
        left: usize,
    },
    /// A tool is ready for its first trial.
    ToolReady {
        /// The tool.
        tool: &'a ToolName,
        /// What was found out about it.
        facts: &'a ToolFactsV1,
    },
    /// A trial begins.
    TrialBegan(&'a TrialKey),
    /// Trials are done. The store hears of them first, so whoever hears of them after it can rely on them being kept.
    TrialsDone(&'a [TrialRecord]),
    /// The run ends.
    Ended(&'a Ending),
}

/// How a run ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Every planned trial is done.
    Complete,
    /// Somebody asked it to stop.
    Interrupted,
    /// More trials failed than were allowed.
    TooManyFailures(usize),
}

/// Somebody who is told what happens. Consumers are told one after the other; the first that fails ends the run.
pub trait Consumer {
    /// Takes notice of an event.
    fn consume(&mut self, event: &RunEvent<'_>) -> Result<(), ConsumerError>;
}

/// Why a consumer cannot go on.
pub type ConsumerError = Box<dyn Error + Send + Sync>;
