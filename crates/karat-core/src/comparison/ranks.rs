//! Rank sets of tools, from pairwise significance tests.

use super::all_pairs::PairTest;
use crate::metric::table::Direction;

/// Ranks, from 1, that hold a tool's true one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankSet {
    /// The best of them: 1 + the tools that are significantly better.
    pub low: usize,
    /// The worst of them: the number of tools − those that are significantly worse.
    pub high: usize,
}

impl PairTest {
    /// The better and the worse tool, where they differ significantly.
    pub fn decided(&self, direction: Direction, level: f64) -> Option<(usize, usize)> {
        let difference = self.difference.filter(|difference| *difference != 0.0)?;
        // Tolerance for 1 − 0.95, which is slightly more than 0.05.
        self.p_holm.filter(|p| *p <= 1.0 - level + 1e-12)?;
        let second_is_better = (difference > 0.0) == (direction == Direction::Up);
        Some(if second_is_better { (self.b, self.a) } else { (self.a, self.b) })
    }
}

/// The set of ranks of every tool, from the tests of all pairs (after Mogstad, Romano, Shaikh and Wilhelm 2024).
///
/// Holm keeps the chance of any wrong statement "this tool is better than that one" below 1 − level. Where none is wrong, every
/// set holds its tool's true rank; of tools that are equal in truth, all the ranks they share. So all sets hold at once with
/// the level's chance.
pub fn rank_sets(tools: usize, tests: &[PairTest], direction: Direction, level: f64) -> Vec<RankSet> {
    let mut sets = vec![RankSet { low: 1, high: tools }; tools];
    for (better, worse) in tests.iter().filter_map(|test| test.decided(direction, level)) {
        sets[better].high -= 1;
        sets[worse].low += 1;
    }
    sets
}

#[cfg(test)]
mod tests;
