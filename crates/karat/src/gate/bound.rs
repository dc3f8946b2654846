//! A metric compared with a bound, by its interval.

use karat_core::metric::estimate::RELIABLE_N;
use karat_core::metric::table::{self, Aggregation};
use karat_core::wording::count;
use karat_format::gate::{BoundV1, DemandOutcomeV1, DemandV1};
use karat_format::report::{ReportV1, ToolV1};
use karat_report::judge_licence::inconclusive;
use karat_report::number::{stated, three, title};

/// Tolerance for sums of the same numbers in another order.
const NEAR: f64 = 1e-9;

/// The evidence behind a figure.
pub(super) struct Evidence {
    /// How many cases, clusters or items.
    pub(super) n: usize,
    pub(super) cases: usize,
    pub(super) few: bool,
    pub(super) allow_small_n: bool,
}

/// Checks the bounds of one line for one tool: at least, at most, or both.
pub(super) fn check(report: &ReportV1, tool: &ToolV1, bound: &BoundV1, allow_small_n: bool) -> Vec<DemandV1> {
    let least = bound.min.map(|least| one(report, tool, &bound.metric, least, true, allow_small_n));
    let most = bound.max.map(|most| one(report, tool, &bound.metric, most, false, allow_small_n));
    least.into_iter().chain(most).collect()
}

fn one(report: &ReportV1, tool: &ToolV1, id: &str, bound: f64, least: bool, allow_small_n: bool) -> DemandV1 {
    let demand = format!("{} {} {bound}", title(id), if least { "≥" } else { "≤" });
    let none = inconclusive(Some(&tool.tool), demand, Some(id));
    let Some(estimate) = stated(report, tool, id) else {
        return DemandV1 { why: "the report does not contain it; score again to add it".to_owned(), ..none };
    };
    let none = DemandV1 { value: estimate.value, ci: estimate.ci, n: Some(estimate.n), ..none };
    let Some(value) = estimate.value else {
        let reason = estimate.undefined.as_deref().unwrap_or("no reason given");
        return DemandV1 { why: format!("it has no value: {reason}"), ..none };
    };
    let Some([low, high]) = estimate.ci else {
        let reason = estimate.no_ci.as_deref().unwrap_or("the report was made without intervals; score again");
        return DemandV1 { why: format!("{} has no interval: {reason}", three(Some(value))), ..none };
    };
    // A pooled metric rests on all cases of the suite.
    let mean = table::find(id).is_some_and(|metric| metric.aggregation == Aggregation::MeanOfCases);
    let cases = if mean { estimate.n } else { report.cases.len() };
    let wanted = Evidence { n: estimate.n, cases, few: estimate.unreliable, allow_small_n };
    let (outcome, why, cases_wanted) = if least {
        settle(value, [low, high], bound, low >= bound - NEAR, &wanted)
    } else {
        settle(-value, [-high, -low], -bound, high <= bound + NEAR, &wanted)
    };
    let [value, low, high] = [value, low, high].map(|number| three(Some(number)));
    DemandV1 { outcome, why: format!("{value}, interval {low} … {high}{why}"), cases_wanted, ..none }
}

/// Compares an interval with a lower bound: the outcome, the rest of its explanation, and how many cases would decide it.
pub(super) fn settle(
    value: f64,
    [low, high]: [f64; 2],
    bound: f64,
    meets: bool,
    wanted: &Evidence,
) -> (DemandOutcomeV1, String, Option<usize>) {
    let n = wanted.n;
    if high < bound - NEAR {
        return (DemandOutcomeV1::Fails, format!(", n = {n}"), None);
    }
    if meets && (!wanted.few || wanted.allow_small_n) {
        return (DemandOutcomeV1::Holds, format!(", n = {n}"), None);
    }
    if meets {
        let cases = enough(wanted);
        let why =
            format!(": it would pass, but n = {n} is too few to rely on; {} would be enough", count(cases, "case"));
        return (DemandOutcomeV1::Inconclusive, why, Some(cases));
    }
    let why = format!(": n = {n} is too small to decide");
    // The interval shrinks as the root of the cases grows, and has to shrink until it no longer reaches the bound.
    let (distance, reach) = if value > bound { (value - bound, value - low) } else { (bound - value, high - value) };
    let cases = (wanted.cases as f64 * (reach / distance).powi(2)).ceil();
    if !(distance > 0.0 && cases < 1e7) {
        return (DemandOutcomeV1::Inconclusive, format!("{why}: the value equals the bound"), None);
    }
    let cases = (cases as usize).max(wanted.cases + 1).max(enough(wanted));
    (DemandOutcomeV1::Inconclusive, format!("{why}; about {} would be enough", count(cases, "case")), Some(cases))
}

/// How many cases make the figure reliable, if clusters and items grow in proportion to cases.
fn enough(wanted: &Evidence) -> usize {
    if wanted.n == 0 { RELIABLE_N } else { (RELIABLE_N * wanted.cases).div_ceil(wanted.n) }
}
