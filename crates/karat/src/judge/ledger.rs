//! The ledger: every exchange with a model, kept under a hash of everything it depends on.

use super::provider::{ProviderId, Reply};
use super::template::{Prompt, Template};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;

/// The BLAKE3 hash, in hex, of everything a decision depends on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LedgerKey(String);

/// All that a key is made of but the parameters, which are known only when a provider has taken them.
pub(super) struct KeyParts {
    before: String,
    after: String,
}

impl KeyParts {
    pub(super) fn new(provider: &ProviderId, template: &Template, prompt: &Prompt) -> Self {
        // The keys of all objects are in order, and `parameters` stands between these two.
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
    pub fn of(provider: &ProviderId, template: &Template, prompt: &Prompt) -> Self {
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

/// The value with the keys of all objects in order, so that how somebody wrote it down makes no difference.
pub(super) fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        Value::Object(entries) => {
            let ordered: BTreeMap<&String, Value> = entries.iter().map(|(key, value)| (key, sorted(value))).collect();
            Value::Object(ordered.into_iter().map(|(key, value)| (key.clone(), value)).collect())
        }
        other => other.clone(),
    }
}

/// One question and what came of it. Its JSON is what the store holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// What it is kept under.
    pub key: LedgerKey,
    /// What the asker calls the question. Others may ask the same, so it is not kept.
    #[serde(skip)]
    pub question: String,
    /// Who was asked.
    #[serde(flatten)]
    pub provider: ProviderId,
    /// The template of the prompt.
    pub template: String,
    /// How to decide, as it was sent.
    pub system: String,
    /// What to decide, as it was sent.
    pub user: String,
    /// All replies, the one to a repair request last.
    pub replies: Vec<Reply>,
    /// Tokens that were read, in all replies.
    pub tokens_in: u64,
    /// Tokens that were written, in all replies.
    pub tokens_out: u64,
    /// What it cost; absent without prices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// How many requests it took.
    pub attempts: u32,
    /// Whether nobody had to be asked this time.
    #[serde(skip)]
    pub cached: bool,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A decision that fits the schema of the answer.
    Decided(Value),
    /// There is no decision.
    Unjudged {
        /// The kind of reason.
        reason: Unjudged,
        /// The reason in words.
        why: String,
    },
    /// The model or a filter did not want to answer.
    Refused {
        /// Its words.
        why: String,
    },
}

/// Why a question has no decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unjudged {
    /// The budget is spent.
    Budget,
    /// Somebody asked to stop.
    Cancelled,
    /// No answer came, however often it was tried.
    Unanswered,
    /// Answers came, and none could be read.
    Unreadable,
    /// The provider did not accept the question.
    Rejected,
}

impl Exchange {
    /// Whether asking again would only say the same. What failed for want of an answer is not kept, and is asked again
    /// another time.
    pub fn is_lasting(&self) -> bool {
        match &self.outcome {
            Outcome::Decided(_) | Outcome::Refused { .. } => true,
            Outcome::Unjudged { reason, .. } => *reason == Unjudged::Unreadable,
        }
    }

    /// The decision, where there is one.
    pub fn decision(&self) -> Option<&Value> {
        match &self.outcome {
            Outcome::Decided(value) => Some(value),
            _ => None,
        }
    }
}

/// Where exchanges are kept.
pub trait Ledger {
    /// The exchanges under these keys, in the same order.
    fn get_many(&mut self, keys: &[&LedgerKey]) -> Result<Vec<Option<Exchange>>, LedgerError>;

    /// Keeps exchanges; on return they are durable. What is there already stays as it is.
    fn put(&mut self, exchanges: &[&Exchange]) -> Result<(), LedgerError>;

    /// Notes that questions are about to be sent, and tells how many of them were noted before and never settled: whoever sent
    /// those was stopped meanwhile, and may have paid for answers that nobody has seen.
    fn mark_sent(&mut self, _keys: &[&LedgerKey]) -> Result<u64, LedgerError> {
        Ok(0)
    }

    /// Forgets that questions were sent: something came of them, or they failed for good.
    fn forget_sent(&mut self, _keys: &[&LedgerKey]) -> Result<(), LedgerError> {
        Ok(())
    }
}

/// Why a ledger cannot go on.
pub type LedgerError = Box<dyn std::error::Error + Send + Sync>;

/// A ledger that is gone when the program ends.
#[derive(Clone, Debug, Default)]
pub struct MemoryLedger(BTreeMap<LedgerKey, Exchange>);

impl MemoryLedger {
    /// All exchanges, by key.
    pub fn exchanges(&self) -> impl Iterator<Item = &Exchange> {
        self.0.values()
    }
}

impl FromIterator<Exchange> for MemoryLedger {
    fn from_iter<T: IntoIterator<Item = Exchange>>(exchanges: T) -> Self {
        Self(exchanges.into_iter().map(|exchange| (exchange.key.clone(), exchange)).collect())
    }
}

impl Ledger for MemoryLedger {
    fn get_many(&mut self, keys: &[&LedgerKey]) -> Result<Vec<Option<Exchange>>, LedgerError> {
        Ok(keys.iter().map(|key| self.0.get(*key).cloned()).collect())
    }

    fn put(&mut self, exchanges: &[&Exchange]) -> Result<(), LedgerError> {
        for exchange in exchanges {
            self.0.entry(exchange.key.clone()).or_insert_with(|| (*exchange).clone());
        }
        Ok(())
    }
}

/// What the ledger is used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheMode {
    /// What is there is taken, and what is new is kept.
    #[default]
    ReadWrite,
    /// What is there is taken; what is new is forgotten.
    Read,
    /// What is there is taken, and what is not there is an error. Nobody is asked.
    Only,
    /// Everything is asked, and nothing is kept.
    Off,
}

impl CacheMode {
    /// All modes, as they are typed.
    pub const NAMES: &[(&str, Self)] =
        &[("read-write", Self::ReadWrite), ("read", Self::Read), ("only", Self::Only), ("off", Self::Off)];

    /// The mode of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, mode)| *mode)
    }

    /// Whether what is there is taken.
    pub fn reads(self) -> bool {
        self != Self::Off
    }

    /// Whether what is new is kept.
    pub(super) fn writes(self) -> bool {
        self == Self::ReadWrite
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::template::{PAIR, Question};
    use karat_core::finding::Finding;
    use karat_core::golden::Golden;

    fn provider(parameters: Value) -> ProviderId {
        ProviderId { provider: "anthropic".into(), model: "m".into(), parameters }
    }

    #[test]
    fn a_key_depends_on_everything_that_an_answer_depends_on() {
        let prompt = Question::pair("1", &Golden::named("g"), &Finding::named("f"), None).prompt();
        let of = |provider: &ProviderId, prompt: &Prompt| LedgerKey::of(provider, &PAIR, prompt).to_string();
        let plain = of(&provider(json!({"a": 1, "b": [{"c": 2, "d": 3}]})), &prompt);
        assert_eq!(plain, of(&provider(json!({"b": [{"d": 3, "c": 2}], "a": 1})), &prompt), "the order of keys");
        let mut others = vec![plain];
        others.push(of(&provider(json!({"a": 2})), &prompt));
        others.push(of(&ProviderId { model: "n".into(), ..provider(json!({})) }, &prompt));
        others.push(of(&ProviderId { provider: "openai".into(), ..provider(json!({})) }, &prompt));
        let id = provider(json!({}));
        others.push(of(&id, &prompt));
        others.push(of(&id, &Prompt { system: "s".into(), ..prompt.clone() }));
        others.push(of(&id, &Prompt { user: "u".into(), ..prompt.clone() }));
        others.push(of(&id, &Prompt { max_tokens: 7, ..prompt.clone() }));
        others.push(of(&id, &Prompt { schema: std::sync::Arc::new(json!({})), ..prompt.clone() }));
        let distinct: std::collections::BTreeSet<&String> = others.iter().collect();
        assert_eq!(distinct.len(), others.len(), "{others:#?}");
    }

    /// What was recorded under a key stays under it: the hash of one JSON object with its keys in order.
    #[test]
    fn a_key_is_the_hash_of_one_object() {
        let prompt = Question::pair("1", &Golden::named("g"), &Finding::named("f"), None).prompt();
        let provider = provider(json!({ "temperature": 0.0, "api": { "b": 1, "a": "\"" } }));
        let all = json!({
            "provider": provider.provider,
            "model": provider.model,
            "parameters": provider.parameters,
            "template": PAIR.hash(),
            "system": prompt.system,
            "user": prompt.user,
            "schema": *prompt.schema,
            "max_tokens": prompt.max_tokens,
        });
        let expect = blake3::hash(sorted(&all).to_string().as_bytes()).to_hex().to_string();
        assert_eq!(LedgerKey::of(&provider, &PAIR, &prompt).as_str(), expect);
    }

    /// What a store of last year holds must still be read.
    #[test]
    fn the_stored_form_stays() {
        let stored = r#"{"key":"k","provider":"openai","model":"m","parameters":{"temperature":0.0},"template":"pair/v1","system":"s","user":"u","replies":[{"text":"t","structured":{"match":true},"tokens_in":3,"tokens_out":4,"stop":"length"},{"text":"","tokens_in":0,"tokens_out":0,"stop":{"refused":"no"}}],"tokens_in":3,"tokens_out":4,"usd":0.5,"attempts":2,"outcome":{"unjudged":{"reason":"unreadable","why":"w"}}}"#;
        let exchange: Exchange = serde_json::from_str(stored).unwrap();
        assert_eq!(serde_json::to_string(&exchange).unwrap(), stored);
        for outcome in [r#"{"decided":{"match":true}}"#, r#"{"refused":{"why":"w"}}"#] {
            let outcome_value: Outcome = serde_json::from_str(outcome).unwrap();
            assert_eq!(serde_json::to_string(&outcome_value).unwrap(), outcome);
        }
    }

    #[test]
    fn modes_have_names() {
        for (name, mode) in CacheMode::NAMES {
            assert_eq!(CacheMode::named(name), Some(*mode));
        }
        assert_eq!(CacheMode::named("write"), None);
    }
}
