//! The interface of providers, which answer prompts.

use super::adaptation::{Adaptation, AnswerFormat, RefusedPart};
use super::prompt::Prompt;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::time::Duration;

/// Cache identity of a provider; never contains the API key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProviderId {
    /// The provider's name.
    pub provider: String,
    /// The model.
    pub model: String,
    /// All other parameters of a request.
    pub parameters: Value,
}

/// A provider's reply to a prompt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The text.
    pub text: String,
    /// The structured answer, where the provider supports that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// Tokens of the prompt.
    pub tokens_in: u64,
    /// Tokens of the answer.
    pub tokens_out: u64,
    /// Why the answer ends there.
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

/// Why a request failed. No message contains the API key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// A temporary failure: the same request may succeed later.
    #[error("{why}")]
    Retry {
        /// The server's `Retry-After`.
        after: Option<Duration>,
        /// The error message.
        why: String,
    },
    /// This request is not accepted; others may be.
    #[error("{why}")]
    Rejected {
        /// The error message.
        why: String,
    },
    /// A part of the request is refused; without it the request may succeed.
    #[error("{otherwise}")]
    Refused {
        /// Which part.
        refused: RefusedPart,
        /// The error where that part cannot be left out.
        otherwise: Box<SendError>,
    },
    /// No request will succeed until a person changes something.
    #[error("{why}")]
    Fatal {
        /// What happened, and what to change.
        why: String,
    },
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

/// Where a provider finds what is not in its configuration.
pub struct ProviderEnv<'a> {
    /// Looks up an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The folder that relative paths start from, usually the suite's.
    pub folder: &'a Path,
}

/// Environment variables of a remote provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteVariables {
    /// The default variable of the API key.
    pub key: &'static str,
    /// Overrides the provider's address; other servers may need no key.
    pub base: &'static str,
}

/// The default model.
pub const DEFAULT_MODEL: &str = "claude-sonnet-4-20250514";

/// Why a provider cannot be used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages explain the variants")]
pub enum ProviderError {
    #[error("unknown provider `{name}`{hint}")]
    Unknown { name: String, hint: String },
    #[error("the provider `{name}` decides without being asked by prompt; choose a model for this")]
    Promptless { name: &'static str },
    #[error("the provider `{name}` needs `model = \"…\"`, or the variable KARAT_JUDGE_MODEL")]
    NoModel { name: &'static str },
    #[error("the variable {variable} holds no key; set it, or name another with `key_env`")]
    NoKey { variable: String },
    #[error("{why}")]
    NotReady { why: String },
    #[error("the key in the variable {variable} has invalid characters; check it for line breaks and quotes")]
    BadKey { variable: String },
    #[error("the address {url:?} cannot be used: {reason}; write one such as https://host/v1")]
    BadUrl { url: String, reason: String },
    #[error("`{field}` of the judge cannot be used: {reason}")]
    BadValue { field: &'static str, reason: String },
    #[error("the provider `{name}` needs `file = \"…\"`, a JSONL file with answers")]
    NoFile { name: &'static str },
    #[error("{file}: {reason}")]
    BadFile { file: String, reason: String },
}
