//! Schemas of composed types.

use super::brief;
use crate::document::{Syntax, decode, schema_of};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the shape matters")]
struct Shapes {
    #[serde(default)]
    tools: BTreeMap<String, Tool>,
    #[serde(default)]
    by_number: BTreeMap<u32, bool>,
    action: Option<Action>,
    judgement: Option<Judgement>,
    loose: Option<Loose>,
    pair: Option<(u8, String)>,
    tree: Option<Box<Tree>>,
    joined: Option<Joined>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the shape matters")]
struct Tool {
    command: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "only the shape matters")]
enum Action {
    Nothing,
    Run { times: u8 },
    Call(Tool),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[expect(dead_code, reason = "only the shape matters")]
enum Judgement {
    Pair(Pair),
    Audit(Audit),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the shape matters")]
struct Pair {
    golden: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the shape matters")]
struct Audit {
    explanation: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only the shape matters")]
enum Loose {
    Number(u32),
    Many(Vec<u32>),
    Tool(Tool),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the shape matters")]
struct Tree {
    left: Option<Box<Tree>>,
    right: Option<Box<Tree>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only the shape matters")]
struct Joined {
    name: String,
    #[serde(flatten)]
    where_: Where,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only the shape matters")]
struct Where {
    line: u32,
}

#[track_caller]
fn check(text: &str, expect: &str) {
    let found =
        decode::<Shapes>("x", text, Syntax::Yaml, &schema_of::<Shapes>()).into_result().err().unwrap_or_default();
    let expect: Vec<&str> = expect.trim().lines().map(str::trim).collect();
    assert_eq!(brief(&found), expect.join("\n"), "\n{}", brief(&found));
}

#[test]
fn every_shape_is_accepted() {
    check("tools: {a: {command: [x]}}\nby_number: {1: true}\npair: [1, a]", "");
    check("action: nothing\njudgement: {kind: pair, golden: x}\nloose: 3", "");
    check("action: {run: {times: 3}}\njudgement: {kind: audit, explanation: x}\nloose: [3]", "");
    check("action: {call: {command: []}}\nloose: {command: []}\njoined: {name: x, line: 3}", "");
    check("tree: {left: {left: {}, right: ~}}", "");
}

#[test]
fn faults_are_those_of_the_intended_shape() {
    check("tools: {a: {comand: [x]}}", "1:13 unknown-key: unknown key `comand` (did you mean `command`?)");
    check(
        "action: nothin",
        "1:9 unknown-value: expected `nothing` for `action`, found the text \"nothin\" (did you mean `nothing`?)",
    );
    check(
        "action: {run: {times: 300}}",
        "1:23 out-of-range: expected a number from 0 to 255 for `times`, found the number 300 (expected a number from 0 to 255)",
    );
    check("judgement: {kind: pair, goldn: x}", "1:25 unknown-key: unknown key `goldn` (did you mean `golden`?)");
    check(
        "judgement: {kind: audit}",
        "1:12 missing-key: the key `explanation` is missing in `judgement` (`explanation` is required here)",
    );
    check(
        "loose: text",
        "1:8 wrong-type: expected a whole number or a list or a mapping for `loose`, found the text \"text\" (expected a whole number or a list or a mapping)",
    );
    check(
        "loose: [1, x]",
        "1:12 wrong-type: expected a whole number for an item of `loose`, found the text \"x\" (expected a whole number)",
    );
    check(
        "pair: [1]",
        "1:7 too-short: expected a list of at least 2 items for `pair`, found 1 item (expected at least 2 items)",
    );
    check(
        "pair: [a, 1]",
        "1:8 wrong-type: expected a whole number for an item of `pair`, found the text \"a\" (expected a whole number)
        1:11 wrong-type: expected text for an item of `pair`, found the number 1 (expected text) [quote it: \"1\"]",
    );
    check(
        "joined: {name: x, line: -1}",
        "1:25 out-of-range: expected a number from 0 to 4294967295 for `line`, found the number -1 (expected a number from 0 to 4294967295)",
    );
    check("tree: {left: {rigth: {}}}", "1:15 unknown-key: unknown key `rigth` (did you mean `right`?)");
    check(
        "by_number: {x: true}",
        r"1:13 unknown-key: unknown key `x` (unknown here) [expected a key that matches `^\d+$`]",
    );
    check("action: {walk: 1}", "1:10 unknown-key: unknown key `walk` (unknown here) [known keys: `run`, `call`]");
    check("action: {rum: 1}", "1:10 unknown-key: unknown key `rum` (did you mean `run`?)");
}
