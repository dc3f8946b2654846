//! `[judges.NAME]` of `karat.toml`: the provider of a judge and its settings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A judge as a suite describes it. Keys to an API are never part of it: they stay in the environment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JudgeConfigV1 {
    /// Who answers: `anthropic`, `openai`, `google`, `scripted`, `replay`, `local`, `human`, or a `panel` of other judges.
    #[schemars(length(min = 1))]
    pub provider: String,
    /// The model, as the provider names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Where the API is, such as `http://localhost:11434/v1`; the provider's own address where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The variable that holds the key; the provider's usual one where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_env: Option<String>,
    /// How freely the model chooses its words; 0 where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 2.0))]
    pub temperature: Option<f64>,
    /// How hard a model thinks that can be told. Where absent, `low` for questions about pairs, else the model's own default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<EffortV1>,
    /// The longest answer, in tokens; the question's own limit where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 16))]
    pub max_tokens: Option<u32>,
    /// How many questions are asked at once; 16 where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024))]
    pub concurrency: Option<u32>,
    /// The most requests in a minute; as many as come where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub requests_per_minute: Option<u32>,
    /// The most tokens in a minute, those of the answers included; as many as come where absent. Each request is counted with the
    /// most tokens that it may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub tokens_per_minute: Option<u32>,
    /// The longest one request may take, such as `90s`; two minutes where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// How often a request that failed for a passing reason is made again; 10 where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 100))]
    pub retries: Option<u32>,
    /// The price of a million tokens that are sent, in USD; that of the table of models where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub price_in: Option<f64>,
    /// The price of a million tokens that are answered, in USD; that of the table of models where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub price_out: Option<f64>,
    /// The most a run may cost, in USD; needs both prices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub budget_usd: Option<f64>,
    /// The most requests a run may make, those made again included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_calls: Option<u64>,
    /// `scripted` and `replay`: the JSONL file with the answers, relative to the suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// `panel`: the judges it is made of, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<String>,
    /// `panel`: how voices become a decision, `majority` or `dawid-skene`; the majority where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consensus: Option<String>,
    /// Anything else to put into the body of each request, such as `{ seed = 7 }`.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub api: serde_json::Map<String, serde_json::Value>,
}

/// How hard a model thinks before it answers. Not every model knows every level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EffortV1 {
    /// Not at all.
    None,
    /// Hardly.
    Minimal,
    /// A little.
    Low,
    /// Somewhat.
    Medium,
    /// Much.
    High,
    /// Very much.
    Xhigh,
    /// As much as it can.
    Max,
}

impl EffortV1 {
    /// The word that providers use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }
}
