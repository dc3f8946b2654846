//! Scores the pairs of one trial, and keeps those of a golden that count, or the best of a golden or a finding.

use super::assign::{Edge, quantum};
use super::decisions::Decisions;
use super::outcome::{Candidate, Parts, RefusedBy};
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

pub(super) struct PairScore {
    pub(super) counts: bool,
    pub(super) heuristic: f64,
    /// The same with what a judge said, where one did.
    pub(super) score: f64,
    pub(super) parts: Parts,
    pub(super) judged: Option<bool>,
    pub(super) refused_by: Option<RefusedBy>,
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
        let Self { heuristic, score, parts, judged, refused_by, .. } = self;
        self.is_candidate().then_some(Candidate { index, score, heuristic, parts, judged, refused_by })
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
        let profile = self.case.profile;
        let share = profile.heuristic_share;
        let (counts, refused_by) = match decided {
            Some(decided) if decided.matched => (true, None),
            Some(decided) => (false, Some(RefusedBy::Judge(decided.judgement))),
            None if self.decisions.unjudged.contains(&(golden, finding)) => (false, None),
            None if profile.uses_judge() => {
                let threshold = profile.judge_threshold;
                (false, (quantum(heuristic) < quantum(threshold)).then_some(RefusedBy::Score { threshold }))
            }
            None if quantum(heuristic) < self.threshold => {
                (false, Some(RefusedBy::Score { threshold: profile.threshold }))
            }
            None if !self.case.has_evidence(golden, &self.findings, finding, &parts) => {
                (false, Some(RefusedBy::NoEvidence))
            }
            None => (true, None),
        };
        Some(PairScore {
            counts,
            refused_by,
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
    fn bound(&self, bound: i64, index: u32) -> Ranked {
        Ranked { counts: self.counts_alone(bound), score: bound, index: Reverse(index) }
    }

    /// The same, where it is a candidate.
    pub(super) fn candidate_bound(&self, bound: i64, index: u32) -> Option<Ranked> {
        (bound > 0).then(|| self.bound(bound, index))
    }

    /// The score of a pair by file, lines and words, and the rank of `index`, one of the two, where it is a candidate.
    pub(super) fn candidate_rank(&self, golden: usize, finding: usize, index: u32) -> Option<(i64, Option<Ranked>)> {
        let pair = self.score(golden, finding)?;
        Some((quantum(pair.heuristic), pair.is_candidate().then(|| pair.ranked(index))))
    }
}

/// Sees the findings of one golden, and keeps the pairs that count and the best candidates.
pub(super) struct GoldenVisitor<'s, 'a> {
    pub(super) scorer: &'s PairScorer<'a>,
    pub(super) golden: u32,
    /// The two best candidates.
    pub(super) best: Top,
    pub(super) edges: Vec<Edge>,
    most: usize,
    /// Whether some pairs that count were not kept, and how much the least of the others weighs.
    pub(super) cut: bool,
    least: i64,
}

impl<'s, 'a> GoldenVisitor<'s, 'a> {
    pub(super) fn new(scorer: &'s PairScorer<'a>, golden: u32, most: usize) -> Self {
        Self { scorer, golden, best: Top::new(2), edges: Vec::new(), most, least: 0, cut: false }
    }

    pub(super) fn add(&mut self, pair: &PairScore, finding: u32) {
        if pair.counts && (!self.cut || pair.weight() > self.least) {
            self.edges.push(Edge { row: self.golden, column: finding, weight: pair.weight() });
            if self.edges.len() >= self.most.saturating_mul(2) {
                self.keep_best();
            }
        }
        if pair.is_candidate() {
            self.best.add(pair.ranked(finding));
        }
    }

    fn keep_best(&mut self) {
        if self.edges.len() <= self.most {
            return;
        }
        self.edges.select_nth_unstable_by_key(self.most - 1, |edge| Reverse(edge.weight));
        self.edges.truncate(self.most);
        self.least = self.edges.iter().map(|edge| edge.weight).min().unwrap_or(0);
        self.cut = true;
    }

    pub(super) fn finish(&mut self) {
        self.keep_best();
        self.edges.sort_unstable_by_key(|edge| edge.column);
    }
}

impl PairVisitor for GoldenVisitor<'_, '_> {
    fn wants(&self, bound: i64, index: u32) -> bool {
        let new = self.scorer.bound(bound, index);
        (new.counts && (!self.cut || bound > self.least)) || (bound > 0 && self.best.has_room_for(new))
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

/// Sees the pairs of one golden or finding, and keeps the best.
pub(super) struct TopVisitor<S, R> {
    /// The score of a pair by file, lines and words, and its rank where it is a candidate.
    pub(super) score: S,
    /// The best rank of a pair that scores at most this; none where it is no candidate.
    pub(super) best_rank: R,
    pub(super) top: Top,
}

impl<S, R> PairVisitor for TopVisitor<S, R>
where
    S: Fn(u32) -> Option<(i64, Option<Ranked>)>,
    R: Fn(i64, u32) -> Option<Ranked>,
{
    fn wants(&self, bound: i64, index: u32) -> bool {
        (self.best_rank)(bound, index).is_some_and(|rank| self.top.has_room_for(rank))
    }

    fn visit(&mut self, index: u32) -> Option<i64> {
        let (score, rank) = (self.score)(index)?;
        if let Some(rank) = rank {
            self.top.add(rank);
        }
        Some(score)
    }
}
