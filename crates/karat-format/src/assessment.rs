//! The report of an assessment: retrieved passages, answers and scores of each assessor, and differences between assessors.

use super::comparison::DifferenceV1;
use super::ordered_map::OrderedMap;
use super::report::{EstimateV1, is_zero};
use karat_core::assessment::part_match::Category;
use karat_core::assessment::record::{Compliance, Role};
use karat_core::assessment::rules::Rules;
use karat_core::assessment::scores::Stage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of this version of the format.
pub const SCHEMA: &str = "karat.assessment/1";

/// What `karat assess` found: every requirement of every golden record, with verdicts, evidence and metrics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "assessment")]
pub struct AssessmentReportV1 {
    /// Always `karat.assessment/1`.
    pub schema: String,
    /// Which stages were measured.
    pub stage: StageV1,
    /// The bundles, in the order in which they were taken.
    pub bundles: Vec<BundleV1>,
    /// How documents were searched.
    pub search: SearchedV1,
    /// The rules that answers and searches were scored by, by template.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scoring: BTreeMap<String, Rules>,
    /// How intervals came about.
    pub intervals: IntervalsV1,
    /// What was retrieved; absent if only answers were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retrieval: Option<RetrievalV1>,
    /// What each assessor said, by name, in the order in which they were named; empty where only retrieval was measured.
    pub assessments: OrderedMap<AssessmentV1>,
    /// How they differ, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<SideBySideV1>,
    /// What a reader must know before believing a number.
    pub warnings: Vec<String>,
    /// What can differ between two executions of the same work.
    pub measured: MeasuredV1,
}

/// Why a report has no sole assessment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoSoleAssessment {
    /// Only retrieval was measured.
    NoAssessor,
    /// By name, in the order in which they were asked.
    Several(Vec<String>),
}

impl std::fmt::Display for NoSoleAssessment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoAssessor => f.write_str("no assessor was asked, so there is no assessment"),
            Self::Several(names) => {
                write!(f, "there are assessments by {}: take one of `assessments` by its name", names.join(", "))
            }
        }
    }
}

impl std::error::Error for NoSoleAssessment {}

impl AssessmentReportV1 {
    /// The assessment by the only assessor; an error if several were asked, or none.
    ///
    /// ```
    /// # use karat_format::assessment::{AssessmentReportV1, NoSoleAssessment};
    /// fn accuracy(report: &AssessmentReportV1) -> Result<Option<f64>, NoSoleAssessment> {
    ///     let assessment = report.assessment()?;
    ///     Ok(assessment.metrics.get("assessment_accuracy").and_then(|estimate| estimate.value))
    /// }
    /// ```
    pub fn assessment(&self) -> Result<&AssessmentV1, NoSoleAssessment> {
        let mut all = self.assessments.iter();
        match (all.next(), all.next()) {
            (Some((_, only)), None) => Ok(only),
            (None, _) => Err(NoSoleAssessment::NoAssessor),
            _ => Err(NoSoleAssessment::Several(self.assessments.names().map(str::to_owned).collect())),
        }
    }

    /// The name of a requirement of a bundle where results are paired or linked. It has the template only where several are
    /// compared with the same bundle.
    pub fn case_id(&self, bundle_id: &str, template_id: &str, requirement_id: &str) -> String {
        match self.bundles.iter().filter(|bundle| bundle.bundle_id == bundle_id).nth(1) {
            Some(_) => format!("{bundle_id}/{template_id}/{requirement_id}"),
            None => format!("{bundle_id}/{requirement_id}"),
        }
    }
}

/// Which stages are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StageV1 {
    /// What a search brings up.
    Retrieve,
    /// What assessors answer.
    Assess,
    /// Both.
    #[default]
    Full,
}

impl StageV1 {
    /// The word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Retrieve => "retrieve",
            Self::Assess => "assess",
            Self::Full => "full",
        }
    }
}

/// A bundle of documents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BundleV1 {
    /// Its id.
    pub bundle_id: String,
    /// The template its requirements come from.
    pub template_id: String,
    /// The record that says what is true of it.
    pub record: String,
    /// The language its documents were searched in.
    pub language: String,
    /// Its documents.
    pub documents: Vec<DocumentV1>,
    /// Documents that could not be read and are left out; their golden parts count as missed unless another document contains them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<UnreadableV1>,
    /// Golden parts that differ from their documents and count where most of their words stand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inexact: Vec<InexactV1>,
    /// How many requirements were looked at.
    pub requirements: usize,
    /// How many golden parts they have.
    pub golden_parts: usize,
}

/// A document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DocumentV1 {
    /// The name of the file.
    pub name: String,
    /// Its format.
    pub format: String,
    /// How many sections it has.
    pub sections: usize,
    /// The BLAKE3 hash of the file, in hex.
    pub hash: String,
    /// What was left out or corrected when it was read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A document that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnreadableV1 {
    /// The name of the file.
    pub name: String,
    /// What is wrong with it.
    pub why: String,
    /// How many golden parts it should hold.
    pub golden_parts: usize,
}

/// A golden part that differs from its document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InexactV1 {
    /// The requirement.
    pub requirement_id: String,
    /// The golden part.
    pub part: String,
    /// The share of its words that stand in the section it counts in.
    pub coverage: f64,
}

/// How documents were searched.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchedV1 {
    /// How many candidates each half of the search gave.
    pub search_limit: usize,
    /// The weight of words against that of vectors.
    pub bm25_weight: f64,
    /// How many parts an assessor was shown.
    pub rerank_top_n: usize,
    /// The fewest characters of a candidate's body.
    pub min_candidate_length: usize,
    /// What made vectors; absent if none were needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedding: Option<String>,
    /// What put candidates into a better order; absent if they stayed in the order of the search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reranking: Option<String>,
    /// How many requirements were searched for. However many assessors there are, each is searched for once.
    pub searches: usize,
    /// How many texts were cut to what a model takes, by model.
    pub cut: BTreeMap<String, CutV1>,
}

/// Texts that were too long for a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CutV1 {
    /// How many.
    pub texts: usize,
    /// How many characters were lost, taken together.
    pub characters: usize,
}

impl CutV1 {
    /// Counts a text of which this many characters were left out.
    pub fn count(&mut self, characters: usize) {
        *self += Self { texts: usize::from(characters > 0), characters };
    }
}

impl std::ops::AddAssign for CutV1 {
    fn add_assign(&mut self, other: Self) {
        self.texts += other.texts;
        self.characters += other.characters;
    }
}

/// How intervals came about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IntervalsV1 {
    /// How often they hold the truth.
    pub level: f64,
    /// How many samples were drawn.
    pub resamples: usize,
    /// What samples start from; absent if that follows from the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// What was drawn together: `bundle`, or nothing where every requirement stands alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
}

/// What was retrieved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RetrievalV1 {
    /// How many places `recall_at_k` and `ndcg_at_k` look at.
    pub k: u32,
    /// The metrics, the most important first.
    pub metrics: OrderedMap<EstimateV1>,
    /// How many golden parts the best of what was retrieved stands to how.
    pub categories: BTreeMap<Category, usize>,
    /// Requirement by requirement.
    pub requirements: Vec<RetrievedV1>,
}

/// What was retrieved for a requirement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RetrievedV1 {
    /// The bundle.
    pub bundle_id: String,
    /// The template it is compared with.
    pub template_id: String,
    /// The requirement.
    pub requirement_id: String,
    /// What was searched for.
    pub query: String,
    /// The share of its golden parts that were found; null where it has none.
    pub recall: Option<f64>,
    /// What was found, the best first.
    pub ranked: Vec<RankedV1>,
    /// What became of its golden parts.
    pub parts: Vec<FoundV1>,
}

/// A part that was retrieved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankedV1 {
    /// Its place, counted from 1.
    pub rank: usize,
    /// The id of the section.
    pub part: String,
    /// The document it stands in.
    pub document: String,
    /// Its heading.
    pub heading: String,
    /// Where in the document.
    pub place: String,
    /// What it was ranked by.
    pub score: f64,
    /// Its place and score by words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bm25: Option<ScoredV1>,
    /// Its place and score by vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedding: Option<ScoredV1>,
    /// Its score by the reranker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rerank: Option<f64>,
    /// The golden parts that it does not miss, and how it stands to them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub golden: BTreeMap<String, Category>,
}

/// A place and what it rests on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScoredV1 {
    /// The place, counted from 1.
    pub rank: usize,
    /// The score.
    pub score: f64,
}

/// A requirement by bundle, template and id.
pub type RequirementKey<'a> = (&'a str, &'a str, &'a str);

impl RetrievedV1 {
    /// The requirement that it is about.
    pub fn key(&self) -> RequirementKey<'_> {
        (&self.bundle_id, &self.template_id, &self.requirement_id)
    }
}

impl AssessedV1 {
    /// The requirement that it is about.
    pub fn key(&self) -> RequirementKey<'_> {
        (&self.bundle_id, &self.template_id, &self.requirement_id)
    }
}

/// What a search found of a golden part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FoundV1 {
    /// The golden part.
    pub part: String,
    /// What it is to the verdict.
    pub role: Role,
    /// The document it stands in.
    pub document: String,
    /// Its heading.
    pub title: String,
    /// How the best of what was retrieved stands to it.
    pub category: Category,
    /// The place of that one; null where all miss.
    pub rank: Option<usize>,
    /// The share of its words that the best one has.
    pub golden_coverage: f64,
    /// The share of the best one's words that are its own.
    pub part_coverage: f64,
}

/// What an assessor said, and what it is worth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AssessmentV1 {
    /// Who was asked: a provider, or `rules`.
    pub provider: String,
    /// The model, as its provider names it; empty for rules.
    pub model: String,
    /// The prompts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<String>,
    /// The metrics, the most important first. A requirement without an answer counts as missed, but for those that are left out.
    pub metrics: OrderedMap<EstimateV1>,
    /// The same over the requirements that were answered, where some were not.
    #[serde(default, skip_serializing_if = "OrderedMap::is_empty")]
    pub answered_only: OrderedMap<EstimateV1>,
    /// How many requirements were answered.
    pub answered: usize,
    /// How many were not, by reason.
    pub unanswered: BTreeMap<String, usize>,
    /// How many of these are left out of the metrics, since the assessor could not be asked: an outage, or a spent budget.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: usize,
    /// How many golden parts were lost, by stage.
    pub lost: BTreeMap<Stage, usize>,
    /// How many golden parts were cited in the right role.
    pub kept: usize,
    /// How often each verdict was given, by the verdict that is right.
    pub verdicts: BTreeMap<Compliance, BTreeMap<String, usize>>,
    /// Requirement by requirement.
    pub requirements: Vec<AssessedV1>,
}

/// What an assessor said of a requirement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AssessedV1 {
    /// The bundle.
    pub bundle_id: String,
    /// The template it is compared with.
    pub template_id: String,
    /// The requirement.
    pub requirement_id: String,
    /// The verdict of the record.
    pub golden: Compliance,
    /// The assessor's; null where it gave none.
    pub said: Option<Compliance>,
    /// How near they are; null where the assessor could not be asked.
    pub compliance: Option<f64>,
    /// The share of the evidence that was named; null where the record has none, or the assessor could not be asked.
    pub evidence: Option<f64>,
    /// Both together; null where the assessor could not be asked.
    pub combined: Option<f64>,
    /// The assessor's reason.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rationale: String,
    /// How many of the parts that were shown it held to be relevant.
    pub relevant: usize,
    /// The parts that it named.
    pub citations: Vec<CitationV1>,
    /// The golden parts, and what became of them.
    pub parts: Vec<PartV1>,
    /// Why there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unanswered: Option<UnansweredV1>,
}

/// A part that an assessor named.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CitationV1 {
    /// What it was called.
    pub name: String,
    /// What it is said to be.
    pub role: Role,
    /// The id of the section; null where no such part was shown.
    pub part: Option<String>,
    /// The golden parts that it holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub golden: Vec<String>,
}

/// What became of a golden part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PartV1 {
    /// The golden part.
    pub part: String,
    /// What it is to the verdict.
    pub role: Role,
    /// What it weighs.
    pub weight: f64,
    /// What it was cited as; null where it was not.
    pub cited: Option<Role>,
    /// The share of its weight that was earned; null where the assessor could not be asked.
    pub credit: Option<f64>,
    /// Where it was lost; null where it was cited as what it is, or the assessor could not be asked.
    pub lost: Option<Stage>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnansweredV1 {
    /// The question that got none.
    pub step: StepV1,
    /// The kind of reason.
    pub kind: String,
    /// The reason in words.
    pub why: String,
}

impl AssessmentV1 {
    /// What becomes of the requirements without an answer.
    pub fn treatment_of_unanswered(&self) -> String {
        match self.left_out {
            0 => "count as missed".to_owned(),
            n if n == self.unanswered.values().sum::<usize>() => "are left out of its figures".to_owned(),
            n => format!("count as missed, but for {n} that are left out of its figures"),
        }
    }
}

impl UnansweredV1 {
    /// Whether the model could not be asked, which says nothing about it. What it refused, or said in a form that cannot be read,
    /// is its own doing.
    pub fn is_left_out(&self) -> bool {
        matches!(self.kind.as_str(), "unreachable" | "unanswered" | "budget" | "cancelled")
    }
}

/// The two questions that a model is asked about a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepV1 {
    /// Which parts bear on it?
    Relevance,
    /// How far is it met?
    Verdict,
}

impl StepV1 {
    /// The word in logs and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Relevance => "relevance",
            Self::Verdict => "verdict",
        }
    }
}

/// Several assessors of the same requirements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SideBySideV1 {
    /// Differences within ± this count as equivalent.
    pub margin: f64,
    /// Every two of them.
    pub pairs: Vec<PairV1>,
    /// What each said of each requirement.
    pub requirements: Vec<RequirementAnswersV1>,
}

/// Two assessors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PairV1 {
    /// The first, which the second is compared with.
    pub a: String,
    /// The second.
    pub b: String,
    /// The metrics.
    pub metrics: Vec<DifferenceV1>,
}

/// What several assessors said of a requirement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "SaidV1")]
pub struct RequirementAnswersV1 {
    /// The bundle.
    pub bundle_id: String,
    /// The template it is compared with.
    pub template_id: String,
    /// The requirement.
    pub requirement_id: String,
    /// The verdict of the record.
    pub golden: Compliance,
    /// The verdicts by assessor; null where there is none.
    pub said: OrderedMap<Option<Compliance>>,
    /// The combined scores by assessor; null where it could not be asked.
    pub combined: OrderedMap<Option<f64>>,
}

/// What can differ between two executions of the same work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredV1 {
    /// The id under which logs are found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_run_id: Option<String>,
    /// The session whose documents were used or kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// How many documents were taken from the session and not read again.
    pub documents_reused: usize,
    /// Seconds by stage.
    pub seconds: BTreeMap<String, f64>,
    /// What each model took, by name.
    pub models: BTreeMap<String, ModelSpentV1>,
}

/// What a model took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelSpentV1 {
    /// Questions.
    pub questions: u64,
    /// Questions that the ledger answered.
    pub from_ledger: u64,
    /// Requests that were made, those made again included.
    pub requests: u64,
    /// Tokens sent.
    pub tokens_in: u64,
    /// Tokens received.
    pub tokens_out: u64,
    /// In USD; null where prices are not known.
    pub usd: Option<f64>,
}
