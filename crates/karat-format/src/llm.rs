//! The keys of `[tools.NAME]` with `kind = "llm"`: model, role and settings.

use super::judge::{EffortV1, JudgeConfigV1};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A language model as a tool. Its settings are those of a judge under the same names; keys to an API stay in the environment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LlmV1 {
    /// Who answers: `anthropic`, `openai`, `google`, `scripted` or `replay`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub provider: Option<String>,
    /// What it is asked for; `auto` where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleV1>,
    /// How an auditor is asked; `direct` where absent. Trials take several styles by turns, and the report has its figures by style.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "karat_core::one_or_many::list")]
    #[schemars(schema_with = "karat_core::one_or_many::list_schema::<StyleV1>")]
    pub style: Vec<StyleV1>,
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
    /// How often a request that failed for a passing reason is made again; 10 where absent. Of a `command`, how often a trial that
    /// met an outage is tried again; 3 where absent.
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
    /// Anything else to put into the body of each request, such as `{ seed = 7 }`.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub api: serde_json::Map<String, serde_json::Value>,
}

/// What a model is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RoleV1 {
    /// A reviewer where the case has a change, an auditor where it has not.
    #[default]
    Auto,
    /// The change in, findings out.
    Reviewer,
    /// The code in; a verdict, how sure it is, and findings out.
    Auditor,
}

impl RoleV1 {
    /// The word used in every format.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Reviewer => "reviewer",
            Self::Auditor => "auditor",
        }
    }
}

/// How an auditor is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StyleV1 {
    /// For vulnerabilities, plainly.
    #[default]
    Direct,
    /// As a colleague asks for a second pair of eyes, without a word of vulnerabilities.
    Naturalistic,
    /// With the claim that others have found the code safe, which is not known to be true.
    Adversarial,
}

impl StyleV1 {
    /// All styles, in the order in which they are listed.
    pub const ALL: [Self; 3] = [Self::Direct, Self::Naturalistic, Self::Adversarial];

    /// The word used in every format.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Naturalistic => "naturalistic",
            Self::Adversarial => "adversarial",
        }
    }
}

impl LlmV1 {
    /// The styles that trials take by turns; at least one.
    pub fn styles(&self) -> Vec<StyleV1> {
        if self.style.is_empty() { vec![StyleV1::default()] } else { self.style.clone() }
    }

    /// The settings as a judge has them, with the keys that every tool has: the model, and how long it may take.
    pub fn to_judge_config(&self, model: Option<String>, timeout: Option<String>) -> JudgeConfigV1 {
        JudgeConfigV1 {
            provider: self.provider.clone().unwrap_or_default(),
            model,
            base_url: self.base_url.clone(),
            key_env: self.key_env.clone(),
            temperature: self.temperature,
            effort: self.effort,
            max_tokens: self.max_tokens,
            concurrency: self.concurrency,
            requests_per_minute: self.requests_per_minute,
            tokens_per_minute: self.tokens_per_minute,
            timeout,
            retries: self.retries,
            price_in: self.price_in,
            price_out: self.price_out,
            budget_usd: self.budget_usd,
            budget_calls: self.budget_calls,
            file: self.file.clone(),
            api: self.api.clone(),
            members: Vec::new(),
            consensus: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::schema_of;
    use crate::tool::ToolManifestV1;
    use serde_json::{Map, Value, json};

    /// Every setting of a judge is also a setting of a tool, with the same description.
    #[test]
    fn llm_tool_has_the_settings_of_a_judge() {
        let properties = |schema: Value| schema["properties"].as_object().cloned().unwrap();
        let (judge, tool) = (properties(schema_of::<JudgeConfigV1>()), properties(schema_of::<ToolManifestV1>()));
        let mut settings = Map::new();
        // A tool is one model, not several judges.
        for (name, expect) in judge.iter().filter(|(name, _)| !["members", "consensus"].contains(&name.as_str())) {
            let found = tool.get(name).unwrap_or_else(|| panic!("a tool has no key `{name}`"));
            // These keys belong to tools of every kind.
            if !["model", "retries", "timeout", "provider"].contains(&name.as_str()) {
                assert_eq!(found, expect, "{name}");
            }
            let types = expect["type"].to_string();
            let value = match () {
                () if name == "effort" => json!("low"),
                () if types.contains("string") => json!(name),
                () if types.contains("object") => json!({ "seed": 7 }),
                () if types.contains("number") => json!(0.5),
                () => json!(20),
            };
            settings.insert(name.clone(), value);
        }
        let manifest: ToolManifestV1 = serde_json::from_value(Value::Object(settings.clone())).unwrap();
        let judge_config = manifest.llm.to_judge_config(manifest.model.clone(), manifest.timeout.clone());
        assert_eq!(serde_json::to_value(judge_config).unwrap(), Value::Object(settings), "a setting is not passed on");
    }
}
