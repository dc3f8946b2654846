//! A connection to a SQLite file.

use super::row::{Cells, Row};
use super::{Access, BUSY_TIMEOUT, LONG_TIMEOUT, Value, while_busy};
use crate::{Result, StoreError};
use sqlx::sqlite::{SqliteArguments, SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{Arguments, AssertSqlSafe, ConnectOptions, Connection, SqliteConnection};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

pub(super) struct Sqlite {
    runtime: Runtime,
    connection: Option<SqliteConnection>,
    place: Arc<str>,
    pub(super) long_busy_timeout: Duration,
}

impl Sqlite {
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
        let place: Arc<str> = file.display().to_string().into();
        // Changing the journal mode ignores the busy timeout.
        let connection = while_busy(BUSY_TIMEOUT, 20, || {
            runtime.block_on(options.connect()).map_err(|error| map_error(&file, &place, error))
        })?;
        Ok(Self { runtime, connection: Some(connection), place, long_busy_timeout: LONG_TIMEOUT })
    }

    pub(super) fn place(&self) -> &Arc<str> {
        &self.place
    }

    pub(super) fn execute(&mut self, sql: String, values: Vec<Value>) -> Result<u64> {
        let arguments = self.arguments(values)?;
        let connection = open_connection(&mut self.connection, &self.place)?;
        let result = self.runtime.block_on(sqlx::query_with(AssertSqlSafe(sql), arguments).execute(connection));
        result.map(|done| done.rows_affected()).map_err(|error| self.error(error))
    }

    pub(super) fn query(&mut self, sql: String, values: Vec<Value>) -> Result<Vec<Row>> {
        let arguments = self.arguments(values)?;
        let connection = open_connection(&mut self.connection, &self.place)?;
        let result = self.runtime.block_on(sqlx::query_with(AssertSqlSafe(sql), arguments).fetch_all(connection));
        let rows = result.map_err(|error| self.error(error))?;
        let row = |row| Row { cells: Cells::Sqlite(row), place: Arc::clone(&self.place) };
        Ok(rows.into_iter().map(row).collect())
    }

    pub(super) fn script(&mut self, sql: String) -> Result<()> {
        let connection = open_connection(&mut self.connection, &self.place)?;
        let done = self.runtime.block_on(sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection));
        done.map(|_| ()).map_err(|error| self.error(error))
    }

    /// Begins a write transaction. It takes the write lock before reading, so two writers cannot deadlock.
    pub(super) fn begin_write(&mut self, timeout: Duration) -> Result<()> {
        while_busy(timeout, 50, || self.execute("BEGIN IMMEDIATE".to_owned(), Vec::new()).map(|_| ()))
    }

    pub(super) fn begin_snapshot(&mut self) -> Result<()> {
        self.execute("BEGIN".to_owned(), Vec::new()).map(|_| ())
    }

    pub(super) fn commit(&mut self) -> Result<()> {
        self.execute("COMMIT".to_owned(), Vec::new()).map(|_| ())
    }

    /// Some errors have already ended the transaction.
    pub(super) fn rollback(&mut self) {
        let _ = self.execute("ROLLBACK".to_owned(), Vec::new());
    }

    pub(super) fn check(&mut self) -> Result<Vec<String>> {
        let pages = self.query("PRAGMA integrity_check".to_owned(), Vec::new())?;
        let mut found = pages.iter().map(|row| row.get(0)).collect::<Result<Vec<String>>>()?;
        found.retain(|problem| problem != "ok");
        for row in self.query("PRAGMA foreign_key_check".to_owned(), Vec::new())? {
            let (from, to): (&str, &str) = (row.get(0)?, row.get(2)?);
            found.push(super::missing_reference(from, to));
        }
        Ok(found)
    }

    pub(super) fn has_free_pages(&mut self) -> Result<bool> {
        let rows = self.query("PRAGMA freelist_count".to_owned(), Vec::new())?;
        rows.first().map_or(Ok(false), |row| Ok(row.get::<i64>(0)? > 0))
    }

    pub(super) fn compact(&mut self) -> Result<()> {
        self.script("VACUUM".to_owned())?;
        self.script("PRAGMA wal_checkpoint(TRUNCATE)".to_owned())
    }

    pub(super) fn tables(&mut self) -> Result<Vec<String>> {
        let sql = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name";
        self.query(sql.to_owned(), Vec::new())?.iter().map(|row| row.get(0)).collect()
    }

    /// The definitions of all tables, indexes and triggers, as bytes: invalid UTF-8 would kill SQLite's thread.
    pub(super) fn definitions(&mut self) -> Result<Vec<Vec<u8>>> {
        let sql = "SELECT CAST(type || ' ' || name || ' ' || tbl_name || ' ' || COALESCE(sql, '') AS BLOB) \
                   FROM sqlite_master WHERE name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY type, name";
        self.query(sql.to_owned(), Vec::new())?.iter().map(|row| row.get(0)).collect()
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
            let failed = |error: sqlx::error::BoxDynError| StoreError::Database {
                place: self.place.to_string(),
                detail: error.to_string(),
            };
            added.map_err(failed)?;
        }
        Ok(arguments)
    }

    fn error(&self, error: sqlx::Error) -> StoreError {
        map_error(Path::new(&*self.place), &self.place, error)
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            // Closing waits until the file is at rest; an error can no longer be reported.
            let _ = self.runtime.block_on(connection.close());
        }
    }
}

fn open_connection<'c>(connection: &'c mut Option<SqliteConnection>, place: &str) -> Result<&'c mut SqliteConnection> {
    let closed = || StoreError::Database { place: place.to_owned(), detail: "the connection is closed".to_owned() };
    connection.as_mut().ok_or_else(closed)
}

fn map_error(file: &Path, place: &str, error: sqlx::Error) -> StoreError {
    let place = place.to_owned();
    let error = match error {
        sqlx::Error::Database(error) => error,
        sqlx::Error::Io(source) => return StoreError::Io { path: file.to_owned(), source },
        other => return StoreError::Database { place, detail: other.to_string() },
    };
    let detail = error.message().to_owned();
    // The code is SQLite's extended one, which has the primary code in its low byte.
    let code = error.code().and_then(|code| code.parse::<u32>().ok()).unwrap_or_default();
    match code & 0xff {
        // SQLITE_BUSY, SQLITE_LOCKED
        5 | 6 => StoreError::InUse { place },
        // SQLITE_PERM, SQLITE_READONLY, SQLITE_CANTOPEN
        3 | 8 | 14 => StoreError::ReadOnly { place, detail },
        // SQLITE_IOERR
        10 => StoreError::Disk { place, detail },
        // SQLITE_CORRUPT, SQLITE_NOTADB
        11 | 26 => StoreError::Damaged { place, detail },
        // SQLITE_FULL
        13 => StoreError::Full { place },
        // SQLITE_CONSTRAINT, of which sqlx's error kinds leave out triggers
        19 => StoreError::Conflict { place, detail },
        _ => StoreError::Database { place, detail },
    }
}
