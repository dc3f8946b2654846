//! Copies a whole store into another one, row for row, between any two engines.
//!
//! Rows keep their hashes, so equal rows are told from different ones without comparing contents. Only artifacts may be kept
//! differently: each store has its large ones in its own object storage, or in its database if it has none. What belongs to a run is
//! copied in one transaction; copying again goes on where it was interrupted.

use super::artifacts::{OBJECT_CODING, insert_artifacts};
use super::objects::MAX_IN_DATABASE;
use super::tables::{
    ARTIFACTS, JUDGEMENTS, LABEL_SUBJECTS, LABELS, LEDGER, PROBES, RUNS, SCRATCH_FOLDERS, SENT_QUESTIONS,
    SESSION_DOCUMENTS, SESSIONS, TOOL_FACTS, TRIAL_ARTIFACTS, TRIALS, Table,
};
use super::{Database, OnConflict, Result, Row, Store, StoreError, Value};
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// The result of copying a store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct CopiedStore {
    pub runs: u64,
    /// Rows of all tables that were added.
    pub added: u64,
    /// Rows that were already there, with equal content.
    pub were_here: u64,
}

/// How far copying is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct CopyProgress {
    /// The table that is being copied or compared.
    pub table: &'static str,
    pub rows: u64,
    /// All rows are there, and are being read once more.
    pub verifying: bool,
}

/// Rows that are read at once.
const PAGE: usize = 64;

/// Bytes of artifacts that are written in one transaction.
const BATCH_BYTES: usize = 8 << 20;

/// Tables whose rows belong to a run, in the order in which they refer to each other.
const OF_RUNS: [&Table; 4] = [&TOOL_FACTS, &TRIALS, &TRIAL_ARTIFACTS, &JUDGEMENTS];

/// The other tables except for artifacts and runs. Each store has its own versions of the schema.
const SHARED: [&Table; 8] =
    [&SCRATCH_FOLDERS, &LEDGER, &SENT_QUESTIONS, &LABEL_SUBJECTS, &LABELS, &PROBES, &SESSIONS, &SESSION_DOCUMENTS];

impl Store {
    /// Copies everything into another store, from one snapshot, and reads it there once more. A run that a process is working
    /// on is refused, since it would go on in one of the stores only. Rows that are there already with equal content are left
    /// alone; a row with other content ends the copy.
    pub fn copy_to(&mut self, to: &mut Self, progress: &mut dyn FnMut(CopyProgress)) -> Result<CopiedStore> {
        if self.database.place == to.database.place {
            return Err(StoreError::CopyToItself { place: self.database.place.to_string() });
        }
        if let Some(run) = self.overview()?.into_iter().find(|run| self.is_locked(&run.id)) {
            return Err(self.busy(&run.id));
        }
        let before = count_rows(&mut to.database)?;
        let (runs, rows) = self.in_snapshot(|store| {
            let mut copy = Copy { from: store, to: &mut *to, progress, rows: 0, verifying: false };
            let runs = copy.all()?;
            let rows = copy.rows;
            copy.verifying = true;
            copy.all()?;
            Ok((runs, rows))
        })?;
        let added = count_rows(&mut to.database)?.saturating_sub(before).min(rows);
        Ok(CopiedStore { runs, added, were_here: rows - added })
    }
}

fn count_rows(database: &mut Database) -> Result<u64> {
    let mut rows = 0;
    for table in SHARED.into_iter().chain(OF_RUNS).chain([&ARTIFACTS, &RUNS]) {
        rows += database.count_rows(table)?;
    }
    Ok(rows)
}

struct Copy<'s> {
    from: &'s mut Store,
    to: &'s mut Store,
    progress: &'s mut dyn FnMut(CopyProgress),
    rows: u64,
    verifying: bool,
}

impl Copy<'_> {
    /// Copies or compares all rows; returns the number of runs.
    fn all(&mut self) -> Result<u64> {
        self.artifacts()?;
        let ids = self.from.database.query("SELECT id FROM runs ORDER BY created_ms, id", Vec::new())?;
        let ids = ids.iter().map(|row| row.get(0)).collect::<Result<Vec<String>>>()?;
        for id in &ids {
            self.run(id)?;
        }
        for table in SHARED {
            let mut after = None;
            loop {
                let page = read_page(&mut self.from.database, table, None, after.as_deref(), PAGE)?;
                after = page.key(table);
                self.store(table, &page)?;
                if page.rows.len() < PAGE {
                    break;
                }
            }
        }
        Ok(ids.len() as u64)
    }

    /// Artifacts that no run refers to yet do no harm, so they need not be in the transaction of a run.
    fn artifacts(&mut self) -> Result<()> {
        let mut after = None;
        loop {
            let (mut page, mut packed, mut bytes) = (Page::default(), Vec::new(), 0);
            while bytes < BATCH_BYTES && page.rows.len() < PAGE {
                // One can be as large as any row gets.
                let mut next = read_page(&mut self.from.database, &ARTIFACTS, None, after.as_deref(), 1)?;
                let Some(row) = next.rows.pop() else { break };
                after = row.values(&ARTIFACTS).map(|values| Some(values[..ARTIFACTS.key].to_vec()))?;
                bytes += row.get::<&[u8]>(3)?.len();
                if !self.verifying && self.is_missing(&row)? {
                    let artifact = self.from.packed_artifact(&row)?;
                    bytes += artifact.content.len();
                    packed.push(artifact);
                }
                page.rows.push(row);
            }
            if page.rows.is_empty() {
                return Ok(());
            }
            if !packed.is_empty() {
                self.to.upload(&mut packed)?;
                self.to.database.write_waiting(|to| insert_artifacts(to, to.consume(&mut packed)))?;
            }
            self.compare_artifacts(&page)?;
            self.count(&ARTIFACTS, page.rows.len() as u64);
        }
    }

    /// Whether an artifact must be written. Asking costs more than writing a small one that is there already.
    fn is_missing(&mut self, row: &Row) -> Result<bool> {
        if !is_object(row)? && row.get::<&[u8]>(3)?.len() <= MAX_IN_DATABASE {
            return Ok(true);
        }
        let sql = "SELECT COUNT(*) FROM artifacts WHERE hash = $1";
        Ok(self.to.database.query_count(sql, vec![row.get::<&str>(0)?.into()])? == 0)
    }

    /// Checks that artifacts are there; objects are read when all are verified.
    fn compare_artifacts(&mut self, page: &Page) -> Result<()> {
        let there = stored_rows(&mut self.to.database, &ARTIFACTS, page)?;
        let by_hash = there.iter().map(|row| Ok((row.get::<&str>(0)?, row)));
        let by_hash = by_hash.collect::<Result<HashMap<_, _>>>()?;
        for row in &page.rows {
            let hash: &str = row.get(0)?;
            let differs = || differs(&self.to.database, &ARTIFACTS, row);
            let own = by_hash.get(hash).copied().ok_or_else(differs)?;
            let is_kept_differently = is_object(own)? || is_object(row)?;
            let is_equal = own.row_hash(&ARTIFACTS)? == row.row_hash(&ARTIFACTS)?
                || is_kept_differently && own.get::<i64>(1)? == row.get::<i64>(1)?;
            if !is_equal {
                return Err(differs());
            }
            if self.verifying && is_object(own)? {
                self.to.artifact_content(hash, own)?;
            }
        }
        Ok(())
    }

    fn run(&mut self, id: &str) -> Result<()> {
        let (from, to, verifying) = (&mut self.from.database, &mut self.to.database, self.verifying);
        let mut work = |to: &mut Database| {
            let mut rows = 0;
            let own = from.select(&RUNS, "WHERE id = $1", vec![id.into()])?;
            rows += exchange_page(to, &RUNS, &Page { rows: own }, verifying)?;
            for table in OF_RUNS {
                let mut after = None;
                loop {
                    let page = read_page(from, table, Some(id), after.as_deref(), PAGE)?;
                    after = page.key(table);
                    rows += exchange_page(to, table, &page, verifying)?;
                    if page.rows.len() < PAGE {
                        break;
                    }
                }
            }
            Ok(rows)
        };
        let rows = if verifying { work(to)? } else { to.write_waiting(work)? };
        self.count(&RUNS, rows);
        Ok(())
    }

    /// Copies or compares rows in a transaction of their own.
    fn store(&mut self, table: &'static Table, page: &Page) -> Result<()> {
        let rows = match self.verifying {
            true => exchange_page(&mut self.to.database, table, page, true)?,
            false => self.to.database.write_waiting(|to| exchange_page(to, table, page, false))?,
        };
        self.count(table, rows);
        Ok(())
    }

    fn count(&mut self, table: &'static Table, rows: u64) {
        self.rows += rows;
        (self.progress)(CopyProgress { table: table.name, rows: self.rows, verifying: self.verifying });
    }
}

/// Consecutive rows in the order of their key.
#[derive(Default)]
struct Page {
    rows: Vec<Row>,
}

impl Page {
    /// The key of the last row.
    fn key(&self, table: &Table) -> Option<Vec<Value>> {
        let values = self.rows.last()?.values(table).ok()?;
        values.get(..table.key).map(<[Value]>::to_vec)
    }
}

/// The next rows of a table, or of one run in it, each checked against its hash.
fn read_page(
    from: &mut Database,
    table: &Table,
    run: Option<&str>,
    after: Option<&[Value]>,
    most: usize,
) -> Result<Page> {
    let key = key_columns(table);
    let mut values: Vec<Value> = Vec::new();
    let mut conditions = Vec::new();
    if let Some(run) = run {
        values.push(run.into());
        conditions.push("run_id = $1".to_owned());
    }
    if let Some(after) = after {
        let places: Vec<String> = (values.len() + 1..).take(after.len()).map(|place| format!("${place}")).collect();
        conditions.push(format!("({key}) > ({})", places.join(", ")));
        values.extend_from_slice(after);
    }
    let filter = if conditions.is_empty() { String::new() } else { format!("WHERE {}", conditions.join(" AND ")) };
    let rows = from.select(table, &format!("{filter} ORDER BY {key} LIMIT {most}"), values)?;
    Ok(Page { rows })
}

fn key_columns(table: &Table) -> String {
    table.columns().take(table.key).collect::<Vec<_>>().join(", ")
}

/// Writes rows that are missing, unless it only compares, and checks that all of them are there; returns their number.
fn exchange_page(to: &mut Database, table: &'static Table, page: &Page, compare_only: bool) -> Result<u64> {
    if page.rows.is_empty() {
        return Ok(0);
    }
    if !compare_only {
        let values = page.rows.iter().map(|row| row.values(table)).collect::<Result<Vec<_>>>()?;
        to.insert(table, values, OnConflict::Ignore)?;
    }
    let there = stored_rows(to, table, page)?;
    let there = there.iter().map(|row| row.row_hash(table)).collect::<Result<HashSet<_>>>()?;
    for row in &page.rows {
        if !there.contains(row.row_hash(table)?) {
            return Err(differs(to, table, row));
        }
    }
    Ok(page.rows.len() as u64)
}

/// The rows from the first to the last key of a page, each checked against its hash. Between two rows of the page there may be
/// others that only this store has.
fn stored_rows(to: &mut Database, table: &Table, page: &Page) -> Result<Vec<Row>> {
    let (Some(first), Some(last)) = (page.rows.first(), page.rows.last()) else { return Ok(Vec::new()) };
    let (first, last) = (first.values(table)?, last.values(table)?);
    let bounds = [&first[..table.key], &last[..table.key]].concat();
    let (key, width) = (key_columns(table), table.key);
    let places = |from: usize| (from..from + width).map(|place| format!("${place}")).collect::<Vec<_>>().join(", ");
    let between = format!("WHERE ({key}) >= ({}) AND ({key}) <= ({}) ORDER BY {key}", places(1), places(width + 1));
    to.select(table, &between, bounds)
}

fn differs(to: &Database, table: &Table, row: &Row) -> StoreError {
    StoreError::CopyDiffers { place: to.place.to_string(), table: table.name, row: row.name(table) }
}

/// Whether the content of a row of [`ARTIFACTS`] is in object storage.
fn is_object(row: &Row) -> Result<bool> {
    Ok(row.get::<&str>(2)?.starts_with(OBJECT_CODING))
}
