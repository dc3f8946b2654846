//! The interface of providers, which answer prompts.

pub use super::error::{ProviderError, SendError};
pub use super::http::ProviderEnv;

use super::adaptation::{Adaptation, AnswerFormat};
use super::http::Endpoint;
use super::prompt::Prompt;
use karat_format::models::ModelV1;
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
    /// How many of the tokens of the answer were thought, as far as the server says it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tokens_thinking: u64,
    pub stop: StopReason,
    /// The parameters with which it was asked for, as they were sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<Value>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
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

    /// The server that gets the prompts, if any.
    fn endpoint(&self) -> Option<&Endpoint> {
        None
    }

    /// The answer formats it supports, strictest first.
    fn formats(&self) -> &'static [AnswerFormat] {
        &[AnswerFormat::Schema]
    }

    /// What the table of models has of its model.
    fn known_model(&self) -> Option<&ModelV1> {
        None
    }

    /// How many tokens it may think with, which count as part of the answer.
    fn thinking_tokens(&self) -> u32 {
        0
    }

    /// Sends one prompt, without what was refused before. The question's id selects an answer from a file.
    fn send<'a>(&'a self, question: &'a str, prompt: &'a Prompt, adaptation: &'a Adaptation) -> SendFuture<'a>;
}
