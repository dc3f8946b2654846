//! A connection to a PostgreSQL database.
//!
//! Every statement runs inside an explicit transaction, with the unnamed prepared statement and without session state, so
//! that a connection pooler may give each transaction another server connection.

use super::repeats::{Backoff, Ended};
use super::row::{Cells, Row};
use super::server_error::{Failure, commit_is_refused, failure, map_error};
use super::{Access, BUSY_TIMEOUT, LONG_TIMEOUT, Value};
use crate::{Result, ServerUrl, StoreError};
use karat_io::cancel::Cancel;
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::types::Oid;
use sqlx::postgres::{PgArgumentBuffer, PgArguments, PgConnectOptions, PgConnection, PgRow, PgTypeInfo};
use sqlx::{Arguments, AssertSqlSafe, ConnectOptions, Connection, Encode, Row as _, Type};
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

#[cfg(test)]
type BeforeCommit = Box<dyn FnMut(&mut PgConnection, &Runtime) + Send>;

pub(super) struct Postgres {
    runtime: Runtime,
    options: PgConnectOptions,
    /// `None` while there is no connection; the next transaction makes one.
    connection: Option<PgConnection>,
    transaction: Option<Transaction>,
    place: Arc<str>,
    access: Access,
    /// Ends all waiting for the server, as if the connection were lost.
    abandon: Cancel,
    pub(super) timeouts: Timeouts,
    #[cfg(test)]
    pub(super) before_commit: Option<BeforeCommit>,
}

#[derive(Clone, Copy)]
pub(super) struct Timeouts {
    /// For a write that another one blocks.
    pub(super) short: Duration,
    /// For a write that must not be lost.
    pub(super) long: Duration,
}

struct Transaction {
    /// Decides after a lost connection whether a write was committed; `None` for reading.
    id: Option<String>,
    /// Which life of the server it began in.
    life: Option<String>,
    began_ms: i64,
    /// What ended it. PostgreSQL refuses all further statements.
    failure: Option<Failure>,
}

/// The server ends a statement after this time.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// The server ends a write whose process sends nothing for this time, so that a stopped process holds no locks.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// A snapshot holds no locks, and whoever reads an export may be slow.
const SNAPSHOT_IDLE_TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// Longer than the server's own timeout: a connection that is silent for longer is lost.
const SILENCE: Duration = Duration::from_secs(11 * 60);

/// How often a wait for the server looks whether it was abandoned.
const LOOK: Duration = Duration::from_millis(100);

/// Differs after every start of the server, and after every crash, after which the server may give ids of transactions again that
/// were lost.
const LIFE: &str =
    "pg_postmaster_start_time()::text || ' ' || COALESCE((SELECT stats_reset FROM pg_stat_bgwriter)::text, '')";

const NOW_MS: &str = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

impl Postgres {
    pub(super) fn connect(server: &ServerUrl, access: Access, abandon: &Cancel) -> Result<Self> {
        let place: Arc<str> = server.to_string().into();
        let bad = |detail: String| StoreError::Unreachable { place: place.to_string(), detail };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| bad(error.to_string()))?;
        let options = PgConnectOptions::from_str(server.with_password()).map_err(|error| bad(error.to_string()))?;
        let options = match options.get_application_name() {
            Some(_) => options,
            None => options.application_name("karat"),
        };
        // PgBouncer refuses settings of a session that it does not know; figures travel in binary anyway.
        let options = options.extra_float_digits(None).statement_cache_capacity(0).disable_statement_logging();
        let mut database = Self {
            runtime,
            options,
            connection: None,
            transaction: None,
            place,
            access,
            abandon: abandon.clone(),
            timeouts: Timeouts { short: BUSY_TIMEOUT, long: LONG_TIMEOUT },
            #[cfg(test)]
            before_commit: None,
        };
        database.open_connection()?;
        Ok(database)
    }

    /// The same connection for another use.
    pub(super) fn used_for(mut self, access: Access, abandon: &Cancel) -> Self {
        (self.access, self.abandon) = (access, abandon.clone());
        self
    }

    pub(super) fn place(&self) -> &Arc<str> {
        &self.place
    }

    /// Connects if there is no connection. A server that is starting or full is waited for.
    fn open_connection(&mut self) -> Result<()> {
        if self.connection.is_some() {
            return Ok(());
        }
        let deadline = Instant::now() + BUSY_TIMEOUT;
        let mut backoff = Backoff::default();
        loop {
            let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(100));
            let error = match wait(&self.runtime, &self.abandon, left, self.options.connect()) {
                Ok(connection) => {
                    self.connection = Some(connection);
                    return Ok(());
                }
                Err(error) => error,
            };
            if failure(&error) != Some(Failure::Full) || Instant::now() >= deadline || self.abandon.is_cancelled() {
                return Err(map_error(&self.place, error));
            }
            backoff.wait(deadline);
        }
    }

    /// Forgets a connection whose state is unknown.
    fn drop_connection(&mut self) {
        self.connection = None;
    }

    /// Runs statements without values in one round trip and returns their rows.
    fn simple(&mut self, sql: String) -> Result<Vec<PgRow>, sqlx::Error> {
        let Some(connection) = &mut self.connection else { return Err(lost()) };
        let query = sqlx::raw_sql(AssertSqlSafe(sql)).fetch_all(connection);
        let done = wait(&self.runtime, &self.abandon, SILENCE, query);
        self.checked(done)
    }

    /// Notes what ends the transaction or the connection.
    fn checked<T>(&mut self, result: Result<T, sqlx::Error>) -> Result<T, sqlx::Error> {
        if let Err(error) = &result {
            let why = failure(error).unwrap_or(Failure::Statement);
            if why == Failure::Lost {
                self.drop_connection();
            }
            if let Some(transaction) = &mut self.transaction {
                transaction.failure.get_or_insert(why);
            }
        }
        result
    }

    fn begin(&mut self, mode: Mode) -> Result<()> {
        if self.transaction.take().is_some() {
            // Left over from a panic.
            self.drop_connection();
        }
        let fresh = self.connection.is_none();
        self.open_connection()?;
        match self.try_begin(mode) {
            // An idle connection may have been cut long ago; the first transaction on it notices.
            Err(error) if !fresh && failure(&error) == Some(Failure::Lost) => {
                self.open_connection()?;
                self.try_begin(mode).map_err(|error| map_error(&self.place, error))
            }
            result => result.map_err(|error| map_error(&self.place, error)),
        }
    }

    fn try_begin(&mut self, mode: Mode) -> Result<(), sqlx::Error> {
        let ms = |time: Duration| time.as_millis();
        let (kind, idle, lock) = match mode {
            // Writes lock what they depend on. A stricter default of the server would hide what they waited for.
            Mode::Write { wait, .. } => ("ISOLATION LEVEL READ COMMITTED READ WRITE", IDLE_TIMEOUT, wait),
            Mode::Read => ("ISOLATION LEVEL READ COMMITTED READ ONLY", IDLE_TIMEOUT, self.timeouts.short),
            Mode::Snapshot => ("ISOLATION LEVEL REPEATABLE READ READ ONLY", SNAPSHOT_IDLE_TIMEOUT, self.timeouts.short),
        };
        let commit = match mode {
            // The server's own setting counts unless it gives up durability.
            Mode::Write { durable: true, .. } => {
                "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'; "
            }
            Mode::Write { durable: false, .. } => "SET LOCAL synchronous_commit TO off; ",
            Mode::Read | Mode::Snapshot => "",
        };
        let (id, life) = match mode {
            Mode::Write { .. } => ("pg_current_xact_id()::text", LIFE),
            Mode::Read | Mode::Snapshot => ("NULL", "NULL"),
        };
        let sql = format!(
            "BEGIN {kind}; SET LOCAL statement_timeout TO {}; SET LOCAL lock_timeout TO {}; \
             SET LOCAL idle_in_transaction_session_timeout TO {}; {commit}\
             SELECT {id} AS id, {life} AS life, {NOW_MS}::text AS now",
            ms(STATEMENT_TIMEOUT),
            ms(lock).max(1),
            ms(idle),
        );
        let rows = match self.simple(sql) {
            Ok(rows) => rows,
            Err(error) => {
                // What the server made of it is unknown.
                self.drop_connection();
                return Err(error);
            }
        };
        let row = rows.last();
        let text = |name| row.and_then(|row| row.try_get_unchecked::<Option<String>, _>(name).ok()).flatten();
        let (id, life) = (text("id"), text("life"));
        let now = row.and_then(|row| row.try_get_unchecked::<String, _>("now").ok());
        let began_ms = now.and_then(|now| now.parse().ok()).unwrap_or(0);
        self.transaction = Some(Transaction { id, life, began_ms, failure: None });
        Ok(())
    }

    pub(super) fn begin_snapshot(&mut self) -> Result<()> {
        self.begin(Mode::Snapshot)
    }

    pub(super) fn rollback(&mut self) {
        let open = self.transaction.take().is_some();
        if open && self.connection.is_some() && self.simple("ROLLBACK".to_owned()).is_err() {
            self.drop_connection();
        }
    }

    /// Commits. A connection that is lost meanwhile leaves open whether it did; the server knows.
    fn commit(&mut self, deadline: Instant) -> Result<(), Ended> {
        #[cfg(test)]
        if let (Some(hook), Some(connection)) = (&mut self.before_commit, &mut self.connection) {
            hook(connection, &self.runtime);
        }
        let result = self.simple("COMMIT".to_owned());
        let transaction = self.transaction.take();
        let Err(error) = result else { return Ok(()) };
        if commit_is_refused(&error) {
            return Err(Ended {
                why: failure(&error).unwrap_or(Failure::Statement),
                error: map_error(&self.place, error),
            });
        }
        self.drop_connection();
        // Whatever was read is there, and nothing was written.
        let Some(Transaction { id: Some(id), life, .. }) = transaction else { return Ok(()) };
        let detail = error.to_string();
        if self.was_committed(&id, life.as_deref(), deadline, &detail)? {
            return Ok(());
        }
        Err(Ended { why: Failure::Lost, error: map_error(&self.place, error) })
    }

    /// Asks over a new connection what became of a transaction, until the server says it.
    fn was_committed(&mut self, id: &str, life: Option<&str>, deadline: Instant, detail: &str) -> Result<bool, Ended> {
        // Giving up is worse than waiting: the caller could neither repeat the write nor rely on it.
        let deadline = deadline.max(Instant::now() + 2 * self.timeouts.short);
        let undecided = |place: &str| Ended {
            why: Failure::Statement,
            error: StoreError::Undecided { place: place.to_owned(), detail: detail.to_owned() },
        };
        let mut backoff = Backoff::default();
        loop {
            if self.open_connection().is_ok() {
                match self.simple(format!("SELECT pg_xact_status('{id}'::xid8), {LIFE}")) {
                    Ok(rows) => {
                        let row = rows.first();
                        let text = |at: usize| row.and_then(|row| row.try_get_unchecked::<Option<String>, _>(at).ok());
                        match text(0).flatten().as_deref() {
                            Some("committed") if text(1).flatten().as_deref() == life => return Ok(true),
                            // It may be another transaction with the same id.
                            Some("committed") => return Err(undecided(&self.place)),
                            Some("aborted") => return Ok(false),
                            Some(_) => {}
                            // So long ago that the server has forgotten it.
                            None => return Err(undecided(&self.place)),
                        }
                    }
                    // The id lies in the future of a server that took over and never saw it.
                    Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some("22023") => return Ok(false),
                    Err(_) => self.drop_connection(),
                }
            }
            if Instant::now() >= deadline || self.abandon.is_cancelled() {
                return Err(undecided(&self.place));
            }
            backoff.wait(deadline);
        }
    }

    /// Begins one try at a write that may take `wait` in all.
    pub(super) fn begin_write(&mut self, wait: Duration, durable: bool) -> Result<(), Ended> {
        // A shorter wait for locks leaves time to see that the server is gone, and to repeat.
        let begun = self.begin(Mode::Write { wait: wait.clamp(self.timeouts.short, 6 * self.timeouts.short), durable });
        begun.map_err(|error| Ended {
            why: match &error {
                StoreError::Unreachable { .. } => Failure::Lost,
                StoreError::TooManyConnections { .. } => Failure::Full,
                _ => Failure::Statement,
            },
            error,
        })
    }

    /// Ends a write with the result of its work.
    pub(super) fn end_write<T>(&mut self, result: Result<T>, deadline: Instant) -> Result<T, Ended> {
        let failed = self.transaction.as_ref().and_then(|transaction| transaction.failure);
        match (result, failed) {
            (Ok(value), None) => self.commit(deadline).map(|()| value),
            // Work that carries on after a failed statement would be undone by COMMIT without an error.
            (Ok(_), Some(why)) => {
                self.rollback();
                let detail = "a statement failed, so that the whole transaction is undone".to_owned();
                Err(Ended { why, error: StoreError::Database { place: self.place.to_string(), detail } })
            }
            (Err(error), why) => {
                self.rollback();
                Err(Ended { why: why.unwrap_or(Failure::Work), error })
            }
        }
    }

    pub(super) fn execute(&mut self, sql: String, values: Vec<Value>) -> Result<u64> {
        self.in_transaction(Mode::Write { wait: self.timeouts.short, durable: true }, |postgres| {
            let arguments = postgres.arguments(&values)?;
            let Some(connection) = &mut postgres.connection else { return Err(map_error(&postgres.place, lost())) };
            let query = sqlx::query_with(AssertSqlSafe(sql.clone()), arguments).persistent(false).execute(connection);
            let done = wait(&postgres.runtime, &postgres.abandon, SILENCE, query);
            let done = postgres.checked(done);
            done.map(|done| done.rows_affected()).map_err(|error| map_error(&postgres.place, error))
        })
    }

    pub(super) fn query(&mut self, sql: String, values: Vec<Value>) -> Result<Vec<Row>> {
        self.in_transaction(Mode::Read, |postgres| {
            let arguments = postgres.arguments(&values)?;
            let Some(connection) = &mut postgres.connection else { return Err(map_error(&postgres.place, lost())) };
            let query = sqlx::query_with(AssertSqlSafe(sql.clone()), arguments).persistent(false).fetch_all(connection);
            let rows = wait(&postgres.runtime, &postgres.abandon, SILENCE, query);
            let rows = postgres.checked(rows);
            let row = |row| Row { cells: Cells::Postgres(row), place: Arc::clone(&postgres.place) };
            rows.map(|rows| rows.into_iter().map(row).collect()).map_err(|error| map_error(&postgres.place, error))
        })
    }

    /// Runs statements without values.
    pub(super) fn script(&mut self, sql: String) -> Result<()> {
        self.in_transaction(Mode::Write { wait: self.timeouts.short, durable: true }, |postgres| {
            postgres.simple(sql.clone()).map(|_| ()).map_err(|error| map_error(&postgres.place, error))
        })
    }

    /// Milliseconds since 1970 on the server's clock: the beginning of the transaction, if one is open.
    pub(super) fn now_ms(&mut self) -> Result<i64> {
        if let Some(transaction) = &self.transaction {
            return Ok(transaction.began_ms);
        }
        let rows = self.query(format!("SELECT {NOW_MS}"), Vec::new())?;
        rows.first().map_or(Ok(0), |row| row.get(0))
    }

    /// Runs `work` in the open transaction, or else in one of its own, which is repeated after a conflict with others.
    fn in_transaction<T>(&mut self, mode: Mode, mut work: impl FnMut(&mut Self) -> Result<T>) -> Result<T> {
        if self.transaction.is_some() {
            return work(self);
        }
        let mode = if self.access == Access::Write { mode } else { Mode::Read };
        let deadline = Instant::now() + self.timeouts.short;
        let mut backoff = Backoff::default();
        loop {
            self.begin(mode)?;
            let result = work(self);
            let ended = match self.end_write(result, Instant::now() + self.timeouts.short) {
                Ok(value) => return Ok(value),
                Err(ended) => ended,
            };
            if ended.why != Failure::Conflict || Instant::now() >= deadline || self.is_abandoned() {
                return Err(ended.error);
            }
            backoff.wait(deadline);
        }
    }

    pub(super) fn is_abandoned(&self) -> bool {
        self.abandon.is_cancelled()
    }

    fn arguments(&self, values: &[Value]) -> Result<PgArguments> {
        let refused = |detail: String| StoreError::Conflict { place: self.place.to_string(), detail };
        let mut arguments = PgArguments::default();
        for value in values {
            let added = match value {
                Value::Null => arguments.add(Null),
                Value::Int(number) => arguments.add(*number),
                // Rows are hashed without the sign of zero, which SQLite does not keep.
                Value::Real(number) => arguments.add(*number + 0.0),
                Value::Text(text) if text.contains('\0') => {
                    return Err(refused("a text contains the character NUL, which PostgreSQL cannot store".to_owned()));
                }
                Value::Text(text) => arguments.add(text.as_str()),
                Value::Bytes(bytes) => arguments.add(bytes.as_slice()),
            };
            added.map_err(|error| refused(error.to_string()))?;
        }
        Ok(arguments)
    }
}

#[derive(Clone, Copy)]
enum Mode {
    /// A power cut may undo one that is not durable.
    Write {
        wait: Duration,
        durable: bool,
    },
    Read,
    Snapshot,
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            // The server would log a connection that just ends. Nothing depends on it.
            let closing = async { tokio::time::timeout(Duration::from_secs(1), connection.close()).await };
            let _ = self.runtime.block_on(closing);
        }
    }
}

/// Waits for the server up to a limit, and no longer than until it is abandoned.
fn wait<T>(
    runtime: &Runtime,
    abandon: &Cancel,
    limit: Duration,
    work: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, sqlx::Error> {
    runtime.block_on(async {
        let (mut work, began) = (std::pin::pin!(work), Instant::now());
        loop {
            let left = limit.saturating_sub(began.elapsed());
            match tokio::time::timeout(left.min(LOOK), work.as_mut()).await {
                Ok(done) => return done,
                Err(_) if abandon.is_cancelled() => return Err(lost()),
                Err(_) if left <= LOOK => return Err(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())),
                Err(_) => {}
            }
        }
    })
}

fn lost() -> sqlx::Error {
    sqlx::Error::Io(std::io::Error::new(std::io::ErrorKind::ConnectionAborted, "the connection was lost"))
}

/// A NULL whose type the server infers.
struct Null;

impl Type<sqlx::Postgres> for Null {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(0))
    }
}

impl Encode<'_, sqlx::Postgres> for Null {
    fn encode_by_ref(&self, _: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        Ok(IsNull::Yes)
    }
}
