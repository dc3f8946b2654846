//! Runs that somebody follows, so that each look counts only what is new.

use super::tally::Tally;
use karat_store::RunId;
use std::sync::{Arc, Mutex, PoisonError};

/// What is known of runs that somebody follows, the latest followed at the end.
#[derive(Debug, Default)]
pub(super) struct Followed(Mutex<Vec<(RunId, Counted)>>);

/// What was counted so far; nothing before the first look.
type Counted = Arc<Mutex<Option<Tally>>>;

/// So many runs are followed at once; others are counted from their beginning.
const MOST: usize = 16;

impl Followed {
    /// What was counted of a run.
    pub(super) fn tally(&self, run: &RunId) -> Counted {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (id, tally) = match all.iter().position(|(id, _)| id == run) {
            Some(at) => all.remove(at),
            None => (run.clone(), Arc::default()),
        };
        let own = Arc::clone(&tally);
        all.push((id, tally));
        let over = all.len().saturating_sub(MOST);
        all.drain(..over);
        own
    }
}
