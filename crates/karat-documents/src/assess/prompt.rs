//! The prompts for assessing documents: relevance of parts, then compliance.

use karat_llm::prompt::{Question, Template};
use serde_json::{Value, json};
use std::sync::Arc;

/// Which parts are relevant to a requirement?
pub static RELEVANCE: Template =
    Template::new("relevance/v1", 2048, include_str!("../../prompts/relevance/v1.md"), relevance_schema);

/// Is a requirement met, and which parts show it?
pub static COMPLIANCE: Template =
    Template::new("compliance/v1", 2048, include_str!("../../prompts/compliance/v1.md"), compliance_schema);

/// The question which parts are relevant.
pub fn relevance_question(
    id: impl Into<String>,
    requirement: String,
    answers: Option<String>,
    parts: String,
) -> Question {
    let mut fields = vec![("requirement", requirement), ("parts", parts)];
    fields.extend(answers.map(|answers| ("answers", answers)));
    Question { id: id.into(), template: &RELEVANCE, fields, form: None }
}

/// The question whether a requirement is met. It is also asked without parts, since a requirement may not apply.
pub fn compliance_question(
    id: impl Into<String>,
    requirement: String,
    guidance: Option<String>,
    answers: Option<String>,
    parts: Option<String>,
) -> Question {
    let mut fields = vec![("requirement", requirement)];
    let given = [("guidance", guidance), ("answers", answers), ("parts", parts)];
    fields.extend(given.into_iter().filter_map(|(name, text)| Some((name, text?))));
    Question { id: id.into(), template: &COMPLIANCE, fields, form: None }
}

fn relevance_schema() -> Arc<Value> {
    Arc::new(json!({
        "type": "object",
        "properties": {
            "relevant": {
                "type": "array",
                "description": "the parts that bear on the requirement",
                "items": {
                    "type": "object",
                    "properties": {
                        "part": { "type": "string", "description": "the id of the part, as it is given" },
                        "reason": { "type": "string", "description": "a few words, why it matters" }
                    },
                    "required": ["part", "reason"],
                    "additionalProperties": false
                }
            }
        },
        "required": ["relevant"],
        "additionalProperties": false
    }))
}

fn compliance_schema() -> Arc<Value> {
    let parts =
        |description: &str| json!({ "type": "array", "items": { "type": "string" }, "description": description });
    Arc::new(json!({
        "type": "object",
        "properties": {
            "verdict": {
                "type": "string",
                "enum": ["yes", "partial", "no", "not_applicable"],
                "description": "how far the documents meet the requirement"
            },
            "primary": parts("the ids of the parts that decide"),
            "supporting": parts("the ids of the parts that back them"),
            "rationale": { "type": "string", "description": "one to three sentences, why" }
        },
        "required": ["verdict", "primary", "supporting", "rationale"],
        "additionalProperties": false
    }))
}
