//! Gates: demands on results, and their outcomes.

use crate::comparison::OtherJudgesV1;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of this version of the format.
pub const SCHEMA: &str = "karat.gate/1";

/// What `karat gate --rules` demands of a report: least values, most costs, and what no tool may fall behind.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "gate rules")]
pub struct DemandsV1 {
    /// A baseline, a report or a run that no tool may do worse than; a file is looked for beside this one.
    pub no_worse_than: Option<String>,
    /// The metrics that this is about; those that come first where absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<String>,
    /// By how much a metric may be worse; 0.02 where absent.
    #[schemars(range(min = 0, max = 1))]
    pub margin: Option<f64>,
    /// What tools and judges together may cost, in USD.
    #[schemars(range(min = 0))]
    pub max_cost: Option<f64>,
    /// In what share of each kind of probes a judge may be wrong or fooled.
    #[schemars(range(min = 0, max = 1))]
    pub judge_licence: Option<f64>,
    /// Let a demand be met by fewer than 30 cases.
    #[serde(default)]
    pub allow_small_n: bool,
    /// The share of a tool's cases that must have a report before a demand is met; 0.9 where absent.
    #[schemars(range(min = 0, max = 1))]
    pub min_coverage: Option<f64>,
    /// Demands on single metrics.
    #[serde(default, rename = "rule", skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<BoundV1>,
}

/// A demand on one metric: at least, at most, or both.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoundV1 {
    /// The metric.
    pub metric: String,
    /// At least this.
    pub min: Option<f64>,
    /// At most this.
    pub max: Option<f64>,
    /// Only of this tool; of every tool where absent.
    pub tool: Option<String>,
}

/// What came of a gate: each demand with its outcome and the number it rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "gate")]
pub struct GateV1 {
    /// Always `karat.gate/1`.
    pub schema: String,
    /// What people call the suite.
    pub suite: String,
    /// The rules of scoring.
    pub profile: String,
    /// How many cases the suite has.
    pub cases: usize,
    /// A hash of the bytes that the report was read from, as `blake3:HEX`, which `--digest` pins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// That other judges decided for the earlier result; then it decides nothing unless that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_judges: Option<OtherJudgesV1>,
    /// The file that the result was written to as a baseline, where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline_written: Option<String>,
    /// What came of it all: fails where any demand does, else inconclusive where any is.
    pub outcome: DemandOutcomeV1,
    /// Every demand.
    pub demands: Vec<DemandV1>,
    /// What a reader must know before believing a number.
    pub warnings: Vec<String>,
}

/// What came of one demand.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DemandV1 {
    /// The tool; absent if it is about all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What is demanded, such as `F1 ≥ 0.6`.
    pub demand: String,
    /// The metric, where it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// What was measured; of a comparison, new minus old.
    pub value: Option<f64>,
    /// Its interval.
    pub ci: Option<[f64; 2]>,
    /// The number of cases or items it is based on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<usize>,
    /// What came of it.
    pub outcome: DemandOutcomeV1,
    /// Why.
    pub why: String,
    /// About how many cases would settle it, where it is not settled and any number would.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cases_wanted: Option<usize>,
    /// Whether no case differs from the earlier result.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unchanged: bool,
    /// Where none does: the share of cases, or clusters, that could differ unseen (95 %).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<f64>,
}

/// Whether a demand is met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "HeldV1")]
pub enum DemandOutcomeV1 {
    /// Too few cases have the metric, and nobody named it, so that it is no part of the result.
    LeftOut,
    /// It is met.
    Holds,
    /// The data do not decide.
    #[default]
    Inconclusive,
    /// It is not met.
    Fails,
}

impl DemandOutcomeV1 {
    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Self::LeftOut => "left out",
            Self::Holds => "pass",
            Self::Inconclusive => "inconclusive",
            Self::Fails => "fail",
        }
    }
}
