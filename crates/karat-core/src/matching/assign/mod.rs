//! One-to-one assignment over a sparse graph of pairs that count.

pub mod ambiguity;
pub mod exact;
mod graph;
pub mod greedy;

use crate::golden::Acceptance;

/// A pair that counts: rows are goldens, columns are findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Edge {
    pub row: u32,
    pub column: u32,
    /// The score in billionths: whole numbers make equal totals equal.
    pub weight: i64,
}

/// A chosen pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "field names say it")]
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

/// How much a row's acceptance lifts its pairs above all others: the rank of the row's tier among those present.
pub fn tiers(acceptance: &[Acceptance]) -> Vec<u8> {
    let mut present: Vec<Acceptance> = acceptance.to_vec();
    present.sort_unstable();
    present.dedup();
    let rank = |a: &Acceptance| present.iter().rev().position(|p| p == a).unwrap_or(0);
    acceptance.iter().map(|a| u8::try_from(rank(a)).unwrap_or(0)).collect()
}
