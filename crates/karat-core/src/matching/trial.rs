//! Matches one trial with its case: every finding and every golden gets an outcome.

use super::by_identity::by_identity;
use super::by_score::by_score;
use super::decisions::Decisions;
use super::outcome::{
    Candidate, DecidedBy, Duplicate, Extra, ExtraReason, Flag, Match, Miss, MissReason, Parts, TrialResult, place_match,
};
use super::pair::PreparedCase;
use super::search::Search;
use crate::finding::Finding;
use crate::golden::{Acceptance, Golden};
use crate::judgement::Classification;
use crate::profile::Method;
use crate::trial::{Outcome, Trial};
use std::collections::HashMap;

/// Matches one trial by the profile's method. Conservation is asserted, `recorded` excepted.
pub(crate) fn match_trial(case: &PreparedCase<'_>, trial: &Trial, decisions: &Decisions<'_>) -> TrialResult {
    let goldens = &case.case.goldens;
    let findings = &trial.findings;
    if trial.outcome != Outcome::Reported {
        let mut result = without_comparison(case, &[]);
        result.misses.iter_mut().for_each(|miss| miss.why = MissReason::TrialFailed(trial.outcome));
        return result;
    }
    let mut result = match case.profile.method {
        Method::Score => by_score(case, findings, decisions),
        Method::Identity => by_identity(case, findings),
        Method::Recorded => by_recorded_judgements(case, findings, decisions),
        Method::Audit => by_audit(case, findings, decisions),
        Method::Verdict => without_comparison(case, findings),
    };
    apply_extra_decisions(&mut result, findings, decisions);
    flag_outside_change(&mut result, case, findings);
    if case.profile.method != Method::Recorded {
        result.assert_conserved(findings.len(), goldens.iter().filter(|g| g.is_required()).count());
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
        place_match(&mut result, found, goldens[golden].acceptance);
    }
    for (golden, _) in goldens.iter().enumerate().filter(|(i, g)| g.is_required() && !golden_found[*i]) {
        let why = if findings.is_empty() { MissReason::NothingReported } else { MissReason::NotRecorded };
        result.misses.push(Miss::new(golden, why));
    }
    for finding in (0..findings.len()).filter(|f| !finding_used[*f]) {
        if decisions.unnamed.get(&finding).is_some_and(|decided| decided.matched) {
            result.duplicates.push(Duplicate { finding, golden: None, score: None, flags: Vec::new() });
        } else {
            result.extras.push(Extra::new(finding, ExtraReason::NotRecorded));
        }
    }
    result.extras.sort_by_key(|extra| extra.finding);
    result
}

/// The target is matched by the finding that the audit names, every other finding gets the audit's class.
fn by_audit(case: &PreparedCase<'_>, findings: &[Finding], decisions: &Decisions<'_>) -> TrialResult {
    let goldens = &case.case.goldens;
    let (Some(audit), Some((judge, judgement))) = (decisions.audit.as_deref(), decisions.audited_by) else {
        let mut result = without_comparison(case, findings);
        let unjudged = MissReason::Unjudged { finding: None };
        result.misses.iter_mut().for_each(|miss| (miss.why, miss.flags) = (unjudged, vec![Flag::Unjudged]));
        let unjudged = ExtraReason::Unjudged { golden: None };
        result.extras.iter_mut().for_each(|extra| (extra.why, extra.flags) = (unjudged, vec![Flag::Unjudged]));
        return result;
    };
    let marked = goldens.iter().position(|golden| golden.target && golden.is_required());
    let target = marked.or_else(|| goldens.iter().position(Golden::is_required));
    let named = audit.target.as_ref().filter(|target| target.found).and_then(|target| target.finding.as_ref());
    // Without a golden to match, the finding that the audit names is an extra like the others.
    let by = target.and(named).and_then(|id| findings.iter().position(|finding| finding.id == *id));
    let mut result = TrialResult::default();
    if let (Some(golden), Some(finding)) = (target, by) {
        result.matches.push(Match::new(golden, finding, DecidedBy::Judge(judge.clone()), Some(judgement)));
    }
    let missed = |golden: &usize| !result.matches.iter().any(|found| found.golden == *golden);
    let required = (0..goldens.len()).filter(|golden| goldens[*golden].is_required()).filter(missed);
    let is_found = audit.target.as_ref().is_some_and(|target| target.found);
    let why = |golden| match Some(golden) == target {
        true if is_found => MissReason::AuditedUnnamed,
        true => MissReason::AuditedMissing,
        false => MissReason::NotCompared,
    };
    result.misses = required.map(|golden| Miss::new(golden, why(golden))).collect();
    // Of several classes of one finding the first stands.
    let classes: HashMap<&str, Classification> =
        audit.findings.iter().rev().map(|found| (found.finding.as_str(), found.classification)).collect();
    for (index, finding) in findings.iter().enumerate().filter(|(index, _)| Some(*index) != by) {
        let class = classes.get(finding.id.as_str()).copied();
        if class.is_some_and(Classification::is_about_target) && !result.matches.is_empty() {
            result.duplicates.push(Duplicate { finding: index, golden: target, score: None, flags: Vec::new() });
            continue;
        }
        result.extras.push(Extra::new(index, class.map_or(ExtraReason::NotCompared, ExtraReason::Audited)));
    }
    result
}

fn without_comparison(case: &PreparedCase<'_>, findings: &[Finding]) -> TrialResult {
    let required = case.case.goldens.iter().enumerate().filter(|(_, g)| g.is_required());
    TrialResult {
        misses: required.map(|(golden, _)| Miss::new(golden, MissReason::NotCompared)).collect(),
        extras: (0..findings.len()).map(|finding| Extra::new(finding, ExtraReason::NotCompared)).collect(),
        ..TrialResult::default()
    }
}

/// Traps stay, and so do audit classes, unless a model gave the class and a person decided otherwise.
fn apply_extra_decisions(result: &mut TrialResult, findings: &[Finding], decisions: &Decisions<'_>) {
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
