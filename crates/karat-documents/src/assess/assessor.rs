//! Assessors: a model that is asked two questions, or the rule-based baseline.

pub mod baseline;
pub mod model;

use karat_core::assessment::record::{AnswerValue, Compliance, Role};
use karat_format::assessment::StepV1;
use karat_format::template::TemplateRequirementV1;

/// A requirement of a bundle, as given to an assessor.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct RequirementInput<'a> {
    /// `bundle/requirement`; models do not see it.
    pub id: String,
    pub requirement: &'a TemplateRequirementV1,
    pub answers: Vec<GivenAnswer<'a>>,
    /// The retrieved parts, best first.
    pub parts: Vec<ShownPart>,
}

/// An answer given by the record.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct GivenAnswer<'a> {
    pub question: &'a str,
    /// The question's text, if the template has it.
    pub words: &'a str,
    pub answer: &'a AnswerValue,
}

/// A part, as given to an assessor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct ShownPart {
    pub document: String,
    pub heading: String,
    /// The text, possibly truncated.
    pub text: String,
}

/// An assessor's verdict on a requirement.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Opinion {
    pub verdict: Compliance,
    /// Distinct by role and part.
    pub citations: Vec<CitedPart>,
    /// Indices of the relevant parts among those shown.
    pub relevant: Vec<usize>,
    pub rationale: String,
}

/// A part cited by an opinion.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct CitedPart {
    pub role: Role,
    /// Index among the parts shown; `None` if no such part was shown.
    pub part: Option<usize>,
    pub name: String,
}

/// Why there is no opinion on a requirement.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Unanswered {
    pub step: StepV1,
    /// The kind of reason, such as `unanswered` or `refused`.
    pub kind: &'static str,
    pub why: String,
}

/// An opinion, or why there is none.
pub type Assessed = Result<Opinion, Unanswered>;

/// The name of the rule-based assessor.
pub const BASELINE: &str = "baseline";
