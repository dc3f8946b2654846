//! Exports a run as a submission.

use super::Store;
use super::error::StoreError;
use super::naming::RunId;
use super::tables::TRIALS;
use super::trials::{described, key};
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
    /// Writes the latest attempt at each trial as a line of a submission, in plan order. Damaged trials are left out and
    /// reported.
    pub fn export(&mut self, run: &RunId, out: &mut dyn Write) -> Result<ExportedTrials, StoreError> {
        self.in_snapshot(|store| store.export_now(run, out))
    }

    fn export_now(&mut self, run: &RunId, out: &mut dyn Write) -> Result<ExportedTrials, StoreError> {
        let mut exported = ExportedTrials::default();
        for (key, attempt) in self.in_order(run, &mut exported)? {
            match self.line(run, &key, attempt) {
                Ok(line) => {
                    writeln!(out, "{line}").map_err(StoreError::Unwritten)?;
                    exported.trials += 1;
                }
                Err(StoreError::Damaged { detail, .. }) => exported.unreadable.push(detail),
                Err(error) => return Err(error),
            }
        }
        Ok(exported)
    }

    /// The latest attempts in plan order. Only an index is read, which may be intact where the trials are not.
    fn in_order(&mut self, run: &RunId, exported: &mut ExportedTrials) -> Result<Vec<(TrialKey, u32)>, StoreError> {
        let rows = self.database.query(
            "SELECT run_id, tool, case_id, number, MAX(attempt) FROM trials WHERE run_id = $1 \
             GROUP BY run_id, tool, case_id, number ORDER BY tool, case_id, number",
            vec![run.into()],
        )?;
        let mut order =
            rows.iter().map(|row| Ok((key(row)?, row.count(4)?))).collect::<Result<Vec<_>, StoreError>>()?;
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

    fn line(&mut self, run: &RunId, key: &TrialKey, attempt: u32) -> Result<String, StoreError> {
        let (tool, case) = (key.tool.as_str().into(), key.case.as_str().into());
        let row = self.database.select_one(
            &TRIALS,
            "WHERE run_id = $1 AND tool = $2 AND case_id = $3 AND number = $4 AND attempt = $5",
            vec![run.into(), tool, case, key.number.into(), attempt.into()],
        );
        let row = match row {
            Ok(Some(row)) => row,
            Ok(None) => {
                let detail = format!("{} cannot be read (it is listed and not there)", described(key, attempt));
                return Err(self.database.damaged(detail));
            }
            Err(StoreError::Damaged { detail, .. }) => {
                let detail = format!("{} cannot be read ({detail})", described(key, attempt));
                return Err(self.database.damaged(detail));
            }
            Err(error) => return Err(error),
        };
        // A line that is not a valid trial must not get into a submission.
        self.stored(&row)?;
        row.text(7)
    }
}
