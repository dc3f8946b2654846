//! A run as a submission.

use super::Store;
use super::error::StoreError;
use super::naming::RunId;
use super::planned::Planned;
use super::tables::TRIALS;
use super::trials::{described, key};
use crate::run::record::TrialKey;
use serde::Serialize;
use std::io::Write;

/// What came of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Exported {
    /// How many trials were written.
    pub trials: usize,
    /// Trials that are damaged and were left out, a sentence each.
    pub unreadable: Vec<String>,
}

impl Store {
    /// Writes the latest attempt at each trial as a line of a submission, in the order of the plan. What is damaged is left
    /// out and named, so that the rest is not lost with it.
    pub fn export(&mut self, run: &RunId, out: &mut dyn Write) -> Result<Exported, StoreError> {
        self.at_one_moment(|store| store.export_now(run, out))
    }

    fn export_now(&mut self, run: &RunId, out: &mut dyn Write) -> Result<Exported, StoreError> {
        let mut exported = Exported::default();
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

    /// The latest attempts in the order of the plan. Only an index is read, which may be whole where the trials are not.
    fn in_order(&mut self, run: &RunId, exported: &mut Exported) -> Result<Vec<(TrialKey, u32)>, StoreError> {
        let rows = self.database.query(
            "SELECT run_id, tool, case_id, number, MAX(attempt) FROM trials WHERE run_id = $1 \
             GROUP BY run_id, tool, case_id, number ORDER BY tool, case_id, number",
            vec![run.into()],
        )?;
        let mut order =
            rows.iter().map(|row| Ok((key(row)?, row.count(4)?))).collect::<Result<Vec<_>, StoreError>>()?;
        match self.plan(run) {
            Ok(plan) => {
                let planned = Planned::of(&plan);
                // What is not in the plan comes last; `karat store verify` tells of it.
                order.sort_by_cached_key(|(key, _)| (planned.place(key).is_none(), planned.place(key)));
            }
            Err(StoreError::Damaged { detail, .. }) => exported.unreadable.push(detail),
            Err(error) => return Err(error),
        }
        Ok(order)
    }

    fn line(&mut self, run: &RunId, key: &TrialKey, attempt: u32) -> Result<String, StoreError> {
        let (tool, case) = (key.tool.as_str().into(), key.case.as_str().into());
        let file = self.database.file().to_owned();
        let damaged = |detail: &str| StoreError::Damaged {
            file: file.clone(),
            detail: format!("{} cannot be read ({detail})", described(key, attempt)),
        };
        let row = self.database.select_one(
            &TRIALS,
            "WHERE run_id = $1 AND tool = $2 AND case_id = $3 AND number = $4 AND attempt = $5",
            vec![run.into(), tool, case, key.number.into(), attempt.into()],
        );
        let row = match row {
            Ok(Some(row)) => row,
            Ok(None) => return Err(damaged("it is listed and not there")),
            Err(StoreError::Damaged { detail, .. }) => return Err(damaged(&detail)),
            Err(error) => return Err(error),
        };
        // A line that is no trial must not get into a submission.
        self.stored(&row)?;
        row.text(7)
    }
}
