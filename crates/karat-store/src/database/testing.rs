//! What tests do to a database.

use super::Database;
use crate::tables::{ROW_HASH, TABLES};
use sqlx::AssertSqlSafe;
use std::time::Duration;

impl Database {
    pub(crate) fn set_busy_timeouts(&mut self, short: Duration, long: Duration) {
        let sql = AssertSqlSafe(format!("PRAGMA busy_timeout = {}", short.as_millis()));
        self.runtime.block_on(sqlx::raw_sql(sql).execute(self.connection.as_mut().unwrap())).unwrap();
        self.long_busy_timeout = long;
    }

    pub(crate) fn script_sql(&mut self, sql: String) {
        let connection = self.connection.as_mut().unwrap();
        self.runtime.block_on(sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection)).unwrap();
    }

    /// Rehashes every row, as if its current content had been stored.
    pub(crate) fn rehash(&mut self) {
        for name in ["labels", "probes"] {
            self.execute_sql(format!("DROP TRIGGER IF EXISTS {name}_are_never_overwritten"), Vec::new()).unwrap();
        }
        for table in TABLES {
            let sql = format!("UPDATE {} SET {ROW_HASH} = $1 WHERE rowid = $2", table.name);
            self.walk(table, &mut |database, place, row| {
                let hash = table.hash(row.fields(table)?);
                database.execute_sql(sql.clone(), vec![hash.to_vec().into(), place.into()]).map(|_| ())
            })
            .unwrap();
        }
    }

    /// Simulates a full disk.
    pub(crate) fn limit_pages(&mut self, pages: u32) {
        let sql = AssertSqlSafe(format!("PRAGMA max_page_count = {pages}"));
        self.runtime.block_on(sqlx::raw_sql(sql).execute(self.connection.as_mut().unwrap())).unwrap();
    }
}
