//! One trial held against its case: every finding and every golden gets its outcome.

use super::assign::{self, Chosen, Edge};
use super::decisions::Decisions;
use super::outcome::{
    Candidate, DecidedBy, Duplicate, Extra, ExtraReason, Flag, Match, Miss, MissReason, Parts, TrialResult,
};
use super::pair::{PreparedCase, PreparedFindings};
use super::text::Vocabulary;
use crate::finding::Finding;
use crate::golden::{Acceptance, Golden};
use crate::identity::{key, matcher};
use crate::profile::{Assignment, Method, Profile};
use crate::trial::{Outcome, Trial};
use std::cmp::Reverse;

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

/// The best pairs seen so far of one golden or one finding.
#[derive(Clone, Default)]
struct Best {
    first: Option<Seen>,
    second: Option<Seen>,
}

/// A pair as one of its sides sees it. What the score is made of is looked up again for the few pairs that are shown.
#[derive(Clone, Copy)]
struct Seen {
    counts: bool,
    index: usize,
    score: f64,
}

impl Best {
    fn see(&mut self, seen: Seen) {
        if better(seen, self.first) {
            self.second = self.first.replace(seen);
        } else if better(seen, self.second) {
            self.second = Some(seen);
        }
    }

    /// The best pair with anyone but `index`.
    fn other_than(&self, index: usize) -> Option<Seen> {
        self.first.filter(|seen| seen.index != index).or(self.second)
    }
}

/// Pairs are seen in rising order of index, so an equal one never displaces an earlier one.
fn better(seen: Seen, than: Option<Seen>) -> bool {
    than.is_none_or(|than| (seen.counts, seen.score) > (than.counts, than.score))
}

/// A golden and a finding held together.
struct Held {
    counts: bool,
    score: f64,
    parts: Parts,
    judged: Option<bool>,
}

impl Held {
    /// The pair as the side sees it whose other side has this index.
    fn seen(&self, index: usize) -> Seen {
        Seen { counts: self.counts, index, score: self.score }
    }

    fn candidate(self, index: usize) -> Option<Candidate> {
        let worth_showing = self.counts || self.score > 0.0 || self.judged.is_some();
        worth_showing.then_some(Candidate { index, score: self.score, parts: self.parts, judged: self.judged })
    }
}

/// Everything needed to hold one golden and one finding together.
pub(super) struct Desk<'a> {
    case: &'a PreparedCase<'a>,
    findings: PreparedFindings<'a>,
    decisions: &'a Decisions<'a>,
    profile: &'a Profile,
    threshold: i64,
}

impl<'a> Desk<'a> {
    pub(super) fn new(
        case: &'a PreparedCase<'a>,
        findings: &'a [Finding],
        decisions: &'a Decisions<'a>,
        vocabulary: &Vocabulary,
        profile: &'a Profile,
    ) -> Self {
        let threshold = assign::quantum(profile.threshold);
        let findings = case.prepare(findings, vocabulary, profile);
        Self { case, findings, decisions, profile, threshold }
    }

    /// Whether a judge would have been asked about a candidate that nobody has decided, if that could change anything.
    fn worth_asking(&self, candidate: &Candidate) -> bool {
        let worth = assign::quantum(self.profile.judge_threshold);
        self.profile.asks_a_judge() && candidate.judged.is_none() && assign::quantum(candidate.score) >= worth
    }

    /// The score that file, lines and words give a pair; `None` where the profile forbids it.
    pub(super) fn heuristic(&self, g: usize, f: usize) -> Option<f64> {
        Some(self.case.score(g, &self.findings, f, self.profile)?.0)
    }

    /// The pair's final score, and whether it counts; `None` where the profile forbids the pair.
    fn hold(&self, g: usize, f: usize) -> Option<Held> {
        let (heuristic, mut parts) = self.case.score(g, &self.findings, f, self.profile)?;
        let decided = self.decisions.about(g, f);
        let judge = decided.map(|d| if d.matched { d.confidence.unwrap_or(1.0) } else { 0.0 });
        parts.judge = judge;
        let share = self.profile.heuristic_share;
        Some(Held {
            counts: match decided {
                Some(decided) => decided.matched,
                None if self.profile.asks_a_judge() || self.decisions.unjudged.contains(&(g, f)) => false,
                None => self.counts_by_score(g, f, heuristic, &parts),
            },
            score: judge.map_or(heuristic, |judge| share * heuristic + (1.0 - share) * judge),
            parts,
            judged: decided.map(|d| d.matched),
        })
    }

    /// Whether the score alone would let a candidate count that nobody judged.
    fn reaches_threshold(&self, candidate: &Candidate) -> bool {
        !self.profile.asks_a_judge() && assign::quantum(candidate.score) >= self.threshold
    }

    /// Whether a pair that nobody judged counts: its score reaches the threshold, and not by the path alone.
    fn counts_by_score(&self, g: usize, f: usize, heuristic: f64, parts: &Parts) -> bool {
        assign::quantum(heuristic) >= self.threshold
            && self.case.has_evidence(g, &self.findings, f, parts, self.profile)
    }

    /// What to show of the finding that a golden saw.
    fn of_golden(&self, g: usize, seen: Option<Seen>) -> Option<Candidate> {
        seen.and_then(|seen| self.hold(g, seen.index)?.candidate(seen.index))
    }

    /// What to show of the golden that a finding saw.
    fn of_finding(&self, f: usize, seen: Option<Seen>) -> Option<Candidate> {
        seen.and_then(|seen| self.hold(seen.index, f)?.candidate(seen.index))
    }
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
    let desk = Desk::new(case, &trial.findings, decisions, vocabulary, profile);
    let of_golden = |g: usize| {
        let held = (0..trial.findings.len()).filter_map(|f| Some((f, desk.hold(g, f)?)));
        let mut held: Vec<(usize, Held)> = held.collect();
        held.sort_by(|(_, a), (_, b)| {
            (b.counts, b.score).partial_cmp(&(a.counts, a.score)).unwrap_or(std::cmp::Ordering::Equal)
        });
        held.into_iter().filter_map(|(f, held)| held.candidate(f)).take(most).collect()
    };
    (0..case.case.goldens.len()).map(of_golden).collect()
}

/// Pairs that count by their score alone, as nobody decided them.
pub fn counted_by_score(
    case: &PreparedCase<'_>,
    trial: &Trial,
    decisions: &Decisions<'_>,
    vocabulary: &Vocabulary,
    profile: &Profile,
) -> Vec<(usize, usize)> {
    let desk = Desk::new(case, &trial.findings, decisions, vocabulary, profile);
    let counts =
        |&(g, f): &(usize, usize)| decisions.about(g, f).is_none() && desk.hold(g, f).is_some_and(|held| held.counts);
    let pairs = (0..case.case.goldens.len()).flat_map(|g| (0..trial.findings.len()).map(move |f| (g, f)));
    pairs.filter(counts).collect()
}

fn by_score(
    case: &PreparedCase<'_>,
    findings: &[Finding],
    decisions: &Decisions<'_>,
    vocabulary: &Vocabulary,
    profile: &Profile,
) -> TrialResult {
    let goldens = &case.case.goldens;
    let desk = Desk::new(case, findings, decisions, vocabulary, profile);
    let mut edges: Vec<Edge> = Vec::new();
    let mut of_golden = vec![Best::default(); goldens.len()];
    let mut of_finding = vec![Best::default(); findings.len()];
    for (g, best) in of_golden.iter_mut().enumerate() {
        for (f, best_of_finding) in of_finding.iter_mut().enumerate() {
            let Some(held) = desk.hold(g, f) else { continue };
            if held.counts {
                // A pair that counts weighs something, however low a judge's confidence.
                let weight = assign::quantum(held.score).max(1);
                edges.push(Edge { row: g as u32, column: f as u32, weight });
            }
            best.see(held.seen(f));
            best_of_finding.see(held.seen(g));
        }
    }

    let chosen = match profile.assignment {
        Assignment::Greedy => assign::greedy::assign(goldens.len(), findings.len(), &edges),
        Assignment::Exact => {
            let acceptance: Vec<Acceptance> = goldens.iter().map(|g| g.acceptance).collect();
            assign::exact::assign(findings.len(), &assign::tiers(&acceptance), &edges)
        }
    };

    let mut result = TrialResult::default();
    let (finding_of, golden_of) = both_ways(&chosen, goldens.len(), findings.len());
    for pair in &chosen {
        let (g, f) = (pair.row as usize, pair.column as usize);
        let Some(held) = desk.hold(g, f) else { continue };
        let decided = decisions.about(g, f);
        let found = Match {
            golden: g,
            finding: f,
            score: Some(held.score),
            parts: held.parts,
            decided_by: decided.map_or(DecidedBy::Score, |d| DecidedBy::Judge(d.judge.clone())),
            judgement: decided.map(|d| d.judgement),
            flags: if pair.ambiguous { vec![Flag::Ambiguous] } else { Vec::new() },
            runner_up: desk.of_golden(g, of_golden[g].other_than(f)),
        };
        put(&mut result, found, goldens[g].acceptance);
    }
    for (g, golden) in goldens.iter().enumerate() {
        if golden.is_required() && finding_of[g].is_none() {
            let best = desk.of_golden(g, of_golden[g].first);
            let counts = of_golden[g].first.is_some_and(|seen| seen.counts);
            let why = match &best {
                _ if findings.is_empty() => MissReason::NothingReported,
                None => MissReason::NoCandidate,
                Some(_) if counts => MissReason::TakenByAnother,
                Some(candidate) if candidate.judged == Some(false) => MissReason::JudgedNo,
                Some(candidate) if desk.worth_asking(candidate) => MissReason::NotAsked,
                Some(candidate) if desk.reaches_threshold(candidate) => MissReason::PathAlone,
                Some(_) => MissReason::BelowThreshold,
            };
            let unjudged = desk.decisions.unjudged.range((g, 0)..(g + 1, 0)).next().is_some();
            let (why, flags) = if unjudged { (MissReason::Unjudged, vec![Flag::Unjudged]) } else { (why, Vec::new()) };
            result.misses.push(Miss { golden: g, best, why, flags });
        }
    }
    let repeats = repeats(&edges, &finding_of, &golden_of, goldens);
    for (f, best) in of_finding.iter().enumerate() {
        if golden_of[f].is_some() {
            continue;
        }
        if let Some(golden) = repeats[f] {
            let held = desk.hold(golden, f);
            if goldens[golden].acceptance == Acceptance::Trap {
                let best = held.and_then(|held| held.candidate(golden));
                result.extras.push(Extra { finding: f, best, why: ExtraReason::Trap, flags: vec![Flag::Trap] });
            } else {
                let score = held.map(|held| held.score);
                result.duplicates.push(Duplicate { finding: f, golden: Some(golden), score, flags: Vec::new() });
            }
            continue;
        }
        let candidate = desk.of_finding(f, best.first);
        let why = match &candidate {
            _ if goldens.is_empty() => ExtraReason::CleanCase,
            None => ExtraReason::NothingNear,
            Some(c) if c.judged == Some(false) => ExtraReason::JudgedNo,
            Some(c) if desk.worth_asking(c) => ExtraReason::NotAsked,
            Some(c) if desk.reaches_threshold(c) => ExtraReason::PathAlone,
            Some(_) => ExtraReason::BelowThreshold,
        };
        let unjudged = desk.decisions.unjudged.iter().any(|(_, finding)| *finding == f);
        let (why, flags) = if unjudged { (ExtraReason::Unjudged, vec![Flag::Unjudged]) } else { (why, Vec::new()) };
        result.extras.push(Extra { finding: f, best: candidate, why, flags });
    }
    result.extras.sort_by_key(|extra| extra.finding);
    result
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
            let best = Candidate {
                index: found.golden,
                score: found.score.unwrap_or(1.0),
                parts: found.parts,
                judged: found.judgement.map(|_| true),
            };
            result.extras.push(Extra { finding: found.finding, best: Some(best), why: ExtraReason::Trap, flags });
        }
    }
}

fn by_identity(case: &PreparedCase<'_>, findings: &[Finding], profile: &Profile) -> TrialResult {
    let goldens = &case.case.goldens;
    let rules = &profile.identity;
    let matched = matcher::match_all(goldens, findings, rules);
    let mut result = TrialResult::default();
    let mut golden_found = vec![false; goldens.len()];
    let mut finding_used = vec![false; findings.len()];
    for &(golden, finding, via) in &matched.matched {
        golden_found[golden] = true;
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
    for (golden, g) in goldens.iter().enumerate().filter(|(i, g)| g.is_required() && !golden_found[*i]) {
        let why = match (findings.is_empty(), matcher::found_by(g, rules) != matcher::FoundBy::Nothing) {
            (_, false) => MissReason::NoKey,
            (true, _) => MissReason::NothingReported,
            (false, _) => MissReason::KeyAbsent,
        };
        result.misses.push(Miss { golden, best: None, why, flags: Vec::new() });
    }
    for &(finding, golden) in &matched.duplicates {
        finding_used[finding] = true;
        if goldens[golden].acceptance == Acceptance::Trap {
            let flags = vec![Flag::Trap];
            result.extras.push(Extra { finding, best: None, why: ExtraReason::Trap, flags });
        } else {
            result.duplicates.push(Duplicate { finding, golden: Some(golden), score: None, flags: Vec::new() });
        }
    }
    for (finding, f) in findings.iter().enumerate().filter(|(i, _)| !finding_used[*i]) {
        let why = match key::all_of_finding(f, rules).is_empty() {
            _ if goldens.is_empty() => ExtraReason::CleanCase,
            true => ExtraReason::NoKey,
            false => ExtraReason::UnexpectedKey,
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
        result.misses.iter_mut().for_each(|miss| (miss.why, miss.flags) = (MissReason::Unjudged, vec![Flag::Unjudged]));
        result
            .extras
            .iter_mut()
            .for_each(|extra| (extra.why, extra.flags) = (ExtraReason::Unjudged, vec![Flag::Unjudged]));
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
    for (index, finding) in findings.iter().enumerate().filter(|(index, _)| Some(*index) != by) {
        let class = audit.findings.iter().find(|found| found.finding == finding.id).map(|found| found.classification);
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
            ExtraReason::Trap => true,
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
