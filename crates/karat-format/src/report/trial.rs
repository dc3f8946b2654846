//! One trial: findings, matches, misses and extras.

use super::detail::DetailV1;
use super::reason::{ExtraReasonV1, MissReasonV1};
use karat_core::golden::Severity;
use karat_core::judgement::{Classification, Reason, TypeMatch};
use karat_core::matching::outcome::{Flag, Parts};
use karat_core::suite::Verdict;
use karat_core::trial::Outcome;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use thin_vec::ThinVec;

/// One trial.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct TrialResultV1 {
    /// Which of the repetitions it is.
    pub trial: u32,
    /// What is here of its findings and pairs; absent if everything.
    #[serde(default, skip_serializing_if = "DetailV1::is_all")]
    pub detail: DetailV1,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether it enters the metrics; trials that failed may be left out by the profile.
    #[serde(default = "crate::yes", skip_serializing_if = "crate::is_yes")]
    pub counted: bool,
    /// What the tool said of its own work; a trial that reported and has such notes is incomplete.
    #[serde(default, skip_serializing_if = "ThinVec::is_empty")]
    #[schemars(with = "Vec<String>")]
    pub notes: ThinVec<String>,
    /// What it said of the case as a whole.
    pub verdict: Option<Verdict>,
    /// Whether that is the truth; false for a verdict that had to be given and was not, null where nothing is known of it.
    pub verdict_correct: Option<bool>,
    /// Said vulnerable, rightly, without finding the target.
    pub lucky_guess: Option<bool>,
    /// How sure it was.
    pub confidence: Option<f64>,
    /// |confidence − correctness of the verdict|, correctness being 1 or 0; absent without a confidence or a report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration_error: Option<f64>,
    /// Required goldens found.
    pub tp: usize,
    /// Findings that report nothing true.
    pub fp: usize,
    /// Required goldens missed.
    pub r#fn: usize,
    /// Extras that are no false positives because they are on lines the change did not touch.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub untouched_extras: usize,
    /// The findings, as far as a reader needs them.
    #[serde(default)]
    #[schemars(with = "Vec<FindingInfoV1>")]
    pub findings: ThinVec<FindingInfoV1>,
    /// Required goldens that were found.
    #[serde(default)]
    #[schemars(with = "Vec<MatchV1>")]
    pub matches: ThinVec<MatchV1>,
    /// Required goldens that were not.
    #[serde(default)]
    #[schemars(with = "Vec<MissV1>")]
    pub misses: ThinVec<MissV1>,
    /// Findings that matched nothing, traps among them.
    #[serde(default)]
    #[schemars(with = "Vec<ExtraV1>")]
    pub extras: ThinVec<ExtraV1>,
    /// Further reports of found goldens.
    #[serde(default)]
    #[schemars(with = "Vec<DuplicateV1>")]
    pub duplicates: ThinVec<DuplicateV1>,
    /// Findings that report acceptable goldens.
    #[serde(default)]
    #[schemars(with = "Vec<MatchV1>")]
    pub acceptable: ThinVec<MatchV1>,
    /// What an audit says of it, where one was heard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<Box<AuditInfoV1>>,
}

/// What an audit says of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuditInfoV1 {
    /// Who says it, and in which words.
    #[serde(flatten)]
    pub judgement: JudgementInfoV1,
    /// Whether the target was found; null if nobody was asked.
    pub target_found: Option<bool>,
    /// How well the claimed type fits the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub type_match: Option<TypeMatch>,
    /// Root cause identification, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rcir: Option<f64>,
    /// Attack vector validity, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ava: Option<f64>,
    /// Fix suggestion validity, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fsv: Option<f64>,
    /// What it calls every finding, by the finding.
    pub findings: BTreeMap<String, Classification>,
    /// Decisions with equally many votes for several answers, which a rule settled, such as `target.found` or
    /// `classification of f1`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ties: Vec<String>,
}

/// A finding, as far as a reader needs it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FindingInfoV1 {
    /// The finding.
    pub id: String,
    /// Its title, message or rule, cut to one readable line.
    pub title: String,
    /// The rule that fired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule_id: Option<String>,
    /// How bad the tool finds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// Where it lies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The first line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_start: Option<u32>,
    /// The last line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_end: Option<u32>,
}

/// A pair that was looked at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CandidateV1 {
    /// The golden, where the pair is a finding's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub golden: Option<String>,
    /// The finding, where the pair is a golden's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<String>,
    /// The score.
    pub score: f64,
    /// The score before a judge was heard, where one was: what candidates that do not count are ranked by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heuristic: Option<f64>,
    /// What it is made of.
    pub parts: Parts,
    /// What a judge said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<bool>,
}

/// A candidate that was refused. Probabilities and log-odds are of a match, whoever refused it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RefusedV1 {
    /// The golden, where the candidate is a finding's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub golden: Option<String>,
    /// The finding, where the candidate is a golden's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<String>,
    /// Who refused it: a judge, or `score` for the profile's rules.
    pub judge: String,
    /// How likely a match is; of a pair that was refused by its score, the score. Absent for a judge that does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// From this probability on, it would have matched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// What spoke for a match, the strongest first, then what spoke against it. Those of a score add up to how far its log-odds
    /// lie from those of the threshold; the local judge's strongest are kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
    /// What a judge that gives no log-odds said, or what the rules miss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
}

/// A judge's words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgementInfoV1 {
    /// Who decided.
    pub judge: String,
    /// How sure it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// What it said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// The key of the exchange it comes from, where a model was asked; `karat judge show` prints it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<String>,
}

/// A golden and the finding that reports it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MatchV1 {
    /// The golden.
    pub golden: String,
    /// The finding.
    pub finding: String,
    /// The final score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// What it is made of.
    pub parts: Parts,
    /// `score`, `judge`, `key`, `glob_key` or `file_and_rule`.
    pub decided_by: String,
    /// The deciding judgement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<JudgementInfoV1>,
    /// What each judge said, where several decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<VoteV1>,
    /// The golden's best other candidate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner_up: Option<CandidateV1>,
    /// What to know of it.
    pub flags: Vec<Flag>,
}

/// A golden nobody found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MissV1 {
    /// The golden.
    pub golden: String,
    /// Why it was missed, in words.
    pub why: String,
    /// The same as data; absent in reports of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<MissReasonV1>,
    /// The candidate that the reason names. Of those that count it is the one with the highest score; else of those that judges
    /// refused the nearest by place; else the one that file, lines and words rank highest.
    pub best: Option<CandidateV1>,
    /// Candidates that were refused, with what spoke for and against them: those that judges refused, the nearest by place
    /// first, else the best by score.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedV1>,
    /// What each judge said, where they are evenly split on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<VoteV1>,
    /// What to know of it.
    pub flags: Vec<Flag>,
}

impl MissV1 {
    /// Whether an audit was wanted and nobody judged if the golden was found, so that it counts neither for nor against the tool.
    pub fn is_unaudited(&self) -> bool {
        self.reason == Some(MissReasonV1::Unjudged { finding: None })
    }
}

/// What one of several judges said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VoteV1 {
    /// The judge.
    pub judge: String,
    /// Whether it says that the pair matches, or that the extra is a real problem.
    pub yes: bool,
}

/// A finding that matched nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExtraV1 {
    /// The finding.
    pub finding: String,
    /// Why it matched nothing, in words.
    pub why: String,
    /// The same as data; absent in reports of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<ExtraReasonV1>,
    /// The golden that the reason names, chosen as for misses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best: Option<CandidateV1>,
    /// Goldens it was refused for, with what spoke for and against each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedV1>,
    /// What each judge said, where they are evenly split on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<VoteV1>,
    /// What to know of it.
    pub flags: Vec<Flag>,
    /// Whether it is no false positive because it is on lines the change did not touch.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left_out: bool,
}

impl ExtraV1 {
    /// Whether a judge or an audit calls it valid, so that it is not a false positive.
    pub fn is_valid(&self) -> bool {
        match &self.reason {
            Some(ExtraReasonV1::Confirmed) => true,
            Some(ExtraReasonV1::Audited { class }) => class.is_valid(),
            _ => false,
        }
    }

    /// Whether an audit was wanted and nobody judged it, so that it counts neither for nor against the tool.
    pub fn is_unaudited(&self) -> bool {
        self.reason == Some(ExtraReasonV1::Unjudged { golden: None })
    }

    /// Whether it counts against the tool.
    pub fn is_false_alarm(&self) -> bool {
        !self.left_out && !self.is_valid() && !self.is_unaudited()
    }
}

/// A further report of a found golden.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DuplicateV1 {
    /// The finding.
    pub finding: String,
    /// The golden, where it is known.
    pub golden: Option<String>,
    /// The score of the pair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// What each judge said, where they are evenly split on whether it reports the golden.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<VoteV1>,
    /// What to know of it.
    pub flags: Vec<Flag>,
}

/// Findings of several tools that report the same thing, match no golden and have no label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PooledExtraV1 {
    /// The case.
    pub case: String,
    /// The file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The first line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_start: Option<u32>,
    /// The last line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_end: Option<u32>,
    /// What it is called, in one line.
    pub title: String,
    /// The worst that any tool calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// The tools that report it, by name.
    pub tools: Vec<String>,
    /// How many findings report it.
    pub reports: usize,
    /// The findings; of a great many the first.
    pub members: Vec<PooledMemberV1>,
}

/// A finding among several that report the same thing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PooledMemberV1 {
    /// The tool.
    pub tool: String,
    /// The number of the trial.
    pub trial: u32,
    /// The finding.
    pub finding: String,
}
