//! Does independent pieces of work, several at once, until one fails or the user stops.

use crate::failure::{Failure, Result};
use karat_io::cancel::Cancel;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Calls `work` with each of these numbers, `jobs` at once; by default as many as there are processors. `None` says that it was
/// cancelled. Returns what was done, and the first failure; after that one, nothing new is begun.
pub(crate) fn run_parallel<T: Send>(
    open: &[usize],
    jobs: Option<usize>,
    cancel: &Cancel,
    work: &(dyn Fn(usize) -> Result<Option<T>> + Sync),
) -> (BTreeMap<usize, T>, Option<Failure>) {
    let next = AtomicUsize::new(0);
    let done = Mutex::new((BTreeMap::new(), None));
    let work_on = || {
        while !cancel.is_cancelled() {
            let Some(number) = open.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
            let result = work(*number);
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            match result {
                Ok(Some(result)) => {
                    done.0.insert(*number, result);
                }
                Ok(None) => break,
                Err(failure) => {
                    // The others end with what they are doing.
                    next.store(open.len(), Ordering::Relaxed);
                    done.1.get_or_insert(failure);
                }
            }
        }
    };
    let jobs = jobs.or_else(|| std::thread::available_parallelism().ok().map(usize::from)).unwrap_or(1);
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, open.len().max(1)) {
            scope.spawn(work_on);
        }
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner)
}
