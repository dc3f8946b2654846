//! Mean and standard deviation over the trials of a suite, for the metrics that a profile puts first.

use super::number::{headline, rank_metric, ranked, three, title};
use crate::format::report::ReportV1;

/// The heading of the table in every format.
pub const TITLE: &str = "Variation over trials";

/// What its cells are.
pub const CELLS: &str = "mean ± standard deviation of the suite's figure";

/// One row per tool, one column per metric that has a standard deviation.
pub struct TrialSpread {
    /// The titles of the metrics.
    pub columns: Vec<String>,
    /// Each tool with its cells: `0.812 ± 0.021`, or a dash.
    pub rows: Vec<(String, Vec<String>)>,
}

/// The table, the ranking metric first; none where no tool was tried more than once.
pub fn trial_spread(report: &ReportV1) -> Option<TrialSpread> {
    let tools = ranked(report);
    let deviates = |id: &&String| {
        tools.iter().any(|tool| headline(report, tool).get(*id).is_some_and(|estimate| estimate.std_trials.is_some()))
    };
    let mut ids: Vec<&String> = report.profile.headline.iter().filter(deviates).collect();
    ids.sort_by_key(|id| *id != rank_metric(report));
    if ids.is_empty() {
        return None;
    }
    let cell = |tool, id: &String| {
        let estimate = headline(report, tool).get(id);
        match estimate.and_then(|estimate| Some((estimate.value?, estimate.std_trials?))) {
            Some((mean, deviation)) => format!("{} ± {}", three(Some(mean)), three(Some(deviation))),
            None => "–".to_owned(),
        }
    };
    let row = |tool| ids.iter().map(|id| cell(tool, id)).collect();
    Some(TrialSpread {
        columns: ids.iter().map(|id| title(id).to_owned()).collect(),
        rows: tools.iter().map(|tool| (tool.tool.clone(), row(*tool))).collect(),
    })
}
