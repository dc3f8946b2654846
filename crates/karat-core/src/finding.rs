//! An issue a tool reported in a trial.

use crate::golden::Severity;
use crate::ids::FindingId;
use crate::lines::Lines;
use crate::path::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An issue reported by a tool.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Finding {
    /// Unique within the trial.
    pub id: FindingId,
    pub rule_id: Option<String>,
    pub title: Option<String>,
    pub message: Option<String>,
    pub file: Option<RepoPath>,
    pub line_start: Option<u32>,
    pub line_end: Option<u32>,
    pub severity: Option<Severity>,
    /// From 0 to 1.
    pub confidence: Option<f64>,
    /// The tool's kind of issue, or what a rule map made of it.
    pub category: Option<String>,
    pub cwe: Vec<u32>,
    pub function: Option<String>,
    pub anchor: Option<String>,
    /// Index of the chunk of code it was found in.
    pub chunk: Option<u32>,
    pub chunk_start: Option<u32>,
    pub chunk_end: Option<u32>,
    /// Which part of the tool found it, such as `static` or `llm`.
    pub source: Option<String>,
    pub fingerprints: BTreeMap<String, String>,
    pub identity_key: Option<String>,
    /// Reports of other rules that the tool folded into this one.
    pub merged: Vec<MergedReport>,
    /// The enclosing symbol with its ordinal, read from the source where available.
    pub symbol: Option<String>,
}

/// A report folded into a finding.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MergedV1")]
pub struct MergedReport {
    /// Its rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule_id: Option<String>,
    /// Its first line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_start: Option<u32>,
    /// Its last line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_end: Option<u32>,
    /// Its locator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<String>,
}

impl Finding {
    /// A finding with only an id.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: FindingId::new(id), ..Self::default() }
    }

    /// The lines it lies on; a missing start means no lines.
    pub fn lines(&self) -> Option<Lines> {
        Lines::from_start(self.line_start, self.line_end)
    }

    /// One-line summary: title, message, rule or id.
    pub fn headline(&self) -> &str {
        self.title.as_deref().or(self.message.as_deref()).or(self.rule_id.as_deref()).unwrap_or(self.id.as_str())
    }

    /// Whether it comes from a scanner, which names its rule or a CWE number, rather than from somebody who writes prose.
    pub fn is_from_scanner(&self) -> bool {
        self.rule_id.is_some() || !self.cwe.is_empty()
    }

    /// Its rule and the rules folded into it.
    pub fn rules(&self) -> impl Iterator<Item = &str> {
        self.rule_id.iter().chain(self.merged.iter().filter_map(|m| m.rule_id.as_ref())).map(String::as_str)
    }
}
