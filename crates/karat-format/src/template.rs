//! `templates/<id>/config.yml`: requirements for documents, and the providers that search and assess them.

use super::judge::JudgeConfigV1;
use super::ordered_map::OrderedMap;
use super::retrieval::{EmbeddingProviderV1, RerankProviderV1, SearchV1};
use karat_core::assessment::rules::Rules;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Requirements that documents are compared with, and how they are searched, scored and put to models.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "template")]
pub struct TemplateV1 {
    /// What it is called.
    pub title: Option<String>,
    /// What it is about.
    pub description: Option<String>,
    /// The requirements by id, in the order in which they are shown.
    pub requirements: OrderedMap<TemplateRequirementV1>,
    /// The questions that records answer under `assumptions.question_answers`, by id, in words an assessor understands.
    #[serde(default, skip_serializing_if = "OrderedMap::is_empty")]
    pub questions: OrderedMap<String>,
    /// The most characters of one part that a model is shown; longer ones are cut at white space, and the report says so. 6000
    /// where absent.
    #[schemars(range(min = 100))]
    pub max_part_chars: Option<u32>,
    /// How documents are searched, where that differs from the usual.
    #[serde(default)]
    pub search: SearchV1,
    /// Weights and thresholds, where they differ from the usual.
    #[serde(default)]
    pub scoring: Rules,
    /// Models that assess, by name; their keys are those of judges.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub llm_endpoints: BTreeMap<String, JudgeConfigV1>,
    /// What turns texts into vectors, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub embedding_providers: BTreeMap<String, EmbeddingProviderV1>,
    /// What puts candidates into a better order, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rerank_providers: BTreeMap<String, RerankProviderV1>,
}

/// A requirement.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TemplateRequirementV1 {
    /// What it is called.
    #[schemars(length(min = 1))]
    pub title: String,
    /// What documents must say to meet it.
    #[schemars(length(min = 1))]
    pub description: String,
    /// What is searched for, by the language of the documents, such as `en` or `sv`; title and description where absent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub queries: BTreeMap<String, String>,
    /// The answers under which it is about an organisation at all, by question, such as `uses_subcontractors: yes`; always where
    /// absent. The rule-based baseline goes by them, and a model is told them in words.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub applies_when: BTreeMap<String, String>,
    /// When each verdict is due, by verdict; an assessor is told.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub guidance: BTreeMap<String, String>,
    /// What the rule-based baseline looks for; the words of the query where absent. All of it found is `yes`, some of it
    /// `partial`, none `no`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signs: Vec<SignV1>,
}

/// Something that documents must say, in any of several words.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignV1 {
    /// What it is, in a few words.
    #[schemars(length(min = 1))]
    pub about: String,
    /// Words or phrases that show it, in any language and form; any of them is enough. They are compared by their stems.
    #[schemars(length(min = 1))]
    pub any: Vec<String>,
}
