//! Karat as a library: everything with effects around the pure core.

pub mod diagnostic;
pub mod document;
pub mod import;
pub mod profile;
