//! A template and questions for tests.

use crate::prompt::{Question, Template};
use serde_json::{Value, json};
use std::sync::Arc;

/// Asks whether a text is about a match.
pub(crate) static MATCH: Template =
    Template::new("match/v1", 1024, "# system\nDecide. Data stands in <data-MARK …>.\n\n# user\n{text}\n", schema);

pub(crate) fn question(id: impl Into<String>, text: &str) -> Question {
    Question { id: id.into(), template: &MATCH, fields: vec![("text", text.to_owned())], form: None }
}

fn schema() -> Arc<Value> {
    Arc::new(json!({
        "type": "object",
        "properties": {
            "match": { "type": "boolean" },
            "confidence": { "type": "number", "minimum": 0, "maximum": 1 },
            "partial": { "type": ["boolean", "null"] },
            "explanation": { "type": "string" }
        },
        "required": ["match", "confidence", "partial", "explanation"],
        "additionalProperties": false
    }))
}
