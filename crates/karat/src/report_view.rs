//! Adds to a report what pages and plots show beside it, without scoring anything again.

use crate::power::{Question, of_tool};
use karat_format::power::VarianceV1;
use karat_format::report::{ReportV1, ToolV1};
use karat_report::number::rank_metric;
use karat_report::report_view::{EarlierReport, ReportView, RunReference, Sources};
use karat_store::RunInfo;

/// A report with everything beside it.
pub fn gather<'a>(report: &'a ReportV1, earlier: Vec<EarlierReport>, sources: Option<Sources<'a>>) -> ReportView<'a> {
    ReportView { variance: variance(report), earlier, sources, ..ReportView::new(report) }
}

/// A stored run as pages name it.
pub fn run_reference(run: &RunInfo) -> RunReference {
    RunReference { id: run.id.to_string(), short_id: run.short_id.clone(), began: run.began() }
}

/// The shares of every tool that has several trials of a case.
fn variance(report: &ReportV1) -> Vec<(String, VarianceV1)> {
    let cluster = report.intervals.cluster_by();
    // Only the shares are wanted, for which the size of a difference does not matter.
    let question = Question { metric: rank_metric(report), effect: 0.05, power: 0.8, cluster: &cluster };
    let of = |tool: &ToolV1| Some((tool.tool.clone(), of_tool((report, tool), &[], &question).ok()?.variance?));
    report.tools.iter().filter_map(of).collect()
}
