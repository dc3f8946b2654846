//! Evaluates tools: plans a run, executes its trials in the sandbox, stores them, has them judged and scores them.
//!
//! [`evaluate`] does all of it. A front end that shows the plan first calls [`prepare`] and then [`execute`].

mod execute;
mod grants;
mod prepare;

pub use execute::execute;
pub use prepare::{Prepared, prepare};

use crate::failure::Failure;
use crate::judge::run::{JudgeObserver, JudgeRequest, NoObserver};
use crate::profile::request::ProfileRequest;
use crate::run::selection::Selection;
use crate::run_loader::StoredRun;
use crate::scoring::Scoring;
use crate::tool::grants::{Allowance, Request as GrantRequest};
use karat_io::cancel::Cancel;
use karat_sandbox::{Isolation, Supervisor};
use karat_store::event::{ConsumerError, Ending, RunEvent};
use karat_store::{RunInfo, Store};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

/// What is to be evaluated, and how.
pub struct EvaluateRequest {
    /// The folder of the suite, or the name of a built-in one; the plan's suite where a run is resumed.
    pub suite: Option<String>,
    /// Tools by name, manifest file, `replay:FILE` or `llm:PROVIDER/MODEL`; those of the suite where there are none.
    pub tools: Vec<String>,
    /// How often each tool runs on each case.
    pub trials: Option<u32>,
    /// The cases.
    pub selection: Selection,
    /// The model for every tool that takes one.
    pub model: Option<String>,
    /// What to call the run.
    pub name: Option<String>,
    /// The run to go on with.
    pub resume: Option<String>,
    /// Try failed trials of the resumed run once more.
    pub retry_failed: bool,
    /// Stop after so many failed trials.
    pub max_failures: Option<usize>,
    /// Isolate tools by this and nothing else; the strongest there is where there is none.
    pub isolation: Option<Isolation>,
    /// Refuse to run tools with less isolation.
    pub require_isolation: Option<Isolation>,
    /// What tools of the suite may have beyond the closed sandbox.
    pub allow: Vec<Allowance>,
    /// Who judges.
    pub judge: JudgeRequest,
    /// The rules.
    pub profile: ProfileRequest,
    /// Only the plan is wanted: missing consent is noted, and no answer is remembered.
    pub plan_only: bool,
    /// Where random numbers start from; taken from the data where there is none.
    pub seed: Option<u64>,
    /// Trials at once; as many as there are processors where there is none.
    pub jobs: Option<usize>,
    /// The folder of the store.
    pub store_folder: PathBuf,
    /// The user's environment, of which tools see what is allowed only.
    pub environment: BTreeMap<String, OsString>,
    /// How the process that watches over a tool is started.
    pub supervisor: Supervisor,
}

impl EvaluateRequest {
    /// Tools on a suite, with everything else as it is by default.
    pub fn new(suite: &str, tools: &[&str], store_folder: PathBuf, supervisor: Supervisor) -> Self {
        Self {
            suite: Some(suite.to_owned()),
            tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
            trials: None,
            selection: Selection::default(),
            model: None,
            name: None,
            resume: None,
            retry_failed: false,
            max_failures: None,
            isolation: None,
            require_isolation: None,
            allow: Vec::new(),
            judge: JudgeRequest::default(),
            profile: ProfileRequest::default(),
            plan_only: false,
            seed: None,
            jobs: None,
            store_folder,
            environment: std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
                .collect(),
            supervisor,
        }
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.environment.get(name)?.to_str().map(str::to_owned).filter(|value| !value.is_empty())
    }
}

/// A part of the work, by whether it can be repeated at no cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// A judge is asked, which may cost money; it is stopped by its [`JudgeObserver`].
    Judging,
    /// Every trial and every answer is stored; what follows is computing alone.
    Scoring,
}

/// Observes an evaluation, and is asked what only the user can decide.
pub trait EvaluateObserver {
    /// Something that a person should know.
    fn note(&mut self, text: &str);
    /// A tool is being set up, which may take a while.
    fn setting_up(&mut self, tool: &str);
    /// Whether a tool of the suite may have what it asks for; `None` if nobody can be asked.
    fn consent(&mut self, request: &GrantRequest) -> Result<Option<bool>, Failure>;
    /// What cancels the execution of trials.
    fn cancel(&mut self) -> Result<Cancel, Failure>;
    /// The run goes on. The store has heard of it before.
    fn run_event(&mut self, event: &RunEvent<'_>) -> Result<(), ConsumerError>;
    /// Another part of the work begins.
    fn phase(&mut self, phase: Phase);
    /// Observes the judge.
    fn judge(&mut self) -> &mut dyn JudgeObserver;
}

/// Shows nothing, allows nothing and never cancels.
#[derive(Default)]
pub struct Quiet(NoObserver);

impl EvaluateObserver for Quiet {
    fn note(&mut self, _: &str) {}

    fn setting_up(&mut self, _: &str) {}

    fn consent(&mut self, _: &GrantRequest) -> Result<Option<bool>, Failure> {
        Ok(None)
    }

    fn cancel(&mut self) -> Result<Cancel, Failure> {
        Ok(Cancel::default())
    }

    fn run_event(&mut self, _: &RunEvent<'_>) -> Result<(), ConsumerError> {
        Ok(())
    }

    fn phase(&mut self, _: Phase) {}

    fn judge(&mut self) -> &mut dyn JudgeObserver {
        &mut self.0
    }
}

/// A run that was executed and scored.
pub struct Evaluated {
    /// The store that holds it.
    pub store: Store,
    /// The run; its trials are in the scoring.
    pub run: StoredRun,
    /// The scores, and the report.
    pub scoring: Scoring,
    /// How the execution ended.
    pub ending: Ending,
    /// Why the first failed trial failed.
    pub first_failure: Option<String>,
}

/// Why there is no score. What was reported done is stored, and the run can be resumed.
#[derive(Debug)]
pub enum EvaluateError {
    /// It could not begin, or could not go on.
    Failure(Failure),
    /// Not all trials are done.
    Stopped {
        /// The run.
        info: Box<RunInfo>,
        /// Why.
        ending: Ending,
    },
    /// Executing trials failed.
    Broken {
        /// The short id of the run.
        run: String,
        /// What happened.
        error: ConsumerError,
    },
    /// All trials are done, and the judge failed.
    NotJudged {
        /// The run.
        info: Box<RunInfo>,
        /// Why.
        failure: Failure,
    },
}

impl fmt::Display for EvaluateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failure(failure) => f.write_str(&failure.text()),
            Self::Stopped { info, .. } => {
                let done: u64 = info.outcomes.values().sum();
                write!(f, "run {} was stopped: {done} of {} trials are stored", info.short_id, info.planned)
            }
            Self::Broken { run, error } => write!(f, "run {run}: {error}"),
            Self::NotJudged { info, failure } => write!(f, "run {} was not judged: {}", info.short_id, failure.text()),
        }
    }
}

impl<E: Into<Failure>> From<E> for EvaluateError {
    fn from(error: E) -> Self {
        Self::Failure(error.into())
    }
}

/// Plans a run or goes on with one, executes its trials, stores them and scores them.
pub fn evaluate(request: &EvaluateRequest, observer: &mut dyn EvaluateObserver) -> Result<Evaluated, EvaluateError> {
    let prepared = prepare(request, observer)?;
    execute(request, prepared, observer)
}
