//! Matches a trial by score: assigns findings to goldens, and explains what is left over.

use super::assign::{self, Chosen, Edge};
use super::decisions::Decisions;
use super::outcome::{
    Candidate, DecidedBy, Duplicate, Extra, ExtraReason, Flag, Match, Miss, MissReason, TrialResult, place_match,
};
use super::pair::PreparedCase;
use super::pair_scorer::Ranked;
use super::search::{Search, TrialPairs};
use crate::finding::Finding;
use crate::golden::{Acceptance, Golden};
use crate::profile::{Assignment, Profile};
use std::cmp::Reverse;
use std::collections::BTreeMap;

pub(super) fn by_score(case: &PreparedCase<'_>, findings: &[Finding], decisions: &Decisions<'_>) -> TrialResult {
    let (goldens, profile) = (&case.case.goldens, case.profile);
    let search = Search::new(case, findings, decisions);
    let pairs = search.all();
    let mut chosen = match profile.assignment {
        Assignment::Greedy => assign::greedy::assign(goldens.len(), findings.len(), &pairs.edges),
        Assignment::Exact => {
            let acceptance: Vec<Acceptance> = goldens.iter().map(|g| g.acceptance).collect();
            assign::exact::assign(findings.len(), &assign::tiers(&acceptance), &pairs.edges)
        }
    };
    if !pairs.cut.is_empty() {
        assign_cut_goldens(&search, &pairs, findings.len(), goldens, &mut chosen);
    }

    let mut result = TrialResult { crowded: pairs.cut.len(), ..TrialResult::default() };
    let (finding_of, golden_of) = assignment_maps(&chosen, goldens.len(), findings.len());
    for pair in &chosen {
        let (g, f) = (pair.row as usize, pair.column as usize);
        let Some(scored) = search.scorer.score(g, f) else { continue };
        let decided = decisions.pair(g, f);
        let found = Match {
            golden: g,
            finding: f,
            score: Some(scored.score),
            parts: scored.parts,
            decided_by: decided.map_or(DecidedBy::Score, |d| DecidedBy::Judge(d.judge.clone())),
            judgement: decided.map(|d| d.judgement),
            flags: if pair.ambiguous { vec![Flag::Ambiguous] } else { Vec::new() },
            runner_up: search.golden_candidate(g, pairs.of_golden[g].other_than(f)),
        };
        place_match(&mut result, found, goldens[g].acceptance);
    }
    let reasons = Reasons { decisions, profile, finding_of: &finding_of, golden_of: &golden_of };
    for (g, golden) in goldens.iter().enumerate() {
        if golden.is_required() && finding_of[g].is_none() {
            let first = pairs.of_golden[g].first;
            let best = search.golden_candidate(g, first);
            let counts = first.is_some_and(|first| first.counts());
            let mut unjudged: Vec<Candidate> = Vec::new();
            for &(_, f) in decisions.unjudged.range((g, 0)..(g + 1, 0)) {
                unjudged.extend(search.scorer.score(g, f).and_then(|pair| pair.candidate(f)));
            }
            let why = if findings.is_empty() {
                MissReason::NothingReported
            } else {
                reasons.miss_reason(g, best.as_ref(), counts, &unjudged)
            };
            let flags = if matches!(why, MissReason::Unjudged { .. }) { vec![Flag::Unjudged] } else { Vec::new() };
            result.misses.push(Miss { golden: g, best, why, flags });
        }
    }
    let mut repeats = repeats(&pairs.edges, &finding_of, &golden_of, goldens);
    let mut left: Vec<usize> = (0..findings.len()).filter(|f| golden_of[*f].is_none()).collect();
    if pairs.cut.is_empty() {
        left.retain(|f| repeats[*f].is_none());
    }
    let best_goldens = search.best_goldens(&pairs, &left);
    if !pairs.cut.is_empty() {
        for (&f, best) in left.iter().zip(&best_goldens) {
            let counting = best.filter(|best| best.counts()).map(|best| best.index as usize);
            repeats[f] = repeats[f].or(counting);
        }
    }
    let mut best_of: Vec<Option<Ranked>> = vec![None; findings.len()];
    for (&f, best) in left.iter().zip(&best_goldens) {
        best_of[f] = *best;
    }
    let unjudged: BTreeMap<usize, usize> = decisions.unjudged.iter().rev().map(|&(g, f)| (f, g)).collect();
    for f in (0..findings.len()).filter(|f| golden_of[*f].is_none()) {
        if let Some(golden) = repeats[f] {
            let scored = search.scorer.score(golden, f);
            if goldens[golden].acceptance == Acceptance::Trap {
                let best = scored.and_then(|scored| scored.candidate(golden));
                let why = ExtraReason::Trap { golden };
                result.extras.push(Extra { finding: f, best, why, flags: vec![Flag::Trap] });
            } else {
                let score = scored.map(|scored| scored.score);
                result.duplicates.push(Duplicate { finding: f, golden: Some(golden), score, flags: Vec::new() });
            }
            continue;
        }
        let best = search.finding_candidate(f, best_of[f]);
        let why = match unjudged.get(&f) {
            Some(golden) => ExtraReason::Unjudged { golden: Some(*golden) },
            None if goldens.is_empty() => ExtraReason::CleanCase,
            None => reasons.extra_reason(f, best.as_ref()),
        };
        let flags = if matches!(why, ExtraReason::Unjudged { .. }) { vec![Flag::Unjudged] } else { Vec::new() };
        result.extras.push(Extra { finding: f, best, why, flags });
    }
    result.extras.sort_by_key(|extra| extra.finding);
    result
}

/// Gives each unassigned golden whose edges were cut the best finding that is still free.
fn assign_cut_goldens(
    search: &Search<'_>,
    pairs: &TrialPairs,
    findings: usize,
    goldens: &[Golden],
    chosen: &mut Vec<Chosen>,
) {
    let (finding_of, golden_of) = assignment_maps(chosen, goldens.len(), findings);
    let mut free: Vec<usize> = (0..findings).filter(|f| golden_of[*f].is_none()).collect();
    let mut open: Vec<u32> = pairs.cut.iter().copied().filter(|g| finding_of[*g as usize].is_none()).collect();
    open.sort_by_key(|g| (goldens[*g as usize].acceptance, *g));
    for row in open {
        let counting = free.iter().enumerate().filter_map(|(at, &f)| {
            let scored = search.scorer.score(row as usize, f).filter(|scored| scored.counts)?;
            Some((assign::quantum(scored.score), Reverse(at)))
        });
        if let Some((_, Reverse(at))) = counting.max() {
            chosen.push(Chosen { row, column: free.remove(at) as u32, ambiguous: false });
        }
    }
    chosen.sort_unstable();
}

/// Explains why goldens and findings are left over.
struct Reasons<'a> {
    decisions: &'a Decisions<'a>,
    profile: &'a Profile,
    finding_of: &'a [Option<usize>],
    golden_of: &'a [Option<usize>],
}

impl Reasons<'_> {
    fn is_worth_asking(&self, candidate: &Candidate) -> bool {
        assign::quantum(candidate.heuristic) >= assign::quantum(self.profile.judge_threshold)
    }

    /// Whether a candidate that does not count scores enough all the same.
    fn reaches_threshold(&self, candidate: &Candidate) -> bool {
        assign::quantum(candidate.heuristic) >= assign::quantum(self.profile.threshold)
    }

    fn miss_reason(&self, g: usize, best: Option<&Candidate>, counts: bool, unjudged: &[Candidate]) -> MissReason {
        let nearer = |a: &&Candidate, b: &&Candidate| {
            assign::quantum(a.heuristic).cmp(&assign::quantum(b.heuristic)).then(b.index.cmp(&a.index))
        };
        if let Some(candidate) = unjudged.iter().max_by(nearer) {
            return MissReason::Unjudged { finding: Some(candidate.index) };
        }
        let Some(best) = best else { return MissReason::NoCandidate };
        let (finding, score) = (best.index, best.heuristic);
        match (self.golden_of[finding], self.decisions.pair(g, finding)) {
            (Some(by), _) if counts => MissReason::Taken { finding, by },
            (_, Some(decided)) => MissReason::Refused { finding, judgement: decided.judgement },
            (_, None) if !self.profile.uses_judge() && self.reaches_threshold(best) => {
                MissReason::PathAlone { finding }
            }
            (_, None) if !self.profile.uses_judge() => {
                MissReason::BelowThreshold { finding, score, threshold: self.profile.threshold }
            }
            (matched_to, None) if self.is_worth_asking(best) => MissReason::NotAsked { finding, matched_to },
            (_, None) => MissReason::NotWorthAsking { finding, score, threshold: self.profile.judge_threshold },
        }
    }

    fn extra_reason(&self, f: usize, best: Option<&Candidate>) -> ExtraReason {
        let Some(best) = best else { return ExtraReason::NothingNear };
        let (golden, score) = (best.index, best.heuristic);
        match (self.finding_of[golden], self.decisions.pair(golden, f)) {
            (_, Some(decided)) => ExtraReason::Refused { golden, judgement: decided.judgement },
            (_, None) if !self.profile.uses_judge() && self.reaches_threshold(best) => {
                ExtraReason::PathAlone { golden }
            }
            (_, None) if !self.profile.uses_judge() => {
                ExtraReason::BelowThreshold { golden, score, threshold: self.profile.threshold }
            }
            (matched_to, None) if self.is_worth_asking(best) => ExtraReason::NotAsked { golden, matched_to },
            (_, None) => ExtraReason::NotWorthAsking { golden, score, threshold: self.profile.judge_threshold },
        }
    }
}

/// For each unassigned finding, the assigned golden that it repeats: the best pair that counts, true goldens before traps.
fn repeats(
    edges: &[Edge],
    finding_of: &[Option<usize>],
    golden_of: &[Option<usize>],
    goldens: &[Golden],
) -> Vec<Option<usize>> {
    let mut best: Vec<Option<(Reverse<Acceptance>, i64, usize)>> = vec![None; golden_of.len()];
    for edge in edges {
        let (g, f) = (edge.row as usize, edge.column as usize);
        let worth = (Reverse(goldens[g].acceptance), edge.weight);
        let improves = best[f].is_none_or(|(acceptance, weight, _)| worth > (acceptance, weight));
        if golden_of[f].is_none() && finding_of[g].is_some() && improves {
            best[f] = Some((worth.0, worth.1, g));
        }
    }
    best.into_iter().map(|best| best.map(|(_, _, golden)| golden)).collect()
}

fn assignment_maps(chosen: &[Chosen], goldens: usize, findings: usize) -> (Vec<Option<usize>>, Vec<Option<usize>>) {
    let mut finding_of = vec![None; goldens];
    let mut golden_of = vec![None; findings];
    for pair in chosen {
        finding_of[pair.row as usize] = Some(pair.column as usize);
        golden_of[pair.column as usize] = Some(pair.row as usize);
    }
    (finding_of, golden_of)
}
