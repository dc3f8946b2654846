//! A golden record: what is true of a bundle of documents, requirement by requirement, and which parts show it.

use crate::ids::{PartId, RequirementId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What is true of a bundle of documents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GoldenRecord {
    /// The bundle.
    pub bundle: String,
    /// The template whose requirements it is held against.
    pub template: String,
    /// What is taken as given, in the order of the record.
    pub question_answers: Vec<QuestionAnswer>,
    /// The requirements, in the order of the record.
    pub requirements: Vec<Requirement>,
}

/// Something an assessor is told beside the documents.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionAnswer {
    /// The question, as the template names it.
    pub question: String,
    /// The answer.
    pub answer: Given,
}

/// An answer that is taken as given.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// Nobody answered.
    Nothing,
    /// Yes or no.
    Flag(bool),
    /// A number.
    Number(f64),
    /// Words.
    Text(String),
    /// Several of these.
    List(Vec<Given>),
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("not answered"),
            Self::Flag(true) => f.write_str("yes"),
            Self::Flag(false) => f.write_str("no"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
            Self::List(items) => {
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if i == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
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
    pub fn named(name: &str) -> Option<Self> {
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
pub struct Requirement {
    /// The requirement, as the template names it.
    pub id: RequirementId,
    /// How far the documents meet it.
    pub assessment: Compliance,
    /// The parts that decide.
    pub primary: Vec<GoldenPart>,
    /// The parts that back them.
    pub supporting: Vec<GoldenPart>,
    /// Why.
    pub rationale: String,
}

impl Requirement {
    /// All its golden parts, with their roles: primary first, then supporting.
    pub fn evidence_parts(&self) -> impl Iterator<Item = (Role, &GoldenPart)> {
        let primary = self.primary.iter().map(|part| (Role::Primary, part));
        primary.chain(self.supporting.iter().map(|part| (Role::Supporting, part)))
    }

    /// The roles of its golden parts, in the order of [`Self::evidence_parts`].
    pub fn roles(&self) -> Vec<Role> {
        self.evidence_parts().map(|(role, _)| role).collect()
    }

    /// The parts that stand more than once, in the order of [`Self::evidence_parts`]: a part has one role, and stands once.
    pub fn repeated_parts(&self) -> Vec<&PartId> {
        let ids: Vec<&PartId> = self.evidence_parts().map(|(_, part)| &part.id).collect();
        let again = |i: usize| ids[..i].contains(&ids[i]);
        (0..ids.len()).filter(|&i| again(i)).map(|i| ids[i]).collect()
    }
}

/// A part of a document that is evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoldenPart {
    /// Its name in the record.
    pub id: PartId,
    /// The document it stands in.
    pub document: String,
    /// The heading it stands under, as the document has it.
    pub title: String,
    /// Its text without the heading.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(id: &str) -> GoldenPart {
        GoldenPart { id: id.into(), document: "a.md".into(), title: String::new(), text: String::new() }
    }

    fn requirement(primary: &[&str], supporting: &[&str]) -> Requirement {
        Requirement {
            id: "r".into(),
            assessment: Compliance::Partial,
            primary: primary.iter().map(|id| part(id)).collect(),
            supporting: supporting.iter().map(|id| part(id)).collect(),
            rationale: String::new(),
        }
    }

    #[test]
    fn primary_parts_come_first() {
        let requirement = requirement(&["c", "a"], &["b"]);
        let told: Vec<String> =
            requirement.evidence_parts().map(|(role, part)| format!("{role:?} {}", part.id)).collect();
        assert_eq!(told, ["Primary c", "Primary a", "Supporting b"]);
        assert!(requirement.repeated_parts().is_empty());
    }

    #[test]
    fn a_part_stands_once() {
        let ids = |requirement: &Requirement| {
            requirement.repeated_parts().iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(ids(&requirement(&["a", "b"], &["b", "c"])), "b");
        assert_eq!(ids(&requirement(&["a", "a"], &["a"])), "a a");
    }

    #[test]
    fn verdicts_have_the_names_of_files() {
        for verdict in Compliance::ALL {
            assert_eq!(Compliance::named(verdict.name()), Some(verdict));
            assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.name());
        }
        assert_eq!(Compliance::named("Yes"), None);
    }

    #[test]
    fn what_is_given_reads_as_people_say_it() {
        let given = Given::List(vec![Given::Flag(true), Given::Number(2.5), Given::Text("EU".into()), Given::Nothing]);
        assert_eq!(given.to_string(), "yes, 2.5, EU, not answered");
    }
}
