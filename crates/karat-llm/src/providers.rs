//! The table of providers.

use super::provider::{Provider, ProviderEnv, ProviderError, RemoteVariables, Reply, SendError};
use super::{anthropic, http, openai, scripted};
use karat_format::document::suggest::nearest;
use karat_format::judge::JudgeConfigV1;
use serde_json::Value;

/// An entry of the table.
pub struct ProviderEntry {
    /// The name, as `provider = "…"` has it.
    pub name: &'static str,
    /// A short description.
    pub about: &'static str,
    /// Its environment variables, if it is a remote API.
    pub remote: Option<RemoteVariables>,
    /// Parses a response body, if it is a remote API.
    pub read: Option<ReadReply>,
    open: Option<Open>,
}

type Open = fn(&JudgeConfigV1, &ProviderEnv<'_>) -> Result<Box<dyn Provider>, ProviderError>;

/// Parses the JSON of a response.
pub type ReadReply = fn(&Value) -> Result<Reply, SendError>;

/// All providers, in the order in which they are listed.
pub static PROVIDERS: &[ProviderEntry] = &[
    ProviderEntry {
        name: "anthropic",
        about: "the Messages API of Anthropic",
        remote: Some(anthropic::REMOTE),
        read: Some(anthropic::read),
        open: Some(anthropic::open),
    },
    ProviderEntry {
        name: "openai",
        about: "chat completions of OpenAI and compatible servers: vLLM, Ollama, llama.cpp, LiteLLM",
        remote: Some(openai::REMOTE),
        read: Some(openai::read),
        open: Some(openai::open),
    },
    ProviderEntry {
        name: "scripted",
        about: "answers from a file",
        remote: None,
        read: None,
        open: Some(scripted::open),
    },
    ProviderEntry {
        name: "replay",
        about: "recorded exchanges, replayed",
        remote: None,
        read: None,
        open: Some(scripted::open_replay),
    },
    ProviderEntry {
        name: "local",
        about: "the judge inside Karat; it reads no prompt",
        remote: None,
        read: None,
        open: None,
    },
    ProviderEntry { name: "panel", about: "several judges, who decide together", remote: None, read: None, open: None },
    ProviderEntry {
        name: "human",
        about: "labels by people; they read no prompt",
        remote: None,
        read: None,
        open: None,
    },
];

/// The default model for judges, from the environment.
pub fn judge_model(env: &ProviderEnv<'_>) -> Option<String> {
    let stated = |name: &&str| (env.variable)(name).map(|model| model.trim().to_owned());
    ["KARAT_JUDGE_MODEL", "CRB_JUDGE_MODEL"].iter().filter_map(stated).find(|model| !model.is_empty())
}

impl ProviderEntry {
    /// Whether it answers prompts.
    pub fn reads_prompts(&self) -> bool {
        self.open.is_some()
    }
}

/// Opens the configured provider. No connection is made before the first question.
pub fn open(config: &JudgeConfigV1, env: &ProviderEnv<'_>) -> Result<Box<dyn Provider>, ProviderError> {
    let entry = entry(&config.provider)?;
    let open = entry.open.ok_or(ProviderError::Promptless { name: entry.name })?;
    open(config, env)
}

/// Opens a provider and fails if its setup is incomplete.
pub fn open_ready(config: &JudgeConfigV1, env: &ProviderEnv<'_>) -> Result<Box<dyn Provider>, ProviderError> {
    let provider = open(config, env)?;
    match provider.missing_setup() {
        Some(why) => Err(ProviderError::NotReady { why: why.to_owned() }),
        None => Ok(provider),
    }
}

/// Whether a URL leads to this machine.
pub fn is_local_address(address: &str) -> bool {
    http::is_local_address(address)
}

/// The provider with this name.
pub fn entry(name: &str) -> Result<&'static ProviderEntry, ProviderError> {
    PROVIDERS.iter().find(|entry| entry.name == name).ok_or_else(|| {
        let known: Vec<&str> = PROVIDERS.iter().map(|entry| entry.name).collect();
        let hint = nearest(name, known.iter().copied()).map(|near| format!("; did you mean `{near}`?"));
        let hint = hint.unwrap_or_else(|| format!("; there are {}", known.join(", ")));
        ProviderError::Unknown { name: name.to_owned(), hint }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn refused(config: &JudgeConfigV1, variables: &[(&str, &str)]) -> String {
        let variable =
            |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        let env = ProviderEnv { variable: &variable, folder: Path::new("/nowhere") };
        match open(config, &env) {
            Ok(provider) => provider.missing_setup().expect("it should be refused").to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn every_provider_is_described_and_can_be_tried() {
        let mut seen = std::collections::BTreeSet::new();
        for entry in PROVIDERS {
            assert!(seen.insert(entry.name) && !entry.about.is_empty(), "{}", entry.name);
            let config = JudgeConfigV1 { provider: entry.name.into(), ..JudgeConfigV1::default() };
            // Nothing is configured, and each error names what is missing.
            let message = refused(&config, &[]);
            assert!(message.contains(entry.name) || message.contains("_KEY"), "{message}");
        }
    }

    #[test]
    fn configuration_errors_say_what_to_do() {
        let check = |config: JudgeConfigV1, variables: &[(&str, &str)], expect: &str| {
            let message = refused(&config, variables);
            assert!(message.contains(expect), "{message}");
        };
        let config = |provider: &str| JudgeConfigV1 {
            provider: provider.into(),
            model: Some("m".into()),
            ..JudgeConfigV1::default()
        };
        check(config("antropic"), &[], "did you mean `anthropic`?");
        check(config("anthropic"), &[], "ANTHROPIC_API_KEY holds no key");
        check(JudgeConfigV1 { key_env: Some("MINE".into()), ..config("openai") }, &[], "MINE holds no key");
        check(config("openai"), &[("OPENAI_API_KEY", "a\nb")], "has invalid characters");
        check(JudgeConfigV1 { model: None, ..config("openai") }, &[], "KARAT_JUDGE_MODEL");
        let url = |url: &str| JudgeConfigV1 { base_url: Some(url.into()), ..config("openai") };
        check(url("ftp://host"), &[], "cannot be used");
        check(url("not an address"), &[], "cannot be used");
        let message = refused(&url("https://me:hunter2@host/v1"), &[]);
        assert!(message.contains("cannot be used") && !message.contains("hunter2"), "{message}");
    }
}
