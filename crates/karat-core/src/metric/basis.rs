//! What each metric is computed from, so that it can be recomputed for any subset of cases.

use super::levels::Scale;
use super::sums::Sums;
use super::table::{self, Aggregation, Track};

/// What is added up, or averaged, over cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The cases' own values of the metric, of which it is the mean.
    Values,
    /// The columns of [`Sums::columns`].
    Sums,
    /// The cases' own values of another metric, of which it is the standard deviation.
    Spread(&'static str),
    /// Counts at each level of confidence or severity.
    Levels(Scale),
    /// No sum over cases has it, for this reason.
    Whole(&'static str),
}

/// What the metric of that id is computed from; none where there is no such metric of findings.
pub fn basis(id: &str) -> Option<Basis> {
    let metric = table::find(id).filter(|metric| metric.track == Track::Findings)?;
    Some(match id {
        _ if Sums::columns(id, 0).is_some() => Basis::Sums,
        "std_rcir" => Basis::Spread("mean_rcir"),
        "std_ava" => Basis::Spread("mean_ava"),
        "std_fsv" => Basis::Spread("mean_fsv"),
        "ece_adaptive" => Basis::Levels(Scale::Verdict),
        "average_precision" | "best_f1" => Basis::Levels(Scale::Confidence),
        "severity_average_precision" | "severity_best_f1" => Basis::Levels(Scale::Severity),
        _ if metric.aggregation == Aggregation::MeanOfCases => Basis::Values,
        _ => Basis::Whole("it covers all tools of a report together, so no single case contributes to it"),
    })
}
