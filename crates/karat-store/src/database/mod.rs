//! The connection to the database, SQLite or PostgreSQL; nothing else in the crate calls sqlx.
//!
//! SQL outside this module and the migrations is portable: `$1` for values, and TEXT, BIGINT, DOUBLE PRECISION and BLOB as
//! types. What only a server does, such as a queue, asks [`Database::is_server`] first and may use all of PostgreSQL.

mod catalog;
mod postgres;
mod repeats;
mod row;
mod server_error;
mod spare;
mod sqlite;
#[cfg(test)]
mod testing;

pub(super) use repeats::Backoff;
pub(super) use row::{Row, Value, row_damage};

use super::tables::{ARTIFACTS, ROW_HASH, Table};
use super::{Result, ServerUrl, StoreError};
use karat_io::cancel::Cancel;
use postgres::Postgres;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use sqlite::Sqlite;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(super) struct Database {
    /// The file or the URL, for messages.
    pub(super) place: Arc<str>,
    engine: Engine,
    pub(super) access: Access,
}

enum Engine {
    Sqlite(Sqlite),
    Postgres(Box<Postgres>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Write,
    Read,
    /// Read-only and without locks: the file and its folder stay byte for byte the same.
    Immutable,
}

pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Timeout where giving up would end a run: importing or compacting a large store takes minutes, as may restarting a server.
pub(super) const LONG_TIMEOUT: Duration = Duration::from_secs(15 * 60);

impl Database {
    pub(super) fn open_file(file: &Path, access: Access) -> Result<Self> {
        let sqlite = Sqlite::connect(file, access)?;
        Ok(Self { place: Arc::clone(sqlite.place()), engine: Engine::Sqlite(sqlite), access })
    }

    pub(super) fn open_server(server: &ServerUrl, access: Access) -> Result<Self> {
        Self::open_server_until(server, access, &Cancel::default())
    }

    /// Like [`Self::open_server`]; all waiting for the server ends when `abandon` is cancelled.
    pub(super) fn open_server_until(server: &ServerUrl, access: Access, abandon: &Cancel) -> Result<Self> {
        let postgres = match spare::take(server) {
            Some(spare) => Box::new(spare.used_for(access, abandon)),
            None => Box::new(Postgres::connect(server, access, abandon)?),
        };
        Ok(Self { place: Arc::clone(postgres.place()), engine: Engine::Postgres(postgres), access })
    }

    /// Keeps the connection for whoever opens this server next.
    pub(super) fn keep_connection(self, server: &ServerUrl) {
        if let Engine::Postgres(postgres) = self.engine {
            spare::keep(server, postgres);
        }
    }

    /// Whether it is PostgreSQL.
    pub(super) fn is_server(&self) -> bool {
        matches!(self.engine, Engine::Postgres(_))
    }

    /// Milliseconds since 1970. On a server it is the server's clock, and in a transaction the time when it began.
    pub(super) fn now_ms(&mut self) -> Result<i64> {
        match &mut self.engine {
            Engine::Sqlite(_) => Ok(super::timestamp::now_ms()),
            Engine::Postgres(postgres) => postgres.now_ms(),
        }
    }

    /// What a write consumes: moved out if a write runs once, copied if it may be repeated.
    pub(super) fn consume<T: Clone>(&self, values: &mut Vec<T>) -> Vec<T> {
        if self.is_server() { values.clone() } else { std::mem::take(values) }
    }

    pub(super) fn damaged(&self, detail: impl Into<String>) -> StoreError {
        StoreError::Damaged { place: self.place.to_string(), detail: detail.into() }
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
        StoreError::Database { place: self.place.to_string(), detail: detail.to_string() }
    }

    /// Runs a statement and returns the number of changed rows. Not for hashed rows, which have [`Self::insert`].
    pub(super) fn execute(&mut self, sql: &'static str, values: Vec<Value>) -> Result<u64> {
        self.execute_text(sql.to_owned(), values)
    }

    /// Queries for counts and metadata. Table rows are read by [`Self::select`], which checks their hashes.
    pub(super) fn query(&mut self, sql: &'static str, values: Vec<Value>) -> Result<Vec<Row>> {
        self.query_text(sql.to_owned(), values)
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
            self.query_text(format!("SELECT {}, rowid FROM {} {tail}", table.all_columns(), table.name), values)?;
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
            let rows = self.query_text(sql.clone(), vec![after.into()])?;
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
        let rows = self.query_text(sql, Vec::new())?;
        rows.iter().map(|row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).collect()
    }

    pub(super) fn count_rows(&mut self, table: &Table) -> Result<u64> {
        let rows = self.query_text(format!("SELECT COUNT(*) FROM {}", table.name), Vec::new())?;
        rows.first().map_or(Ok(0), |row| Ok(u64::try_from(row.get::<i64>(0)?).unwrap_or(0)))
    }

    pub(super) fn next_number(&mut self, table: &Table) -> Result<i64> {
        let column = table.columns().next().unwrap_or_default();
        let rows = self.query_text(format!("SELECT MAX({column}) FROM {}", table.name), Vec::new())?;
        let last: Option<i64> = rows.first().map_or(Ok(None), |row| row.get(0))?;
        Ok(last.unwrap_or(0) + 1)
    }

    /// Inserts many rows per statement, which is several times faster than one by one.
    pub(super) fn insert(&mut self, table: &Table, mut rows: Vec<Vec<Value>>, on_conflict: OnConflict) -> Result<()> {
        for row in &mut rows {
            let hash = table.hash(row.iter().map(Value::field));
            row.push(hash.to_vec().into());
        }
        let is_server = self.is_server();
        // Few statement sizes, so that each is prepared once.
        for size in [128, 16, 1] {
            while rows.len() >= size {
                let rest = rows.split_off(size);
                let values: Vec<Value> = rows.into_iter().flatten().collect();
                self.execute_text(insert_sql(table, size, on_conflict, is_server), values)?;
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
        // A concurrent change between reading and writing would make the hash wrong.
        let tail = if self.is_server() { " FOR UPDATE" } else { "" };
        let rows = self.select(table, &format!("{condition}{tail}"), values)?;
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
            self.execute_text(sql.clone(), values)?;
        }
        Ok(rows.len() as u64)
    }

    /// Like [`Self::execute`], for statements that are put together. Values never become part of them.
    pub(super) fn execute_text(&mut self, sql: String, values: Vec<Value>) -> Result<u64> {
        match &mut self.engine {
            Engine::Sqlite(sqlite) => sqlite.execute(sql, values),
            Engine::Postgres(postgres) => postgres.execute(sql, values),
        }
    }

    pub(super) fn query_text(&mut self, sql: String, values: Vec<Value>) -> Result<Vec<Row>> {
        match &mut self.engine {
            Engine::Sqlite(sqlite) => sqlite.query(sql, values),
            Engine::Postgres(postgres) => postgres.query(sql, values),
        }
    }

    /// Runs statements without values.
    pub(super) fn script(&mut self, sql: &'static str) -> Result<()> {
        self.script_text(sql.to_owned())
    }

    fn script_text(&mut self, sql: String) -> Result<()> {
        match &mut self.engine {
            Engine::Sqlite(sqlite) => sqlite.script(sql),
            Engine::Postgres(postgres) => postgres.script(sql),
        }
    }

    /// Waits until no other write holds this, and holds it until the end of this one. In SQLite all writes exclude each other.
    pub(super) fn exclude_others(&mut self, what: &str) -> Result<()> {
        self.hold("SELECT pg_advisory_xact_lock($1)", what)
    }

    /// Like [`Self::exclude_others`], but any number of writes may hold this in the same way at once.
    pub(super) fn share_with_others(&mut self, what: &str) -> Result<()> {
        self.hold("SELECT pg_advisory_xact_lock_shared($1)", what)
    }

    fn hold(&mut self, sql: &'static str, what: &str) -> Result<()> {
        if self.is_server() {
            let hash = blake3::hash(what.as_bytes());
            let (key, _) = hash.as_bytes().split_first_chunk().unwrap_or((&[0; 8], &[]));
            self.query(sql, vec![i64::from_le_bytes(*key).into()])?;
        }
        Ok(())
    }

    /// Runs a durable write transaction. On a server `work` is repeated after a conflict or a lost connection, so it must
    /// begin from the same state each time.
    pub(super) fn write<T>(&mut self, work: impl FnMut(&mut Self) -> Result<T>) -> Result<T> {
        self.write_within(Patience::Short, true, work)
    }

    /// Like [`Self::write`], but a power cut may undo it: for frequent writes whose loss does no harm.
    pub(super) fn write_quickly<T>(&mut self, work: impl FnMut(&mut Self) -> Result<T>) -> Result<T> {
        if self.is_server() {
            return self.write_within(Patience::Short, false, work);
        }
        self.script("PRAGMA synchronous = NORMAL")?;
        let result = self.write(work);
        self.script("PRAGMA synchronous = FULL")?;
        result
    }

    /// Like [`Self::write`], with the long timeout: for results that must not be lost because another process is slow or the
    /// server is restarted.
    pub(super) fn write_waiting<T>(&mut self, work: impl FnMut(&mut Self) -> Result<T>) -> Result<T> {
        self.write_within(Patience::Long, true, work)
    }

    /// Like [`Self::write_waiting`], for what may be done twice: it is repeated also where nobody knows whether it was stored.
    pub(super) fn write_repeatable<T>(&mut self, mut work: impl FnMut(&mut Self) -> Result<T>) -> Result<T> {
        match self.write_waiting(&mut work) {
            Err(StoreError::Undecided { .. }) => self.write_waiting(work),
            result => result,
        }
    }

    /// How long a server that is away or full is waited for by those who would lose more by giving up.
    pub(super) fn longest_outage(&self) -> Duration {
        match &self.engine {
            Engine::Postgres(postgres) => postgres.timeouts.long,
            Engine::Sqlite(_) => Duration::ZERO,
        }
    }

    /// Whether nobody waits for the server any more.
    pub(super) fn is_abandoned(&self) -> bool {
        matches!(&self.engine, Engine::Postgres(postgres) if postgres.is_abandoned())
    }

    fn write_within<T>(
        &mut self,
        patience: Patience,
        durable: bool,
        mut work: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<T> {
        if self.access != Access::Write {
            let detail = "it was opened for reading alone".to_owned();
            return Err(StoreError::ReadOnly { place: self.place.to_string(), detail });
        }
        if self.is_server() {
            return self.write_on_server(patience, durable, work);
        }
        if let Engine::Sqlite(sqlite) = &mut self.engine {
            let timeout = if patience == Patience::Long { sqlite.long_busy_timeout } else { Duration::ZERO };
            sqlite.begin_write(timeout)?;
        }
        let result = work(self);
        let Engine::Sqlite(sqlite) = &mut self.engine else { return result };
        let result = result.and_then(|value| sqlite.commit().map(|()| value));
        if result.is_err() {
            sqlite.rollback();
        }
        result
    }

    fn write_on_server<T>(
        &mut self,
        patience: Patience,
        durable: bool,
        mut work: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let began = Instant::now();
        let (mut repeats, mut backoff) = (0, Backoff::default());
        loop {
            let Engine::Postgres(postgres) = &mut self.engine else { return work(self) };
            let wait = if patience == Patience::Long { postgres.timeouts.long } else { postgres.timeouts.short };
            let deadline = began + wait;
            let ended = match postgres.begin_write(wait, durable) {
                Ok(()) => {
                    let result = work(self);
                    let Engine::Postgres(postgres) = &mut self.engine else { return result };
                    match postgres.end_write(result, deadline) {
                        Ok(value) => return Ok(value),
                        Err(ended) => ended,
                    }
                }
                Err(ended) => ended,
            };
            let Engine::Postgres(postgres) = &self.engine else { return Err(ended.error) };
            if postgres.is_abandoned() || !ended.may_repeat(repeats, Instant::now(), deadline) {
                return Err(ended.error);
            }
            repeats += 1;
            backoff.wait(deadline.max(Instant::now() + BUSY_TIMEOUT));
        }
    }

    /// Begins a transaction in which every read sees the same state; [`Self::end_snapshot`] ends it.
    pub(super) fn begin_snapshot(&mut self) -> Result<()> {
        match &mut self.engine {
            Engine::Sqlite(sqlite) => sqlite.begin_snapshot(),
            Engine::Postgres(postgres) => postgres.begin_snapshot(),
        }
    }

    /// Nothing was written, and some errors have already ended the transaction.
    pub(super) fn end_snapshot(&mut self) {
        match &mut self.engine {
            Engine::Sqlite(sqlite) => sqlite.rollback(),
            Engine::Postgres(postgres) => postgres.rollback(),
        }
    }

    /// What the engine itself finds wrong.
    pub(super) fn check(&mut self) -> Result<Vec<String>> {
        match &mut self.engine {
            Engine::Sqlite(sqlite) => sqlite.check(),
            Engine::Postgres(postgres) => postgres.check(),
        }
    }

    /// Whether compacting would return space. A server does that by itself.
    pub(super) fn has_free_pages(&mut self) -> Result<bool> {
        match &mut self.engine {
            Engine::Sqlite(sqlite) => sqlite.has_free_pages(),
            Engine::Postgres(_) => Ok(false),
        }
    }

    pub(super) fn compact(&mut self) -> Result<()> {
        match &mut self.engine {
            Engine::Sqlite(sqlite) => sqlite.compact(),
            Engine::Postgres(_) => Ok(()),
        }
    }

    pub(super) fn tables(&mut self) -> Result<Vec<String>> {
        match &mut self.engine {
            Engine::Sqlite(sqlite) => sqlite.tables(),
            Engine::Postgres(postgres) => postgres.tables(),
        }
    }

    /// The definitions of all tables, indexes and triggers.
    pub(super) fn definitions(&mut self) -> Result<Vec<Vec<u8>>> {
        match &mut self.engine {
            Engine::Sqlite(sqlite) => sqlite.definitions(),
            Engine::Postgres(postgres) => postgres.definitions(),
        }
    }

    /// The version of the server; none in a folder.
    pub(super) fn server_version(&mut self) -> Result<Option<String>> {
        match &mut self.engine {
            Engine::Sqlite(_) => Ok(None),
            Engine::Postgres(postgres) => postgres.version(),
        }
    }

    /// Why a database cannot hold a store, whatever is in it.
    pub(super) fn check_settings(&mut self) -> Result<()> {
        match &mut self.engine {
            Engine::Sqlite(_) => Ok(()),
            Engine::Postgres(postgres) => postgres.check_settings(),
        }
    }
}

/// How long a write waits for others and for the server.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Patience {
    Short,
    Long,
}

fn missing_reference(from: &str, to: &str) -> String {
    format!("a row of `{from}` refers to one of `{to}` that is not there")
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

fn insert_sql(table: &Table, rows: usize, on_conflict: OnConflict, is_server: bool) -> String {
    let width = table.width() + 1;
    // SQLite looks up numbered placeholders in a list, and PostgreSQL has no others.
    let place = |place: usize| if is_server { format!("${place}") } else { "?".to_owned() };
    let row = |row: usize| {
        let values: Vec<String> = (row * width + 1..=(row + 1) * width).map(place).collect();
        format!("({})", values.join(", "))
    };
    let tail = match on_conflict {
        OnConflict::Fail => "",
        OnConflict::Ignore => " ON CONFLICT DO NOTHING",
    };
    let rows = (0..rows).map(row).collect::<Vec<_>>().join(", ");
    format!("INSERT INTO {} ({}) VALUES {rows}{tail}", table.name, table.all_columns())
}
