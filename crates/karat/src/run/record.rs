//! What one trial left behind.

use crate::format::run::TrialDetailV1;
use karat_core::ids::{CaseId, ToolName};
use karat_core::trial::Trial;

/// Which trial of a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrialKey {
    /// The tool.
    pub tool: ToolName,
    /// The case.
    pub case: CaseId,
    /// The repetition, counted from 1.
    pub number: u32,
}

impl TrialKey {
    /// The key of a trial.
    pub fn of(trial: &Trial) -> Self {
        Self { tool: trial.tool.clone(), case: trial.case.clone(), number: trial.number }
    }
}

/// A finished trial with everything that is kept of it.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialRecord {
    /// The trial: outcome and findings.
    pub trial: Trial,
    /// Which attempt at it this was, counted from 1.
    pub attempt: u32,
    /// How it went.
    pub detail: TrialDetailV1,
    /// What it printed and wrote, by name: `stdout`, `stderr`, `output`; what a model was asked and said: `exchange`.
    pub artifacts: Vec<Artifact>,
}

/// Bytes that are kept under their hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// What it is.
    pub name: String,
    /// The bytes.
    pub bytes: Vec<u8>,
}
