//! The interface of providers, which answer prompts, and what opening one takes.

pub use super::error::SendError;

use super::adaptation::{Adaptation, AnswerFormat};
use super::prompt::Prompt;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;

/// Cache identity of a provider; never contains the API key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct ProviderId {
    pub provider: String,
    pub model: String,
    /// All other parameters of a request.
    pub parameters: Value,
}

/// A provider's reply to a prompt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Reply {
    pub text: String,
    /// The structured answer, where the provider supports that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    pub tokens_in: u64,
    pub tokens_out: u64,
    pub stop: StopReason,
}

/// Why an answer ends where it does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "variant names say it")]
pub enum StopReason {
    #[default]
    Done,
    Length,
    /// The model or a filter refused to answer, with this message.
    Refused(String),
}

/// The future of a reply.
pub type SendFuture<'a> = Pin<Box<dyn Future<Output = Result<Reply, SendError>> + Send + 'a>>;

/// Answers prompts. Everything else, from building prompts to retrying, is done by the engine.
pub trait Provider: Send + Sync {
    /// Its cache identity.
    fn id(&self) -> &ProviderId;

    /// What must be configured before it can be used, such as a key.
    fn missing_setup(&self) -> Option<&str> {
        None
    }

    /// The host that receives the API key only because the configuration, perhaps somebody else's, says so.
    fn key_recipient(&self) -> Option<&str> {
        None
    }

    /// The answer formats it supports, strictest first.
    fn formats(&self) -> &'static [AnswerFormat] {
        &[AnswerFormat::Schema]
    }

    /// Sends one prompt, without what was refused before. The question's id selects an answer from a file.
    fn send<'a>(&'a self, question: &'a str, prompt: &'a Prompt, adaptation: &'a Adaptation) -> SendFuture<'a>;

    /// Removes the API key from a reply that is to be stored or shown.
    fn redact(&self, _: &mut Value) {}
}

/// Where a provider finds what is not in its configuration.
pub struct ProviderEnv<'a> {
    /// Looks up an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The folder that relative paths start from, usually the suite's.
    pub folder: &'a Path,
}

impl ProviderEnv<'_> {
    /// The trimmed value of a variable, unless that is empty.
    pub(crate) fn filled_variable(&self, name: &str) -> Option<String> {
        (self.variable)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }
}

/// Why a provider cannot be used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages explain the variants")]
pub enum ProviderError {
    #[error("`{field}` of the judge cannot be used: {reason}")]
    BadValue { field: &'static str, reason: String },
    #[error("{0}")]
    Other(String),
}
