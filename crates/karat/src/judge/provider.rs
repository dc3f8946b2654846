//! Who answers: one small interface.

use super::adaptation::{Adaptation, AnswerFormat, Refused};
use super::template::Prompt;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::time::Duration;

/// Everything about an answerer that may change an answer, and no key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProviderId {
    /// The provider's name.
    pub provider: String,
    /// The model.
    pub model: String,
    /// All else that goes into a request.
    pub parameters: Value,
}

/// What came back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// What was said.
    pub text: String,
    /// What was said as a value, where the provider offers that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// Tokens that were read.
    pub tokens_in: u64,
    /// Tokens that were written.
    pub tokens_out: u64,
    /// Why it ends there.
    pub stop: Stop,
}

/// Why an answer ends where it does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// All was said.
    #[default]
    Done,
    /// It would have become too long.
    Length,
    /// The model or a filter did not want to answer, in these words.
    Refused(String),
}

/// Why nothing came back. No text in it holds a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// For a passing reason: the same request may succeed later.
    #[error("{why}")]
    Retry {
        /// How long to wait, where the server says so.
        after: Option<Duration>,
        /// What happened.
        why: String,
    },
    /// This request is not accepted; others may be.
    #[error("{why}")]
    Rejected {
        /// What happened.
        why: String,
    },
    /// A part of the request is not accepted; without it the request may succeed.
    #[error("{otherwise}")]
    Refused {
        /// Which part.
        refused: Refused,
        /// What the failure means where that part cannot be left out.
        otherwise: Box<SendError>,
    },
    /// No request will succeed until a person changes something.
    #[error("{why}")]
    Fatal {
        /// What happened, and what to change.
        why: String,
    },
}

/// An answer that is on its way.
pub type Sending<'a> = Pin<Box<dyn Future<Output = Result<Reply, SendError>> + Send + 'a>>;

/// Somebody who answers prompts. Everything else, from building them to trying again, is done once for all of them.
pub trait Provider: Send + Sync {
    /// Who it is.
    fn id(&self) -> &ProviderId;

    /// What must be set before it can be asked, such as a key; nothing where all is there.
    fn lacks(&self) -> Option<&str> {
        None
    }

    /// The host to which a key is sent only because the configuration says so, and neither the provider's own address nor the
    /// environment; whoever did not write the configuration may not want that.
    fn entrusts(&self) -> Option<&str> {
        None
    }

    /// The forms in which it can be made to answer, strictest first.
    fn formats(&self) -> &'static [AnswerFormat] {
        &[AnswerFormat::Schema]
    }

    /// Sends one prompt, without what the provider has refused before. The question's name is for answers from files; it is not
    /// sent to anybody.
    fn send<'a>(&'a self, question: &'a str, prompt: &'a Prompt, adaptation: &'a Adaptation) -> Sending<'a>;

    /// Strikes the key from a reply or an answer that is to be stored or shown.
    fn strike(&self, _: &mut Value) {}
}

/// Where a provider may look for what the configuration does not say.
pub struct Surroundings<'a> {
    /// The variables of the environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The folder that files are named from, usually the suite's.
    pub folder: &'a Path,
}

/// The variables of a provider beyond this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remote {
    /// The one that holds the key, where no other is named.
    pub key: &'static str,
    /// The one with another address than the provider's own, where there may be no key.
    pub base: &'static str,
}

/// The model that is asked where nobody names one.
pub const DEFAULT_MODEL: &str = "claude-sonnet-4-20250514";

/// Why a judge cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// No such provider.
    #[error("there is no provider `{name}`{hint}")]
    Unknown {
        /// What was written.
        name: String,
        /// What was probably meant.
        hint: String,
    },
    /// The provider decides without prompts.
    #[error("the provider `{name}` decides without being asked by prompt; choose a model for this")]
    Promptless {
        /// Which.
        name: &'static str,
    },
    /// A model is needed.
    #[error("the provider `{name}` needs `model = \"…\"`, or the variable KARAT_JUDGE_MODEL")]
    NoModel {
        /// Which provider.
        name: &'static str,
    },
    /// The key is not in the environment.
    #[error("the variable {variable} holds no key; set it, or name another with `key_env`")]
    NoKey {
        /// Where it was looked for.
        variable: String,
    },
    /// Something must be set before it can be asked.
    #[error("{why}")]
    NotReady {
        /// What.
        why: String,
    },
    /// The key cannot be put into a request.
    #[error("the key in the variable {variable} has characters that no key has; look for line breaks and quotes in it")]
    BadKey {
        /// Where it stands.
        variable: String,
    },
    /// The address cannot be used.
    #[error("the address {url:?} cannot be used: {reason}; write one such as https://host/v1")]
    BadUrl {
        /// What was written, without a password.
        url: String,
        /// Why not.
        reason: String,
    },
    /// A value of the configuration cannot be used.
    #[error("`{field}` of the judge cannot be used: {reason}")]
    BadValue {
        /// Which.
        field: &'static str,
        /// Why not, and what would do.
        reason: String,
    },
    /// The provider needs a file.
    #[error("the provider `{name}` needs `file = \"…\"`, a JSONL file with answers")]
    NoFile {
        /// Which provider.
        name: &'static str,
    },
    /// The file cannot be used.
    #[error("{file}: {reason}")]
    BadFile {
        /// Which.
        file: String,
        /// What is wrong, and where.
        reason: String,
    },
}
