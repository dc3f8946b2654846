//! Numbers of a profile fitted to what people say: the weights of `sui` to their rankings of tools, and the rules of matching to
//! their labels of pairs.
//!
//! Both are fitted on a simplex, weights of at least 0 that sum to 1, and held back by a pull towards the weights of today,
//! so that little data changes little. Both are measured on what was held out, beside the weights of today, because a fit
//! that does not hold up there is none.

pub mod matching;
mod simplex;
mod squash;
pub mod sui;
