//! Matches one trial with its case: every finding and every golden gets an outcome.

use super::by_identity::by_identity;
use super::by_score::by_score;
use super::decisions::{Decisions, PairVotes};
use super::outcome::{
    Candidate, DecidedBy, Duplicate, Extra, ExtraReason, Flag, Match, Miss, MissReason, Parts, TrialResult, place_match,
};
use super::pair::PreparedCase;
use super::search::Search;
use crate::finding::Finding;
use crate::golden::Acceptance;
use crate::ids::FindingId;
use crate::judgement::{Classification, ClassifiedFinding};
use crate::profile::Method;
use crate::suite::Case;
use crate::trial::{Outcome, Trial};
use std::collections::HashMap;

/// Matches one trial by the profile's method. Conservation is asserted, `recorded` excepted.
pub(crate) fn match_trial(case: &PreparedCase<'_>, trial: &Trial, decisions: &Decisions<'_>) -> TrialResult {
    let findings = &trial.findings;
    if trial.outcome != Outcome::Reported {
        let why = MissReason::TrialFailed(trial.outcome);
        return TrialResult { misses: all_missed(case.case, case.profile.method, why), ..TrialResult::default() };
    }
    let mut result = match case.profile.method {
        Method::Score => by_score(case, findings, decisions),
        Method::Identity => by_identity(case, findings),
        Method::Recorded => by_recorded_judgements(case, findings, decisions),
        Method::Audit => by_audit(case, trial, decisions),
        Method::Verdict => without_comparison(findings),
    };
    apply_extra_decisions(&mut result, findings, decisions);
    flag_outside_change(&mut result, case, findings);
    if case.profile.method != Method::Recorded {
        result.assert_conserved(findings.len(), case.case.compared_goldens(case.profile.method).len());
    }
    result
}

/// The best candidates of every golden, best first, for explanations.
pub fn best_candidates(
    case: &PreparedCase<'_>,
    trial: &Trial,
    decisions: &Decisions<'_>,
    most: usize,
) -> Vec<Vec<Candidate>> {
    Search::new(case, &trial.findings, decisions).best_candidates(most)
}

/// Pairs that count by score alone, without any decision.
pub(crate) fn counted_by_score(
    case: &PreparedCase<'_>,
    trial: &Trial,
    decisions: &Decisions<'_>,
) -> Vec<(usize, usize)> {
    let search = Search::new(case, &trial.findings, decisions);
    let counting = search.all().edges.into_iter().map(|edge| (edge.row as usize, edge.column as usize));
    counting.filter(|(golden, finding)| decisions.pair(*golden, *finding).is_none()).collect()
}

/// Takes recorded matches as they are, including many-to-one.
fn by_recorded_judgements(case: &PreparedCase<'_>, findings: &[Finding], decisions: &Decisions<'_>) -> TrialResult {
    let goldens = &case.case.goldens;
    let mut result = TrialResult::default();
    let mut golden_found = vec![false; goldens.len()];
    let mut finding_used = vec![false; findings.len()];
    let is_trap = |golden: usize| goldens[golden].acceptance == Acceptance::Trap;
    let stated = || decisions.pairs.iter().filter(|(_, decided)| decided.matched);
    // A finding that reports a true golden is not a trap hit, even if it was also recorded for a trap.
    let true_ones = stated().filter(|((golden, _), _)| !is_trap(*golden));
    for (&(golden, finding), decided) in true_ones.chain(stated().filter(|((golden, _), _)| is_trap(*golden))) {
        if is_trap(golden) && finding_used[finding] {
            continue;
        }
        golden_found[golden] = true;
        finding_used[finding] = true;
        let decided_by = DecidedBy::Judge(decided.judge.clone());
        let found = Match {
            score: decided.confidence,
            parts: Parts { judge: Some(decided.confidence.unwrap_or(1.0)), ..Parts::default() },
            ..Match::new(golden, finding, decided_by, Some(decided.judgement))
        };
        let found = found.with_votes(decisions.votes.get(&(golden, finding)));
        place_match(&mut result, found, goldens[golden].acceptance);
    }
    // What most of several judges did not decide is open, and flagged as such.
    let open_ties: Vec<_> =
        decisions.votes.iter().filter(|(place, votes)| votes.is_tied && decisions.unjudged.contains(place)).collect();
    let tied = |votes: &PairVotes<'_>| (votes.judgements.clone(), vec![Flag::Unjudged, Flag::Tied]);
    for (golden, _) in goldens.iter().enumerate().filter(|(i, g)| g.is_required() && !golden_found[*i]) {
        let why = if findings.is_empty() { MissReason::NothingReported } else { MissReason::NotRecorded };
        let of_golden = open_ties.iter().find(|((g, _), _)| *g == golden);
        let (votes, flags) = of_golden.map(|(_, votes)| tied(votes)).unwrap_or_default();
        result.misses.push(Miss { votes, flags, ..Miss::new(golden, why) });
    }
    for finding in (0..findings.len()).filter(|f| !finding_used[*f]) {
        if decisions.unnamed.get(&finding).is_some_and(|decided| decided.matched) {
            result.duplicates.push(Duplicate::new(finding, None));
        } else {
            let of_finding = open_ties.iter().find(|((_, f), _)| *f == finding);
            let (votes, flags) = of_finding.map(|(_, votes)| tied(votes)).unwrap_or_default();
            result.extras.push(Extra { votes, flags, ..Extra::new(finding, ExtraReason::NotRecorded) });
        }
    }
    result.extras.sort_by_key(|extra| extra.finding);
    result
}

/// The target is matched by the finding that the audit names, every other finding gets the audit's class. What nobody was asked
/// about stays open.
fn by_audit(case: &PreparedCase<'_>, trial: &Trial, decisions: &Decisions<'_>) -> TrialResult {
    let findings = &trial.findings;
    let target = case.case.audited_target();
    // What says nothing at all needs no audit.
    let open_miss = |golden: usize| match trial.is_silent() {
        true => Miss::new(golden, MissReason::NothingReported),
        false => Miss { flags: vec![Flag::Unjudged], ..Miss::new(golden, MissReason::Unjudged { finding: None }) },
    };
    let open_extra = |finding: usize| Extra {
        flags: vec![Flag::Unjudged],
        ..Extra::new(finding, ExtraReason::Unjudged { golden: None })
    };
    let (Some(merged), Some((judge, judgement))) = (&decisions.audit, decisions.audited_by) else {
        let misses = target.map(open_miss).into_iter().collect();
        return TrialResult { misses, extras: (0..findings.len()).map(open_extra).collect(), ..TrialResult::default() };
    };
    let audit = &merged.decision;
    let found = audit.target.as_ref().and_then(|target| target.found);
    let is_found = found == Some(true);
    let named = audit.target.as_ref().filter(|_| is_found).and_then(|target| target.finding.as_ref());
    // Without a golden to match, the finding that the audit names is an extra like the others.
    let by = target.and(named).and_then(|id| findings.iter().position(|finding| finding.id == *id));
    let mut result = TrialResult::default();
    if let (Some(golden), Some(finding)) = (target, by) {
        result.matches.push(Match::new(golden, finding, DecidedBy::Judge(judge.clone()), Some(judgement)));
    }
    // People who say that the target was found may not have been asked by which finding.
    let is_asked_which = named.is_some() || merged.is_complete;
    // Other goldens are not looked for, so they cannot be missed.
    result.misses.extend(target.filter(|_| result.matches.is_empty()).map(|golden| match found {
        Some(true) if is_asked_which => Miss::new(golden, MissReason::AuditedUnnamed),
        Some(false) => Miss::new(golden, MissReason::AuditedMissing),
        None if merged.is_complete => Miss::new(golden, MissReason::AuditedMissing),
        _ => open_miss(golden),
    }));
    let judged: HashMap<&FindingId, &ClassifiedFinding> =
        audit.findings.iter().map(|found| (&found.finding, found)).collect();
    for (index, finding) in findings.iter().enumerate().filter(|(index, _)| Some(*index) != by) {
        let own = judged.get(&finding.id);
        let class = own.and_then(|own| own.classification);
        if class.is_some_and(Classification::is_about_target) && !result.matches.is_empty() {
            result.duplicates.push(Duplicate::new(index, target));
            continue;
        }
        let people = merged.by_people.get(&finding.id).filter(|people| !people.classified);
        let by_people = people.and_then(|people| people.is_valid);
        let is_valid = own.and_then(|own| own.is_valid_concern);
        result.extras.push(match (by_people, class, is_valid) {
            (None, Some(class), _) => Extra::new(index, ExtraReason::Audited(class)),
            (Some(true), ..) | (None, None, Some(true)) => Extra::new(index, ExtraReason::Confirmed),
            (Some(false), ..) | (None, None, Some(false)) => Extra::new(index, ExtraReason::Refuted),
            (None, None, None) => open_extra(index),
        });
    }
    result
}

/// A miss of every golden that is compared.
pub(crate) fn all_missed(case: &Case, method: Method, why: MissReason) -> Vec<Miss> {
    case.compared_goldens(method).into_iter().map(|golden| Miss::new(golden, why)).collect()
}

fn without_comparison(findings: &[Finding]) -> TrialResult {
    TrialResult {
        extras: (0..findings.len()).map(|finding| Extra::new(finding, ExtraReason::NotCompared)).collect(),
        ..TrialResult::default()
    }
}

/// Traps stay, and so do audit classes, unless a model gave the class and a person decided otherwise.
fn apply_extra_decisions(result: &mut TrialResult, findings: &[Finding], decisions: &Decisions<'_>) {
    for extra in &mut result.extras {
        if let Some(votes) = decisions.tied_extras.get(&extra.finding) {
            extra.votes.extend(votes);
            extra.flags.push(Flag::Tied);
        }
        let Some(decided) = decisions.extras.get(&extra.finding) else { continue };
        let stands = match extra.why {
            ExtraReason::Trap { .. } => true,
            ExtraReason::Audited(_) => {
                !decided.judge.is_human() || decisions.is_classified_by_people(&findings[extra.finding].id)
            }
            _ => false,
        };
        if !stands {
            let is_open = extra.why.is_unaudited();
            extra.flags.retain(|flag| !is_open || *flag != Flag::Unjudged);
            extra.why = if decided.valid { ExtraReason::Confirmed } else { ExtraReason::Refuted };
        }
    }
}

fn flag_outside_change(result: &mut TrialResult, case: &PreparedCase<'_>, findings: &[Finding]) {
    let Some(change) = &case.case.change else { return };
    let tolerance = case.profile.line_tolerance.unwrap_or(0);
    let outside = |f: usize| change.excludes(findings[f].file.as_ref(), findings[f].lines(), tolerance);
    let matches = result.matches.iter_mut().chain(&mut result.acceptable).map(|m| (m.finding, &mut m.flags));
    let extras = result.extras.iter_mut().map(|e| (e.finding, &mut e.flags));
    let duplicates = result.duplicates.iter_mut().map(|d| (d.finding, &mut d.flags));
    for (finding, flags) in matches.chain(extras).chain(duplicates) {
        if outside(finding) {
            flags.push(Flag::OutsideChange);
        }
    }
}
