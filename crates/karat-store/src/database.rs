//! The connection to the SQLite database; nothing else in the crate calls sqlx.
//!
//! All SQL outside this module and the migrations is portable: `$1` for values, and TEXT, BIGINT, DOUBLE PRECISION and BLOB as
//! types. Supporting another database means replacing this module.

mod row;
#[cfg(test)]
mod testing;

pub(super) use row::{Row, Value, row_damage};

use super::tables::{ARTIFACTS, ROW_HASH, Table};
use super::{Result, StoreError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use sqlx::sqlite::{SqliteArguments, SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{Arguments, AssertSqlSafe, ConnectOptions, Connection, SqliteConnection};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

pub(super) struct Database {
    pub(super) file: PathBuf,
    runtime: Runtime,
    connection: Option<SqliteConnection>,
    pub(super) access: Access,
    long_busy_timeout: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Write,
    Read,
    /// Read-only and without locks: the file and its folder stay byte for byte the same.
    Immutable,
}

pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Timeout where giving up would end a run: importing or compacting a large store takes minutes.
const LONG_BUSY_TIMEOUT: Duration = Duration::from_secs(15 * 60);

impl Database {
    pub(super) fn connect(file: &Path, access: Access) -> Result<Self> {
        let failed = |source| StoreError::Io { path: file.to_owned(), source };
        // A relative name such as `file:x` would be parsed as a URI.
        let file = std::path::absolute(file).map_err(failed)?;
        let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(failed)?;
        let options = SqliteConnectOptions::new()
            .filename(&file)
            .foreign_keys(true)
            .busy_timeout(BUSY_TIMEOUT)
            .disable_statement_logging();
        let options = match access {
            Access::Write => options
                .create_if_missing(true)
                .journal_mode(SqliteJournalMode::Wal)
                // A finished trial must survive a power cut, and in WAL mode only FULL syncs every commit.
                .synchronous(SqliteSynchronous::Full),
            Access::Read => options.read_only(true),
            Access::Immutable => options.read_only(true).immutable(true),
        };
        // Changing the journal mode ignores the busy timeout.
        let connection = while_busy(BUSY_TIMEOUT, 20, || {
            runtime.block_on(options.connect()).map_err(|error| map_error(&file, error))
        })?;
        Ok(Self { file, runtime, connection: Some(connection), access, long_busy_timeout: LONG_BUSY_TIMEOUT })
    }

    pub(super) fn damaged(&self, detail: impl Into<String>) -> StoreError {
        StoreError::Damaged { file: self.file.clone(), detail: detail.into() }
    }

    pub(super) fn json(&self, value: &impl Serialize) -> Result<String> {
        serde_json::to_string(value).map_err(|error| self.failed(&error))
    }

    pub(super) fn parse_json<T: DeserializeOwned>(&self, text: &str, what: impl FnOnce() -> String) -> Result<T> {
        serde_json::from_str(text).map_err(|error| self.damaged(format!("{} cannot be read ({error})", what())))
    }

    pub(super) fn raw(&self, text: &str) -> Result<Box<RawValue>> {
        let value = RawValue::from_string(text.to_owned());
        value.map_err(|error| self.damaged(format!("a stored value is not JSON ({error})")))
    }

    fn failed(&self, detail: &impl ToString) -> StoreError {
        StoreError::Database { file: self.file.clone(), detail: detail.to_string() }
    }

    /// Runs a statement and returns the number of changed rows. Not for hashed rows, which have [`Self::insert`].
    pub(super) fn execute(&mut self, sql: &'static str, values: Vec<Value>) -> Result<u64> {
        self.execute_sql(sql.to_owned(), values)
    }

    /// Queries for counts and metadata. Table rows are read by [`Self::select`], which checks their hashes.
    pub(super) fn query(&mut self, sql: &'static str, values: Vec<Value>) -> Result<Vec<Row>> {
        self.query_sql(sql.to_owned(), values)
    }

    pub(super) fn query_one(&mut self, sql: &'static str, values: Vec<Value>) -> Result<Option<Row>> {
        Ok(self.query(sql, values)?.into_iter().next())
    }

    /// The first column of the first row; `None` if it is NULL or there is no row.
    pub(super) fn query_number(&mut self, sql: &'static str, values: Vec<Value>) -> Result<Option<i64>> {
        self.query_one(sql, values)?.map_or(Ok(None), |row| row.get(0))
    }

    pub(super) fn query_count(&mut self, sql: &'static str, values: Vec<Value>) -> Result<u32> {
        self.query_one(sql, values)?.map_or(Ok(0), |row| row.count(0))
    }

    /// Rows of a table with all columns, each checked against its hash; `tail` is such as `WHERE id = $1`.
    pub(super) fn select(&mut self, table: &Table, tail: &str, values: Vec<Value>) -> Result<Vec<Row>> {
        self.select_each(table, tail, values)?.into_iter().collect()
    }

    pub(super) fn select_one(&mut self, table: &Table, tail: &str, values: Vec<Value>) -> Result<Option<Row>> {
        Ok(self.select(table, tail, values)?.into_iter().next())
    }

    /// The same rows, with an error for each damaged one.
    pub(super) fn select_each(&mut self, table: &Table, tail: &str, values: Vec<Value>) -> Result<Vec<Result<Row>>> {
        let rows =
            self.query_sql(format!("SELECT {}, rowid FROM {} {tail}", table.all_columns(), table.name), values)?;
        Ok(rows.into_iter().map(|row| row.check(table).map(|()| row)).collect())
    }

    /// Visits every row in rowid order, using no index and checking no hash.
    fn walk(&mut self, table: &Table, visit: &mut dyn FnMut(&mut Self, i64, &Row) -> Result<()>) -> Result<()> {
        // An artifact can be as large as any row gets.
        let at_once = if *table == ARTIFACTS { 1 } else { 64 };
        let (columns, name) = (table.all_columns(), table.name);
        let sql = format!("SELECT {columns}, rowid FROM {name} WHERE rowid > $1 ORDER BY rowid LIMIT {at_once}");
        let mut after = i64::MIN;
        loop {
            let rows = self.query_sql(sql.clone(), vec![after.into()])?;
            if rows.is_empty() {
                return Ok(());
            }
            for row in &rows {
                let place = row.place(table)?;
                if place <= after {
                    return Err(row.damage(format!("the rows of the table `{}` are out of order", table.name)));
                }
                after = place;
                visit(self, place, row)?;
            }
        }
    }

    pub(super) fn damaged_rows(&mut self, table: &Table) -> Result<Vec<String>> {
        let mut found = Vec::new();
        self.walk(table, &mut |_, _, row| {
            if row.check(table).is_err() {
                found.push(row.name(table));
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Gaps in consecutively numbered rows: the group, the number of rows and the highest number.
    pub(super) fn gaps(&mut self, table: &Table) -> Result<Vec<(String, i64, i64)>> {
        let Some((column, within)) = table.counted else { return Ok(Vec::new()) };
        let sql = format!(
            "SELECT {within}, COUNT(*), MAX({column}) FROM {} GROUP BY 1 HAVING COUNT(*) <> MAX({column})",
            table.name
        );
        let rows = self.query_sql(sql, Vec::new())?;
        rows.iter().map(|row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).collect()
    }

    pub(super) fn next_number(&mut self, table: &Table) -> Result<i64> {
        let column = table.columns().next().unwrap_or_default();
        let rows = self.query_sql(format!("SELECT MAX({column}) FROM {}", table.name), Vec::new())?;
        let last: Option<i64> = rows.first().map_or(Ok(None), |row| row.get(0))?;
        Ok(last.unwrap_or(0) + 1)
    }

    /// Inserts many rows per statement, which is several times faster than one by one.
    pub(super) fn insert(&mut self, table: &Table, mut rows: Vec<Vec<Value>>, on_conflict: OnConflict) -> Result<()> {
        for row in &mut rows {
            let hash = table.hash(row.iter().map(Value::field));
            row.push(hash.to_vec().into());
        }
        // Few statement sizes, so that each is prepared once.
        for size in [128, 16, 1] {
            while rows.len() >= size {
                let rest = rows.split_off(size);
                let values: Vec<Value> = rows.into_iter().flatten().collect();
                self.execute_sql(insert_sql(table, size, on_conflict), values)?;
                rows = rest;
            }
        }
        Ok(())
    }

    /// Updates columns of the matching rows and returns their number. Each row is checked first and rehashed.
    pub(super) fn update(
        &mut self,
        table: &Table,
        condition: &str,
        values: Vec<Value>,
        changes: &[(&'static str, Value)],
    ) -> Result<u64> {
        let rows = self.select(table, condition, values)?;
        let columns = changes.iter().map(|(column, _)| *column).chain([ROW_HASH]);
        let set: Vec<String> = columns.zip(1..).map(|(column, place)| format!("{column} = ${place}")).collect();
        let sql = format!("UPDATE {} SET {} WHERE rowid = ${}", table.name, set.join(", "), set.len() + 1);
        for row in &rows {
            let mut fields = row.fields(table)?;
            for (column, value) in changes {
                if let Some(place) = table.columns().position(|own| own == *column) {
                    fields[place] = value.field();
                }
            }
            let changed = changes.iter().map(|(_, value)| value.clone());
            let values = changed.chain([table.hash(fields).to_vec().into(), row.place(table)?.into()]).collect();
            self.execute_sql(sql.clone(), values)?;
        }
        Ok(rows.len() as u64)
    }

    fn execute_sql(&mut self, sql: String, values: Vec<Value>) -> Result<u64> {
        let (arguments, connection) = (self.arguments(values)?, open_connection(&mut self.connection, &self.file)?);
        let result = self.runtime.block_on(sqlx::query_with(AssertSqlSafe(sql), arguments).execute(connection));
        result.map(|done| done.rows_affected()).map_err(|error| map_error(&self.file, error))
    }

    fn query_sql(&mut self, sql: String, values: Vec<Value>) -> Result<Vec<Row>> {
        let (arguments, connection) = (self.arguments(values)?, open_connection(&mut self.connection, &self.file)?);
        let result = self.runtime.block_on(sqlx::query_with(AssertSqlSafe(sql), arguments).fetch_all(connection));
        let rows = result.map_err(|error| map_error(&self.file, error))?;
        let file: Arc<Path> = self.file.as_path().into();
        Ok(rows.into_iter().map(|row| Row { row, file: Arc::clone(&file) }).collect())
    }

    pub(super) fn script(&mut self, sql: &'static str) -> Result<()> {
        let connection = open_connection(&mut self.connection, &self.file)?;
        let done = self.runtime.block_on(sqlx::raw_sql(sql).execute(connection));
        done.map(|_| ()).map_err(|error| map_error(&self.file, error))
    }

    /// Runs a durable write transaction. It takes the write lock before reading, so two writers cannot deadlock.
    pub(super) fn write<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.write_within(Duration::ZERO, work)
    }

    /// Like [`Self::write`], but a power cut may undo it: for frequent writes whose loss does no harm.
    pub(super) fn write_quickly<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.script("PRAGMA synchronous = NORMAL")?;
        let result = self.write(work);
        self.script("PRAGMA synchronous = FULL")?;
        result
    }

    /// Like [`Self::write`], with the long timeout: for results that must not be lost because another process is slow.
    pub(super) fn write_waiting<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.write_within(self.long_busy_timeout, work)
    }

    fn write_within<T>(&mut self, timeout: Duration, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.access != Access::Write {
            let detail = "it was opened for reading alone".to_owned();
            return Err(StoreError::ReadOnly { file: self.file.clone(), detail });
        }
        while_busy(timeout, 50, || self.execute("BEGIN IMMEDIATE", Vec::new()))?;
        let result = work(self).and_then(|value| self.execute("COMMIT", Vec::new()).map(|_| value));
        if result.is_err() {
            // Some errors have already ended the transaction.
            let _ = self.execute("ROLLBACK", Vec::new());
        }
        result
    }

    pub(super) fn check(&mut self) -> Result<Vec<String>> {
        let pages = self.query("PRAGMA integrity_check", Vec::new())?;
        let mut found = pages.iter().map(|row| row.get(0)).collect::<Result<Vec<String>>>()?;
        found.retain(|problem| problem != "ok");
        for row in self.query("PRAGMA foreign_key_check", Vec::new())? {
            let (from, to): (&str, &str) = (row.get(0)?, row.get(2)?);
            found.push(format!("a row of `{from}` refers to one of `{to}` that is not there"));
        }
        Ok(found)
    }

    pub(super) fn has_free_pages(&mut self) -> Result<bool> {
        Ok(self.query_number("PRAGMA freelist_count", Vec::new())?.is_some_and(|pages| pages > 0))
    }

    pub(super) fn compact(&mut self) -> Result<()> {
        self.script("VACUUM")?;
        self.script("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    pub(super) fn tables(&mut self) -> Result<Vec<String>> {
        let rows = self.query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name", Vec::new())?;
        rows.iter().map(|row| row.get(0)).collect()
    }

    /// The definitions of all tables, indexes and triggers, as bytes: invalid UTF-8 would kill SQLite's thread.
    pub(super) fn definitions(&mut self) -> Result<Vec<Vec<u8>>> {
        let sql = "SELECT CAST(type || ' ' || name || ' ' || tbl_name || ' ' || COALESCE(sql, '') AS BLOB) \
                   FROM sqlite_master WHERE name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY type, name";
        self.query(sql, Vec::new())?.iter().map(|row| row.get(0)).collect()
    }

    fn arguments(&self, values: Vec<Value>) -> Result<SqliteArguments> {
        let mut arguments = SqliteArguments::default();
        for value in values {
            let added = match value {
                Value::Null => arguments.add(None::<i64>),
                Value::Int(number) => arguments.add(number),
                Value::Real(number) => arguments.add(number),
                Value::Text(text) => arguments.add(text),
                Value::Bytes(bytes) => arguments.add(bytes),
            };
            added.map_err(|error| self.failed(&error))?;
        }
        Ok(arguments)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            // Closing waits until the file is at rest; an error can no longer be reported.
            let _ = self.runtime.block_on(connection.close());
        }
    }
}

/// Tries again every `pause_ms` milliseconds while the file is in use, until the timeout.
pub(super) fn while_busy<T>(timeout: Duration, pause_ms: u64, mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
    let deadline = Instant::now() + timeout;
    loop {
        match attempt() {
            Err(StoreError::InUse { .. }) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(pause_ms));
            }
            result => return result,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnConflict {
    Fail,
    Ignore,
}

/// Uses `?` placeholders, since SQLite looks up numbered ones in a list.
fn insert_sql(table: &Table, rows: usize, on_conflict: OnConflict) -> String {
    let row = format!("({})", vec!["?"; table.width() + 1].join(", "));
    let tail = match on_conflict {
        OnConflict::Fail => "",
        OnConflict::Ignore => " ON CONFLICT DO NOTHING",
    };
    let rows = vec![row.as_str(); rows].join(", ");
    format!("INSERT INTO {} ({}) VALUES {rows}{tail}", table.name, table.all_columns())
}

fn open_connection<'c>(connection: &'c mut Option<SqliteConnection>, file: &Path) -> Result<&'c mut SqliteConnection> {
    let closed = || StoreError::Database { file: file.to_owned(), detail: "the connection is closed".to_owned() };
    connection.as_mut().ok_or_else(closed)
}

fn map_error(file: &Path, error: sqlx::Error) -> StoreError {
    let file = file.to_owned();
    let error = match error {
        sqlx::Error::Database(error) => error,
        sqlx::Error::Io(source) => return StoreError::Io { path: file, source },
        other => return StoreError::Database { file, detail: other.to_string() },
    };
    let detail = error.message().to_owned();
    // The code is SQLite's extended one, which has the primary code in its low byte.
    let code = error.code().and_then(|code| code.parse::<u32>().ok()).unwrap_or_default();
    match code & 0xff {
        // SQLITE_BUSY, SQLITE_LOCKED
        5 | 6 => StoreError::InUse { file },
        // SQLITE_PERM, SQLITE_READONLY, SQLITE_CANTOPEN
        3 | 8 | 14 => StoreError::ReadOnly { file, detail },
        // SQLITE_IOERR
        10 => StoreError::Disk { file, detail },
        // SQLITE_CORRUPT, SQLITE_NOTADB
        11 | 26 => StoreError::Damaged { file, detail },
        // SQLITE_FULL
        13 => StoreError::Full { file },
        // SQLITE_CONSTRAINT, of which sqlx's error kinds leave out triggers
        19 => StoreError::Conflict { file, detail },
        _ => StoreError::Database { file, detail },
    }
}
