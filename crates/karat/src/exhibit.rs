//! From a report to all that pages and plots show beside it: what can be said of its tools without scoring anything again.

use crate::comparison::{Request, Side, compare};
use crate::format::comparison::ComparisonV1;
use crate::format::power::VarianceV1;
use crate::format::report::{ReportV1, ToolV1};
use crate::power::{Question, Taken, of_tool};
use crate::report::exhibit::{Earlier, Exhibit, Sources};
use crate::report::number::{rank_metric, ranked};
use karat_core::comparison::Rules;

/// A report with everything beside it.
pub fn gather<'a>(report: &'a ReportV1, earlier: Vec<Earlier>, sources: Option<Sources<'a>>) -> Exhibit<'a> {
    Exhibit { name: None, report, comparison: all_pairs(report), variance: variance(report), earlier, sources }
}

/// About so many draws of a case are made for all pairs together, so that a page of many tools is not waited for.
const DRAWS: usize = 4_000_000_000;
/// Fewer samples than this say too little about an interval.
const FEWEST_SAMPLES: usize = 1_000;

/// Every tool against every other by the metric that ranks them; none with a single tool, or where reports do not compare.
///
/// The more pairs there are, the more permutations each needs, so the price grows with the fourth power of the tools. Where
/// it would be too high, the best tools are held against each other and the rest are left out.
fn all_pairs(report: &ReportV1) -> Option<ComparisonV1> {
    let (tools, rules) = affordable(report)?;
    let sides: Vec<Side> = tools.iter().map(|tool| Side::of_report(report, tool, &tool.tool)).collect();
    let pairs: Vec<(&Side, &Side)> =
        sides.iter().enumerate().flat_map(|(at, a)| sides[at + 1..].iter().map(move |b| (a, b))).collect();
    let metrics = [rank_metric(report).to_owned()];
    let cluster = report.intervals.asked();
    compare(&pairs, &Request { metrics: &metrics, cluster: &cluster, rules, intersection: false }).ok()
}

/// As many of the best tools as can be compared, and by how many samples; none of fewer than two.
fn affordable(report: &ReportV1) -> Option<(Vec<&ToolV1>, Rules)> {
    let best = ranked(report);
    let of = |tools: usize| {
        let pairs = tools * (tools - 1) / 2;
        let each = DRAWS / (pairs * report.cases.len().max(1));
        let rules = Rules { seed: Some(report.seed), resamples: 0, ..Rules::default() };
        let left = each.saturating_sub(rules.permutations(pairs)).min(each / 2);
        let most = report.intervals.resamples.max(FEWEST_SAMPLES);
        let rules = Rules { resamples: left.clamp(FEWEST_SAMPLES, most), ..rules };
        // Two tools are compared whatever it takes.
        (tools == 2 || rules.resamples + rules.permutations(pairs) <= each).then_some((tools, rules))
    };
    let (tools, rules) = (2..=best.len()).rev().find_map(of)?;
    Some((best.into_iter().take(tools).collect(), rules))
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Tools of which each is better than the next in every case by far.
    fn made(tools: usize, cases: usize) -> ReportV1 {
        let estimate = |value: f64| json!({ "value": value, "n": 1, "direction": "up" });
        let tool = |at: usize| {
            let of_case = |n: usize| 1.0 - at as f64 / tools as f64 - 0.001 * (n % 7) as f64;
            let f1 = (0..cases).map(of_case).sum::<f64>() / cases as f64;
            let case = |n: usize| {
                let own = estimate(of_case(n));
                json!({ "case": format!("c{n}"), "pass": false, "metrics": { "f1": own }, "trials": [] })
            };
            json!({
                "tool": format!("t{at:02}"), "trials": cases, "outcomes": { "reported": cases }, "pass": false,
                "counts": { "tp": 1, "fp": 0, "fn": 0 }, "verdicts": { "tp": 1.0, "fp": 0.0, "tn": 0.0, "fn": 0.0 },
                "metrics": { "f1": estimate(f1) }, "micro": {}, "macro_by": {}, "by": {},
                "cases": (0..cases).map(case).collect::<Vec<_>>(),
            })
        };
        let case = |n: usize| json!({ "case": format!("c{n}"), "verdict": "vulnerable", "issues": [] });
        let value = json!({
            "schema": "karat.report/1",
            "suite": { "name": "made", "digest": "d", "cases": cases, "issues": cases },
            "profile": { "name": "karat", "method": "score", "expect_pass": false, "headline": ["f1"] },
            "intervals": { "level": 0.95, "resamples": 10_000, "bootstrap": "bca", "proportions": "wilson" },
            "seed": 1, "cases": (0..cases).map(case).collect::<Vec<_>>(),
            "tools": (0..tools).map(tool).collect::<Vec<_>>(), "judges": [],
            "measured": { "latency": {}, "cost": {} }, "warnings": [],
        });
        serde_json::from_value(value).unwrap()
    }

    #[track_caller]
    fn check(tools: usize, cases: usize, compared: usize) {
        let report = made(tools, cases);
        let (best, rules) = affordable(&report).unwrap();
        assert_eq!(best.len(), compared, "{tools} tools on {cases} cases");
        let names: Vec<&str> = best.iter().map(|tool| tool.tool.as_str()).collect();
        assert!(names.is_sorted() && names[0] == "t00", "{names:?}");
        let pairs = compared * (compared - 1) / 2;
        // A p value as small as there can be still tells two tools apart, adjusted for all pairs.
        assert!(pairs as f64 / (rules.permutations(pairs) + 1) as f64 <= 0.05);
    }

    #[test]
    fn as_many_tools_are_compared_as_can_be_told_apart_in_time() {
        check(2, 40, 2);
        check(10, 5_000, 10);
        check(50, 40, 50);
        check(50, 5_000, 16);
        check(2, 500_000, 2);
        assert!(affordable(&made(1, 40)).is_none());
    }

    #[test]
    fn many_tools_that_differ_in_every_case_are_told_apart() {
        let comparison = all_pairs(&made(24, 30)).unwrap();
        assert_eq!(comparison.comparisons.len(), 276);
        let better = |pair: &crate::format::comparison::PairV1| {
            pair.metrics[0].verdict == crate::format::comparison::ConclusionV1::Worse
        };
        assert!(comparison.comparisons.iter().all(better));
    }
}
