//! Exports a run as a submission.

use super::Store;
use super::error::{Result, StoreError};
use super::naming::RunId;
use super::tables::TRIALS;
use super::trials::{described, key, key_values};
use crate::record::{Planned, TrialKey};
use serde::Serialize;
use std::io::Write;

/// The result of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct ExportedTrials {
    pub trials: usize,
    /// Damaged trials that were left out, one message each.
    pub unreadable: Vec<String>,
}

impl Store {
    /// Writes the latest attempt at each trial as a submission, in plan order. Damaged trials are left out and reported.
    pub fn export(&mut self, run: &RunId, out: &mut dyn Write) -> Result<ExportedTrials> {
        self.in_snapshot(|store| {
            let mut exported = ExportedTrials::default();
            for (key, attempt) in store.in_order(run, &mut exported)? {
                match store.line(run, &key, attempt) {
                    Ok(line) => {
                        writeln!(out, "{line}").map_err(StoreError::Unwritten)?;
                        exported.trials += 1;
                    }
                    Err(StoreError::Damaged { detail, .. }) => exported.unreadable.push(detail),
                    Err(error) => return Err(error),
                }
            }
            Ok(exported)
        })
    }

    /// The latest attempts in plan order. Only an index is read, which may be intact where the trials are not.
    fn in_order(&mut self, run: &RunId, exported: &mut ExportedTrials) -> Result<Vec<(TrialKey, u32)>> {
        let rows = self.database.query(
            "SELECT run_id, tool, case_id, number, MAX(attempt) FROM trials WHERE run_id = $1 \
             GROUP BY run_id, tool, case_id, number ORDER BY tool, case_id, number",
            vec![run.into()],
        )?;
        let mut order = rows.iter().map(|row| Ok((key(row)?, row.count(4)?))).collect::<Result<Vec<_>>>()?;
        match self.plan(run) {
            Ok(plan) => {
                let planned = Planned::new(&plan);
                // Trials outside the plan come last; `karat store verify` reports them.
                order.sort_by_cached_key(|(key, _)| (planned.place(key).is_none(), planned.place(key)));
            }
            Err(StoreError::Damaged { detail, .. }) => exported.unreadable.push(detail),
            Err(error) => return Err(error),
        }
        Ok(order)
    }

    fn line(&mut self, run: &RunId, key: &TrialKey, attempt: u32) -> Result<String> {
        let own = "WHERE run_id = $1 AND tool = $2 AND case_id = $3 AND number = $4 AND attempt = $5";
        let row = self.database.select_one(&TRIALS, own, key_values(run, key, attempt));
        let damaged = |why: &str| self.database.damaged(format!("{} cannot be read ({why})", described(key, attempt)));
        let row = match row {
            Ok(row) => row.ok_or_else(|| damaged("it is listed and not there"))?,
            Err(StoreError::Damaged { detail, .. }) => return Err(damaged(&detail)),
            Err(error) => return Err(error),
        };
        // A line that is not a valid trial must not get into a submission.
        self.stored(&row)?;
        row.text(7)
    }
}
