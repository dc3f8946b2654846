//! Karat as a library: everything with effects around the pure core.

pub mod drift;
pub mod git;
pub mod import;
pub mod source;
pub mod suite;
