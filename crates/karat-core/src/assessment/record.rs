//! Golden records: the truth about a bundle of documents, with evidence per requirement.

use crate::ids::{PartId, RequirementId};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// What is true of a bundle of documents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GoldenRecord {
    pub bundle: String,
    pub template: String,
    pub question_answers: Vec<QuestionAnswer>,
    pub requirements: Vec<Requirement>,
}

/// An answer given to the assessor in addition to the documents.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionAnswer {
    pub question: String,
    pub answer: AnswerValue,
}

/// An answer that is taken as given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AnswerValue {
    Nothing,
    Flag(bool),
    Number(f64),
    Text(String),
    List(Vec<AnswerValue>),
}

impl JsonSchema for AnswerValue {
    fn schema_name() -> Cow<'static, str> {
        "GivenV0_4".into()
    }

    // One list of types is equivalent to five alternatives, and gives clearer faults.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let items = generator.subschema_for::<Self>();
        json_schema!({
            "description": "An answer: text, a number, `true` or `false`, a list of these, or nothing.",
            "type": ["string", "number", "boolean", "array", "null"],
            "items": items
        })
    }
}

impl fmt::Display for AnswerValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("not answered"),
            Self::Flag(true) => f.write_str("yes"),
            Self::Flag(false) => f.write_str("no"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
            Self::List(items) => f.write_str(&items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
        }
    }
}

/// How far documents meet a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Compliance {
    /// They do not.
    No,
    /// They meet a part of it.
    Partial,
    /// They meet it.
    Yes,
    /// The requirement is not about such documents.
    NotApplicable,
}

// From the best to the one that is off the axis.
names!(Compliance { Yes = "yes", Partial = "partial", No = "no", NotApplicable = "not_applicable" });

/// What a part is to a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It decides the verdict.
    Primary,
    /// It backs what decides.
    Supporting,
}

/// A requirement, what is true of it, and the parts that show it.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    pub id: RequirementId,
    pub assessment: Compliance,
    pub primary: Vec<GoldenPart>,
    pub supporting: Vec<GoldenPart>,
    pub rationale: String,
}

impl Requirement {
    /// All its golden parts, with their roles: primary first, then supporting.
    pub fn evidence_parts(&self) -> impl Iterator<Item = (Role, &GoldenPart)> {
        let primary = self.primary.iter().map(|part| (Role::Primary, part));
        primary.chain(self.supporting.iter().map(|part| (Role::Supporting, part)))
    }
}

/// A part of a document that is evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoldenPart {
    pub id: PartId,
    pub document: String,
    pub title: String,
    pub text: String,
}

#[cfg(test)]
mod tests;
