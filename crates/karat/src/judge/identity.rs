//! Who a judge is: everything that its decisions about pairs depend on.

use super::engine::Engine;
use super::ledger::sorted;
use super::roster::{Judge, Kind};
use super::template::PAIR;
use karat_core::ids::JudgeName;
use karat_core::local_judge::LocalJudge;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt;

/// Everything that a judge's decisions about pairs depend on. Its JSON is what the store holds; the name that somebody gave
/// the judge is no part of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgeId {
    /// The provider's name.
    pub provider: String,
    /// The model, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// All else that goes into a request, or a hash of what the judge decides by.
    pub parameters: Value,
    /// The hash of the prompt that pairs are shown in, where one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
}

/// The BLAKE3 hash, in hex, of who a judge is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct JudgeKey(String);

impl JudgeId {
    /// What is known of this judge is kept under this.
    pub fn key(&self) -> JudgeKey {
        let all = json!({
            "provider": self.provider, "model": self.model, "parameters": self.parameters, "prompt": self.prompt,
        });
        JudgeKey(blake3::hash(sorted(&all).to_string().as_bytes()).to_hex().to_string())
    }

    fn of_model(engine: &Engine) -> Self {
        let id = engine.provider().id();
        Self {
            provider: id.provider.clone(),
            model: Some(id.model.clone()).filter(|model| !model.is_empty()),
            parameters: id.parameters.clone(),
            prompt: Some(PAIR.hash().to_owned()),
        }
    }

    fn of_weights(local: &LocalJudge) -> Self {
        let params = serde_json::to_value(local.params()).unwrap_or_default();
        let hash = blake3::hash(sorted(&params).to_string().as_bytes()).to_hex().to_string();
        Self { provider: "local".to_owned(), model: None, parameters: json!({ "params": hash }), prompt: None }
    }
}

impl Judge {
    /// Who it is; nobody in particular where people or several judges decide.
    pub fn identity(&self) -> Option<JudgeId> {
        match &self.kind {
            Kind::Local(local) => Some(JudgeId::of_weights(local)),
            Kind::Model(engine) => Some(JudgeId::of_model(engine)),
            Kind::People | Kind::Panel(_) => None,
        }
    }

    /// The judge, or the members of a panel, by name.
    pub fn members(&self) -> Vec<(&JudgeName, &Self)> {
        match &self.kind {
            Kind::Panel(panel) => panel.members.iter().map(|member| (&member.name, member)).collect(),
            _ => vec![(&self.name, self)],
        }
    }
}

impl JudgeKey {
    /// The key as it is stored.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for JudgeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_depends_on_everything_and_not_on_how_it_is_written() {
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
