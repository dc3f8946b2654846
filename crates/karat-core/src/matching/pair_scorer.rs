//! Scores the pairs of one trial, and keeps what a scan over them is for: the pairs of a golden that count, or the best
//! candidates of a golden or a finding.

use super::assign::{Edge, quantum};
use super::decisions::Decisions;
use super::outcome::{Candidate, Parts};
use super::pair::{PreparedCase, PreparedFindings};
use super::scratch::PairVisitor;
use std::cmp::Reverse;

/// A candidate's place among others: pairs that count first, then by score, of equals the earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ranked {
    pub(super) counts: bool,
    /// In billionths.
    pub(super) score: i64,
    pub(super) index: Reverse<u32>,
}

impl Ranked {
    pub(super) fn index(&self) -> usize {
        self.index.0 as usize
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Best {
    pub(super) first: Option<Ranked>,
    pub(super) second: Option<Ranked>,
}

impl Best {
    pub(super) fn add(&mut self, new: Ranked) {
        if Some(new) > self.first {
            self.second = self.first.replace(new);
        } else if Some(new) > self.second {
            self.second = Some(new);
        }
    }

    pub(super) fn other_than(&self, index: usize) -> Option<Ranked> {
        self.first.filter(|best| best.index() != index).or(self.second)
    }
}

pub(super) struct PairScore {
    pub(super) counts: bool,
    pub(super) heuristic: f64,
    /// The same with what a judge said, where one did.
    pub(super) score: f64,
    pub(super) parts: Parts,
    pub(super) judged: Option<bool>,
    pub(super) named: bool,
}

impl PairScore {
    pub(super) fn ranked(&self, index: u32) -> Ranked {
        let score = if self.counts { self.score } else { self.heuristic };
        Ranked { counts: self.counts, score: quantum(score), index: Reverse(index) }
    }

    /// Whether it is a candidate at all: it has something in common, or a judge decided it.
    pub(super) fn is_candidate(&self) -> bool {
        self.counts || self.named || quantum(self.heuristic) > 0
    }

    /// The weight it is assigned by. A pair that counts weighs something, however low a judge's confidence.
    pub(super) fn weight(&self) -> i64 {
        quantum(self.score).max(1)
    }

    pub(super) fn candidate(self, index: usize) -> Option<Candidate> {
        let Self { heuristic, score, parts, judged, .. } = self;
        self.is_candidate().then_some(Candidate { index, score, heuristic, parts, judged })
    }
}

pub(super) struct PairScorer<'a> {
    pub(super) case: &'a PreparedCase<'a>,
    pub(super) findings: PreparedFindings<'a>,
    pub(super) decisions: &'a Decisions<'a>,
    pub(super) threshold: i64,
}

impl<'a> PairScorer<'a> {
    /// The score that file, lines and words give a pair; `None` where the profile forbids it.
    pub(super) fn heuristic(&self, golden: usize, finding: usize) -> Option<f64> {
        Some(self.case.score(golden, &self.findings, finding)?.0)
    }

    /// The pair's final score, and whether it counts; `None` where the profile forbids the pair.
    pub(super) fn score(&self, golden: usize, finding: usize) -> Option<PairScore> {
        let (heuristic, mut parts) = self.case.score(golden, &self.findings, finding)?;
        let decided = self.decisions.pair(golden, finding);
        let judge = decided.map(|d| if d.matched { d.confidence.unwrap_or(1.0) } else { 0.0 });
        parts.judge = judge;
        let share = self.case.profile.heuristic_share;
        Some(PairScore {
            counts: match decided {
                Some(decided) => decided.matched,
                None if self.case.profile.uses_judge() || self.decisions.unjudged.contains(&(golden, finding)) => false,
                None => {
                    quantum(heuristic) >= self.threshold
                        && self.case.has_evidence(golden, &self.findings, finding, &parts)
                }
            },
            heuristic,
            score: judge.map_or(heuristic, |judge| share * heuristic + (1.0 - share) * judge),
            parts,
            judged: decided.map(|d| d.matched),
            named: decided.is_some() && self.decisions.pairs.contains_key(&(golden, finding)),
        })
    }

    /// Whether a pair without a decision may count at this score in billionths.
    pub(super) fn counts_alone(&self, score: i64) -> bool {
        !self.case.profile.uses_judge() && score >= self.threshold
    }

    /// The best that a pair without a decision may be that scores at most `bound` billionths.
    pub(super) fn bound(&self, bound: i64, index: u32) -> Ranked {
        Ranked { counts: self.counts_alone(bound), score: bound, index: Reverse(index) }
    }
}

/// Sees the findings of one golden, and keeps the pairs that count and the best candidates.
pub(super) struct GoldenVisitor<'s, 'a> {
    pub(super) scorer: &'s PairScorer<'a>,
    pub(super) golden: u32,
    pub(super) best: Best,
    /// Those of earlier goldens come before `start`.
    pub(super) edges: Vec<Edge>,
    start: usize,
    most: usize,
    /// Whether some pairs that count were not kept, and how much the least of the others weighs.
    pub(super) cut: bool,
    least: i64,
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

    fn keep_best(&mut self) {
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
        let new = self.scorer.bound(bound, index);
        (new.counts && (!self.cut || bound > self.least)) || (bound > 0 && Some(new) > self.best.second)
    }

    fn visit(&mut self, finding: u32) -> Option<i64> {
        let pair = self.scorer.score(self.golden as usize, finding as usize)?;
        self.add(&pair, finding);
        Some(quantum(pair.heuristic))
    }
}

/// The best few of many, at most `most`.
pub(super) struct Top {
    most: usize,
    items: Vec<Ranked>,
    least: Option<Ranked>,
}

impl Top {
    pub(super) fn new(most: usize) -> Self {
        Self { most, items: Vec::new(), least: None }
    }

    fn has_room_for(&self, item: Ranked) -> bool {
        self.most > 0 && Some(item) > self.least
    }

    fn add(&mut self, item: Ranked) {
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

    fn keep_best(&mut self) {
        if self.items.len() > self.most {
            self.items.select_nth_unstable_by_key(self.most - 1, |item| Reverse(*item));
            self.items.truncate(self.most);
            self.least = self.items.iter().min().copied();
        }
    }

    /// Best first.
    pub(super) fn finish(mut self) -> Vec<Ranked> {
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
    pub(super) top: Top,
}

impl PairVisitor for NearestVisitor<'_, '_> {
    fn wants(&self, bound: i64, index: u32) -> bool {
        let new = Ranked { counts: false, score: bound, index: Reverse(index) };
        bound >= self.min_score && self.top.has_room_for(new)
    }

    fn visit(&mut self, finding: u32) -> Option<i64> {
        let score = quantum(self.scorer.heuristic(self.golden, finding as usize)?);
        if score >= self.min_score {
            self.top.add(Ranked { counts: false, score, index: Reverse(finding) });
        }
        Some(score)
    }
}

/// Sees the pairs of one golden or finding, and keeps the best candidates.
pub(super) struct CandidateVisitor<'s, 'a, S> {
    pub(super) scorer: &'s PairScorer<'a>,
    /// The score of the pair with a finding or golden.
    pub(super) score: S,
    pub(super) top: Top,
}

impl<S: Fn(usize) -> Option<PairScore>> PairVisitor for CandidateVisitor<'_, '_, S> {
    fn wants(&self, bound: i64, index: u32) -> bool {
        bound > 0 && self.top.has_room_for(self.scorer.bound(bound, index))
    }

    fn visit(&mut self, index: u32) -> Option<i64> {
        let pair = (self.score)(index as usize)?;
        if pair.is_candidate() {
            self.top.add(pair.ranked(index));
        }
        Some(quantum(pair.heuristic))
    }
}
