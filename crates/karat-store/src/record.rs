//! A finished trial and its artifacts.

use karat_core::ids::{CaseId, ToolName};
use karat_core::trial::Trial;
use karat_format::run::TrialDetailV1;

/// Identifies a trial of a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "field names say it")]
pub struct TrialKey {
    pub tool: ToolName,
    pub case: CaseId,
    /// The repetition, counted from 1.
    pub number: u32,
}

impl TrialKey {
    /// The key of a trial.
    pub fn from_trial(trial: &Trial) -> Self {
        Self { tool: trial.tool.clone(), case: trial.case.clone(), number: trial.number }
    }
}

/// A finished trial with everything that is stored of it.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct TrialRecord {
    pub trial: Trial,
    /// Counted from 1.
    pub attempt: u32,
    pub detail: TrialDetailV1,
    /// Named `stdout`, `stderr`, `output`, and `exchange` for a model's conversation.
    pub artifacts: Vec<Artifact>,
}

/// Named bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Artifact {
    pub name: String,
    pub bytes: Vec<u8>,
}
