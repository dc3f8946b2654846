//! What a worker leaves to others for a while, since it could not do it.

use karat_core::ids::ToolName;
use karat_store::RunId;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// After this long it is tried again: a full disk may have been cleared, and a program installed.
const PAUSE: Duration = Duration::from_secs(60);

#[derive(Default)]
pub(super) struct LeftOut {
    tools: BTreeMap<(RunId, ToolName), Instant>,
    runs: BTreeMap<RunId, Instant>,
    /// Runs whose judge cannot be asked here.
    judges: BTreeMap<RunId, Instant>,
    /// Tools that were not prepared for the present work on their run, since none of their trials was left.
    idle: BTreeSet<(RunId, ToolName)>,
}

impl LeftOut {
    pub(super) fn add_tool(&mut self, run: &RunId, tool: ToolName) {
        self.tools.insert((run.clone(), tool), Instant::now());
    }

    pub(super) fn add_run(&mut self, run: &RunId) {
        self.runs.insert(run.clone(), Instant::now());
    }

    pub(super) fn add_judge(&mut self, run: &RunId) {
        self.judges.insert(run.clone(), Instant::now());
    }

    pub(super) fn add_idle(&mut self, run: &RunId, tool: ToolName) {
        self.idle.insert((run.clone(), tool));
    }

    pub(super) fn has_tool(&self, run: &RunId, tool: &ToolName) -> bool {
        self.tools.contains_key(&(run.clone(), tool.clone()))
    }

    /// Forgets what was left out long enough. Not while a run is worked on: its tools were prepared without these.
    pub(super) fn forget_old(&mut self) {
        let is_new = |since: &Instant| since.elapsed() < PAUSE;
        self.tools.retain(|_, since| is_new(since));
        self.runs.retain(|_, since| is_new(since));
        self.judges.retain(|_, since| is_new(since));
        self.idle.clear();
    }

    pub(super) fn tools(&self) -> BTreeSet<(RunId, ToolName)> {
        self.tools.keys().chain(&self.idle).cloned().collect()
    }

    pub(super) fn runs(&self) -> BTreeSet<RunId> {
        self.runs.keys().cloned().collect()
    }

    pub(super) fn judges(&self) -> BTreeSet<RunId> {
        self.judges.keys().cloned().collect()
    }
}
