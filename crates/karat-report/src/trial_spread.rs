//! Mean and standard deviation over trials, for the headline metrics.

use super::number::{headline, or_dash, rank_metric, ranked, three, title};
use karat_format::report::ReportV1;

/// The heading in every format.
pub const TITLE: &str = "Variation over trials";

/// The caption of the cells.
pub const CELLS: &str = "mean ± standard deviation of the suite's figure";

/// One row per tool, one column per metric that has a standard deviation.
#[expect(missing_docs, reason = "field names say it")]
pub struct TrialSpread {
    pub columns: Vec<String>,
    /// Each tool with its cells, such as `0.812 ± 0.021`.
    pub rows: Vec<(String, Vec<String>)>,
}

/// The table, ranking metric first; `None` if no tool was tried more than once.
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
            None => or_dash(None),
        }
    };
    let row = |tool| ids.iter().map(|id| cell(tool, id)).collect();
    Some(TrialSpread {
        columns: ids.iter().map(|id| title(id).to_owned()).collect(),
        rows: tools.iter().map(|tool| (tool.tool.clone(), row(*tool))).collect(),
    })
}
