//! Why nothing can be searched.

use crate::judge::provider::ProviderError;

/// Why nothing can be searched.
#[derive(Debug, thiserror::Error)]
pub enum RetrievalError {
    /// No such language.
    #[error("there is no language `{word}`; {hint}")]
    UnknownLanguage {
        /// What was written.
        word: String,
        /// What was probably meant, or what there is.
        hint: String,
    },
    /// No such provider.
    #[error("there is no {what} `{name}`; {hint}")]
    UnknownProvider {
        /// What it would be.
        what: &'static str,
        /// What was written.
        name: String,
        /// What was probably meant, or what there is.
        hint: String,
    },
    /// A setting is missing.
    #[error("{who} needs `{field}: …`")]
    Needs {
        /// Who needs it.
        who: String,
        /// Which.
        field: &'static str,
    },
    /// A setting cannot be used.
    #[error("`{field}` cannot be used: {reason}")]
    BadValue {
        /// Which.
        field: &'static str,
        /// Why not, and what would do.
        reason: String,
    },
    /// An address or a key cannot be used.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// A file of a model cannot be used.
    #[error("{file}: {reason}")]
    BadModel {
        /// Which.
        file: String,
        /// Why not, and what would do.
        reason: String,
    },
    /// Vectors weigh something, and nobody makes them.
    #[error(
        "with `bm25_weight` {weight} the search needs vectors, and there is no embedder; name one, or set `bm25_weight: 1`"
    )]
    NoVectors {
        /// The weight of words.
        weight: f64,
    },
    /// The embedder is not the one that the index was made with, or does not do as it did.
    #[error("{who} gave vectors of {found} numbers, and those of the index have {expected}; make the index anew")]
    OtherVectors {
        /// Who was asked.
        who: String,
        /// Their length.
        found: usize,
        /// The length that was expected.
        expected: usize,
    },
    /// Somebody was asked and did not answer.
    #[error("{who}: {why}")]
    Failed {
        /// Who was asked.
        who: String,
        /// What happened.
        why: String,
    },
    /// The answer is not what was asked for.
    #[error("{who} gave an answer that cannot be used: {why}")]
    BadAnswer {
        /// Who was asked.
        who: String,
        /// What was seen.
        why: String,
    },
    /// The index cannot be written or read.
    #[error("the index of words cannot be used: {why}")]
    Index {
        /// What happened.
        why: String,
    },
}
