//! The outcome of each golden and finding of a trial, with its reason.

use crate::golden::Acceptance;
use crate::identity::key::MissingKeyFields;
use crate::identity::matcher::{MatchedVia, RefusedKey};
use crate::ids::JudgeName;
use crate::judgement::Classification;
use crate::trial::Outcome;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The parts of a pair's score. A part that does not apply to the golden is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Parts {
    pub file: Option<f64>,
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
#[expect(missing_docs, reason = "field names say it")]
pub struct Candidate {
    /// Index of the finding (of a golden's candidate) or of the golden (of a finding's candidate).
    pub index: usize,
    pub score: f64,
    /// The score without what a judge said: what candidates that do not count are ranked by.
    pub heuristic: f64,
    pub parts: Parts,
    pub judged: Option<bool>,
}

/// Who decided that a pair is a match.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum DecidedBy {
    Score,
    Judge(JudgeName),
    Identity(MatchedVia),
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
    /// The name used in every format.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Trap => "trap",
            Self::Ambiguous => "ambiguous",
            Self::Unjudged => "unjudged",
            Self::OutsideChange => "outside_change",
        }
    }
}

/// A golden and the finding that reports it, by index, as is the deciding judgement.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Match {
    pub golden: usize,
    pub finding: usize,
    /// The final score; identity and recorded matches have none of their own.
    pub score: Option<f64>,
    pub parts: Parts,
    pub decided_by: DecidedBy,
    pub judgement: Option<usize>,
    pub flags: Vec<Flag>,
    pub runner_up: Option<Candidate>,
}

impl Match {
    /// A match without a score.
    pub(super) fn new(golden: usize, finding: usize, decided_by: DecidedBy, judgement: Option<usize>) -> Self {
        let parts = Parts::default();
        Self { golden, finding, score: None, parts, decided_by, judgement, flags: Vec::new(), runner_up: None }
    }
}

/// A golden that was not found.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Miss {
    pub golden: usize,
    pub best: Option<Candidate>,
    pub why: MissReason,
    pub flags: Vec<Flag>,
}

impl Miss {
    pub(crate) fn new(golden: usize, why: MissReason) -> Self {
        Self { golden, best: None, why, flags: Vec::new() }
    }
}

/// Why a golden was missed. Goldens, findings and judgements are named by index.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum MissReason {
    /// The trial did not end in a report.
    TrialFailed(Outcome),
    /// The trial reported nothing at all.
    NothingReported,
    /// No finding has anything in common with it.
    NoCandidate,
    /// The best candidate scores too low.
    BelowThreshold { finding: usize, score: f64, threshold: f64 },
    /// The best candidate scores enough by its path, and nothing else shows that it is about the golden.
    PathAlone { finding: usize },
    /// The best candidate scores too low to ask a judge about it.
    NotWorthAsking { finding: usize, score: f64, threshold: f64 },
    /// The best candidate counts, and it is matched to another golden.
    Taken { finding: usize, by: usize },
    /// A judge said that the best candidate does not report it.
    Refused { finding: usize, judgement: usize },
    /// A judge was asked about this candidate and gave no answer. It is absent if the whole trial has no audit.
    Unjudged { finding: Option<usize> },
    /// No judge was asked about the best candidate. Where it is matched to another golden, no answer could have changed anything.
    NotAsked { finding: usize, matched_to: Option<usize> },
    /// No finding has its key, or, where no key can be built, its file and rule.
    KeyAbsent(MatchedVia),
    /// A finding has its key, or its file and rule, and is matched to another golden.
    KeyUsed { via: MatchedVia, finding: usize, by: usize },
    /// The profile does not accept its kind of key.
    KeyRefused(RefusedKey),
    /// No key can be built for it, and nothing else may match it.
    NoKey(MissingKeyFields),
    /// An audit says that it was not found.
    AuditedMissing,
    /// No recorded judgement matches it.
    NotRecorded,
    /// The profile looks at verdicts alone.
    NotCompared,
}

/// A finding that matched nothing.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Extra {
    pub finding: usize,
    pub best: Option<Candidate>,
    pub why: ExtraReason,
    pub flags: Vec<Flag>,
}

impl Extra {
    pub(super) fn new(finding: usize, why: ExtraReason) -> Self {
        Self { finding, best: None, why, flags: Vec::new() }
    }
}

/// Why a finding is an extra. Goldens, findings and judgements are named by index.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum ExtraReason {
    /// The case has no goldens.
    CleanCase,
    /// It has nothing in common with any golden.
    NothingNear,
    /// Its best golden is too far off.
    BelowThreshold { golden: usize, score: f64, threshold: f64 },
    /// It scores enough by the path, and nothing else shows that it is about its best golden.
    PathAlone { golden: usize },
    /// Its best golden is too far off to ask a judge about it.
    NotWorthAsking { golden: usize, score: f64, threshold: f64 },
    /// A judge said that it does not report its best golden.
    Refused { golden: usize, judgement: usize },
    /// A judge was asked about it and this golden and gave no answer. The golden is absent if the whole trial has no audit.
    Unjudged { golden: Option<usize> },
    /// No judge was asked about its best golden.
    NotAsked { golden: usize, matched_to: Option<usize> },
    /// It reports a known false alarm.
    Trap { golden: usize },
    /// Its key is none of the expected ones.
    UnexpectedKey,
    /// The profile does not accept its kind of key.
    KeyRefused(RefusedKey),
    /// It has no key.
    NoKey(MissingKeyFields),
    /// An audit puts it into this class.
    Audited(Classification),
    /// No recorded judgement matches it to a golden.
    NotRecorded,
    /// The profile looks at verdicts alone.
    NotCompared,
    /// A judge says that it is a real issue that the suite does not list.
    Confirmed,
    /// A judge says that it is not an issue.
    Refuted,
}

impl ExtraReason {
    /// Whether a judge or an audit calls it valid, so that it is not a false positive.
    pub fn is_valid(self) -> bool {
        match self {
            Self::Audited(class) => class.is_valid(),
            reason => reason == Self::Confirmed,
        }
    }

    /// Whether its validity is known from a judge, an audit or the suite.
    pub fn is_labelled(self) -> bool {
        matches!(self, Self::Trap { .. } | Self::Audited(_) | Self::Confirmed | Self::Refuted)
    }
}

/// A further report of a golden that was found already.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Duplicate {
    pub finding: usize,
    pub golden: Option<usize>,
    pub score: Option<f64>,
    pub flags: Vec<Flag>,
}

/// What became of every golden and finding of one trial.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct TrialResult {
    /// Required goldens that were found.
    pub matches: Vec<Match>,
    /// Required goldens that were not.
    pub misses: Vec<Miss>,
    pub extras: Vec<Extra>,
    pub duplicates: Vec<Duplicate>,
    pub acceptable: Vec<Match>,
    /// Goldens with more matching findings than take part in the assignment.
    pub crowded: usize,
}

impl TrialResult {
    /// Every finding and every required golden must be accounted for once.
    ///
    /// # Panics When one is lost or counted twice.
    pub fn assert_conserved(&self, findings: usize, required: usize) {
        let placed = self.matches.len() + self.acceptable.len() + self.duplicates.len() + self.extras.len();
        assert_eq!(placed, findings, "findings were lost or counted twice");
        assert_eq!(self.matches.len() + self.misses.len(), required, "goldens were lost or counted twice");
    }
}

/// Files a match under the acceptance of its golden.
pub(super) fn place_match(result: &mut TrialResult, found: Match, acceptance: Acceptance) {
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
