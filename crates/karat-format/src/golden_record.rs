//! `*.golden-assessment.yml`: the ground truth about a bundle of documents, version 0.4.

use super::ordered_map::OrderedMap;
use karat_core::assessment::record::{AnswerValue, Compliance, GoldenPart, GoldenRecord, QuestionAnswer, Requirement};
use karat_core::ids::{PartId, RequirementId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    pub question_answers: OrderedMap<AnswerValue>,
}

impl AssumptionsV0_4 {
    fn is_empty(&self) -> bool {
        self.question_answers.is_empty()
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
            question_answers: answers.map(|(question, answer)| QuestionAnswer { question, answer }).collect(),
            requirements: self.requirements.0.into_iter().map(|(id, stated)| stated.into_requirement(id)).collect(),
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
        assert_eq!(serde_json::from_value::<GoldenRecordV0_4>(serde_json::to_value(&read).unwrap()).unwrap(), read);
        let record = read.into_record();
        let answers: Vec<String> =
            record.question_answers.iter().map(|given| format!("{}: {}", given.question, given.answer)).collect();
        assert_eq!(answers, ["z: yes", "a: 1, two, not answered"]);
        assert_eq!(record.requirements.iter().map(|r| r.id.as_str()).collect::<Vec<_>>(), ["r2", "r1"]);
        assert_eq!((record.requirements[0].rationale.as_str(), record.requirements[0].primary.len()), ("why", 1));
    }
}
