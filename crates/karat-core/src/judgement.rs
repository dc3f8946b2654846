//! One recorded decision of one judge.

#![expect(missing_docs, reason = "names of fields and variants say it")]

use crate::ids::{CaseId, FindingId, GoldenId, JudgeName, ToolName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A decision, and the trial it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    pub case: CaseId,
    pub tool: ToolName,
    pub trial: u32,
    pub judge: JudgeName,
    pub decision: Decision,
    /// Under which key the exchange is kept that it comes from, where a model was asked.
    pub exchange: Option<String>,
}

/// What a judge may decide.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    Pair(PairDecision),
    Audit(AuditDecision),
    /// Nothing: the judge was asked about a pair and failed to answer.
    Unjudged(UnjudgedPair),
    /// Whether a finding that reports no golden is a real problem.
    Extra(ExtraDecision),
}

/// Whether a finding is a real problem, should it report no golden.
#[derive(Clone, Debug, PartialEq)]
pub struct ExtraDecision {
    pub finding: FindingId,
    pub valid: bool,
    pub explanation: Option<String>,
    /// The probability with which the finding was picked to be looked at; `None` where chance had no part in it.
    pub probability: Option<f64>,
}

impl ExtraDecision {
    /// The same as an audit in which nothing else was asked.
    pub(crate) fn as_audit(&self) -> AuditDecision {
        let found = ClassifiedFinding {
            is_valid_concern: Some(self.valid),
            ..ClassifiedFinding::unasked(self.finding.clone())
        };
        AuditDecision { findings: vec![found], explanation: self.explanation.clone(), ..AuditDecision::default() }
    }
}

/// A pair that a judge was asked about without an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnjudgedPair {
    pub golden: GoldenId,
    pub finding: FindingId,
    pub why: String,
}

/// Whether a finding reports a golden.
#[derive(Clone, Debug, PartialEq)]
pub struct PairDecision {
    /// `None`: the finding matched some golden, and the source does not say which.
    pub golden: Option<GoldenId>,
    pub finding: FindingId,
    pub matched: bool,
    pub partial: Option<bool>,
    /// How sure the judge was, from 0 to 1.
    pub confidence: Option<f64>,
    pub explanation: Option<String>,
    /// The probability with which the pair was picked to be looked at; `None` where chance had no part in it.
    pub probability: Option<f64>,
    /// What the decision was calculated from; `None` for people and models, which do not calculate.
    pub grounds: Option<Grounds>,
}

impl PairDecision {
    /// How likely the judge thinks a match is; `None` where it does not say how sure it was.
    pub fn match_probability(&self) -> Option<f64> {
        self.confidence.map(|sure| if self.matched { sure } else { 1.0 - sure })
    }

    /// The probability from which its judge calls a pair a match.
    pub fn threshold(&self) -> f64 {
        self.grounds.as_ref().map_or(0.5, |grounds| grounds.threshold)
    }

    /// Whether the probability lies so near the threshold that the decision could as well be the other one.
    pub fn is_unsure(&self) -> bool {
        self.match_probability().is_some_and(|probability| (probability - self.threshold()).abs() <= UNSURE)
    }
}

/// How far from its threshold a judge's probability may lie for the decision to be unsure.
pub const UNSURE: f64 = 0.1;

/// What a judge that calculates probabilities decided a pair by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GroundsV1")]
pub struct Grounds {
    /// From this probability on, the pair would have matched.
    pub threshold: f64,
    /// The strongest reasons for a match, the strongest first, then the strongest against.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
}

/// Something that speaks for a match, with positive log-odds, or against it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ReasonV1")]
pub struct Reason {
    /// A feature of the local judge, or a part of the score: `file`, `line`, `keyword` or `text`.
    pub name: String,
    /// How much it adds to the log-odds of a match, rounded to four decimals.
    pub log_odds: f64,
}

impl Reason {
    pub fn new(name: &str, log_odds: f64) -> Self {
        Self { name: name.to_owned(), log_odds: (log_odds * 1e4).round() / 1e4 }
    }
}

/// What a response states, according to a judge who was asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Expressed<T> {
    /// The response states none.
    Nothing,
    Value(T),
}

impl<T> Expressed<T> {
    pub fn value(self) -> Option<T> {
        match self {
            Self::Nothing => None,
            Self::Value(value) => Some(value),
        }
    }
}

impl<T> From<Option<T>> for Expressed<T> {
    fn from(stated: Option<T>) -> Self {
        stated.map_or(Self::Nothing, Self::Value)
    }
}

/// The decisions an audit makes about one trial. In every field `None` means that the judge was not asked, which is no answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AuditDecision {
    /// Whether the response called the case vulnerable; no verdict counts as wrong.
    pub said_vulnerable: Option<Expressed<bool>>,
    /// How sure the response was, from 0 to 1.
    pub confidence_expressed: Option<Expressed<f64>>,
    pub findings: Vec<ClassifiedFinding>,
    pub target: Option<TargetAssessment>,
    pub explanation: Option<String>,
}

/// What a finding is, in an audit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ClassifiedFindingV1")]
pub struct ClassifiedFinding {
    /// The finding.
    #[schemars(with = "String")]
    pub finding: FindingId,
    /// Its class; null: not asked.
    #[serde(default)]
    pub classification: Option<Classification>,
    /// Whether it is the target; null: not asked.
    #[serde(default)]
    pub matches_target: Option<bool>,
    /// Whether it is a legitimate concern; null: not asked.
    #[serde(default)]
    pub is_valid_concern: Option<bool>,
}

impl ClassifiedFinding {
    /// A finding about which nothing was asked yet.
    pub fn unasked(finding: FindingId) -> Self {
        Self { finding, classification: None, matches_target: None, is_valid_concern: None }
    }
}

named_enum! {
    /// The classes of findings in an audit: three valid ones, six invalid.
    Classification {
        /// The target itself.
        TargetMatch = "TARGET_MATCH",
        /// Near the target.
        PartialMatch = "PARTIAL_MATCH",
        /// Another true issue.
        BonusValid = "BONUS_VALID",
        /// Made up.
        Hallucinated = "HALLUCINATED",
        /// Real code, wrongly understood.
        Mischaracterized = "MISCHARACTERIZED",
        /// Meant to be so.
        DesignChoice = "DESIGN_CHOICE",
        /// True, and not asked for.
        OutOfScope = "OUT_OF_SCOPE",
        /// Sounds grave, is not.
        SecurityTheater = "SECURITY_THEATER",
        /// A remark.
        Informational = "INFORMATIONAL",
    }
}

impl Classification {
    /// What an audit says of a finding by this class.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::TargetMatch => "the audit classifies it as the target",
            Self::PartialMatch => "the audit classifies it as close to the target",
            Self::BonusValid => "the audit classifies it as another real problem",
            Self::Hallucinated => "the audit classifies it as hallucinated",
            Self::Mischaracterized => "the audit classifies it as real code misunderstood",
            Self::DesignChoice => "the audit classifies it as a design choice",
            Self::OutOfScope => "the audit classifies it as out of scope",
            Self::SecurityTheater => "the audit classifies it as security theatre",
            Self::Informational => "the audit classifies it as informational",
        }
    }

    /// Whether a finding of this class was worth reporting.
    pub fn is_valid(self) -> bool {
        matches!(self, Self::TargetMatch | Self::PartialMatch | Self::BonusValid)
    }

    /// Whether a finding of this class is about the target.
    pub fn is_about_target(self) -> bool {
        matches!(self, Self::TargetMatch | Self::PartialMatch)
    }
}

named_enum! {
    /// How well the claimed type fits the target.
    TypeMatch {
        /// The same name.
        Exact = "exact",
        /// The same thing by another name.
        Semantic = "semantic",
        /// Related.
        Partial = "partial",
        /// Something else.
        Wrong = "wrong",
        /// No type was claimed.
        NotMentioned = "not_mentioned",
    }
}

/// Whether and how well the target was found; `None` means not asked.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(expecting = "struct Target")]
pub struct TargetAssessment {
    pub found: Option<bool>,
    pub finding: Option<FindingId>,
    pub type_match: Option<TypeMatch>,
    /// Root cause identification, from 0 to 1.
    pub rcir: Option<f64>,
    /// Attack vector validity, from 0 to 1.
    pub ava: Option<f64>,
    /// Fix suggestion validity, from 0 to 1.
    pub fsv: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_formats() {
        for class in Classification::ALL {
            assert_eq!(serde_json::to_value(class).unwrap(), class.as_str());
            assert!(class.is_valid() || !class.is_about_target());
        }
        for level in TypeMatch::ALL {
            assert_eq!(serde_json::to_value(level).unwrap(), level.as_str());
        }
        assert_eq!(Classification::ALL.iter().filter(|class| class.is_valid()).count(), 3);
    }
}
