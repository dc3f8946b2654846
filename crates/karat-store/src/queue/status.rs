//! How far the units of a run are.

use crate::{Result, RunId, Store, StoreError};
use serde::Serialize;
use std::collections::BTreeSet;

/// How far the units of a run are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct QueueStatus {
    pub waiting: u64,
    /// Claimed by a worker whose lease has not ended.
    pub claimed: u64,
    /// Claimed by a worker whose lease has ended.
    pub expired: u64,
    pub done: u64,
    pub workers: u64,
    /// What the tools of units that are not done need.
    pub needs: BTreeSet<String>,
}

impl Store {
    /// How far the units of a run are.
    pub fn queue_status(&mut self, run: &RunId) -> Result<QueueStatus> {
        self.require_server()?;
        let row = self.database.query_one(
            concat!(
                "SELECT COUNT(*) FILTER (WHERE state = 'waiting'), \
                 COUNT(*) FILTER (WHERE state = 'claimed' AND until_ms >= ",
                now_ms!(),
                "), COUNT(*) FILTER (WHERE state = 'claimed' AND until_ms < ",
                now_ms!(),
                "), COUNT(*) FILTER (WHERE state = 'done'), \
                 COUNT(DISTINCT worker) FILTER (WHERE state = 'claimed' AND until_ms >= ",
                now_ms!(),
                ") FROM queue_units WHERE run_id = $1"
            ),
            vec![run.into()],
        )?;
        let Some(row) = row else { return Ok(QueueStatus::default()) };
        let number = |column| Ok::<_, StoreError>(u64::from(row.count(column)?));
        Ok(QueueStatus {
            waiting: number(0)?,
            claimed: number(1)?,
            expired: number(2)?,
            done: number(3)?,
            workers: number(4)?,
            needs: self.queued_needs(Some(run))?,
        })
    }

    /// Whether a run that is running, or any, has units left.
    pub fn has_open_units(&mut self, run: Option<&RunId>) -> Result<bool> {
        self.require_server()?;
        let sql = "SELECT COUNT(*) FROM runs r WHERE r.state = 'running' AND ($1 = '' OR r.id = $1) AND \
                   (EXISTS (SELECT 1 FROM queue_units u WHERE u.run_id = r.id AND u.state = 'waiting' AND u.tries = 0) \
                   OR EXISTS (SELECT 1 FROM queue_units u WHERE u.run_id = r.id AND u.state <> 'done' AND u.tries > 0))";
        Ok(self.database.query_count(sql, vec![run.map_or("", RunId::as_str).into()])? > 0)
    }
}
