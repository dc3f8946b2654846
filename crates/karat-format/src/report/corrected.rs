//! Pooled metrics corrected for the judge's errors.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
