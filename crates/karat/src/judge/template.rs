//! Prompt templates of judges and of language models as tools.

pub(crate) mod audit;
pub(crate) mod review;

use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::lines::Lines;
use karat_llm::prompt::{Question, Template, truncate_text};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Whether a finding reports a golden.
pub static PAIR: Template =
    Template::new("pair/v1", 1024, include_str!("../../judges/prompts/pair/v1.md"), pair_schema);

/// The same question with the finding shown before the golden, which must change no answer.
pub(super) static PAIR_SWAPPED: Template =
    Template::new("pair-swapped/v1", 1024, include_str!("../../judges/prompts/pair-swapped/v1.md"), pair_schema);

/// All templates.
pub static TEMPLATES: &[&Template] = &[
    &PAIR,
    &PAIR_SWAPPED,
    &audit::AUDIT,
    &audit::AUDIT_SAFE,
    &review::REVIEW,
    &review::AUDIT_DIRECT,
    &review::AUDIT_NATURALISTIC,
    &review::AUDIT_ADVERSARIAL,
    &karat_documents::assess::assessor::model::RELEVANCE,
    &karat_documents::assess::assessor::model::COMPLIANCE,
];

/// Asks whether a finding reports a golden. The prompt does not tell tool, trial and case.
pub fn pair_question(id: impl Into<String>, golden: &Golden, finding: &Finding, code: Option<&str>) -> Question {
    let mut fields = vec![("golden", golden_text(golden)), ("finding", finding_text(finding))];
    fields.extend(code.map(|code| ("code", truncate_text(code, LONGEST_CODE))));
    Question { id: id.into(), template: &PAIR, fields, form: None }
}

/// Texts are untrusted, and longer ones only cost more.
const LONGEST_TEXT: usize = 8_000;
const LONGEST_CODE: usize = 16_000;

fn golden_text(golden: &Golden) -> String {
    let mut object = Map::new();
    text(&mut object, "title", golden.title.as_deref());
    text(&mut object, "description", golden.description.as_deref());
    text(&mut object, "file", golden.file.as_ref().map(ToString::to_string).as_deref());
    text(&mut object, "lines", golden.lines.map(lines).as_deref());
    text(&mut object, "severity", golden.severity.map(|severity| severity.as_str()));
    text(&mut object, "category", golden.category.as_deref());
    if !golden.keywords.is_empty() {
        object.insert("keywords".to_owned(), json!(golden.keywords));
    }
    written(&object)
}

fn finding_text(finding: &Finding) -> String {
    let mut object = Map::new();
    text(&mut object, "file", finding.file.as_ref().map(ToString::to_string).as_deref());
    text(&mut object, "lines", finding.lines().map(lines).as_deref());
    text(&mut object, "severity", finding.severity.map(|severity| severity.as_str()));
    text(&mut object, "category", finding.category.as_deref());
    // A finding without text is described by its rule.
    let silent = finding.title.is_none() && finding.message.is_none();
    text(&mut object, "title", finding.title.as_deref().or(finding.rule_id.as_deref().filter(|_| silent)));
    text(&mut object, "message", finding.message.as_deref());
    written(&object)
}

fn text(object: &mut Map<String, Value>, key: &str, value: Option<&str>) {
    if let Some(value) = value {
        object.insert(key.to_owned(), Value::String(truncate_text(value, LONGEST_TEXT)));
    }
}

/// JSON, so that no text can pass for another field.
fn written(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn lines(lines: Lines) -> String {
    if lines.start == lines.end { lines.start.to_string() } else { format!("{}-{}", lines.start, lines.end) }
}

fn pair_schema() -> Arc<Value> {
    Arc::new(object_schema(json!({
        "match": { "type": "boolean", "description": "whether the report describes the known problem" },
        "confidence": { "type": "number", "minimum": 0, "maximum": 1, "description": "how sure the decision is" },
        "partial": { "type": ["boolean", "null"], "description": "whether only a part of it is described" },
        "explanation": { "type": "string", "description": "one or two sentences, why" }
    })))
}

/// Every key is required, as strict providers want it; unknown values are null.
fn object_schema(properties: Value) -> Value {
    let required: Vec<&String> = properties.as_object().into_iter().flat_map(Map::keys).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

#[cfg(test)]
mod tests;
