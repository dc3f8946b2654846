//! From a report to all that pages and plots show beside it: what can be said of its tools without scoring anything again.

use crate::comparison::{Request, Side, compare};
use crate::format::comparison::ComparisonV1;
use crate::format::power::VarianceV1;
use crate::format::report::{ReportV1, ToolV1};
use crate::power::{Question, Taken, of_tool};
use crate::report::exhibit::{Earlier, Exhibit, Sources};
use crate::report::number::rank_metric;
use karat_core::comparison::Rules;

/// A report with everything beside it.
pub fn gather<'a>(report: &'a ReportV1, earlier: Vec<Earlier>, sources: Option<Sources<'a>>) -> Exhibit<'a> {
    Exhibit { report, comparison: all_pairs(report), variance: variance(report), earlier, sources }
}

/// About so many draws of a case are made for all pairs together, so that a page of many tools is not waited for.
const DRAWS: usize = 2_000_000_000;
/// Fewer samples than this say too little about a small p value.
const FEWEST_SAMPLES: usize = 1_000;

/// Every tool against every other by the metric that ranks them; none with a single tool, or where reports do not compare.
fn all_pairs(report: &ReportV1) -> Option<ComparisonV1> {
    let sides: Vec<Side> = report.tools.iter().map(|tool| Side::of_report(report, tool, &tool.tool)).collect();
    let pairs: Vec<(&Side, &Side)> =
        sides.iter().enumerate().flat_map(|(at, a)| sides[at + 1..].iter().map(move |b| (a, b))).collect();
    if pairs.is_empty() {
        return None;
    }
    let affordable = DRAWS / (pairs.len() * report.cases.len().max(1));
    let resamples = affordable.clamp(FEWEST_SAMPLES, report.intervals.resamples.max(FEWEST_SAMPLES));
    let rules = Rules { seed: Some(report.seed), resamples, ..Rules::default() };
    let metrics = [rank_metric(report).to_owned()];
    let cluster = report.intervals.cluster.as_deref();
    compare(&pairs, &Request { metrics: &metrics, cluster, rules, intersection: false }).ok()
}

/// The shares of every tool that has several trials of a case.
fn variance(report: &ReportV1) -> Vec<(String, VarianceV1)> {
    // Only the shares are wanted, for which the size of a difference does not matter.
    let question = Question {
        metric: rank_metric(report),
        effect: 0.05,
        power: 0.8,
        cluster: report.intervals.cluster.as_deref(),
    };
    let of = |tool: &ToolV1| {
        let found = of_tool(&[Taken { report, tool }], &question).ok()??;
        Some((tool.tool.clone(), found.variance?))
    };
    report.tools.iter().filter_map(of).collect()
}
