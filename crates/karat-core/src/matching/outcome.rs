//! What became of each golden and each finding of a trial, and why.

use crate::identity::matcher::Via;
use crate::ids::JudgeName;
use crate::judgement::Classification;
use crate::trial::Outcome;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The parts of a pair's score. A part that does not apply to the golden is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parts {
    /// How near the paths are.
    pub file: Option<f64>,
    /// How near the lines are.
    pub line: Option<f64>,
    /// The share of the golden's keywords that the finding uses.
    pub keyword: Option<f64>,
    /// The share of the golden's prose that the finding covers.
    pub text: Option<f64>,
    /// The judge's confidence if it matched, else 0.
    pub judge: Option<f64>,
}

/// The other side of a pair, with the pair's score.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Index of the finding (of a golden's candidate) or of the golden (of a finding's candidate).
    pub index: usize,
    /// The final score.
    pub score: f64,
    /// What it is made of.
    pub parts: Parts,
    /// What a judge said, where one did.
    pub judged: Option<bool>,
}

/// Who decided that a pair is a match.
#[derive(Clone, Debug, PartialEq)]
pub enum DecidedBy {
    /// The score passed the threshold.
    Score,
    /// A judge said so.
    Judge(JudgeName),
    /// Identity keys.
    Identity(Via),
}

/// Something to know of a match, miss or extra.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Flag {
    /// The finding reports a known false alarm.
    Trap,
    /// Another assignment has equal weight.
    Ambiguous,
    /// No judge answered.
    Unjudged,
    /// The finding lies on lines the change did not touch.
    OutsideChange,
}

impl Flag {
    /// The word used in every format.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Trap => "trap",
            Self::Ambiguous => "ambiguous",
            Self::Unjudged => "unjudged",
            Self::OutsideChange => "outside_change",
        }
    }
}

/// A golden and the finding that reports it.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// Index of the golden.
    pub golden: usize,
    /// Index of the finding.
    pub finding: usize,
    /// The final score; identity and recorded matches have none of their own.
    pub score: Option<f64>,
    /// What the score is made of.
    pub parts: Parts,
    /// Who decided.
    pub decided_by: DecidedBy,
    /// Index of the deciding judgement.
    pub judgement: Option<usize>,
    /// What to know of it.
    pub flags: Vec<Flag>,
    /// The golden's best other candidate.
    pub runner_up: Option<Candidate>,
}

/// A golden nobody found.
#[derive(Clone, Debug, PartialEq)]
pub struct Miss {
    /// Index of the golden.
    pub golden: usize,
    /// Its best candidate.
    pub best: Option<Candidate>,
    /// Why that was no match.
    pub why: MissReason,
    /// What to know of it.
    pub flags: Vec<Flag>,
}

/// Why a golden was missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissReason {
    /// The trial did not end in a report.
    TrialFailed(Outcome),
    /// The trial reported nothing at all.
    NothingReported,
    /// No finding has anything in common with it.
    NoCandidate,
    /// The best candidate scores too low.
    BelowThreshold,
    /// The best candidate scores high enough by its path, and nothing else shows that it is about the golden.
    PathAlone,
    /// The best candidate reports another golden better.
    TakenByAnother,
    /// A judge said that the best candidate does not report it.
    JudgedNo,
    /// A judge was asked about it in vain, or could not be asked.
    Unjudged,
    /// No answer about its candidates could have changed the assignment, so no judge was asked.
    NotAsked,
    /// No finding has its key.
    KeyAbsent,
    /// No key can be built for it, and nothing else may match it.
    NoKey,
    /// An audit says that it was not found.
    AuditedMissing,
    /// No recorded judgement matches it.
    NotRecorded,
    /// The profile looks at verdicts alone.
    NotCompared,
}

impl MissReason {
    /// The reason in words.
    pub fn text(self) -> String {
        match self {
            Self::TrialFailed(outcome) => format!("the trial {}", outcome.ended()),
            Self::NothingReported => "the tool reported nothing".to_owned(),
            Self::NoCandidate => "no finding comes near it".to_owned(),
            Self::BelowThreshold => "the best candidate scores too low".to_owned(),
            Self::PathAlone => "the best candidate shares its path and nothing else".to_owned(),
            Self::TakenByAnother => "the best candidate reports another golden better".to_owned(),
            Self::JudgedNo => "a judge refused the best candidate".to_owned(),
            Self::Unjudged => "no judge answered".to_owned(),
            Self::NotAsked => "the best candidate is taken, so no judge was asked".to_owned(),
            Self::KeyAbsent => "no finding has its key".to_owned(),
            Self::NoKey => "no key can be built for it: give it file, rule_id and lines or an anchor".to_owned(),
            Self::AuditedMissing => "the audit says that it was not found".to_owned(),
            Self::NotRecorded => "no recorded judgement matches it".to_owned(),
            Self::NotCompared => "the profile does not compare it".to_owned(),
        }
    }
}

/// A finding that matched nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Extra {
    /// Index of the finding.
    pub finding: usize,
    /// Its best golden, or the trap it fell into.
    pub best: Option<Candidate>,
    /// Why that was no match.
    pub why: ExtraReason,
    /// What to know of it.
    pub flags: Vec<Flag>,
}

/// Why a finding is an extra.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtraReason {
    /// The case has no goldens.
    CleanCase,
    /// It has nothing in common with any golden.
    NothingNear,
    /// Its best golden is too far off.
    BelowThreshold,
    /// Its score is high enough by the path, and nothing else shows that it is about its best golden.
    PathAlone,
    /// A judge said that it does not report its best golden.
    JudgedNo,
    /// A judge was asked about it in vain, or could not be asked.
    Unjudged,
    /// Its best golden is not worth asking a judge about: it is too far off, or was found already.
    NotAsked,
    /// It reports a known false alarm.
    Trap,
    /// Its key is none of the expected ones.
    UnexpectedKey,
    /// It has no key.
    NoKey,
    /// An audit puts it into this class.
    Audited(Classification),
    /// No recorded judgement matches it to a golden.
    NotRecorded,
    /// The profile looks at verdicts alone.
    NotCompared,
    /// A judge says that it is a real problem, which nobody wrote down.
    Confirmed,
    /// A judge says that it is no problem.
    Refuted,
}

impl ExtraReason {
    /// Whether somebody says that it was worth reporting, so that it does not count against its tool.
    pub fn is_valid(self) -> bool {
        match self {
            Self::Audited(class) => class.is_valid(),
            reason => reason == Self::Confirmed,
        }
    }

    /// Whether it is known what the finding is worth: somebody looked at it, or the suite says so.
    pub fn is_labelled(self) -> bool {
        matches!(self, Self::Trap | Self::Audited(_) | Self::Confirmed | Self::Refuted)
    }

    /// The reason in words.
    pub fn text(self) -> &'static str {
        match self {
            Self::CleanCase => "the case has no goldens",
            Self::NothingNear => "no golden comes near it",
            Self::BelowThreshold => "its best golden scores too low",
            Self::PathAlone => "it shares the path of its best golden and nothing else",
            Self::JudgedNo => "a judge refused its best golden",
            Self::Unjudged => "no judge answered",
            Self::NotAsked => "no judge was asked about its best golden",
            Self::Trap => "it reports a known false alarm",
            Self::UnexpectedKey => "its key is none of the expected ones",
            Self::NoKey => "it has no key: file, rule_id or lines are missing",
            Self::Audited(class) => class.meaning(),
            Self::NotRecorded => "no recorded judgement matches it",
            Self::NotCompared => "the profile does not compare it",
            Self::Confirmed => "a real problem that no golden names",
            Self::Refuted => "looked at, and no problem",
        }
    }
}

/// A further report of a golden that was found already.
#[derive(Clone, Debug, PartialEq)]
pub struct Duplicate {
    /// Index of the finding.
    pub finding: usize,
    /// Index of the golden, where it is known.
    pub golden: Option<usize>,
    /// The score of the pair.
    pub score: Option<f64>,
    /// What to know of it.
    pub flags: Vec<Flag>,
}

/// What became of every golden and finding of one trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrialResult {
    /// Required goldens that were found.
    pub matches: Vec<Match>,
    /// Required goldens that were not.
    pub misses: Vec<Miss>,
    /// Findings that matched nothing, traps among them.
    pub extras: Vec<Extra>,
    /// Further reports of found goldens.
    pub duplicates: Vec<Duplicate>,
    /// Findings that report acceptable goldens.
    pub acceptable: Vec<Match>,
}

impl TrialResult {
    /// Every finding and every required golden must be accounted for once.
    ///
    /// # Panics
    /// When one is not: a scorer that loses or doubles things must not go on.
    pub fn assert_conserved(&self, findings: usize, required: usize) {
        let placed = self.matches.len() + self.acceptable.len() + self.duplicates.len() + self.extras.len();
        assert_eq!(placed, findings, "findings were lost or counted twice");
        assert_eq!(self.matches.len() + self.misses.len(), required, "goldens were lost or counted twice");
    }
}
