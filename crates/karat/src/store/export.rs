//! A run as a submission.

use super::Store;
use super::error::StoreError;
use super::planned::Planned;
use super::runs::RunId;
use super::trials::key;
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
        let plan = self.plan(run)?;
        let planned = Planned::of(&plan);
        let mut order: Vec<_> = self.done(run)?.into_iter().map(|(key, (attempt, _))| (key, attempt)).collect();
        // What is not in the plan comes last; `karat store verify` tells of it.
        order.sort_by_cached_key(|(key, _)| (planned.place(key).is_none(), planned.place(key)));
        let mut exported = Exported::default();
        for (trial, attempt) in order {
            let values = vec![
                run.into(),
                trial.tool.as_str().into(),
                trial.case.as_str().into(),
                trial.number.into(),
                attempt.into(),
            ];
            let sql = "SELECT tool, case_id, number, attempt, outcome, line, detail FROM trials \
                       WHERE run_id = $1 AND tool = $2 AND case_id = $3 AND number = $4 AND attempt = $5";
            let row = self.database.query_one(sql, values);
            let line = row.and_then(|row| {
                let row = row.ok_or_else(|| self.lost(&trial))?;
                debug_assert_eq!(key(&row).ok().as_ref(), Some(&trial));
                self.stored(&row)?;
                row.text(5)
            });
            match line {
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

    fn lost(&self, trial: &crate::run::record::TrialKey) -> StoreError {
        let detail = format!("trial {} of {} on {} is listed and not there", trial.number, trial.tool, trial.case);
        StoreError::Damaged { file: self.database.file().to_owned(), detail }
    }
}
