//! The three kinds of file, distinguished by their structure.

use crate::fields::Line;
use crate::json::Loose;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::fmt;

pub(super) enum Document {
    /// An array of pull requests with their goldens.
    Goldens(Vec<GoldenPullRequest>),
    /// URL → tool → entry, in the order of the file.
    Results(Vec<(String, Vec<(String, ResultEntry)>)>),
}

/// The entry of a results file for one tool on one pull request.
pub(super) enum ResultEntry {
    /// An array: what the tool reported.
    Candidates(Vec<Candidate>),
    /// An object: the judge's decisions.
    Evaluation(Box<Evaluation>),
}

#[derive(Debug, serde::Deserialize)]
#[serde(expecting = "a pull request with its golden comments")]
pub(super) struct GoldenPullRequest {
    pub(super) url: String,
    pub(super) pr_title: Option<String>,
    pub(super) original_url: Loose<Option<String>>,
    pub(super) az_comment: Loose<Option<String>>,
    pub(super) comments: Vec<GoldenComment>,
}

/// A golden, identified by its text.
#[derive(Debug, serde::Deserialize)]
#[serde(expecting = "a golden comment")]
pub(super) struct GoldenComment {
    pub(super) comment: String,
    pub(super) severity: Loose<Option<String>>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(expecting = "a candidate")]
pub(super) struct Candidate {
    pub(super) text: String,
    pub(super) path: Loose<Option<String>>,
    pub(super) line: Line,
    pub(super) source: Loose<Option<String>>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(expecting = "an evaluation")]
pub(super) struct Evaluation {
    pub(super) skipped: Loose<Option<bool>>,
    #[serde(default)]
    pub(super) true_positives: Vec<TruePositive>,
    #[serde(default)]
    pub(super) false_positives: Vec<FalsePositive>,
    #[serde(default)]
    pub(super) false_negatives: Vec<FalseNegative>,
    pub(super) errors: Option<Vec<Value>>,
    pub(super) tp: Loose<Option<u32>>,
    pub(super) fp: Loose<Option<u32>>,
    #[serde(rename = "fn")]
    pub(super) missed: Loose<Option<u32>>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(expecting = "a true positive")]
pub(super) struct TruePositive {
    pub(super) golden_comment: String,
    pub(super) matched_candidate: String,
    pub(super) severity: Loose<Option<String>>,
    pub(super) confidence: Loose<Option<f64>>,
    pub(super) reasoning: Loose<Option<String>>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(expecting = "a false positive")]
pub(super) struct FalsePositive {
    pub(super) candidate: String,
}

#[derive(Debug, serde::Deserialize)]
#[serde(expecting = "a false negative")]
pub(super) struct FalseNegative {
    pub(super) golden_comment: String,
    pub(super) severity: Loose<Option<String>>,
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DocumentVisitor)
    }
}

struct DocumentVisitor;

impl<'de> Visitor<'de> for DocumentVisitor {
    type Value = Document;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of pull requests with goldens, or an object of results by pull request and tool")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Document, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(seq)).map(Document::Goldens)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Document, A::Error> {
        let mut results = Vec::new();
        while let Some((url, InOrder(tools))) = map.next_entry()? {
            results.push((url, tools));
        }
        Ok(Document::Results(results))
    }
}

/// The entries of an object, in the order of the file.
struct InOrder(Vec<(String, ResultEntry)>);

impl<'de> Deserialize<'de> for InOrder {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(InOrderVisitor).map(Self)
    }
}

struct InOrderVisitor;

impl<'de> Visitor<'de> for InOrderVisitor {
    type Value = Vec<(String, ResultEntry)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of tools")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut tools = Vec::new();
        while let Some(entry) = map.next_entry()? {
            tools.push(entry);
        }
        Ok(tools)
    }
}

impl<'de> Deserialize<'de> for ResultEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ResultEntryVisitor)
    }
}

struct ResultEntryVisitor;

impl<'de> Visitor<'de> for ResultEntryVisitor {
    type Value = ResultEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of candidates or an object with an evaluation")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<ResultEntry, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(seq)).map(ResultEntry::Candidates)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ResultEntry, A::Error> {
        Evaluation::deserialize(MapAccessDeserializer::new(map))
            .map(|evaluation| ResultEntry::Evaluation(Box::new(evaluation)))
    }
}
