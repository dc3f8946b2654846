//! What embedders and rerankers are, and what they are given and return.

use super::RetrievalError;
use super::bm25::Bm25;
use super::cut::Truncation;
use crate::did_you_mean;
use karat_format::retrieval::EmbeddingProviderV1;
use karat_llm::http::Endpoint;

/// The role of a text; some models treat them differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Query,
    Passage,
}

impl Side {
    /// What a model wants before such texts.
    pub(super) fn prefix(self, config: &EmbeddingProviderV1) -> &str {
        let prefix = match self {
            Self::Query => &config.query_prefix,
            Self::Passage => &config.passage_prefix,
        };
        prefix.as_deref().unwrap_or_default()
    }
}

/// Unit vectors, or zeros for texts without content.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Embedded {
    /// By text: the vectors of its windows; none for a blank text.
    pub vectors: Vec<Vec<Vec<f32>>>,
    pub cut: Truncation,
    /// Requests made, or texts read by a built-in model.
    pub calls: usize,
}

pub trait Embedder: Send + Sync {
    /// Everything that affects the vectors, as text.
    fn id(&self) -> String;

    /// The server that gets the texts, if any.
    fn endpoint(&self) -> Option<&Endpoint> {
        None
    }

    fn embed(&self, texts: &[String], side: Side) -> Result<Embedded, RetrievalError>;
}

/// Normalises a vector. A zero vector stays zero; `None` if a number is not finite.
pub(super) fn unit(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let length = vector.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt();
    if !length.is_finite() {
        return None;
    }
    if length > 0.0 {
        vector.iter_mut().for_each(|number| *number = (f64::from(*number) / length) as f32);
    }
    Some(vector)
}

/// Cosine of two unit vectors.
pub(super) fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

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

#[derive(Clone, Debug, Default, PartialEq)]
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

    /// The server that gets the texts, if any.
    fn endpoint(&self) -> Option<&Endpoint> {
        None
    }

    fn rerank(&self, request: &RerankRequest<'_>) -> Result<Reranked, RetrievalError>;
}

pub(super) fn unknown(what: &'static str, name: &str, known: &[&str]) -> RetrievalError {
    let hint = did_you_mean(name, known, || format!("there are {}", known.join(", ")));
    RetrievalError::UnknownProvider { what, name: name.to_owned(), hint }
}
