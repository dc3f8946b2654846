//! Diagnostics of documents in YAML, TOML, JSON and JSONL.

mod faults;
mod hostile;
mod lines;
mod rendering;
mod shapes;

use super::{Syntax, decode, schema_of};
use crate::diagnostic::Diagnostic;
use crate::diagnostic_render::render;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A case with fields for every kind of schema.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the shape matters")]
struct Sample {
    /// Unique within the suite.
    id: String,
    name: Option<String>,
    difficulty: Option<Difficulty>,
    #[serde(default)]
    issues: Vec<Issue>,
    #[serde(default)]
    cwe: Vec<u32>,
    #[serde(default)]
    allow_unexpected: bool,
    #[serde(default)]
    meta: BTreeMap<String, serde_json::Value>,
    pr: Option<Pr>,
    judge: Option<Judge>,
    lines: Option<Lines>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Difficulty {
    /// Seen at once.
    Easy,
    Medium,
    Hard,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the shape matters")]
struct Issue {
    id: String,
    line_start: Option<u32>,
    line_end: Option<u32>,
    #[schemars(range(min = 0.0, max = 1.0))]
    weight: Option<f64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the shape matters")]
struct Pr {
    #[schemars(length(min = 1))]
    title: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
#[expect(dead_code, reason = "only the shape matters")]
enum Judge {
    Local { threshold: f64 },
    Model { provider: String },
}

/// A rule that a schema cannot express.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
struct Lines;

impl TryFrom<String> for Lines {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.contains('-').then_some(Self).ok_or("expected lines as `3-5`".into())
    }
}

/// The faults of a text; empty if it is valid.
fn faults(syntax: Syntax, text: &str) -> Vec<Diagnostic> {
    decode::<Sample>("case", text, syntax, &schema_of::<Sample>()).into_result().err().unwrap_or_default()
}

/// The faults in short: `line:column code: message (label) [help]`.
fn brief(faults: &[Diagnostic]) -> String {
    let part = |text: &Option<String>, open: &str, close: &str| {
        text.as_ref().map(|text| format!(" {open}{text}{close}")).unwrap_or_default()
    };
    let lines: Vec<String> = faults
        .iter()
        .map(|d| {
            let (label, help) = (part(&d.label, "(", ")"), part(&d.help, "[", "]"));
            format!("{}:{} {}: {}{label}{help}", d.line, d.column, d.code, d.message)
        })
        .collect();
    lines.join("\n")
}

#[track_caller]
fn check(syntax: Syntax, text: &str, expect: &str) {
    let found = brief(&faults(syntax, text));
    let expect: Vec<&str> = expect.trim().lines().map(str::trim).collect();
    assert_eq!(found, expect.join("\n"), "{text:?}\n{found}");
}

#[track_caller]
fn check_rendered(syntax: Syntax, text: &str, expect: &str) {
    let found = render(&faults(syntax, text), false, 200);
    assert_eq!(found.trim_end(), expect.trim(), "\n{found}");
}
