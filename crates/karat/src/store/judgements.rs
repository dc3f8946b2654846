//! What judges said of a run's trials.

use super::Store;
use super::database::{Database, Insert, Row, Value};
use super::error::StoreError;
use super::naming::RunId;
use super::runs::exists;
use crate::format::judgement::JudgementV1;

impl Store {
    /// Keeps what judges said of a run, instead of all that was kept of it before: all of it or none.
    pub fn set_judgements(&mut self, run: &RunId, judgements: &[JudgementV1]) -> Result<(), StoreError> {
        let mut lines = Vec::with_capacity(judgements.len());
        for (position, judgement) in (1_i64..).zip(judgements) {
            check(judgement).map_err(|reason| StoreError::BadJudgement { number: position, reason })?;
            lines.push(self.json(judgement)?);
        }
        self.database.insist(|database| {
            exists(database, run)?;
            database.execute("DELETE FROM judgements WHERE run_id = $1", vec![run.into()])?;
            insert(database, run, lines)
        })
    }

    /// What judges said of a run, in the order in which it was given.
    pub fn judgements(&mut self, run: &RunId) -> Result<Vec<JudgementV1>, StoreError> {
        let rows = self.judgement_rows(run)?;
        rows.iter().map(|row| self.judgement(run, row)).collect()
    }

    /// The rows of a run's judgements in their order: position, line.
    pub(super) fn judgement_rows(&mut self, run: &RunId) -> Result<Vec<Row>, StoreError> {
        let sql = "SELECT position, line FROM judgements WHERE run_id = $1 ORDER BY position";
        self.database.query(sql, vec![run.into()])
    }

    /// A judgement from its row.
    pub(super) fn judgement(&self, run: &RunId, row: &Row) -> Result<JudgementV1, StoreError> {
        let number = row.int(0)?;
        let judgement: JudgementV1 = self.parsed(&row.text(1)?, || format!("judgement {number} of the run {run}"))?;
        check(&judgement).map_err(|reason| StoreError::Damaged {
            file: self.database.file().to_owned(),
            detail: format!("judgement {number} of the run {run} is none: {reason}"),
        })?;
        Ok(judgement)
    }
}

/// Inserts the judgements of a run that has none.
pub(super) fn insert(database: &mut Database, run: &RunId, lines: Vec<String>) -> Result<(), StoreError> {
    const INTO: Insert = Insert { into: "judgements (run_id, position, line)", columns: 3, tail: "" };
    let row = |(position, line): (i64, String)| -> Vec<Value> { vec![run.into(), position.into(), line.into()] };
    database.insert(&INTO, (1..).zip(lines).map(row).collect())
}

/// Refuses what the schema allows and no judgement can say.
pub(super) fn check(judgement: &JudgementV1) -> Result<(), String> {
    let (_, faults) = judgement.clone().into_judgement();
    faults.first().map_or(Ok(()), |fault| Err(format!("{}: {}", fault.path.join("."), fault.message)))
}
