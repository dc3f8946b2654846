//! Rerankers: the trait and the registry.

use super::RetrievalError;
use super::bm25::Bm25;
use super::cut::Truncation;
use super::embed::unknown;
use karat_format::retrieval::RerankProviderV1;
use karat_llm::provider::ProviderEnv;

mod embedded;
mod folder;
mod http;

/// A query and its candidates.
#[expect(missing_docs, reason = "field names say it")]
pub struct RerankRequest<'a> {
    pub query: &'a str,
    /// In the order found.
    pub texts: &'a [&'a str],
    /// Weighted sums of reciprocal ranks.
    pub fused: &'a [f64],
    /// Similarity by vectors, if available.
    pub likeness: Option<&'a [f64]>,
    pub(super) words: &'a Bm25,
}

impl RerankRequest<'_> {
    /// The words of a text, as searched.
    pub fn words(&self, text: &str) -> Vec<String> {
        self.words.analysis().words(text)
    }

    /// Inverse document frequency of a word.
    pub fn rarity(&self, word: &str) -> f64 {
        self.words.rarity(word)
    }
}

/// The scores of a reranker.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Reranked {
    /// One per candidate, higher is better, in the order of the candidates.
    pub scores: Vec<f64>,
    pub cut: Truncation,
    /// Requests made, or texts read by a built-in model.
    pub calls: usize,
}

/// Scores candidates for a better order.
pub trait Reranker: Send + Sync {
    /// Everything that affects the scores, as text.
    fn id(&self) -> String;

    /// What must be configured first, such as a key; `None` if ready.
    fn missing_setting(&self) -> Option<&str> {
        None
    }

    /// The host that gets a key only because the configuration says so, which its user may not have written.
    fn unconfirmed_key_host(&self) -> Option<&str> {
        None
    }

    /// The remote host that gets the texts, if any.
    fn remote_host(&self) -> Option<&str> {
        None
    }

    /// Scores the candidates.
    fn rerank(&self, request: &RerankRequest<'_>) -> Result<Reranked, RetrievalError>;
}

/// An entry of the registry.
#[expect(missing_docs, reason = "field names say it")]
pub struct RerankerEntry {
    /// The name used in `provider: …`.
    pub name: &'static str,
    pub about: &'static str,
    open: Option<Open>,
}

type Open = fn(&RerankProviderV1, &ProviderEnv<'_>) -> Result<Box<dyn Reranker>, RetrievalError>;

/// All rerankers, in listing order.
pub static RERANKERS: &[RerankerEntry] = &[
    RerankerEntry {
        name: "embedded",
        about: "what Karat has inside: how much of the query a text covers",
        open: Some(embedded::open),
    },
    RerankerEntry { name: "folder", about: "a cross-encoder of the BERT family in a folder", open: Some(folder::open) },
    RerankerEntry { name: "http", about: "a server with `/rerank` as Jina and Cohere have it", open: Some(http::open) },
    RerankerEntry { name: "none", about: "none; the order of the search is kept", open: None },
];

/// Opens a reranker; `None` if `none` is chosen. Files are read now; no connection is made before the first query.
pub fn open_reranker(
    config: &RerankProviderV1,
    around: &ProviderEnv<'_>,
) -> Result<Option<Box<dyn Reranker>>, RetrievalError> {
    let name = config.provider.as_str();
    let entry = RERANKERS.iter().find(|entry| entry.name == name);
    let entry = entry.ok_or_else(|| unknown("reranker", name, RERANKERS.iter().map(|entry| entry.name)))?;
    entry.open.map(|open| open(config, around)).transpose()
}
