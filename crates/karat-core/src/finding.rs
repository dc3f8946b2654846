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

    /// One-line summary: title, the beginning of the message, rule or id.
    pub fn headline(&self) -> &str {
        let text = self.title.as_deref().or_else(|| self.message.as_deref().map(first_sentence));
        text.or(self.rule_id.as_deref()).unwrap_or(self.id.as_str())
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

/// Longer lines are shortened to their first sentence.
const LONGEST_HEADLINE: usize = 120;

/// The first line of a text with anything on it; of a long line the first sentence.
fn first_sentence(text: &str) -> &str {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    if line.chars().nth(LONGEST_HEADLINE).is_none() {
        return line;
    }
    let mut ends = line.match_indices(['.', '!', '?']).map(|(at, sign)| at + sign.len());
    // A point within a name or a number, or after an abbreviated word, ends no sentence.
    let is_end = |end: &usize| {
        let next = line[*end..].strip_prefix(' ').and_then(|rest| rest.chars().next());
        *end > 20 && next.is_some_and(|c| !c.is_lowercase())
    };
    ends.find(is_end).map_or(line, |end| &line[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headlines_are_one_line() {
        let check = |title: Option<&str>, message: &str, expect: &str| {
            let message = Some(message.to_owned());
            let finding = Finding { title: title.map(str::to_owned), message, ..Finding::new("f1") };
            assert_eq!(finding.headline(), expect);
        };
        check(Some("Own title"), "Message. More.", "Own title");
        check(None, "Short. Two sentences.", "Short. Two sentences.");
        check(None, "\n  First line  \nsecond line", "First line");
        let long = "The query is built from e.g. app.request.args by hand. ";
        check(None, &long.repeat(4), "The query is built from e.g. app.request.args by hand.");
        check(None, &"word ".repeat(60), "word ".repeat(60).trim_end());
        assert_eq!(Finding { rule_id: Some("R1".to_owned()), ..Finding::new("f1") }.headline(), "R1");
        assert_eq!(Finding::new("f1").headline(), "f1");
    }
}
