//! Observes an evaluation.

use crate::failure::Result;
use crate::judge::run::{JudgeObserver, NoObserver};
use crate::tool::grants::Request as GrantRequest;
use karat_io::cancel::Cancel;
use karat_store::event::RunEvent;

/// A phase of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// A judge is asked, which may cost money; it is stopped by its [`JudgeObserver`].
    Judging,
    /// Every trial and every answer is stored, and repeating the rest costs nothing.
    Scoring,
}

/// Observes an evaluation, and is asked what only the user can decide. By default it shows, allows and cancels nothing.
pub trait EvaluateObserver {
    /// Something that a person should know.
    fn note(&mut self, _text: &str) {}

    /// Information that needs no action.
    fn inform(&mut self, _text: &str) {}

    /// A tool is being set up, which may take a while.
    fn setting_up(&mut self, _tool: &str) {}

    /// Whether a tool of the suite may have what it asks for; `None` if nobody can be asked.
    fn consent(&mut self, _request: &GrantRequest) -> Result<Option<bool>> {
        Ok(None)
    }

    /// What cancels the execution of trials.
    fn cancel(&mut self) -> Result<Cancel> {
        Ok(Cancel::default())
    }

    /// Something happened in the run, and is stored.
    fn run_event(&mut self, _event: &RunEvent<'_>) {}

    /// Another phase begins.
    fn phase(&mut self, _phase: Phase) {}

    /// Observes the judge.
    fn judge(&mut self) -> &mut dyn JudgeObserver;
}

/// The default observer.
#[derive(Default)]
pub struct Quiet(NoObserver);

impl EvaluateObserver for Quiet {
    fn judge(&mut self) -> &mut dyn JudgeObserver {
        &mut self.0
    }
}
