//! The prompts for assessing documents: relevance of parts, then compliance.

use karat_llm::prompt::Template;
use serde_json::{Value, json};
use std::sync::Arc;

/// Which parts are relevant to a requirement?
pub static RELEVANCE: Template =
    Template::new("relevance/v1", 2048, include_str!("../../prompts/relevance/v1.md"), relevance_schema);

/// Is a requirement met, and which parts show it?
pub static COMPLIANCE: Template =
    Template::new("compliance/v1", 2048, include_str!("../../prompts/compliance/v1.md"), compliance_schema);

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
