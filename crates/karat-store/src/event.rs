//! Events of a run, for the store, progress display and pages.

use super::record::{TrialKey, TrialRecord};
use super::{RunId, Store};
use karat_core::ids::ToolName;
use karat_format::run::{PlanV1, ToolFactsV1};
use std::error::Error;

/// An event of a run.
#[derive(Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub enum RunEvent<'a> {
    /// The run begins or continues; `done` trials were finished before.
    Began { plan: &'a PlanV1, done: usize, left: usize },
    /// A tool is ready for its first trial.
    ToolReady { tool: &'a ToolName, facts: &'a ToolFactsV1 },
    /// A trial begins.
    TrialBegan(&'a TrialKey),
    /// Trials are done. The store is the first consumer, so later ones can rely on these trials being stored.
    TrialsDone(&'a [TrialRecord]),
    /// The run ends.
    Ended(&'a Ending),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum Ending {
    Complete,
    Interrupted,
    TooManyFailures(usize),
}

/// A consumer of run events. Consumers are called in order; the first error ends the run.
pub trait Consumer {
    /// Handles an event.
    fn consume(&mut self, event: &RunEvent<'_>) -> Result<(), ConsumerError>;
}

/// An error of a consumer.
pub type ConsumerError = Box<dyn Error + Send + Sync>;

/// Stores the events of one run. It waits minutes for a busy store, since giving up would end the run.
pub struct Sink<'s> {
    store: &'s mut Store,
    run: RunId,
}

impl Store {
    /// A consumer that stores the events of a run.
    pub fn sink(&mut self, run: &RunId) -> Sink<'_> {
        Sink { store: self, run: run.clone() }
    }
}

impl Consumer for Sink<'_> {
    fn consume(&mut self, event: &RunEvent<'_>) -> Result<(), ConsumerError> {
        match event {
            RunEvent::ToolReady { tool, facts } => self.store.set_tool(&self.run, tool, facts)?,
            RunEvent::TrialsDone(records) => self.store.save(&self.run, records)?,
            RunEvent::Began { .. } | RunEvent::TrialBegan(_) | RunEvent::Ended(_) => {}
        }
        Ok(())
    }
}
