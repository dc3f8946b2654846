//! Pure scoring core: goldens and findings in, a scorecard out.
//!
//! The entry point is [`scorecard::score`]. Nothing here opens a file, reads a clock or the environment, or
//! depends on hash order: equal inputs give bit-identical outputs.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "expectations of tests may be computed by the standard library")
)]

pub mod assessment;
pub mod calibrate;
pub mod clusters;
pub mod comparison;
pub mod finding;
pub mod golden;
pub mod identity;
pub mod ids;
pub mod judgement;
pub mod lines;
pub mod local_judge;
pub mod matching;
pub mod metric;
pub mod panel;
pub mod path;
pub mod pooling;
pub mod probe;
pub mod profile;
pub mod scorecard;
pub mod stats;
pub mod suite;
pub mod trec;
pub mod trial;

/// Singular and plural in messages.
pub mod wording {
    /// `1 case`, `2 cases`.
    pub fn count(n: usize, noun: &str) -> String {
        format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
    }

    /// A count with words that depend on it: `1 finding has`, `2 findings have`.
    pub fn plural(n: usize, one: &str, many: &str) -> String {
        format!("{n} {}", if n == 1 { one } else { many })
    }
}
