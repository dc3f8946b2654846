//! From goldens and findings to matches, misses and extras, each with its reasons.

pub mod assign;
pub mod decisions;
pub mod outcome;
pub mod pair;
pub mod text;
pub mod trial;
