//! From goldens and findings to matches, misses and extras, each with its reasons.

pub mod assign;
pub mod decisions;
pub(crate) mod keywords;
pub(crate) mod lists;
mod nearby;
pub mod outcome;
pub mod pair;
mod place;
pub mod questions;
mod search;
pub mod text;
pub mod trial;
