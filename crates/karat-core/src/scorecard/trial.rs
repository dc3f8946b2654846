//! One trial's outcome, counts and verdict.

use super::warnings::MOST_EXAMPLES;
use crate::finding::Finding;
use crate::identity::key;
use crate::ids::{FindingId, JudgeName};
use crate::judgement::{Classification, Expressed, TargetAssessment};
use crate::matching::assign::{self, Edge};
use crate::matching::decisions::Decisions;
use crate::matching::outcome::{Extra, ExtraReason, Flag, KeptPairs, Match, Miss, MissReason, TrialResult};
use crate::matching::pair::PreparedCase;
use crate::matching::trial::{all_missed, match_trial};
use crate::metric::counts::Counts;
use crate::metric::findings_quality::{AuditedFinding, Classes};
use crate::panel::{AuditTie, MergedAudit};
use crate::profile::{FailedTrials, Method, OutsideChange, Profile, VerdictFrom};
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
    /// Whether its verdict follows from its findings, as the profile says how.
    pub verdict_derived: bool,
    /// Whether the verdict is the truth; false for one that had to be given and was not, absent where nothing is known of it.
    pub verdict_correct: Option<bool>,
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
    /// Extras that are not left out, without a trap, audit or label.
    pub unlabelled: usize,
    /// The pairs; empty once only figures are kept.
    pub result: KeptPairs,
    pub one_to_one: Option<Box<Counts>>,
    /// Whether it reported, and nothing that counts against it.
    pub(crate) is_silent: bool,
    /// Whether it reports the target of the vulnerable twin of its case.
    pub(crate) reports_twin: bool,
    /// Whether the profile wants an audit and there is none.
    pub(crate) unaudited: bool,
    pub(crate) unjudged: Unjudged,
    /// What readers are warned of; most trials have nothing of it.
    pub(crate) oddities: Option<Box<Oddities>>,
}

/// What an audit was wanted of and nobody judged. It counts neither for nor against the tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unjudged {
    /// Whether the target was found.
    pub(crate) target: bool,
    /// How many extras are right.
    pub(crate) extras: usize,
    /// Whether the claims of its prose are right.
    pub(crate) claims: bool,
}

impl Unjudged {
    /// Whether something that it reports may count against the tool.
    pub(crate) fn has_findings(self) -> bool {
        self.extras > 0 || self.claims
    }
}

/// How the verdicts of a tool come about where neither trials nor audits state them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct VerdictRules {
    pub(super) from: VerdictFrom,
    /// Whether the tool names a weakness number in any finding: if not, its findings say nothing of the numbers of a case.
    pub(super) names_cwe: bool,
    /// Whether it states verdicts.
    pub(super) states_verdicts: bool,
}

impl VerdictRules {
    /// Whether a verdict on this case follows from findings.
    fn derives(self, case: &Case) -> bool {
        match self.from {
            VerdictFrom::Cwe => case.cwe.is_empty() || self.names_cwe,
            VerdictFrom::Any => true,
            VerdictFrom::None => false,
        }
    }

    /// Whether a failed trial gave a wrong verdict; of a tool that gives none it did not.
    fn is_failure_wrong(self, case: &Case) -> bool {
        self.states_verdicts || self.derives(case)
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Oddities {
    /// Goldens with too many candidates to assign them all.
    pub(crate) crowded: usize,
    /// Goldens that share a finding with another, where recorded matches do.
    pub(crate) shared_findings: usize,
    /// Judgements about goldens or findings the trial does not have.
    pub(crate) unknown_judgements: usize,
    /// Pairs and extras on which judges are evenly split.
    pub(crate) tied: usize,
    /// Decisions of audits that a rule had to settle.
    pub(crate) tied_in_audit: usize,
    /// Findings that the audit classifies and the trial does not have.
    pub(crate) unknown_in_audit: usize,
    pub(crate) differing_keys: DifferingKeys,
}

impl TrialScore {
    pub(super) fn new(
        prepared: &PreparedCase<'_>,
        trial: &Trial,
        line: usize,
        decisions: &Decisions<'_>,
        rules: VerdictRules,
    ) -> Self {
        if trial.outcome == Outcome::Unavailable {
            return Self { number: trial.number, outcome: trial.outcome, line: Some(line), ..Self::default() };
        }
        let (case, profile) = (prepared.case, prepared.profile);
        let result = match_trial(prepared, trial, decisions);
        let failed = trial.outcome != Outcome::Reported;
        let applies = profile.method == Method::Audit || !decisions.is_audit_of_extras;
        let audit = decisions.audit.as_ref().filter(|_| applies);
        let stated = match audit.and_then(|audit| audit.decision.said_vulnerable) {
            _ if failed => rules.is_failure_wrong(case).then_some(None),
            Some(Expressed::Value(true)) => Some(Some(Verdict::Vulnerable)),
            Some(Expressed::Value(false)) => Some(Some(Verdict::Safe)),
            Some(Expressed::Nothing) => Some(None),
            None => trial.verdict.map(Some),
        };
        let derived = if stated.is_none() && !failed {
            let left_out: BTreeSet<usize> = untouched_extras(&result, profile).collect();
            derived_verdict(case, trial, rules, |finding| !left_out.contains(&finding))
        } else {
            None
        };
        // None where nothing is known of it, and none within where it had to be given and was not.
        let known = stated.or(derived.map(Some));
        let verdict = known.flatten();
        let audited = audit.map(|audit| Box::new(AuditSummary::new(audit, trial, decisions)));
        // A silent trial found nothing and needs no audit. People may audit a part of a trial.
        let is_audit = profile.method == Method::Audit && !failed && !trial.is_silent();
        let unaudited = is_audit && audit.is_none();
        let is_classified = audited.as_ref().is_some_and(|audited| audited.is_classified);
        let unjudged = Unjudged {
            target: result.misses.iter().any(|miss| miss.why.is_unaudited()),
            extras: unaudited_extras(&result, profile).count(),
            claims: is_audit && trial.findings.is_empty() && !is_classified,
        };
        let has_alarms = counted_extras(&result, profile).next().is_some();
        let is_complete = audit.is_some_and(|audit| audit.is_complete);
        let target_found = match audit.and_then(|audit| audit.decision.target.as_ref()?.found) {
            Some(found) => Some(found),
            None if is_audit && !is_complete => None,
            // A model's audit of a vulnerable case without a target entry means the target was not found.
            None => has_target(case, profile)
                .then(|| target_matches(case, &result).next().is_some())
                .or((is_complete && case.verdict == Verdict::Vulnerable).then_some(false)),
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
            tied: shown_ties(&result, decisions),
            tied_in_audit: audit.map_or(0, |audit| audit.ties.len()),
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
            verdict_derived: derived.is_some(),
            verdict_correct: known.map(|verdict| verdict == Some(case.verdict)),
            lucky_guess: known.and(target_found).map(|found| guessed && !found),
            target_found,
            target_credit: target_found.map(credit),
            audited,
            confidence: audit.and_then(|audit| audit.decision.confidence_expressed?.value()).or(trial.confidence),
            counts: counts(&result, profile),
            pass: !failed
                && result.misses.is_empty()
                && (case.allow_unexpected || !has_alarms && !unjudged.has_findings()),
            one_to_one: (profile.method == Method::Recorded)
                .then(|| Box::new(one_to_one(case, trial, &result, profile))),
            unaudited,
            unjudged,
            oddities: (oddities != Oddities::default()).then(|| Box::new(oddities)),
            found: BTreeSet::from_iter(result.matches.iter().map(|m| m.golden as u32)).into_iter().collect(),
            extras: result.extras.len(),
            untouched: untouched_extras(&result, profile).count(),
            unlabelled: unlabelled_extras(&result, profile).count(),
            is_silent: !failed && !has_alarms && !unjudged.has_findings(),
            reports_twin: false,
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

    pub(super) fn skipped(case: &Case, number: u32, profile: &Profile, rules: VerdictRules) -> Self {
        let misses = all_missed(case, profile.method, MissReason::TrialFailed(Outcome::Skipped));
        Self {
            number,
            outcome: Outcome::Skipped,
            counted: profile.failed_trials == FailedTrials::Miss,
            verdict_correct: rules.is_failure_wrong(case).then_some(false),
            target_found: has_target(case, profile).then_some(false),
            target_credit: has_target(case, profile).then_some(0.0),
            counts: Counts { fn_: misses.len(), ..Counts::default() },
            result: TrialResult { misses, ..TrialResult::default() }.into(),
            ..Self::default()
        }
    }

    /// How far the stated confidence lies from what it should have been: 1 for a right verdict, 0 for a wrong one.
    pub fn calibration_error(&self) -> Option<f64> {
        let correct = f64::from(u8::from(self.verdict_correct?));
        self.confidence.filter(|_| self.is_reported()).map(|confidence| (confidence - correct).abs())
    }

    pub(super) fn is_reported(&self) -> bool {
        self.outcome == Outcome::Reported
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

    /// Extras that are not left out, without a trap, audit or label, by index of the finding.
    pub fn unlabelled_extras(&self, profile: &Profile) -> Vec<usize> {
        unlabelled_extras(&self.result, profile).map(|extra| extra.finding).collect()
    }

    /// How many findings a precision is of that takes unlabelled extras for false.
    pub(super) fn countable_findings(&self) -> usize {
        self.counts.tp + self.counts.fp + self.unjudged.extras
    }
}

fn counts(result: &TrialResult, profile: &Profile) -> Counts {
    // Recorded matches may hold a golden more than once; it still is one golden.
    let found: BTreeSet<usize> = result.matches.iter().map(|m| m.golden).collect();
    Counts { tp: found.len(), fp: false_findings(result, profile).count(), fn_: counted_misses(result).count() }
}

/// Goldens of which it is known that they were not found.
pub(super) fn counted_misses(result: &TrialResult) -> impl Iterator<Item = &Miss> {
    result.misses.iter().filter(|miss| !miss.why.is_unaudited())
}

/// Extras, without valid ones, those that an audit was wanted of and those the profile leaves out as outside the change.
pub(super) fn counted_extras<'r>(result: &'r TrialResult, profile: &'r Profile) -> impl Iterator<Item = &'r Extra> {
    let counts = |extra: &&Extra| !extra.why.is_valid() && !extra.why.is_unaudited();
    result.extras.iter().filter(counts).filter(|extra| !is_left_out(extra, profile))
}

fn unaudited_extras<'r>(result: &'r TrialResult, profile: &'r Profile) -> impl Iterator<Item = &'r Extra> {
    result.extras.iter().filter(|extra| extra.why.is_unaudited() && !is_left_out(extra, profile))
}

fn unlabelled_extras<'r>(result: &'r TrialResult, profile: &'r Profile) -> impl Iterator<Item = &'r Extra> {
    let counted = counted_extras(result, profile).filter(|extra| !extra.why.is_labelled());
    counted.chain(unaudited_extras(result, profile))
}

/// Pairs and extras on which judges are evenly split, of which the result shows who said what. Other ties change nothing in it.
fn shown_ties(result: &TrialResult, decisions: &Decisions<'_>) -> usize {
    let matches = result.matches.iter().chain(&result.acceptable).map(|m| &m.votes);
    let misses = result.misses.iter().map(|miss| &miss.votes);
    let extras = result.extras.iter().map(|extra| &extra.votes);
    let duplicates = result.duplicates.iter().map(|duplicate| &duplicate.votes);
    let shown: BTreeSet<usize> = matches.chain(misses).chain(extras).chain(duplicates).flatten().copied().collect();
    let of_pairs = decisions.votes.values().filter(|votes| votes.is_tied).map(|votes| &votes.judgements);
    let tied = of_pairs.chain(decisions.tied_extras.values());
    tied.filter(|votes| votes.iter().all(|vote| shown.contains(vote))).count()
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

/// The verdict that follows from the findings of a trial that count.
fn derived_verdict(case: &Case, trial: &Trial, rules: VerdictRules, counts: impl Fn(usize) -> bool) -> Option<Verdict> {
    let names = |finding: &Finding| finding.cwe.iter().any(|number| case.cwe.contains(number));
    let is_alarm = |finding: &Finding| rules.from != VerdictFrom::Cwe || case.cwe.is_empty() || names(finding);
    let alarm = || trial.findings.iter().enumerate().any(|(index, finding)| counts(index) && is_alarm(finding));
    rules.derives(case).then(|| if alarm() { Verdict::Vulnerable } else { Verdict::Safe })
}

fn has_target(case: &Case, profile: &Profile) -> bool {
    profile.method != Method::Verdict && (case.goldens.iter().any(|g| g.target) || !case.is_clean())
}

/// Matches of the target golden, or where none is marked of any required one.
fn target_matches<'r>(case: &'r Case, result: &'r TrialResult) -> impl Iterator<Item = &'r Match> {
    let found = result.matches.iter().chain(&result.acceptable);
    found.filter(|m| case.is_target(&case.goldens[m.golden]))
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
    /// Who made the audits, by name, people first.
    pub judges: Vec<JudgeName>,
    /// Those that were classified.
    pub findings: Vec<(FindingId, Classification)>,
    pub classes: Classes,
    /// Whether the findings were judged; people may have been asked about other things only.
    pub is_classified: bool,
    /// Whether the target was found; `None` if nobody was asked.
    pub target_found: Option<bool>,
    /// The target, where it was found: without it, its scores mean nothing.
    pub target: Option<TargetAssessment>,
    /// Decisions with equally many votes for several answers, which a rule settled.
    pub ties: Vec<AuditTie>,
}

impl AuditSummary {
    fn new(audit: &MergedAudit, trial: &Trial, decisions: &Decisions<'_>) -> Self {
        let mut classes = Classes::default();
        for found in &audit.decision.findings {
            let people = audit.by_people.get(&found.finding).copied().unwrap_or_default();
            classes.add(AuditedFinding { class: found.classification, people, is_valid: found.is_valid_concern });
        }
        let target = audit.decision.target.as_ref();
        let classified = audit.decision.findings.iter();
        Self {
            judgement: decisions.audited_by.map(|(_, index)| index),
            judges: audit.judges.clone(),
            findings: classified.filter_map(|found| Some((found.finding.clone(), found.classification?))).collect(),
            // A model that lists no claim of prose says that there is none; of findings that are listed it says nothing.
            is_classified: classes.total() > 0.0
                || trial.findings.is_empty() && (audit.is_complete || trial.is_silent()),
            classes,
            target_found: target.and_then(|target| target.found).or(audit.is_complete.then_some(false)),
            target: target.filter(|target| target.found == Some(true)).cloned(),
            ties: audit.ties.clone(),
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
