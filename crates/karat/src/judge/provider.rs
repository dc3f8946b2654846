//! Who answers: one small interface, and the table of everybody behind it.

use super::template::Prompt;
use super::{anthropic, openai, scripted};
use crate::document::suggest::nearest;
use crate::format::judge::JudgeConfigV1;
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

    /// Sends one prompt. The question's name is for answers from files; it is not sent to anybody.
    fn send<'a>(&'a self, question: &'a str, prompt: &'a Prompt) -> Sending<'a>;
}

/// Where a provider may look for what the configuration does not say.
pub struct Surroundings<'a> {
    /// The variables of the environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The folder that files are named from, usually the suite's.
    pub folder: &'a Path,
}

/// An entry of the table.
pub struct ProviderEntry {
    /// The name, as `provider = "…"` has it.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// What the environment may say of it, where one of several models is asked over a network.
    pub remote: Option<Remote>,
    open: Option<Open>,
}

/// The variables of a provider beyond this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remote {
    /// The one that holds the key, where no other is named.
    pub key: &'static str,
    /// The one with another address than the provider's own, where there may be no key.
    pub base: &'static str,
}

type Open = fn(&JudgeConfigV1, &Surroundings<'_>) -> Result<Box<dyn Provider>, ProviderError>;

/// Everybody who can be asked, in the order in which they are listed.
pub static PROVIDERS: &[ProviderEntry] = &[
    ProviderEntry {
        name: "anthropic",
        about: "the Messages API of Anthropic",
        remote: Some(anthropic::REMOTE),
        open: Some(anthropic::open),
    },
    ProviderEntry {
        name: "openai",
        about: "chat completions of OpenAI and all that speak the same: vLLM, Ollama, llama.cpp, LiteLLM",
        remote: Some(openai::REMOTE),
        open: Some(openai::open),
    },
    ProviderEntry { name: "scripted", about: "answers from a file", remote: None, open: Some(scripted::open) },
    ProviderEntry {
        name: "replay",
        about: "recorded exchanges, told again",
        remote: None,
        open: Some(scripted::open_replay),
    },
    ProviderEntry { name: "local", about: "the judge inside Karat; it reads no prompt", remote: None, open: None },
    ProviderEntry { name: "panel", about: "several judges, who decide together", remote: None, open: None },
    ProviderEntry { name: "human", about: "labels by people; they read no prompt", remote: None, open: None },
];

/// The model that is asked where nobody names one.
pub const DEFAULT_MODEL: &str = "claude-sonnet-4-20250514";

/// The model that the environment names for judges that name none themselves.
pub(super) fn judge_model(around: &Surroundings<'_>) -> Option<String> {
    let stated = |name: &&str| (around.variable)(name).map(|model| model.trim().to_owned());
    ["KARAT_JUDGE_MODEL", "CRB_JUDGE_MODEL"].iter().filter_map(stated).find(|model| !model.is_empty())
}

impl ProviderEntry {
    /// Whether it answers prompts.
    pub fn reads_prompts(&self) -> bool {
        self.open.is_some()
    }
}

/// Opens a provider with the model that the configuration names. No connection is made before the first question.
pub fn open(config: &JudgeConfigV1, around: &Surroundings<'_>) -> Result<Box<dyn Provider>, ProviderError> {
    let entry = entry(&config.provider)?;
    let open = entry.open.ok_or(ProviderError::Promptless { name: entry.name })?;
    open(config, around)
}

/// Opens a provider that will be asked for sure: what it lacks is said now.
pub fn open_ready(config: &JudgeConfigV1, around: &Surroundings<'_>) -> Result<Box<dyn Provider>, ProviderError> {
    let provider = open(config, around)?;
    match provider.lacks() {
        Some(why) => Err(ProviderError::NotReady { why: why.to_owned() }),
        None => Ok(provider),
    }
}

/// The provider of that name.
pub fn entry(name: &str) -> Result<&'static ProviderEntry, ProviderError> {
    PROVIDERS.iter().find(|entry| entry.name == name).ok_or_else(|| {
        let known: Vec<&str> = PROVIDERS.iter().map(|entry| entry.name).collect();
        let hint = nearest(name, known.iter().copied()).map(|near| format!("; did you mean `{near}`?"));
        let hint = hint.unwrap_or_else(|| format!("; there are {}", known.join(", ")));
        ProviderError::Unknown { name: name.to_owned(), hint }
    })
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(config: &JudgeConfigV1, variables: &[(&str, &str)]) -> String {
        let variable =
            |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        let around = Surroundings { variable: &variable, folder: Path::new("/nowhere") };
        match open(config, &around) {
            Ok(provider) => provider.lacks().expect("it should be refused").to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn every_provider_is_described_and_can_be_tried() {
        let mut seen = std::collections::BTreeSet::new();
        for entry in PROVIDERS {
            assert!(seen.insert(entry.name) && !entry.about.is_empty(), "{}", entry.name);
            let config = JudgeConfigV1 { provider: entry.name.into(), ..JudgeConfigV1::default() };
            // Nothing is configured, and everybody says what is missing.
            let told = refused(&config, &[]);
            assert!(told.contains(entry.name) || told.contains("_KEY"), "{told}");
        }
    }

    #[test]
    fn what_cannot_be_asked_says_what_to_do() {
        let check = |config: JudgeConfigV1, variables: &[(&str, &str)], expect: &str| {
            let told = refused(&config, variables);
            assert!(told.contains(expect), "{told}");
        };
        let config = |provider: &str| JudgeConfigV1 {
            provider: provider.into(),
            model: Some("m".into()),
            ..JudgeConfigV1::default()
        };
        check(config("antropic"), &[], "did you mean `anthropic`?");
        check(config("anthropic"), &[], "ANTHROPIC_API_KEY holds no key");
        check(JudgeConfigV1 { key_env: Some("MINE".into()), ..config("openai") }, &[], "MINE holds no key");
        check(config("openai"), &[("OPENAI_API_KEY", "a\nb")], "characters that no key has");
        check(JudgeConfigV1 { model: None, ..config("openai") }, &[], "KARAT_JUDGE_MODEL");
        let url = |url: &str| JudgeConfigV1 { base_url: Some(url.into()), ..config("openai") };
        check(url("ftp://host"), &[], "cannot be used");
        check(url("not an address"), &[], "cannot be used");
        let told = refused(&url("https://me:hunter2@host/v1"), &[]);
        assert!(told.contains("cannot be used") && !told.contains("hunter2"), "{told}");
    }
}
