//! How documents are searched, as configured by a template.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of the search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchV1 {
    /// The language of the documents, such as `en`, `sv` or `de`; `auto` or nothing looks at the words of each bundle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Words that are not searched for, beside those of the language.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop_words: Vec<String>,
    /// How many candidates each half of the search gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub search_limit: Option<u32>,
    /// The weight of words against that of vectors, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub bm25_weight: Option<f64>,
    /// How many parts an assessor is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub rerank_top_n: Option<u32>,
    /// The fewest characters of the body of a part that is a candidate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_candidate_length: Option<u32>,
}

/// What turns texts into vectors.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmbeddingProviderV1 {
    /// `folder` for weights on disk, `http` for a server.
    #[schemars(length(min = 1))]
    pub provider: String,
    /// `http`: the model, as the server names it.
    pub model: Option<String>,
    /// `folder`: where `config.json`, `tokenizer.json` and `model.safetensors` lie, relative to the template.
    pub path: Option<String>,
    /// `http`: the address before `/embeddings`, such as `http://localhost:11434/v1`.
    pub base_url: Option<String>,
    /// `http`: the variable that holds the key; no key is sent where absent.
    pub key_env: Option<String>,
    /// The most characters of a text that are sent; longer ones are cut at white space, and the report says so.
    #[schemars(range(min = 16))]
    pub max_chars: Option<u32>,
    /// What is put before a text that is searched for, such as `query: `.
    pub query_prefix: Option<String>,
    /// What is put before a text that is searched, such as `passage: `.
    pub passage_prefix: Option<String>,
    /// `http`: how many texts are sent at once; 64 where absent.
    #[schemars(range(min = 1, max = 2048))]
    pub batch: Option<u32>,
}

/// What puts candidates into a better order.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RerankProviderV1 {
    /// `embedded` for what Karat has inside, `folder` for weights on disk, `http` for a server.
    #[schemars(length(min = 1))]
    pub provider: String,
    /// `http`: the model, as the server names it.
    pub model: Option<String>,
    /// `folder`: where `config.json`, `tokenizer.json` and `model.safetensors` lie, relative to the template.
    pub path: Option<String>,
    /// `http`: the address before `/rerank`.
    pub base_url: Option<String>,
    /// `http`: the variable that holds the key; no key is sent where absent.
    pub key_env: Option<String>,
    /// The most characters of a text that are sent; longer ones are cut at white space, and the report says so.
    #[schemars(range(min = 16))]
    pub max_chars: Option<u32>,
}
