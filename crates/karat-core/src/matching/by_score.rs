//! Matches a trial by score: assigns findings to goldens, and explains what is left over.

use super::assign::{self, Chosen, Edge};
use super::decisions::{Decisions, PairVotes, SettledPair};
use super::outcome::{
    Candidate, DecidedBy, Duplicate, Extra, ExtraReason, Flag, Match, Miss, MissReason, RefusedBy, TrialResult,
    place_match,
};
use super::pair::PreparedCase;
use super::pair_scorer::{PairScorer, Ranked};
use super::refusal::{MOST_REFUSED, place_rank};
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
            votes: Vec::new(),
            flags: if pair.ambiguous { vec![Flag::Ambiguous] } else { Vec::new() },
            runner_up: search.golden_candidate(g, pairs.of_golden[g].iter().copied().find(|best| best.index() != f)),
        };
        let found = found.with_votes(decisions.votes.get(&(g, f)));
        place_match(&mut result, found, goldens[g].acceptance);
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
    // What repeats a trap is matched to it as well.
    let is_trap = |golden: &usize| goldens[*golden].acceptance == Acceptance::Trap;
    let matched_to: Vec<Option<usize>> =
        golden_of.iter().zip(&repeats).map(|(golden, repeated)| golden.or(repeated.filter(is_trap))).collect();
    for (g, golden) in goldens.iter().enumerate() {
        if golden.is_required() && finding_of[g].is_none() {
            let near = &pairs.of_golden[g];
            let counting = near.iter().copied().find(|near| near.counts);
            let counts = counting.is_some();
            let by_judges = refused(profile, decisions.pairs.range((g, 0)..(g + 1, 0)), |(_, f)| {
                search.scorer.score(g, f)?.candidate(f)
            });
            let unanswered = decisions.unjudged.range((g, 0)..(g + 1, 0));
            let unjudged = nearest(unanswered.filter_map(|&(_, f)| search.scorer.score(g, f)?.candidate(f)));
            let is_unjudged = unjudged.is_some();
            // A candidate that a judge refused tells more than one that scores higher and that nobody was asked about.
            let best = unjudged
                .or_else(|| by_judges.first().filter(|_| !counts).cloned())
                .or_else(|| search.golden_candidate(g, counting.or(near.first().copied())));
            let why = match &best {
                Some(asked) if is_unjudged => MissReason::Unjudged { finding: Some(asked.index) },
                _ if findings.is_empty() => MissReason::NothingReported,
                best => miss_reason(profile, best.as_ref(), counts, &matched_to),
            };
            let refused = if by_judges.is_empty() {
                let near = near.iter().filter_map(|near| search.golden_candidate(g, Some(*near)));
                near.filter(|near| near.refused_by.is_some()).collect()
            } else {
                by_judges
            };
            let tied = best.as_ref().and_then(|best| decisions.tied(g, best.index));
            let (votes, flags) = votes_and_flags(is_unjudged.then_some(Flag::Unjudged), tied);
            result.misses.push(Miss { golden: g, best, refused, why, votes, flags });
        }
    }
    let mut unjudged: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &(g, f) in &decisions.unjudged {
        unjudged.entry(f).or_default().push(g);
    }
    let mut judged: BTreeMap<usize, Vec<_>> = BTreeMap::new();
    for (place, decided) in &decisions.pairs {
        judged.entry(place.1).or_default().push((place, decided));
    }
    for f in (0..findings.len()).filter(|f| golden_of[*f].is_none()) {
        if let Some(golden) = repeats[f] {
            let scored = search.scorer.score(golden, f);
            let tied = decisions.tied(golden, f);
            if goldens[golden].acceptance == Acceptance::Trap {
                let best = scored.and_then(|scored| scored.candidate(golden));
                let (votes, flags) = votes_and_flags(Some(Flag::Trap), tied);
                result.extras.push(Extra { best, votes, flags, ..Extra::new(f, ExtraReason::Trap { golden }) });
            } else {
                let score = scored.map(|scored| scored.score);
                let (votes, flags) = votes_and_flags(None, tied);
                result.duplicates.push(Duplicate { score, votes, flags, ..Duplicate::new(f, Some(golden)) });
            }
            continue;
        }
        let candidate = |golden: usize| search.scorer.score(golden, f)?.candidate(golden);
        let by_judges = refused(profile, judged.remove(&f).into_iter().flatten(), |(golden, _)| candidate(golden));
        let unanswered = unjudged.remove(&f).unwrap_or_default();
        let is_unjudged = !unanswered.is_empty();
        let first = best_of.get(&f).copied().flatten().map(|best| best.index());
        let best = nearest(unanswered.iter().copied().filter_map(candidate))
            .or_else(|| by_judges.first().filter(|_| !is_unjudged).cloned())
            .or_else(|| candidate(first.filter(|_| !is_unjudged)?));
        let why = match &best {
            _ if goldens.is_empty() => ExtraReason::CleanCase,
            best if is_unjudged => {
                let golden = best.as_ref().map(|best| best.index).or(unanswered.first().copied());
                ExtraReason::Unjudged { golden }
            }
            best => extra_reason(profile, best.as_ref(), &finding_of),
        };
        let refused = match &best {
            Some(best) if by_judges.is_empty() && best.refused_by.is_some() => vec![best.clone()],
            _ => by_judges,
        };
        let tied = best.as_ref().and_then(|best| decisions.tied(best.index, f));
        let (votes, flags) = votes_and_flags(is_unjudged.then_some(Flag::Unjudged), tied);
        result.extras.push(Extra { finding: f, best, refused, why, votes, flags });
    }
    result.extras.sort_by_key(|extra| extra.finding);
    result
}

/// This flag, and the votes of an even split with theirs.
fn votes_and_flags(flag: Option<Flag>, tied: Option<&PairVotes<'_>>) -> (Vec<usize>, Vec<Flag>) {
    let flags = flag.into_iter().chain(tied.map(|_| Flag::Tied));
    (tied.map(|votes| votes.judgements.clone()).unwrap_or_default(), flags.collect())
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

/// The candidates among these pairs that judges refused, the nearest by place first.
fn refused<'p>(
    profile: &Profile,
    judged: impl Iterator<Item = (&'p (usize, usize), &'p SettledPair<'p>)>,
    candidate: impl Fn((usize, usize)) -> Option<Candidate>,
) -> Vec<Candidate> {
    let mut refused: Vec<Candidate> =
        judged.filter(|(_, decided)| !decided.matched).filter_map(|(place, _)| candidate(*place)).collect();
    refused.sort_by_key(|candidate| Reverse(place_rank(candidate, profile)));
    refused.truncate(MOST_REFUSED);
    refused
}

fn nearest(candidates: impl Iterator<Item = Candidate>) -> Option<Candidate> {
    candidates.max_by_key(|candidate| (assign::quantum(candidate.heuristic), Reverse(candidate.index)))
}

/// Why a golden with these candidates was missed; `counts` says whether the best one counts, and then it is assigned elsewhere.
fn miss_reason(profile: &Profile, best: Option<&Candidate>, counts: bool, matched_to: &[Option<usize>]) -> MissReason {
    let Some(best) = best else {
        return if profile.forbids_pairs() { MissReason::NoneAllowed } else { MissReason::NoCandidate };
    };
    let (finding, score) = (best.index, best.heuristic);
    match (matched_to[finding], best.refused_by) {
        (Some(by), None) if counts => MissReason::Taken { finding, by },
        (_, Some(RefusedBy::Judge(judgement))) => MissReason::Refused { finding, judgement },
        (_, Some(RefusedBy::NoEvidence)) => MissReason::PathAlone { finding },
        (_, Some(RefusedBy::Score { threshold })) if profile.uses_judge() => {
            MissReason::NotWorthAsking { finding, score, threshold }
        }
        (_, Some(RefusedBy::Score { threshold })) => MissReason::BelowThreshold { finding, score, threshold },
        (matched_to, None) => MissReason::NotAsked { finding, matched_to },
    }
}

/// Why a finding with this best golden matched nothing. Were the pair to count, the finding would be assigned or a repeat.
fn extra_reason(profile: &Profile, best: Option<&Candidate>, finding_of: &[Option<usize>]) -> ExtraReason {
    let Some(best) = best else {
        return if profile.forbids_pairs() { ExtraReason::NoneAllowed } else { ExtraReason::NothingNear };
    };
    let (golden, score) = (best.index, best.heuristic);
    match best.refused_by {
        Some(RefusedBy::Judge(judgement)) => ExtraReason::Refused { golden, judgement },
        Some(RefusedBy::NoEvidence) => ExtraReason::PathAlone { golden },
        Some(RefusedBy::Score { threshold }) if profile.uses_judge() => {
            ExtraReason::NotWorthAsking { golden, score, threshold }
        }
        Some(RefusedBy::Score { threshold }) => ExtraReason::BelowThreshold { golden, score, threshold },
        None => ExtraReason::NotAsked { golden, matched_to: finding_of[golden] },
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
