//! Settles several audits of one trial into one.

use crate::ids::FindingId;
use crate::judgement::{AuditDecision, Classification, ClassifiedFinding, TargetAssessment, TypeMatch};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The consensus of several audits.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditConsensus {
    /// The decisions most share.
    pub decision: AuditDecision,
    /// What a rule had to settle, as votes are tied: `said_vulnerable`, `target.found`, or the name of a finding.
    pub split: Vec<String>,
}

/// Settles audits of one trial, each by another judge; `None` where there are none.
///
/// Field by field, the majority decides. On a tie: no verdict; the target not found; a finding invalid, then of
/// the class that credits it least; the worse type match. A confidence is the median of those stated, and a rubric score the
/// lower median, which is always a level that was given; both need more than half of the votes.
///
/// Claims of free text are counted by each judge anew, so that the first claim of one is not that of another. They are taken
/// whole from the judge who is nearest to all else that was settled, and so are the words of explanation.
pub fn settle_audits(audits: &[&AuditDecision]) -> Option<AuditConsensus> {
    let mut split = BTreeSet::new();
    let said_vulnerable = match most(audits.iter().map(|audit| audit.said_vulnerable)).as_slice() {
        [] => return None,
        [answer] => *answer,
        _ => {
            split.insert("said_vulnerable".to_owned());
            None
        }
    };
    let claimed = audits.iter().flat_map(|audit| &audit.findings).any(|found| found.finding.is_claim());
    let findings = if claimed { Vec::new() } else { findings(audits, &mut split) };
    let target = target(audits, &findings, &mut split);
    let stated = audits.iter().map(|audit| audit.confidence_expressed);
    let confidence_expressed = middle(stated).map(|(low, high)| (low + high) / 2.0);
    let mut decision = AuditDecision { said_vulnerable, confidence_expressed, findings, target, explanation: None };
    let nearest = *audits.iter().min_by_key(|audit| distance(audit, &decision, &typical(audits)))?;
    if claimed {
        decision.findings.clone_from(&nearest.findings);
        if let Some(target) = &mut decision.target {
            // Another judge's number would point at another claim.
            let same = nearest.target.as_ref().filter(|own| own.found == target.found);
            target.finding = same.and_then(|own| own.finding.clone());
        }
    }
    decision.explanation.clone_from(&nearest.explanation);
    Some(AuditConsensus { decision, split: split.into_iter().collect() })
}

/// What each finding is, in the order in which the audits have them.
fn findings(audits: &[&AuditDecision], split: &mut BTreeSet<String>) -> Vec<ClassifiedFinding> {
    let mut votes: BTreeMap<&FindingId, (usize, Vec<&ClassifiedFinding>)> = BTreeMap::new();
    for audit in audits {
        let mut seen = BTreeSet::new();
        for (place, found) in audit.findings.iter().enumerate().filter(|(_, found)| seen.insert(&found.finding)) {
            let entry = votes.entry(&found.finding).or_insert((place, Vec::new()));
            entry.0 = entry.0.min(place);
            entry.1.push(found);
        }
    }
    let mut ordered: Vec<(usize, &FindingId, Vec<&ClassifiedFinding>)> =
        votes.into_iter().map(|(id, (place, found))| (place, id, found)).collect();
    ordered.sort_by_key(|(place, id, _)| (*place, *id));
    ordered.into_iter().map(|(_, id, votes)| finding(id, &votes, split)).collect()
}

fn finding(id: &FindingId, votes: &[&ClassifiedFinding], split: &mut BTreeSet<String>) -> ClassifiedFinding {
    let valid = votes.iter().filter(|vote| vote.classification.is_valid()).count();
    let is_valid = 2 * valid > votes.len();
    let classes = most(votes.iter().map(|vote| vote.classification).filter(|class| class.is_valid() == is_valid));
    if 2 * valid == votes.len() || classes.len() > 1 {
        split.insert(id.to_string());
    }
    let least = classes.into_iter().max_by_key(|class| severity_rank(*class));
    let classification = least.unwrap_or(Classification::Informational);
    let agreeing = || votes.iter().filter(|vote| vote.classification == classification);
    let settled = |answers: Vec<Option<bool>>, follows: bool| match answers.as_slice() {
        [answer] => *answer,
        _ => Some(follows),
    };
    ClassifiedFinding {
        finding: id.clone(),
        classification,
        matches_target: settled(most(agreeing().map(|vote| vote.matches_target)), classification.is_about_target()),
        is_valid_concern: settled(most(agreeing().map(|vote| vote.is_valid_concern)), classification.is_valid()),
    }
}

/// How little a class credits a finding; of invalid ones, how much harm it does.
fn severity_rank(class: Classification) -> u8 {
    match class {
        Classification::TargetMatch => 0,
        Classification::PartialMatch => 1,
        Classification::BonusValid => 2,
        Classification::Informational => 3,
        Classification::DesignChoice => 4,
        Classification::OutOfScope => 5,
        Classification::SecurityTheater => 6,
        Classification::Mischaracterized => 7,
        Classification::Hallucinated => 8,
    }
}

/// The target, by the judges that mention one; its ratings, by the judges in the majority on whether it was found.
fn target(
    audits: &[&AuditDecision],
    findings: &[ClassifiedFinding],
    split: &mut BTreeSet<String>,
) -> Option<TargetAssessment> {
    let spoken: Vec<&TargetAssessment> = audits.iter().filter_map(|audit| audit.target.as_ref()).collect();
    if 2 * spoken.len() <= audits.len() {
        return None;
    }
    let yes = spoken.iter().filter(|target| target.found).count();
    let found = 2 * yes > spoken.len();
    if 2 * yes == spoken.len() {
        split.insert("target.found".to_owned());
    }
    let side: Vec<&TargetAssessment> = spoken.into_iter().filter(|target| target.found == found).collect();
    let score = |of: fn(&TargetAssessment) -> Option<f64>| middle(side.iter().map(|t| of(t))).map(|(low, _)| low);
    let types: Vec<Option<TypeMatch>> = most(side.iter().map(|target| target.type_match));
    // What most hold for something else cannot be what found it, unless nothing else is named.
    let about = |id: &FindingId| findings.iter().any(|f| f.finding == *id && f.classification.is_about_target());
    let place = |id: &FindingId| findings.iter().position(|f| f.finding == *id);
    let named: Vec<Option<&FindingId>> = side.iter().map(|target| target.finding.as_ref()).collect();
    let fitting: Vec<Option<&FindingId>> = named.iter().copied().filter(|id| id.is_some_and(about)).collect();
    let candidates = most(if fitting.is_empty() { named } else { fitting }.into_iter());
    Some(TargetAssessment {
        found,
        finding: candidates.into_iter().min_by_key(|id| (id.and_then(place), *id)).flatten().cloned(),
        type_match: types.into_iter().max().flatten(),
        rcir: score(|target| target.rcir),
        ava: score(|target| target.ava),
        fsv: score(|target| target.fsv),
    })
}

/// All values with the most votes, in their order.
fn most<T: Ord>(answers: impl Iterator<Item = T>) -> Vec<T> {
    let mut votes: BTreeMap<T, usize> = BTreeMap::new();
    for value in answers {
        *votes.entry(value).or_default() += 1;
    }
    let greatest = votes.values().copied().max().unwrap_or(0);
    votes.into_iter().filter(|(_, count)| *count == greatest).map(|(value, _)| value).collect()
}

/// The two values in the middle, which are one where their number is odd; `None` unless more than half state one.
fn middle(stated: impl ExactSizeIterator<Item = Option<f64>>) -> Option<(f64, f64)> {
    let votes = stated.len();
    let mut values: Vec<f64> = stated.flatten().collect();
    if 2 * values.len() <= votes {
        return None;
    }
    values.sort_by(f64::total_cmp);
    Some((values[(values.len() - 1) / 2], values[values.len() / 2]))
}

/// How many claims there are, by the lower median, and how many of them valid.
fn typical(audits: &[&AuditDecision]) -> (usize, usize) {
    let median = |of: fn(&ClassifiedFinding) -> bool| {
        let mut counts: Vec<usize> =
            audits.iter().map(|audit| audit.findings.iter().filter(|f| of(f)).count()).collect();
        counts.sort_unstable();
        counts[(counts.len() - 1) / 2]
    };
    (median(|_| true), median(|found| found.classification.is_valid()))
}

/// How far an audit is from what was settled, then from the usual number of claims. Audits at the same distance are put in
/// order by what would be taken from them, so that it makes no difference which of two equals is met first.
fn distance<'a>(audit: &'a AuditDecision, settled: &AuditDecision, typical: &(usize, usize)) -> impl Ord + use<'a> {
    let of = |audit: &AuditDecision| audit.target.as_ref().map(|target| target.found);
    let score = |audit: &AuditDecision, of: fn(&TargetAssessment) -> Option<f64>| audit.target.as_ref().and_then(of);
    let scores: [fn(&TargetAssessment) -> Option<f64>; 3] = [|t| t.rcir, |t| t.ava, |t| t.fsv];
    let fit = |audit: &AuditDecision| audit.target.as_ref().and_then(|target| target.type_match);
    let class = |audit: &AuditDecision, id: &FindingId| {
        audit.findings.iter().find(|found| found.finding == *id).map(|found| found.classification)
    };
    let differing = usize::from(audit.said_vulnerable != settled.said_vulnerable)
        + usize::from(fit(audit) != fit(settled))
        + scores.into_iter().filter(|of| score(audit, *of) != score(settled, *of)).count()
        + settled.findings.iter().filter(|f| class(audit, &f.finding) != Some(f.classification)).count();
    let valid = audit.findings.iter().filter(|found| found.classification.is_valid()).count();
    let odd = audit.findings.len().abs_diff(typical.0) + valid.abs_diff(typical.1);
    let taken: Vec<_> =
        audit.findings.iter().map(|f| (&f.finding, f.classification, f.matches_target, f.is_valid_concern)).collect();
    let finding = audit.target.as_ref().and_then(|target| target.finding.as_ref());
    // On a tie, audits with an explanation come first.
    (of(audit) != of(settled), differing, odd, Reverse(audit.explanation.is_some()), taken, finding, &audit.explanation)
}
