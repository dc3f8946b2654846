//! Golden records: the truth about a bundle of documents, with evidence per requirement.

use crate::ids::{PartId, RequirementId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What is true of a bundle of documents.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct GoldenRecord {
    pub bundle: String,
    pub template: String,
    pub question_answers: Vec<QuestionAnswer>,
    pub requirements: Vec<Requirement>,
}

/// An answer given to the assessor in addition to the documents.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct QuestionAnswer {
    pub question: String,
    pub answer: AnswerValue,
}

/// An answer that is taken as given.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum AnswerValue {
    Nothing,
    Flag(bool),
    Number(f64),
    Text(String),
    List(Vec<AnswerValue>),
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

impl Compliance {
    /// All of them, from the best to the one that is off the axis.
    pub const ALL: [Self; 4] = [Self::Yes, Self::Partial, Self::No, Self::NotApplicable];

    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Partial => "partial",
            Self::No => "no",
            Self::NotApplicable => "not_applicable",
        }
    }

    /// The one of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.name() == name)
    }
}

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
#[expect(missing_docs, reason = "field names say it")]
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

    /// The parts that stand more than once, in the order of [`Self::evidence_parts`]: a part has one role, and stands once.
    pub fn repeated_parts(&self) -> Vec<&PartId> {
        let ids: Vec<&PartId> = self.evidence_parts().map(|(_, part)| &part.id).collect();
        (0..ids.len()).filter(|&i| ids[..i].contains(&ids[i])).map(|i| ids[i]).collect()
    }
}

/// A part of a document that is evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct GoldenPart {
    pub id: PartId,
    pub document: String,
    pub title: String,
    pub text: String,
}

#[cfg(test)]
mod tests;
