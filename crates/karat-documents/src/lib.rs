//! Documents: ingestion into sections ([`ingest`]), search ([`retrieval`]) and assessment against requirements ([`assess`]).

pub mod assess;
pub mod ingest;
pub mod retrieval;

use karat_format::document::suggest::nearest;
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

/// Suggests the known name that is nearest to an unknown one, or states what is known.
fn did_you_mean(name: &str, known: &[&str], otherwise: impl FnOnce() -> String) -> String {
    nearest(name, known.iter().copied()).map_or_else(otherwise, |near| format!("did you mean `{near}`?"))
}
