//! One trial's outcome, counts and verdict.

use super::warnings::MOST_EXAMPLES;
use crate::finding::Finding;
use crate::identity::key;
use crate::ids::FindingId;
use crate::judgement::{AuditDecision, Classification, TargetAssessment};
use crate::matching::assign::{self, Edge};
use crate::matching::decisions::Decisions;
use crate::matching::outcome::{Extra, ExtraReason, Flag, KeptPairs, Match, Miss, MissReason, TrialResult};
use crate::matching::pair::PreparedCase;
use crate::matching::trial::match_trial;
use crate::metric::counts::Counts;
use crate::metric::findings_quality::Classes;
use crate::profile::{FailedTrials, Method, OutsideChange, Profile};
use crate::suite::{Case, Verdict};
use crate::trial::{Outcome, Trial};
use std::collections::BTreeSet;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrialScore {
    pub number: u32,
    pub outcome: Outcome,
    pub counted: bool,
    /// Index of the trial among those given; `None` for one that has no line.
    pub line: Option<usize>,
    pub verdict: Option<Verdict>,
    pub verdict_correct: bool,
    /// Said vulnerable, rightly, without finding the target; absent where there is no target to find.
    pub lucky_guess: Option<bool>,
    /// Whether the target was found; absent where there is none to find.
    pub target_found: Option<bool>,
    /// 1 for the target, less for a part of it; absent where there is none to find.
    pub target_credit: Option<f64>,
    pub audited: Option<Box<AuditSummary>>,
    pub confidence: Option<f64>,
    pub counts: Counts,
    /// No miss, and no extra unless extras are allowed.
    pub pass: bool,
    /// Goldens that were found, each once, by index.
    pub found: Box<[u32]>,
    /// Findings that matched nothing, whether they count or not.
    pub extras: usize,
    /// Extras that are no false positives only because the change did not touch their lines.
    pub untouched: usize,
    /// Countable extras without a trap, audit or label.
    pub unlabelled: usize,
    /// The pairs; empty once only figures are kept.
    pub result: KeptPairs,
    pub one_to_one: Option<Box<Counts>>,
    /// Whether it reported, and nothing that counts against it.
    pub(crate) is_silent: bool,
    /// Whether the profile wants an audit and there is none.
    pub(crate) unaudited: bool,
    /// What readers are warned of; most trials have nothing of it.
    pub(crate) oddities: Option<Box<Oddities>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Oddities {
    /// Goldens with too many candidates to assign them all.
    pub(crate) crowded: usize,
    /// Goldens that share a finding with another, where recorded matches do.
    pub(crate) shared_findings: usize,
    /// Judgements about goldens or findings the trial does not have.
    pub(crate) unknown_judgements: usize,
    pub(crate) split_audit: bool,
    /// Findings that the audit classifies and the trial does not have.
    pub(crate) unknown_in_audit: usize,
    pub(crate) differing_keys: DifferingKeys,
}

impl TrialScore {
    pub(super) fn new(prepared: &PreparedCase<'_>, trial: &Trial, line: usize, decisions: &Decisions<'_>) -> Self {
        if trial.outcome == Outcome::Unavailable {
            return Self { number: trial.number, outcome: trial.outcome, line: Some(line), ..Self::default() };
        }
        let (case, profile) = (prepared.case, prepared.profile);
        let result = match_trial(prepared, trial, decisions);
        let failed = trial.outcome != Outcome::Reported;
        let audit = decisions.audit.as_deref();
        let verdict = if failed {
            None
        } else if let Some(audit) = audit {
            audit.said_vulnerable.map(|yes| if yes { Verdict::Vulnerable } else { Verdict::Safe })
        } else {
            let left_out: BTreeSet<usize> = untouched_extras(&result, profile).collect();
            Some(verdict_by(case, trial, |finding| !left_out.contains(&finding)))
        };
        let audited = audit.map(|audit| Box::new(AuditSummary::new(audit, decisions)));
        // A silent trial found nothing and needs no audit.
        let unaudited = profile.method == Method::Audit && !failed && audit.is_none() && !trial.is_silent();
        let target_found = match audit.and_then(|audit| audit.target.as_ref()) {
            Some(target) => Some(target.found),
            None if unaudited => None,
            // An audit of a vulnerable case without a target entry means the target was not found.
            None => has_target(case, profile)
                .then(|| target_matches(case, &result).next().is_some())
                .or((audited.is_some() && case.verdict == Verdict::Vulnerable).then_some(false)),
        };
        let in_part = match &audited {
            Some(audited) => audited.target_in_part(),
            None => target_matched_in_part(case, &result, decisions),
        };
        let credit = |found: bool| match (in_part, found) {
            (true, _) => profile.credit.partial,
            (false, found) => f64::from(u8::from(found)),
        };
        let oddities = Oddities {
            crowded: result.crowded,
            shared_findings: if profile.method == Method::Recorded { shared_findings(&result) } else { 0 },
            unknown_judgements: decisions.unknown.len(),
            split_audit: decisions.split_audit,
            unknown_in_audit: decisions.unknown_in_audit,
            differing_keys: DifferingKeys::new(trial, profile),
        };
        let guessed = case.verdict == Verdict::Vulnerable && verdict == Some(Verdict::Vulnerable);
        Self {
            number: trial.number,
            outcome: trial.outcome,
            counted: !failed || profile.failed_trials == FailedTrials::Miss,
            line: Some(line),
            verdict,
            verdict_correct: verdict == Some(case.verdict),
            lucky_guess: target_found.map(|found| guessed && !found),
            target_found,
            target_credit: target_found.map(credit),
            audited,
            confidence: audit.and_then(|audit| audit.confidence_expressed).or(trial.confidence),
            counts: counts(&result, profile),
            pass: !failed
                && result.misses.is_empty()
                && (case.allow_unexpected || counted_extras(&result, profile).next().is_none()),
            one_to_one: (profile.method == Method::Recorded)
                .then(|| Box::new(one_to_one(case, trial, &result, profile))),
            unaudited,
            oddities: (oddities != Oddities::default()).then(|| Box::new(oddities)),
            found: BTreeSet::from_iter(result.matches.iter().map(|m| m.golden as u32)).into_iter().collect(),
            extras: result.extras.len(),
            untouched: untouched_extras(&result, profile).count(),
            unlabelled: counted_extras(&result, profile).filter(|extra| !extra.why.is_labelled()).count(),
            is_silent: !failed && counted_extras(&result, profile).next().is_none(),
            result: result.into(),
        }
    }

    /// Keeps the figures, and drops what grows with the findings of the trial.
    pub fn drop_pairs(&mut self) {
        self.result = KeptPairs::default();
        self.line = None;
        if let Some(audited) = &mut self.audited {
            audited.findings = Vec::new();
            audited.judgement = None;
        }
    }

    pub(super) fn skipped(case: &Case, number: u32, profile: &Profile) -> Self {
        let why = MissReason::TrialFailed(Outcome::Skipped);
        let missed = case.goldens.iter().enumerate().filter(|(_, g)| g.is_required());
        let misses: Vec<Miss> = missed.map(|(golden, _)| Miss::new(golden, why)).collect();
        Self {
            number,
            outcome: Outcome::Skipped,
            counted: profile.failed_trials == FailedTrials::Miss,
            target_found: has_target(case, profile).then_some(false),
            target_credit: has_target(case, profile).then_some(0.0),
            counts: Counts { fn_: misses.len(), ..Counts::default() },
            result: TrialResult { misses, ..TrialResult::default() }.into(),
            ..Self::default()
        }
    }

    /// How far the stated confidence lies from what it should have been: 1 for a right verdict, 0 for a wrong one.
    pub fn calibration_error(&self) -> Option<f64> {
        let correct = f64::from(u8::from(self.verdict_correct));
        self.confidence.filter(|_| self.outcome == Outcome::Reported).map(|confidence| (confidence - correct).abs())
    }

    /// Extras that a person may be asked about, whatever was said of them: neither traps nor audited nor left out.
    pub fn extras_to_label(&self, profile: &Profile) -> Vec<usize> {
        let settled = |why: ExtraReason| matches!(why, ExtraReason::Trap { .. } | ExtraReason::Audited(_));
        let open = self.result.extras.iter().filter(|e| !is_left_out(e, profile) && !settled(e.why));
        open.map(|e| e.finding).collect()
    }

    /// Extras that are no false positives only because the change did not touch their lines, by index of the finding.
    pub fn untouched_extras(&self, profile: &Profile) -> Vec<usize> {
        untouched_extras(&self.result, profile).collect()
    }

    /// Countable extras without a trap, audit or label, by index of the finding.
    pub fn unlabelled_extras(&self, profile: &Profile) -> Vec<usize> {
        let open = counted_extras(&self.result, profile).filter(|e| !e.why.is_labelled());
        open.map(|e| e.finding).collect()
    }
}

fn counts(result: &TrialResult, profile: &Profile) -> Counts {
    // Recorded matches may hold a golden more than once; it still is one golden.
    let found: BTreeSet<usize> = result.matches.iter().map(|m| m.golden).collect();
    Counts { tp: found.len(), fp: false_findings(result, profile).count(), fn_: result.misses.len() }
}

/// Extras, without valid ones and those the profile leaves out as outside the change.
fn counted_extras<'r>(result: &'r TrialResult, profile: &'r Profile) -> impl Iterator<Item = &'r Extra> {
    result.extras.iter().filter(move |e| !is_left_out(e, profile) && !e.why.is_valid())
}

/// What reports a golden counts wherever it lies, and a trap is a golden. A valid extra is no false positive anyway.
fn is_left_out(extra: &Extra, profile: &Profile) -> bool {
    profile.outside_change == OutsideChange::LeaveOut
        && extra.flags.contains(&Flag::OutsideChange)
        && !extra.flags.contains(&Flag::Trap)
        && !extra.why.is_valid()
}

fn untouched_extras<'r>(result: &'r TrialResult, profile: &'r Profile) -> impl Iterator<Item = usize> + 'r {
    result.extras.iter().filter(move |extra| is_left_out(extra, profile)).map(|extra| extra.finding)
}

/// Findings that count against the tool, by index.
pub(super) fn false_findings<'r>(result: &'r TrialResult, profile: &'r Profile) -> impl Iterator<Item = usize> + 'r {
    let extras = counted_extras(result, profile).map(|e| e.finding);
    let duplicates = result.duplicates.iter().filter(|_| profile.duplicates_are_false).map(|d| d.finding);
    extras.chain(duplicates).chain(result.acceptable.iter().filter(|_| profile.acceptable_are_false).map(|m| m.finding))
}

/// The verdict of a trial on its case: the stated one, else the one that its findings imply.
pub fn stated_verdict(case: &Case, trial: &Trial) -> Verdict {
    verdict_by(case, trial, |_| true)
}

fn verdict_by(case: &Case, trial: &Trial, counts: impl Fn(usize) -> bool) -> Verdict {
    if let Some(stated) = trial.verdict {
        return stated;
    }
    let is_alarm = |f: &Finding| case.cwe.is_empty() || f.cwe.iter().any(|n| case.cwe.contains(n));
    let alarm = trial.findings.iter().enumerate().any(|(index, finding)| counts(index) && is_alarm(finding));
    if alarm { Verdict::Vulnerable } else { Verdict::Safe }
}

fn has_target(case: &Case, profile: &Profile) -> bool {
    profile.method != Method::Verdict && (case.goldens.iter().any(|g| g.target) || !case.is_clean())
}

/// Matches of the target golden, or where none is marked of any required one.
fn target_matches<'r>(case: &'r Case, result: &'r TrialResult) -> impl Iterator<Item = &'r Match> {
    let marked = case.goldens.iter().any(|g| g.target);
    let found = result.matches.iter().chain(&result.acceptable);
    found.filter(move |m| if marked { case.goldens[m.golden].target } else { case.goldens[m.golden].is_required() })
}

/// Whether all that reports the target does so in part, by the judge's own word.
fn target_matched_in_part(case: &Case, result: &TrialResult, decisions: &Decisions<'_>) -> bool {
    let in_part = |m: &Match| decisions.pairs.get(&(m.golden, m.finding)).is_some_and(|decided| decided.partial);
    let mut found = target_matches(case, result).peekable();
    found.peek().is_some() && found.all(in_part)
}

/// Goldens beyond the first of each finding.
fn shared_findings(result: &TrialResult) -> usize {
    let pairs: BTreeSet<(usize, usize)> = result.matches.iter().map(|m| (m.finding, m.golden)).collect();
    pairs.len() - pairs.iter().map(|(finding, _)| finding).collect::<BTreeSet<_>>().len()
}

fn one_to_one(case: &Case, trial: &Trial, result: &TrialResult, profile: &Profile) -> Counts {
    let edge = |m: &Match| {
        let weight = assign::quantum(m.score.unwrap_or(1.0)).max(1);
        Edge { row: m.golden as u32, column: m.finding as u32, weight }
    };
    let edges: Vec<Edge> = result.matches.iter().map(edge).collect();
    let chosen = assign::exact::assign(trial.findings.len(), &vec![0; case.goldens.len()], &edges);
    Counts {
        tp: chosen.len(),
        // What was matched and is now left over repeats a golden that was found: no false positive.
        fp: counted_extras(result, profile).count(),
        fn_: case.required().count() - chosen.len(),
    }
}

/// Findings whose own key differs from the computed one, and some of them in words.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct DifferingKeys {
    pub(crate) count: usize,
    pub(crate) examples: Vec<String>,
}

impl DifferingKeys {
    fn new(trial: &Trial, profile: &Profile) -> Self {
        let mut differing = Self::default();
        if profile.method != Method::Identity {
            return differing;
        }
        for finding in &trial.findings {
            if let Some(keys) = key::key_mismatch(finding, &profile.identity) {
                differing.count += 1;
                if differing.examples.len() < MOST_EXAMPLES {
                    differing.examples.push(format!("{} {} {keys}", trial.case, finding.id));
                }
            }
        }
        differing
    }
}

/// The parts of an audit that metrics and reports use.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditSummary {
    /// Index of the judgement that holds the explanation.
    pub judgement: Option<usize>,
    pub findings: Vec<(FindingId, Classification)>,
    pub classes: Classes,
    /// The target, where it was found: without it, its scores mean nothing.
    pub target: Option<TargetAssessment>,
}

impl AuditSummary {
    fn new(audit: &AuditDecision, decisions: &Decisions<'_>) -> Self {
        let mut classes = Classes::default();
        for (place, found) in audit.findings.iter().enumerate() {
            classes.add(found.classification, place < decisions.classified_by_people);
        }
        Self {
            judgement: decisions.audited_by.map(|(_, index)| index),
            findings: audit.findings.iter().map(|found| (found.finding.clone(), found.classification)).collect(),
            classes,
            target: audit.target.clone().filter(|target| target.found),
        }
    }

    /// Whether something comes near the target, and nothing is the target itself.
    pub(super) fn target_in_part(&self) -> bool {
        self.classes.count(Classification::PartialMatch) > 0.0 && self.classes.count(Classification::TargetMatch) == 0.0
    }

    pub(super) fn has_bonus(&self, profile: &Profile) -> bool {
        if profile.audit_conventions.bonus_is_any_valid_beyond_target {
            self.classes.valid() > f64::from(u8::from(self.target.is_some()))
        } else {
            self.classes.count(Classification::BonusValid) > 0.0
        }
    }
}
