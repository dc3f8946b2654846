//! The store as a consumer of a run's events: told first, so that what others hear of is kept already.

use super::{RunId, Store, StoreError};
use crate::run::event::{Consumer, ConsumerError, RunEvent};

/// Keeps what happens in one run. Where another process has the store for itself, as while a large run is imported, it is
/// waited for: minutes are cheaper than a run that ends.
pub struct Sink<'s> {
    store: &'s mut Store,
    run: RunId,
}

impl Store {
    /// A consumer that keeps what happens in a run.
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
