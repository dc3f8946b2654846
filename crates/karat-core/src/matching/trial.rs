//! One trial held against its case: every finding and every golden gets its outcome.

use super::assign::{self, Chosen, Edge};
use super::decisions::Decisions;
use super::outcome::{
    Candidate, DecidedBy, Duplicate, Extra, ExtraReason, Flag, Match, Miss, MissReason, Parts, TrialResult,
};
use super::pair::PreparedCase;
use super::search::{Ranked, Search, TrialPairs};
use super::text::Vocabulary;
use crate::finding::Finding;
use crate::golden::{Acceptance, Golden};
use crate::identity::key;
use crate::identity::matcher::{self, RefusedKey, Unfindable, Unmatched};
use crate::judgement::Classification;
use crate::profile::{Assignment, Method, Profile};
use crate::trial::{Outcome, Trial};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// Matches one trial by the profile's method. Conservation is asserted, `recorded` excepted.
pub fn match_trial(
    case: &PreparedCase<'_>,
    trial: &Trial,
    decisions: &Decisions<'_>,
    vocabulary: &Vocabulary,
    profile: &Profile,
) -> TrialResult {
    let goldens = &case.case.goldens;
    let findings = &trial.findings;
    if trial.outcome != Outcome::Reported {
        let mut result = TrialResult::default();
        for (golden, _) in goldens.iter().enumerate().filter(|(_, g)| g.is_required()) {
            let why = MissReason::TrialFailed(trial.outcome);
            result.misses.push(Miss { golden, best: None, why, flags: Vec::new() });
        }
        return result;
    }
    let mut result = match profile.method {
        Method::Score => by_score(case, findings, decisions, vocabulary, profile),
        Method::Identity => by_identity(case, findings, profile),
        Method::Recorded => by_record(case, findings, decisions),
        Method::Audit => by_audit(case, findings, decisions),
        Method::Verdict => uncompared(case, findings),
    };
    hear_of_extras(&mut result, findings, decisions);
    flag_outside_change(&mut result, case, findings);
    if profile.method != Method::Recorded {
        result.assert_conserved(findings.len(), goldens.iter().filter(|g| g.is_required()).count());
    }
    result
}

/// The best candidates of every golden, best first: what an explanation shows beyond the match itself.
pub fn best_candidates(
    case: &PreparedCase<'_>,
    trial: &Trial,
    decisions: &Decisions<'_>,
    vocabulary: &Vocabulary,
    profile: &Profile,
    most: usize,
) -> Vec<Vec<Candidate>> {
    Search::new(case, &trial.findings, decisions, vocabulary, profile).best_candidates(most)
}

/// Pairs that count by their score alone, as nobody decided them.
pub fn counted_by_score(
    case: &PreparedCase<'_>,
    trial: &Trial,
    decisions: &Decisions<'_>,
    vocabulary: &Vocabulary,
    profile: &Profile,
) -> Vec<(usize, usize)> {
    let search = Search::new(case, &trial.findings, decisions, vocabulary, profile);
    let counting = search.all().edges.into_iter().map(|edge| (edge.row as usize, edge.column as usize));
    counting.filter(|(golden, finding)| decisions.about(*golden, *finding).is_none()).collect()
}

fn by_score(
    case: &PreparedCase<'_>,
    findings: &[Finding],
    decisions: &Decisions<'_>,
    vocabulary: &Vocabulary,
    profile: &Profile,
) -> TrialResult {
    let goldens = &case.case.goldens;
    let search = Search::new(case, findings, decisions, vocabulary, profile);
    let pairs = search.all();
    let mut chosen = match profile.assignment {
        Assignment::Greedy => assign::greedy::assign(goldens.len(), findings.len(), &pairs.edges),
        Assignment::Exact => {
            let acceptance: Vec<Acceptance> = goldens.iter().map(|g| g.acceptance).collect();
            assign::exact::assign(findings.len(), &assign::tiers(&acceptance), &pairs.edges)
        }
    };
    if !pairs.cut.is_empty() {
        fill_up(&search, &pairs, findings.len(), goldens, &mut chosen);
    }

    let mut result = TrialResult { crowded: pairs.cut.len(), ..TrialResult::default() };
    let (finding_of, golden_of) = both_ways(&chosen, goldens.len(), findings.len());
    for pair in &chosen {
        let (g, f) = (pair.row as usize, pair.column as usize);
        let Some(scored) = search.scorer.score(g, f) else { continue };
        let decided = decisions.about(g, f);
        let found = Match {
            golden: g,
            finding: f,
            score: Some(scored.score),
            parts: scored.parts,
            decided_by: decided.map_or(DecidedBy::Score, |d| DecidedBy::Judge(d.judge.clone())),
            judgement: decided.map(|d| d.judgement),
            flags: if pair.ambiguous { vec![Flag::Ambiguous] } else { Vec::new() },
            runner_up: search.of_golden(g, pairs.of_golden[g].other_than(f)),
        };
        put(&mut result, found, goldens[g].acceptance);
    }
    let reasons = Reasons { decisions, profile, finding_of: &finding_of, golden_of: &golden_of };
    for (g, golden) in goldens.iter().enumerate() {
        if golden.is_required() && finding_of[g].is_none() {
            let first = pairs.of_golden[g].first;
            let best = search.of_golden(g, first);
            let counts = first.is_some_and(|first| first.counts());
            let mut unjudged: Vec<Candidate> = Vec::new();
            for &(_, f) in decisions.unjudged.range((g, 0)..(g + 1, 0)) {
                unjudged.extend(search.scorer.score(g, f).and_then(|pair| pair.candidate(f)));
            }
            let why = if findings.is_empty() {
                MissReason::NothingReported
            } else {
                reasons.of_miss(g, best.as_ref(), counts, &unjudged)
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
        let best = search.of_finding(f, best_of[f]);
        let why = match unjudged.get(&f) {
            Some(golden) => ExtraReason::Unjudged { golden: Some(*golden) },
            None if goldens.is_empty() => ExtraReason::CleanCase,
            None => reasons.of_extra(f, best.as_ref()),
        };
        let flags = if matches!(why, ExtraReason::Unjudged { .. }) { vec![Flag::Unjudged] } else { Vec::new() };
        result.extras.push(Extra { finding: f, best, why, flags });
    }
    result.extras.sort_by_key(|extra| extra.finding);
    result
}

/// Gives goldens that went out with nothing, and of which not all pairs took part, the best finding that is still free.
fn fill_up(search: &Search<'_>, pairs: &TrialPairs, findings: usize, goldens: &[Golden], chosen: &mut Vec<Chosen>) {
    let (finding_of, golden_of) = both_ways(chosen, goldens.len(), findings);
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

/// Says why goldens and findings are left over, from what became of their best candidates.
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

    fn of_miss(&self, g: usize, best: Option<&Candidate>, counts: bool, unjudged: &[Candidate]) -> MissReason {
        let nearer = |a: &&Candidate, b: &&Candidate| {
            assign::quantum(a.heuristic).cmp(&assign::quantum(b.heuristic)).then(b.index.cmp(&a.index))
        };
        if let Some(candidate) = unjudged.iter().max_by(nearer) {
            return MissReason::Unjudged { finding: Some(candidate.index) };
        }
        let Some(best) = best else { return MissReason::NoCandidate };
        let (finding, score) = (best.index, best.heuristic);
        match (self.golden_of[finding], self.decisions.about(g, finding)) {
            (Some(by), _) if counts => MissReason::Taken { finding, by },
            (_, Some(decided)) => MissReason::Refused { finding, judgement: decided.judgement },
            (_, None) if !self.profile.asks_a_judge() && self.reaches_threshold(best) => {
                MissReason::PathAlone { finding }
            }
            (_, None) if !self.profile.asks_a_judge() => {
                MissReason::BelowThreshold { finding, score, threshold: self.profile.threshold }
            }
            (matched_to, None) if self.is_worth_asking(best) => MissReason::NotAsked { finding, matched_to },
            (_, None) => MissReason::NotWorthAsking { finding, score, threshold: self.profile.judge_threshold },
        }
    }

    fn of_extra(&self, f: usize, best: Option<&Candidate>) -> ExtraReason {
        let Some(best) = best else { return ExtraReason::NothingNear };
        let (golden, score) = (best.index, best.heuristic);
        match (self.finding_of[golden], self.decisions.about(golden, f)) {
            (_, Some(decided)) => ExtraReason::Refused { golden, judgement: decided.judgement },
            (_, None) if !self.profile.asks_a_judge() && self.reaches_threshold(best) => {
                ExtraReason::PathAlone { golden }
            }
            (_, None) if !self.profile.asks_a_judge() => {
                ExtraReason::BelowThreshold { golden, score, threshold: self.profile.threshold }
            }
            (matched_to, None) if self.is_worth_asking(best) => ExtraReason::NotAsked { golden, matched_to },
            (_, None) => ExtraReason::NotWorthAsking { golden, score, threshold: self.profile.judge_threshold },
        }
    }
}

/// For each unassigned finding the golden, given to somebody else, that it repeats: the best pair that counts, a true golden
/// before a trap.
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

fn both_ways(chosen: &[Chosen], goldens: usize, findings: usize) -> (Vec<Option<usize>>, Vec<Option<usize>>) {
    let mut finding_of = vec![None; goldens];
    let mut golden_of = vec![None; findings];
    for pair in chosen {
        finding_of[pair.row as usize] = Some(pair.column as usize);
        golden_of[pair.column as usize] = Some(pair.row as usize);
    }
    (finding_of, golden_of)
}

/// A pair goes where its golden's acceptance says.
fn put(result: &mut TrialResult, found: Match, acceptance: Acceptance) {
    match acceptance {
        Acceptance::Required => result.matches.push(found),
        Acceptance::Acceptable => result.acceptable.push(found),
        Acceptance::Trap => {
            let mut flags = found.flags;
            flags.insert(0, Flag::Trap);
            let score = found.score.unwrap_or(1.0);
            let best = Candidate {
                index: found.golden,
                score,
                heuristic: score,
                parts: found.parts,
                judged: found.judgement.map(|_| true),
            };
            let why = ExtraReason::Trap { golden: found.golden };
            result.extras.push(Extra { finding: found.finding, best: Some(best), why, flags });
        }
    }
}

fn by_identity(case: &PreparedCase<'_>, findings: &[Finding], profile: &Profile) -> TrialResult {
    let goldens = &case.case.goldens;
    let rules = &profile.identity;
    let matched = matcher::match_all(goldens, findings, rules);
    let mut result = TrialResult::default();
    let mut finding_used = vec![false; findings.len()];
    for &(golden, finding, via) in &matched.matched {
        finding_used[finding] = true;
        let found = Match {
            golden,
            finding,
            score: None,
            parts: Parts::default(),
            decided_by: DecidedBy::Identity(via),
            judgement: None,
            flags: Vec::new(),
            runner_up: None,
        };
        put(&mut result, found, goldens[golden].acceptance);
    }
    for &(golden, why) in matched.unmatched.iter().filter(|(golden, _)| goldens[*golden].is_required()) {
        let why = match why {
            Unmatched::Unfindable(Unfindable::NoKey(missing)) => MissReason::NoKey(missing),
            Unmatched::Unfindable(Unfindable::Refused(why)) => MissReason::KeyRefused(why),
            Unmatched::Absent(_) if findings.is_empty() => MissReason::NothingReported,
            Unmatched::Absent(via) => MissReason::KeyAbsent(via),
            Unmatched::Used { via, finding, by } => MissReason::KeyUsed { via, finding, by },
        };
        result.misses.push(Miss { golden, best: None, why, flags: Vec::new() });
    }
    for &(finding, golden) in &matched.duplicates {
        finding_used[finding] = true;
        if goldens[golden].acceptance == Acceptance::Trap {
            let flags = vec![Flag::Trap];
            result.extras.push(Extra { finding, best: None, why: ExtraReason::Trap { golden }, flags });
        } else {
            result.duplicates.push(Duplicate { finding, golden: Some(golden), score: None, flags: Vec::new() });
        }
    }
    for (finding, f) in findings.iter().enumerate().filter(|(i, _)| !finding_used[*i]) {
        let keys = key::all_of_finding(f, rules);
        let refused: Option<Vec<RefusedKey>> = keys.iter().map(|key| key::refused(key, rules)).collect();
        let why = match refused.map(|refused| refused.first().copied()) {
            _ if goldens.is_empty() => ExtraReason::CleanCase,
            Some(None) => ExtraReason::NoKey(key::missing_of_finding(f)),
            Some(Some(why)) => ExtraReason::KeyRefused(why),
            None => ExtraReason::UnexpectedKey,
        };
        result.extras.push(Extra { finding, best: None, why, flags: Vec::new() });
    }
    result.extras.sort_by_key(|extra| extra.finding);
    result
}

/// Takes recorded matches as they stand, many to one included.
fn by_record(case: &PreparedCase<'_>, findings: &[Finding], decisions: &Decisions<'_>) -> TrialResult {
    let goldens = &case.case.goldens;
    let mut result = TrialResult::default();
    let mut golden_found = vec![false; goldens.len()];
    let mut finding_used = vec![false; findings.len()];
    let is_trap = |golden: usize| goldens[golden].acceptance == Acceptance::Trap;
    let stated = || decisions.pairs.iter().filter(|(_, decided)| decided.matched);
    // A finding that reports something true has not fallen into a trap, whatever else was said of it.
    let true_ones = stated().filter(|((golden, _), _)| !is_trap(*golden));
    for (&(golden, finding), decided) in true_ones.chain(stated().filter(|((golden, _), _)| is_trap(*golden))) {
        if is_trap(golden) && finding_used[finding] {
            continue;
        }
        golden_found[golden] = true;
        finding_used[finding] = true;
        let found = Match {
            golden,
            finding,
            score: decided.confidence,
            parts: Parts { judge: Some(decided.confidence.unwrap_or(1.0)), ..Parts::default() },
            decided_by: DecidedBy::Judge(decided.judge.clone()),
            judgement: Some(decided.judgement),
            flags: Vec::new(),
            runner_up: None,
        };
        put(&mut result, found, goldens[golden].acceptance);
    }
    for (golden, _) in goldens.iter().enumerate().filter(|(i, g)| g.is_required() && !golden_found[*i]) {
        let why = if findings.is_empty() { MissReason::NothingReported } else { MissReason::NotRecorded };
        result.misses.push(Miss { golden, best: None, why, flags: Vec::new() });
    }
    for finding in (0..findings.len()).filter(|f| !finding_used[*f]) {
        if decisions.unnamed.get(&finding).is_some_and(|decided| decided.matched) {
            result.duplicates.push(Duplicate { finding, golden: None, score: None, flags: Vec::new() });
        } else {
            let why = ExtraReason::NotRecorded;
            result.extras.push(Extra { finding, best: None, why, flags: Vec::new() });
        }
    }
    result.extras.sort_by_key(|extra| extra.finding);
    result
}

/// Takes an audit's word: the target is matched by the finding that the audit names, and every other finding is what the
/// audit calls it. A golden that is no target is not spoken of.
fn by_audit(case: &PreparedCase<'_>, findings: &[Finding], decisions: &Decisions<'_>) -> TrialResult {
    let goldens = &case.case.goldens;
    let (Some(audit), Some((judge, judgement))) = (decisions.audit.as_deref(), decisions.audited_by) else {
        let mut result = uncompared(case, findings);
        let unjudged = MissReason::Unjudged { finding: None };
        result.misses.iter_mut().for_each(|miss| (miss.why, miss.flags) = (unjudged, vec![Flag::Unjudged]));
        let unjudged = ExtraReason::Unjudged { golden: None };
        result.extras.iter_mut().for_each(|extra| (extra.why, extra.flags) = (unjudged, vec![Flag::Unjudged]));
        return result;
    };
    let marked = goldens.iter().position(|golden| golden.target && golden.is_required());
    let target = marked.or_else(|| goldens.iter().position(Golden::is_required));
    let named = audit.target.as_ref().filter(|target| target.found).and_then(|target| target.finding.as_ref());
    let by = named.and_then(|id| findings.iter().position(|finding| finding.id == *id));
    let mut result = TrialResult::default();
    if let (Some(golden), Some(finding)) = (target, by) {
        result.matches.push(Match {
            golden,
            finding,
            score: None,
            parts: Parts::default(),
            decided_by: DecidedBy::Judge(judge.clone()),
            judgement: Some(judgement),
            flags: Vec::new(),
            runner_up: None,
        });
    }
    let missed = |golden: &usize| !result.matches.iter().any(|found| found.golden == *golden);
    let required = (0..goldens.len()).filter(|golden| goldens[*golden].is_required()).filter(missed);
    let why = |golden| if Some(golden) == target { MissReason::AuditedMissing } else { MissReason::NotCompared };
    let miss = |golden| Miss { golden, best: None, why: why(golden), flags: Vec::new() };
    result.misses = required.map(miss).collect();
    // Of several classes of one finding the first stands.
    let classes: HashMap<&str, Classification> =
        audit.findings.iter().rev().map(|found| (found.finding.as_str(), found.classification)).collect();
    for (index, finding) in findings.iter().enumerate().filter(|(index, _)| Some(*index) != by) {
        let class = classes.get(finding.id.as_str()).copied();
        match class {
            Some(class) if class.is_about_target() && !result.matches.is_empty() => {
                result.duplicates.push(Duplicate { finding: index, golden: target, score: None, flags: Vec::new() });
            }
            _ => {
                let why = class.map_or(ExtraReason::NotCompared, ExtraReason::Audited);
                result.extras.push(Extra { finding: index, best: None, why, flags: Vec::new() });
            }
        }
    }
    result
}

fn uncompared(case: &PreparedCase<'_>, findings: &[Finding]) -> TrialResult {
    let required = case.case.goldens.iter().enumerate().filter(|(_, g)| g.is_required());
    let miss = |golden| Miss { golden, best: None, why: MissReason::NotCompared, flags: Vec::new() };
    let extra = |finding| Extra { finding, best: None, why: ExtraReason::NotCompared, flags: Vec::new() };
    TrialResult {
        misses: required.map(|(golden, _)| miss(golden)).collect(),
        extras: (0..findings.len()).map(extra).collect(),
        ..TrialResult::default()
    }
}

/// What is known of extras in themselves goes before why they match nothing. A trap is the suite's own word, and an audit's
/// word stands unless a model gave it and a person says otherwise.
fn hear_of_extras(result: &mut TrialResult, findings: &[Finding], decisions: &Decisions<'_>) {
    for extra in &mut result.extras {
        let Some(decided) = decisions.extras.get(&extra.finding) else { continue };
        let stands = match extra.why {
            ExtraReason::Trap { .. } => true,
            ExtraReason::Audited(_) => {
                !decided.judge.is_human() || decisions.is_classified_by_people(&findings[extra.finding].id)
            }
            _ => false,
        };
        if !stands {
            extra.why = if decided.valid { ExtraReason::Confirmed } else { ExtraReason::Refuted };
        }
    }
}

fn flag_outside_change(result: &mut TrialResult, case: &PreparedCase<'_>, findings: &[Finding]) {
    let Some(change) = &case.case.change else { return };
    let outside = |f: usize| change.excludes(findings[f].file.as_ref(), findings[f].lines());
    let matches = result.matches.iter_mut().chain(&mut result.acceptable).map(|m| (m.finding, &mut m.flags));
    let extras = result.extras.iter_mut().map(|e| (e.finding, &mut e.flags));
    let duplicates = result.duplicates.iter_mut().map(|d| (d.finding, &mut d.flags));
    for (finding, flags) in matches.chain(extras).chain(duplicates) {
        if outside(finding) {
            flags.push(Flag::OutsideChange);
        }
    }
}
