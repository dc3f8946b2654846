//! Matches a trial by score: assigns findings to goldens, and explains what is left over.

use super::assign::{self, Chosen, Edge};
use super::decisions::Decisions;
use super::outcome::{
    Candidate, DecidedBy, Duplicate, Extra, ExtraReason, Flag, Match, Miss, MissReason, TrialResult, place_match,
};
use super::pair::PreparedCase;
use super::pair_scorer::{PairScorer, Ranked};
use super::search::{Search, TrialPairs};
use crate::finding::Finding;
use crate::golden::{Acceptance, Golden};
use crate::profile::Assignment;
use std::cmp::Reverse;
use std::collections::BTreeMap;

pub(super) fn by_score(case: &PreparedCase<'_>, findings: &[Finding], decisions: &Decisions<'_>) -> TrialResult {
    let (goldens, profile) = (&case.case.goldens, case.profile);
    let search = Search::new(case, findings, decisions);
    let pairs = search.all();
    let mut chosen = match profile.assignment {
        Assignment::Greedy => assign::greedy::assign(goldens.len(), findings.len(), &pairs.edges),
        Assignment::Exact => assign::exact::assign(findings.len(), &assign::tiers(goldens), &pairs.edges),
    };
    if !pairs.cut.is_empty() {
        assign_cut_goldens(&search, &pairs, &mut chosen);
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
            runner_up: search.golden_candidate(g, pairs.of_golden[g].iter().copied().find(|best| best.index() != f)),
        };
        place_match(&mut result, found, goldens[g].acceptance);
    }
    for (g, golden) in goldens.iter().enumerate() {
        if golden.is_required() && finding_of[g].is_none() {
            let first = pairs.of_golden[g].first().copied();
            let best = search.golden_candidate(g, first);
            let counts = first.is_some_and(|first| first.counts);
            let unanswered = decisions.unjudged.range((g, 0)..(g + 1, 0));
            let unjudged = unanswered.filter_map(|&(_, f)| search.scorer.score(g, f)?.candidate(f));
            let why = match unjudged.max_by_key(|asked| (assign::quantum(asked.heuristic), Reverse(asked.index))) {
                Some(nearest) => MissReason::Unjudged { finding: Some(nearest.index) },
                None if findings.is_empty() => MissReason::NothingReported,
                None => miss_reason(&search.scorer, g, best.as_ref(), counts, &golden_of),
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
            let counting = best.filter(|best| best.counts).map(|best| best.index());
            repeats[f] = repeats[f].or(counting);
        }
    }
    let best_of: BTreeMap<usize, Option<Ranked>> = left.into_iter().zip(best_goldens).collect();
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
        let best = best_of.get(&f).copied().flatten().map(|best| best.index());
        let best = best.and_then(|golden| search.scorer.score(golden, f)?.candidate(golden));
        let why = match unjudged.get(&f) {
            Some(golden) => ExtraReason::Unjudged { golden: Some(*golden) },
            None if goldens.is_empty() => ExtraReason::CleanCase,
            None => extra_reason(&search.scorer, f, best.as_ref(), &finding_of),
        };
        let flags = if matches!(why, ExtraReason::Unjudged { .. }) { vec![Flag::Unjudged] } else { Vec::new() };
        result.extras.push(Extra { finding: f, best, why, flags });
    }
    result.extras.sort_by_key(|extra| extra.finding);
    result
}

/// Gives each unassigned golden whose edges were cut the best finding that is still free.
fn assign_cut_goldens(search: &Search<'_>, pairs: &TrialPairs, chosen: &mut Vec<Chosen>) {
    let PairScorer { case, findings, .. } = &search.scorer;
    let (goldens, findings) = (&case.case.goldens, findings.findings.len());
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

fn miss_reason(
    scorer: &PairScorer<'_>,
    g: usize,
    best: Option<&Candidate>,
    counts: bool,
    golden_of: &[Option<usize>],
) -> MissReason {
    let profile = scorer.case.profile;
    let Some(best) = best else { return MissReason::NoCandidate };
    let (finding, score) = (best.index, best.heuristic);
    match (golden_of[finding], scorer.decisions.pair(g, finding)) {
        (Some(by), _) if counts => MissReason::Taken { finding, by },
        (_, Some(decided)) => MissReason::Refused { finding, judgement: decided.judgement },
        (_, None) if !profile.uses_judge() && reaches(best, profile.threshold) => MissReason::PathAlone { finding },
        (_, None) if !profile.uses_judge() => {
            MissReason::BelowThreshold { finding, score, threshold: profile.threshold }
        }
        (matched_to, None) if reaches(best, profile.judge_threshold) => MissReason::NotAsked { finding, matched_to },
        (_, None) => MissReason::NotWorthAsking { finding, score, threshold: profile.judge_threshold },
    }
}

fn extra_reason(
    scorer: &PairScorer<'_>,
    f: usize,
    best: Option<&Candidate>,
    finding_of: &[Option<usize>],
) -> ExtraReason {
    let profile = scorer.case.profile;
    let Some(best) = best else { return ExtraReason::NothingNear };
    let (golden, score) = (best.index, best.heuristic);
    match (finding_of[golden], scorer.decisions.pair(golden, f)) {
        (_, Some(decided)) => ExtraReason::Refused { golden, judgement: decided.judgement },
        (_, None) if !profile.uses_judge() && reaches(best, profile.threshold) => ExtraReason::PathAlone { golden },
        (_, None) if !profile.uses_judge() => {
            ExtraReason::BelowThreshold { golden, score, threshold: profile.threshold }
        }
        (matched_to, None) if reaches(best, profile.judge_threshold) => ExtraReason::NotAsked { golden, matched_to },
        (_, None) => ExtraReason::NotWorthAsking { golden, score, threshold: profile.judge_threshold },
    }
}

fn reaches(candidate: &Candidate, threshold: f64) -> bool {
    assign::quantum(candidate.heuristic) >= assign::quantum(threshold)
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
