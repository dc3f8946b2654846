//! The identity of a judge.

use super::ledger::sorted;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Everything that a judge's decisions about pairs depend on, but not its name. The store holds its JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct JudgeId {
    pub provider: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// All other parameters of a request, or a hash of the judge's data.
    pub parameters: Value,
    /// The hash of the prompt template for pairs, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
}

impl JudgeId {
    /// The key under which the judge is stored: its BLAKE3 hash, in hex.
    pub fn key(&self) -> String {
        let all = json!({
            "provider": self.provider, "model": self.model, "parameters": self.parameters, "prompt": self.prompt,
        });
        blake3::hash(sorted(&all).to_string().as_bytes()).to_hex().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_depends_on_every_field_but_not_on_key_order() {
        let id = |parameters: Value| JudgeId {
            provider: "openai".into(),
            model: Some("m".into()),
            parameters,
            prompt: Some("p".into()),
        };
        let plain = id(json!({ "a": 1, "b": 2 }));
        assert_eq!(plain.key(), id(json!({ "b": 2, "a": 1 })).key());
        let others = [
            id(json!({ "a": 2, "b": 2 })),
            JudgeId { provider: "anthropic".into(), ..plain.clone() },
            JudgeId { model: None, ..plain.clone() },
            JudgeId { prompt: Some("q".into()), ..plain.clone() },
        ];
        for other in others {
            assert_ne!(plain.key(), other.key(), "{other:?}");
        }
    }
}
