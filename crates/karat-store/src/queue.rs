//! The queue of a run that workers of several machines work on; stores on a server have it.
//!
//! A unit is a trial, the questions of one trial to a judge, or the scoring of the run. A worker claims units for a limited time,
//! the lease, and renews it while it works. Every claim has a higher fencing number than the one before, and a result is
//! accepted only with the number of the last claim: recording is exactly once, execution at least once. The clock is the
//! database's alone.

use super::record::{TrialKey, TrialRecord};
use super::runs::{end_run, lock_run, run_state};
use super::trials::Batch;
use super::{Database, Result, Row, RunId, RunState, Store, StoreError, Value};
use karat_core::ids::{CaseId, ToolName};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

worded! {
    /// The kind of a unit of work.
    UnitKind {
        Trial = "trial",
        /// The questions of one trial to a judge, whose answers go to the ledger.
        Judge = "judge",
        Score = "score",
    }
}

/// The most units of one claim.
pub const MAX_CLAIM: usize = 32;

const MAX_QUEUED_AT_ONCE: usize = 1000;

/// A unit of work.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Unit {
    pub run: RunId,
    pub kind: UnitKind,
    /// `None` for scoring, which is about the whole run.
    pub trial: Option<TrialKey>,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.trial, self.kind) {
            (Some(TrialKey { tool, case, number }), UnitKind::Judge) => {
                write!(f, "judging {tool} on {case}, trial {number}")
            }
            (Some(TrialKey { tool, case, number }), _) => write!(f, "{tool} on {case}, trial {number}"),
            (None, _) => write!(f, "scoring run {}", self.run),
        }
    }
}

/// A unit that a worker has for the time of a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Claim {
    pub unit: Unit,
    /// Of the trial, counted from 1.
    pub attempt: u32,
    /// How many workers had it, including this one, and neither ended nor released it.
    pub tries: u32,
    /// Whether it has been tried too often and must be given up instead of tried again.
    pub is_given_up: bool,
    fence: i64,
}

/// Which units a worker claims.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct ClaimRequest<'a> {
    /// Unique among all workers that ever were.
    pub worker: &'a str,
    /// Of this run alone; else of any.
    pub run: Option<&'a RunId>,
    /// What the worker offers for the needs of tools.
    pub offers: &'a BTreeSet<String>,
    /// Tools of runs that this worker cannot execute.
    pub without: &'a BTreeSet<(RunId, ToolName)>,
    /// Runs that this worker cannot work on.
    pub without_runs: &'a BTreeSet<RunId>,
    /// Runs whose judge this worker cannot ask: nothing but their trials is claimed.
    pub without_judge: &'a BTreeSet<RunId>,
    /// Whether units that were tried before are left out.
    pub fresh_only: bool,
    /// At most [`MAX_CLAIM`].
    pub most: usize,
    pub lease: Duration,
}

/// A trial to be queued.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct QueuedTrial {
    pub key: TrialKey,
    pub attempt: u32,
    /// What a worker must offer.
    pub needs: Vec<String>,
}

/// How the units of a run are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueOptions {
    /// A unit is given up when so many workers ended while they had it.
    pub max_tries: u32,
    /// Whether a model judges the trials.
    pub judging: bool,
    /// Whether workers may be at work on the run, which goes on undisturbed unless there is more to do.
    pub follow: bool,
}

/// The clock of the database, in milliseconds.
macro_rules! now_ms {
    () => {
        "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT"
    };
}

/// The columns that [`unit`] reads.
macro_rules! unit_columns {
    ($prefix:literal) => {
        concat!($prefix, "run_id, ", $prefix, "kind, ", $prefix, "tool, ", $prefix, "case_id, ", $prefix, "number")
    };
}

/// Claims units for which a condition holds; with a second part, the current time stands between the two.
macro_rules! claim_sql {
    ($condition:literal) => {
        claim_sql!(@ $condition)
    };
    ($before_now:literal, $after_now:literal) => {
        claim_sql!(@ concat!($before_now, now_ms!(), $after_now))
    };
    (@ $condition:expr) => {
        concat!(
            "WITH chosen AS (SELECT u.ctid AS place, q.max_tries FROM queue_units u JOIN runs r ON r.id = u.run_id \
             JOIN run_queues q ON q.run_id = u.run_id WHERE r.state = 'running' AND ($1 = '' OR u.run_id = $1) AND ",
            $condition,
            " AND string_to_array(u.needs, ',') <@ string_to_array($2, ',') \
             AND (u.kind <> 'trial' OR NOT (u.run_id || ' ' || u.tool) = ANY (string_to_array($3, E'\\n'))) \
             AND NOT u.run_id = ANY (string_to_array($7, ' ')) \
             AND (u.kind = 'trial' OR NOT u.run_id = ANY (string_to_array($8, ' '))) \
             ORDER BY u.run_id, u.position LIMIT $6 FOR UPDATE OF u SKIP LOCKED) \
             UPDATE queue_units u SET state = 'claimed', fence = u.fence + 1, tries = u.tries + 1, worker = $4, until_ms = ",
            now_ms!(),
            " + $5 FROM chosen WHERE u.ctid = chosen.place RETURNING ",
            unit_columns!("u."),
            ", u.attempt, u.tries, u.fence, u.position, chosen.max_tries"
        )
    };
}

/// The columns by which units are found that were handed over as JSON.
macro_rules! same_unit {
    () => {
        "u.run_id = $1 AND u.kind = x.kind AND u.tool = x.tool AND u.case_id = x.case_id AND u.number = x.number \
         AND u.fence = x.fence AND u.state = 'claimed'"
    };
}

macro_rules! handed_over {
    () => {
        "jsonb_to_recordset($2::JSONB) AS x (kind TEXT, tool TEXT, case_id TEXT, number BIGINT, fence BIGINT, attempt BIGINT)"
    };
}

// Below the macros, which they use.
mod results;
mod status;

pub use status::QueueStatus;

impl Store {
    /// Stores the suite of a run for workers. Atomic.
    pub fn set_suite_parts(&mut self, run: &RunId, parts: &[Vec<u8>]) -> Result<()> {
        self.require_server()?;
        let mut batch = Batch::default();
        let mut hashes = Vec::new();
        for part in parts {
            let packed = batch.packer.pack(part);
            hashes.push(packed.hash.clone());
            batch.artifact(packed);
        }
        self.upload(&mut batch.packed)?;
        self.database.write_waiting(|database| {
            lock_run(database, run)?;
            batch.insert_artifacts(database)?;
            database.execute("DELETE FROM suite_parts WHERE run_id = $1", vec![run.into()])?;
            for (position, hash) in (1_i64..).zip(&hashes) {
                let values = vec![run.into(), position.into(), hash.as_str().into()];
                database.execute("INSERT INTO suite_parts (run_id, position, hash) VALUES ($1, $2, $3)", values)?;
            }
            Ok(())
        })
    }

    /// Calls `visit` with the parts of a run's suite, one after the other.
    pub fn suite_parts(&mut self, run: &RunId, visit: &mut dyn FnMut(Vec<u8>) -> Result<()>) -> Result<()> {
        for hash in self.suite_part_hashes(run)? {
            visit(self.artifact(&hash)?)?;
        }
        Ok(())
    }

    /// The hashes of the parts of a run's suite, in order: equal suites have equal ones.
    pub fn suite_part_hashes(&mut self, run: &RunId) -> Result<Vec<String>> {
        self.require_server()?;
        let sql = "SELECT hash FROM suite_parts WHERE run_id = $1 ORDER BY position";
        self.database.query(sql, vec![run.into()])?.iter().map(|row| row.get(0)).collect()
    }

    /// The tools of a run of which trials are left.
    pub fn tools_left(&mut self, run: &RunId) -> Result<BTreeSet<ToolName>> {
        self.require_server()?;
        let sql = "SELECT DISTINCT tool FROM queue_units WHERE run_id = $1 AND kind = 'trial' AND state <> 'done'";
        let rows = self.database.query(sql, vec![run.into()])?;
        rows.iter().map(|row| Ok(ToolName::new(row.get::<String>(0)?))).collect()
    }

    /// Queues trials in this order, so that workers execute them, and opens the run again where it has ended. A trial that is
    /// queued already keeps its place; with a later attempt it is done once more. Where nothing is added to a run that is
    /// followed, it stays as it is.
    pub fn queue_trials(&mut self, run: &RunId, trials: &[QueuedTrial], options: &QueueOptions) -> Result<()> {
        self.require_server()?;
        self.database.write_waiting(|database| {
            lock_run(database, run)?;
            let values = vec![run.into(), options.max_tries.into(), i64::from(options.judging).into()];
            database.execute(
                "INSERT INTO run_queues (run_id, max_tries, judging) VALUES ($1, $2, $3) \
                 ON CONFLICT (run_id) DO UPDATE SET max_tries = EXCLUDED.max_tries, judging = EXCLUDED.judging",
                values,
            )?;
            let mut added = 0;
            let last =
                database.query_number("SELECT MAX(position) FROM queue_units WHERE run_id = $1", vec![run.into()])?;
            let numbered: Vec<(i64, &QueuedTrial)> = (last.unwrap_or(0) + 1..).zip(trials).collect();
            for group in numbered.chunks(MAX_QUEUED_AT_ONCE) {
                let rows: Vec<serde_json::Value> = group
                    .iter()
                    .map(|(position, QueuedTrial { key, attempt, needs })| {
                        json!({ "tool": key.tool.as_str(), "case_id": key.case.as_str(), "number": key.number,
                                "position": position, "attempt": attempt, "needs": needs.join(",") })
                    })
                    .collect();
                added += database.execute(
                    "INSERT INTO queue_units (run_id, kind, tool, case_id, number, position, attempt, needs, state, fence, tries) \
                     SELECT $1, 'trial', tool, case_id, number, position, attempt, needs, 'waiting', 0, 0 \
                     FROM jsonb_to_recordset($2::JSONB) \
                     AS x (tool TEXT, case_id TEXT, number BIGINT, position BIGINT, attempt BIGINT, needs TEXT) \
                     ON CONFLICT (run_id, kind, tool, case_id, number) DO UPDATE SET attempt = EXCLUDED.attempt, \
                     state = 'waiting', tries = 0, fence = queue_units.fence + 1, worker = NULL, until_ms = NULL \
                     WHERE queue_units.attempt < EXCLUDED.attempt",
                    vec![run.into(), database.json(&rows)?.into()],
                )?;
            }
            if options.follow && added == 0 {
                return Ok(());
            }
            // Whoever scores it now must not be taken for whoever scores it with these trials.
            database.execute(
                "UPDATE queue_units SET state = 'done', tries = 0, fence = fence + 1, worker = NULL, until_ms = NULL \
                 WHERE run_id = $1 AND kind = 'score'",
                vec![run.into()],
            )?;
            database.execute("UPDATE run_queues SET stopped = NULL WHERE run_id = $1", vec![run.into()])?;
            end_run(database, run, RunState::Running, None)?;
            queue_scoring_if_done(database, run)
        })
    }

    /// Records trials of a run that is not running, or not queued yet, so that no worker executes them.
    pub fn record_unexecuted(&mut self, run: &RunId, records: &[TrialRecord]) -> Result<()> {
        self.require_server()?;
        let mut batch = Batch::default();
        for record in records {
            let one = Batch::from_record(self, run, record)?;
            batch.append_artifacts(&one);
            batch.append_trials(&one)?;
        }
        let keys: Vec<serde_json::Value> = records
            .iter()
            .map(|record| {
                let trial = &record.trial;
                json!({ "tool": trial.tool.as_str(), "case_id": trial.case.as_str(), "number": trial.number })
            })
            .collect();
        self.database.write_waiting(|database| {
            batch.insert_artifacts(database)?;
            lock_run(database, run)?;
            batch.insert(database, run)?;
            database.execute(
                "UPDATE queue_units u SET state = 'done', fence = u.fence + 1, worker = NULL, until_ms = NULL \
                 FROM jsonb_to_recordset($2::JSONB) AS x (tool TEXT, case_id TEXT, number BIGINT) \
                 WHERE u.run_id = $1 AND u.kind = 'trial' AND u.tool = x.tool AND u.case_id = x.case_id AND u.number = x.number",
                vec![run.into(), database.json(&keys)?.into()],
            )?;
            Ok(())
        })
    }

    /// What the tools of waiting units need, of one run or of all.
    pub fn queued_needs(&mut self, run: Option<&RunId>) -> Result<BTreeSet<String>> {
        self.require_server()?;
        let rows = self.database.query(
            "SELECT DISTINCT u.needs FROM queue_units u JOIN runs r ON r.id = u.run_id \
             WHERE r.state = 'running' AND u.state <> 'done' AND u.needs <> '' AND ($1 = '' OR u.run_id = $1)",
            vec![run.map_or("", RunId::as_str).into()],
        )?;
        let mut needs = BTreeSet::new();
        for row in &rows {
            needs.extend(row.get::<String>(0)?.split(',').map(str::to_owned));
        }
        Ok(needs)
    }

    /// Claims units that wait or whose lease has ended, in order. A unit that was tried before is claimed alone, since it may be
    /// what ended its worker, and nothing else must end with it.
    pub fn claim(&mut self, request: &ClaimRequest<'_>) -> Result<Vec<Claim>> {
        self.require_server()?;
        let offers = request.offers.iter().map(String::as_str).collect::<Vec<_>>().join(",");
        let without: Vec<String> = request.without.iter().map(|(run, tool)| format!("{run} {tool}")).collect();
        let join = |runs: &BTreeSet<RunId>| runs.iter().map(RunId::as_str).collect::<Vec<_>>().join(" ");
        let (without_runs, without_judge) = (join(request.without_runs), join(request.without_judge));
        let (offers, without) = (offers.as_str(), without.join("\n"));
        let values = |run: &str, most: usize| -> Vec<Value> {
            let most = i64::try_from(most.clamp(1, MAX_CLAIM)).unwrap_or(1);
            vec![
                run.into(),
                offers.into(),
                without.as_str().into(),
                request.worker.into(),
                milliseconds(request.lease).into(),
                most.into(),
                without_runs.as_str().into(),
                without_judge.as_str().into(),
            ]
        };
        let given = request.run.map_or("", RunId::as_str);
        self.database.write(|database| {
            // What was tried before must not wait for all that is fresh in later runs.
            let oldest = if given.is_empty() && !request.fresh_only { oldest_tried(database)? } else { None };
            let mut rows = Vec::new();
            for run in oldest.as_deref().into_iter().chain([given]) {
                rows = database.query(claim_sql!("u.state = 'waiting' AND u.tries = 0"), values(run, request.most))?;
                if rows.is_empty() && !request.fresh_only {
                    let tried = claim_sql!(
                        "u.tries > 0 AND (u.state = 'waiting' OR u.state = 'claimed' AND u.until_ms < ",
                        ")"
                    );
                    rows = database.query(tried, values(run, 1))?;
                }
                if !rows.is_empty() {
                    break;
                }
            }
            let mut claims = Vec::new();
            for row in &rows {
                let (tries, max_tries) = (row.count(6)?, row.count(9)?);
                let claim = Claim {
                    unit: unit(database, row)?,
                    attempt: row.count(5)?,
                    tries,
                    is_given_up: tries > max_tries,
                    fence: row.get(7)?,
                };
                claims.push((row.get::<i64>(8)?, claim));
            }
            claims.sort_by_key(|(position, _)| *position);
            Ok(claims.into_iter().map(|(_, claim)| claim).collect())
        })
    }

    /// Renews the leases of all units that a worker has, and returns the units that it still has. A run that was stopped
    /// leaves none.
    pub fn renew(&mut self, worker: &str, lease: Duration) -> Result<BTreeMap<Unit, i64>> {
        self.require_server()?;
        self.database.write(|database| {
            database.execute(
                "UPDATE asked_questions SET until_us = (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::BIGINT + $2 \
                 WHERE owner = $1 AND until_us > 0",
                vec![worker.into(), milliseconds(lease).saturating_mul(1000).into()],
            )?;
            let rows = database.query(
                concat!(
                    "UPDATE queue_units u SET until_ms = ",
                    now_ms!(),
                    " + $2 FROM runs r WHERE r.id = u.run_id AND r.state = 'running' AND u.worker = $1 \
                     AND u.state = 'claimed' RETURNING ",
                    unit_columns!("u."),
                    ", u.fence"
                ),
                vec![worker.into(), milliseconds(lease).into()],
            )?;
            rows.iter().map(|row| Ok((unit(database, row)?, row.get(5)?))).collect()
        })
    }

    /// Gives units back that were not done, for others to claim. `counts` says whether that counts as a try.
    pub fn give_back(&mut self, claims: &[Claim], counts: bool) -> Result<()> {
        self.require_server()?;
        let fewer = i64::from(!counts);
        self.database.write_waiting(|database| {
            for (run, claims) in by_run(claims) {
                database.execute(
                    concat!(
                        "UPDATE queue_units u SET state = 'waiting', tries = GREATEST(u.tries - $3, 0), worker = NULL, \
                         until_ms = NULL FROM ",
                        handed_over!(),
                        " WHERE ",
                        same_unit!()
                    ),
                    vec![run.into(), hand_over(database, &claims)?, fewer.into()],
                )?;
            }
            Ok(())
        })
    }

    /// Lets others ask the questions that this store noted as its own; they may have been paid for.
    pub fn give_questions_back(&mut self) -> Result<()> {
        self.require_server()?;
        let owner = self.instance.clone();
        self.database.write_waiting(|database| {
            let sql = "UPDATE asked_questions SET until_us = 0 WHERE owner = $1";
            database.execute(sql, vec![owner.as_str().into()]).map(|_| ())
        })
    }

    /// Gives back whatever a worker still has, which does not count as a try. Questions that it asked may have been paid for, and
    /// others may ask them now.
    pub fn give_back_all(&mut self, worker: &str) -> Result<()> {
        self.require_server()?;
        self.database.write(|database| {
            database.execute("UPDATE asked_questions SET until_us = 0 WHERE owner = $1", vec![worker.into()])?;
            database.execute(
                "UPDATE queue_units SET state = 'waiting', tries = GREATEST(tries - 1, 0), worker = NULL, until_ms = NULL \
                 WHERE worker = $1 AND state = 'claimed'",
                vec![worker.into()],
            )?;
            Ok(())
        })
    }

    /// Whether the suite of a run is stored for workers.
    pub fn has_suite_parts(&mut self, run: &RunId) -> Result<bool> {
        self.require_server()?;
        let sql = "SELECT COUNT(*) FROM suite_parts WHERE run_id = $1";
        Ok(self.database.query_count(sql, vec![run.into()])? > 0)
    }

    /// The state of a run.
    pub fn state(&mut self, run: &RunId) -> Result<RunState> {
        run_state(&mut self.database, run)
    }

    /// Whether a run is worked on through its queue.
    pub fn is_queued(&mut self, run: &RunId) -> Result<bool> {
        if self.location().as_server().is_none() {
            return Ok(false);
        }
        let sql = "SELECT COUNT(*) FROM run_queues WHERE run_id = $1";
        Ok(self.database.query_count(sql, vec![run.into()])? > 0)
    }

    fn require_server(&self) -> Result<()> {
        match self.location().as_server() {
            Some(_) => Ok(()),
            None => Err(StoreError::NoServer { location: self.location().clone() }),
        }
    }
}

impl QueueOptions {
    /// How many workers may end while they have a unit, where nothing else is said.
    pub const MAX_TRIES: u32 = 3;
}

impl Claim {
    /// Whether the worker still has it, by what renewing returned.
    pub fn is_in(&self, held: &BTreeMap<Unit, i64>) -> bool {
        held.get(&self.unit) == Some(&self.fence)
    }
}

/// Queues the scoring of a run of which nothing else is left.
fn queue_scoring_if_done(database: &mut Database, run: &RunId) -> Result<()> {
    // Each has an index, since this is asked with every result.
    let left = "SELECT CASE WHEN EXISTS (SELECT 1 FROM queue_units WHERE run_id = $1 AND state = 'waiting' AND tries = 0) \
                OR EXISTS (SELECT 1 FROM queue_units WHERE run_id = $1 AND state <> 'done' AND tries > 0) THEN 1 ELSE 0 END::BIGINT";
    if database.query_number(left, vec![run.into()])? == Some(1) {
        return Ok(());
    }
    let values = unit_values(run, UnitKind::Score, None);
    database.execute(
        "INSERT INTO queue_units (run_id, kind, tool, case_id, number, position, attempt, needs, state, fence, tries) \
         SELECT $1, $2, $3, $4, $5, COALESCE(MAX(position), 0) + 1, 1, '', 'waiting', 0, 0 FROM queue_units \
         WHERE run_id = $1 ON CONFLICT (run_id, kind, tool, case_id, number) DO UPDATE SET state = 'waiting', tries = 0, \
         position = EXCLUDED.position, fence = queue_units.fence + 1 WHERE queue_units.state = 'done'",
        values,
    )?;
    Ok(())
}

/// The oldest run of which a unit was tried before and can be claimed.
fn oldest_tried(database: &mut Database) -> Result<Option<String>> {
    let sql = concat!(
        "SELECT u.run_id FROM queue_units u JOIN runs r ON r.id = u.run_id WHERE r.state = 'running' AND u.tries > 0 \
         AND (u.state = 'waiting' OR u.state = 'claimed' AND u.until_ms < ",
        now_ms!(),
        ") ORDER BY u.run_id LIMIT 1"
    );
    database.query_one(sql, Vec::new())?.map(|row| row.get(0)).transpose()
}

fn by_run(claims: &[Claim]) -> BTreeMap<&RunId, Vec<&Claim>> {
    let mut by_run: BTreeMap<&RunId, Vec<&Claim>> = BTreeMap::new();
    for claim in claims {
        by_run.entry(&claim.unit.run).or_default().push(claim);
    }
    by_run
}

/// Claims as JSON, so that one statement does for all.
fn hand_over(database: &Database, claims: &[&Claim]) -> Result<Value> {
    let rows: Vec<serde_json::Value> = claims
        .iter()
        .map(|claim| {
            let key = claim.unit.trial.as_ref();
            json!({
                "kind": claim.unit.kind.as_str(),
                "tool": key.map_or("", |key| key.tool.as_str()),
                "case_id": key.map_or("", |key| key.case.as_str()),
                "number": key.map_or(0, |key| key.number),
                "fence": claim.fence,
                "attempt": claim.attempt,
            })
        })
        .collect();
    Ok(database.json(&rows)?.into())
}

fn unit_values(run: &RunId, kind: UnitKind, trial: Option<&TrialKey>) -> Vec<Value> {
    let (tool, case, number) = match trial {
        Some(key) => (key.tool.as_str(), key.case.as_str(), key.number),
        None => ("", "", 0),
    };
    vec![run.into(), kind.as_str().into(), tool.into(), case.into(), number.into()]
}

fn unit(database: &Database, row: &Row) -> Result<Unit> {
    let (run, kind, tool): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let damaged = |what: &str| database.damaged(format!("a unit of the queue has the {what}, which is none"));
    let kind = UnitKind::parse(&kind).ok_or_else(|| damaged(&format!("kind `{kind}`")))?;
    let run = RunId::parse(&run).ok_or_else(|| damaged(&format!("run `{run}`")))?;
    let key = TrialKey { tool: ToolName::new(tool), case: CaseId::new(row.get::<String>(3)?), number: row.count(4)? };
    Ok(Unit { run, kind, trial: (kind != UnitKind::Score).then_some(key) })
}

fn milliseconds(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
