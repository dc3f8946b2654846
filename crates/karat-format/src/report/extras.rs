//! Unlabelled extra findings that several tools report.

use karat_core::golden::Severity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Findings of several tools that report the same thing, match no golden and have no label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PooledExtraV1 {
    /// The case.
    pub case: String,
    /// The file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The first line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_start: Option<u32>,
    /// The last line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_end: Option<u32>,
    /// What it is called, in one line.
    pub title: String,
    /// The worst that any tool calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// The tools that report it, by name.
    pub tools: Vec<String>,
    /// How many findings report it.
    pub reports: usize,
    /// The findings; of a great many the first.
    pub members: Vec<PooledMemberV1>,
}

/// A finding among several that report the same thing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PooledMemberV1 {
    /// The tool.
    pub tool: String,
    /// The number of the trial.
    pub trial: u32,
    /// The finding.
    pub finding: String,
}
