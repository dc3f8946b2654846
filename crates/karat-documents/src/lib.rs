//! Documents: ingestion into sections ([`ingest`]), search ([`retrieval`]) and assessment against requirements ([`assess`]).

pub mod assess;
pub mod ingest;
pub mod retrieval;

use karat_format::document::suggest::nearest;

/// Suggests the known name that is nearest to an unknown one, or states what is known.
fn did_you_mean(name: &str, known: &[&str], otherwise: impl FnOnce() -> String) -> String {
    nearest(name, known.iter().copied()).map_or_else(otherwise, |near| format!("did you mean `{near}`?"))
}
