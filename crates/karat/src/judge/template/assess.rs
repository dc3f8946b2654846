//! What a model is asked when it assesses documents: which parts bear on a requirement, and then how far it is met.

use super::{Question, Template};
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock, OnceLock};

/// Which parts bear on a requirement?
pub static RELEVANCE: Template = Template {
    name: "relevance/v1",
    max_tokens: 2048,
    text: include_str!("../../../judges/prompts/relevance/v1.md"),
    schema: LazyLock::new(relevance_schema),
    hash: OnceLock::new(),
};

/// How far do documents meet a requirement, and which parts show it?
pub static COMPLIANCE: Template = Template {
    name: "compliance/v1",
    max_tokens: 2048,
    text: include_str!("../../../judges/prompts/compliance/v1.md"),
    schema: LazyLock::new(compliance_schema),
    hash: OnceLock::new(),
};

impl Question {
    /// Asks which parts bear on a requirement.
    pub fn relevance(id: impl Into<String>, requirement: String, answers: Option<String>, parts: String) -> Self {
        let mut fields = vec![("requirement", requirement), ("parts", parts)];
        fields.extend(answers.map(|answers| ("answers", answers)));
        Self { id: id.into(), template: &RELEVANCE, fields, form: None }
    }

    /// Asks how far a requirement is met. Without parts it is asked all the same: a requirement may not apply.
    pub fn compliance(
        id: impl Into<String>,
        requirement: String,
        guidance: Option<String>,
        answers: Option<String>,
        parts: Option<String>,
    ) -> Self {
        let mut fields = vec![("requirement", requirement)];
        let given = [("guidance", guidance), ("answers", answers), ("parts", parts)];
        fields.extend(given.into_iter().filter_map(|(name, text)| Some((name, text?))));
        Self { id: id.into(), template: &COMPLIANCE, fields, form: None }
    }
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
