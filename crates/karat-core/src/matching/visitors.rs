//! What a scan over pairs keeps: edges and best candidates of a golden, the best golden of a finding, or the top few.

use super::assign::{Edge, quantum};
use super::pair_scorer::{Best, PairScore, PairScorer, Rank, Ranked};
use super::scratch::PairVisitor;
use std::cmp::Reverse;

/// Sees the findings of one golden, and keeps the pairs that count and the best candidates.
pub(super) struct GoldenVisitor<'s, 'a> {
    pub(super) scorer: &'s PairScorer<'a>,
    pub(super) golden: u32,
    pub(super) best: Best,
    /// Those of earlier goldens come before `start`.
    pub(super) edges: Vec<Edge>,
    pub(super) start: usize,
    pub(super) most: usize,
    /// Whether some pairs that count were not kept, and how much the least of the others weighs.
    pub(super) cut: bool,
    pub(super) least: i64,
}

impl<'s, 'a> GoldenVisitor<'s, 'a> {
    pub(super) fn new(scorer: &'s PairScorer<'a>, golden: u32, most: usize, edges: Vec<Edge>) -> Self {
        let start = edges.len();
        Self { scorer, golden, best: Best::default(), edges, start, most, least: 0, cut: false }
    }

    pub(super) fn add(&mut self, pair: &PairScore, finding: u32) {
        if pair.counts && (!self.cut || pair.weight() > self.least) {
            self.edges.push(Edge { row: self.golden, column: finding, weight: pair.weight() });
            if self.edges.len() - self.start >= self.most.saturating_mul(2) {
                self.keep_best();
            }
        }
        if pair.is_candidate() {
            self.best.add(pair.ranked(finding));
        }
    }

    pub(super) fn keep_best(&mut self) {
        let own = &mut self.edges[self.start..];
        if own.len() <= self.most {
            return;
        }
        own.select_nth_unstable_by_key(self.most - 1, |edge| Reverse(edge.weight));
        self.edges.truncate(self.start + self.most);
        self.least = self.edges[self.start..].iter().map(|edge| edge.weight).min().unwrap_or(0);
        self.cut = true;
    }

    pub(super) fn finish(&mut self) {
        self.keep_best();
        self.edges[self.start..].sort_unstable_by_key(|edge| edge.column);
    }
}

impl PairVisitor for GoldenVisitor<'_, '_> {
    fn wants(&self, bound: i64, index: u32) -> bool {
        let counts = self.scorer.counts_alone(bound);
        let new = Ranked { rank: Rank { counts, score: bound }, index };
        (counts && (!self.cut || bound > self.least)) || (bound > 0 && self.best.has_room_for(new))
    }

    fn visit(&mut self, finding: u32) -> Option<i64> {
        let pair = self.scorer.score(self.golden as usize, finding as usize)?;
        self.add(&pair, finding);
        Some(quantum(pair.heuristic))
    }
}

/// Sees the goldens of one finding, and keeps the best.
pub(super) struct FindingVisitor<'s, 'a> {
    pub(super) scorer: &'s PairScorer<'a>,
    pub(super) finding: usize,
    pub(super) first: Option<Ranked>,
}

impl PairVisitor for FindingVisitor<'_, '_> {
    fn wants(&self, bound: i64, index: u32) -> bool {
        let new = Ranked { rank: Rank { counts: self.scorer.counts_alone(bound), score: bound }, index };
        bound > 0 && self.first.is_none_or(|first| new.order() > first.order())
    }

    fn visit(&mut self, golden: u32) -> Option<i64> {
        let pair = self.scorer.score(golden as usize, self.finding)?;
        let new = pair.ranked(golden);
        if pair.is_candidate() && self.first.is_none_or(|first| new.order() > first.order()) {
            self.first = Some(new);
        }
        Some(quantum(pair.heuristic))
    }
}

pub(super) struct Top<K> {
    pub(super) most: usize,
    pub(super) items: Vec<(K, Reverse<u32>)>,
    pub(super) least: Option<(K, Reverse<u32>)>,
}

impl<K: Ord + Copy> Top<K> {
    pub(super) fn new(most: usize) -> Self {
        Self { most, items: Vec::new(), least: None }
    }

    pub(super) fn has_room_for(&self, item: (K, Reverse<u32>)) -> bool {
        self.most > 0 && self.least.is_none_or(|least| item > least)
    }

    pub(super) fn add(&mut self, item: (K, Reverse<u32>)) {
        if self.has_room_for(item) {
            self.items.push(item);
            // A few are kept in order at once, so that bounds rule out others early.
            if self.items.len() >= self.most.saturating_add(self.most.min(64)) {
                self.keep_best();
            } else if self.items.len() == self.most {
                self.least = self.items.iter().min().copied();
            }
        }
    }

    pub(super) fn keep_best(&mut self) {
        if self.items.len() > self.most {
            self.items.select_nth_unstable_by_key(self.most - 1, |item| Reverse(*item));
            self.items.truncate(self.most);
            self.least = self.items.iter().min().copied();
        }
    }

    /// Best first.
    pub(super) fn finish(mut self) -> Vec<(K, Reverse<u32>)> {
        self.keep_best();
        self.items.sort_unstable_by_key(|item| Reverse(*item));
        self.items
    }
}

/// Sees the findings of one golden, and keeps the best by file, lines and words.
pub(super) struct NearestVisitor<'s, 'a> {
    pub(super) scorer: &'s PairScorer<'a>,
    pub(super) golden: usize,
    pub(super) min_score: i64,
    pub(super) top: Top<i64>,
}

impl PairVisitor for NearestVisitor<'_, '_> {
    fn wants(&self, bound: i64, index: u32) -> bool {
        bound >= self.min_score && self.top.has_room_for((bound, Reverse(index)))
    }

    fn visit(&mut self, finding: u32) -> Option<i64> {
        let score = quantum(self.scorer.heuristic(self.golden, finding as usize)?);
        if score >= self.min_score {
            self.top.add((score, Reverse(finding)));
        }
        Some(score)
    }
}

/// Sees the findings of one golden, and keeps the best candidates.
pub(super) struct CandidateVisitor<'s, 'a> {
    pub(super) scorer: &'s PairScorer<'a>,
    pub(super) golden: usize,
    pub(super) top: Top<Rank>,
}

impl PairVisitor for CandidateVisitor<'_, '_> {
    fn wants(&self, bound: i64, index: u32) -> bool {
        let rank = Rank { counts: self.scorer.counts_alone(bound), score: bound };
        bound > 0 && self.top.has_room_for((rank, Reverse(index)))
    }

    fn visit(&mut self, finding: u32) -> Option<i64> {
        let pair = self.scorer.score(self.golden, finding as usize)?;
        if pair.is_candidate() {
            let Ranked { rank, index } = pair.ranked(finding);
            self.top.add((rank, Reverse(index)));
        }
        Some(quantum(pair.heuristic))
    }
}
