//! The three kinds of file, distinguished by their structure.

use crate::fields::Line;
use crate::json::{Lenient, Loose, Object, array_or_object};
use karat_format::ordered_map::OrderedMap;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess};
use serde_json::Value;

pub(super) enum Document {
    /// An array of pull requests with their goldens.
    Goldens(Vec<GoldenPullRequest>),
    /// URL → tool → entry, in the order of the file.
    Results(Vec<(String, Object<ToolEntries>)>),
}

#[derive(Default)]
pub(super) struct ToolEntries(pub(super) Vec<(String, ResultEntry)>);

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
        let expected = "an array of pull requests with goldens, or an object of results by pull request and tool";
        array_or_object(deserializer, expected, Self::Goldens, |OrderedMap(results)| Self::Results(results))
    }
}

impl<'de> Deserialize<'de> for ResultEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "an array of candidates or an object with an evaluation";
        array_or_object(deserializer, expected, Self::Candidates, Self::Evaluation)
    }
}

impl Lenient for ToolEntries {
    const OBJECT: &'static str = "an object of tools";

    fn from_object<'de, A: MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        OrderedMap::deserialize(MapAccessDeserializer::new(object)).map(|OrderedMap(tools)| Self(tools))
    }
}
