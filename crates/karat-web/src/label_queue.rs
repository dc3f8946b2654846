//! The items of a run to label, computed once and shared.

use super::fault::Fault;
use karat::label::context::LabelContext;
use karat::label::session::{Item, Queue};
use karat::profile::request::ProfileRequest;
use karat::run_loader::{self, StoredRun};
use karat_store::label::LabelKind;
use karat_store::{RunInfo, Store};
use serde_json::Value;

/// All items of a run to label, of one kind.
pub(crate) struct LabelQueue {
    context: LabelContext,
    pub(super) items: Queue,
}

impl LabelQueue {
    pub(super) fn load(store: &mut Store, run: &RunInfo, kind: LabelKind) -> Result<Self, Fault> {
        let context = label_context(store, run, |loaded| loaded)?;
        let items = match kind {
            LabelKind::Pair => context.pairs(None)?,
            LabelKind::Extra => context.extras(),
            LabelKind::Audit => context.audits(),
        };
        Ok(Self { context, items })
    }

    /// The shown parts of an item: never who reported it, judgements or labels.
    pub(super) fn item_json(&self, item: &Item) -> Value {
        item.as_json(&|case, path| self.context.loaded.source(case, path))
    }

    /// Approximate size in memory, in findings.
    pub(super) fn weight(&self) -> usize {
        self.items.items().len() + self.context.trials.iter().map(|trial| 1 + trial.findings.len()).sum::<usize>()
    }
}

/// A run's trials by its own profile, compared with its suite or another version of it.
pub(super) fn label_context(
    store: &mut Store,
    run: &RunInfo,
    suite: impl FnOnce(karat::suite::LoadedSuite) -> karat::suite::LoadedSuite,
) -> Result<LabelContext, Fault> {
    let read = run_loader::run(store, run.id.as_str())?;
    let (profile, judgements) = (read.profile(&ProfileRequest::default())?, run_loader::judgements(store, run)?);
    let StoredRun { loaded, trials, .. } = read;
    let trials = trials.into_iter().map(|stored| stored.trial).collect();
    Ok(LabelContext::new(suite(loaded), trials, profile, judgements)?)
}
