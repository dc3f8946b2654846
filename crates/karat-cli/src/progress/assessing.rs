//! An assessment as it goes.

use super::Judging;
use crate::terminal::tell;
use karat::judge::session::JudgeEvent;
use karat_core::ids::JudgeName;
use karat_documents::assess::event::AssessEvent;
use karat_format::diagnostic::harmless;

/// Tells a person on standard error how an assessment goes.
pub(crate) struct Assessing {
    quiet: bool,
    asking: Option<(String, Judging)>,
}

impl Assessing {
    pub(crate) fn new(quiet: bool) -> Self {
        Self { quiet, asking: None }
    }

    pub(crate) fn hear(&mut self, event: &AssessEvent<'_>) {
        match event {
            AssessEvent::Round { model, questions } => self.of(model).hear(&JudgeEvent::Round(*questions)),
            AssessEvent::Settled { model, call, .. } => {
                self.of(model).hear(&JudgeEvent::Settled { answered: call.failure.is_none() });
            }
            AssessEvent::Retrying { model, wait, why } => {
                self.of(model).hear(&JudgeEvent::Retrying { wait: *wait, why });
            }
            AssessEvent::ModelFailed { model, why } => {
                self.end();
                tell(&harmless(&format!("  {model} cannot be asked: {why}")));
            }
            AssessEvent::Read { .. } | AssessEvent::Searched { .. } | AssessEvent::Assessed { .. } => {}
        }
    }

    /// Takes away what is drawn.
    pub(crate) fn end(&mut self) {
        if let Some((_, judging)) = self.asking.take() {
            judging.end();
        }
    }

    /// The bar of a model; that of the one before it goes.
    fn of(&mut self, model: &str) -> &mut Judging {
        if self.asking.as_ref().is_some_and(|(name, _)| name != model) {
            self.end();
        }
        let quiet = self.quiet;
        &mut self.asking.get_or_insert_with(|| (model.to_owned(), Judging::new(&JudgeName::new(model), quiet))).1
    }
}
