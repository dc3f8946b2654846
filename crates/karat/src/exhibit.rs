//! From a report to all that pages and plots show beside it: what can be said of its tools without scoring anything again.

use crate::format::power::VarianceV1;
use crate::format::report::{ReportV1, ToolV1};
use crate::power::{Question, Taken, of_tool};
use crate::report::exhibit::{Earlier, Exhibit, Sources};
use crate::report::number::rank_metric;

/// A report with everything beside it.
pub fn gather<'a>(report: &'a ReportV1, earlier: Vec<Earlier>, sources: Option<Sources<'a>>) -> Exhibit<'a> {
    Exhibit { name: None, report, variance: variance(report), earlier, sources }
}

/// The shares of every tool that has several trials of a case.
fn variance(report: &ReportV1) -> Vec<(String, VarianceV1)> {
    let cluster = report.intervals.asked();
    // Only the shares are wanted, for which the size of a difference does not matter.
    let question = Question { metric: rank_metric(report), effect: 0.05, power: 0.8, cluster: &cluster };
    let of = |tool: &ToolV1| {
        let found = of_tool(&[Taken { report, tool }], &question).ok()??;
        Some((tool.tool.clone(), found.variance?))
    };
    report.tools.iter().filter_map(of).collect()
}
