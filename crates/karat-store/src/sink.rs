//! The store as a consumer of run events.

use super::{RunId, Store, StoreError};
use crate::event::{Consumer, ConsumerError, RunEvent};

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
        let kept: Result<(), StoreError> = match event {
            RunEvent::ToolReady { tool, facts } => self.store.set_tool(&self.run, tool, facts),
            RunEvent::TrialsDone(records) => self.store.save(&self.run, records),
            RunEvent::Began { .. } | RunEvent::TrialBegan(_) | RunEvent::Ended(_) => Ok(()),
        };
        Ok(kept?)
    }
}
