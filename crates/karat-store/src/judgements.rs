//! Judgements of a run's trials.

use super::Store;
use super::database::{Database, OnConflict, Row, Value};
use super::error::StoreError;
use super::naming::RunId;
use super::runs::run_state;
use super::tables::JUDGEMENTS;
use karat_format::judgement::JudgementV1;

impl Store {
    /// Replaces the stored judgements of a run atomically.
    pub fn set_judgements(&mut self, run: &RunId, judgements: &[JudgementV1]) -> Result<(), StoreError> {
        let mut lines = Vec::with_capacity(judgements.len());
        for (position, judgement) in (1_i64..).zip(judgements) {
            check(judgement).map_err(|reason| StoreError::BadJudgement { number: position, reason })?;
            lines.push(self.database.json(judgement)?);
        }
        self.database.write_waiting(|database| {
            run_state(database, run)?;
            database.execute("DELETE FROM judgements WHERE run_id = $1", vec![run.into()])?;
            insert(database, run, lines)
        })
    }

    /// The judgements of a run, in the order given.
    pub fn judgements(&mut self, run: &RunId) -> Result<Vec<JudgementV1>, StoreError> {
        let rows = self.judgement_rows(run)?;
        rows.into_iter().map(|row| self.judgement(run, &row?)).collect()
    }

    pub(super) fn judgement_rows(&mut self, run: &RunId) -> Result<Vec<Result<Row, StoreError>>, StoreError> {
        self.database.select_each(&JUDGEMENTS, "WHERE run_id = $1 ORDER BY position", vec![run.into()])
    }

    pub(super) fn judgement(&self, run: &RunId, row: &Row) -> Result<JudgementV1, StoreError> {
        let number = row.int(1)?;
        let judgement: JudgementV1 =
            self.database.parse_json(row.str(2)?, || format!("judgement {number} of the run {run}"))?;
        match check(&judgement) {
            Ok(()) => Ok(judgement),
            Err(reason) => {
                Err(self.database.damaged(format!("judgement {number} of the run {run} is invalid: {reason}")))
            }
        }
    }
}

pub(super) fn insert(database: &mut Database, run: &RunId, lines: Vec<String>) -> Result<(), StoreError> {
    let row = |(position, line): (i64, String)| -> Vec<Value> { vec![run.into(), position.into(), line.into()] };
    database.insert(&JUDGEMENTS, (1..).zip(lines).map(row).collect(), OnConflict::Fail)
}

/// Rejects judgements that the schema allows but that are not valid.
pub(super) fn check(judgement: &JudgementV1) -> Result<(), String> {
    let (_, faults) = judgement.clone().into_judgement();
    faults.first().map_or(Ok(()), |fault| Err(format!("{}: {}", fault.path.join("."), fault.message)))
}
