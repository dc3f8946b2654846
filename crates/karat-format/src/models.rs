//! `models.toml`: what is known of language models.

use super::case::is_date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A table of models: when they were released and retired, what they cost, and what they refuse.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "models.toml")]
pub struct ModelsV1 {
    /// The day on which the table was last compared with what providers publish, as `2026-11-19`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<String>,
    /// The model that is asked where only its provider is named, by provider.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub defaults: BTreeMap<String, String>,
    /// The models.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<ModelV1>,
}

/// A model. What is not stated is unknown; prices are in USD for a million tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelV1 {
    /// Who serves it: `anthropic`, `openai` or `google`.
    #[schemars(length(min = 1))]
    pub provider: String,
    /// Its name, as the provider spells it.
    #[schemars(length(min = 1))]
    pub id: String,
    /// Other names of the same model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// The day of its release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released: Option<String>,
    /// Whether the provider still serves it but advises to use another one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub legacy: bool,
    /// The day from which the provider does not serve it any more. It may be announced in advance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retired: Option<String>,
    /// The model that the provider recommends in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successor: Option<String>,
    /// The price of tokens that are sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub input: Option<f64>,
    /// The price of tokens that are answered; those of thinking are among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub output: Option<f64>,
    /// The price of tokens that are read from the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub cache_read: Option<f64>,
    /// The price of tokens that are written to the provider's cache for its default time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub cache_write: Option<f64>,
    /// The share of these prices that a request in a batch costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub batch: Option<f64>,
    /// What it answers with an error, so that it is not sent.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub refuses: BTreeSet<RefusalV1>,
    /// Where this was read: the page of the prices first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// The day on which it was read there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<String>,
    /// What else there is to say, such as a price that depends on the length of the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What a model may answer with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RefusalV1 {
    /// `temperature`, `top_p` and `top_k`.
    Sampling,
    /// A tool that must be called.
    ForcedToolChoice,
    /// A number of tokens to think with.
    ThinkingBudget,
    /// Thinking that is switched off.
    DisabledThinking,
    /// The beginning of the answer.
    Prefill,
    /// How hard to think.
    Effort,
    /// A JSON Schema for the answer.
    StructuredOutput,
    /// The limit on the answer under its old name, `max_tokens`.
    MaxTokens,
    /// Requests other than those of OpenAI's Responses API.
    ChatCompletions,
}

impl RefusalV1 {
    /// As in a list of what a model refuses.
    pub fn words(self) -> &'static str {
        match self {
            Self::Sampling => "sampling parameters",
            Self::ForcedToolChoice => "forced tool choice",
            Self::ThinkingBudget => "thinking budgets",
            Self::DisabledThinking => "disabled thinking",
            Self::Prefill => "prefill",
            Self::Effort => "effort",
            Self::StructuredOutput => "structured output",
            Self::MaxTokens => "max_tokens",
            Self::ChatCompletions => "chat completions",
        }
    }
}

impl ModelV1 {
    /// Whether this is its name or another one of it.
    pub fn is_called(&self, name: &str) -> bool {
        self.id == name || self.aliases.iter().any(|alias| alias == name)
    }

    /// Whether the provider does not serve it any more on this day, which is a date as `2026-11-19`.
    pub fn is_retired(&self, today: &str) -> bool {
        // Dates in this form are ordered as texts are.
        self.retired.as_deref().is_some_and(|retired| retired <= today)
    }

    /// Whether it answers such a request with an error.
    pub fn refuses(&self, what: RefusalV1) -> bool {
        self.refuses.contains(&what)
    }
}

impl ModelsV1 {
    /// The table as a file.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }

    /// What is wrong beyond the schema, each with the model it is about.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if let Some(day) = self.as_of.as_deref().filter(|day| !is_date(day)) {
            faults.push(format!("as_of: `{day}` is no date such as 2026-11-19"));
        }
        let mut names = BTreeSet::new();
        for model in &self.models {
            let id = &model.id;
            for name in std::iter::once(id).chain(&model.aliases) {
                if !names.insert((&model.provider, name)) {
                    faults.push(format!("{id}: `{name}` of {} is given twice", model.provider));
                }
            }
            let days = [("released", &model.released), ("retired", &model.retired), ("read", &model.read)];
            for (key, day) in days {
                if let Some(day) = day.as_deref().filter(|day| !is_date(day)) {
                    faults.push(format!("{id}: {key} = `{day}` is no date such as 2026-11-19"));
                }
            }
            if model.input.is_some() != model.output.is_some() {
                faults.push(format!("{id}: give both `input` and `output`, or neither"));
            }
        }
        faults
    }
}
