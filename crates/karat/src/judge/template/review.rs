//! What a language model is asked when it is the tool: to review a change, or to audit code.

use karat_format::llm::StyleV1;
use karat_llm::prompt::{Question, Template};
use serde_json::{Value, json};
use std::sync::Arc;

/// What is wrong with a change?
pub static REVIEW: Template =
    Template::new("reviewer/v1", LONGEST_ANSWER, include_str!("../../../judges/prompts/reviewer/v1.md"), review_schema);

/// Is code vulnerable, asked plainly?
pub static AUDIT_DIRECT: Template = Template::new(
    "auditor-direct/v1",
    LONGEST_ANSWER,
    include_str!("../../../judges/prompts/auditor-direct/v1.md"),
    audit_schema,
);

/// Is code vulnerable, asked as a colleague asks?
pub static AUDIT_NATURALISTIC: Template = Template::new(
    "auditor-naturalistic/v1",
    LONGEST_ANSWER,
    include_str!("../../../judges/prompts/auditor-naturalistic/v1.md"),
    audit_schema,
);

/// Is code vulnerable, asked by somebody who says that it is not?
pub static AUDIT_ADVERSARIAL: Template = Template::new(
    "auditor-adversarial/v1",
    LONGEST_ANSWER,
    include_str!("../../../judges/prompts/auditor-adversarial/v1.md"),
    audit_schema,
);

/// Enough for some forty findings, and no more than what most models can say.
const LONGEST_ANSWER: u32 = 8192;

/// Asks for what is wrong with a change. Which case it is, and what is known to be wrong, stays unsaid.
pub fn review_question(id: impl Into<String>, title: &str, description: &str, change: String) -> Question {
    let said = [("title", title), ("description", description)];
    let said = said.into_iter().filter(|(_, text)| !text.trim().is_empty());
    let mut fields: Vec<(&'static str, String)> = said.map(|(name, text)| (name, text.to_owned())).collect();
    fields.push(("change", change));
    Question { id: id.into(), template: &REVIEW, fields, form: None }
}

/// Asks whether code is vulnerable, in one of several ways.
pub fn audit_question(id: impl Into<String>, style: StyleV1, code: String) -> Question {
    Question { id: id.into(), template: audit(style), fields: vec![("code", code)], form: None }
}

/// The words of an audit.
pub fn audit(style: StyleV1) -> &'static Template {
    match style {
        StyleV1::Direct => &AUDIT_DIRECT,
        StyleV1::Naturalistic => &AUDIT_NATURALISTIC,
        StyleV1::Adversarial => &AUDIT_ADVERSARIAL,
    }
}

fn review_schema() -> Arc<Value> {
    Arc::new(json!({
        "type": "object",
        "properties": { "findings": findings() },
        "required": ["findings"],
        "additionalProperties": false
    }))
}

fn audit_schema() -> Arc<Value> {
    Arc::new(json!({
        "type": "object",
        "properties": {
            "verdict": { "type": "string", "enum": ["vulnerable", "safe"], "description": "what the code is" },
            "confidence": { "type": "number", "minimum": 0, "maximum": 1, "description": "how sure the verdict is" },
            "findings": findings()
        },
        "required": ["verdict", "confidence", "findings"],
        "additionalProperties": false
    }))
}

/// Every key is required, as strict servers want it, and what need not be known may be null.
fn findings() -> Value {
    json!({
        "type": "array",
        "description": "one item for each problem",
        "items": {
            "type": "object",
            "properties": {
                "title": { "type": "string", "description": "one line that names the problem" },
                "message": { "type": "string", "description": "what is wrong, what follows, how to fix it" },
                "file": { "type": ["string", "null"], "description": "the path of the file as it is given" },
                "line_start": { "type": ["integer", "null"], "description": "the first line of the faulty code" },
                "line_end": { "type": ["integer", "null"], "description": "its last line" },
                "severity": {
                    "type": ["string", "null"],
                    "enum": ["critical", "high", "medium", "low", "info", null],
                    "description": "how bad it is"
                },
                "category": { "type": ["string", "null"], "description": "the kind of problem" },
                "confidence": {
                    "type": ["number", "null"],
                    "minimum": 0,
                    "maximum": 1,
                    "description": "how sure it is that the problem is real"
                },
                "cwe": { "type": ["integer", "null"], "description": "the number of the weakness" }
            },
            "required": [
                "title", "message", "file", "line_start", "line_end", "severity", "category", "confidence", "cwe"
            ],
            "additionalProperties": false
        }
    })
}
