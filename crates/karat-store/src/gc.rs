//! Garbage collection: old runs, unreferenced artifacts and objects, unused scratch folders.

use super::object_storage::MIN_GRACE;
use super::objects::{DEFAULT_GRACE, object_name};
use super::scratch::{discard, is_marked};
use super::tables::REMOVED_OBJECTS;
use super::{Database, OnConflict, Result, RunId, RunInfo, RunLock, Store, StoreError, Value};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;

/// What to remove. If both an age and a count are given, a run must exceed both.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "field names say it")]
pub struct GcOptions {
    pub runs: Vec<RunId>,
    pub older_than: Option<Duration>,
    pub keep: Option<usize>,
    /// Labels and probes are never removed.
    pub exchanges_older_than: Option<Duration>,
    /// How long objects that no artifact refers to are kept; at least an hour, and a day by default.
    pub grace: Option<Duration>,
    pub dry_run: bool,
}

/// What was removed, or would be.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct GcReport {
    pub runs: Vec<RunInfo>,
    /// Runs kept because a process is working on them.
    pub in_use: Vec<RunInfo>,
    pub artifacts: u64,
    pub bytes: u64,
    /// Removed from object storage.
    pub objects: u64,
    pub object_bytes: u64,
    /// Objects whose artifact was removed, and which are kept until the grace period ends.
    pub waiting_objects: u64,
    pub exchanges: u64,
    pub scratch: Vec<PathBuf>,
    pub notes: Vec<String>,
}

/// Artifacts that nothing refers to but the runs that leave.
const UNUSED: &str = " FROM artifacts WHERE NOT EXISTS (SELECT 1 FROM trial_artifacts x WHERE x.hash = artifacts.hash \
     AND x.run_id NOT IN (SELECT id FROM leaving)) \
     AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.snapshot = artifacts.hash AND r.id NOT IN (SELECT id FROM leaving)) \
     AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.report = artifacts.hash AND r.id NOT IN (SELECT id FROM leaving))";

/// Stores on a server also keep the suites of runs for workers.
const NOT_IN_SUITES: &str = " AND NOT EXISTS (SELECT 1 FROM suite_parts s WHERE s.hash = artifacts.hash \
     AND s.run_id NOT IN (SELECT id FROM leaving))";

impl Store {
    /// Removes what the options select. Runs in use stay; naming one explicitly is an error. A dry run takes no locks.
    pub fn gc(&mut self, gc: &GcOptions) -> Result<GcReport> {
        let grace = gc.grace.unwrap_or(DEFAULT_GRACE);
        if grace < MIN_GRACE {
            return Err(StoreError::ShortGrace);
        }
        let mut report = GcReport::default();
        let runs = self.runs()?;
        let now = self.database.now_ms()?;
        let mut locks: Vec<RunLock> = Vec::new();
        for run in runs.iter().filter(|run| gc.selects(run, &runs, now)) {
            match self.lock_for_removal(&run.id, gc.dry_run) {
                Ok(lock) => {
                    locks.extend(lock);
                    report.runs.push(run.clone());
                }
                Err(StoreError::Busy { .. }) if !gc.runs.contains(&run.id) => report.in_use.push(run.clone()),
                Err(error) => return Err(error),
            }
        }
        let leaving = &report.runs;
        let removed = match gc.dry_run {
            true => self.in_snapshot(|store| remove(&mut store.database, leaving, true))?,
            false => self.database.write(|database| remove(database, leaving, false))?,
        };
        (report.artifacts, report.bytes) = (removed.artifacts, removed.bytes);
        self.sweep_objects(grace, gc.dry_run, &mut report)?;
        if gc.dry_run {
            report.waiting_objects += removed.objects.len() as u64;
        }
        if let Some(age) = gc.exchanges_older_than {
            report.exchanges = self.remove_exchanges(age, gc.dry_run)?;
        }
        self.clear_scratch(gc.dry_run, &runs, &mut report)?;
        if !gc.dry_run {
            locks.into_iter().for_each(RunLock::remove);
            self.compact_if_idle(&runs, &mut report)?;
        }
        Ok(report)
    }

    /// Locks a run for removal; a dry run only checks that it could be locked.
    fn lock_for_removal(&self, run: &RunId, dry_run: bool) -> Result<Option<RunLock>> {
        // Workers have claims instead of a lock.
        match self.is_surely_locked(run)? {
            true => Err(self.busy(run)),
            false if dry_run => Ok(None),
            false => self.lock(run).map(Some),
        }
    }

    fn remove_exchanges(&mut self, age: Duration, dry_run: bool) -> Result<u64> {
        let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        let before: Value = self.database.now_ms()?.saturating_sub(age).into();
        if !dry_run {
            return self.database.write(|database| {
                database.execute("DELETE FROM sent_questions WHERE sent_ms < $1", vec![before.clone()])?;
                database.execute("DELETE FROM ledger WHERE created_ms < $1", vec![before.clone()])
            });
        }
        let count = self.database.query_count("SELECT COUNT(*) FROM ledger WHERE created_ms < $1", vec![before])?;
        Ok(count.into())
    }

    /// Deletes scratch folders of runs that no process is working on, and forgets those already gone.
    fn clear_scratch(&mut self, dry_run: bool, runs: &[RunInfo], report: &mut GcReport) -> Result<()> {
        let is_among = |runs: &[RunInfo], id: &RunId| runs.iter().any(|run| run.id == *id);
        for (folder, run) in self.scratch_folders()? {
            let marked = is_marked(&folder, &run);
            // Runs removed just now are already locked by this process.
            let claimed =
                if marked && !is_among(&report.runs, &run) { self.lock_for_removal(&run, dry_run) } else { Ok(None) };
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

    fn compact_if_idle(&mut self, runs: &[RunInfo], report: &mut GcReport) -> Result<()> {
        if !self.database.has_free_pages()? {
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
            // The space is reused later even if it cannot be returned now.
            Err(error @ (StoreError::InUse { .. } | StoreError::Full { .. })) => {
                report.notes.push(format!("the disk space could not be freed: {error}"));
                Ok(())
            }
            result => result,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct RemovedArtifacts {
    artifacts: u64,
    bytes: u64,
    /// The names of the objects of those that were in object storage.
    objects: Vec<String>,
}

/// Locks runs with their units, so that none is claimed any more; an error if a worker has one.
fn require_no_claims(database: &mut Database, ids: &str) -> Result<()> {
    // In the order in which workers lock them.
    database.query_text(format!("SELECT id FROM runs WHERE id IN ({ids}) ORDER BY id FOR UPDATE"), Vec::new())?;
    let sql = format!(
        "SELECT run_id, worker FROM (SELECT * FROM queue_units WHERE run_id IN ({ids}) FOR UPDATE) AS units \
         WHERE state = 'claimed' AND until_ms >= (extract(epoch FROM clock_timestamp()) * 1000)::bigint LIMIT 1"
    );
    match database.query_text(sql, Vec::new())?.first() {
        Some(row) => {
            Err(StoreError::Busy { run: row.get(0)?, holder: format!("the worker {}", row.get::<String>(1)?) })
        }
        None => Ok(()),
    }
}

/// Removes runs and the artifacts only they referenced.
pub(super) fn remove(database: &mut Database, runs: &[RunInfo], dry_run: bool) -> Result<RemovedArtifacts> {
    // The ids are part of the statements, so that a dry run writes nothing; they consist of digits, letters and hyphens.
    let ids: Vec<String> = runs.iter().map(|run| format!("('{}')", run.id)).collect();
    let ids = if ids.is_empty() { "('')".to_owned() } else { ids.join(", ") };
    let leaving = format!("WITH leaving (id) AS (VALUES {ids}) ");
    let unused = format!("{UNUSED}{}", if database.is_server() { NOT_IN_SUITES } else { "" });
    let mut removed = RemovedArtifacts::default();
    let number = |n: i64| u64::try_from(n).unwrap_or(0);
    let count = format!("{leaving}SELECT COUNT(*), SUM(LENGTH(content)){unused}");
    if let Some(row) = database.query_text(count, Vec::new())?.first() {
        removed.artifacts = number(row.get(0)?);
        removed.bytes = number(row.get::<Option<i64>>(1)?.unwrap_or(0));
    }
    let in_storage = "coding LIKE 'object-%'";
    if !dry_run && database.is_server() {
        require_no_claims(database, &ids)?;
    }
    let objects = if dry_run {
        database.query_text(format!("{leaving}SELECT hash, coding{unused} AND {in_storage}"), Vec::new())?
    } else {
        database.exclude_others("karat garbage collection")?;
        database.execute_text(format!("{leaving}DELETE FROM runs WHERE id IN (SELECT id FROM leaving)"), Vec::new())?;
        database.execute_text(format!("{leaving}DELETE{unused} AND NOT {in_storage}"), Vec::new())?;
        // On a server others write meanwhile, so only the statement that deletes them knows which ones are unused.
        let delete = format!("{leaving}DELETE{unused} AND {in_storage} RETURNING hash, coding");
        database.query_text(delete, Vec::new())?
    };
    removed.objects = objects.iter().map(|row| Ok(object_name(row.get(0)?, row.get(1)?))).collect::<Result<_>>()?;
    if !dry_run {
        note_removed_objects(database, &removed.objects)?;
    }
    Ok(removed)
}

/// The grace period of an object begins when its artifact is removed, also if that happens once more.
fn note_removed_objects(database: &mut Database, objects: &[String]) -> Result<()> {
    const AT_ONCE: usize = 128;
    let removed_ms = database.now_ms()?;
    for objects in objects.chunks(AT_ONCE) {
        let places: Vec<String> = (1..=objects.len()).map(|place| format!("${place}")).collect();
        let delete = format!("DELETE FROM removed_objects WHERE object IN ({})", places.join(", "));
        database.execute_text(delete, objects.iter().map(|object| object.as_str().into()).collect())?;
        let rows = objects.iter().map(|object| vec![object.as_str().into(), removed_ms.into()]).collect();
        database.insert(&REMOVED_OBJECTS, rows, OnConflict::Fail)?;
    }
    Ok(())
}

impl GcOptions {
    fn selects(&self, run: &RunInfo, all: &[RunInfo], now: i64) -> bool {
        let age = u64::try_from(now.saturating_sub(run.created_ms)).unwrap_or(0);
        let old = self.older_than.map(|limit| Duration::from_millis(age) > limit);
        let place = all.iter().position(|other| other.id == run.id);
        let beyond = self.keep.map(|keep| place.is_some_and(|place| place >= keep));
        let selected = (old.is_some() || beyond.is_some()) && old.unwrap_or(true) && beyond.unwrap_or(true);
        selected || self.runs.contains(&run.id)
    }
}
