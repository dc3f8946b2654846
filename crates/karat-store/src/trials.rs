//! Trials, each durable as soon as it is done, their judgements, and their export as a submission.

use super::artifacts::{Packed, Packer, insert_artifacts};
use super::record::{Artifact, Planned, TrialKey, TrialRecord};
use super::runs::{lock_run, outcome};
use super::tables::{JUDGEMENTS, TRIAL_ARTIFACTS, TRIALS};
use super::{Database, OnConflict, Result, Row, RunId, RunState, Store, StoreError, Value};
use karat_core::ids::{CaseId, ToolName};
use karat_core::trial::{Outcome, Trial};
use karat_format::judgement::JudgementV1;
use karat_format::run::TrialDetailV1;
use karat_format::submission::TrialV1;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

/// Limit for an artifact, and for a trial without its artifacts: SQLite allows 10^9 bytes per row.
const MAX_BYTES: usize = 256 << 20;

/// A stored trial.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct StoredTrial {
    pub trial: Trial,
    pub attempt: u32,
    pub detail: TrialDetailV1,
}

/// The result of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct ExportedTrials {
    pub trials: usize,
    /// Damaged trials that were left out, one message each.
    pub unreadable: Vec<String>,
}

impl Store {
    /// Stores finished trials and their artifacts atomically; durable on return. An existing attempt is an error and stays.
    /// What exceeds the size limit is truncated, and the trial's detail says so.
    pub fn save(&mut self, run: &RunId, records: &[TrialRecord]) -> Result<()> {
        self.save_within(run, records, MAX_BYTES)
    }

    pub(super) fn save_within(&mut self, run: &RunId, records: &[TrialRecord], most: usize) -> Result<()> {
        // Slow work is done before the write lock is taken.
        let mut batch = Batch::default();
        for record in records {
            batch.add(self, run, record, most)?;
        }
        self.upload(&mut batch.packed)?;
        let stored = self.database.write_waiting(|database| {
            batch.insert_artifacts(database)?;
            // Writers of a run exclude each other from here to the end of the write, so it comes late.
            let state = lock_run(database, run)?;
            if state != RunState::Running {
                return Err(StoreError::Ended { run: run.to_string(), state: state.as_str() });
            }
            batch.insert(database, run)
        });
        stored.map_err(|error| batch.explain(&mut self.database, run, error))
    }

    /// The latest attempt at each trial, in the order of finishing.
    pub fn trials(&mut self, run: &RunId) -> Result<Vec<StoredTrial>> {
        self.latest_rows(run)?.iter().map(|row| self.stored(row)).collect()
    }

    fn latest_rows(&mut self, run: &RunId) -> Result<Vec<Row>> {
        let latest = "WHERE run_id = $1 AND attempt = (SELECT MAX(u.attempt) FROM trials u \
                      WHERE u.run_id = trials.run_id AND u.tool = trials.tool AND u.case_id = trials.case_id \
                      AND u.number = trials.number) ORDER BY position";
        self.database.select(&TRIALS, latest, vec![run.into()])
    }

    /// Copies the latest attempt at these trials of one run to another, as its first attempt, with their artifacts and what is
    /// known of their tools. Atomic, and durable on return.
    pub fn copy_trials(&mut self, from: &RunId, to: &RunId, keys: &BTreeSet<TrialKey>) -> Result<()> {
        let mut batch = Batch::default();
        let mut attempts = BTreeSet::new();
        for row in &self.latest_rows(from)? {
            let (key, attempt) = (key(row)?, row.count(4)?);
            if !keys.contains(&key) {
                continue;
            }
            let outcome = self.stored(row)?.trial.outcome;
            batch.trial(TrialRow { key: key.clone(), attempt: 1, outcome, line: row.get(7)?, detail: row.get(8)? })?;
            attempts.insert((key, attempt));
        }
        for row in self.database.select(&TRIAL_ARTIFACTS, "WHERE run_id = $1", vec![from.into()])? {
            let (key, attempt) = (key(&row)?, row.count(4)?);
            if attempts.contains(&(key.clone(), attempt)) {
                batch.link(to, &key, 1, row.get(5)?, row.get(6)?);
            }
        }
        let tools: BTreeSet<&ToolName> = keys.iter().map(|key| &key.tool).collect();
        for (tool, facts) in self.tools(from)?.iter().filter(|(tool, _)| tools.contains(tool)) {
            self.set_tool(to, tool, facts)?;
        }
        let copied = self.database.write_waiting(|database| {
            lock_run(database, to)?;
            batch.insert(database, to)
        });
        copied.map_err(|error| batch.explain(&mut self.database, to, error))
    }

    /// The finished trials, with the latest attempt and its outcome.
    pub fn finished_trials(&mut self, run: &RunId) -> Result<BTreeMap<TrialKey, (u32, Outcome)>> {
        let all = "WHERE run_id = $1 ORDER BY tool, case_id, number, attempt";
        let rows = self.database.select(&TRIALS, all, vec![run.into()])?;
        // Later attempts replace earlier ones.
        rows.iter().map(|row| Ok((key(row)?, (row.count(4)?, outcome(&self.database, row.get(6)?)?)))).collect()
    }

    /// At most `most` attempts that finished after position `place` (0 for the beginning), with their positions.
    pub fn attempts_after(&mut self, run: &RunId, place: i64, most: u32) -> Result<Vec<(i64, StoredTrial)>> {
        let next = "WHERE run_id = $1 AND position > $2 ORDER BY position LIMIT $3";
        let rows = self.database.select(&TRIALS, next, vec![run.into(), place.into(), most.into()])?;
        rows.iter().map(|row| Ok((row.get(5)?, self.stored(row)?))).collect()
    }

    /// Parses a trial; line and columns must agree.
    pub(super) fn stored(&self, row: &Row) -> Result<StoredTrial> {
        let (key, attempt) = (key(row)?, row.count(4)?);
        let what = || described(&key, attempt);
        let damaged = |reason: String| self.database.damaged(format!("{} {reason}", described(&key, attempt)));
        let line: TrialV1 = self.database.parse_json(row.get(7)?, what)?;
        let detail: TrialDetailV1 = self.database.parse_json(row.get(8)?, what)?;
        let (trial, faults) = line.into_trial();
        if let Some(fault) = faults.first() {
            return Err(damaged(format!("is no trial: {}", fault.message)));
        }
        if TrialKey::from_trial(&trial) != key {
            return Err(damaged("is stored under another's key".to_owned()));
        }
        if trial.outcome.as_str() != row.get::<&str>(6)? {
            return Err(damaged("is stored with another outcome than its own".to_owned()));
        }
        Ok(StoredTrial { trial, attempt, detail })
    }

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

    /// The latest attempt at each trial, in plan order. The trials themselves are not read.
    pub fn latest_attempts(&mut self, run: &RunId) -> Result<Vec<(TrialKey, u32)>> {
        let mut exported = ExportedTrials::default();
        let order = self.in_order(run, &mut exported)?;
        match exported.unreadable.pop() {
            Some(detail) => Err(self.database.damaged(detail)),
            None => Ok(order),
        }
    }

    /// One attempt at a trial.
    pub fn trial(&mut self, run: &RunId, key: &TrialKey, attempt: u32) -> Result<StoredTrial> {
        let own = "WHERE run_id = $1 AND tool = $2 AND case_id = $3 AND number = $4 AND attempt = $5";
        let row = self.database.select_one(&TRIALS, own, key_values(run, key, attempt))?;
        let row =
            row.ok_or_else(|| self.database.damaged(format!("{} is listed and not there", described(key, attempt))))?;
        self.stored(&row)
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
        row.get(7)
    }

    /// Replaces the stored judgements of a run atomically.
    pub fn set_judgements(&mut self, run: &RunId, judgements: &[JudgementV1]) -> Result<()> {
        let mut lines = self.judgement_lines(judgements)?;
        self.database.write_waiting(|database| {
            lock_run(database, run)?;
            replace_judgements(database, run, database.consume(&mut lines))
        })
    }

    pub(super) fn judgement_lines(&self, judgements: &[JudgementV1]) -> Result<Vec<String>> {
        let mut lines = Vec::with_capacity(judgements.len());
        for (number, judgement) in (1_i64..).zip(judgements) {
            check_judgement(judgement).map_err(|reason| StoreError::BadJudgement { number, reason })?;
            lines.push(self.database.json(judgement)?);
        }
        Ok(lines)
    }

    /// The latest attempts at these trials, in the order of finishing.
    pub fn trials_of(&mut self, run: &RunId, keys: &[TrialKey]) -> Result<Vec<StoredTrial>> {
        let mut found = Vec::new();
        for key in keys {
            let last = "WHERE run_id = $1 AND tool = $2 AND case_id = $3 AND number = $4 ORDER BY attempt DESC LIMIT 1";
            let mut values = key_values(run, key, 0);
            values.pop();
            if let Some(row) = self.database.select_one(&TRIALS, last, values)? {
                found.push((row.get::<i64>(5)?, self.stored(&row)?));
            }
        }
        found.sort_by_key(|(position, _)| *position);
        Ok(found.into_iter().map(|(_, stored)| stored).collect())
    }

    /// The judgements of a run, in the order given.
    pub fn judgements(&mut self, run: &RunId) -> Result<Vec<JudgementV1>> {
        self.judgement_rows(run)?.into_iter().map(|row| self.judgement(run, &row?)).collect()
    }

    pub(super) fn judgement_rows(&mut self, run: &RunId) -> Result<Vec<Result<Row>>> {
        self.database.select_each(&JUDGEMENTS, "WHERE run_id = $1 ORDER BY position", vec![run.into()])
    }

    pub(super) fn judgement(&self, run: &RunId, row: &Row) -> Result<JudgementV1> {
        let number: i64 = row.get(1)?;
        let judgement: JudgementV1 =
            self.database.parse_json(row.get(2)?, || format!("judgement {number} of the run {run}"))?;
        let invalid = |reason| format!("judgement {number} of the run {run} is invalid: {reason}");
        check_judgement(&judgement).map(|()| judgement).map_err(|reason| self.database.damaged(invalid(reason)))
    }
}

#[derive(Default)]
pub(super) struct Batch {
    keys: BTreeSet<(TrialKey, u32)>,
    trials: Vec<TrialRow>,
    links: Vec<Vec<Value>>,
    pub(super) hashes: BTreeSet<String>,
    pub(super) packed: Vec<Packed>,
    pub(super) packer: Packer,
}

#[derive(Clone)]
pub(super) struct TrialRow {
    pub(super) key: TrialKey,
    pub(super) attempt: u32,
    pub(super) outcome: Outcome,
    pub(super) line: String,
    pub(super) detail: String,
}

impl Batch {
    pub(super) fn trials(&self) -> usize {
        self.keys.iter().map(|(key, _)| key).collect::<BTreeSet<_>>().len()
    }

    /// A batch of one trial.
    pub(super) fn from_record(store: &Store, run: &RunId, record: &TrialRecord) -> Result<Self> {
        let mut batch = Self::default();
        batch.add(store, run, record, MAX_BYTES)?;
        Ok(batch)
    }

    /// Adds the trials that another one has, and the links to their artifacts.
    pub(super) fn append_trials(&mut self, other: &Self) -> Result<()> {
        other.trials.iter().try_for_each(|row| self.trial(row.clone()))?;
        self.links.extend(other.links.iter().cloned());
        Ok(())
    }

    /// Adds the artifacts that another one has.
    pub(super) fn append_artifacts(&mut self, other: &Self) {
        other.packed.iter().for_each(|packed| self.artifact(packed.clone()));
    }

    fn add(&mut self, store: &Store, run: &RunId, record: &TrialRecord, most: usize) -> Result<()> {
        let (key, attempt) = (TrialKey::from_trial(&record.trial), record.attempt);
        let refused =
            |reason: &str| StoreError::BadTrial { trial: described(&key, attempt), reason: reason.to_owned() };
        if attempt == 0 {
            return Err(refused("attempts are counted from 1"));
        }
        let mirror = TrialV1::from(&record.trial);
        let mut line = store.database.json(&mirror)?;
        // A stored trial must be a valid submission when exported.
        if let Some(fault) = mirror.faults().first() {
            return Err(refused(&fault.message));
        }
        let mut detail = record.detail.clone();
        let (mut names, mut outcome) = (BTreeSet::new(), record.trial.outcome);
        for artifact in &record.artifacts {
            if !names.insert(&artifact.name) {
                return Err(refused(&format!("it has two artifacts called `{}`", artifact.name)));
            }
            let (kept, remark) = truncate_artifact(artifact, most);
            detail.remarks.extend(remark);
            let packed = self.packer.pack(kept);
            self.link(run, &key, attempt, &artifact.name, &packed.hash);
            self.artifact(packed);
        }
        if line.len() > most {
            let size = line.len();
            detail.reason.get_or_insert(format!("what it reported takes up {size} bytes, and {most} are kept at most"));
            let bare = drop_findings(&record.trial);
            (line, outcome) = (store.database.json(&TrialV1::from(&bare))?, bare.outcome);
        }
        let mut text = store.database.json(&detail)?;
        if text.len() > most {
            text = store.database.json(&shorten_detail(&detail, text.len()))?;
        }
        self.trial(TrialRow { key, attempt, outcome, line, detail: text })
    }

    pub(super) fn trial(&mut self, row: TrialRow) -> Result<()> {
        if !self.keys.insert((row.key.clone(), row.attempt)) {
            return Err(StoreError::Twice { trial: described(&row.key, row.attempt) });
        }
        self.trials.push(row);
        Ok(())
    }

    pub(super) fn artifact(&mut self, packed: Packed) {
        if self.hashes.insert(packed.hash.clone()) {
            self.packed.push(packed);
        }
    }

    pub(super) fn link(&mut self, run: &RunId, key: &TrialKey, attempt: u32, name: &str, hash: &str) {
        let mut row = key_values(run, key, attempt);
        row.extend([name.into(), hash.into()]);
        self.links.push(row);
    }

    pub(super) fn insert_artifacts(&mut self, database: &mut Database) -> Result<()> {
        insert_artifacts(database, database.consume(&mut self.packed))
    }

    /// Inserts trials and the links to their artifacts; the run is locked or new.
    pub(super) fn insert(&mut self, database: &mut Database, run: &RunId) -> Result<()> {
        let last = database.query_number("SELECT MAX(position) FROM trials WHERE run_id = $1", vec![run.into()])?;
        let row = |(position, row): (i64, TrialRow)| {
            let mut values = key_values(run, &row.key, row.attempt);
            values.extend([position.into(), row.outcome.as_str().into(), row.line.into(), row.detail.into()]);
            values
        };
        let trials = database.consume(&mut self.trials);
        let rows = (last.unwrap_or(0) + 1..).zip(trials).map(row).collect();
        database.insert(&TRIALS, rows, OnConflict::Fail)?;
        database.insert(&TRIAL_ARTIFACTS, database.consume(&mut self.links), OnConflict::Fail)
    }

    /// The error of a write of this batch; names the trial that is stored already.
    pub(super) fn explain(&self, database: &mut Database, run: &RunId, error: StoreError) -> StoreError {
        match error {
            StoreError::Conflict { .. } => twice(database, run, &self.keys).unwrap_or(error),
            other => other,
        }
    }
}

fn twice(database: &mut Database, run: &RunId, keys: &BTreeSet<(TrialKey, u32)>) -> Option<StoreError> {
    let sql = "SELECT 1 FROM trials WHERE run_id = $1 AND tool = $2 AND case_id = $3 AND number = $4 AND attempt = $5";
    let there = |(key, attempt): &&(TrialKey, u32)| {
        matches!(database.query_one(sql, key_values(run, key, *attempt)), Ok(Some(_)))
    };
    let (key, attempt) = keys.iter().find(there)?;
    Some(StoreError::Twice { trial: described(key, *attempt) })
}

/// The key of a row in [`TRIALS`].
fn key_values(run: &RunId, key: &TrialKey, attempt: u32) -> Vec<Value> {
    vec![run.into(), key.tool.as_str().into(), key.case.as_str().into(), key.number.into(), attempt.into()]
}

pub(super) fn key(row: &Row) -> Result<TrialKey> {
    let (tool, case) = (ToolName::new(row.get::<&str>(1)?), CaseId::new(row.get::<&str>(2)?));
    Ok(TrialKey { tool, case, number: row.count(3)? })
}

fn described(key: &TrialKey, attempt: u32) -> String {
    format!("trial {} of {} on {}, attempt {attempt},", key.number, key.tool, key.case)
}

fn truncate_artifact(artifact: &Artifact, most: usize) -> (&[u8], Option<String>) {
    let Some(kept) = artifact.bytes.get(..most).filter(|kept| kept.len() < artifact.bytes.len()) else {
        return (&artifact.bytes, None);
    };
    let (name, all) = (&artifact.name, artifact.bytes.len());
    (kept, Some(format!("`{name}` was cut: the first {most} of its {all} bytes are kept")))
}

/// An oversized trial without its findings; it counts as unreadable.
fn drop_findings(trial: &Trial) -> Trial {
    Trial {
        outcome: if trial.outcome == Outcome::Reported { Outcome::Unparsable } else { trial.outcome },
        latency_ms: trial.latency_ms,
        tokens_in: trial.tokens_in,
        tokens_out: trial.tokens_out,
        cost_usd: trial.cost_usd,
        style: trial.style.clone(),
        ..Trial::reported(trial.case.clone(), trial.tool.clone(), trial.number)
    }
}

/// An oversized detail reduced to its figures and a remark.
fn shorten_detail(detail: &TrialDetailV1, size: usize) -> TrialDetailV1 {
    let remark = format!("its reason and remarks were dropped: they take up {size} bytes");
    let TrialDetailV1 { exit, signal, started_ms, isolation_kind, .. } = *detail;
    TrialDetailV1 { exit, signal, started_ms, isolation_kind, remarks: vec![remark], ..TrialDetailV1::default() }
}

pub(super) fn replace_judgements(database: &mut Database, run: &RunId, lines: Vec<String>) -> Result<()> {
    database.execute("DELETE FROM judgements WHERE run_id = $1", vec![run.into()])?;
    insert_judgements(database, run, lines)
}

pub(super) fn insert_judgements(database: &mut Database, run: &RunId, lines: Vec<String>) -> Result<()> {
    let row = |(position, line): (i64, String)| -> Vec<Value> { vec![run.into(), position.into(), line.into()] };
    database.insert(&JUDGEMENTS, (1..).zip(lines).map(row).collect(), OnConflict::Fail)
}

/// Rejects judgements that the schema allows but that are not valid.
pub(super) fn check_judgement(judgement: &JudgementV1) -> Result<(), String> {
    let (_, faults) = judgement.clone().into_judgement();
    faults.first().map_or(Ok(()), |fault| Err(format!("{}: {}", fault.path.join("."), fault.message)))
}
