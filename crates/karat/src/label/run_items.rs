//! A stored run for labelling: its items, and the extras that people confirmed.

use super::context::LabelContext;
use super::session::{Item, Queue};
use crate::failure::Result;
use crate::profile::ProfileRequest;
use crate::run_loader::{self, StoredRun};
use crate::suite::adopt::{Proposals, proposals};
use crate::suite::{LoadedSuite, load};
use karat_format::shipped_suites::locate;
use karat_io::files::Files;
use karat_store::label::LabelKind;
use karat_store::{RunInfo, Store};
use serde_json::Value;
use std::path::PathBuf;

/// All items of a run to label, of one kind.
#[expect(missing_docs, reason = "field names say it")]
pub struct RunItems {
    pub queue: Queue,
    context: LabelContext,
}

impl RunItems {
    /// Loads the items of a run. Labels do not change them.
    pub fn load(store: &mut Store, run: &RunInfo, kind: LabelKind) -> Result<Self> {
        let context = context(store, run, |loaded| loaded)?;
        let queue = match kind {
            LabelKind::Pair => context.pairs(None)?,
            LabelKind::Extra => context.extras(1),
            LabelKind::Audit => context.audits(),
        };
        Ok(Self { queue, context })
    }

    /// The shown parts of an item: never who reported it, judgements or labels.
    pub fn item_json(&self, item: &Item) -> Value {
        item.as_json(&|case, path| self.context.loaded.source(case, path))
    }

    /// How much memory they take, in items, trials and findings.
    pub fn weight(&self) -> usize {
        self.queue.items().len() + self.context.trials.iter().map(|trial| 1 + trial.findings.len()).sum::<usize>()
    }
}

/// A run's trials, compared with its suite as it is now.
pub struct ConfirmedExtras {
    context: LabelContext,
    /// The suite's folder, or why it cannot be changed.
    pub root: Result<PathBuf, &'static str>,
}

impl ConfirmedExtras {
    /// Loads a run and its suite.
    pub fn load(store: &mut Store, run: &RunInfo) -> Result<Self> {
        let place = store.plan(&run.id)?.suite.place;
        let mut root = Err("The suite's folder is missing or has moved since the run, so nothing can be added to it.");
        let context = context(store, run, |remembered| {
            let Ok(now) = load(locate(&place)) else { return remembered };
            root = match &now.files {
                Files::Disk(root) => Ok(root.clone()),
                Files::Embedded(..) => Err("A built-in suite is read-only; copy it first."),
            };
            now
        })?;
        Ok(Self { context, root })
    }

    /// The suite as it is now, or as the run remembers it.
    pub fn suite(&self) -> &LoadedSuite {
        &self.context.loaded
    }

    /// The goldens that the suite should have, by the labels in the store.
    pub fn proposals(&self, store: &mut Store) -> Result<Proposals<'_>> {
        let scorecard = self.context.with_extras(&store.labels()?);
        Ok(proposals(&self.context.loaded, &self.context.trials, &scorecard, &self.context.profile))
    }
}

/// A run's trials by its own profile, compared with its suite or another version of it.
fn context(store: &mut Store, run: &RunInfo, suite: impl FnOnce(LoadedSuite) -> LoadedSuite) -> Result<LabelContext> {
    let read = run_loader::run(store, run.id.as_str())?;
    let (profile, judgements) = (read.profile(&ProfileRequest::default())?, run_loader::judgements(store, run)?);
    let StoredRun { loaded, trials, .. } = read;
    let trials = trials.into_iter().map(|stored| stored.trial).collect();
    LabelContext::new(suite(loaded), trials, profile, judgements)
}
