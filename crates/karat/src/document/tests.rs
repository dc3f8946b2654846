//! Text in, drawn diagnostics out.

use super::{Document, Limits, Syntax, decode, decode_lines_within, schema_of};
use crate::diagnostic::{Faults, Level, render};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A case as a suite's author writes it; the fields are chosen to meet every kind of schema.
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

/// A rule that no schema states.
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

fn read(syntax: Syntax, text: &str) -> Result<Document, String> {
    let schema = schema_of::<Sample>();
    match decode::<Sample>("case", text, syntax, &schema) {
        Ok((_, document)) => Ok(document),
        Err(faults) => Err(render(&faults, false, 140)),
    }
}

#[track_caller]
fn check(syntax: Syntax, text: &str, expect: &str) {
    let seen = read(syntax, text).expect_err("a fault is expected");
    assert_eq!(seen.trim_end(), expect.trim(), "\n{seen}");
}

#[test]
fn probe() {
    for t in [
        "id: 12\nname: é日本 ok\nissues:\n  - id: a\n    line_strat: 3\n    line_end: twelve\n    weight: 2\n  - line_start: -1\ndifficulty: hrad\nallow_unexpected: yes\npr:\n  title: ''\njudge: {kind: modle}\ncwe: 79\ncolour: red\nid: b\n",
        "id: a\njudge: {kind: model}\nlines: abc\n",
        "id: a\njudge: {}\nname:\n\n\npr:\n\ncwe: [1, x, 5000000000]\n",
        "",
        "a: [1\nb: 2",
        "id: a\n\tname: b",
        "id: \"a\u{1b}[31m\tb\"\r\nnmae: x\r\n",
    ] {
        println!("=========\n{}", read(Syntax::Yaml, t).expect_err("x"));
    }
    for t in [
        "id = 3\nname = \"x\"\n[pr]\ntitel = 3\n[[issues]]\nid = \"é\"\nline_start = 1.0\n[[issues]]\nweight = inf\n",
        "id = \nname = x\nfoo = 3\n",
        "",
    ] {
        println!("=========\n{}", read(Syntax::Toml, t).expect_err("x"));
    }
    for t in [
        "",
        "{\"id\":\"a\",}",
        "{\"id\":\"a\" \"b\":1}",
        "{'id':1}",
        "{\"id\":\"\\ud800\", \"id\": 3, \"issues\":[{\"id\":null}]}",
        "[1]",
    ] {
        println!("=========\n{}", read(Syntax::Json, t).expect_err("x"));
    }
    println!("{:#}", schema_of::<Sample>());
}
