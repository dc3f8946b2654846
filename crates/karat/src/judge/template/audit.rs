//! Prompts for audits: one response, judged as a whole.

use super::{LONGEST_TEXT, lines, text, written};
use karat_core::finding::Finding;
use karat_core::golden::{Acceptance, Golden};
use karat_core::judgement::{Classification, TypeMatch};
use karat_core::suite::{Case, Verdict};
use karat_core::trial::Trial;
use karat_llm::prompt::{Template, truncate_text};
use serde_json::{Map, Value, json};
use std::sync::Arc;

pub(in crate::judge) static AUDIT: Template =
    Template::new("audit/v1", 4096, include_str!("../../../judges/prompts/audit/v1.md"), || schema(false, None));

/// For a safe case, in which there is nothing to find.
pub(in crate::judge) static AUDIT_SAFE: Template =
    Template::new("audit-safe/v1", 4096, include_str!("../../../judges/prompts/audit-safe/v1.md"), || {
        schema(true, None)
    });

/// An audit is about a whole file more often than about a place in it.
const LONGEST_CODE: usize = 60_000;
const LONGEST_RESPONSE: usize = 40_000;
/// All findings share this much, so that the prompt fits into the context of a model.
const LONGEST_FINDINGS: usize = 120_000;
const SHORTEST_FINDING: usize = 400;
/// A longer list of names is left out of the schema, since providers limit enumerations.
const MOST_NAMES: usize = 200;

/// The name that a judge knows a finding by, counted from 0. The tool's own names may tell which tool it was.
pub(in crate::judge) fn neutral(index: usize) -> String {
    format!("f{}", index + 1)
}

pub(in crate::judge) fn as_judge_sees(response: &str) -> String {
    truncate_text(response, LONGEST_RESPONSE)
}

/// The issues that an audit is about: those marked as target, else all required ones.
fn targets(case: &Case) -> Vec<&Golden> {
    if case.verdict == Verdict::Safe {
        return Vec::new();
    }
    let marked: Vec<&Golden> = case.goldens.iter().filter(|golden| golden.target).collect();
    if marked.is_empty() { case.required().collect() } else { marked }
}

/// The fields of the prompt. It does not tell tool, model and trial, nor the ids of case, goldens and rules.
pub(in crate::judge) fn fields(case: &Case, trial: &Trial, code: Option<&str>) -> Vec<(&'static str, String)> {
    let targets = targets(case);
    let others = case.goldens.iter().filter(|golden| !targets.iter().any(|target| std::ptr::eq(*target, *golden)));
    let known: Vec<_> = others.map(known).collect();
    let aims: Vec<_> = targets.iter().map(|golden| described(golden)).collect();
    let each = (LONGEST_FINDINGS / trial.findings.len().max(1)).clamp(SHORTEST_FINDING, LONGEST_TEXT);
    let findings = trial.findings.iter().enumerate();
    let findings: Vec<_> = findings.map(|(index, finding)| listed(index, finding, each)).collect();
    let list = |items: Vec<Map<String, Value>>| (!items.is_empty()).then(|| written(&items));
    let object = |object: Map<String, Value>| (!object.is_empty()).then(|| written(&object));
    let response = trial.response.as_deref().filter(|response| !response.trim().is_empty());
    [
        ("case", object(about(case))),
        ("target", list(aims)),
        ("known", list(known)),
        ("code", code.map(|code| truncate_text(code, LONGEST_CODE))),
        ("verdict", object(stated(trial))),
        ("findings", list(findings)),
        ("text", response.map(as_judge_sees)),
    ]
    .into_iter()
    .filter_map(|(name, text)| Some((name, text?)))
    .collect()
}

/// The schema of an answer. `names` is the number of listed findings; `None`: the judge lists the claims of a text itself.
pub(in crate::judge) fn schema(safe: bool, names: Option<usize>) -> Arc<Value> {
    let classes = Classification::ALL.iter().filter(|class| !safe || !class.is_about_target());
    let classes: Vec<&str> = classes.map(|class| class.as_str()).collect();
    let mut name = json!({ "type": "string", "description": "the name of the finding, such as f1" });
    if let Some(count @ 1..=MOST_NAMES) = names {
        name["enum"] = (0..count).map(neutral).collect();
    }
    let mut finding = vec![("finding", name)];
    if names.is_none() {
        let what = "the passage that makes the claim, copied letter by letter";
        finding.push(("quote", json!({ "type": "string", "description": what })));
    }
    finding.extend([
        ("reason", json!({ "type": ["string", "null"], "description": "one short sentence, why this class" })),
        ("classification", json!({ "type": "string", "enum": classes })),
        ("matches_target", json!({ "type": "boolean", "description": "whether it is about the target" })),
        ("is_valid_concern", json!({ "type": "boolean", "description": "whether its class is a valid one" })),
    ]);
    let mut properties = vec![("findings", json!({ "type": "array", "items": closed(finding) }))];
    if !safe {
        properties.push(("target", target_schema()));
    }
    let verdict = "what the response says of the code; null: no verdict";
    let confidence = "how sure the response says it is; null: it does not say";
    properties.extend([
        ("said_vulnerable", json!({ "type": ["boolean", "null"], "description": verdict })),
        ("confidence_expressed", share_schema(confidence)),
        ("explanation", json!({ "type": "string", "description": "two to four sentences, why" })),
    ]);
    Arc::new(closed(properties))
}

fn target_schema() -> Value {
    let types: Vec<Value> = TypeMatch::ALL.iter().map(|level| json!(level.as_str())).chain([Value::Null]).collect();
    let finding = "the name of the finding that reports it best";
    closed(vec![
        ("found", json!({ "type": "boolean", "description": "whether the response reports the target" })),
        ("finding", json!({ "type": ["string", "null"], "description": finding })),
        ("type_match", json!({ "type": ["string", "null"], "enum": types })),
        ("rcir", share_schema("the root cause: 0, 0.25, 0.5, 0.75 or 1; null: not found")),
        ("ava", share_schema("the attack: 0, 0.25, 0.5, 0.75 or 1; null: not found")),
        ("fsv", share_schema("the fix: 0, 0.25, 0.5, 0.75 or 1; null: not found")),
    ])
}

fn share_schema(description: &str) -> Value {
    json!({ "type": ["number", "null"], "minimum": 0, "maximum": 1, "description": description })
}

fn closed(properties: Vec<(&str, Value)>) -> Value {
    let required: Vec<&str> = properties.iter().map(|(name, _)| *name).collect();
    let properties: Map<String, Value> = properties.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    json!({ "type": "object", "required": required, "properties": properties, "additionalProperties": false })
}

fn about(case: &Case) -> Map<String, Value> {
    let mut object = Map::new();
    text(&mut object, "description", case.description.as_deref());
    text(&mut object, "language", case.language.as_deref());
    if let Some(pr) = &case.pr {
        text(&mut object, "change", Some(pr.title.as_str()).filter(|title| !title.is_empty()));
        text(&mut object, "change_description", Some(pr.description.as_str()).filter(|text| !text.is_empty()));
    }
    words(&mut object, "categories", &case.categories);
    words(&mut object, "cwe", &case.cwe);
    object
}

fn described(golden: &Golden) -> Map<String, Value> {
    let mut object = Map::new();
    text(&mut object, "title", golden.title.as_deref());
    text(&mut object, "description", golden.description.as_deref());
    text(&mut object, "category", golden.category.as_deref());
    words(&mut object, "cwe", &golden.cwe);
    text(&mut object, "severity", golden.severity.map(|severity| severity.as_str()));
    text(&mut object, "file", golden.file.as_ref().map(ToString::to_string).as_deref());
    text(&mut object, "lines", golden.lines.map(lines).as_deref());
    text(&mut object, "function", golden.function.as_deref());
    text(&mut object, "root_cause", golden.root_cause.as_deref());
    text(&mut object, "attack_scenario", golden.attack_scenario.as_deref());
    text(&mut object, "fix", golden.fix.as_deref());
    object
}

fn known(golden: &Golden) -> Map<String, Value> {
    let what = match golden.acceptance {
        Acceptance::Required | Acceptance::Acceptable => "true",
        Acceptance::Trap => "a false alarm",
    };
    let mut object = Map::from_iter([("known_as".to_owned(), json!(what))]);
    object.extend(described(golden));
    object
}

fn stated(trial: &Trial) -> Map<String, Value> {
    let mut object = Map::new();
    let verdict = trial.verdict.map(|verdict| match verdict {
        Verdict::Vulnerable => "vulnerable",
        Verdict::Safe => "safe",
    });
    text(&mut object, "verdict", verdict);
    object.extend(trial.confidence.map(|confidence| ("confidence".to_owned(), json!(confidence))));
    object
}

fn listed(index: usize, finding: &Finding, longest: usize) -> Map<String, Value> {
    let mut object = Map::from_iter([("name".to_owned(), json!(neutral(index)))]);
    text(&mut object, "title", finding.title.as_deref().map(|title| truncate_text(title, longest)).as_deref());
    text(&mut object, "category", finding.category.as_deref());
    words(&mut object, "cwe", &finding.cwe);
    text(&mut object, "severity", finding.severity.map(|severity| severity.as_str()));
    object.extend(finding.confidence.map(|confidence| ("confidence".to_owned(), json!(confidence))));
    text(&mut object, "file", finding.file.as_ref().map(ToString::to_string).as_deref());
    text(&mut object, "lines", finding.lines().map(lines).as_deref());
    text(&mut object, "function", finding.function.as_deref());
    text(&mut object, "message", finding.message.as_deref().map(|message| truncate_text(message, longest)).as_deref());
    if finding.title.is_none() && finding.message.is_none() {
        // A rule's name may hint at the tool, but such a finding says nothing else.
        text(&mut object, "rule", finding.rule_id.as_deref());
    }
    object
}

fn words<T: serde::Serialize>(object: &mut Map<String, Value>, key: &str, values: &[T]) {
    if !values.is_empty() {
        object.insert(key.to_owned(), json!(values));
    }
}
