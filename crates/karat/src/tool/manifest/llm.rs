//! A language model as a tool: who is asked, for what, and whether the settings make sense together.

use super::{Check, NO_MODEL};
use karat_format::judge::JudgeConfigV1;
use karat_format::llm::{RoleV1, StyleV1};
use karat_llm::engine::EngineOptions;
use karat_llm::ledger::CacheMode;
use karat_llm::provider::ProviderError;
use karat_llm::providers::{self, PROVIDERS, ProviderEntry};

/// A language model and what it is asked for, fully resolved but for its key.
#[derive(Clone, Debug, PartialEq)]
pub struct Llm {
    /// What it is asked for.
    pub role: RoleV1,
    /// How an auditor is asked.
    pub style: StyleV1,
    /// Who is asked, and how, in the terms of a judge.
    pub config: JudgeConfigV1,
}

/// The longest one request may take where nobody says otherwise. Reading a large change and writing many findings takes
/// longer than deciding a pair does.
const USUAL_TIMEOUT: &str = "5m";

impl Check<'_> {
    /// Checks all that can be known without the environment.
    pub(super) fn llm(&mut self, model: Option<String>) -> Llm {
        let raw = &self.raw.llm;
        if let Some(provider) = self.provider() {
            let named = provider.remote.is_some();
            if named && model.is_none() && self.raw.model.is_none() {
                let message = "needs `model`, or --model NAME, or KARAT_TOOL_MODEL";
                self.fault(&[], NO_MODEL, message);
            }
            match &raw.file {
                None if !named => {
                    let message = format!("provider = \"{}\" needs `file`, a JSONL file with answers", provider.name);
                    self.fault(&[], "no-file", message);
                }
                Some(_) if named => {
                    let message = format!("has no effect for provider = \"{}\"; remove it", provider.name);
                    self.fault(&["file"], "foreign-key", message);
                }
                _ => {}
            }
        }
        if raw.style.is_some() && raw.role == Some(RoleV1::Reviewer) {
            let message = "is for auditors; remove it, or say role = \"auditor\" or role = \"auto\"";
            self.fault(&["style"], "foreign-key", message);
        }
        if let Some(name) = &raw.key_env {
            self.variable(&["key_env"], name);
        }
        let file = self.file("file", raw.file.as_deref()).map(|file| file.to_string_lossy().into_owned());
        let timeout = self.raw.timeout.clone().unwrap_or_else(|| USUAL_TIMEOUT.to_owned());
        let config = JudgeConfigV1 { file, ..raw.to_judge_config(model, Some(timeout)) };
        if let Err(ProviderError::BadValue { field, reason }) = EngineOptions::from_config(&config, CacheMode::Off) {
            self.fault(&[field], "bad-value", reason);
        }
        Llm { role: raw.role.unwrap_or_default(), style: raw.style.unwrap_or_default(), config }
    }

    /// Somebody who can be asked.
    fn provider(&mut self) -> Option<&'static ProviderEntry> {
        let askable = || {
            let names: Vec<&str> = PROVIDERS.iter().filter(|p| p.reads_prompts()).map(|p| p.name).collect();
            names.join(", ")
        };
        let Some(name) = self.raw.llm.provider.as_deref() else {
            let message = format!("kind = \"llm\" needs `provider`, who is asked; there are {}", askable());
            self.fault(&[], "no-provider", message);
            return None;
        };
        match providers::entry(name) {
            Ok(entry) if entry.reads_prompts() => return Some(entry),
            Ok(_) => {
                let message = format!("`{name}` cannot be asked to review anything; there are {}", askable());
                self.fault(&["provider"], "unknown-provider", message);
            }
            Err(error) => self.fault(&["provider"], "unknown-provider", error.to_string()),
        }
        None
    }
}
