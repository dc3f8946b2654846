//! What can be labelled of a run, made once for everybody.

use super::fault::Fault;
use karat::label::context::LabelContext;
use karat::label::session::{Item, Queue};
use karat::profile::request::ProfileRequest;
use karat::run_loader::{self, StoredRun};
use karat_store::label::LabelKind;
use karat_store::{RunInfo, Store};
use serde_json::Value;
use std::fmt;

/// Everything of a run that can be labelled, of one kind.
pub(crate) struct Sheet {
    bench: LabelContext,
    pub(super) queue: Queue,
}

impl fmt::Debug for Sheet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sheet({} {}s)", self.queue.items().len(), self.queue.kind().noun())
    }
}

impl Sheet {
    /// Everything of one kind.
    pub(super) fn of(store: &mut Store, run: &RunInfo, kind: LabelKind) -> Result<Self, Fault> {
        let bench = bench(store, run, |loaded| loaded)?;
        let queue = match kind {
            LabelKind::Pair => bench.pairs(None)?,
            LabelKind::Extra => bench.extras(),
            LabelKind::Audit => bench.audits(),
        };
        Ok(Self { bench, queue })
    }

    /// What is shown of an item: nothing of who reported it, and nothing of what anybody thinks.
    pub(super) fn shown(&self, item: &Item) -> Value {
        item.as_json(&|case, path| self.bench.loaded.source(case, path))
    }

    /// About how much memory it takes, in findings.
    pub(super) fn weight(&self) -> usize {
        self.queue.items().len() + self.bench.trials.iter().map(|trial| 1 + trial.findings.len()).sum::<usize>()
    }
}

/// A run's trials by its own rules, held against its suite or another state of it.
pub(super) fn bench(
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
