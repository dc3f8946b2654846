//! Evaluates tools: plans a run, executes its trials in the sandbox, stores them, has them judged and scores them.
//!
//! [`evaluate`] does all of it. A front end that shows the plan first calls [`prepare`] and then [`execute`]. [`watch`]
//! evaluates again what a changed file touches. [`try_tool`] executes one trial and stores nothing.

mod on_server;
mod prepare;
mod run_and_score;
mod try_tool;
mod watch;
mod watched_files;

pub(crate) use prepare::{LoadedTool, load_fixer, load_planned_tool};
pub use prepare::{Prepared, prepare};
pub(crate) use run_and_score::require_free_name;
pub(crate) use run_and_score::{judge_run, new_context};
pub use try_tool::{Tried, try_tool};
pub use watch::{Found, GoldenChange, Round, RoundStart, ScoreChanges, ToolChange, WatchObserver, watch};

use crate::failure::{Failure, Result};
use crate::judge::run::{JudgeObserver, JudgeRequest, NoObserver};
use crate::profile::ProfileRequest;
use crate::run::selection::Selection;
use crate::run_loader::StoredRun;
use crate::tool::grants::{Allowance, Request as GrantRequest};
use crate::work::Scoring;
use karat_core::trial::Outcome;
use karat_format::report::DetailV1;
use karat_io::cancel::Cancel;
use karat_report::number::failed_sentence;
use karat_sandbox::{Isolation, Supervisor};
use karat_store::event::{Ending, RunEvent};
use karat_store::record::TrialKey;
use karat_store::{RunInfo, Store, StoreLocation};
use on_server::execute_on_server;
use run_and_score::execute_here;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io;

/// What is to be evaluated, and how.
#[derive(Default)]
#[expect(missing_docs, reason = "field names say it")]
pub struct EvaluateRequest {
    /// The folder of the suite, or the name of a built-in one; by default the current folder, or the plan's suite.
    pub suite: Option<String>,
    /// Tools by name, manifest file, `replay:FILE` or `llm:PROVIDER/MODEL`; by default those of the suite.
    pub tools: Vec<String>,
    pub trials: Option<u32>,
    pub selection: Selection,
    /// The model for every tool that takes one.
    pub model: Option<String>,
    pub name: Option<String>,
    pub resume: Option<String>,
    /// Try failed trials of the resumed run once more.
    pub retry_failed: bool,
    pub max_failures: Option<usize>,
    /// By default the strongest there is.
    pub isolation: Option<Isolation>,
    pub require_isolation: Option<Isolation>,
    /// What tools of the suite may have beyond the closed sandbox.
    pub allow: Vec<Allowance>,
    pub judge: JudgeRequest,
    pub profile: ProfileRequest,
    /// Only the plan is wanted: missing consent is noted, and no answer is stored.
    pub plan_only: bool,
    /// By default computed from the suite.
    pub seed: Option<u64>,
    /// Leave all trials to workers; for stores on a server.
    pub no_work: bool,
    /// A trial of a run on a server is given up when so many workers ended while they had it.
    pub max_tries: Option<u32>,
    /// Trials at once; by default the number of processors.
    pub jobs: Option<usize>,
    pub store: StoreLocation,
    /// What the report holds of single trials.
    pub detail: DetailV1,
    /// The day until which the model was trained, as `YYYY-MM-DD`.
    pub model_cutoff: Option<String>,
    /// The user's environment, of which tools see only what is allowed.
    pub environment: BTreeMap<String, OsString>,
    pub supervisor: Supervisor,
}

impl EvaluateRequest {
    /// Tools on a suite, with defaults for everything else.
    pub fn new(suite: &str, tools: &[&str], store: impl Into<StoreLocation>, supervisor: Supervisor) -> Self {
        let variables = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
        Self {
            suite: Some(suite.to_owned()),
            tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
            store: store.into(),
            environment: variables.collect(),
            supervisor,
            ..Self::default()
        }
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.environment.get(name)?.to_str().map(str::to_owned).filter(|value| !value.is_empty())
    }
}

/// A phase of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// A judge is asked, which may cost money; it is stopped by its [`JudgeObserver`].
    Judging,
    /// Every trial and every answer is stored, and repeating the rest costs nothing.
    Scoring,
}

/// Observes an evaluation, and is asked what only the user can decide. By default it shows, allows and cancels nothing.
pub trait EvaluateObserver {
    /// Something that a person should know.
    fn note(&mut self, _text: &str) {}

    /// A tool is being set up, which may take a while.
    fn setting_up(&mut self, _tool: &str) {}

    /// Whether a tool of the suite may have what it asks for; `None` if nobody can be asked.
    fn consent(&mut self, _request: &GrantRequest) -> Result<Option<bool>> {
        Ok(None)
    }

    /// What cancels the execution of trials.
    fn cancel(&mut self) -> Result<Cancel> {
        Ok(Cancel::default())
    }

    /// Something happened in the run, and is stored.
    fn run_event(&mut self, _event: &RunEvent<'_>) {}

    /// Another phase begins.
    fn phase(&mut self, _phase: Phase) {}

    /// Observes the judge.
    fn judge(&mut self) -> &mut dyn JudgeObserver;
}

/// The default observer.
#[derive(Default)]
pub struct Quiet(NoObserver);

impl EvaluateObserver for Quiet {
    fn judge(&mut self) -> &mut dyn JudgeObserver {
        &mut self.0
    }
}

/// A run that was executed and scored.
#[expect(missing_docs, reason = "field names say it")]
pub struct Evaluated {
    pub store: Store,
    /// Without its trials, which are in the scoring.
    pub run: StoredRun,
    pub scoring: Scoring,
    pub ending: Ending,
    /// The first trial that did not come to a report.
    pub first_failure: Option<FirstFailure>,
}

impl Evaluated {
    /// Why the run failed as a whole; `None` if any trial came to a report.
    pub fn failure(&self) -> Option<Failure> {
        let sentence = failed_sentence(&self.scoring.report)?;
        let first = self.first_failure.as_ref().map(|first| format!("\nfirst error: {first}")).unwrap_or_default();
        Some(Failure::failed(format!("the run failed. {sentence}{first}")))
    }
}

/// A trial that did not come to a report, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct FirstFailure {
    pub key: TrialKey,
    pub outcome: Outcome,
    pub reason: Option<String>,
    /// The last lines that it wrote to stderr, or to stdout where it wrote none.
    pub last_lines: Vec<String>,
}

impl fmt::Display for FirstFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TrialKey { tool, case, number } = &self.key;
        let why = self.reason.as_deref().unwrap_or("unknown reason");
        write!(f, "{tool} on {case}, trial {number} {}: {why}", self.outcome.ended())?;
        for line in &self.last_lines {
            write!(f, "\n  | {line}")?;
        }
        Ok(())
    }
}

/// Why there is no score. What was reported done is stored, and the run can be resumed.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "field names say it")]
pub enum EvaluateError {
    /// It could not begin.
    #[error("{}", .0.text())]
    Failure(Failure),
    #[error("run {} was stopped: {} of {} trials are stored", .info.short_id, .info.outcomes.values().sum::<u64>(), .info.planned)]
    Stopped { info: Box<RunInfo>, ending: Ending },
    /// The run goes on without this process.
    #[error("run {} is left to its workers: {} of {} trials are stored", .info.short_id, .info.outcomes.values().sum::<u64>(), .info.planned)]
    LeftToWorkers { info: Box<RunInfo> },
    /// Executing trials failed. The run is named by its short id.
    #[error("run {run}: {error}")]
    Broken { run: String, error: io::Error },
    #[error("run {} was not judged: {}", .info.short_id, .failure.text())]
    NotJudged { info: Box<RunInfo>, failure: Failure },
}

impl<E: Into<Failure>> From<E> for EvaluateError {
    fn from(error: E) -> Self {
        Self::Failure(error.into())
    }
}

/// Executes the trials that are left, stores each as soon as it is done, and scores the run when all are done.
pub fn execute(
    request: &EvaluateRequest,
    prepared: Prepared,
    observer: &mut dyn EvaluateObserver,
) -> Result<Evaluated, EvaluateError> {
    match request.store.as_server() {
        Some(_) => execute_on_server(request, prepared, observer),
        None => execute_here(request, prepared, observer),
    }
}

/// Plans or resumes a run, executes its trials, stores them and scores them.
pub fn evaluate(request: &EvaluateRequest, observer: &mut dyn EvaluateObserver) -> Result<Evaluated, EvaluateError> {
    execute(request, prepare(request, observer)?, observer)
}
