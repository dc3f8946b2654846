//! Making room: runs nobody wants any more, bytes nobody refers to, folders nobody uses.

use super::Store;
use super::database::{Database, Value};
use super::error::StoreError;
use super::lock::RunLock;
use super::moment::now_ms;
use super::naming::RunId;
use super::runs::RunInfo;
use super::scratch::{discard, is_marked};
use serde::Serialize;
use std::path::PathBuf;
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
    /// Exchanges with models that were made longer ago than this. What people said of pairs
    /// and how judges did on probes never goes.
    pub exchanges_older_than: Option<Duration>,
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
    /// Exchanges with models that were removed.
    pub exchanges: u64,
    /// Folders that interrupted runs had left behind.
    pub scratch: Vec<PathBuf>,
    /// What could not be done, a sentence each; everything else was.
    pub notes: Vec<String>,
}

/// Artifacts that nothing refers to but runs that are leaving.
macro_rules! unused {
    () => {
        " FROM artifacts WHERE NOT EXISTS (SELECT 1 FROM trial_artifacts x WHERE x.hash = artifacts.hash \
         AND x.run_id NOT IN (SELECT id FROM leaving)) \
         AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.snapshot = artifacts.hash AND r.id NOT IN (SELECT id FROM leaving)) \
         AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.report = artifacts.hash AND r.id NOT IN (SELECT id FROM leaving))"
    };
}

impl Store {
    /// Removes what may go. Runs that a process works on stay, and naming one is an error. A dry run locks nobody out.
    pub fn gc(&mut self, gc: &Gc) -> Result<GcReport, StoreError> {
        let mut report = GcReport::default();
        let runs = self.runs()?;
        let mut locks: Vec<RunLock> = Vec::new();
        for run in runs.iter().filter(|run| gc.takes(run, &runs)) {
            match self.claim(&run.id, gc.dry_run) {
                Ok(lock) => {
                    locks.extend(lock);
                    report.runs.push(run.clone());
                }
                Err(StoreError::Busy { .. }) if !gc.runs.contains(&run.id) => report.in_use.push(run.clone()),
                Err(error) => return Err(error),
            }
        }
        let leaving = &report.runs;
        (report.artifacts, report.bytes) = match gc.dry_run {
            true => self.database.read(|database| remove(database, leaving, true))?,
            false => self.database.write(|database| remove(database, leaving, false))?,
        };
        if let Some(age) = gc.exchanges_older_than {
            report.exchanges = self.remove_exchanges(age, gc.dry_run)?;
        }
        self.clear_scratch(gc.dry_run, &runs, &mut report)?;
        if !gc.dry_run {
            locks.into_iter().for_each(RunLock::remove);
            self.give_room_back(&runs, &mut report)?;
        }
        Ok(report)
    }

    /// The right to remove a run. A dry run only looks whether it could be had.
    fn claim(&self, run: &RunId, dry_run: bool) -> Result<Option<RunLock>, StoreError> {
        match dry_run {
            true if self.is_locked(run) => Err(self.busy(run)),
            true => Ok(None),
            false => self.lock(run).map(Some),
        }
    }

    /// Removes exchanges that are older than this, and tells how many.
    fn remove_exchanges(&mut self, age: Duration, dry_run: bool) -> Result<u64, StoreError> {
        let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        let before: Value = now_ms().saturating_sub(age).into();
        if !dry_run {
            return self.database.write(|database| {
                database.execute("DELETE FROM sent_questions WHERE sent_ms < $1", vec![before.clone()])?;
                database.execute("DELETE FROM ledger WHERE created_ms < $1", vec![before])
            });
        }
        let row = self.database.query_one("SELECT COUNT(*) FROM ledger WHERE created_ms < $1", vec![before])?;
        row.map_or(Ok(0), |row| Ok(row.count(0)?.into()))
    }

    /// Deletes the folders of runs that nobody works on, and forgets those that are gone.
    fn clear_scratch(&mut self, dry_run: bool, runs: &[RunInfo], report: &mut GcReport) -> Result<(), StoreError> {
        let is_among = |runs: &[RunInfo], id: &RunId| runs.iter().any(|run| run.id == *id);
        for (folder, run) in self.scratch_folders()? {
            let marked = is_marked(&folder, &run);
            // The locks of runs that were removed just now are in our own hands already.
            let claimed = if marked && !is_among(&report.runs, &run) { self.claim(&run, dry_run) } else { Ok(None) };
            let Ok(lock) = claimed else { continue };
            if dry_run {
                report.scratch.extend(marked.then_some(folder));
                continue;
            }
            match discard(&folder, &run) {
                Ok(deleted) => {
                    self.forget_scratch(&folder)?;
                    report.scratch.extend(deleted.then_some(folder));
                }
                Err(error) => report.notes.push(format!("{} could not be deleted: {error}", folder.display())),
            }
            if !is_among(runs, &run) {
                lock.into_iter().for_each(RunLock::remove);
            }
        }
        Ok(())
    }

    /// Gives the room of what was removed back to the disk, unless that would keep a run waiting.
    fn give_room_back(&mut self, runs: &[RunInfo], report: &mut GcReport) -> Result<(), StoreError> {
        if !self.database.has_spare_room()? {
            return Ok(());
        }
        if let Some(run) = runs.iter().find(|run| self.is_locked(&run.id)) {
            report.notes.push(format!(
                "the room is not given back to the disk while a process is working on the run {}, which would have to wait; \
                 it is used for what comes, and `karat store gc` gives it back when no run is worked on",
                run.short_id
            ));
            return Ok(());
        }
        match self.database.compact() {
            // What was removed is removed; its room is reused even where it cannot be given back now.
            Err(error @ (StoreError::InUse { .. } | StoreError::Full { .. })) => {
                report.notes.push(format!("the room could not be given back to the disk: {error}"));
                Ok(())
            }
            result => result,
        }
    }
}

/// Removes runs and what only they referred to, and tells how many artifacts and bytes that is. In a dry run nothing goes.
fn remove(database: &mut Database, runs: &[RunInfo], dry_run: bool) -> Result<(u64, u64), StoreError> {
    // A table of this connection alone, so that nobody has to wait for a dry run.
    database.script("CREATE TEMP TABLE leaving (id TEXT NOT NULL PRIMARY KEY)")?;
    for run in runs {
        database.execute("INSERT INTO leaving (id) VALUES ($1)", vec![(&run.id).into()])?;
    }
    let row = database.query_one(concat!("SELECT COUNT(*), SUM(LENGTH(content))", unused!()), Vec::new())?;
    if !dry_run {
        database.execute("DELETE FROM runs WHERE id IN (SELECT id FROM leaving)", Vec::new())?;
        database.execute(concat!("DELETE", unused!()), Vec::new())?;
    }
    database.script("DROP TABLE leaving")?;
    let number = |n: i64| u64::try_from(n).unwrap_or(0);
    row.map_or(Ok((0, 0)), |row| Ok((number(row.int(0)?), number(row.int_or_null(1)?.unwrap_or(0)))))
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
