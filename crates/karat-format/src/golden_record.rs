//! `*.golden-assessment.yml`: the ground truth about a bundle of documents, version 0.4.

use super::ordered_map::OrderedMap;
use karat_core::assessment::record::{AnswerValue, Compliance, GoldenPart, GoldenRecord, QuestionAnswer, Requirement};
use karat_core::ids::{PartId, RequirementId};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A golden record: which verdict each requirement deserves in its documents, and the parts that prove it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "golden record")]
pub struct GoldenRecordV0_4 {
    /// The version of this format, `"0.4"` in quotes.
    pub schema_version: RecordVersion,
    /// The bundle of documents, by a name of its own.
    #[schemars(length(min = 1))]
    pub bundle_id: String,
    /// The template whose requirements the documents are compared with: the folder below `templates/`.
    #[schemars(length(min = 1))]
    pub template_id: String,
    /// What is taken as given.
    #[serde(default, skip_serializing_if = "AssumptionsV0_4::is_empty")]
    pub assumptions: AssumptionsV0_4,
    /// What is true of each requirement, by the id that the template has for it.
    pub requirements: OrderedMap<RequirementV0_4>,
}

/// The versions that are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RecordVersion {
    /// The one there is.
    #[default]
    #[serde(rename = "0.4")]
    V0_4,
}

impl RecordVersion {
    /// The version as files state it.
    pub const KNOWN: &'static str = "0.4";
}

/// What is taken as given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AssumptionsV0_4 {
    /// Answers to the questions of the template, by question; the assessor is told them.
    #[serde(default, skip_serializing_if = "OrderedMap::is_empty")]
    pub question_answers: OrderedMap<GivenV0_4>,
}

impl AssumptionsV0_4 {
    fn is_empty(&self) -> bool {
        self.question_answers.is_empty()
    }
}

/// An answer: text, a number, yes or no as `true` or `false`, a list of these, or nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum GivenV0_4 {
    Nothing,
    Flag(bool),
    Number(f64),
    Text(String),
    List(Vec<GivenV0_4>),
}

impl JsonSchema for GivenV0_4 {
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

/// What is true of a requirement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequirementV0_4 {
    /// How far the documents meet it.
    pub assessment: Compliance,
    /// The parts that decide the verdict, by ids of your own; `{}` where there are none.
    pub primary_evidence: OrderedMap<PartV0_4>,
    /// The parts that back those that decide, by ids of your own; `{}` where there are none.
    pub supporting_evidence: OrderedMap<PartV0_4>,
    /// Why the verdict is this one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rationale: String,
}

/// A part of a document that is evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartV0_4 {
    /// The document: the name of a file beside the record.
    #[schemars(length(min = 1))]
    pub document: String,
    /// The heading of the section, as the document shows it, with its number.
    #[schemars(length(min = 1))]
    pub title: String,
    /// The text of the section without its heading, word by word.
    #[schemars(length(min = 1))]
    pub text: String,
}

impl GoldenRecordV0_4 {
    /// The record as the core knows it. Nothing is checked here.
    pub fn into_record(self) -> GoldenRecord {
        let answers = self.assumptions.question_answers.0.into_iter();
        GoldenRecord {
            bundle: self.bundle_id,
            template: self.template_id,
            question_answers: answers
                .map(|(question, answer)| QuestionAnswer { question, answer: answer.into_given() })
                .collect(),
            requirements: self.requirements.0.into_iter().map(|(id, stated)| stated.into_requirement(id)).collect(),
        }
    }
}

impl GivenV0_4 {
    fn into_given(self) -> AnswerValue {
        match self {
            Self::Nothing => AnswerValue::Nothing,
            Self::Flag(flag) => AnswerValue::Flag(flag),
            Self::Number(number) => AnswerValue::Number(number),
            Self::Text(text) => AnswerValue::Text(text),
            Self::List(items) => AnswerValue::List(items.into_iter().map(Self::into_given).collect()),
        }
    }

    fn from_given(given: &AnswerValue) -> Self {
        match given {
            AnswerValue::Nothing => Self::Nothing,
            AnswerValue::Flag(flag) => Self::Flag(*flag),
            AnswerValue::Number(number) => Self::Number(*number),
            AnswerValue::Text(text) => Self::Text(text.clone()),
            AnswerValue::List(items) => Self::List(items.iter().map(Self::from_given).collect()),
        }
    }
}

impl RequirementV0_4 {
    fn into_requirement(self, id: String) -> Requirement {
        let parts = |block: OrderedMap<PartV0_4>| {
            let part = |(id, part): (String, PartV0_4)| GoldenPart {
                id: PartId::new(id),
                document: part.document,
                title: part.title,
                text: part.text,
            };
            block.0.into_iter().map(part).collect()
        };
        Requirement {
            id: RequirementId::new(id),
            assessment: self.assessment,
            primary: parts(self.primary_evidence),
            supporting: parts(self.supporting_evidence),
            rationale: self.rationale,
        }
    }
}

impl From<&GoldenRecord> for GoldenRecordV0_4 {
    fn from(record: &GoldenRecord) -> Self {
        let parts = |parts: &[GoldenPart]| {
            let part = |part: &GoldenPart| PartV0_4 {
                document: part.document.clone(),
                title: part.title.clone(),
                text: part.text.clone(),
            };
            OrderedMap(parts.iter().map(|golden| (golden.id.to_string(), part(golden))).collect())
        };
        let requirement = |requirement: &Requirement| RequirementV0_4 {
            assessment: requirement.assessment,
            primary_evidence: parts(&requirement.primary),
            supporting_evidence: parts(&requirement.supporting),
            rationale: requirement.rationale.clone(),
        };
        let answers = record.question_answers.iter();
        Self {
            schema_version: RecordVersion::V0_4,
            bundle_id: record.bundle.clone(),
            template_id: record.template.clone(),
            assumptions: AssumptionsV0_4 {
                question_answers: OrderedMap(
                    answers.map(|given| (given.question.clone(), GivenV0_4::from_given(&given.answer))).collect(),
                ),
            },
            requirements: OrderedMap(
                record.requirements.iter().map(|stated| (stated.id.to_string(), requirement(stated))).collect(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_round_trips() {
        let text = r#"{"schema_version":"0.4","bundle_id":"b","template_id":"t",
            "assumptions":{"question_answers":{"z":true,"a":[1,"two",null]}},
            "requirements":{"r2":{"assessment":"partial","primary_evidence":{"p":{"document":"a.md","title":"1","text":"x"}},
                                  "supporting_evidence":{}, "rationale":"why"},
                            "r1":{"assessment":"not_applicable","primary_evidence":{},"supporting_evidence":{}}}}"#;
        let read: GoldenRecordV0_4 = serde_json::from_str(text).unwrap();
        let record = read.clone().into_record();
        assert_eq!(GoldenRecordV0_4::from(&record), read);
        let answers: Vec<String> =
            record.question_answers.iter().map(|given| format!("{}: {}", given.question, given.answer)).collect();
        assert_eq!(answers, ["z: yes", "a: 1, two, not answered"]);
        assert_eq!(record.requirements.iter().map(|r| r.id.as_str()).collect::<Vec<_>>(), ["r2", "r1"]);
        assert_eq!((record.requirements[0].rationale.as_str(), record.requirements[0].primary.len()), ("why", 1));
    }
}
