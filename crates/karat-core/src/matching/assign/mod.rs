//! One-to-one assignment over a sparse graph of pairs that count.

mod ambiguity;
pub mod exact;
mod graph;
pub mod greedy;

use crate::golden::{Acceptance, Golden};

/// A pair that counts: rows are goldens, columns are findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    pub row: u32,
    pub column: u32,
    /// The score in billionths: whole numbers make equal totals equal.
    pub weight: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Chosen {
    pub row: u32,
    pub column: u32,
    /// Another assignment without this pair is worth just as much.
    pub ambiguous: bool,
}

/// A score as a whole number of billionths.
pub fn quantum(score: f64) -> i64 {
    // Scores lie between 0 and 1, so the cast cannot overflow; a NaN becomes 0.
    (score * 1e9).round() as i64
}

/// How much a golden's acceptance lifts its pairs above all others: the rank of its tier among those present.
pub fn tiers(goldens: &[Golden]) -> Vec<u8> {
    let mut present: Vec<Acceptance> = goldens.iter().map(|golden| golden.acceptance).collect();
    present.sort_unstable();
    present.dedup();
    let rank = |golden: &Golden| present.iter().rev().position(|own| *own == golden.acceptance).unwrap_or(0);
    goldens.iter().map(|golden| u8::try_from(rank(golden)).unwrap_or(0)).collect()
}
