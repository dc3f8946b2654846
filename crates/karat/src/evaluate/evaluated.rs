//! What an evaluation ends with.

use super::run_and_score::cannot_be_run;
use crate::failure::Failure;
use crate::run_loader::StoredRun;
use crate::work::Scoring;
use karat_core::ids::ToolName;
use karat_core::trial::Outcome;
use karat_core::wording::count;
use karat_report::number::failed_sentence;
use karat_store::event::Ending;
use karat_store::record::TrialKey;
use karat_store::{RunInfo, Store};
use std::collections::BTreeMap;
use std::fmt;
use std::io;

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
    /// Tools that could not be set up, or failed as a whole, and why. Their trials are unavailable.
    pub tool_failures: BTreeMap<ToolName, String>,
}

impl Evaluated {
    /// Why the run failed as a whole; `None` if any trial came to a report, and every tool could be run.
    pub fn failure(&self) -> Option<Failure> {
        if let Some((tool, why)) = self.tool_failures.first_key_value() {
            let others = match self.tool_failures.len() - 1 {
                0 => String::new(),
                n => format!(" (and {} more)", count(n, "tool")),
            };
            let run = &self.run.info.short_id;
            let message = format!(
                "{}{others}\nits trials are unavailable; try them again with: karat run --resume {run}",
                cannot_be_run(tool, why)
            );
            return Some(Failure::failed(message));
        }
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
