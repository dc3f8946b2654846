//! Assessors: a model that is asked two questions, or the rule-based baseline.

pub mod baseline;
pub mod model;

use super::bundle::RequirementRef;
use karat_core::assessment::record::{AnswerValue, Compliance, Role};
use karat_format::assessment::UnansweredV1;
use karat_format::template::TemplateRequirementV1;

/// A requirement of a bundle, as given to an assessor.
#[derive(Clone, Debug)]
pub struct RequirementInput<'a> {
    /// Models do not see it.
    pub about: RequirementRef<'a>,
    pub requirement: &'a TemplateRequirementV1,
    pub answers: Vec<GivenAnswer<'a>>,
    /// The retrieved parts, best first.
    pub parts: Vec<ShownPart>,
}

#[derive(Clone, Debug)]
pub struct GivenAnswer<'a> {
    pub question: &'a str,
    /// The question's text, if the template has it.
    pub words: &'a str,
    pub answer: &'a AnswerValue,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownPart {
    pub document: String,
    pub heading: String,
    /// The text, possibly truncated.
    pub text: String,
}

/// An assessor's verdict on a requirement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opinion {
    pub verdict: Compliance,
    /// Distinct by role and part.
    pub citations: Vec<CitedPart>,
    /// Indices of the relevant parts among those shown.
    pub relevant: Vec<usize>,
    pub rationale: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CitedPart {
    pub role: Role,
    /// Index among the parts shown; `None` if no such part was shown.
    pub part: Option<usize>,
    pub name: String,
}

/// An opinion, or why there is none.
pub type Assessed = Result<Opinion, UnansweredV1>;

/// The name of the rule-based assessor.
pub const BASELINE: &str = "baseline";
