//! The one door to the database. All SQL outside of this file and the table of migrations is portable: `$1` for values, TEXT,
//! BIGINT, DOUBLE PRECISION and BLOB for types. Another database takes this seat by another file like this one.

use super::error::StoreError;
use sqlx::sqlite::{SqliteArguments, SqliteConnectOptions, SqliteJournalMode, SqliteRow, SqliteSynchronous};
use sqlx::{Arguments, AssertSqlSafe, ConnectOptions, Connection, Row as _, SqliteConnection};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// A connection to the database of a store. Every call blocks until it is done.
pub(super) struct Database {
    file: PathBuf,
    runtime: Runtime,
    /// Always there until the value is dropped.
    connection: Option<SqliteConnection>,
    access: Access,
    /// How long what must not be lost waits for its turn.
    patience: Duration,
}

/// What may be done with the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Reading and writing.
    Write,
    /// Reading alone, beside others who may write.
    Read,
    /// Reading alone, and not even a lock is taken: the file and its folder stay as they are to the byte.
    Frozen,
}

/// So long another process is waited for.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// So long another process is waited for where giving up would end a run. Importing or compacting a large store takes
/// minutes; a process that takes longer is stuck.
const LONG_PATIENCE: Duration = Duration::from_secs(15 * 60);

impl Database {
    /// Connects to a file. With [`Access::Write`] it is made where it is absent.
    pub(super) fn connect(file: &Path, access: Access) -> Result<Self, StoreError> {
        let failed = |source| StoreError::Io { path: file.to_owned(), source };
        // A relative name such as `file:x` would be read as an address.
        let file = std::path::absolute(file).map_err(failed)?;
        let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(failed)?;
        let options = SqliteConnectOptions::new()
            .filename(&file)
            .foreign_keys(true)
            .busy_timeout(PATIENCE)
            .disable_statement_logging();
        let options = match access {
            Access::Write => options
                .create_if_missing(true)
                .journal_mode(SqliteJournalMode::Wal)
                // A trial that is reported done must survive a power cut, and in WAL mode only FULL syncs every commit.
                .synchronous(SqliteSynchronous::Full),
            Access::Read => options.read_only(true),
            Access::Frozen => options.read_only(true).immutable(true),
        };
        let deadline = Instant::now() + PATIENCE;
        loop {
            match runtime.block_on(options.connect()).map_err(|error| meaning(&file, error)) {
                // Changing the journal's mode does not wait for others by itself.
                Err(StoreError::InUse { .. }) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(error) => return Err(error),
                Ok(connection) => {
                    let patience = LONG_PATIENCE;
                    return Ok(Self { file, runtime, connection: Some(connection), access, patience });
                }
            }
        }
    }

    /// The file, as messages name it.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// What may be done.
    pub(super) fn access(&self) -> Access {
        self.access
    }

    /// Runs a statement, and tells how many rows it changed.
    pub(super) fn execute(&mut self, sql: &'static str, values: Vec<Value>) -> Result<u64, StoreError> {
        let (arguments, connection) = (self.arguments(values)?, live(&mut self.connection, &self.file)?);
        let result = self.runtime.block_on(sqlx::query_with(sql, arguments).execute(connection));
        result.map(|done| done.rows_affected()).map_err(|error| meaning(&self.file, error))
    }

    /// The rows of a question.
    pub(super) fn query(&mut self, sql: &'static str, values: Vec<Value>) -> Result<Vec<Row>, StoreError> {
        let (arguments, connection) = (self.arguments(values)?, live(&mut self.connection, &self.file)?);
        let result = self.runtime.block_on(sqlx::query_with(sql, arguments).fetch_all(connection));
        let rows = result.map_err(|error| meaning(&self.file, error))?;
        let file: Arc<Path> = self.file.as_path().into();
        Ok(rows.into_iter().map(|row| Row { row, file: Arc::clone(&file) }).collect())
    }

    /// The only row of a question, where there is one.
    pub(super) fn query_one(&mut self, sql: &'static str, values: Vec<Value>) -> Result<Option<Row>, StoreError> {
        Ok(self.query(sql, values)?.into_iter().next())
    }

    /// Inserts many rows with few statements, which is several times faster than one statement a row.
    pub(super) fn insert(&mut self, into: &Insert, mut rows: Vec<Vec<Value>>) -> Result<(), StoreError> {
        // Few sizes of statements, so that each is prepared once and kept.
        for size in [128, 16, 1] {
            while rows.len() >= size {
                let rest = rows.split_off(size);
                let values: Vec<Value> = rows.into_iter().flatten().collect();
                let (arguments, sql) = (self.arguments(values)?, into.sql(size));
                let connection = live(&mut self.connection, &self.file)?;
                let query = sqlx::query_with(AssertSqlSafe(sql), arguments);
                self.runtime.block_on(query.execute(connection)).map_err(|error| meaning(&self.file, error))?;
                rows = rest;
            }
        }
        Ok(())
    }

    /// Runs a script of several statements.
    pub(super) fn script(&mut self, sql: &'static str) -> Result<(), StoreError> {
        let connection = live(&mut self.connection, &self.file)?;
        let done = self.runtime.block_on(sqlx::raw_sql(sql).execute(connection));
        done.map(|_| ()).map_err(|error| meaning(&self.file, error))
    }

    /// Does all of the work or none of it; on return it is durable. Writers queue up for their turn before they read anything,
    /// so that two of them never wait for each other.
    pub(super) fn write<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.check_writable()?;
        self.within("BEGIN IMMEDIATE", "COMMIT", work)
    }

    /// Does as [`Self::write`] does, and waits far longer for its turn: for what must not be lost because another process is
    /// slow.
    pub(super) fn insist<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.check_writable()?;
        let deadline = Instant::now() + self.patience;
        loop {
            match self.execute("BEGIN IMMEDIATE", Vec::new()) {
                Err(StoreError::InUse { .. }) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(50));
                }
                Err(error) => return Err(error),
                Ok(_) => return self.until("COMMIT", work),
            }
        }
    }

    /// Reads several things as they were at one moment.
    pub(super) fn read<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.within("BEGIN", "COMMIT", work)
    }

    /// What the database finds wrong with its own file, a sentence each.
    pub(super) fn check(&mut self) -> Result<Vec<String>, StoreError> {
        let pages = self.query("PRAGMA integrity_check", Vec::new())?;
        let mut found = Vec::new();
        for row in pages {
            let sentence = row.text(0)?;
            if sentence != "ok" {
                found.push(sentence);
            }
        }
        for row in self.query("PRAGMA foreign_key_check", Vec::new())? {
            found.push(format!("a row of `{}` refers to one of `{}` that is not there", row.text(0)?, row.text(2)?));
        }
        Ok(found)
    }

    /// Whether there is room of what was deleted that could be given back.
    pub(super) fn has_spare_room(&mut self) -> Result<bool, StoreError> {
        let row = self.query_one("PRAGMA freelist_count", Vec::new())?;
        Ok(row.map(|row| row.int(0)).transpose()?.is_some_and(|pages| pages > 0))
    }

    /// Gives the room of what was deleted back to the disk.
    pub(super) fn compact(&mut self) -> Result<(), StoreError> {
        self.script("VACUUM")?;
        self.script("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// The names of all tables.
    pub(super) fn tables(&mut self) -> Result<Vec<String>, StoreError> {
        let rows = self.query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name", Vec::new())?;
        rows.iter().map(|row| row.text(0)).collect()
    }

    fn check_writable(&self) -> Result<(), StoreError> {
        if self.access == Access::Write {
            return Ok(());
        }
        let detail = "it was opened for reading alone".to_owned();
        Err(StoreError::ReadOnly { file: self.file.clone(), detail })
    }

    fn within<T>(
        &mut self,
        begin: &'static str,
        end: &'static str,
        work: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.execute(begin, Vec::new())?;
        self.until(end, work)
    }

    /// Does the work of a transaction that was begun, and ends it.
    fn until<T>(
        &mut self,
        end: &'static str,
        work: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let result = work(self).and_then(|value| self.execute(end, Vec::new()).map(|_| value));
        if result.is_err() {
            // Some faults have ended the transaction already, and then there is nothing to take back.
            let _ = self.execute("ROLLBACK", Vec::new());
        }
        result
    }

    fn arguments(&self, values: Vec<Value>) -> Result<SqliteArguments, StoreError> {
        let mut arguments = SqliteArguments::default();
        for value in values {
            let added = match value {
                Value::Null => arguments.add(None::<i64>),
                Value::Int(number) => arguments.add(number),
                Value::Real(number) => arguments.add(number),
                Value::Text(text) => arguments.add(text),
                Value::Bytes(bytes) => arguments.add(bytes),
            };
            added.map_err(|error| StoreError::Database { file: self.file.clone(), detail: error.to_string() })?;
        }
        Ok(arguments)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            // Waited for, so that the file is at rest when the store is gone; there is nobody left to tell of a failure.
            let _ = self.runtime.block_on(connection.close());
        }
    }
}

/// Where many rows go.
pub(super) struct Insert {
    /// The table and its columns: `trials (run_id, tool)`.
    pub(super) into: &'static str,
    /// How many columns that are.
    pub(super) columns: usize,
    /// What follows the values, such as `ON CONFLICT (hash) DO NOTHING`.
    pub(super) tail: &'static str,
}

impl Insert {
    /// Values without numbers, since the database looks every number up among all others.
    fn sql(&self, rows: usize) -> String {
        let row = format!("({})", vec!["?"; self.columns].join(", "));
        format!("INSERT INTO {} VALUES {} {}", self.into, vec![row.as_str(); rows].join(", "), self.tail)
    }
}

/// A value handed to a statement.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Null,
    Int(i64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Int(number.into())
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl From<Vec<u8>> for Value {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// A row of an answer. A field of another type than was written is damage, not a surprise.
pub(super) struct Row {
    row: SqliteRow,
    file: Arc<Path>,
}

impl Row {
    pub(super) fn text(&self, column: usize) -> Result<String, StoreError> {
        self.field(self.row.try_get(column))
    }

    /// A text that is looked at and not kept.
    pub(super) fn str(&self, column: usize) -> Result<&str, StoreError> {
        self.field(self.row.try_get(column))
    }

    pub(super) fn text_or_null(&self, column: usize) -> Result<Option<String>, StoreError> {
        self.field(self.row.try_get(column))
    }

    pub(super) fn int(&self, column: usize) -> Result<i64, StoreError> {
        self.field(self.row.try_get(column))
    }

    pub(super) fn int_or_null(&self, column: usize) -> Result<Option<i64>, StoreError> {
        self.field(self.row.try_get(column))
    }

    pub(super) fn real_or_null(&self, column: usize) -> Result<Option<f64>, StoreError> {
        self.field(self.row.try_get(column))
    }

    pub(super) fn bytes(&self, column: usize) -> Result<Vec<u8>, StoreError> {
        self.field(self.row.try_get(column))
    }

    /// A number that is counted from 0 or 1.
    pub(super) fn count(&self, column: usize) -> Result<u32, StoreError> {
        let number = self.int(column)?;
        u32::try_from(number).map_err(|_| self.damage(format!("{number} stands where a count should")))
    }

    fn field<T>(&self, got: Result<T, sqlx::Error>) -> Result<T, StoreError> {
        got.map_err(|error| self.damage(error.to_string()))
    }

    fn damage(&self, detail: String) -> StoreError {
        StoreError::Damaged { file: self.file.to_path_buf(), detail }
    }
}

fn live<'c>(connection: &'c mut Option<SqliteConnection>, file: &Path) -> Result<&'c mut SqliteConnection, StoreError> {
    let closed = || StoreError::Database { file: file.to_owned(), detail: "the connection is closed".to_owned() };
    connection.as_mut().ok_or_else(closed)
}

/// What an error of the database means to a person.
fn meaning(file: &Path, error: sqlx::Error) -> StoreError {
    let file = file.to_owned();
    let sqlx::Error::Database(error) = error else {
        return match error {
            sqlx::Error::Io(source) => StoreError::Io { path: file, source },
            other => StoreError::Database { file, detail: other.to_string() },
        };
    };
    let detail = error.message().to_owned();
    // The low byte is the kind of error; what lies above it says more than anybody asks.
    let code = error.code().and_then(|code| code.parse::<u32>().ok()).unwrap_or(1) & 0xff;
    match code {
        5 | 6 => StoreError::InUse { file },
        3 | 8 | 14 => StoreError::ReadOnly { file, detail },
        11 | 26 => StoreError::Damaged { file, detail },
        13 => StoreError::Full { file },
        19 => StoreError::Conflict { file, detail },
        _ => StoreError::Database { file, detail },
    }
}

#[cfg(test)]
impl Database {
    /// Waits no longer than this for another process, and than that where giving up would end a run.
    pub(super) fn hurry(&mut self, short: Duration, long: Duration) {
        let sql = AssertSqlSafe(format!("PRAGMA busy_timeout = {}", short.as_millis()));
        self.runtime.block_on(sqlx::raw_sql(sql).execute(self.connection.as_mut().unwrap())).unwrap();
        self.patience = long;
    }

    /// The database grows to so many pages and no further, as on a disk that is full.
    pub(super) fn limit_pages(&mut self, pages: u32) {
        let sql = AssertSqlSafe(format!("PRAGMA max_page_count = {pages}"));
        self.runtime.block_on(sqlx::raw_sql(sql).execute(self.connection.as_mut().unwrap())).unwrap();
    }
}
