//! The interface of providers, which answer prompts.

pub use super::error::SendError;
pub use super::setup::{ProviderEnv, ProviderError};

use super::adaptation::{Adaptation, AnswerFormat};
use super::prompt::Prompt;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::future::Future;
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
pub enum StopReason {
    /// The answer is complete.
    #[default]
    Done,
    /// The token limit was reached.
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

    /// The host that receives the API key only because the configuration says so, not by the provider's default address or the
    /// environment. Users of somebody else's configuration may not want that.
    fn key_recipient(&self) -> Option<&str> {
        None
    }

    /// The answer formats it supports, strictest first.
    fn formats(&self) -> &'static [AnswerFormat] {
        &[AnswerFormat::Schema]
    }

    /// Sends one prompt, without what the provider has refused before. The question's id selects an answer from a file; it is
    /// never sent.
    fn send<'a>(&'a self, question: &'a str, prompt: &'a Prompt, adaptation: &'a Adaptation) -> SendFuture<'a>;

    /// Removes the API key from a reply that is to be stored or shown.
    fn redact(&self, _: &mut Value) {}
}
