//! Matches goldens with findings; the result is matches, misses and extras, each with its reason.

#![expect(missing_docs, reason = "names of fields and variants say it")]

pub mod assign;
pub mod by_identity;
mod by_score;
mod candidate_index;
pub mod decisions;
pub mod keywords;
pub(crate) mod lists;
pub mod outcome;
pub mod pair;
mod pair_scorer;
mod place;
pub mod questions;
pub mod refusal;
mod scratch;
mod search;
pub mod text;
pub mod trial;
