//! The pairs of a trial that matter: those that count, and the best few of each golden and each finding.
//!
//! Candidates are ranked on one scale. Pairs that count come first, by the score they are assigned by. The others follow by what
//! file, lines and words make of them, whatever a judge said. Of equals the earlier comes first.
//!
//! A small case is looked at pair by pair. In a large one [`Nearby`] leads to the pairs that can matter, and the results are
//! the same.

use super::assign::{Edge, quantum};
use super::decisions::Decisions;
use super::nearby::{Nearby, Pairs, Scratch, Visit};
use super::outcome::{Candidate, Parts};
use super::pair::{PreparedCase, PreparedFindings};
use super::text::Vocabulary;
use crate::finding::Finding;
use crate::profile::{PartialPath, Profile};
use rayon::prelude::*;
use std::cmp::Reverse;

/// Up to so many pairs of a trial are looked at one by one.
const MOST_ONE_BY_ONE: usize = 4096;

/// So many pairs that count are kept of a trial, which takes up to 320 MB while they are assigned.
const MOST_EDGES: usize = 10_000_000;

/// So many pairs that count are kept of a golden in any case.
const LEAST_EDGES: usize = 64;

/// So many goldens are looked at at the same time.
const GOLDENS_AT_ONCE: usize = 2048;

/// Where a candidate stands among others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    counts: bool,
    /// In billionths.
    score: i64,
}

/// A ranked candidate of a golden or of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ranked {
    rank: Rank,
    /// The other side.
    pub(super) index: u32,
}

impl Ranked {
    /// Whether the pair counts.
    pub(super) fn counts(&self) -> bool {
        self.rank.counts
    }

    fn order(&self) -> (Rank, Reverse<u32>) {
        (self.rank, Reverse(self.index))
    }
}

/// The two best candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Best {
    pub(super) first: Option<Ranked>,
    second: Option<Ranked>,
}

impl Best {
    fn add(&mut self, new: Ranked) {
        let beats = |than: Option<Ranked>| than.is_none_or(|than| new.order() > than.order());
        if beats(self.first) {
            self.second = self.first.replace(new);
        } else if beats(self.second) {
            self.second = Some(new);
        }
    }

    fn has_room_for(&self, new: Ranked) -> bool {
        self.second.is_none_or(|second| new.order() > second.order())
    }

    /// The best candidate that is not `index`.
    pub(super) fn other_than(&self, index: usize) -> Option<Ranked> {
        self.first.filter(|best| best.index as usize != index).or(self.second)
    }
}

/// What is made of a golden and a finding.
pub(super) struct PairScore {
    /// Whether the pair may become a match.
    pub(super) counts: bool,
    /// What file, lines and words make of it.
    pub(super) heuristic: f64,
    /// The same with what a judge said, where one did.
    pub(super) score: f64,
    pub(super) parts: Parts,
    pub(super) judged: Option<bool>,
    /// Whether somebody spoke of this very pair.
    named: bool,
}

impl PairScore {
    fn ranked(&self, index: u32) -> Ranked {
        let score = if self.counts { self.score } else { self.heuristic };
        Ranked { rank: Rank { counts: self.counts, score: quantum(score) }, index }
    }

    /// Whether it is a candidate at all: it has something in common, or somebody spoke of it.
    fn is_candidate(&self) -> bool {
        self.counts || self.named || quantum(self.heuristic) > 0
    }

    /// The weight it is assigned by. A pair that counts weighs something, however low a judge's confidence.
    fn weight(&self) -> i64 {
        quantum(self.score).max(1)
    }

    pub(super) fn candidate(self, index: usize) -> Option<Candidate> {
        let Self { heuristic, score, parts, judged, .. } = self;
        self.is_candidate().then_some(Candidate { index, score, heuristic, parts, judged })
    }
}

/// Scores the pairs of one trial.
pub(super) struct PairScorer<'a> {
    case: &'a PreparedCase<'a>,
    findings: PreparedFindings<'a>,
    pub(super) decisions: &'a Decisions<'a>,
    profile: &'a Profile,
    threshold: i64,
}

impl<'a> PairScorer<'a> {
    /// The score that file, lines and words give a pair; `None` where the profile forbids it.
    fn heuristic(&self, golden: usize, finding: usize) -> Option<f64> {
        Some(self.case.score(golden, &self.findings, finding, self.profile)?.0)
    }

    /// The pair's final score, and whether it counts; `None` where the profile forbids the pair.
    pub(super) fn score(&self, golden: usize, finding: usize) -> Option<PairScore> {
        let (heuristic, mut parts) = self.case.score(golden, &self.findings, finding, self.profile)?;
        let decided = self.decisions.about(golden, finding);
        let judge = decided.map(|d| if d.matched { d.confidence.unwrap_or(1.0) } else { 0.0 });
        parts.judge = judge;
        let share = self.profile.heuristic_share;
        Some(PairScore {
            counts: match decided {
                Some(decided) => decided.matched,
                None if self.profile.asks_a_judge() || self.decisions.unjudged.contains(&(golden, finding)) => false,
                None => quantum(heuristic) >= self.threshold && self.has_evidence(golden, finding, &parts),
            },
            heuristic,
            score: judge.map_or(heuristic, |judge| share * heuristic + (1.0 - share) * judge),
            parts,
            judged: decided.map(|d| d.matched),
            named: decided.is_some() && self.decisions.pairs.contains_key(&(golden, finding)),
        })
    }

    fn has_evidence(&self, golden: usize, finding: usize, parts: &Parts) -> bool {
        self.case.has_evidence(golden, &self.findings, finding, parts, self.profile)
    }

    /// Whether a pair that nobody spoke of and that scores so many billionths may count.
    fn counts_alone(&self, score: i64) -> bool {
        !self.profile.asks_a_judge() && score >= self.threshold
    }
}

/// All pairs of a trial that matter.
pub(super) struct TrialPairs {
    /// The pairs that count, by golden and finding; of a golden with very many, the best.
    pub(super) edges: Vec<Edge>,
    /// The best candidates of every golden.
    pub(super) of_golden: Vec<Best>,
    /// The best candidates of every finding, where all pairs were looked at.
    of_finding: Option<Vec<Best>>,
    /// Goldens of which not all pairs that count were kept.
    pub(super) cut: Vec<u32>,
}

/// Looks for the pairs of one trial.
pub(super) struct Search<'a> {
    pub(super) scorer: PairScorer<'a>,
    nearby: Option<Nearby>,
    goldens: u32,
    findings: u32,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        case: &'a PreparedCase<'a>,
        findings: &'a [Finding],
        decisions: &'a Decisions<'a>,
        vocabulary: &Vocabulary,
        profile: &'a Profile,
    ) -> Self {
        let pairs = case.case.goldens.len().saturating_mul(findings.len());
        Self::with_index(case, findings, decisions, vocabulary, profile, pairs > MOST_ONE_BY_ONE)
    }

    fn with_index(
        case: &'a PreparedCase<'a>,
        findings: &'a [Finding],
        decisions: &'a Decisions<'a>,
        vocabulary: &Vocabulary,
        profile: &'a Profile,
        indexed: bool,
    ) -> Self {
        let (goldens, reported) = (case.case.goldens.len() as u32, findings.len() as u32);
        let threshold = quantum(profile.threshold);
        let findings = case.prepare(findings, vocabulary, profile);
        let scorer = PairScorer { case, findings, decisions, profile, threshold };
        // With a threshold of 0 pairs count that have nothing in common, and scaled paths have parts in common that are no
        // directories of both.
        let indexed = indexed && !scorer.counts_alone(0) && profile.partial_path == PartialPath::Fixed;
        let nearby = indexed.then(|| Nearby::new(case, &scorer.findings, profile));
        Self { scorer, nearby, goldens, findings: reported }
    }

    /// Which finding is looked at first for a golden: another one for each, so that many equal goldens that cannot keep all their
    /// pairs do not all keep those with the same few findings.
    fn turn(&self, golden: u32) -> u32 {
        (u64::from(golden) * u64::from(self.findings) / u64::from(self.goldens.max(1))) as u32
    }

    fn pairs(&self) -> Pairs<'_> {
        Pairs { case: self.scorer.case, findings: &self.scorer.findings, profile: self.scorer.profile }
    }

    /// What to show of the finding that a golden's candidate names.
    pub(super) fn of_golden(&self, golden: usize, best: Option<Ranked>) -> Option<Candidate> {
        let index = best?.index as usize;
        self.scorer.score(golden, index)?.candidate(index)
    }

    /// What to show of the golden that a finding's candidate names.
    pub(super) fn of_finding(&self, finding: usize, best: Option<Ranked>) -> Option<Candidate> {
        let index = best?.index as usize;
        self.scorer.score(index, finding)?.candidate(index)
    }

    /// How many pairs that count are kept of each golden.
    pub(super) fn most_edges(&self) -> usize {
        (MOST_EDGES / (self.goldens as usize).max(1)).max(LEAST_EDGES)
    }

    /// All pairs that matter.
    pub(super) fn all(&self) -> TrialPairs {
        self.all_with(self.most_edges())
    }

    /// All pairs that matter, with at most so many pairs that count of each golden.
    fn all_with(&self, most: usize) -> TrialPairs {
        let mut found = TrialPairs { edges: Vec::new(), of_golden: Vec::new(), of_finding: None, cut: Vec::new() };
        let Some(nearby) = &self.nearby else {
            let mut of_finding = vec![Best::default(); self.findings as usize];
            for golden in 0..self.goldens {
                let mut seen = OfGolden::new(&self.scorer, golden, most, std::mem::take(&mut found.edges));
                let first = self.turn(golden);
                for finding in (first..self.findings).chain(0..first) {
                    let best = &mut of_finding[finding as usize];
                    let Some(pair) = self.scorer.score(golden as usize, finding as usize) else { continue };
                    if pair.is_candidate() {
                        best.add(pair.ranked(golden));
                    }
                    seen.add(&pair, finding);
                }
                seen.finish();
                found.note(&seen);
                found.edges = seen.edges;
            }
            found.of_finding = Some(of_finding);
            return found;
        };
        let scratch = || Scratch::new(self.findings as usize);
        let look = |scratch: &mut Scratch, golden: u32| {
            let mut seen = OfGolden::new(&self.scorer, golden, most, Vec::new());
            scratch.begin();
            let named = (golden as usize, 0)..(golden as usize + 1, 0);
            for (_, finding) in self.scorer.decisions.pairs.range(named).map(|(pair, _)| *pair) {
                scratch.skip(finding as u32);
                seen.see(finding as u32);
            }
            scratch.start_at(self.turn(golden) as usize, self.findings as usize);
            nearby.scan_golden(self.pairs(), golden, scratch, &mut seen);
            seen.finish();
            seen
        };
        for start in (0..self.goldens).step_by(GOLDENS_AT_ONCE) {
            let goldens = start..(start + GOLDENS_AT_ONCE as u32).min(self.goldens);
            let seen: Vec<OfGolden<'_, '_>> =
                goldens.into_par_iter().with_min_len(64).map_init(scratch, look).collect();
            for seen in seen {
                found.edges.extend_from_slice(&seen.edges);
                found.note(&seen);
            }
        }
        found
    }

    /// The best golden of each of the given findings.
    pub(super) fn best_goldens(&self, found: &TrialPairs, findings: &[usize]) -> Vec<Option<Ranked>> {
        if let Some(known) = &found.of_finding {
            return findings.iter().map(|finding| known[*finding].first).collect();
        }
        let Some(nearby) = &self.nearby else { return vec![None; findings.len()] };
        let mut named: Vec<(usize, u32)> =
            self.scorer.decisions.pairs.keys().map(|(golden, finding)| (*finding, *golden as u32)).collect();
        named.sort_unstable();
        let look = |scratch: &mut Scratch, finding: &usize| {
            let mut seen = OfFinding { scorer: &self.scorer, finding: *finding, first: None };
            scratch.begin();
            let from = named.partition_point(|(own, _)| own < finding);
            for (_, golden) in named[from..].iter().take_while(|(own, _)| own == finding) {
                scratch.skip(*golden);
                seen.see(*golden);
            }
            nearby.scan_finding(self.pairs(), *finding as u32, scratch, &mut seen);
            seen.first
        };
        let scratch = || Scratch::new(self.goldens as usize);
        findings.par_iter().with_min_len(64).map_init(scratch, look).collect()
    }

    /// Of each golden the findings that score so many billionths or more by file, lines and words, the best of them: at most
    /// `most`, best first.
    pub(super) fn nearest(&self, worth: i64, most: usize) -> Vec<Vec<(usize, f64)>> {
        // From 0 on, pairs are asked about that have nothing in common.
        self.tops(
            worth > 0,
            |golden| Nearest { scorer: &self.scorer, golden, worth, top: Top::new(most) },
            |_, nearest| {
                let score = |(_, Reverse(finding)): (i64, Reverse<u32>)| {
                    Some((finding as usize, self.scorer.heuristic(nearest.golden, finding as usize)?))
                };
                nearest.top.finish().into_iter().filter_map(score).collect()
            },
        )
    }

    /// The best candidates of each golden, at most `most`, best first.
    pub(super) fn best_candidates(&self, most: usize) -> Vec<Vec<Candidate>> {
        self.tops(
            true,
            |golden| Candidates { scorer: &self.scorer, golden, top: Top::new(most) },
            |golden, found| {
                let show = |(_, Reverse(finding)): (Rank, Reverse<u32>)| {
                    self.scorer.score(golden, finding as usize)?.candidate(finding as usize)
                };
                found.top.finish().into_iter().filter_map(show).collect()
            },
        )
    }

    fn tops<V: Visit, T: Send>(
        &self,
        indexed: bool,
        visitor: impl Fn(usize) -> V + Sync,
        finish: impl Fn(usize, V) -> Vec<T> + Sync,
    ) -> Vec<Vec<T>> {
        let one_by_one = |golden: u32| {
            let mut seen = visitor(golden as usize);
            for finding in 0..self.findings {
                seen.see(finding);
            }
            finish(golden as usize, seen)
        };
        let look = |nearby: &Nearby, scratch: &mut Scratch, golden: u32| {
            let mut seen = visitor(golden as usize);
            scratch.begin();
            let named = (golden as usize, 0)..(golden as usize + 1, 0);
            for (_, finding) in self.scorer.decisions.pairs.range(named).map(|(pair, _)| *pair) {
                scratch.skip(finding as u32);
                seen.see(finding as u32);
            }
            nearby.scan_golden(self.pairs(), golden, scratch, &mut seen);
            finish(golden as usize, seen)
        };
        match self.nearby.as_ref().filter(|_| indexed) {
            None => (0..self.goldens).map(one_by_one).collect(),
            Some(nearby) => {
                let scratch = || Scratch::new(self.findings as usize);
                let look = |scratch: &mut Scratch, golden| look(nearby, scratch, golden);
                (0..self.goldens).into_par_iter().with_min_len(64).map_init(scratch, look).collect()
            }
        }
    }
}

impl TrialPairs {
    fn note(&mut self, seen: &OfGolden<'_, '_>) {
        self.of_golden.push(seen.best);
        if seen.cut {
            self.cut.push(seen.golden);
        }
    }
}

/// Sees the findings of one golden, and keeps the pairs that count and the best candidates.
struct OfGolden<'s, 'a> {
    scorer: &'s PairScorer<'a>,
    golden: u32,
    best: Best,
    /// Those of earlier goldens come before `start`.
    edges: Vec<Edge>,
    start: usize,
    most: usize,
    /// Whether some pairs that count were not kept, and how much the least of the others weighs.
    cut: bool,
    least: i64,
}

impl<'s, 'a> OfGolden<'s, 'a> {
    fn new(scorer: &'s PairScorer<'a>, golden: u32, most: usize, edges: Vec<Edge>) -> Self {
        let start = edges.len();
        Self { scorer, golden, best: Best::default(), edges, start, most, least: 0, cut: false }
    }

    fn add(&mut self, pair: &PairScore, finding: u32) {
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

    /// Keeps the best pairs.
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

    fn finish(&mut self) {
        self.keep_best();
        self.edges[self.start..].sort_unstable_by_key(|edge| edge.column);
    }
}

impl Visit for OfGolden<'_, '_> {
    fn wants(&self, bound: i64, index: u32) -> bool {
        let counts = self.scorer.counts_alone(bound);
        let new = Ranked { rank: Rank { counts, score: bound }, index };
        (counts && (!self.cut || bound > self.least)) || (bound > 0 && self.best.has_room_for(new))
    }

    fn see(&mut self, finding: u32) -> Option<i64> {
        let pair = self.scorer.score(self.golden as usize, finding as usize)?;
        self.add(&pair, finding);
        Some(quantum(pair.heuristic))
    }
}

/// Sees the goldens of one finding, and keeps the best.
struct OfFinding<'s, 'a> {
    scorer: &'s PairScorer<'a>,
    finding: usize,
    first: Option<Ranked>,
}

impl Visit for OfFinding<'_, '_> {
    fn wants(&self, bound: i64, index: u32) -> bool {
        let new = Ranked { rank: Rank { counts: self.scorer.counts_alone(bound), score: bound }, index };
        bound > 0 && self.first.is_none_or(|first| new.order() > first.order())
    }

    fn see(&mut self, golden: u32) -> Option<i64> {
        let pair = self.scorer.score(golden as usize, self.finding)?;
        let new = pair.ranked(golden);
        if pair.is_candidate() && self.first.is_none_or(|first| new.order() > first.order()) {
            self.first = Some(new);
        }
        Some(quantum(pair.heuristic))
    }
}

/// The best of what is added.
struct Top<K> {
    most: usize,
    items: Vec<(K, Reverse<u32>)>,
    least: Option<(K, Reverse<u32>)>,
}

impl<K: Ord + Copy> Top<K> {
    fn new(most: usize) -> Self {
        Self { most, items: Vec::new(), least: None }
    }

    fn has_room_for(&self, item: (K, Reverse<u32>)) -> bool {
        self.most > 0 && self.least.is_none_or(|least| item > least)
    }

    fn add(&mut self, item: (K, Reverse<u32>)) {
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
    fn finish(mut self) -> Vec<(K, Reverse<u32>)> {
        self.keep_best();
        self.items.sort_unstable_by_key(|item| Reverse(*item));
        self.items
    }
}

/// Sees the findings of one golden, and keeps the best by file, lines and words.
struct Nearest<'s, 'a> {
    scorer: &'s PairScorer<'a>,
    golden: usize,
    worth: i64,
    top: Top<i64>,
}

impl Visit for Nearest<'_, '_> {
    fn wants(&self, bound: i64, index: u32) -> bool {
        bound >= self.worth && self.top.has_room_for((bound, Reverse(index)))
    }

    fn see(&mut self, finding: u32) -> Option<i64> {
        let score = quantum(self.scorer.heuristic(self.golden, finding as usize)?);
        if score >= self.worth {
            self.top.add((score, Reverse(finding)));
        }
        Some(score)
    }
}

/// Sees the findings of one golden, and keeps the best candidates.
struct Candidates<'s, 'a> {
    scorer: &'s PairScorer<'a>,
    golden: usize,
    top: Top<Rank>,
}

impl Visit for Candidates<'_, '_> {
    fn wants(&self, bound: i64, index: u32) -> bool {
        let rank = Rank { counts: self.scorer.counts_alone(bound), score: bound };
        bound > 0 && self.top.has_room_for((rank, Reverse(index)))
    }

    fn see(&mut self, finding: u32) -> Option<i64> {
        let pair = self.scorer.score(self.golden, finding as usize)?;
        if pair.is_candidate() {
            let Ranked { rank, index } = pair.ranked(finding);
            self.top.add((rank, Reverse(index)));
        }
        Some(quantum(pair.heuristic))
    }
}

#[cfg(test)]
mod tests;
