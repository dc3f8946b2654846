//! Why a provider cannot be used, or a request to it failed.

use karat_io::secret::Secret;
use std::time::Duration;

/// Why a provider cannot be used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages explain the variants")]
pub enum ProviderError {
    #[error("`{field}` of the judge cannot be used: {reason}")]
    BadValue { field: &'static str, reason: String },
    #[error("{0}")]
    NoKey(String),
    #[error("{0}")]
    Other(String),
}

/// Why a request failed. No message contains the API key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "field names say it")]
pub enum SendError {
    /// A temporary failure: the same request may succeed later. `after` is the server's `Retry-After`.
    #[error("{why}")]
    Retry { after: Option<Duration>, why: String },
    /// The request was sent, and its answer was lost or cannot be used: it may have to be paid for. The same request may succeed
    /// later.
    #[error("{why}")]
    AnswerLost { why: String },
    /// Nobody is at the address: the connection was refused, or no server has the name. Nothing was sent.
    #[error("{why}")]
    Unreached { why: String },
    /// The credit or quota of the account, or the limit of the key, is used up. Waiting does not restore it.
    #[error("{why}")]
    Exhausted { why: String },
    /// This request is not accepted; others may be.
    #[error("{why}")]
    Rejected { why: String },
    /// A part of the request is refused; `otherwise` is the error where that part cannot be left out.
    #[error("{otherwise}")]
    Refused { refused: RefusedPart, otherwise: Box<SendError> },
    /// No request will succeed until a person changes something.
    #[error("{why}")]
    Fatal { why: String },
}

/// Refused connections in a row, after which a server is taken to be gone.
pub const MAX_UNREACHED: u32 = 3;

/// The part of a request that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum RefusedPart {
    /// A parameter of the configuration.
    Parameter(String),
    AnswerFormat,
    /// The limit on the answer's length.
    TokenLimit,
}

/// A failed HTTP request.
#[derive(Debug)]
pub struct HttpFailure {
    /// The HTTP status, or 0 without one.
    pub status: u16,
    /// What the failure means for the question.
    pub error: SendError,
    /// The parameters that the server objects to, each as a path such as `response_format.type`.
    pub parameters: Vec<String>,
    /// The server's message.
    pub words: String,
}

impl From<SendError> for HttpFailure {
    fn from(error: SendError) -> Self {
        Self { status: 0, error, parameters: Vec::new(), words: String::new() }
    }
}

impl SendError {
    pub(crate) fn temporary(why: impl Into<String>) -> Self {
        Self::Retry { after: None, why: why.into() }
    }

    pub(crate) fn answer_lost(why: impl Into<String>) -> Self {
        Self::AnswerLost { why: why.into() }
    }
}

impl HttpFailure {
    pub(crate) fn redacted(self, secret: &Secret) -> Self {
        let error = match self.error {
            SendError::Retry { after, why } => SendError::Retry { after, why: secret.redact(&why) },
            SendError::AnswerLost { why } => SendError::AnswerLost { why: secret.redact(&why) },
            SendError::Unreached { why } => SendError::Unreached { why: secret.redact(&why) },
            SendError::Exhausted { why } => SendError::Exhausted { why: secret.redact(&why) },
            SendError::Rejected { why } => SendError::Rejected { why: secret.redact(&why) },
            SendError::Fatal { why } => SendError::Fatal { why: secret.redact(&why) },
            error @ SendError::Refused { .. } => error,
        };
        Self { error, words: secret.redact(&self.words), ..self }
    }
}
