//! Runs: creating, listing, finding by id, prefix, name or `latest`, finishing, and facts about their tools.

use super::artifacts::{Packed, insert_artifacts};
use super::naming::{LATEST, check_name, short_ids};
use super::record::Planned;
use super::tables::{RUNS, TOOL_FACTS};
use super::timestamp::format_utc;
use super::{Database, OnConflict, Result, Row, RunId, Store, StoreError, Value};
use karat_core::ids::ToolName;
use karat_core::trial::Outcome;
use karat_core::wording::first_few;
use karat_format::config::SuiteKind;
use karat_format::document::suggest;
use karat_format::run::{PlanV1, PlannedSuiteV1, ToolFactsV1};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::path::PathBuf;

worded! {
    /// The state of a run.
    RunState {
        /// Not finished; interrupted if no process holds its lock.
        Running = "running",
        Complete = "complete",
        Stopped = "stopped",
    }
}

/// A run to be stored.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct NewRun {
    pub name: Option<String>,
    pub plan: PlanV1,
    /// The suite as it is now, so that the run can be scored after the suite has changed; empty for an assessment, whose
    /// report has everything.
    pub suite_snapshot: Vec<u8>,
    pub scratch: Option<PathBuf>,
}

/// Summary of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct RunInfo {
    pub id: RunId,
    /// The shortest unique prefix of the id.
    pub short_id: String,
    pub name: Option<String>,
    pub kind: SuiteKind,
    /// When it began, in milliseconds since 1970.
    pub created_ms: i64,
    pub ended_ms: Option<i64>,
    pub state: RunState,
    pub suite: String,
    pub suite_digest: String,
    pub planned: u64,
    /// Trials by outcome, counting the latest attempt at each.
    pub outcomes: BTreeMap<Outcome, u64>,
    pub has_report: bool,
    pub scratch: Option<PathBuf>,
    pub karat: String,
    /// Imported from another store; its plan was made elsewhere.
    pub imported: bool,
}

impl RunInfo {
    /// When it began, in UTC.
    pub fn began(&self) -> String {
        format!("{} UTC", format_utc(self.created_ms))
    }

    /// Whether it is complete and none of its trials came to a report; `false` where its outcomes were not read.
    pub fn is_failed(&self) -> bool {
        let reported = self.outcomes.get(&Outcome::Reported).is_some_and(|n| *n > 0);
        self.state == RunState::Complete && !self.outcomes.is_empty() && !reported
    }
}

impl Store {
    /// Stores a new run.
    pub fn begin(&mut self, new: &NewRun) -> Result<RunId> {
        let id = RunId::random();
        self.begin_as(&id, new)?;
        Ok(id)
    }

    /// Stores a new run under an id that something else, such as a log, already has.
    pub fn begin_as(&mut self, id: &RunId, new: &NewRun) -> Result<()> {
        let snapshot = Packed::new(&new.suite_snapshot);
        let mut row = RunRow {
            id: id.clone(),
            name: new.name.clone(),
            suite: new.plan.suite.clone(),
            planned: Planned::new(&new.plan).total(),
            line: RunV1 {
                created_ms: 0,
                ended_ms: None,
                state: RunState::Running.as_str().to_owned(),
                karat: env!("CARGO_PKG_VERSION").to_owned(),
                snapshot: snapshot.hash.clone(),
                report: None,
                plan: self.database.raw(&self.database.json(&new.plan)?)?,
            },
            imported: false,
        };
        let mut snapshot = vec![snapshot];
        self.upload(&mut snapshot)?;
        self.database.write_waiting(|database| {
            insert_artifacts(database, database.consume(&mut snapshot))?;
            row.line.created_ms = database.now_ms()?;
            row.insert(database)
        })?;
        if let Some(scratch) = &new.scratch {
            self.set_scratch(id, Some(scratch))?;
        }
        Ok(())
    }

    /// Ends a run, storing its report if there is one.
    pub fn finish(&mut self, run: &RunId, state: RunState, report: Option<&[u8]>) -> Result<()> {
        let mut report: Vec<Packed> = report.map(Packed::new).into_iter().collect();
        self.upload(&mut report)?;
        let hash = report.first().map(|packed| packed.hash.clone());
        self.database.write_waiting(|database| {
            run_state(database, run)?;
            insert_artifacts(database, database.consume(&mut report))?;
            end_run(database, run, state, hash.as_deref())
        })
    }

    /// Continues an ended run. Its report, now outdated, is dropped.
    pub fn reopen(&mut self, run: &RunId) -> Result<()> {
        let running = RunState::Running.as_str().into();
        self.change(run, &[("state", running), ("ended_ms", Value::Null), ("report", Value::Null)])
    }

    /// All runs, newest first.
    pub fn runs(&mut self) -> Result<Vec<RunInfo>> {
        self.in_snapshot(|store| {
            let mut runs = store.overview()?;
            for run in &mut runs {
                run.outcomes = store.outcomes(&run.id)?;
            }
            Ok(runs)
        })
    }

    /// All runs, newest first, without outcomes: no trial is read.
    pub fn overview(&mut self) -> Result<Vec<RunInfo>> {
        let (runs, damage) = readable_infos(&mut self.database)?;
        damage.map_or(Ok(runs), Err)
    }

    /// Finds a run by reference.
    pub fn find(&mut self, reference: &str) -> Result<RunInfo> {
        let id = self.resolve_run(reference)?;
        self.in_snapshot(|store| store.info(&id))
    }

    /// A run, and the position of the last attempt that its outcomes include: [`Self::attempts_after`] gives what comes later.
    pub fn find_with_position(&mut self, run: &RunId) -> Result<(RunInfo, i64)> {
        self.in_snapshot(|store| {
            let info = store.info(run)?;
            let last = "SELECT MAX(position) FROM trials WHERE run_id = $1";
            Ok((info, store.database.query_number(last, vec![run.into()])?.unwrap_or(0)))
        })
    }

    fn info(&mut self, id: &RunId) -> Result<RunInfo> {
        let (runs, _) = readable_infos(&mut self.database)?;
        let mut run = runs.into_iter().find(|run| run.id == *id).ok_or_else(|| no_run(id))?;
        run.outcomes = self.outcomes(id)?;
        Ok(run)
    }

    /// Finds a run of tools by reference; `latest` is the newest of them. An assessment is refused.
    pub fn find_findings(&mut self, reference: &str) -> Result<RunInfo> {
        let run = match reference.trim().eq_ignore_ascii_case(LATEST) {
            false => self.find(reference)?,
            true => {
                let (runs, _) = readable_infos(&mut self.database)?;
                let newest = runs.iter().find(|run| run.kind == SuiteKind::Findings);
                self.find(newest.map_or(reference, |run| run.id.as_str()))?
            }
        };
        match run.kind {
            SuiteKind::Findings => Ok(run),
            SuiteKind::Assessment => Err(StoreError::Assessment { run: run.short_id }),
        }
    }

    /// Resolves a reference to a run id. No trial is read, so it works if trials, or rows of other runs, are damaged.
    pub fn resolve_run(&mut self, reference: &str) -> Result<RunId> {
        let (runs, damage) = readable_infos(&mut self.database)?;
        match (choose(runs, reference), damage) {
            // The newest run may be the damaged one.
            (Ok(_), Some(damage)) if reference.trim().eq_ignore_ascii_case(LATEST) => Err(damage),
            (Err(_), Some(damage)) => Err(damage),
            (found, _) => found.map(|run| run.id),
        }
    }

    /// Trials of a run by outcome, counting the latest attempt at each.
    pub fn outcomes(&mut self, run: &RunId) -> Result<BTreeMap<Outcome, u64>> {
        let rows = self.database.query(
            "SELECT outcome, COUNT(*) FROM trials t WHERE run_id = $1 AND attempt = (SELECT MAX(u.attempt) FROM trials u \
             WHERE u.run_id = t.run_id AND u.tool = t.tool AND u.case_id = t.case_id AND u.number = t.number) \
             GROUP BY outcome",
            vec![run.into()],
        )?;
        let counted =
            |row: &Row| Ok((outcome(&self.database, row.get(0)?)?, u64::try_from(row.get::<i64>(1)?).unwrap_or(0)));
        rows.iter().map(counted).collect()
    }

    /// The plan of a run.
    pub fn plan(&mut self, run: &RunId) -> Result<PlanV1> {
        let text: String = row(&mut self.database, run)?.get(8)?;
        self.database.parse_json(&text, || format!("the plan of the run {run}"))
    }

    /// The suite as it was when the run began.
    pub fn suite_snapshot(&mut self, run: &RunId) -> Result<Vec<u8>> {
        let hash: String = row(&mut self.database, run)?.get(7)?;
        self.artifact(&hash)
    }

    /// The report of a run, if stored.
    pub fn report(&mut self, run: &RunId) -> Result<Option<Vec<u8>>> {
        let hash: Option<String> = row(&mut self.database, run)?.get(10)?;
        hash.map(|hash| self.artifact(&hash)).transpose()
    }

    /// Records facts about a tool. If they changed, as after an update between two parts of a run, both are kept.
    pub fn set_tool(&mut self, run: &RunId, tool: &ToolName, facts: &ToolFactsV1) -> Result<()> {
        let facts = self.database.json(facts)?;
        self.database.write_waiting(|database| {
            lock_run(database, run)?;
            let newest = "WHERE run_id = $1 AND tool = $2 ORDER BY position DESC LIMIT 1";
            let last = database.select_one(&TOOL_FACTS, newest, vec![run.into(), tool.as_str().into()])?;
            let last: Option<(i64, String)> =
                last.map(|row| Ok::<_, StoreError>((row.get(2)?, row.get(3)?))).transpose()?;
            if last.as_ref().is_some_and(|(_, known)| *known == facts) {
                return Ok(());
            }
            let position = last.map_or(1, |(position, _)| position + 1);
            let values = vec![run.into(), tool.as_str().into(), position.into(), facts.as_str().into()];
            database.insert(&TOOL_FACTS, vec![values], OnConflict::Fail)
        })
    }

    /// The latest facts about each tool.
    pub fn tools(&mut self, run: &RunId) -> Result<BTreeMap<ToolName, ToolFactsV1>> {
        let history = self.tool_history(run)?;
        Ok(history.into_iter().filter_map(|(tool, mut facts)| Some((tool, facts.pop()?))).collect())
    }

    /// All recorded facts about each tool, oldest first; several if the tool changed while the run was interrupted.
    pub fn tool_history(&mut self, run: &RunId) -> Result<BTreeMap<ToolName, Vec<ToolFactsV1>>> {
        let mut history: BTreeMap<ToolName, Vec<ToolFactsV1>> = BTreeMap::new();
        for row in self.fact_rows(run)? {
            let (tool, facts) = self.facts(run, &row?)?;
            history.entry(ToolName::new(tool)).or_default().push(facts);
        }
        Ok(history)
    }

    pub(super) fn fact_rows(&mut self, run: &RunId) -> Result<Vec<Result<Row>>> {
        self.database.select_each(&TOOL_FACTS, "WHERE run_id = $1 ORDER BY tool, position", vec![run.into()])
    }

    pub(super) fn facts(&self, run: &RunId, row: &Row) -> Result<(String, ToolFactsV1)> {
        let tool: String = row.get(1)?;
        let facts = self.database.parse_json(row.get(3)?, || format!("what the run {run} knows of the tool {tool}"))?;
        Ok((tool, facts))
    }

    pub(super) fn change(&mut self, run: &RunId, changes: &[(&'static str, Value)]) -> Result<()> {
        let update = |database: &mut Database| database.update(&RUNS, "WHERE id = $1", vec![run.into()], changes);
        let changed = self.database.write_waiting(update)?;
        if changed == 0 { Err(no_run(run)) } else { Ok(()) }
    }
}

/// The run as a line of a run file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunV1 {
    pub(super) created_ms: i64,
    pub(super) ended_ms: Option<i64>,
    pub(super) state: String,
    pub(super) karat: String,
    pub(super) snapshot: String,
    pub(super) report: Option<String>,
    pub(super) plan: Box<RawValue>,
}

pub(super) struct RunRow {
    pub(super) id: RunId,
    pub(super) name: Option<String>,
    pub(super) suite: PlannedSuiteV1,
    pub(super) planned: i64,
    pub(super) line: RunV1,
    pub(super) imported: bool,
}

impl RunRow {
    /// Inserts the row if its name is free. Artifacts it refers to must exist.
    pub(super) fn insert(&self, database: &mut Database) -> Result<()> {
        if let Some(name) = &self.name {
            check_name(name)?;
            if let Some(row) = database.select_one(&RUNS, "WHERE name = $1", vec![name.as_str().into()])? {
                return Err(StoreError::NameTaken { name: name.clone(), run: row.get(0)? });
            }
        }
        let values = vec![
            (&self.id).into(),
            self.name.clone().into(),
            self.line.created_ms.into(),
            self.line.ended_ms.into(),
            self.line.state.as_str().into(),
            self.suite.name.as_str().into(),
            self.suite.digest.as_str().into(),
            self.line.snapshot.as_str().into(),
            self.line.plan.get().into(),
            self.planned.into(),
            self.line.report.clone().into(),
            Value::Null,
            self.line.karat.as_str().into(),
            i64::from(self.imported).into(),
        ];
        database.insert(&RUNS, vec![values], OnConflict::Fail)
    }
}

fn no_run(run: &RunId) -> StoreError {
    StoreError::NoRun { reference: run.to_string(), hint: String::new() }
}

/// Sets the state of a run with the hash of its report, which is stored.
pub(super) fn end_run(database: &mut Database, run: &RunId, state: RunState, report: Option<&str>) -> Result<()> {
    let ended = if state == RunState::Running { None } else { Some(database.now_ms()?) };
    let changes = [("state", state.as_str().into()), ("ended_ms", ended.into()), ("report", report.into())];
    database.update(&RUNS, "WHERE id = $1", vec![run.into()], &changes).map(|_| ())
}

/// The state of a run; an error if it does not exist. Called for every trial, so the plan is not read.
pub(super) fn run_state(database: &mut Database, run: &RunId) -> Result<RunState> {
    let row = database.query_one("SELECT state FROM runs WHERE id = $1", vec![run.into()])?;
    state(database, row.ok_or_else(|| no_run(run))?.get(0)?)
}

/// The state of a run. On a server it cannot change until the end of the write, and no other write numbers rows of this run.
pub(super) fn lock_run(database: &mut Database, run: &RunId) -> Result<RunState> {
    if !database.is_server() {
        return run_state(database, run);
    }
    let row = database.query_one("SELECT state FROM runs WHERE id = $1 FOR NO KEY UPDATE", vec![run.into()])?;
    state(database, row.ok_or_else(|| no_run(run))?.get(0)?)
}

pub(super) fn row(database: &mut Database, run: &RunId) -> Result<Row> {
    database.select_one(&RUNS, "WHERE id = $1", vec![run.into()])?.ok_or_else(|| no_run(run))
}

pub(super) fn state(database: &Database, text: &str) -> Result<RunState> {
    RunState::parse(text).ok_or_else(|| database.damaged(format!("a run is in the state `{text}`, which is none")))
}

pub(super) fn outcome(database: &Database, text: &str) -> Result<Outcome> {
    let found = Outcome::ALL.into_iter().find(|outcome| outcome.as_str() == text);
    found.ok_or_else(|| database.damaged(format!("a trial ended as `{text}`, which is no outcome")))
}

/// All runs with readable rows, newest first, and the error of the first unreadable one.
fn readable_infos(database: &mut Database) -> Result<(Vec<RunInfo>, Option<StoreError>)> {
    let (mut runs, mut damage) = (Vec::new(), None);
    for row in database.select_each(&RUNS, "ORDER BY created_ms DESC, id DESC", Vec::new())? {
        match row.and_then(|row| info(database, &row)) {
            Ok(run) => runs.push(run),
            Err(error) => drop(damage.get_or_insert(error)),
        }
    }
    let short = short_ids(runs.iter().map(|run: &RunInfo| run.id.as_str()));
    runs.iter_mut().zip(short).for_each(|(run, short)| run.short_id = short);
    Ok((runs, damage))
}

fn info(database: &Database, row: &Row) -> Result<RunInfo> {
    let id: String = row.get(0)?;
    Ok(RunInfo {
        id: RunId::parse(&id).ok_or_else(|| database.damaged(format!("a run has the id `{id}`, which is none")))?,
        short_id: String::new(),
        name: row.get(1)?,
        kind: kind(row.get(8)?),
        created_ms: row.get(2)?,
        ended_ms: row.get(3)?,
        state: state(database, row.get(4)?)?,
        suite: row.get(5)?,
        suite_digest: row.get(6)?,
        planned: u64::try_from(row.get::<i64>(9)?)
            .map_err(|_| database.damaged(format!("the run {id} plans fewer than 0 trials")))?,
        outcomes: BTreeMap::new(),
        has_report: row.get::<Option<&str>>(10)?.is_some(),
        scratch: row.get::<Option<&str>>(11)?.map(PathBuf::from),
        karat: row.get(12)?,
        imported: row.get::<i64>(13)? != 0,
    })
}

/// The kind that a plan states. A run with an unreadable plan is still listed; whoever reads the plan gets the error.
fn kind(plan: &str) -> SuiteKind {
    #[derive(Deserialize)]
    struct Kind {
        #[serde(default)]
        kind: SuiteKind,
    }
    serde_json::from_str::<Kind>(plan).map(|plan| plan.kind).unwrap_or_default()
}

fn choose(runs: Vec<RunInfo>, reference: &str) -> Result<RunInfo> {
    let plain = reference.trim().to_lowercase();
    let by_name = runs.iter().position(|run| run.name.as_deref() == Some(reference));
    let found: Vec<usize> = match by_name {
        Some(index) => vec![index],
        // Sorted newest first.
        None if plain == LATEST => (0..runs.len().min(1)).collect(),
        None if plain.is_empty() => Vec::new(),
        None => (0..runs.len()).filter(|&i| runs[i].id.as_str().starts_with(&plain)).collect(),
    };
    match found.as_slice() {
        [one] => runs.into_iter().nth(*one).ok_or_else(|| unknown(&[], reference)),
        [] => Err(unknown(&runs, reference)),
        several => {
            let candidates: Vec<String> = several.iter().map(|&i| described(&runs[i])).collect();
            Err(StoreError::Ambiguous { reference: reference.to_owned(), candidates: first_few(&candidates, 10) })
        }
    }
}

fn unknown(runs: &[RunInfo], reference: &str) -> StoreError {
    let words = runs.iter().flat_map(|run| run.name.as_deref().into_iter().chain([run.short_id.as_str()]));
    let near = suggest::nearest(reference, words.chain([LATEST]));
    let hint = match near {
        Some(_) if runs.is_empty() => ", since none is stored yet".to_owned(),
        Some(near) => format!(" (did you mean `{near}`?)"),
        None => String::new(),
    };
    StoreError::NoRun { reference: reference.to_owned(), hint }
}

fn described(run: &RunInfo) -> String {
    match &run.name {
        Some(name) => format!("{} ({name})", run.short_id),
        None => format!("{} (begun {})", run.short_id, format_utc(run.created_ms)),
    }
}
