//! What is to be evaluated, and how.

use crate::judge::run::JudgeRequest;
use crate::profile::ProfileRequest;
use crate::run::selection::Selection;
use crate::tool::grants::Allowance;
use karat_format::report::DetailV1;
use karat_sandbox::{Isolation, Supervisor};
use karat_store::StoreLocation;
use std::collections::BTreeMap;
use std::ffi::OsString;

/// What is to be evaluated, and how.
#[derive(Default)]
#[expect(missing_docs, reason = "field names say it")]
pub struct EvaluateRequest {
    /// The folder of the suite, or the name of a built-in one; by default the current folder, or the plan's suite.
    pub suite: Option<String>,
    /// Tools by name, manifest file, `replay:FILE` or `llm:PROVIDER/MODEL`; by default those of the suite.
    pub tools: Vec<String>,
    pub trials: Option<u32>,
    /// Make each style of a model a tool of its own.
    pub separate_styles: bool,
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

    pub(super) fn variable(&self, name: &str) -> Option<String> {
        self.environment.get(name)?.to_str().map(str::to_owned).filter(|value| !value.is_empty())
    }
}
