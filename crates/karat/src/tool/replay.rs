//! Recorded trials, repeated as if the tool had run again.

use super::manifest::Check;
use super::run_context::RunContext;
use super::{Declaration, Kind, LoadResult, PrepareResult, RunResult, Task, Tool, TrialRunner, facts_without_program};
use crate::checkout::Template;
use crate::failure::Failure;
use crate::suite::LoadedSuite;
use karat_core::ids::{CaseId, ToolName};
use karat_core::suite::Case;
use karat_core::trial::Trial;
use karat_format::case::is_date;
use karat_format::id_fault;
use karat_format::recorded::{NamedLines, read_trials};
use karat_import::input;
use karat_llm::engine::Retry;
use karat_sandbox::Isolation;
use karat_store::record::TrialRecord;
use std::collections::{BTreeSet, HashMap};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

pub(super) static KIND: Kind =
    Kind { keys: &["submission", "recorded_as", "recorded"], resolve: |check| Box::new(check.recorded_tool()) };

#[derive(Debug, PartialEq)]
pub(super) struct RecordedTool {
    submission: PathBuf,
    recorded_as: ToolName,
}

impl Check<'_> {
    pub(super) fn recorded_tool(&mut self) -> RecordedTool {
        let raw = self.raw;
        if raw.submission.is_none() {
            self.fault(&[], "no-submission", "kind = \"replay\" needs `submission`, the file with the recorded trials");
        }
        let submission = self.file("submission", raw.submission.as_deref()).unwrap_or_default();
        if let Some(fault) = raw.recorded_as.as_deref().and_then(|id| id_fault(&[], id)) {
            self.fault(&["recorded_as"], fault.code, fault.message);
        }
        if let Some(day) = raw.recorded.as_deref().filter(|day| !is_date(day)) {
            self.fault(&["recorded"], "bad-date", format!("invalid date `{day}`: expected a day such as 2026-11-05"));
        }
        let recorded_as = ToolName::new(raw.recorded_as.as_deref().unwrap_or(self.name));
        RecordedTool { submission, recorded_as }
    }
}

/// Submissions that were read already: one may contain the trials of many tools.
pub(crate) type Recordings = HashMap<PathBuf, Vec<Trial>>;

impl Declaration for RecordedTool {
    fn load(self: Box<Self>, suite: &LoadedSuite, recordings: &mut Recordings) -> LoadResult {
        let Self { submission, recorded_as } = *self;
        let all = match recordings.remove(&submission) {
            // A tool that is run under two names takes its trials out twice.
            Some(left) if left.iter().any(|trial| trial.tool == recorded_as) => left,
            _ => read(suite, &submission)?,
        };
        let (own, others): (Vec<Trial>, Vec<Trial>) = all.into_iter().partition(|trial| trial.tool == recorded_as);
        if own.is_empty() {
            let there: BTreeSet<&str> = others.iter().map(|trial| trial.tool.as_str()).collect();
            let there = Vec::from_iter(there).join(", ");
            let there = if there.is_empty() { "none".to_owned() } else { format!("those of {there}") };
            let file = submission.display();
            return Err(Failure::bad_input(format!("{file} contains no trial of {recorded_as}; it contains {there}")));
        }
        recordings.insert(submission, others);
        let own = own.into_iter().map(|trial| ((trial.case.clone(), trial.number), Mutex::new(Some(trial))));
        Ok(Box::new(Recording { trials: own.collect() }))
    }
}

/// The recorded trials of one tool, each of which is used once.
struct Recording {
    trials: HashMap<(CaseId, u32), Mutex<Option<Trial>>>,
}

impl Tool for Recording {
    fn max_trials(&self) -> Option<u32> {
        self.trials.keys().map(|(_, number)| *number).max()
    }

    fn prepare<'a>(self: Box<Self>, _: Isolation, _: &'a RunContext<'a>) -> PrepareResult<'a> {
        Ok((self, facts_without_program(None)))
    }
}

impl TrialRunner for Recording {
    /// A run does no trial twice, so the recorded trial is moved out, not copied.
    fn run_trial(&self, task: &Task, _: Option<&Case>, _: Option<&Template>, _: &dyn Fn(Retry)) -> RunResult {
        let recorded = self.trials.get(&(task.key.case.clone(), task.key.number));
        let recorded = recorded.and_then(|trial| trial.lock().unwrap_or_else(PoisonError::into_inner).take());
        let Some(trial) = recorded else { return Ok(Some(task.skipped("it was not recorded"))) };
        Ok(Some(TrialRecord { trial: Trial { tool: task.key.tool.clone(), ..trial }, ..task.record() }))
    }
}

/// Reads all trials of a submission, which is in the suite or, by its full path, anywhere.
pub fn read(loaded: &LoadedSuite, submission: &Path) -> Result<Vec<Trial>, Failure> {
    let name = submission.to_string_lossy();
    let file = if submission.is_absolute() { name.to_string() } else { loaded.files.display(&name) };
    let failed = |source| Failure::io(&file, source);
    let reader: Box<dyn io::BufRead> = if submission.is_absolute() {
        let opened = input::open(submission)?;
        Box::new(BufReader::with_capacity(1 << 16, opened.reader))
    } else {
        let there = loaded.files.open(&name).map_err(failed)?;
        there.ok_or_else(|| failed(io::Error::new(io::ErrorKind::NotFound, "there is no such file in the suite")))?
    };
    Ok(read_trials(vec![NamedLines { file: file.clone(), reader }], Some(&loaded.suite))?)
}
