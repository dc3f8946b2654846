//! Reads and rewrites source code: languages, symbols around lines, syntax highlighting, git repositories, and the lines a change
//! touched.

pub mod change;
pub mod colour;
pub mod drift;
pub mod git;
pub mod language;
pub mod repair;
pub mod rewrite;
pub mod symbols;

mod definition;

// Test helpers that other crates include refer to this crate by name.
#[cfg(test)]
extern crate self as karat_source;
