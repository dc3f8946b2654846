//! Errors of searching.

use karat_llm::provider::ProviderError;

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
