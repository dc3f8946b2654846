//! Karat as a library: everything with effects around the pure core.

pub mod assess;
pub mod baseline;
pub mod checkout;
pub mod comparison;
pub mod diagnostic;
pub mod document;
pub mod drift;
pub mod exhibit;
pub mod expect;
pub mod format;
pub mod gate;
pub mod git;
pub mod import;
pub mod ingest;
pub mod judge;
pub mod plausibility;
pub mod power;
pub mod profile;
pub mod ranking;
pub mod recorded;
pub mod regular_file;
pub mod report;
pub mod retrieval;
pub mod run;
pub mod sandbox;
pub mod scoring;
pub(crate) mod secret;
pub mod source;
pub mod store;
pub mod suite;
pub mod tool;
pub mod trec;
pub mod whole_file;

/// The hash that content is known by: BLAKE3, in hex.
pub fn content_hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}
