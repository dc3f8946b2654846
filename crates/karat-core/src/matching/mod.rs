//! From goldens and findings to matches, misses and extras, each with its reasons.

pub mod assign;
