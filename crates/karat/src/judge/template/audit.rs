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

/// What is a response about a vulnerable case worth?
pub static AUDIT: Template =
    Template::new("audit/v1", 4096, include_str!("../../../judges/prompts/audit/v1.md"), || schema(false, None));

/// What is a response about a safe case worth, in which there is nothing to find?
pub static AUDIT_SAFE: Template =
    Template::new("audit-safe/v1", 4096, include_str!("../../../judges/prompts/audit-safe/v1.md"), || {
        schema(true, None)
    });

/// So much code goes with a response: an audit is about a whole file more often than about a place in it.
const LONGEST_CODE: usize = 60_000;
/// So much of a response in prose is judged.
const LONGEST_RESPONSE: usize = 40_000;
/// All findings share this much, so that many long ones do not make a prompt no model takes.
const LONGEST_FINDINGS: usize = 120_000;
/// However many there are, this much of each is shown.
const SHORTEST_FINDING: usize = 400;
/// A longer list of names is left out of the schema, for providers limit how many words a schema may list.
const MOST_NAMES: usize = 200;

/// The name that a judge knows a finding by, counted from 0. The tool's own names may tell which tool it was.
pub(in crate::judge) fn neutral(index: usize) -> String {
    format!("f{}", index + 1)
}

/// The text of a response as a judge sees it.
pub(in crate::judge) fn as_judge_sees(response: &str) -> String {
    truncate_text(response, LONGEST_RESPONSE)
}

/// The issues that an audit is about: the one marked as target, else any that a good tool must report.
pub(in crate::judge) fn targets(case: &Case) -> Vec<&Golden> {
    if case.verdict == Verdict::Safe {
        return Vec::new();
    }
    let marked: Vec<&Golden> = case.goldens.iter().filter(|golden| golden.target).collect();
    if marked.is_empty() { case.required().collect() } else { marked }
}

/// What goes into the holes. Which tool, model and trial it was stays unsaid, and so do the names of case, goldens and rules.
pub(in crate::judge) fn fields(case: &Case, trial: &Trial, code: Option<&str>) -> Vec<(&'static str, String)> {
    let targets = targets(case);
    let others = case.goldens.iter().filter(|golden| !targets.iter().any(|target| std::ptr::eq(*target, *golden)));
    let known: Vec<Value> = others.map(|golden| Value::Object(known(golden))).collect();
    let aims: Vec<Value> = targets.iter().map(|golden| Value::Object(described(golden))).collect();
    let each = (LONGEST_FINDINGS / trial.findings.len().max(1)).clamp(SHORTEST_FINDING, LONGEST_TEXT);
    let findings = trial.findings.iter().enumerate();
    let findings: Vec<Value> = findings.map(|(index, finding)| Value::Object(listed(index, finding, each))).collect();
    let list = |items: Vec<Value>| (!items.is_empty()).then(|| pretty(&Value::Array(items)));
    let object = |object: Map<String, Value>| (!object.is_empty()).then(|| written(object));
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

/// The form of an answer. `names` is how many findings are listed; `None`: the judge lists the claims of a text itself.
pub(in crate::judge) fn schema(safe: bool, names: Option<usize>) -> Arc<Value> {
    let classes: Vec<&str> = Classification::ALL
        .iter()
        .filter(|class| !safe || !class.is_about_target())
        .map(|class| class.as_str())
        .collect();
    let mut name = json!({ "type": "string", "description": "the name of the finding, such as f1" });
    if let (Some(count @ 1..=MOST_NAMES), Some(name)) = (names, name.as_object_mut()) {
        name.insert("enum".to_owned(), (0..count).map(neutral).collect());
    }
    let mut finding = Map::from_iter([("finding".to_owned(), name)]);
    if names.is_none() {
        let quote =
            json!({ "type": "string", "description": "the passage that makes the claim, copied letter by letter" });
        finding.insert("quote".to_owned(), quote);
    }
    finding.extend([
        (
            "reason".to_owned(),
            json!({ "type": ["string", "null"], "description": "one short sentence, why this class" }),
        ),
        ("classification".to_owned(), json!({ "type": "string", "enum": classes })),
        ("matches_target".to_owned(), json!({ "type": "boolean", "description": "whether it is about the target" })),
        (
            "is_valid_concern".to_owned(),
            json!({ "type": "boolean", "description": "whether its class is a valid one" }),
        ),
    ]);
    let mut properties =
        Map::from_iter([("findings".to_owned(), json!({ "type": "array", "items": closed(finding) }))]);
    if !safe {
        properties.insert("target".to_owned(), target_schema());
    }
    properties.extend([
        (
            "said_vulnerable".to_owned(),
            json!({ "type": ["boolean", "null"], "description": "what the response says of the code; null: no verdict" }),
        ),
        (
            "confidence_expressed".to_owned(),
            json!({
                "type": ["number", "null"], "minimum": 0, "maximum": 1,
                "description": "how sure the response says it is; null: it does not say"
            }),
        ),
        ("explanation".to_owned(), json!({ "type": "string", "description": "two to four sentences, why" })),
    ]);
    Arc::new(closed(properties))
}

fn target_schema() -> Value {
    let types: Vec<Value> = TypeMatch::ALL.iter().map(|level| json!(level.as_str())).chain([Value::Null]).collect();
    let score = |what: &str| json!({ "type": ["number", "null"], "minimum": 0, "maximum": 1, "description": what });
    closed(Map::from_iter([
        ("found".to_owned(), json!({ "type": "boolean", "description": "whether the response reports the target" })),
        (
            "finding".to_owned(),
            json!({ "type": ["string", "null"], "description": "the name of the finding that reports it best" }),
        ),
        ("type_match".to_owned(), json!({ "type": ["string", "null"], "enum": types })),
        ("rcir".to_owned(), score("the root cause: 0, 0.25, 0.5, 0.75 or 1; null: not found")),
        ("ava".to_owned(), score("the attack: 0, 0.25, 0.5, 0.75 or 1; null: not found")),
        ("fsv".to_owned(), score("the fix: 0, 0.25, 0.5, 0.75 or 1; null: not found")),
    ]))
}

/// An object with these properties, all of them needed, and no others.
fn closed(properties: Map<String, Value>) -> Value {
    let required: Vec<&String> = properties.keys().collect();
    json!({ "type": "object", "required": required, "properties": properties, "additionalProperties": false })
}

fn about(case: &Case) -> Map<String, Value> {
    let mut object = Map::new();
    text(&mut object, "description", case.description.as_deref());
    text(&mut object, "language", case.language.as_deref());
    text(&mut object, "change", case.pr.as_ref().map(|pr| pr.title.as_str()).filter(|title| !title.is_empty()));
    text(
        &mut object,
        "change_description",
        case.pr.as_ref().map(|pr| pr.description.as_str()).filter(|d| !d.is_empty()),
    );
    words(&mut object, "categories", &case.categories);
    words(&mut object, "cwe", &case.cwe);
    object
}

/// All that is known of an issue, in the words of whoever wrote it down.
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
        // The name of a rule may hint at the tool, and yet it is all that such a finding says.
        text(&mut object, "rule", finding.rule_id.as_deref());
    }
    object
}

fn words<T: serde::Serialize>(object: &mut Map<String, Value>, key: &str, values: &[T]) {
    if !values.is_empty() {
        object.insert(key.to_owned(), json!(values));
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
