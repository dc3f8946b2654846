//! What tests do to a database.

use super::postgres::Timeouts;
use super::{Database, Engine};
use crate::tables::{ROW_HASH, TABLES};
use sqlx::postgres::PgConnection;
use std::time::Duration;
use tokio::runtime::Runtime;

impl Database {
    pub(crate) fn set_busy_timeouts(&mut self, short: Duration, long: Duration) {
        match &mut self.engine {
            Engine::Sqlite(sqlite) => {
                sqlite.script(format!("PRAGMA busy_timeout = {}", short.as_millis())).unwrap();
                sqlite.long_busy_timeout = long;
            }
            Engine::Postgres(postgres) => postgres.timeouts = Timeouts { short, long },
        }
    }

    pub(crate) fn script_sql(&mut self, sql: String) {
        self.script_text(sql).unwrap();
    }

    pub(crate) fn script_result(&mut self, sql: String) -> crate::Result<()> {
        self.script_text(sql)
    }

    pub(crate) fn drop_trigger(&mut self, table: &str, name: &str) {
        let on = if self.is_server() { format!(" ON {table}") } else { String::new() };
        self.script_sql(format!("DROP TRIGGER IF EXISTS {table}_{name}{on}"));
    }

    /// Rows may refer to missing ones from now on.
    pub(crate) fn ignore_foreign_keys(&mut self) {
        if !self.is_server() {
            return self.script_sql("PRAGMA foreign_keys = OFF".to_owned());
        }
        for table in TABLES {
            self.script_sql(format!("ALTER TABLE {} DISABLE TRIGGER ALL", table.name));
        }
    }

    /// Rehashes every row, as if its current content had been stored.
    pub(crate) fn rehash(&mut self) {
        for table in ["labels", "probes"] {
            self.drop_trigger(table, "are_never_overwritten");
        }
        for table in TABLES {
            let sql = format!("UPDATE {} SET {ROW_HASH} = $1 WHERE rowid = $2", table.name);
            self.walk(table, &mut |database, place, row| {
                let hash = table.hash(row.fields(table)?);
                database.execute_text(sql.clone(), vec![hash.to_vec().into(), place.into()]).map(|_| ())
            })
            .unwrap();
        }
    }

    /// Simulates a full disk.
    pub(crate) fn limit_pages(&mut self, pages: u32) {
        self.script_sql(format!("PRAGMA max_page_count = {pages}"));
    }

    /// Opens a write transaction that is never committed.
    pub(crate) fn begin_without_end(&mut self) {
        match &mut self.engine {
            Engine::Sqlite(sqlite) => sqlite.begin_write(Duration::ZERO).unwrap(),
            Engine::Postgres(postgres) => assert!(postgres.begin_write(Duration::from_secs(10), true).is_ok()),
        }
    }

    /// Calls `hook` before each COMMIT on a server.
    pub(crate) fn before_commit(&mut self, hook: impl FnMut(&mut PgConnection, &Runtime) + Send + 'static) {
        if let Engine::Postgres(postgres) = &mut self.engine {
            postgres.before_commit = Some(Box::new(hook));
        }
    }
}
