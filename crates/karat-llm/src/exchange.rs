//! One question to a model with its replies and its answer, under a hash of everything that the answer depends on.

use super::prompt::{Prompt, Template};
use super::provider::{ProviderId, Reply};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt;
use std::time::Duration;

/// The BLAKE3 hash, in hex, of everything a decision depends on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LedgerKey(String);

/// The inputs of a key without the parameters, which are known only once a provider has accepted them.
#[derive(Clone)]
pub(super) struct KeyParts {
    before: String,
    after: String,
}

impl KeyParts {
    pub(super) fn new(provider: &ProviderId, template: &Template, prompt: &Prompt) -> Self {
        // Keys are sorted, and `parameters` comes between these two.
        let before = json!({ "max_tokens": prompt.max_tokens, "model": provider.model });
        let after = json!({
            "provider": provider.provider,
            "schema": sorted(&prompt.schema),
            "system": prompt.system,
            "template": template.hash(),
            "user": prompt.user,
        });
        Self { before: sorted(&before).to_string(), after: sorted(&after).to_string() }
    }

    /// The key of a request with these parameters.
    pub(super) fn with(&self, parameters: &Value) -> LedgerKey {
        let (before, after) = (&self.before[..self.before.len() - 1], &self.after[1..]);
        let all = format!("{before},\"parameters\":{},{after}", sorted(parameters));
        LedgerKey(blake3::hash(all.as_bytes()).to_hex().to_string())
    }
}

impl LedgerKey {
    /// The key of a prompt to a model.
    pub fn new(provider: &ProviderId, template: &Template, prompt: &Prompt) -> Self {
        KeyParts::new(provider, template, prompt).with(&provider.parameters)
    }

    /// The key as it is stored.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for LedgerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The value with the keys of all objects sorted, as a canonical form.
pub fn sorted(value: &Value) -> Value {
    let mut value = value.clone();
    value.sort_all_objects();
    value
}

/// One question with its replies and its answer. The store holds its JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Exchange {
    pub key: LedgerKey,
    /// The caller's id of the question. Not stored, since equal questions may have other ids.
    #[serde(skip)]
    pub question: String,
    /// The provider with the parameters that were sent.
    #[serde(flatten)]
    pub provider: ProviderId,
    pub template: String,
    pub system: String,
    pub user: String,
    /// All replies; that to a repair request comes last.
    pub replies: Vec<Reply>,
    pub tokens_in: u64,
    pub tokens_out: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    pub attempts: u32,
    /// The time that its requests took, without the time they wait in the engine.
    #[serde(skip)]
    pub request_time: Duration,
    /// Whether the last request timed out.
    #[serde(skip)]
    pub timed_out: bool,
    /// Whether no request was needed this time.
    #[serde(skip)]
    pub cached: bool,
    #[serde(rename = "outcome")]
    pub answer: Answer,
}

/// The answer to a question, or why there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "field names say it")]
pub enum Answer {
    /// It fits the schema of the answer.
    #[serde(rename = "decided")]
    Given(Value),
    #[serde(rename = "unjudged")]
    Missing { reason: FailureReason, why: String },
    /// The model or a filter refused to answer.
    #[serde(rename = "refused")]
    Refused { why: String },
}

/// Why a question has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "variant names say it")]
pub enum FailureReason {
    Budget,
    Cancelled,
    /// No answer came after all retries.
    Unanswered,
    Unreadable,
    Rejected,
}

impl Exchange {
    /// Whether it is worth storing. Questions without an answer are not stored, so they are asked again. Those whose answer could
    /// not be read are stored, since it was paid for and shows what is wrong; they are asked again, too.
    pub fn is_final(&self) -> bool {
        !matches!(self.answer, Answer::Missing { .. }) || self.answer.is_unreadable()
    }
}

impl Answer {
    /// Whether an answer came that could not be read. Whoever answers so may do better the next time.
    pub fn is_unreadable(&self) -> bool {
        matches!(self, Self::Missing { reason: FailureReason::Unreadable, .. })
    }

    pub(super) fn missing(reason: FailureReason, why: impl Into<String>) -> Self {
        Self::Missing { reason, why: why.into() }
    }

    /// What was answered, if anything.
    pub fn value(&self) -> Option<&Value> {
        match self {
            Self::Given(value) => Some(value),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MATCH, question};

    fn provider(parameters: Value) -> ProviderId {
        ProviderId { provider: "anthropic".into(), model: "m".into(), parameters }
    }

    #[test]
    fn key_depends_on_everything_that_an_answer_depends_on() {
        let prompt = question("1", "f").prompt();
        let key = |provider: &ProviderId, prompt: &Prompt| LedgerKey::new(provider, &MATCH, prompt).to_string();
        let plain = key(&provider(json!({"a": 1, "b": [{"c": 2, "d": 3}]})), &prompt);
        assert_eq!(plain, key(&provider(json!({"b": [{"d": 3, "c": 2}], "a": 1})), &prompt), "the order of keys");
        let mut others = vec![plain];
        others.push(key(&provider(json!({"a": 2})), &prompt));
        others.push(key(&ProviderId { model: "n".into(), ..provider(json!({})) }, &prompt));
        others.push(key(&ProviderId { provider: "openai".into(), ..provider(json!({})) }, &prompt));
        let id = provider(json!({}));
        others.push(key(&id, &prompt));
        others.push(key(&id, &Prompt { system: "s".into(), ..prompt.clone() }));
        others.push(key(&id, &Prompt { user: "u".into(), ..prompt.clone() }));
        others.push(key(&id, &Prompt { max_tokens: 7, ..prompt.clone() }));
        others.push(key(&id, &Prompt { schema: std::sync::Arc::new(json!({})), ..prompt.clone() }));
        let distinct: std::collections::BTreeSet<&String> = others.iter().collect();
        assert_eq!(distinct.len(), others.len(), "{others:#?}");
    }

    /// A change here would make all recorded exchanges unreachable.
    #[test]
    fn key_is_stable() {
        let prompt = question("1", "f").prompt();
        let provider = provider(json!({ "temperature": 0.0, "api": { "b": 1, "a": "\"" } }));
        let all = json!({
            "provider": provider.provider,
            "model": provider.model,
            "parameters": provider.parameters,
            "template": MATCH.hash(),
            "system": prompt.system,
            "user": prompt.user,
            "schema": *prompt.schema,
            "max_tokens": prompt.max_tokens,
        });
        let expect = blake3::hash(sorted(&all).to_string().as_bytes()).to_hex().to_string();
        assert_eq!(LedgerKey::new(&provider, &MATCH, &prompt).as_str(), expect);
    }

    /// Stores of earlier versions must stay readable.
    #[test]
    fn stored_form_is_stable() {
        let stored = r#"{"key":"k","provider":"openai","model":"m","parameters":{"temperature":0.0},"template":"pair/v1","system":"s","user":"u","replies":[{"text":"t","structured":{"match":true},"tokens_in":3,"tokens_out":4,"stop":"length"},{"text":"","tokens_in":0,"tokens_out":0,"stop":{"refused":"no"}}],"tokens_in":3,"tokens_out":4,"usd":0.5,"attempts":2,"outcome":{"unjudged":{"reason":"unreadable","why":"w"}}}"#;
        let exchange: Exchange = serde_json::from_str(stored).unwrap();
        assert_eq!(serde_json::to_string(&exchange).unwrap(), stored);
        for outcome in [r#"{"decided":{"match":true}}"#, r#"{"refused":{"why":"w"}}"#] {
            let outcome_value: Answer = serde_json::from_str(outcome).unwrap();
            assert_eq!(serde_json::to_string(&outcome_value).unwrap(), outcome);
        }
    }
}
