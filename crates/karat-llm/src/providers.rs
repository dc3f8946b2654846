//! The table of providers.

pub use super::http::is_local_address;

use super::http::Endpoint;
use super::provider::{Provider, ProviderEnv, ProviderError};
use super::remote::RemoteApi;
use super::{anthropic, openai, scripted};
use karat_format::document::suggest::nearest;
use karat_format::judge::JudgeConfigV1;

#[expect(missing_docs, reason = "field names say it")]
pub struct ProviderEntry {
    /// The name, as `provider = "…"` has it.
    pub name: &'static str,
    pub about: &'static str,
    pub remote: Option<&'static RemoteApi>,
    open: Option<Open>,
}

type Open = fn(&JudgeConfigV1, &ProviderEnv<'_>) -> Result<Box<dyn Provider>, ProviderError>;

/// All providers, in the order in which they are listed.
pub static PROVIDERS: &[ProviderEntry] = &[
    ProviderEntry::remote(&anthropic::API, "the Messages API of Anthropic"),
    ProviderEntry::remote(
        &openai::API,
        "chat completions of OpenAI and compatible servers: vLLM, Ollama, llama.cpp, LiteLLM",
    ),
    ProviderEntry::local("scripted", "answers from a file", Some(scripted::open)),
    ProviderEntry::local("replay", "recorded exchanges, replayed", Some(scripted::open_replay)),
    ProviderEntry::local("local", "the judge inside Karat; it reads no prompt", None),
    ProviderEntry::local("panel", "several judges, who decide together", None),
    ProviderEntry::local("human", "labels by people; they read no prompt", None),
];

/// The default model for judges, from the environment.
pub fn judge_model(env: &ProviderEnv<'_>) -> Option<String> {
    ["KARAT_JUDGE_MODEL", "CRB_JUDGE_MODEL"].iter().find_map(|name| env.filled_variable(name))
}

impl ProviderEntry {
    const fn remote(api: &'static RemoteApi, about: &'static str) -> Self {
        Self { name: api.name, about, remote: Some(api), open: None }
    }

    /// A provider on this machine; one that cannot be opened answers no prompts.
    const fn local(name: &'static str, about: &'static str, open: Option<Open>) -> Self {
        Self { name, about, remote: None, open }
    }

    /// Whether it answers prompts.
    pub fn reads_prompts(&self) -> bool {
        self.remote.is_some() || self.open.is_some()
    }
}

/// Opens the configured provider. No connection is made before the first question.
pub fn open(config: &JudgeConfigV1, env: &ProviderEnv<'_>) -> Result<Box<dyn Provider>, ProviderError> {
    let entry = entry(&config.provider)?;
    match (entry.remote, entry.open) {
        (Some(api), _) => api.open(config, env),
        (None, Some(open)) => open(config, env),
        (None, None) => Err(ProviderError::Other(format!(
            "the provider `{}` decides without being asked by prompt; choose a model for this",
            entry.name
        ))),
    }
}

/// Opens a provider and fails if its setup is incomplete.
pub fn open_ready(config: &JudgeConfigV1, env: &ProviderEnv<'_>) -> Result<Box<dyn Provider>, ProviderError> {
    let provider = open(config, env)?;
    match provider.endpoint().and_then(Endpoint::missing_setup) {
        Some(why) => Err(ProviderError::NoKey(why.to_owned())),
        None => Ok(provider),
    }
}

/// The provider with this name.
pub fn entry(name: &str) -> Result<&'static ProviderEntry, ProviderError> {
    PROVIDERS.iter().find(|entry| entry.name == name).ok_or_else(|| {
        let known: Vec<&str> = PROVIDERS.iter().map(|entry| entry.name).collect();
        let hint = nearest(name, known.iter().copied()).map(|near| format!("; did you mean `{near}`?"));
        let hint = hint.unwrap_or_else(|| format!("; there are {}", known.join(", ")));
        ProviderError::Other(format!("unknown provider `{name}`{hint}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn configuration_error(config: &JudgeConfigV1, variables: &[(&str, &str)]) -> String {
        let variable =
            |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        let env = ProviderEnv { variable: &variable, folder: Path::new("/nowhere") };
        match open(config, &env) {
            Ok(provider) => {
                let missing = provider.endpoint().and_then(Endpoint::missing_setup);
                missing.expect("it should be refused").to_owned()
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn every_provider_has_a_description_and_reports_missing_settings() {
        let mut names = std::collections::BTreeSet::new();
        for entry in PROVIDERS {
            assert!(names.insert(entry.name) && !entry.about.is_empty(), "{}", entry.name);
            let config = JudgeConfigV1 { provider: entry.name.into(), ..JudgeConfigV1::default() };
            // Without configuration each error names what is missing.
            let message = configuration_error(&config, &[]);
            assert!(message.contains(entry.name) || message.contains("_KEY"), "{message}");
        }
    }

    #[test]
    fn configuration_errors_say_what_to_do() {
        let check = |config: JudgeConfigV1, variables: &[(&str, &str)], expect: &str| {
            let message = configuration_error(&config, variables);
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
        let message = configuration_error(&url("https://me:hunter2@host/v1"), &[]);
        assert!(message.contains("cannot be used") && !message.contains("hunter2"), "{message}");
    }
}
