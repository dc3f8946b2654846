//! One thing a tool reported in a trial.

use crate::golden::Severity;
use crate::ids::FindingId;
use crate::lines::Lines;
use crate::path::RepoPath;
use std::collections::BTreeMap;

/// A reported thing, with whatever the tool said of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Unique within the trial.
    pub id: FindingId,
    /// The rule that fired.
    pub rule_id: Option<String>,
    /// A short name.
    pub title: Option<String>,
    /// What the tool said.
    pub message: Option<String>,
    /// Where it lies.
    pub file: Option<RepoPath>,
    /// The first line.
    pub line_start: Option<u32>,
    /// The last line.
    pub line_end: Option<u32>,
    /// How bad the tool finds it.
    pub severity: Option<Severity>,
    /// How sure the tool is, from 0 to 1.
    pub confidence: Option<f64>,
    /// The tool's kind of issue, or what a rule map made of it.
    pub category: Option<String>,
    /// Weakness numbers.
    pub cwe: Vec<u32>,
    /// The function it lies in.
    pub function: Option<String>,
    /// A stable locator made by the scanner.
    pub anchor: Option<String>,
    /// Index of the chunk of code it was found in.
    pub chunk: Option<u32>,
    /// First line of that chunk.
    pub chunk_start: Option<u32>,
    /// Last line of that chunk.
    pub chunk_end: Option<u32>,
    /// Which part of the tool found it, such as `static` or `llm`.
    pub source: Option<String>,
    /// Fingerprints of the tool's own making.
    pub fingerprints: BTreeMap<String, String>,
    /// An identity key the tool gave itself.
    pub identity_key: Option<String>,
    /// Reports of other rules that the tool folded into this one.
    pub merged: Vec<MergedReport>,
    /// The enclosing symbol with its ordinal, read from the source where it was at hand.
    pub symbol: Option<String>,
}

/// A report folded into a finding.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MergedReport {
    /// Its rule.
    pub rule_id: Option<String>,
    /// Its first line.
    pub line_start: Option<u32>,
    /// Its last line.
    pub line_end: Option<u32>,
    /// Its locator.
    pub anchor: Option<String>,
}

impl Finding {
    /// A finding with nothing but a name.
    pub fn named(id: impl Into<String>) -> Self {
        Self {
            id: FindingId::new(id),
            rule_id: None,
            title: None,
            message: None,
            file: None,
            line_start: None,
            line_end: None,
            severity: None,
            confidence: None,
            category: None,
            cwe: Vec::new(),
            function: None,
            anchor: None,
            chunk: None,
            chunk_start: None,
            chunk_end: None,
            source: None,
            fingerprints: BTreeMap::new(),
            identity_key: None,
            merged: Vec::new(),
            symbol: None,
        }
    }

    /// The lines it lies on; a missing start means no lines.
    pub fn lines(&self) -> Option<Lines> {
        Lines::from_start(self.line_start, self.line_end)
    }

    /// Title, or message, or rule: what to show a person in one line.
    pub fn headline(&self) -> &str {
        self.title.as_deref().or(self.message.as_deref()).or(self.rule_id.as_deref()).unwrap_or(self.id.as_str())
    }

    /// Its rule and the rules folded into it.
    pub fn rules(&self) -> impl Iterator<Item = &str> {
        self.rule_id.iter().chain(self.merged.iter().filter_map(|m| m.rule_id.as_ref())).map(String::as_str)
    }
}
