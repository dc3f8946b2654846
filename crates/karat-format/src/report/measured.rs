//! Statistics of judges, and figures that can differ between two executions of the same work.

use crate::probe::ProbeV1;
use karat_core::panel::AuditField;
use karat_core::wording::count;
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
    /// The parameters of its requests as they were really sent, without prompts: each combination once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sent: Vec<serde_json::Map<String, serde_json::Value>>,
    /// How many of the tokens were thought rather than answered, as far as servers say it.
    #[serde(default, skip_serializing_if = "crate::report::is_zero")]
    pub tokens_thinking: usize,
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
    /// What its decisions depend on beside its name; absent where they were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<JudgeIdentityV1>,
}

/// What the decisions of a judge depend on beside its name. Results of judges that differ in it are not compared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeIdentityV1 {
    /// Whether it is the local judge, a provider of models, people or a panel.
    pub provider: String,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The parameters of its requests, or a hash of the local judge's.
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub parameters: serde_json::Value,
    /// The prompts that it was asked with, and the beginning of the hash of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<String>,
    /// The judges of a panel.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<String>,
    /// How a panel decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consensus: Option<String>,
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

/// How far judges of the same pairs or audits agree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgreementV1 {
    /// The judges.
    pub judges: Vec<String>,
    /// What they decided; absent: pairs. `audit_agreement` of the report has the other decisions of audits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<AuditField>,
    /// How many pairs, or trials, at least two of them decided.
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

/// How far the judges of the same audits agree on each of their decisions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuditAgreementV1 {
    /// The judges, people included.
    pub judges: Vec<String>,
    /// The ten decisions.
    pub fields: Vec<FieldAgreementV1>,
}

/// How far judges agree on one decision of audits. What was not asked has no part in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FieldAgreementV1 {
    /// The decision.
    pub field: AuditField,
    /// What distance between answers counts.
    pub level: AgreementLevelV1,
    /// How many trials, or findings of trials, at least two of the judges decided.
    pub n: usize,
    /// The share of equal answers.
    pub percent: Option<f64>,
    /// Krippendorff's alpha.
    pub alpha: Option<f64>,
    /// Its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha_ci: Option<[f64; 2]>,
    /// Why there is no alpha.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undefined: Option<String>,
    /// Cohen's kappa, of two judges whose answers have no distance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kappa: Option<f64>,
    /// Its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kappa_ci: Option<[f64; 2]>,
}

/// What can be said of two different answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AgreementLevelV1 {
    /// That they differ.
    Nominal,
    /// Which is better.
    Ordinal,
    /// How far apart they are.
    Interval,
}

impl AgreementV1 {
    /// What was decided, in words.
    pub fn items(&self) -> String {
        count(self.n, if self.on.is_some() { "verdict" } else { "pair" })
    }
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CostV1 {
    /// All trials together that state a price; null where none does.
    pub usd: Option<f64>,
    /// Whether more was spent than that, by trials that ran and state no price.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub usd_is_lower_bound: bool,
    /// Why `usd` is null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd_undefined: Option<String>,
    /// For one trial of one case, of those that state a price; null where none does.
    #[serde(default)]
    pub usd_per_case: Option<f64>,
    /// For each required golden found; null where none was, or no trial states a price.
    pub usd_per_tp: Option<f64>,
    /// Tokens, sent and received, for one trial of one case, of those that state both; null where none does.
    #[serde(default)]
    pub tokens_per_case: Option<f64>,
    /// The same for each required golden found; null where none was, or one of the `n` trials does not state both.
    #[serde(default)]
    pub tokens_per_tp: Option<f64>,
    /// Tokens sent; null where no trial states them.
    pub tokens_in: Option<u64>,
    /// Tokens received; null where no trial states them.
    pub tokens_out: Option<u64>,
    /// How many trials say what they cost, in USD or in tokens.
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
