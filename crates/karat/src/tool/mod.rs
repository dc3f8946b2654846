//! Tools: what a system under test is, how it is declared, how one trial of it is executed, and how what it writes is read.
//!
//! A [`manifest`] is checked and becomes a `Declaration`, with the files that it names a `Tool`, and in a run a
//! `TrialRunner`. Each kind of tool is one file: `command` runs a program, [`replay`] repeats recorded trials,
//! [`patterns`] matches rules and is the baseline to beat, `llm` asks a model. A `fixer` is a program, too: it repairs what the
//! others find.
//! Ready manifests of well-known tools are in the [`catalogue`]; [`doctor`] checks which of them could run here, and
//! [`grants`] lists what they ask for beyond the closed sandbox.

pub mod catalogue;
pub(crate) mod command;
pub mod doctor;
pub(crate) mod fixer;
pub(crate) mod free_disk;
pub mod grants;
mod llm;
pub mod manifest;
pub mod output;
pub mod patterns;
pub mod placeholders;
pub mod replay;
pub(crate) mod run_context;

pub use command::serve;

use crate::checkout::Template;
use crate::failure::Failure;
use crate::suite::LoadedSuite;
use doctor::{Examined, Surroundings};
use fixer::Fixer;
use karat_core::suite::Case;
use karat_core::trial::{Outcome, Trial};
use karat_format::run::{NOTHING_EXECUTED, PlannedLlmV1, ToolFactsV1, TrialDetailV1};
use karat_format::tool::{ToolKindV1, ToolManifestV1};
use karat_llm::engine::Retry;
use karat_sandbox::Isolation;
use karat_store::record::{TrialKey, TrialRecord};
use manifest::Check;
use replay::Recordings;
pub use run_context::OutputObserver;
use run_context::RunContext;
use serde::Serialize;
use std::io;
use std::time::Duration;

/// The declaration of a tool: every value is checked, and no file is read yet.
pub(crate) trait Declaration {
    /// Reads the files that it names; relative paths are in the suite.
    fn load(self: Box<Self>, suite: &LoadedSuite, recordings: &mut Recordings) -> LoadResult;

    fn examine(&self, _raw: &ToolManifestV1, _around: &Surroundings<'_>, _examined: &mut Examined) {}

    /// The fixer, if it is one.
    fn into_fixer(self: Box<Self>) -> Option<Fixer> {
        None
    }
}

type LoadResult = Result<Box<dyn Tool>, Failure>;

/// A tool that can be planned, and prepared for a run.
pub(crate) trait Tool {
    /// The isolation that its trials will have, as the plan states it.
    fn isolation(&self, _isolation: Isolation) -> String {
        NOTHING_EXECUTED.to_owned()
    }

    /// The most trials on one case that are possible: a recording has no others.
    fn max_trials(&self) -> Option<u32> {
        None
    }

    fn planned_llm(&self) -> Option<PlannedLlmV1> {
        None
    }

    /// Why it cannot be run for want of a key, which only the user can supply.
    fn missing_key(&self, _context: &RunContext<'_>) -> Option<String> {
        None
    }

    /// Makes it ready for its first trial: finds its program, sets it up, asks for its version.
    fn prepare<'a>(self: Box<Self>, isolation: Isolation, context: &'a RunContext<'a>) -> PrepareResult<'a>;
}

type PrepareResult<'a> = io::Result<(Box<dyn TrialRunner + 'a>, ToolFactsV1)>;

pub(crate) fn checkout_error(case: &Case, error: &io::Error) -> io::Error {
    io::Error::other(format!("the checkout of {} could not be created: {error}", case.id))
}

/// A tool that is ready to execute trials.
pub(crate) trait TrialRunner: Sync {
    fn needs_checkout(&self) -> bool {
        false
    }

    /// How its trials that met an outage are tried again. By default they are not: a model is asked again by its own engine.
    fn retries(&self) -> Retries {
        Retries::default()
    }

    /// Executes one trial; `None` if it was cancelled. An error is a failure of Karat or the system, never of the tool.
    /// A case without code is `None`, and so is its checkout. `on_retry` is told of each request that is made again.
    fn run_trial(
        &self,
        task: &Task,
        case: Option<&Case>,
        checkout: Option<&Template>,
        on_retry: &dyn Fn(Retry),
    ) -> RunResult;

    /// What the sandbox kept from the tool in a trial, as far as that is known.
    fn blocked(&self, _record: &TrialRecord) -> Vec<Blocked> {
        Vec::new()
    }
}

/// Something that the sandbox kept from a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Blocked {
    /// What kind of thing it is.
    pub kind: BlockedKind,
    /// What was kept from it, in words.
    pub what: String,
    /// The line of its output that shows it.
    pub line: String,
    /// How to allow it, or what to use instead.
    pub help: String,
}

/// What can be kept from a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "variant names say it")]
pub enum BlockedKind {
    Network,
    /// A port of this machine.
    Port,
    Read,
    Write,
    SystemCall,
}

pub(crate) type RunResult = io::Result<Option<TrialRecord>>;

/// How trials that met an outage are tried again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Retries {
    pub(crate) most: u32,
    pub(crate) first_wait: Duration,
}

/// The longest wait, unless already the first is longer.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

impl Retries {
    /// What comes after so many outages of a trial, counted from 1; `None` when it is not tried again.
    pub(crate) fn next(self, outages: u32, why: Option<&str>) -> Option<Retry> {
        let why = why.unwrap_or("an outage").to_owned();
        let (next, most) = (outages.saturating_add(1), self.most.saturating_add(1));
        self.wait(outages).map(|wait| Retry { why, wait, next, most })
    }

    fn wait(self, outages: u32) -> Option<Duration> {
        let longer = 4_u32.saturating_pow(outages.saturating_sub(1));
        let wait = self.first_wait.saturating_mul(longer).min(LONGEST_WAIT.max(self.first_wait));
        (outages <= self.most).then_some(wait)
    }
}

/// No further trial of the tool can be executed, as when its key was rejected. Other tools are not concerned.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct ToolFailure(pub(crate) String);

/// A tool that cannot be tried: it lacks something that only the user can supply, such as a key, or could not be set up.
pub(crate) struct UnavailableTool {
    pub(crate) why: String,
}

impl TrialRunner for UnavailableTool {
    fn run_trial(&self, task: &Task, _: Option<&Case>, _: Option<&Template>, _: &dyn Fn(Retry)) -> RunResult {
        Ok(Some(task.unavailable(&self.why)))
    }
}

pub(crate) fn facts_without_program(version: Option<String>) -> ToolFactsV1 {
    ToolFactsV1 { version, isolation: NOTHING_EXECUTED.to_owned(), ..ToolFactsV1::default() }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) key: TrialKey,
    /// Counted from 1.
    pub(crate) attempt: u32,
}

impl Task {
    /// The record of a trial that reported nothing yet.
    fn record(&self) -> TrialRecord {
        let TrialKey { tool, case, number } = self.key.clone();
        let trial = Trial::reported(case, tool, number);
        TrialRecord { trial, attempt: self.attempt, detail: TrialDetailV1::default(), artifacts: Vec::new() }
    }

    /// The record of a trial that could not be tried.
    pub(crate) fn unavailable(&self, reason: &str) -> TrialRecord {
        let mut record = self.record();
        record.trial.outcome = Outcome::Unavailable;
        record.detail.reason = Some(reason.to_owned());
        record
    }

    fn skipped(&self, reason: &str) -> TrialRecord {
        let mut record = self.record();
        record.trial.outcome = Outcome::Skipped;
        record.detail.reason = Some(reason.to_owned());
        record
    }
}

const NO_CODE: &str = "the case has no code";

/// Whether a tool failed; one that was never run, or met an outage, did not.
pub fn failed(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Crashed | Outcome::TimedOut | Outcome::Unparsable)
}

struct Kind {
    /// The keys of a manifest that this kind uses, beside those of every kind.
    keys: &'static [&'static str],
    resolve: fn(&mut Check<'_>) -> Box<dyn Declaration>,
}

/// All kinds of tools. One more is one file in this folder and one line here.
fn kind(kind: ToolKindV1) -> &'static Kind {
    match kind {
        ToolKindV1::Command => &command::KIND,
        ToolKindV1::Replay => &replay::KIND,
        ToolKindV1::Patterns => &patterns::KIND,
        ToolKindV1::Llm => &llm::KIND,
        ToolKindV1::Fixer => &fixer::KIND,
    }
}

/// Keys of a manifest that every kind of tool has.
const SHARED_KEYS: &[&str] = &["description", "kind", "model", "trials", "homepage", "install"];

fn milliseconds(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use karat_format::document::schema_of;
    use std::collections::BTreeSet;

    #[test]
    fn waits_grow_to_a_limit() {
        let waits = |most: u32, first: u64| {
            let retries = Retries { most, first_wait: Duration::from_secs(first) };
            (1..=most + 1).map(|outages| retries.wait(outages).map(|wait| wait.as_secs())).collect::<Vec<_>>()
        };
        assert_eq!(waits(3, 1), [Some(1), Some(4), Some(16), None]);
        assert_eq!(waits(5, 5), [Some(5), Some(20), Some(60), Some(60), Some(60), None]);
        assert_eq!(waits(2, 90), [Some(90), Some(90), None]);
        assert_eq!(Retries::default().wait(1), None);
        assert_eq!(Retries { most: u32::MAX, ..Retries::default() }.wait(u32::MAX), Some(Duration::ZERO));
    }

    /// A key that no kind uses would be accepted, and ignored, by all of them.
    #[test]
    fn every_key_of_a_manifest_belongs_to_a_kind() {
        let schema = schema_of::<ToolManifestV1>();
        let stated: BTreeSet<&str> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        let used = ToolKindV1::ALL.into_iter().flat_map(|name| kind(name).keys).chain(SHARED_KEYS).copied();
        assert_eq!(used.collect::<BTreeSet<&str>>(), stated);
        let names = schema["$defs"]["ToolKindV1"]["oneOf"].as_array().unwrap().iter();
        let names: Vec<&str> = names.map(|variant| variant["const"].as_str().unwrap()).collect();
        assert_eq!(ToolKindV1::ALL.map(ToolKindV1::as_str).to_vec(), names);
    }
}
