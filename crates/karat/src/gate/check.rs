//! Checks a report against demands: each holds, fails, or is inconclusive. Nothing is scored again.

use super::bound::{self, Evidence, settle};
use crate::comparison::{Request, Side, compare};
use crate::failure::Result;
use karat_core::comparison::Rules;
use karat_core::metric::table::Direction;
use karat_format::comparison::DifferenceV1;
use karat_format::gate::{BoundV1, DemandOutcomeV1, DemandV1, DemandsV1, GateV1, SCHEMA};
use karat_format::report::{ReportV1, ToolV1};
use karat_report::judge_licence::{inconclusive, licences};
use karat_report::number::{signed, three, title};

/// An earlier result that no tool may be worse than.
pub(super) struct NoWorse {
    pub(super) label: String,
    pub(super) sides: Vec<Side>,
    pub(super) rules: Rules,
    pub(super) intersection: bool,
}

pub(super) fn check(
    report: &ReportV1,
    tools: &[&ToolV1],
    demands: &DemandsV1,
    no_worse: Option<&NoWorse>,
) -> Result<GateV1> {
    let mut all = Vec::new();
    let mut warnings = Vec::new();
    for tool in tools {
        let own = |bound: &&BoundV1| bound.tool.as_ref().is_none_or(|name| *name == tool.tool);
        for bound in demands.rules.iter().filter(own) {
            all.extend(bound::check(report, tool, bound, demands.allow_small_n));
        }
        if let Some(no_worse) = no_worse {
            all.extend(against(report, tool, tools.len(), no_worse, demands, &mut warnings)?);
        }
    }
    all.extend(demands.max_cost.map(|most| cost(report, tools, most)));
    if let Some(most) = demands.judge_licence {
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
    demands: &DemandsV1,
    warnings: &mut Vec<String>,
) -> Result<Vec<DemandV1>> {
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
    let metrics = if demands.metrics.is_empty() { &old.headline } else { &demands.metrics };
    let NoWorse { rules, intersection, .. } = *no_worse;
    let request = Request { metrics, cluster: &report.intervals.cluster_by(), rules, intersection };
    let compared = compare(&[(old, &new)], &request)?;
    for warning in compared.warnings {
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
    let differences = compared.comparisons.into_iter().flat_map(|pair| pair.metrics);
    Ok(differences.map(|difference| check_difference(tool, &difference, no_worse, demands.allow_small_n)).collect())
}

fn check_difference(tool: &ToolV1, difference: &DifferenceV1, no_worse: &NoWorse, allow_small_n: bool) -> DemandV1 {
    let NoWorse { label, rules: Rules { margin, .. }, .. } = no_worse;
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
    let meets = low > -*margin || (low == 0.0 && high == 0.0);
    let (outcome, why, cases_wanted) = settle(value, [low, high], -*margin, meets, &wanted);
    let shown = format!("{} → {}", three(difference.a), three(difference.b));
    let interval = |[low, high]: [f64; 2]| format!(", interval {} … {}", signed(Some(low)), signed(Some(high)));
    let ends = difference.ci.map(interval).unwrap_or_default();
    DemandV1 { outcome, why: format!("{shown}, {}{ends}{why}", signed(difference.difference)), cases_wanted, ..none }
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
