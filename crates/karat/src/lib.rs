//! Karat as a library: everything with effects around the pure core.

pub mod baseline;
pub mod checkout;
pub mod comparison;
pub mod diagnostic;
pub mod document;
pub mod drift;
pub mod expect;
pub mod format;
pub mod gate;
pub mod git;
pub mod import;
pub mod ingest;
pub mod judge;
pub mod power;
pub mod profile;
pub mod ranking;
pub mod recorded;
pub mod report;
pub mod run;
pub mod sandbox;
pub mod scoring;
pub mod source;
pub mod store;
pub mod suite;
pub mod tool;
pub mod whole_file;
