//! Documents: ingestion into sections ([`ingest`]), search ([`retrieval`]) and assessment against requirements ([`assess`]).

pub mod assess;
pub mod ingest;
pub mod retrieval;
