//! Progress of an assessment.

use super::Judging;
use crate::terminal::tell;
use karat::judge::session::JudgeEvent;
use karat_core::ids::JudgeName;
use karat_documents::assess::event::AssessEvent;
use karat_format::diagnostic::harmless;

/// Shows the progress of an assessment on standard error.
pub(crate) struct Assessing {
    quiet: bool,
    asking: Option<(String, Judging)>,
}

impl Assessing {
    pub(crate) fn new(quiet: bool) -> Self {
        Self { quiet, asking: None }
    }

    pub(crate) fn on_event(&mut self, event: &AssessEvent<'_>) {
        match event {
            AssessEvent::Round { model, questions } => {
                self.progress_for(model).on_event(&JudgeEvent::Round(*questions))
            }
            AssessEvent::Settled { model, call, .. } => {
                self.progress_for(model).on_event(&JudgeEvent::Settled { answered: call.failure.is_none() });
            }
            AssessEvent::Retrying { model, wait, why } => {
                self.progress_for(model).on_event(&JudgeEvent::Retrying { wait: *wait, why });
            }
            AssessEvent::ModelFailed { model, why } => {
                self.end();
                tell(&harmless(&format!("  {model} is unavailable: {why}")));
            }
            AssessEvent::Read { .. } | AssessEvent::Searched { .. } | AssessEvent::Assessed { .. } => {}
        }
    }

    /// Removes the bar.
    pub(crate) fn end(&mut self) {
        if let Some((_, judging)) = self.asking.take() {
            judging.end();
        }
    }

    /// The bar of a model; replaces the bar of the previous model.
    fn progress_for(&mut self, model: &str) -> &mut Judging {
        if self.asking.as_ref().is_some_and(|(name, _)| name != model) {
            self.end();
        }
        let quiet = self.quiet;
        &mut self.asking.get_or_insert_with(|| (model.to_owned(), Judging::new(&JudgeName::new(model), quiet))).1
    }
}
