//! Events of a run, for the store, progress display and pages.

use super::record::{TrialKey, TrialRecord};
use super::{RunId, Store, StoreError};
use karat_core::ids::ToolName;
use karat_format::run::{PlanV1, ToolFactsV1};
use karat_llm::engine::Retry;

/// An event of a run.
#[derive(Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub enum RunEvent<'a> {
    /// The run begins or continues; `done` trials were finished before.
    Began { plan: &'a PlanV1, done: usize, left: usize },
    /// A tool is ready for its first trial.
    ToolReady { tool: &'a ToolName, facts: &'a ToolFactsV1 },
    /// A trial met an outage and is tried again, or a request of its model is, after a wait.
    Retrying { trial: &'a TrialKey, retry: &'a Retry },
    /// Trials are done, and stored before anything else learns of it.
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
    TooManyFailures,
}

impl Store {
    /// Stores an event of a run. It waits minutes for a busy store, since giving up would end the run.
    pub fn store_event(&mut self, run: &RunId, event: &RunEvent<'_>) -> Result<(), StoreError> {
        match event {
            RunEvent::ToolReady { tool, facts } => self.set_tool(run, tool, facts),
            RunEvent::TrialsDone(records) => self.save(run, records),
            RunEvent::Began { .. } | RunEvent::Retrying { .. } | RunEvent::Ended(_) => Ok(()),
        }
    }
}
