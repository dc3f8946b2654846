//! Lines and summaries of the log of an assessment.

#![expect(missing_docs, reason = "field names say it")]

use serde::{Deserialize, Serialize};

/// One event with its context.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogLineV1 {
    /// When, in UTC, as RFC 3339 has it.
    pub time: String,
    /// What happened: `run_began`, `document_read`, `bundle_searched`, `search_model_used`, `call_settled`, `call_failed_once`,
    /// `assessed`, `model_failed`, `run_ended` or `run_failed`.
    pub event: String,
    /// The execution that the line belongs to.
    pub batch_run_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assessment_mode: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundle_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requirement_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluation_model: Option<String>,
    /// The embedder or reranker that was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search_model: Option<String>,
    /// What was being done: `ingest`, `search`, `embedding`, `rerank`, `relevance` or `verdict`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<f64>,
    /// Whether it was already known: a document from the session, an answer from the ledger.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_in: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_out: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Anything else worth a word, such as the name of a document or a verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// The summary of a log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogSummaryV1 {
    pub batch_run_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    pub assessment_mode: String,
    /// When it began, in UTC.
    pub began: String,
    /// When it ended; null where it did not.
    pub ended: Option<String>,
    pub templates: Vec<String>,
    pub bundles: usize,
    /// How many requirements, those of all bundles together.
    pub requirements: usize,
    /// What was done, by stage and model.
    pub stages: Vec<LogStageV1>,
    /// In USD, all stages together; null where prices are not known.
    #[serde(default)]
    pub usd: Option<f64>,
    /// Whether more was spent than that, by calls whose price is not known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub usd_is_lower_bound: bool,
    /// What went wrong, by stage, model and kind.
    pub errors: Vec<LogErrorV1>,
    pub unreadable_lines: usize,
}

/// What was done in a stage, by one model where there is one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogStageV1 {
    pub stage: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub calls: usize,
    /// Those among them that were already known.
    pub cached: usize,
    /// Requests, those made again included.
    pub requests: u64,
    /// Those that failed in the end.
    pub errors: usize,
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// In USD; null where prices are not known.
    pub usd: Option<f64>,
    /// Whether more was spent than that, by calls whose price is not known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub usd_is_lower_bound: bool,
    /// How long they took; null where none took any time.
    pub latency_ms: Option<LatencyV1>,
}

/// How long calls took, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencyV1 {
    /// Half took no longer.
    pub p50: f64,
    /// Nine of ten took no longer.
    pub p90: f64,
    /// Ninety-nine of a hundred took no longer.
    pub p99: f64,
    pub max: f64,
}

/// Failures of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogErrorV1 {
    pub stage: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub kind: String,
    pub count: usize,
    /// The first of them, in words.
    pub first: String,
}
