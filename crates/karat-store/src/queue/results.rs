//! What workers store: results of claimed units, and the end of runs.

use super::{Claim, Unit, hand_over, queue_scoring_if_done, unit};
use crate::record::TrialRecord;
use crate::runs::{end_run, lock_run};
use crate::trials::{Batch, replace_judgements};
use crate::{Database, Result, RunId, RunState, Store, StoreError};
use karat_core::trial::Outcome;
use karat_format::judgement::JudgementV1;
use std::collections::BTreeSet;

impl Store {
    /// Stores the results of claimed trials of one run with their artifacts, and completes their units, in one transaction.
    /// Returns for each whether it was accepted: the result of a claim that another worker has taken over is refused. What
    /// follows is queued with it: judging of reported trials, and scoring when nothing else is left.
    pub fn complete_trials(&mut self, run: &RunId, results: &[(Claim, TrialRecord)]) -> Result<Vec<bool>> {
        self.require_server()?;
        let mut batches = Vec::new();
        for (_, record) in results {
            let mut batch = Batch::from_record(self, run, record)?;
            self.upload(&mut batch.packed)?;
            batches.push(batch);
        }
        self.database.write_waiting(|database| {
            // Large artifacts take long, and neither renewals nor other results of the run may wait for them.
            let mut artifacts = Batch::default();
            batches.iter().for_each(|batch| artifacts.append_artifacts(batch));
            artifacts.insert_artifacts(database)?;
            require_running(run, lock_run(database, run)?)?;
            let judging = "SELECT judging FROM run_queues WHERE run_id = $1";
            let judging = database.query_number(judging, vec![run.into()])?.unwrap_or(0) == 1;
            let done = complete(database, run, &results.iter().map(|(claim, _)| claim).collect::<Vec<_>>())?;
            let accepted: Vec<bool> = results.iter().map(|(claim, _)| done.contains(&claim.unit)).collect();
            let mut all = Batch::default();
            let mut to_judge = Vec::new();
            for (((claim, record), batch), _) in results.iter().zip(&batches).zip(&accepted).filter(|(_, yes)| **yes) {
                all.append_trials(batch)?;
                if judging && record.trial.outcome == Outcome::Reported {
                    to_judge.push(claim);
                }
            }
            all.insert(database, run)?;
            queue_judging(database, run, &to_judge)?;
            queue_scoring_if_done(database, run)?;
            Ok(accepted)
        })
    }

    /// Completes judging units of one run, whose answers are in the ledger. Units that another worker has taken over are left
    /// to it.
    pub fn complete_judging(&mut self, run: &RunId, claims: &[Claim]) -> Result<()> {
        self.require_server()?;
        self.database.write_waiting(|database| {
            lock_run(database, run)?;
            complete(database, run, &claims.iter().collect::<Vec<_>>())?;
            queue_scoring_if_done(database, run)
        })
    }

    /// Stores the judgements and the report of a run that was scored under a claim, and ends the run, in one transaction.
    /// Returns whether it was accepted.
    pub fn complete_scoring(&mut self, claim: &Claim, judgements: &[JudgementV1], report: &[u8]) -> Result<bool> {
        self.require_server()?;
        let run = &claim.unit.run;
        let lines = self.judgement_lines(judgements)?;
        let mut batch = Batch::default();
        let report = batch.packer.pack(report);
        let hash = report.hash.clone();
        batch.artifact(report);
        self.upload(&mut batch.packed)?;
        self.database.write_waiting(|database| {
            require_running(run, lock_run(database, run)?)?;
            if complete(database, run, &[claim])?.is_empty() {
                return Ok(false);
            }
            batch.insert_artifacts(database)?;
            replace_judgements(database, run, lines.clone())?;
            end_run(database, run, RunState::Complete, Some(&hash))?;
            Ok(true)
        })
    }

    /// Stops a run: nothing more of it is claimed, and workers end what they have of it.
    pub fn stop(&mut self, run: &RunId) -> Result<()> {
        self.require_server()?;
        self.database.write_waiting(|database| {
            require_running(run, lock_run(database, run)?)?;
            stop_locked(database, run)
        })
    }

    /// Stops a run that cannot be scored under this claim, and says why. Returns whether it was accepted.
    pub fn stop_scoring(&mut self, claim: &Claim, why: &str) -> Result<bool> {
        self.require_server()?;
        let run = &claim.unit.run;
        self.database.write_waiting(|database| {
            require_running(run, lock_run(database, run)?)?;
            if complete(database, run, &[claim])?.is_empty() {
                return Ok(false);
            }
            database.execute("UPDATE run_queues SET stopped = $2 WHERE run_id = $1", vec![run.into(), why.into()])?;
            stop_locked(database, run)?;
            Ok(true)
        })
    }

    /// Why a worker stopped a run, if one did.
    pub fn why_stopped(&mut self, run: &RunId) -> Result<Option<String>> {
        self.require_server()?;
        let row = self.database.query_one("SELECT stopped FROM run_queues WHERE run_id = $1", vec![run.into()])?;
        row.map_or(Ok(None), |row| row.get(0))
    }
}

fn require_running(run: &RunId, state: RunState) -> Result<()> {
    match state {
        RunState::Running => Ok(()),
        state => Err(StoreError::Ended { run: run.to_string(), state: state.as_str() }),
    }
}

/// Stops a run whose row is locked.
fn stop_locked(database: &mut Database, run: &RunId) -> Result<()> {
    database.execute(
        "UPDATE queue_units SET state = 'waiting', tries = GREATEST(tries - 1, 0), fence = fence + 1, worker = NULL, \
         until_ms = NULL WHERE run_id = $1 AND state = 'claimed'",
        vec![run.into()],
    )?;
    end_run(database, run, RunState::Stopped, None)
}

/// Completes the units whose claims are the last ones, and returns them.
fn complete(database: &mut Database, run: &RunId, claims: &[&Claim]) -> Result<BTreeSet<Unit>> {
    let rows = database.query(
        concat!(
            "UPDATE queue_units u SET state = 'done', worker = NULL, until_ms = NULL FROM ",
            handed_over!(),
            " WHERE ",
            same_unit!(),
            " RETURNING ",
            unit_columns!("u.")
        ),
        vec![run.into(), hand_over(database, claims)?],
    )?;
    rows.iter().map(|row| unit(database, row)).collect()
}

fn queue_judging(database: &mut Database, run: &RunId, claims: &[&Claim]) -> Result<()> {
    if claims.is_empty() {
        return Ok(());
    }
    database.execute(
        concat!(
            "INSERT INTO queue_units (run_id, kind, tool, case_id, number, position, attempt, needs, state, fence, tries) \
             SELECT $1, 'judge', x.tool, x.case_id, x.number, ROW_NUMBER() OVER () + \
             (SELECT COALESCE(MAX(position), 0) FROM queue_units WHERE run_id = $1), x.attempt, '', 'waiting', 0, 0 FROM ",
            handed_over!(),
            " ON CONFLICT (run_id, kind, tool, case_id, number) DO UPDATE SET attempt = EXCLUDED.attempt, \
             state = 'waiting', tries = 0, fence = queue_units.fence + 1, worker = NULL, until_ms = NULL"
        ),
        vec![run.into(), hand_over(database, claims)?],
    )?;
    Ok(())
}
