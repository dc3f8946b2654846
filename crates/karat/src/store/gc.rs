//! Making room: runs nobody wants any more, bytes nobody refers to, folders nobody uses.

use super::Store;
use super::database::Database;
use super::error::StoreError;
use super::lock::RunLock;
use super::moment::now_ms;
use super::naming::RunId;
use super::runs::{RunInfo, SCRATCH_MARK};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What may go. Where a time and a number are given, a run goes only if both allow it.
#[derive(Clone, Debug, Default)]
pub struct Gc {
    /// These runs, whatever their age.
    pub runs: Vec<RunId>,
    /// Runs that were begun longer ago than this.
    pub older_than: Option<Duration>,
    /// Runs beyond so many newest ones.
    pub keep: Option<usize>,
    /// Only tell what would go.
    pub dry_run: bool,
}

/// What went, or would go.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GcReport {
    /// Runs that were removed.
    pub runs: Vec<RunInfo>,
    /// Runs that would have been removed if no process worked on them.
    pub in_use: Vec<RunInfo>,
    /// Artifacts that nobody refers to any more.
    pub artifacts: u64,
    /// The bytes those took up.
    pub bytes: u64,
    /// Folders that interrupted runs had left behind.
    pub scratch: Vec<PathBuf>,
    /// What could not be done, a sentence each; everything else was.
    pub notes: Vec<String>,
}

/// Artifacts that nothing refers to.
macro_rules! unused {
    () => {
        " FROM artifacts WHERE NOT EXISTS (SELECT 1 FROM trial_artifacts x WHERE x.hash = artifacts.hash) \
         AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.snapshot = artifacts.hash) \
         AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.report = artifacts.hash)"
    };
}

impl Store {
    /// Removes what may go. Runs that a process works on stay, and naming one is an error.
    pub fn gc(&mut self, gc: &Gc) -> Result<GcReport, StoreError> {
        let mut report = GcReport::default();
        let runs = self.runs()?;
        let mut locks: Vec<RunLock> = Vec::new();
        for run in runs.iter().filter(|run| gc.takes(run, &runs)) {
            match self.lock(&run.id) {
                Ok(lock) => {
                    locks.push(lock);
                    report.runs.push(run.clone());
                }
                Err(StoreError::Busy { .. }) if !gc.runs.contains(&run.id) => report.in_use.push(run.clone()),
                Err(error) => return Err(error),
            }
        }
        (report.artifacts, report.bytes) = self.remove(&report.runs, gc.dry_run)?;
        for run in &runs {
            self.clear_scratch(run, gc.dry_run, &mut report);
        }
        if gc.dry_run {
            return Ok(report);
        }
        locks.into_iter().for_each(RunLock::remove);
        match self.database.compact() {
            // What was removed is removed; its room is reused even where it cannot be given back now.
            Err(error @ (StoreError::InUse { .. } | StoreError::Full { .. })) => {
                report.notes.push(format!("the room could not be given back to the disk: {error}"));
            }
            result => result?,
        }
        Ok(report)
    }

    /// Removes runs and what only they referred to, and tells how many artifacts and bytes that is. Rehearsed, nothing goes.
    fn remove(&mut self, runs: &[RunInfo], dry_run: bool) -> Result<(u64, u64), StoreError> {
        let work = |database: &mut Database| {
            for run in runs {
                database.execute("DELETE FROM runs WHERE id = $1", vec![(&run.id).into()])?;
            }
            let row = database.query_one(concat!("SELECT COUNT(*), SUM(LENGTH(content))", unused!()), Vec::new())?;
            database.execute(concat!("DELETE", unused!()), Vec::new())?;
            let number = |n: i64| u64::try_from(n).unwrap_or(0);
            row.map_or(Ok((0, 0)), |row| Ok((number(row.int(0)?), number(row.int_or_null(1)?.unwrap_or(0)))))
        };
        if dry_run { self.database.rehearse(work) } else { self.database.write(work) }
    }

    /// Deletes the folder of a run that nobody works on. Without the run's own mark in it, it is no folder of ours.
    fn clear_scratch(&mut self, run: &RunInfo, dry_run: bool, report: &mut GcReport) {
        let Some(folder) = &run.scratch else { return };
        let removed = report.runs.iter().any(|other| other.id == run.id);
        // The locks of removed runs are in our own hands already.
        let lock = if removed { None } else { self.lock(&run.id).ok() };
        if !removed && lock.is_none() {
            return;
        }
        if is_marked(folder, &run.id) {
            if !dry_run && let Err(error) = std::fs::remove_dir_all(folder) {
                report.notes.push(format!("{} could not be deleted: {error}", folder.display()));
                return;
            }
            report.scratch.push(folder.clone());
        }
        if !dry_run
            && !removed
            && let Err(error) = self.set_scratch(&run.id, None)
        {
            report.notes.push(error.to_string());
        }
    }
}

impl Gc {
    /// Whether a run may go, by its place among all of them, the newest first.
    fn takes(&self, run: &RunInfo, all: &[RunInfo]) -> bool {
        if self.runs.contains(&run.id) {
            return true;
        }
        let age = u64::try_from(now_ms().saturating_sub(run.created_ms)).unwrap_or(0);
        let old = self.older_than.map(|limit| Duration::from_millis(age) > limit);
        let place = all.iter().position(|other| other.id == run.id);
        let beyond = self.keep.map(|keep| place.is_some_and(|place| place >= keep));
        (old.is_some() || beyond.is_some()) && old.unwrap_or(true) && beyond.unwrap_or(true)
    }
}

fn is_marked(folder: &Path, run: &RunId) -> bool {
    std::fs::read_to_string(folder.join(SCRATCH_MARK)).is_ok_and(|text| text == run.as_str())
}
