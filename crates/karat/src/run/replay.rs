//! Recorded trials, told again: for tutorials, for tests, and to compare with tools that cannot be run here.

use super::drive::Task;
use crate::suite::LoadedSuite;
use karat_core::ids::{CaseId, ToolName};
use karat_core::trial::{Outcome, Trial};
use karat_format::diagnostic::Faults;
use karat_format::recorded::{NamedLines, read_trials};
use karat_format::run::TrialDetailV1;
use karat_import::input;
use karat_store::record::TrialRecord;
use std::collections::{BTreeSet, HashMap};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The recorded trials of one tool, each of which is told once.
pub struct Recording {
    trials: HashMap<(CaseId, u32), Mutex<Option<Trial>>>,
}

/// Why there is no recording.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The file cannot be read.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// The file is not a submission to this suite.
    #[error(transparent)]
    Faults(#[from] Faults),
    /// The tool is not in it.
    #[error("{file} contains no trial of {tool}; it contains {}", if there.is_empty() { "none at all".to_owned() } else { format!("those of {}", there.join(", ")) })]
    NoTrials {
        /// The file.
        file: String,
        /// The tool.
        tool: ToolName,
        /// The tools it has trials of.
        there: Vec<String>,
    },
}

/// All trials of a submission, which lies in the suite or, by its full path, anywhere.
pub fn read(loaded: &LoadedSuite, submission: &Path) -> Result<Vec<Trial>, RecordingError> {
    let name = submission.to_string_lossy();
    let file = if submission.is_absolute() { name.to_string() } else { loaded.files.display(&name) };
    let failed = |source| RecordingError::Io { file: file.clone(), source };
    let reader: Box<dyn io::BufRead> = if submission.is_absolute() {
        let opened = input::open(submission).map_err(|error| failed(io::Error::other(error.to_string())))?;
        Box::new(BufReader::with_capacity(1 << 16, opened.reader))
    } else {
        let there = loaded.files.open(&name).map_err(failed)?;
        there.ok_or_else(|| failed(io::Error::new(io::ErrorKind::NotFound, "there is no such file in the suite")))?
    };
    Ok(read_trials(vec![NamedLines { file: file.clone(), reader }], Some(&loaded.suite))?)
}

/// Submissions that were read already: one may hold the trials of many tools.
#[derive(Default)]
pub struct Recordings {
    read: HashMap<PathBuf, Vec<Trial>>,
}

impl Recordings {
    /// The trials of one tool in a submission.
    pub fn recording(
        &mut self,
        loaded: &LoadedSuite,
        submission: &Path,
        recorded_as: &ToolName,
    ) -> Result<Recording, RecordingError> {
        let all = match self.read.remove(submission) {
            // What is left of it may not hold the tool any more, if it is asked for under two names.
            Some(left) if left.iter().any(|trial| trial.tool == *recorded_as) => left,
            _ => read(loaded, submission)?,
        };
        let (own, others): (Vec<Trial>, Vec<Trial>) = all.into_iter().partition(|trial| trial.tool == *recorded_as);
        if own.is_empty() {
            let there: BTreeSet<String> = others.iter().map(|trial| trial.tool.to_string()).collect();
            let (file, tool) = (submission.display().to_string(), recorded_as.clone());
            return Err(RecordingError::NoTrials { file, tool, there: there.into_iter().collect() });
        }
        self.read.insert(submission.to_owned(), others);
        let own = own.into_iter().map(|trial| ((trial.case.clone(), trial.number), Mutex::new(Some(trial))));
        Ok(Recording { trials: own.collect() })
    }
}

impl Recording {
    /// How often the tool was run at most.
    pub fn most_trials(&self) -> u32 {
        self.trials.keys().map(|(_, number)| *number).max().unwrap_or_default()
    }

    /// The recorded trial, or that there is none. A run does no trial twice, so it is handed over and not copied.
    pub(super) fn execute(&self, task: &Task) -> TrialRecord {
        let key = &task.key;
        let recorded = self.trials.get(&(key.case.clone(), key.number));
        let recorded = recorded.and_then(|trial| trial.lock().unwrap_or_else(PoisonError::into_inner).take());
        let reason = recorded.is_none().then(|| "it was not recorded".to_owned());
        let trial = match recorded {
            Some(trial) => Trial { tool: key.tool.clone(), ..trial },
            None => {
                Trial { outcome: Outcome::Skipped, ..Trial::reported(key.case.clone(), key.tool.clone(), key.number) }
            }
        };
        let detail = TrialDetailV1 { reason, ..TrialDetailV1::default() };
        TrialRecord { trial, attempt: task.attempt, detail, artifacts: Vec::new() }
    }
}
