//! Vulnerable cases with a safe twin: whether a tool that fires on the bug is silent on its fix.

use super::trial::counted_extras;
use super::{CaseScore, TrialScore};
use crate::finding::Finding;
use crate::golden::Golden;
use crate::matching::by_identity::match_all;
use crate::matching::outcome::ExtraReason;
use crate::matching::pair::PreparedCase;
use crate::profile::{Method, Profile};
use crate::suite::{Case, Suite, Verdict};
use crate::trial::Trial;
use std::collections::{BTreeSet, HashMap};

/// The values of a case that look at another case, too.
pub const TWIN_METRICS: [&str; 2] = ["twin_recall", "twin_recall_silent"];

/// By number of the trial, then by [`TWIN_METRICS`].
type TwinValues = Vec<(u32, [f64; 2])>;

/// The vulnerable twins of each safe case.
#[derive(Default)]
pub(super) struct Twins {
    /// Vulnerable and safe, by index of the case.
    pairs: BTreeSet<(usize, usize)>,
    /// The vulnerable ones of a safe case.
    bugs: HashMap<usize, Vec<usize>>,
}

impl Twins {
    /// Either side may name the other.
    pub(super) fn new(suite: &Suite) -> Self {
        let mut twins = Self::default();
        if suite.cases.iter().all(|case| case.twin.is_none()) {
            return twins;
        }
        let index: HashMap<&str, usize> =
            suite.cases.iter().enumerate().map(|(index, case)| (case.id.as_str(), index)).collect();
        for (own, case) in suite.cases.iter().enumerate() {
            let Some(&other) = case.twin.as_ref().and_then(|twin| index.get(twin.as_str())) else { continue };
            match (case.verdict, suite.cases[other].verdict) {
                (Verdict::Vulnerable, Verdict::Safe) => twins.pairs.extend([(own, other)]),
                (Verdict::Safe, Verdict::Vulnerable) => twins.pairs.extend([(other, own)]),
                _ => {}
            }
        }
        for (bug, fix) in &twins.pairs {
            twins.bugs.entry(*fix).or_default().push(*bug);
        }
        twins
    }

    /// A case whose goldens are the targets of the vulnerable twins of a safe case; `None` where it has none.
    pub(super) fn targets_of(&self, fix: usize, suite: &Suite) -> Option<Case> {
        let mut goldens = Vec::new();
        for bug in self.bugs.get(&fix)?.iter().map(|bug| &suite.cases[*bug]) {
            for target in bug.goldens.iter().filter(|golden| bug.is_target(golden)) {
                // What the whole case is about says what its target is about, if the target itself does not.
                let cwe = if target.cwe.is_empty() { &bug.cwe } else { &target.cwe };
                goldens.push(Golden { cwe: cwe.clone(), ..target.clone() });
            }
        }
        Some(Case { goldens, ..Case::new(suite.cases[fix].id.as_str()) })
    }

    /// Of each vulnerable case with a safe twin, whether its trials are right on both, 1 or 0.
    pub(super) fn values(&self, cases: &[CaseScore], profile: &Profile) -> Vec<(usize, TwinValues)> {
        let fires = |trial: &TrialScore| match trial.target_found {
            Some(found) => Some(found),
            None if profile.method == Method::Verdict => Some(trial.verdict? == Verdict::Vulnerable),
            None => None,
        };
        let quiet = |trial: &TrialScore| {
            let says_safe =
                trial.verdict_correct.filter(|_| profile.method == Method::Verdict || trial.audited.is_some());
            match says_safe {
                Some(safe) => Some([safe; 2]),
                None if profile.method == Method::Verdict || trial.unjudged.has_findings() => None,
                None => Some([trial.is_reported() && !trial.reports_twin, trial.is_silent]),
            }
        };
        let of_pair = |&(bug, fix): &(usize, usize)| {
            let on_fix = |number: u32| cases[fix].counted().find(|trial| trial.number == number);
            let of_trial = |trial: &TrialScore| {
                let (fires, quiet) = (fires(trial)?, quiet(on_fix(trial.number)?)?);
                Some((trial.number, quiet.map(|quiet| f64::from(u8::from(fires && quiet)))))
            };
            (bug, cases[bug].counted().filter_map(of_trial).collect())
        };
        self.pairs.iter().map(of_pair).collect()
    }
}

/// Whether a trial on the safe twin reports a target of its vulnerable twin, by something that counts against it: a finding that the
/// profile's rules alone match to the target, one in its file with its rule or weakness number, or one that was matched to a known false
/// alarm of that rule or number.
pub(super) fn reports_target(targets: &PreparedCase<'_>, fix: &Case, trial: &Trial, score: &TrialScore) -> bool {
    let profile = targets.profile;
    if profile.method == Method::Identity {
        let counted: Vec<Finding> =
            counted_extras(&score.result, profile).map(|extra| trial.findings[extra.finding].clone()).collect();
        if !match_all(&targets.case.goldens, &counted, &profile.identity).matched.is_empty() {
            return true;
        }
    }
    let prepared = (profile.method == Method::Score).then(|| targets.prepare(&trial.findings));
    let mut pairs = counted_extras(&score.result, profile)
        .flat_map(|extra| targets.case.goldens.iter().enumerate().map(move |(at, target)| (extra, at, target)));
    pairs.any(|(extra, at, target)| {
        let of_trap = matches!(extra.why, ExtraReason::Trap { golden } if is_same_kind(target, &fix.goldens[golden]));
        let by_score = || prepared.as_ref().is_some_and(|all| targets.matches_by_score(at, all, extra.finding));
        of_trap || is_of_kind(target, &trial.findings[extra.finding]) || by_score()
    })
}

fn is_of_kind(target: &Golden, finding: &Finding) -> bool {
    let elsewhere = target.file.as_ref().zip(finding.file.as_ref()).is_some_and(|(own, path)| !own.matches(path));
    !elsewhere && (shares(&target.cwe, &finding.cwe) || share_rule(target.rules(), || finding.rules()))
}

fn is_same_kind(target: &Golden, trap: &Golden) -> bool {
    shares(&target.cwe, &trap.cwe) || share_rule(target.rules(), || trap.rules())
}

fn shares(own: &[u32], others: &[u32]) -> bool {
    own.iter().any(|number| others.contains(number))
}

fn share_rule<'r, I: Iterator<Item = &'r str>>(mut own: impl Iterator<Item = &'r str>, others: impl Fn() -> I) -> bool {
    own.any(|rule| others().any(|other| !rule.trim().is_empty() && rule.trim().eq_ignore_ascii_case(other.trim())))
}
