//! What embedders and rerankers are, and what they are given and return.

use super::bm25::Bm25;
use super::{DocumentError, Result};
use karat_format::assessment::CutV1;
use karat_format::document::suggest::did_you_mean;
use karat_format::retrieval::EmbeddingProviderV1;
use karat_llm::http::Endpoint;
use karat_llm::provider::ProviderEnv;
use std::fmt::Display;
use std::ops::AddAssign;

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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelUse {
    /// Requests made, or texts read by a model.
    pub calls: usize,
    /// Texts longer than what the model reads.
    pub cut: CutV1,
    /// Tokens read; `None` if the model does not count them.
    pub tokens: Option<u64>,
}

impl AddAssign for ModelUse {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.cut += other.cut;
        self.tokens = match (self.tokens, other.tokens) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
    }
}

/// Unit vectors, or zeros for texts without content.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Embedded {
    /// By text: the vectors of its windows; none for a blank text.
    pub vectors: Vec<Vec<Vec<f32>>>,
    pub used: ModelUse,
}

pub trait Embedder: Send + Sync {
    /// Everything that affects the vectors, as text.
    fn id(&self) -> String;

    /// The server that gets the texts, if any.
    fn endpoint(&self) -> Option<&Endpoint> {
        None
    }

    fn embed(&self, texts: &[String], side: Side) -> Result<Embedded>;
}

pub(super) fn unusable_answer(who: impl Display, why: String) -> DocumentError {
    DocumentError::Failed(format!("{who} gave an answer that cannot be used: {why}"))
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
    /// Similarity by vectors, if available.
    pub likeness: Option<&'a [f64]>,
    pub(super) bm25: &'a Bm25,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reranked {
    /// One per candidate, higher is better, in the order of the candidates.
    pub scores: Vec<f64>,
    pub used: ModelUse,
}

/// Scores candidates for a better order.
pub trait Reranker: Send + Sync {
    /// Everything that affects the scores, as text.
    fn id(&self) -> String;

    /// The server that gets the texts, if any.
    fn endpoint(&self) -> Option<&Endpoint> {
        None
    }

    fn rerank(&self, request: &RerankRequest<'_>) -> Result<Reranked>;
}

/// A kind of embedder or reranker.
pub struct SearchProviderEntry<C, P: ?Sized> {
    /// The name used in `provider: …`.
    pub name: &'static str,
    /// `None` for `none`.
    pub(super) open: Option<Open<C, P>>,
}

type Open<C, P> = fn(&C, &ProviderEnv<'_>) -> Result<Box<P>>;

pub(super) fn open<C, P: ?Sized>(
    what: &str,
    entries: &[SearchProviderEntry<C, P>],
    name: &str,
    config: &C,
    env: &ProviderEnv<'_>,
) -> Result<Option<Box<P>>> {
    if let Some(entry) = entries.iter().find(|entry| entry.name == name) {
        return entry.open.map(|open| open(config, env)).transpose();
    }
    let known: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
    let hint = did_you_mean(name, known.iter().copied()).unwrap_or_else(|| format!("there are {}", known.join(", ")));
    Err(DocumentError::Usage(format!("unknown {what} `{name}`; {hint}")))
}
