//! Prompts for a language model as a tool: to review a change, or to audit code.

use super::object_schema;
use karat_format::llm::StyleV1;
use karat_llm::prompt::{Question, Template};
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) static REVIEW: Template =
    Template::new("reviewer/v1", LONGEST_ANSWER, include_str!("../../../judges/prompts/reviewer/v1.md"), review_schema);

pub(super) static AUDIT_DIRECT: Template =
    auditor("auditor-direct/v1", include_str!("../../../judges/prompts/auditor-direct/v1.md"));

pub(super) static AUDIT_NATURALISTIC: Template =
    auditor("auditor-naturalistic/v1", include_str!("../../../judges/prompts/auditor-naturalistic/v1.md"));

/// The prompt claims that the code is safe.
pub(super) static AUDIT_ADVERSARIAL: Template =
    auditor("auditor-adversarial/v1", include_str!("../../../judges/prompts/auditor-adversarial/v1.md"));

const fn auditor(name: &'static str, text: &'static str) -> Template {
    Template::new(name, LONGEST_ANSWER, text, audit_schema)
}

/// Enough for some forty findings, and within the limits of most models.
const LONGEST_ANSWER: u32 = 8192;

/// Asks for the problems of a change. The prompt does not tell the case and its goldens.
pub(crate) fn review_question(id: impl Into<String>, title: &str, description: &str, change: String) -> Question {
    let mut fields = vec![("title", title.to_owned()), ("description", description.to_owned())];
    fields.retain(|(_, text)| !text.trim().is_empty());
    fields.push(("change", change));
    Question { id: id.into(), template: &REVIEW, fields, form: None }
}

pub(crate) fn audit_question(id: impl Into<String>, style: StyleV1, code: String) -> Question {
    Question { id: id.into(), template: audit(style), fields: vec![("code", code)], form: None }
}

pub(crate) fn audit(style: StyleV1) -> &'static Template {
    match style {
        StyleV1::Direct => &AUDIT_DIRECT,
        StyleV1::Naturalistic => &AUDIT_NATURALISTIC,
        StyleV1::Adversarial => &AUDIT_ADVERSARIAL,
    }
}

fn review_schema() -> Arc<Value> {
    Arc::new(object_schema(json!({ "findings": findings() })))
}

fn audit_schema() -> Arc<Value> {
    Arc::new(object_schema(json!({
        "verdict": { "type": "string", "enum": ["vulnerable", "safe"], "description": "what the code is" },
        "confidence": { "type": "number", "minimum": 0, "maximum": 1, "description": "how sure the verdict is" },
        "findings": findings()
    })))
}

fn findings() -> Value {
    let finding = object_schema(json!({
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
        "cwe": { "type": ["integer", "string", "null"], "description": "the number of the weakness" }
    }));
    json!({ "type": "array", "description": "one item for each problem", "items": finding })
}
