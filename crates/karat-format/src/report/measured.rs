//! Statistics of judges, and figures that can differ between two executions of the same work.

use crate::probe::ProbeV1;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Who decided pairs, and how often.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeV1 {
    /// The judge.
    pub judge: String,
    /// Questions that were put to it, whether it was asked now or the ledger knew.
    pub asked: usize,
    /// Decisions for which nobody had to be asked at any time: judgements that were given, and the answers to questions that
    /// equal another one of this report.
    pub cached: usize,
    /// Questions whose answer could not change anything.
    pub saved: usize,
    /// Questions that got no answer; of a judge whose judgements were given, pairs that they leave open.
    pub unjudged: usize,
    /// Those among them that the model or a filter did not want to answer.
    #[serde(default)]
    pub refused: usize,
    /// Matches of its that file, lines and words alone would not have made.
    #[serde(default)]
    pub beyond: usize,
    /// Tokens of all replies of the exchanges that the ledger keeps, whenever they were made. Questions without an answer are not
    /// among them; all that was spent this time is measured.
    pub tokens: u64,
    /// What the ledger says that these exchanges cost, in USD; null where prices are not known.
    pub usd: Option<f64>,
    /// How the model chose its words, where that was not as configured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<SamplingV1>,
    /// Parameters that the provider refused, so that answers were given without them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused_parameters: Vec<String>,
    /// How answers were asked for, where that was not by schema throughout: the loosest form of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_format: Option<AnswerFormatV1>,
    /// How far the members of a panel agree.
    #[serde(default)]
    pub agreement: Option<AgreementV1>,
    /// How it did the last time it was probed; absent if it never was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<ProbeV1>,
    /// How far it agrees with the judgements it was measured against, for the kind of findings that most of the judged ones are;
    /// absent for judges without such a figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_agreement: Option<MeasuredAgreementV1>,
}

/// How far a judge agreed with judgements that it had not seen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredAgreementV1 {
    /// Cohen's kappa on goldens found.
    pub kappa: f64,
    /// The findings it was measured on.
    pub on: FindingKindV1,
    /// What most of the findings of this report are. Where that is another kind, the figure was not measured on it.
    pub most_findings: FindingKindV1,
}

/// Who reports findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingKindV1 {
    /// Reviewers, in their own words.
    ReviewComments,
    /// Scanners: they name a rule or a weakness.
    ScannerFindings,
}

impl FindingKindV1 {
    /// As in a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Self::ReviewComments => "review comments",
            Self::ScannerFindings => "scanner findings",
        }
    }
}

/// How a model chose its words, where that was not as configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SamplingV1 {
    /// The provider refused `temperature`, and sampled as it does by default.
    ProviderDefault,
    /// So it was for some answers; for others `temperature` was sent.
    Mixed,
}

/// In what form answers were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerFormatV1 {
    /// As any JSON object.
    JsonObject,
    /// By the words of the prompt alone.
    Text,
}

/// How far judges of the same pairs agree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgreementV1 {
    /// The judges.
    pub judges: Vec<String>,
    /// How many pairs at least two of them decided.
    pub n: usize,
    /// The share of agreeing votes.
    pub percent: Option<f64>,
    /// Fleiss' kappa.
    pub fleiss: Option<f64>,
    /// Krippendorff's alpha.
    pub krippendorff: Option<f64>,
    /// Its 95 % interval.
    pub krippendorff_ci: Option<[f64; 2]>,
    /// Gwet's AC1.
    pub ac1: Option<f64>,
}

/// What a judge cost this time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeSpentV1 {
    /// Different questions that the ledger answered.
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

/// What can differ between two executions of the same work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredV1 {
    /// By tool.
    pub latency: BTreeMap<String, LatencyV1>,
    /// By tool.
    pub cost: BTreeMap<String, CostV1>,
    /// By tool: what trials that met an outage cost in USD. It is no part of `cost`; `karat gate --max-cost` adds it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outages_usd: BTreeMap<String, f64>,
    /// By tool: the isolation that was in force.
    #[serde(default)]
    pub isolation: BTreeMap<String, String>,
    /// By judge that is a model.
    #[serde(default)]
    pub judges: BTreeMap<String, JudgeSpentV1>,
    /// Seconds by stage.
    #[serde(default)]
    pub times: BTreeMap<String, f64>,
    /// What follows `karat label next` to select the trials of a report with `sensitivity`; absent where it cannot load them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_source: Option<String>,
}

/// How long trials took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyV1 {
    /// The mean over trials that say so: the time of one case.
    pub mean_ms: f64,
    /// All trials together for each required golden found; null where none was.
    #[serde(default)]
    pub ms_per_tp: Option<f64>,
    /// How many say so.
    pub n: usize,
}

/// What trials cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CostV1 {
    /// All trials together.
    pub usd: f64,
    /// For one trial of one case, of those that say what they cost.
    #[serde(default)]
    pub usd_per_case: f64,
    /// For each required golden found; null where none was.
    pub usd_per_tp: Option<f64>,
    /// Tokens, sent and received, for one trial of one case.
    #[serde(default)]
    pub tokens_per_case: f64,
    /// The same for each required golden found; null where none was.
    #[serde(default)]
    pub tokens_per_tp: Option<f64>,
    /// Tokens sent.
    pub tokens_in: u64,
    /// Tokens received.
    pub tokens_out: u64,
    /// How many trials say what they cost.
    pub n: usize,
}

/// Pooled metrics corrected for the judge's errors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CorrectedToolV1 {
    /// Countable findings with a label.
    pub labelled_findings: usize,
    /// Required goldens of trials with a label.
    pub labelled_goldens: usize,
    /// Pooled precision.
    pub precision: CorrectedMetricV1,
    /// Pooled recall.
    pub recall: CorrectedMetricV1,
    /// Pooled F1.
    pub f1: CorrectedMetricV1,
}

/// A pooled figure as the judge has it, and as it would be without errors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CorrectedMetricV1 {
    /// As the judge has it.
    pub raw: Option<f64>,
    /// By the judge's sensitivity and specificity (Rogan and Gladen).
    pub rogan_gladen: CorrectedV1,
    /// By what labels add to what the judge says of all items (PPI++).
    pub ppi: CorrectedV1,
}

/// A corrected figure, or why there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CorrectedV1 {
    /// The figure.
    Value {
        /// The figure.
        value: f64,
        /// Its interval.
        ci: [f64; 2],
        /// How often such intervals hold the truth.
        level: f64,
        /// How it came about.
        method: String,
        /// How many labels it rests on.
        n: usize,
    },
    /// There is none.
    Refused {
        /// Why.
        refused: String,
    },
}
