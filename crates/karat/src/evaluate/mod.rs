//! Evaluates tools: plans a run, executes its trials in the sandbox, stores them, has them judged and scores them.
//!
//! [`evaluate`] does all of it. A front end that shows the plan first calls [`prepare`] and then [`execute`]. [`watch`]
//! evaluates again what a changed file touches. [`try_tool`] executes one trial and stores nothing.

pub(crate) mod evaluated;
pub(crate) mod observer;
mod on_server;
pub(crate) mod prepare;
pub(crate) mod request;
pub(crate) mod run_and_score;
mod try_tool;
mod watch;
mod watched_files;

pub use evaluated::{EvaluateError, Evaluated, FirstFailure};
pub use observer::{EvaluateObserver, Phase, Quiet};
pub use prepare::{Prepared, prepare};
pub use request::EvaluateRequest;
pub use try_tool::{Tried, try_tool};
pub use watch::{Round, RoundStart, WatchObserver, watch};

use crate::failure::Result;
use on_server::execute_on_server;
use run_and_score::execute_here;

/// Executes the trials that are left, stores each as soon as it is done, and scores the run when all are done.
pub fn execute(
    request: &EvaluateRequest,
    prepared: Prepared,
    observer: &mut dyn EvaluateObserver,
) -> Result<Evaluated, EvaluateError> {
    match request.store.as_server() {
        Some(_) => execute_on_server(request, prepared, observer),
        None => execute_here(request, prepared, observer),
    }
}

/// Plans or resumes a run, executes its trials, stores them and scores them.
pub fn evaluate(request: &EvaluateRequest, observer: &mut dyn EvaluateObserver) -> Result<Evaluated, EvaluateError> {
    execute(request, prepare(request, observer)?, observer)
}
