//! The outcome of each golden and finding of a trial, with its reason.

use super::decisions::PairVotes;
use crate::golden::Acceptance;
use crate::identity::key::{MatchedVia, MissingKeyFields, RefusedKey};
use crate::ids::JudgeName;
use crate::judgement::Classification;
use crate::trial::Outcome;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The parts of a pair's score; one that does not apply to the golden is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PartsV1")]
pub struct Parts {
    /// How near the paths are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<f64>,
    /// How near the lines are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<f64>,
    /// The share of the golden's keywords that the finding uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keyword: Option<f64>,
    /// The share of the golden's prose that the finding covers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<f64>,
    /// The judge's confidence if it matched, else 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<f64>,
}

impl Parts {
    /// All but the judge's, in the order of the weights.
    pub(crate) fn list(&self) -> [Option<f64>; 4] {
        [self.file, self.line, self.keyword, self.text]
    }
}

/// The other side of a pair, with the pair's score.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Index of the finding (of a golden's candidate) or of the golden (of a finding's candidate).
    pub index: usize,
    pub score: f64,
    /// The score without what a judge said: what candidates that do not count are ranked by.
    pub heuristic: f64,
    pub parts: Parts,
    pub judged: Option<bool>,
    /// Who refused it; `None` where it counts, or where nobody decided about it.
    pub refused_by: Option<RefusedBy>,
}

/// Who or what refused a candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RefusedBy {
    /// A judgement, by index.
    Judge(usize),
    /// Its score is below this threshold.
    Score { threshold: f64 },
    /// Its score is high enough, and it shows none of the evidence that the profile asks for.
    NoEvidence,
}

/// Who decided that a pair is a match.
#[derive(Clone, Debug, PartialEq)]
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
    /// As many judges say that the pair matches as say no.
    Tied,
    /// The finding lies on lines the change did not touch.
    OutsideChange,
}

names!(Flag {
    Trap = "trap",
    Ambiguous = "ambiguous",
    Unjudged = "unjudged",
    Tied = "tied",
    OutsideChange = "outside_change",
});

/// A golden and the finding that reports it, by index, as is the deciding judgement.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    pub golden: usize,
    pub finding: usize,
    /// The final score; identity and recorded matches have none of their own.
    pub score: Option<f64>,
    pub parts: Parts,
    pub decided_by: DecidedBy,
    pub judgement: Option<usize>,
    /// The judgements, where several decided.
    pub votes: Vec<usize>,
    pub flags: Vec<Flag>,
    pub runner_up: Option<Candidate>,
}

impl Match {
    pub(super) fn new(golden: usize, finding: usize, decided_by: DecidedBy, judgement: Option<usize>) -> Self {
        let parts = Parts::default();
        let (votes, flags) = (Vec::new(), Vec::new());
        Self { golden, finding, score: None, parts, decided_by, judgement, votes, flags, runner_up: None }
    }

    /// The same, with the votes of the judges where several decided.
    pub(super) fn with_votes(mut self, votes: Option<&PairVotes<'_>>) -> Self {
        let Some(votes) = votes else { return self };
        self.decided_by = DecidedBy::Judge(votes.judge());
        self.votes.clone_from(&votes.judgements);
        self.flags.extend(votes.is_tied.then_some(Flag::Tied));
        self
    }
}

/// A golden that was not found.
#[derive(Clone, Debug, PartialEq)]
pub struct Miss {
    pub golden: usize,
    /// The candidate that the reason names, else the one that ranks first.
    pub best: Option<Candidate>,
    /// Candidates that were refused: those that judges refused, the nearest by place first, else the best by score.
    pub refused: Vec<Candidate>,
    pub why: MissReason,
    /// The judgements of an even split on the best candidate.
    pub votes: Vec<usize>,
    pub flags: Vec<Flag>,
}

impl Miss {
    pub(crate) fn new(golden: usize, why: MissReason) -> Self {
        Self { golden, best: None, refused: Vec::new(), why, votes: Vec::new(), flags: Vec::new() }
    }
}

/// Why a golden was missed. Goldens, findings and judgements are named by index; `MissReasonV1` explains each reason.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MissReason {
    TrialFailed(Outcome),
    NothingReported,
    NoCandidate,
    NoneAllowed,
    BelowThreshold { finding: usize, score: f64, threshold: f64 },
    PathAlone { finding: usize },
    NotWorthAsking { finding: usize, score: f64, threshold: f64 },
    Taken { finding: usize, by: usize },
    Refused { finding: usize, judgement: usize },
    Unjudged { finding: Option<usize> },
    NotAsked { finding: usize, matched_to: Option<usize> },
    KeyAbsent(MatchedVia),
    KeyUsed { via: MatchedVia, finding: usize, by: usize },
    KeyRefused(RefusedKey),
    NoKey(MissingKeyFields),
    AuditedMissing,
    AuditedUnnamed,
    NotRecorded,
}

impl MissReason {
    /// Whether an audit was wanted and nobody judged if it was found. A pair on which a judge failed names its finding.
    pub fn is_unaudited(self) -> bool {
        self == Self::Unjudged { finding: None }
    }
}

/// A finding that matched nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Extra {
    pub finding: usize,
    /// The golden that the reason names, else the one that ranks first.
    pub best: Option<Candidate>,
    /// Goldens it was refused for: those that judges refused, the nearest by place first, else the best by score.
    pub refused: Vec<Candidate>,
    pub why: ExtraReason,
    /// The judgements of an even split on the best candidate, or on whether it is a real problem.
    pub votes: Vec<usize>,
    pub flags: Vec<Flag>,
}

impl Extra {
    pub(super) fn new(finding: usize, why: ExtraReason) -> Self {
        Self { finding, best: None, refused: Vec::new(), why, votes: Vec::new(), flags: Vec::new() }
    }
}

/// Why a finding is an extra. Goldens, findings and judgements are named by index; `ExtraReasonV1` explains each reason.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ExtraReason {
    CleanCase,
    NothingNear,
    NoneAllowed,
    BelowThreshold { golden: usize, score: f64, threshold: f64 },
    PathAlone { golden: usize },
    NotWorthAsking { golden: usize, score: f64, threshold: f64 },
    Refused { golden: usize, judgement: usize },
    Unjudged { golden: Option<usize> },
    NotAsked { golden: usize, matched_to: Option<usize> },
    Trap { golden: usize },
    UnexpectedKey,
    KeyRefused(RefusedKey),
    NoKey(MissingKeyFields),
    Audited(Classification),
    NotRecorded,
    NotCompared,
    Confirmed,
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

    /// Whether an audit was wanted and nobody judged it. A pair on which a judge failed names its golden.
    pub fn is_unaudited(self) -> bool {
        self == Self::Unjudged { golden: None }
    }

    /// Whether its validity is known from a judge, an audit or the suite.
    pub fn is_labelled(self) -> bool {
        matches!(self, Self::Trap { .. } | Self::Audited(_) | Self::Confirmed | Self::Refuted)
    }
}

/// A further report of a golden that was found already.
#[derive(Clone, Debug, PartialEq)]
pub struct Duplicate {
    pub finding: usize,
    pub golden: Option<usize>,
    pub score: Option<f64>,
    /// The judgements of an even split on whether it reports the golden.
    pub votes: Vec<usize>,
    pub flags: Vec<Flag>,
}

impl Duplicate {
    pub(super) fn new(finding: usize, golden: Option<usize>) -> Self {
        Self { finding, golden, score: None, votes: Vec::new(), flags: Vec::new() }
    }
}

/// What became of every golden and finding of one trial.
#[derive(Clone, Debug, Default, PartialEq)]
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

/// The pairs of a trial, or nothing of them: a large suite has many trials of which only figures are kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeptPairs(Option<Box<TrialResult>>);

static NO_PAIRS: TrialResult = TrialResult {
    matches: Vec::new(),
    misses: Vec::new(),
    extras: Vec::new(),
    duplicates: Vec::new(),
    acceptable: Vec::new(),
    crowded: 0,
};

impl From<TrialResult> for KeptPairs {
    fn from(result: TrialResult) -> Self {
        Self(Some(Box::new(result)))
    }
}

impl std::ops::Deref for KeptPairs {
    type Target = TrialResult;

    fn deref(&self) -> &TrialResult {
        self.0.as_deref().unwrap_or(&NO_PAIRS)
    }
}

impl TrialResult {
    /// Panics where a finding or a required golden is lost or counted twice.
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
                refused_by: None,
            };
            let why = ExtraReason::Trap { golden: found.golden };
            let votes = if flags.contains(&Flag::Tied) { found.votes } else { Vec::new() };
            result.extras.push(Extra { best: Some(best), votes, flags, ..Extra::new(found.finding, why) });
        }
    }
}
