//! Progress of an assessment.

use super::Judging;
use crate::exit::Failure;
use crate::signals::cancel_on_signals;
use crate::terminal::{note, notes, tell};
use karat::assess::{AssessObserver, DocumentsLoaded};
use karat::judge::session::JudgeEvent;
use karat_core::ids::JudgeName;
use karat_core::wording::count;
use karat_documents::assess::event::AssessEvent;
use karat_format::diagnostic::harmless;
use karat_io::cancel::Cancel;

/// Shows the progress of an assessment on standard error.
pub(crate) struct AssessProgress {
    quiet: bool,
    asking: Option<(String, Judging)>,
}

impl AssessObserver for AssessProgress {
    fn note(&mut self, text: &str) {
        note(text);
    }

    fn documents_loaded(&mut self, loaded: &DocumentsLoaded) {
        if self.quiet {
            return;
        }
        if let Some(session) = &loaded.session {
            let (old, new) = (loaded.reused, count(loaded.cached, "document"));
            tell(&format!("session {session}: {old} from the cache, {new} read and cached"));
        }
        notes(&loaded.notes);
    }

    fn cancel(&mut self) -> Result<Cancel, Failure> {
        cancel_on_signals()
    }

    fn event(&mut self, event: &AssessEvent<'_>) {
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
}

impl AssessProgress {
    pub(crate) fn new(quiet: bool) -> Self {
        Self { quiet, asking: None }
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
