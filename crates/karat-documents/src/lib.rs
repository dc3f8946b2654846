//! Documents: ingestion into sections ([`ingest`]), search ([`retrieval`]) and assessment against requirements ([`assess`]).

pub mod assess;
pub mod ingest;
pub mod retrieval;

use karat_llm::provider::ProviderError;

/// Why documents cannot be read, searched or assessed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// The caller asked for something that cannot be done.
    #[error("{0}")]
    Usage(String),
    /// A document, a template or a model cannot be used.
    #[error("{0}")]
    BadInput(String),
    /// A provider failed.
    #[error("{0}")]
    Failed(String),
}

impl From<ProviderError> for DocumentError {
    fn from(error: ProviderError) -> Self {
        Self::Failed(error.to_string())
    }
}

type Result<T, E = DocumentError> = std::result::Result<T, E>;
