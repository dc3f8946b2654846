//! Whoever says how far documents meet a requirement: a model that is asked twice, or rules that need nobody.

pub mod baseline;
pub mod model;

use crate::format::assessment::StepV1;
use crate::format::template::TemplateRequirementV1;
use karat_core::assessment::record::{Compliance, Given, Role};

/// A requirement of a bundle, as an assessor sees it.
#[derive(Clone, Debug)]
pub struct Matter<'a> {
    /// The bundle and the requirement, with a slash between them. No model sees it.
    pub id: String,
    /// What must be met.
    pub requirement: &'a TemplateRequirementV1,
    /// What is taken as given.
    pub answers: Vec<Known<'a>>,
    /// What a search brought up, the best first.
    pub parts: Vec<Shown>,
}

/// An answer that is taken as given.
#[derive(Clone, Debug)]
pub struct Known<'a> {
    /// The question's id in the template.
    pub question: &'a str,
    /// The question in words, where the template has them.
    pub words: &'a str,
    /// The answer.
    pub answer: &'a Given,
}

/// A part as an assessor sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The document it stands in.
    pub document: String,
    /// Its heading, with those above it.
    pub heading: String,
    /// Its text, as much of it as is shown.
    pub text: String,
}

/// What an assessor says of a requirement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opinion {
    /// How far it is met.
    pub verdict: Compliance,
    /// The parts it rests on, each role and part once.
    pub citations: Vec<Cited>,
    /// The parts that bear on the requirement, by their place among those that were shown.
    pub relevant: Vec<usize>,
    /// Why.
    pub rationale: String,
}

/// A part that an opinion names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cited {
    /// What it is said to be.
    pub role: Role,
    /// Its place among the parts that were shown; none where no such part was.
    pub part: Option<usize>,
    /// What it was called.
    pub name: String,
}

/// Why there is no opinion of a requirement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unanswered {
    /// The question that got no answer.
    pub step: StepV1,
    /// The kind of reason, such as `unanswered` or `refused`.
    pub kind: &'static str,
    /// The reason in words.
    pub why: String,
}

/// An opinion, or why there is none.
pub type Assessed = Result<Opinion, Unanswered>;

/// The name of the assessor that needs nobody.
pub const BASELINE: &str = "baseline";
