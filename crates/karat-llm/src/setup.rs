//! What opening a provider takes, and why it fails.

use std::path::Path;

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
