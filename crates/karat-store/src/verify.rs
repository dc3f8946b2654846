//! Verifies that everything in a store is as it was stored.

use super::artifacts::OBJECT_CODING;
use super::database::row_damage;
use super::ledger::check;
use super::record::Planned;
use super::runs::row;
use super::tables::{ARTIFACTS, TABLES, TRIALS};
use super::trials::key;
use super::{Result, RunId, RunState, Store, StoreError};
use karat_core::wording::count;
use karat_format::run::PlanV1;
use serde::Serialize;
use std::collections::HashSet;

/// Something wrong with a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Problem {
    pub code: &'static str,
    pub message: String,
}

const MOST: usize = 1000;

const MOST_NAMED: usize = 20;

impl Store {
    /// Reads everything in the store and returns what is wrong; changes nothing.
    pub fn verify(&mut self) -> Result<Vec<Problem>> {
        self.in_snapshot(Self::verify_now)
    }

    fn verify_now(&mut self) -> Result<Vec<Problem>> {
        let mut found = Problems::default();
        let own = self.database.check();
        for sentence in found.record(own)?.unwrap_or_default() {
            found.add("database", sentence);
        }
        self.verify_rows(&mut found)?;
        let artifacts = self.verify_artifacts(&mut found);
        found.record(artifacts)?;
        let ids = self.database.query("SELECT id FROM runs ORDER BY id", Vec::new());
        for row in found.record(ids)?.unwrap_or_default() {
            let Some(text) = found.record(row.get::<String>(0))? else { continue };
            match RunId::parse(&text) {
                None => found.add("run", format!("a run has the id `{text}`, which is none")),
                Some(id) => {
                    let run = self.verify_run(&id, &mut found);
                    found.record(run)?;
                }
            }
        }
        for check in [Self::verify_ledger, Self::check_labels, Self::check_probes, Self::check_sessions] {
            let done = check(self, &mut found);
            found.record(done)?;
        }
        found.problems.truncate(MOST);
        Ok(found.problems)
    }

    fn verify_rows(&mut self, found: &mut Problems) -> Result<()> {
        for table in TABLES {
            let damaged = self.database.damaged_rows(table);
            let damaged = found.record(damaged)?.unwrap_or_default();
            if !damaged.is_empty() {
                let shown = damaged.iter().take(MOST_NAMED).map(String::as_str).collect::<Vec<_>>().join("; ");
                let more = damaged.len().saturating_sub(MOST_NAMED);
                let more = if more > 0 { format!("; and {more} more") } else { String::new() };
                let rows = if damaged.len() == 1 { "row is" } else { "rows are" };
                let (count, name) = (damaged.len(), table.name);
                found
                    .add("damaged", format!("{count} {rows} not what was stored in the table `{name}`: {shown}{more}"));
                found.reported.extend(damaged.iter().map(|row| row_damage(row, table)));
            }
            let gaps = self.database.gaps(table);
            for (within, rows, last) in found.record(gaps)?.unwrap_or_default() {
                let within = if within.is_empty() { String::new() } else { format!(" of {within}") };
                let (name, rows) = (table.name, count(rows as usize, "row"));
                found.add("missing", format!("the table `{name}` has {rows}{within}, and the last is number {last}"));
            }
        }
        Ok(())
    }

    fn verify_artifacts(&mut self, found: &mut Problems) -> Result<()> {
        let mut unread: Option<(usize, String)> = None;
        for row in self.database.query("SELECT hash FROM artifacts ORDER BY hash", Vec::new())? {
            let hash: String = row.get(0)?;
            let row = self.database.select_one(&ARTIFACTS, "WHERE hash = $1", vec![hash.as_str().into()]);
            let Some(row) = found.record(row)? else { continue };
            let Some(row) = row else {
                found.add("artifact", format!("the artifact {hash} is listed and not there"));
                continue;
            };
            if let Some((objects, _)) = &mut unread
                && row.get::<&str>(2)?.starts_with(OBJECT_CODING)
            {
                *objects += 1;
                continue;
            }
            match self.artifact_content(&hash, &row) {
                Err(StoreError::Damaged { detail, .. } | StoreError::DamagedObject { detail }) => {
                    found.add("artifact", detail);
                }
                Err(error @ (StoreError::NoObjectStorage { .. } | StoreError::ObjectStorage { .. })) => {
                    unread = Some((1, error.to_string()));
                }
                content => drop(content?),
            }
        }
        if let Some((objects, error)) = unread {
            found.add("objects", format!("{} could not be checked: {error}", count(objects, "object")));
        }
        Ok(())
    }

    fn verify_ledger(&mut self, found: &mut Problems) -> Result<()> {
        self.ledger_walk(&mut |exchange| {
            if let Some(exchange) = found.record(exchange)?
                && let Err(message) = check(&exchange)
            {
                found.add("ledger", message);
            }
            Ok(())
        })
    }

    fn verify_run(&mut self, run: &RunId, found: &mut Problems) -> Result<()> {
        let row = row(&mut self.database, run)?;
        let (state, ended, created): (String, Option<i64>, i64) = (row.get(4)?, row.get(3)?, row.get(2)?);
        match RunState::parse(&state) {
            None => found.add("run", format!("the run {run} is in the state `{state}`, which is none")),
            Some(RunState::Running) if ended.is_some() => {
                found.add("run", format!("the run {run} is running and has ended"));
            }
            Some(RunState::Complete) if ended.is_none() => {
                found.add("run", format!("the run {run} is complete and has not ended"));
            }
            Some(_) => {}
        }
        if ended.is_some_and(|ended| ended < created) {
            // A clock set back causes this, so it is reported but is not damage.
            found.add("clock", format!("the run {run} ended before it began; was the clock set back?"));
        }
        let plan = self.database.parse_json::<PlanV1>(row.get(8)?, || format!("the plan of the run {run}"));
        let Some(plan) = found.record(plan)? else { return Ok(()) };
        if plan.suite.digest != row.get::<&str>(6)? || Planned::new(&plan).total() != row.get::<i64>(9)? {
            found.add("run", format!("the run {run} says of its plan what the plan does not say"));
        }
        for row in self.fact_rows(run)? {
            let Some(row) = found.record(row)? else { continue };
            found.record(self.facts(run, &row))?;
            let tool: String = row.get(1)?;
            if !plan.tools.iter().any(|planned| planned.name == tool) {
                found.add("run", format!("the run {run} knows a tool {tool} that is not in its plan"));
            }
        }
        for row in self.judgement_rows(run)? {
            found.record(row.and_then(|row| self.judgement(run, &row)))?;
        }
        self.verify_trials(run, &plan, state == RunState::Complete.as_str(), found)
    }

    fn verify_trials(&mut self, run: &RunId, plan: &PlanV1, complete: bool, found: &mut Problems) -> Result<()> {
        let planned = Planned::new(plan);
        let mut done = std::collections::BTreeSet::new();
        let all = "WHERE run_id = $1 ORDER BY tool, case_id, number, attempt";
        for row in self.database.select_each(&TRIALS, all, vec![run.into()])? {
            let Some(row) = found.record(row)? else { continue };
            let trial = found.record(self.stored(&row))?;
            let key = key(&row)?;
            if planned.place(&key).is_none() {
                let message =
                    format!("the plan of the run {run} has no trial {} of {} on {}", key.number, key.tool, key.case);
                found.add("trial", message);
            } else if trial.is_some() {
                done.insert(key);
            }
        }
        let done = i64::try_from(done.len()).unwrap_or(i64::MAX);
        if complete && done < planned.total() {
            found.add("run", format!("the run {run} is complete with {done} of {} planned trials", planned.total()));
        }
        Ok(())
    }
}

#[derive(Default)]
pub(super) struct Problems {
    problems: Vec<Problem>,
    reported: HashSet<String>,
}

impl Problems {
    pub(super) fn add(&mut self, code: &'static str, message: String) {
        self.problems.push(Problem { code, message });
    }

    /// Records damage and continues; other errors are returned.
    pub(super) fn record<T>(&mut self, result: Result<T>) -> Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(StoreError::Damaged { detail, .. }) => {
                if !self.reported.contains(&detail) {
                    self.add("damaged", detail);
                }
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}
