//! Power analysis: how many cases a difference needs, and the components of an interval's width.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of this version of the format.
pub const SCHEMA: &str = "karat.power/1";

/// What `karat power` answers: how many cases it takes to see a difference, and what that rests on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "power")]
pub struct PowerV1 {
    /// Always `karat.power/1`.
    pub schema: String,
    /// The metric, where there is a report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// The difference that is to be seen.
    pub effect: f64,
    /// How often it is to be seen.
    pub power: f64,
    /// How often intervals hold the truth.
    pub level: f64,
    /// How much paired differences differ from case to case: their standard deviation.
    pub spread: f64,
    /// What the spread was computed from.
    pub spread_of: String,
    /// How many times as many cases it takes because cases of a cluster are alike; absent without clusters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub design_effect: Option<f64>,
    /// So many cases are needed.
    pub cases: Option<usize>,
    /// So many clusters, of as many cases as now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters: Option<usize>,
    /// What the present suite can see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub present: Option<PresentV1>,
    /// The components of the width of the interval; absent if there is one trial of each case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variance: Option<VarianceV1>,
    /// What to know of these numbers.
    pub notes: Vec<String>,
}

/// What the present suite can see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PresentV1 {
    /// How many cases it has on which the metric has a value.
    pub cases: usize,
    /// How many clusters, where clusters are named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters: Option<usize>,
    /// The smallest difference that would be seen as often as asked for.
    pub detectable: Option<f64>,
}

/// Shares of the variance of the mean, and what would halve its interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VarianceV1 {
    /// The share of how much cases differ.
    pub cases: f64,
    /// The share of how much trials of a case differ.
    pub trials: f64,
    /// The share of how much judges differ; absent with one judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judges: Option<f64>,
    /// The share of what is left, where several judges judged the same trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<f64>,
    /// How many cases there are.
    pub case_count: usize,
    /// How many trials a case, on average.
    pub trials_per_case: f64,
    /// How many judges a trial, on average.
    pub judges_per_trial: f64,
    /// So many cases in all would halve the interval.
    pub halved_by_cases: Option<usize>,
    /// So many trials of each case would; null where no number does.
    pub halved_by_trials: Option<usize>,
    /// So many judges would; null where no number does, or there is one judge.
    pub halved_by_judges: Option<usize>,
}
