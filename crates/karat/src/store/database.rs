//! The one door to the database. All SQL outside of this file and the table of migrations is portable: `$1` for values, TEXT,
//! BIGINT, DOUBLE PRECISION and BLOB for types. Another database takes this seat by another file like this one.

mod row;

pub(super) use row::{Row, Value, row_damage};

use super::error::StoreError;
use super::tables::{ARTIFACTS, ROW_HASH, Table};
use sqlx::sqlite::{SqliteArguments, SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{Arguments, AssertSqlSafe, ConnectOptions, Connection, SqliteConnection};
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

    /// Runs a statement, and tells how many rows it changed. Rows that are kept are written by [`Self::insert`] and
    /// [`Self::update`] alone, which give them their hash.
    pub(super) fn execute(&mut self, sql: &'static str, values: Vec<Value>) -> Result<u64, StoreError> {
        self.execute_made(sql.to_owned(), values)
    }

    /// The rows of a question about how many rows there are, or of the database itself; what rows hold is read by
    /// [`Self::select`].
    pub(super) fn query(&mut self, sql: &'static str, values: Vec<Value>) -> Result<Vec<Row>, StoreError> {
        self.query_made(sql.to_owned(), values)
    }

    /// The only row of a question, where there is one.
    pub(super) fn query_one(&mut self, sql: &'static str, values: Vec<Value>) -> Result<Option<Row>, StoreError> {
        Ok(self.query(sql, values)?.into_iter().next())
    }

    /// Rows of a table with all their columns, each checked against its hash. What comes after the name of the table, such as
    /// `WHERE id = $1`, says which ones.
    pub(super) fn select(&mut self, table: &Table, tail: &str, values: Vec<Value>) -> Result<Vec<Row>, StoreError> {
        self.select_each(table, tail, values)?.into_iter().collect()
    }

    /// The first of these rows.
    pub(super) fn select_one(
        &mut self,
        table: &Table,
        tail: &str,
        values: Vec<Value>,
    ) -> Result<Option<Row>, StoreError> {
        Ok(self.select(table, tail, values)?.into_iter().next())
    }

    /// The same rows, or what is wrong with each.
    pub(super) fn select_each(
        &mut self,
        table: &Table,
        tail: &str,
        values: Vec<Value>,
    ) -> Result<Vec<Result<Row, StoreError>>, StoreError> {
        let rows = self.query_made(format!("SELECT {} FROM {} {tail}", table.all_columns(), table.name), values)?;
        Ok(rows.into_iter().map(|row| row.check(table).map(|()| row)).collect())
    }

    /// Every row of a table by its place in the file, without a look at any index or hash.
    fn walk(
        &mut self,
        table: &Table,
        tell: &mut dyn FnMut(&mut Self, i64, &Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        // An artifact may be as large as anything that is kept.
        let at_once = if *table == ARTIFACTS { 1 } else { 64 };
        let sql = format!(
            "SELECT {}, rowid FROM {} WHERE rowid > $1 ORDER BY rowid LIMIT {at_once}",
            table.all_columns(),
            table.name
        );
        let mut after = i64::MIN;
        loop {
            let rows = self.query_made(sql.clone(), vec![after.into()])?;
            if rows.is_empty() {
                return Ok(());
            }
            for row in &rows {
                let place = row.int(table.columns.len() + 1)?;
                if place <= after {
                    return Err(row.damage(format!("the rows of the table `{}` are out of order", table.name)));
                }
                after = place;
                tell(self, place, row)?;
            }
        }
    }

    /// The rows of a table that are not what was stored, as messages name them.
    pub(super) fn damaged_rows(&mut self, table: &Table) -> Result<Vec<String>, StoreError> {
        let mut found = Vec::new();
        self.walk(table, &mut |_, _, row| {
            if row.check(table).is_err() {
                found.push(row.name(table));
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Gives every row of a table that has no hash its own.
    pub(super) fn hash_rows(&mut self, table: &Table) -> Result<(), StoreError> {
        let sql = format!("UPDATE {} SET {ROW_HASH} = $1 WHERE rowid = $2", table.name);
        self.walk(table, &mut |database, place, row| {
            if row.bytes(table.columns.len())?.is_empty() {
                let hash = row.hash(table)?;
                database.execute_made(sql.clone(), vec![hash.to_vec().into(), place.into()])?;
            }
            Ok(())
        })
    }

    /// Where rows are missing from tables whose rows are counted: within what, how many there are, and the number of the last.
    pub(super) fn gaps(&mut self, table: &Table) -> Result<Vec<(String, i64, i64)>, StoreError> {
        let Some((column, within)) = table.counted else { return Ok(Vec::new()) };
        let sql = format!(
            "SELECT {within}, COUNT(*), MAX({column}) FROM {} GROUP BY 1 HAVING COUNT(*) <> MAX({column})",
            table.name
        );
        let rows = self.query_made(sql, Vec::new())?;
        rows.iter().map(|row| Ok((row.text(0)?, row.int(1)?, row.int(2)?))).collect()
    }

    /// The next number of a table whose rows are counted as a whole.
    pub(super) fn next_number(&mut self, table: &Table) -> Result<i64, StoreError> {
        let column = table.columns[0];
        let rows = self.query_made(format!("SELECT MAX({column}) FROM {}", table.name), Vec::new())?;
        let last = rows.first().map(|row| row.int_or_null(0)).transpose()?.flatten();
        Ok(last.unwrap_or(0) + 1)
    }

    /// Inserts many rows with few statements, which is several times faster than one statement a row.
    pub(super) fn insert(&mut self, table: &Table, mut rows: Vec<Vec<Value>>, taken: Taken) -> Result<(), StoreError> {
        for row in &mut rows {
            let hash = table.hash(row.iter().map(Value::field));
            row.push(hash.to_vec().into());
        }
        // Few sizes of statements, so that each is prepared once and kept.
        for size in [128, 16, 1] {
            while rows.len() >= size {
                let rest = rows.split_off(size);
                let values: Vec<Value> = rows.into_iter().flatten().collect();
                self.execute_made(insertion(table, size, taken), values)?;
                rows = rest;
            }
        }
        Ok(())
    }

    /// Changes columns of the rows that a condition picks, and tells how many they are. Each is checked before and has the hash
    /// of its new content after.
    pub(super) fn update(
        &mut self,
        table: &Table,
        condition: &str,
        values: Vec<Value>,
        changes: &[(&'static str, Value)],
    ) -> Result<u64, StoreError> {
        let rows = self.select(table, condition, values)?;
        let columns = changes.iter().map(|(column, _)| *column).chain([ROW_HASH]);
        let set: Vec<String> = columns.zip(1..).map(|(column, place)| format!("{column} = ${place}")).collect();
        let keys = table.columns[..table.key].iter().zip(set.len() + 1..);
        let keys: Vec<String> = keys.map(|(column, place)| format!("{column} = ${place}")).collect();
        let sql = format!("UPDATE {} SET {} WHERE {}", table.name, set.join(", "), keys.join(" AND "));
        for row in &rows {
            let mut all = row.values(table)?;
            let key = all[..table.key].to_vec();
            for (column, value) in changes {
                if let Some(place) = table.columns.iter().position(|own| own == column) {
                    all[place] = value.clone();
                }
            }
            let changed = changes.iter().map(|(_, value)| value.clone());
            let values = changed.chain([table.hash(all.iter().map(Value::field)).to_vec().into()]).chain(key).collect();
            self.execute_made(sql.clone(), values)?;
        }
        Ok(rows.len() as u64)
    }

    fn execute_made(&mut self, sql: String, values: Vec<Value>) -> Result<u64, StoreError> {
        let (arguments, connection) = (self.arguments(values)?, live(&mut self.connection, &self.file)?);
        let result = self.runtime.block_on(sqlx::query_with(AssertSqlSafe(sql), arguments).execute(connection));
        result.map(|done| done.rows_affected()).map_err(|error| meaning(&self.file, error))
    }

    fn query_made(&mut self, sql: String, values: Vec<Value>) -> Result<Vec<Row>, StoreError> {
        let (arguments, connection) = (self.arguments(values)?, live(&mut self.connection, &self.file)?);
        let result = self.runtime.block_on(sqlx::query_with(AssertSqlSafe(sql), arguments).fetch_all(connection));
        let rows = result.map_err(|error| meaning(&self.file, error))?;
        let file: Arc<Path> = self.file.as_path().into();
        Ok(rows.into_iter().map(|row| Row { row, file: Arc::clone(&file) }).collect())
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

    /// Does as [`Self::write`] does, and outlives the process, but perhaps no power cut: for what is written often and whose loss
    /// is no damage.
    pub(super) fn write_quickly<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.script("PRAGMA synchronous = NORMAL")?;
        let result = self.write(work);
        self.script("PRAGMA synchronous = FULL")?;
        result
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

    /// The definitions of all tables, indexes and triggers. They are read as plain bytes: a definition that is no text any more
    /// ends the thread that SQLite runs in.
    pub(super) fn definitions(&mut self) -> Result<Vec<Vec<u8>>, StoreError> {
        let sql = "SELECT CAST(type || ' ' || name || ' ' || tbl_name || ' ' || COALESCE(sql, '') AS BLOB) \
                   FROM sqlite_master WHERE name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY type, name";
        self.query(sql, Vec::new())?.iter().map(|row| row.bytes(0)).collect()
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

/// What becomes of a row whose key is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// None of the rows is inserted.
    Refuse,
    /// What is there stays, and the row is left out.
    Keep,
}

/// Values without numbers, since the database looks every number up among all others.
fn insertion(table: &Table, rows: usize, taken: Taken) -> String {
    let row = format!("({})", vec!["?"; table.columns.len() + 1].join(", "));
    let tail = match taken {
        Taken::Refuse => "",
        Taken::Keep => " ON CONFLICT DO NOTHING",
    };
    let rows = vec![row.as_str(); rows].join(", ");
    format!("INSERT INTO {} ({}) VALUES {rows}{tail}", table.name, table.all_columns())
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
        10 => StoreError::Disk { file, detail },
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

    /// Runs a script that a test makes up.
    pub(super) fn script_made(&mut self, sql: String) {
        let connection = self.connection.as_mut().unwrap();
        self.runtime.block_on(sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection)).unwrap();
    }

    /// The columns that a table has now.
    pub(super) fn columns(&mut self, table: &str) -> Vec<String> {
        let rows = self.query_made(format!("SELECT name FROM pragma_table_info('{table}')"), Vec::new()).unwrap();
        rows.iter().map(|row| row.text(0).unwrap()).collect()
    }

    /// Gives every row the hash of what it holds now, as if it had been stored so.
    pub(super) fn rehash(&mut self) {
        for name in ["labels", "extra_labels", "audit_labels", "probes"] {
            self.execute_made(format!("DROP TRIGGER IF EXISTS {name}_are_never_overwritten"), Vec::new()).unwrap();
        }
        for table in super::tables::TABLES {
            self.execute_made(format!("UPDATE {} SET {ROW_HASH} = x''", table.name), Vec::new()).unwrap();
            self.hash_rows(table).unwrap();
        }
    }

    /// The database grows to so many pages and no further, as on a disk that is full.
    pub(super) fn limit_pages(&mut self, pages: u32) {
        let sql = AssertSqlSafe(format!("PRAGMA max_page_count = {pages}"));
        self.runtime.block_on(sqlx::raw_sql(sql).execute(self.connection.as_mut().unwrap())).unwrap();
    }
}
