//! Finds the pairs of a trial that matter: those that count, and the best few of each golden and each finding.
//!
//! Candidates are ranked on one scale. Pairs that count come first, by the score they are assigned by. The others follow by what
//! file, lines and words make of them, whatever a judge said. Of equals the earlier comes first.
//!
//! Small cases are scanned pair by pair, large ones through a [`CandidateIndex`]; the results are the same.

use super::assign::{Edge, quantum};
use super::candidate_index::CandidateIndex;
use super::decisions::Decisions;
use super::outcome::Candidate;
use super::pair::PreparedCase;
use super::pair_scorer::{GoldenVisitor, PairScorer, Ranked, Top, TopVisitor};
use super::scratch::{PairVisitor, Scratch};
use crate::finding::Finding;
use crate::profile::PartialPath;
use rayon::prelude::*;
use std::cmp::Reverse;

/// Trials with at most this many pairs are scanned pair by pair, without an index.
const MOST_ONE_BY_ONE: usize = 4096;

/// Maximum number of edges kept per trial; assigning them takes up to 320 MB.
const MOST_EDGES: usize = 10_000_000;

/// Minimum number of edges kept per golden.
const LEAST_EDGES: usize = 64;

/// Goldens scanned per parallel batch.
const GOLDENS_AT_ONCE: usize = 2048;

pub(super) struct TrialPairs {
    /// The pairs that count, by golden and finding; of a golden with very many, the best.
    pub(super) edges: Vec<Edge>,
    /// The two best candidates of every golden, the best first.
    pub(super) of_golden: Vec<Vec<Ranked>>,
    /// The best candidate of every finding, if all pairs were scanned.
    of_finding: Option<Vec<Option<Ranked>>>,
    /// Goldens of which not all pairs that count were kept.
    pub(super) cut: Vec<u32>,
}

pub(super) struct Search<'a> {
    pub(super) scorer: PairScorer<'a>,
    index: Option<CandidateIndex>,
    goldens: u32,
    findings: u32,
}

impl<'a> Search<'a> {
    pub(super) fn new(case: &'a PreparedCase<'a>, findings: &'a [Finding], decisions: &'a Decisions<'a>) -> Self {
        let pairs = case.case.goldens.len().saturating_mul(findings.len());
        Self::with_index(case, findings, decisions, pairs > MOST_ONE_BY_ONE)
    }

    fn with_index(
        case: &'a PreparedCase<'a>,
        findings: &'a [Finding],
        decisions: &'a Decisions<'a>,
        indexed: bool,
    ) -> Self {
        let (goldens, reported) = (case.case.goldens.len() as u32, findings.len() as u32);
        let threshold = quantum(case.profile.threshold);
        let scorer = PairScorer { case, findings: case.prepare(findings), decisions, threshold };
        // The index finds neither pairs with nothing in common nor parts of scaled paths that are no directories of both.
        let indexed = indexed && !scorer.counts_alone(0) && case.profile.partial_path == PartialPath::Fixed;
        let index = indexed.then(|| CandidateIndex::new(case, &scorer.findings));
        Self { scorer, index, goldens, findings: reported }
    }

    /// Differs per golden, so that many equal goldens that are cut do not all keep the same few findings.
    fn first_finding(&self, golden: u32) -> u32 {
        (u64::from(golden) * u64::from(self.findings) / u64::from(self.goldens.max(1))) as u32
    }

    /// What to show of the finding that a golden's candidate names.
    pub(super) fn golden_candidate(&self, golden: usize, best: Option<Ranked>) -> Option<Candidate> {
        let finding = best?.index();
        self.scorer.score(golden, finding)?.candidate(finding)
    }

    pub(super) fn most_edges(&self) -> usize {
        (MOST_EDGES / (self.goldens as usize).max(1)).max(LEAST_EDGES)
    }

    pub(super) fn all(&self) -> TrialPairs {
        self.all_with(self.most_edges())
    }

    fn all_with(&self, most: usize) -> TrialPairs {
        let mut found = TrialPairs { edges: Vec::new(), of_golden: Vec::new(), of_finding: None, cut: Vec::new() };
        let Some(index) = &self.index else {
            let mut of_finding = vec![None; self.findings as usize];
            for golden in 0..self.goldens {
                let mut visitor = GoldenVisitor::new(&self.scorer, golden, most);
                let first = self.first_finding(golden);
                for finding in (first..self.findings).chain(0..first) {
                    let Some(pair) = self.scorer.score(golden as usize, finding as usize) else { continue };
                    if pair.is_candidate() {
                        let best = &mut of_finding[finding as usize];
                        *best = (*best).max(Some(pair.ranked(golden)));
                    }
                    visitor.add(&pair, finding);
                }
                visitor.finish();
                found.add(visitor);
            }
            found.of_finding = Some(of_finding);
            return found;
        };
        let scratch = || Scratch::new(self.findings as usize);
        let scan = |scratch: &mut Scratch, golden: u32| {
            let mut visitor = GoldenVisitor::new(&self.scorer, golden, most);
            self.begin(golden, scratch, &mut visitor);
            scratch.start_at(self.first_finding(golden) as usize, self.findings as usize);
            index.scan_golden(&self.scorer, golden, scratch, &mut visitor);
            visitor.finish();
            visitor
        };
        for start in (0..self.goldens).step_by(GOLDENS_AT_ONCE) {
            let goldens = start..(start + GOLDENS_AT_ONCE as u32).min(self.goldens);
            let visitors: Vec<GoldenVisitor<'_, '_>> =
                goldens.into_par_iter().with_min_len(64).map_init(scratch, scan).collect();
            visitors.into_iter().for_each(|visitor| found.add(visitor));
        }
        found
    }

    /// Starts the scan of a golden with the findings that a judge decided about.
    fn begin(&self, golden: u32, scratch: &mut Scratch, visitor: &mut impl PairVisitor) {
        scratch.begin();
        let named = (golden as usize, 0)..(golden as usize + 1, 0);
        for (_, finding) in self.scorer.decisions.pairs.range(named).map(|(pair, _)| *pair) {
            scratch.skip(finding as u32);
            visitor.visit(finding as u32);
        }
    }

    pub(super) fn best_goldens(&self, found: &TrialPairs, findings: &[usize]) -> Vec<Option<Ranked>> {
        if let Some(known) = &found.of_finding {
            return findings.iter().map(|finding| known[*finding]).collect();
        }
        let Some(index) = &self.index else { return vec![None; findings.len()] };
        let mut named: Vec<(usize, u32)> =
            self.scorer.decisions.pairs.keys().map(|(golden, finding)| (*finding, *golden as u32)).collect();
        named.sort_unstable();
        let scan = |scratch: &mut Scratch, finding: &usize| {
            let score = |golden: u32| self.scorer.candidate_rank(golden as usize, *finding, golden);
            let best_rank = |bound, golden| self.scorer.candidate_bound(bound, golden);
            let mut visitor = TopVisitor { score, best_rank, top: Top::new(1) };
            scratch.begin();
            let from = named.partition_point(|(own, _)| own < finding);
            for (_, golden) in named[from..].iter().take_while(|(own, _)| own == finding) {
                scratch.skip(*golden);
                visitor.visit(*golden);
            }
            index.scan_finding(&self.scorer, *finding as u32, scratch, &mut visitor);
            visitor.top.finish().first().copied()
        };
        let scratch = || Scratch::new(self.goldens as usize);
        findings.par_iter().with_min_len(64).map_init(scratch, scan).collect()
    }

    /// For each golden, its best findings of at least `min_score` billionths without a judge; at most `most`, best first.
    pub(super) fn nearest(&self, min_score: i64, most: usize) -> Vec<Vec<(usize, f64)>> {
        let rank = |score: i64, finding: u32| {
            (score >= min_score).then_some(Ranked { counts: false, score, index: Reverse(finding) })
        };
        let score = |golden: usize, finding: u32| {
            let score = quantum(self.scorer.heuristic(golden, finding as usize)?);
            Some((score, rank(score, finding)))
        };
        let show = |golden, near: Ranked| Some((near.index(), self.scorer.heuristic(golden, near.index())?));
        // From 0 on, pairs are asked about that have nothing in common.
        self.tops(min_score > 0, most, score, rank, show)
    }

    /// The best candidates of each golden, at most `most`, best first.
    pub(super) fn best_candidates(&self, most: usize) -> Vec<Vec<Candidate>> {
        let score = |golden: usize, finding: u32| self.scorer.candidate_rank(golden, finding as usize, finding);
        let best_rank = |bound, finding| self.scorer.candidate_bound(bound, finding);
        self.tops(true, most, score, best_rank, |golden, best| self.golden_candidate(golden, Some(best)))
    }

    fn tops<T: Send>(
        &self,
        indexed: bool,
        most: usize,
        score: impl Fn(usize, u32) -> Option<(i64, Option<Ranked>)> + Sync,
        best_rank: impl Fn(i64, u32) -> Option<Ranked> + Sync,
        show: impl Fn(usize, Ranked) -> Option<T> + Sync,
    ) -> Vec<Vec<T>> {
        let visitor = |golden: u32| {
            let score = &score;
            let score = move |finding| score(golden as usize, finding);
            TopVisitor { score, best_rank: &best_rank, top: Top::new(most) }
        };
        let finish = |golden: u32, top: Top| -> Vec<T> {
            top.finish().into_iter().filter_map(|best| show(golden as usize, best)).collect()
        };
        let one_by_one = |golden: u32| {
            let mut found = visitor(golden);
            for finding in 0..self.findings {
                found.visit(finding);
            }
            finish(golden, found.top)
        };
        let Some(index) = self.index.as_ref().filter(|_| indexed) else {
            return (0..self.goldens).map(one_by_one).collect();
        };
        let scan = |scratch: &mut Scratch, golden: u32| {
            let mut found = visitor(golden);
            self.begin(golden, scratch, &mut found);
            index.scan_golden(&self.scorer, golden, scratch, &mut found);
            finish(golden, found.top)
        };
        let scratch = || Scratch::new(self.findings as usize);
        (0..self.goldens).into_par_iter().with_min_len(64).map_init(scratch, scan).collect()
    }
}

impl TrialPairs {
    fn add(&mut self, visitor: GoldenVisitor<'_, '_>) {
        self.edges.extend_from_slice(&visitor.edges);
        self.of_golden.push(visitor.best.finish());
        if visitor.cut {
            self.cut.push(visitor.golden);
        }
    }
}

#[cfg(test)]
mod tests;
