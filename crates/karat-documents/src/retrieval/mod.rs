//! Search over document sections: by words, by vectors, fused and reranked.
//!
//! An [`Index`] holds [`Passage`]s. BM25 finds them by words, as [`Analysis`] reads them in a [`language`], and an
//! [`embed::Embedder`] by vectors; the two lists are fused by rank, and a [`rerank::Reranker`] reorders the first hits. Texts
//! longer than what a model reads are [`cut`].

pub mod cut;
#[expect(missing_docs, reason = "field names say it")]
pub mod embed;
pub mod language;
#[expect(missing_docs, reason = "field names say it")]
pub mod rerank;

mod bm25;
mod folder;
mod http;
#[expect(missing_docs, reason = "field names say it")]
mod index;
mod options;
#[expect(missing_docs, reason = "field names say it")]
mod provider;
mod stop_words;
mod words;

#[cfg(test)]
mod tests;

pub use index::{Hit, Index, ListRank, ModelUse, Query, SearchResults};
pub use language::Language;
pub use options::SearchOptions;
pub use words::Analysis;

use karat_llm::provider::ProviderError;

/// A section to be searched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Passage {
    pub heading: String,
    pub body: String,
}

impl Passage {
    /// Heading and body, as searched.
    pub fn text(&self) -> String {
        match (self.heading.trim(), self.body.trim()) {
            ("", body) => body.to_owned(),
            (heading, "") => heading.to_owned(),
            (heading, body) => format!("{heading}\n\n{body}"),
        }
    }
}

/// Why a search is not possible.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum RetrievalError {
    #[error("unknown language `{word}`; {hint}")]
    UnknownLanguage { word: String, hint: String },
    #[error("unknown {what} `{name}`; {hint}")]
    UnknownProvider { what: &'static str, name: String, hint: String },
    #[error("{who} needs `{field}: …`")]
    Needs { who: String, field: &'static str },
    #[error("`{field}` cannot be used: {reason}")]
    BadValue { field: &'static str, reason: String },
    #[error(transparent)]
    Provider(#[from] ProviderError),
    #[error("{file}: {reason}")]
    BadModel { file: String, reason: String },
    #[error(
        "with `bm25_weight` {weight} the search needs vectors, and there is no embedder; name one, or set `bm25_weight: 1`"
    )]
    NoVectors { weight: f64 },
    #[error("{who} returned vectors of {found} numbers, but those of the index have {expected}; rebuild the index")]
    OtherVectors { who: String, found: usize, expected: usize },
    #[error("{who}: {why}")]
    Failed { who: String, why: String },
    #[error("{who} gave an answer that cannot be used: {why}")]
    BadAnswer { who: String, why: String },
}
