//! Scores the pairs of one trial, and ranks the candidates of a golden or a finding.

use super::assign::quantum;
use super::decisions::Decisions;
use super::outcome::{Candidate, Parts};
use super::pair::{PreparedCase, PreparedFindings};
use std::cmp::Reverse;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    pub(super) counts: bool,
    /// In billionths.
    pub(super) score: i64,
}

/// A ranked candidate of a golden or of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ranked {
    pub(super) rank: Rank,
    pub(super) index: u32,
}

impl Ranked {
    pub(super) fn counts(&self) -> bool {
        self.rank.counts
    }

    pub(super) fn order(&self) -> (Rank, Reverse<u32>) {
        (self.rank, Reverse(self.index))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Best {
    pub(super) first: Option<Ranked>,
    pub(super) second: Option<Ranked>,
}

impl Best {
    pub(super) fn add(&mut self, new: Ranked) {
        let beats = |than: Option<Ranked>| than.is_none_or(|than| new.order() > than.order());
        if beats(self.first) {
            self.second = self.first.replace(new);
        } else if beats(self.second) {
            self.second = Some(new);
        }
    }

    pub(super) fn has_room_for(&self, new: Ranked) -> bool {
        self.second.is_none_or(|second| new.order() > second.order())
    }

    /// The best candidate that is not `index`.
    pub(super) fn other_than(&self, index: usize) -> Option<Ranked> {
        self.first.filter(|best| best.index as usize != index).or(self.second)
    }
}

/// What is made of a golden and a finding.
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
        Ranked { rank: Rank { counts: self.counts, score: quantum(score) }, index }
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
}
