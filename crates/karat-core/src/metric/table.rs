//! Every metric once: its id, meaning, formula, direction and when it is undefined. Code, help and documentation share this.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// More is better.
    Up,
    /// Less is better.
    Down,
}

/// How single values become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregation {
    /// Trials are averaged within a case, then cases.
    MeanOfCases,
    /// From the four counts of verdicts, each case weighing 1.
    OverVerdicts,
}

/// What a metric is.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// The name in every format.
    pub id: &'static str,
    /// What people read in a table's head.
    pub title: &'static str,
    /// 0 for the finding level, else the tier of the metrics framework.
    pub tier: u8,
    /// Which way is better.
    pub direction: Direction,
    /// How it is computed.
    pub formula: &'static str,
    /// When it has no value.
    pub undefined_when: &'static str,
    /// How single values become one.
    pub aggregation: Aggregation,
}

use Aggregation::{MeanOfCases, OverVerdicts};
use Direction::{Down, Up};

const fn metric(
    id: &'static str,
    title: &'static str,
    tier: u8,
    direction: Direction,
    formula: &'static str,
    undefined_when: &'static str,
    aggregation: Aggregation,
) -> Metric {
    Metric { id, title, tier, direction, formula, undefined_when, aggregation }
}

/// All metrics, in the order in which they are shown.
pub static METRICS: &[Metric] = &[
    metric("precision", "precision", 0, Up, "TP / (TP + FP)", "no countable findings", MeanOfCases),
    metric("recall", "recall", 0, Up, "TP / required goldens", "no required golden", MeanOfCases),
    metric("f1", "F1", 0, Up, "2·TP / (2·TP + FP + FN)", "no required golden", MeanOfCases),
    metric("f2", "F2", 0, Up, "5·TP / (5·TP + 4·FN + FP)", "no required golden", MeanOfCases),
    metric("f_beta", "Fβ", 0, Up, "(1+β²)·TP / ((1+β²)·TP + β²·FN + FP)", "no required golden", MeanOfCases),
    metric("clean_pass", "clean", 0, Up, "clean cases without extras / clean cases", "no clean case", MeanOfCases),
    metric(
        "found_any",
        "found any",
        0,
        Up,
        "goldens found in some trial / required goldens",
        "no required golden",
        MeanOfCases,
    ),
    metric(
        "found_all",
        "found all",
        0,
        Up,
        "goldens found in every trial / required goldens",
        "no required golden",
        MeanOfCases,
    ),
    metric(
        "consistency",
        "consistency",
        0,
        Up,
        "goldens found in all trials or in none / required goldens",
        "no required golden, or fewer than two trials",
        MeanOfCases,
    ),
    metric("accuracy", "accuracy", 1, Up, "(TP + TN) / cases", "no verdicts", OverVerdicts),
    metric(
        "verdict_precision",
        "verdict precision",
        1,
        Up,
        "TP / (TP + FP)",
        "nothing was called vulnerable",
        OverVerdicts,
    ),
    metric("verdict_recall", "verdict recall", 1, Up, "TP / (TP + FN)", "no vulnerable case", OverVerdicts),
    metric(
        "verdict_f1",
        "verdict F1",
        1,
        Up,
        "2·TP / (2·TP + FP + FN)",
        "no vulnerable case and no alarm",
        OverVerdicts,
    ),
    metric(
        "verdict_f2",
        "verdict F2",
        1,
        Up,
        "5·TP / (5·TP + 4·FN + FP)",
        "no vulnerable case and no alarm",
        OverVerdicts,
    ),
    metric("tpr", "TPR", 1, Up, "TP / (TP + FN)", "no vulnerable case", OverVerdicts),
    metric("fpr", "FPR", 1, Down, "FP / (FP + TN)", "no safe case", OverVerdicts),
    metric("fnr", "FNR", 1, Down, "FN / (FN + TP)", "no vulnerable case", OverVerdicts),
    metric("specificity", "specificity", 1, Up, "TN / (TN + FP)", "no safe case", OverVerdicts),
    metric("youden", "Youden J", 1, Up, "TPR − FPR", "no vulnerable or no safe case", OverVerdicts),
];

/// The metric of that id.
pub fn find(id: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_says_what_it_is() {
        for (i, metric) in METRICS.iter().enumerate() {
            assert!(!metric.formula.is_empty() && !metric.undefined_when.is_empty(), "{}", metric.id);
            assert!(METRICS[..i].iter().all(|other| other.id != metric.id), "{} stands twice", metric.id);
        }
    }
}
