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
}

/// The decisions an audit makes about one trial.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditDecision {
    /// `None`: the response gave no verdict, which counts as wrong.
    pub said_vulnerable: Option<bool>,
    /// How sure the response was, from 0 to 1.
    pub confidence_expressed: Option<f64>,
    pub findings: Vec<ClassifiedFinding>,
    pub target: Option<TargetAssessment>,
    pub explanation: Option<String>,
}

/// What a finding is, in an audit.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassifiedFinding {
    pub finding: FindingId,
    pub classification: Classification,
    pub matches_target: Option<bool>,
    pub is_valid_concern: Option<bool>,
}

/// The classes of findings in an audit: three valid ones, six invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Classification {
    /// The target itself.
    TargetMatch,
    /// Near the target.
    PartialMatch,
    /// Another true issue.
    BonusValid,
    /// Made up.
    Hallucinated,
    /// Real code, wrongly understood.
    Mischaracterized,
    /// Meant to be so.
    DesignChoice,
    /// True, and not asked for.
    OutOfScope,
    /// Sounds grave, is not.
    SecurityTheater,
    /// A remark.
    Informational,
}

impl Classification {
    /// All classes, the valid ones first.
    pub const ALL: [Self; 9] = [
        Self::TargetMatch,
        Self::PartialMatch,
        Self::BonusValid,
        Self::Hallucinated,
        Self::Mischaracterized,
        Self::DesignChoice,
        Self::OutOfScope,
        Self::SecurityTheater,
        Self::Informational,
    ];

    pub fn as_str(self) -> &'static str {
        self.words().0
    }

    /// What an audit says of a finding by this class.
    pub fn meaning(self) -> &'static str {
        self.words().1
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::TargetMatch => ("TARGET_MATCH", "the audit classifies it as the target"),
            Self::PartialMatch => ("PARTIAL_MATCH", "the audit classifies it as close to the target"),
            Self::BonusValid => ("BONUS_VALID", "the audit classifies it as another real problem"),
            Self::Hallucinated => ("HALLUCINATED", "the audit classifies it as hallucinated"),
            Self::Mischaracterized => ("MISCHARACTERIZED", "the audit classifies it as real code misunderstood"),
            Self::DesignChoice => ("DESIGN_CHOICE", "the audit classifies it as a design choice"),
            Self::OutOfScope => ("OUT_OF_SCOPE", "the audit classifies it as out of scope"),
            Self::SecurityTheater => ("SECURITY_THEATER", "the audit classifies it as security theatre"),
            Self::Informational => ("INFORMATIONAL", "the audit classifies it as informational"),
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

/// How well the claimed type fits the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TypeMatch {
    /// The same name.
    Exact,
    /// The same thing by another name.
    Semantic,
    /// Related.
    Partial,
    /// Something else.
    Wrong,
    /// No type was claimed.
    NotMentioned,
}

impl TypeMatch {
    /// All levels, the best first.
    pub const ALL: [Self; 5] = [Self::Exact, Self::Semantic, Self::Partial, Self::Wrong, Self::NotMentioned];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Semantic => "semantic",
            Self::Partial => "partial",
            Self::Wrong => "wrong",
            Self::NotMentioned => "not_mentioned",
        }
    }
}

/// Whether and how well the target was found.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetAssessment {
    pub found: bool,
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
