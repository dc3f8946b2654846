//! Checks a report against demands: each holds, fails, or is inconclusive. Nothing is scored again.

use super::bound::{self, Evidence, settle};
use crate::comparison::{Refusal, Request, Side, compare};
use karat_core::comparison::Rules;
use karat_core::metric::table::Direction;
use karat_format::comparison::DifferenceV1;
use karat_format::gate::{BoundV1, DemandOutcomeV1, DemandV1, GateV1, SCHEMA};
use karat_format::report::{ReportV1, ToolV1};
use karat_report::judge_licence::{inconclusive, licences};
use karat_report::number::{signed, three, title};

/// All demands on a report.
pub(super) struct Demands {
    pub(super) bounds: Vec<BoundV1>,
    pub(super) no_worse: Option<NoWorse>,
    /// Limit of the cost of tools and judges together, in USD.
    pub(super) max_cost: Option<f64>,
    /// Share of each kind of probes in which a judge may be wrong or fooled.
    pub(super) licence: Option<f64>,
    /// Whether fewer than 30 cases are enough.
    pub(super) allow_small_n: bool,
}

/// An earlier result that no tool may be worse than.
pub(super) struct NoWorse {
    pub(super) label: String,
    pub(super) sides: Vec<Side>,
    /// Default: the headline metrics of each side.
    pub(super) metrics: Vec<String>,
    pub(super) rules: Rules,
    /// Whether another version of the suite is compared on the cases with the same goldens.
    pub(super) intersection: bool,
}

/// Checks a report against all demands.
pub(super) fn check(report: &ReportV1, tools: &[&ToolV1], demands: &Demands) -> Result<GateV1, Refusal> {
    let mut all = Vec::new();
    let mut warnings = Vec::new();
    for tool in tools {
        let own = |bound: &&BoundV1| bound.tool.as_ref().is_none_or(|name| *name == tool.tool);
        for bound in demands.bounds.iter().filter(own) {
            all.extend(bound::check(report, tool, bound, demands.allow_small_n));
        }
        if let Some(no_worse) = &demands.no_worse {
            all.extend(against(report, tool, tools.len(), no_worse, demands.allow_small_n, &mut warnings)?);
        }
    }
    all.extend(demands.max_cost.map(|most| cost(report, tools, most)));
    if let Some(most) = demands.licence {
        all.extend(licences(report, most));
    }
    Ok(GateV1 {
        schema: SCHEMA.to_owned(),
        suite: report.suite.name.clone(),
        profile: report.profile.name.clone(),
        cases: report.cases.len(),
        digest: None,
        outcome: all.iter().map(|demand| demand.outcome).max().unwrap_or(DemandOutcomeV1::Holds),
        demands: all,
        warnings,
    })
}

/// Compares a tool with its earlier result, metric by metric.
fn against(
    report: &ReportV1,
    tool: &ToolV1,
    tools: usize,
    no_worse: &NoWorse,
    allow_small_n: bool,
    warnings: &mut Vec<String>,
) -> Result<Vec<DemandV1>, Refusal> {
    let named = no_worse.sides.iter().find(|side| side.tool == tool.tool);
    // A tool may have been renamed in between; where there is one on either side, there is no doubt.
    let only = no_worse.sides.first().filter(|_| no_worse.sides.len() == 1 && tools == 1);
    let Some(old) = named.or(only) else {
        let there: Vec<&str> = no_worse.sides.iter().map(|side| side.tool.as_str()).collect();
        let why = format!("{} has no such tool; available: {}", no_worse.label, there.join(", "));
        let demand = format!("no worse than {}", no_worse.label);
        return Ok(vec![DemandV1 { why, ..inconclusive(Some(&tool.tool), demand, None) }]);
    };
    let new = Side::of_report(report, tool, format!("{} (new)", tool.tool));
    let metrics = if no_worse.metrics.is_empty() { &old.headline } else { &no_worse.metrics };
    let request = Request {
        metrics,
        cluster: &report.intervals.cluster_by(),
        rules: no_worse.rules,
        intersection: no_worse.intersection,
    };
    let compared = compare(&[(old, &new)], &request)?;
    for warning in compared.warnings {
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
    let margin = no_worse.rules.margin;
    let differences = compared.comparisons.into_iter().flat_map(|pair| pair.metrics);
    Ok(differences
        .map(|difference| check_difference(tool, &difference, &no_worse.label, margin, allow_small_n))
        .collect())
}

/// Checks one metric against its earlier value.
fn check_difference(
    tool: &ToolV1,
    difference: &DifferenceV1,
    label: &str,
    margin: f64,
    allow_small_n: bool,
) -> DemandV1 {
    let demand = format!("{} no worse than {label} by {margin}", title(&difference.metric));
    let none = DemandV1 {
        value: difference.difference,
        ci: difference.ci,
        n: Some(difference.units),
        ..inconclusive(Some(&tool.tool), demand, Some(&difference.metric))
    };
    // Where every case moved by the same amount, that amount is all there is.
    let same = difference.difference.filter(|_| difference.p.is_some()).map(|value| [value, value]);
    let (Some(value), Some([low, high])) = (difference.difference, difference.ci.or(same)) else {
        let figures = match (difference.a, difference.b) {
            (None, None) => String::new(),
            (a, b) => format!("{} → {}: ", three(a), three(b)),
        };
        return DemandV1 { why: format!("{figures}{}", difference.because), ..none };
    };
    let (value, low, high) = match difference.direction {
        Direction::Up => (value, low, high),
        Direction::Down => (-value, -high, -low),
    };
    let wanted = Evidence { n: difference.units, cases: difference.n, few: difference.unreliable, allow_small_n };
    // The margin itself is too much, so that the lower end has to lie above it; what has not moved at all is no worse by any.
    let meets = low > -margin || (low == 0.0 && high == 0.0);
    let (outcome, why, cases_wanted) = settle(value, [low, high], -margin, meets, &wanted);
    let shown = format!("{} → {}", three(difference.a), three(difference.b));
    let ends = difference
        .ci
        .map_or_else(String::new, |[low, high]| format!(", interval {} … {}", signed(Some(low)), signed(Some(high))));
    let why = format!("{shown}, {}{ends}{why}", signed(difference.difference));
    DemandV1 { outcome, why, cases_wanted, ..none }
}

/// Compares the cost of tools and judges with its limit. An unknown cost is not 0.
fn cost(report: &ReportV1, tools: &[&ToolV1], most: f64) -> DemandV1 {
    let (mut known, mut unknown) = (0.0, Vec::new());
    for tool in tools {
        match report.measured.cost.get(&tool.tool) {
            // Tokens without a known price have a cost of 0, which is not a price.
            Some(cost)
                if cost.n >= tool.trials && (cost.usd > 0.0 || cost.tokens_in.saturating_add(cost.tokens_out) == 0) =>
            {
                known += cost.usd;
            }
            Some(cost) => {
                known += cost.usd;
                unknown.push(tool.tool.as_str());
            }
            None => unknown.push(&tool.tool),
        }
    }
    for (judge, spent) in &report.measured.judges {
        match spent.usd {
            Some(usd) => known += usd,
            None if spent.requests > 0 => unknown.push(judge),
            None => {}
        }
    }
    let none = DemandV1 { value: Some(known), ..inconclusive(None, format!("cost ≤ {most} USD"), None) };
    let (outcome, why) = if known > most {
        (DemandOutcomeV1::Fails, format!("at least {known:.2} USD were spent"))
    } else if unknown.is_empty() {
        (DemandOutcomeV1::Holds, format!("{known:.2} USD"))
    } else {
        let who = unknown.join(", ");
        (DemandOutcomeV1::Inconclusive, format!("{known:.2} USD are known; not all trials of {who} report their cost"))
    };
    DemandV1 { outcome, why, ..none }
}
