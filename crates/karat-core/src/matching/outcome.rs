//! What became of each golden and each finding of a trial, and why.

use crate::identity::key::Missing;
use crate::identity::matcher::{RefusedKey, Via};
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
    /// The score without what a judge said: what candidates that do not count are ranked by.
    pub heuristic: f64,
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

/// Why a golden was missed. Goldens and findings are named by index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MissReason {
    /// The trial did not end in a report.
    TrialFailed(Outcome),
    /// The trial reported nothing at all.
    NothingReported,
    /// No finding has anything in common with it.
    NoCandidate,
    /// The best candidate scores too low.
    BelowThreshold {
        /// The candidate.
        finding: usize,
        /// What file, lines and words make of it.
        score: f64,
        /// What it would take.
        threshold: f64,
    },
    /// The best candidate scores enough by its path, and nothing else shows that it is about the golden.
    PathAlone {
        /// The candidate.
        finding: usize,
    },
    /// The best candidate scores too low to ask a judge about it.
    NotWorthAsking {
        /// The candidate.
        finding: usize,
        /// What file, lines and words make of it.
        score: f64,
        /// From where on a judge is asked.
        threshold: f64,
    },
    /// The best candidate counts, and it is matched to another golden.
    Taken {
        /// The candidate.
        finding: usize,
        /// The golden it is matched to.
        by: usize,
    },
    /// A judge said that the best candidate does not report it.
    Refused {
        /// The candidate.
        finding: usize,
        /// Index of the deciding judgement.
        judgement: usize,
    },
    /// A judge was asked about this candidate in vain.
    Unjudged {
        /// The candidate; absent where it was the whole trial that nobody judged.
        finding: Option<usize>,
    },
    /// No judge was asked about the best candidate.
    NotAsked {
        /// The candidate.
        finding: usize,
        /// The golden that it is matched to, so that no answer could have changed anything.
        matched_to: Option<usize>,
    },
    /// No finding has its key, or, where no key can be built, its file and rule.
    KeyAbsent(Via),
    /// A finding has its key, or its file and rule, and is matched to another golden.
    KeyUsed {
        /// What is shared.
        via: Via,
        /// The first such finding.
        finding: usize,
        /// The golden it is matched to.
        by: usize,
    },
    /// The profile does not accept its kind of key.
    KeyRefused(RefusedKey),
    /// No key can be built for it, and nothing else may match it.
    NoKey(Missing),
    /// An audit says that it was not found.
    AuditedMissing,
    /// No recorded judgement matches it.
    NotRecorded,
    /// The profile looks at verdicts alone.
    NotCompared,
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

/// Why a finding is an extra. Goldens and findings are named by index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ExtraReason {
    /// The case has no goldens.
    CleanCase,
    /// It has nothing in common with any golden.
    NothingNear,
    /// Its best golden is too far off.
    BelowThreshold {
        /// The golden.
        golden: usize,
        /// What file, lines and words make of the pair.
        score: f64,
        /// What it would take.
        threshold: f64,
    },
    /// It scores enough by the path, and nothing else shows that it is about its best golden.
    PathAlone {
        /// The golden.
        golden: usize,
    },
    /// Its best golden is too far off to ask a judge about it.
    NotWorthAsking {
        /// The golden.
        golden: usize,
        /// What file, lines and words make of the pair.
        score: f64,
        /// From where on a judge is asked.
        threshold: f64,
    },
    /// A judge said that it does not report its best golden.
    Refused {
        /// The golden.
        golden: usize,
        /// Index of the deciding judgement.
        judgement: usize,
    },
    /// A judge was asked about it and this golden in vain.
    Unjudged {
        /// The golden; absent where it was the whole trial that nobody judged.
        golden: Option<usize>,
    },
    /// No judge was asked about its best golden.
    NotAsked {
        /// The golden.
        golden: usize,
        /// The finding that the golden is matched to.
        matched_to: Option<usize>,
    },
    /// It reports a known false alarm.
    Trap {
        /// The trap.
        golden: usize,
    },
    /// Its key is none of the expected ones.
    UnexpectedKey,
    /// The profile does not accept its kind of key.
    KeyRefused(RefusedKey),
    /// It has no key.
    NoKey(Missing),
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
        matches!(self, Self::Trap { .. } | Self::Audited(_) | Self::Confirmed | Self::Refuted)
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
    /// Goldens that so many findings may report that not all of these pairs took part in the assignment.
    pub crowded: usize,
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
