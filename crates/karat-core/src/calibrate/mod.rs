//! Fits profile parameters to human data: the weights of `sui` to rankings of tools, the matching rules to labelled pairs.
//!
//! Both are fitted on a simplex, weights of at least 0 that sum to 1, and regularized towards the present
//! weights, so that little data changes little. Both are measured on what was held out, beside the present
//! weights, and recommended only where they gain there what chance does not.

pub mod gain;
pub mod matching;
mod simplex;
pub mod sui;
