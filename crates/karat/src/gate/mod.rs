//! Results compared with demands: each holds, fails, or is inconclusive. Nothing is scored again.

mod bound;
mod cost;
mod rules;

pub use rules::read;

use crate::comparison::{Refusal, Request, Side, compare};
use bound::{Evidence, settle};
use karat_core::comparison::Rules;
use karat_core::metric::table::Direction;
use karat_format::comparison::DifferenceV1;
use karat_format::gate::{BoundV1, DemandOutcomeV1, DemandV1, GateV1, SCHEMA};
use karat_format::report::{ReportV1, ToolV1};
use karat_report::judge_licence::{inconclusive, licences};
use karat_report::number::{signed, three, title};

/// All that is demanded.
#[derive(Clone, Debug, Default)]
pub struct Demands {
    /// Demands on single metrics.
    pub bounds: Vec<BoundV1>,
    /// What no tool may do worse than.
    pub no_worse: Option<NoWorse>,
    /// What tools and judges together may cost, in USD.
    pub max_cost: Option<f64>,
    /// In what share of each kind of probes a judge may be wrong or fooled.
    pub licence: Option<f64>,
    /// Let a demand be met by fewer than 30 cases.
    pub allow_small_n: bool,
}

/// What no tool may do worse than.
#[derive(Clone, Debug)]
pub struct NoWorse {
    /// What it is called.
    pub label: String,
    /// Its tools.
    pub sides: Vec<Side>,
    /// The metrics; those that come first on its sides where there are none.
    pub metrics: Vec<String>,
    /// Margin and samples.
    pub rules: Rules,
    /// Whether another version of the suite will do, on the cases whose goldens are the same.
    pub intersection: bool,
}

/// Holds a report against demands.
pub fn hold(report: &ReportV1, tools: &[&ToolV1], demands: &Demands) -> Result<GateV1, Refusal> {
    let mut all = Vec::new();
    let mut warnings = Vec::new();
    for tool in tools {
        let own = |bound: &&BoundV1| bound.tool.as_ref().is_none_or(|name| *name == tool.tool);
        for bound in demands.bounds.iter().filter(own) {
            all.extend(bound::hold(report, tool, bound, demands.allow_small_n));
        }
        if let Some(no_worse) = &demands.no_worse {
            all.extend(against(report, tool, tools.len(), no_worse, demands.allow_small_n, &mut warnings)?);
        }
    }
    all.extend(demands.max_cost.map(|most| cost::cost(report, tools, most)));
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

/// A tool against its older self, metric by metric.
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
    Ok(differences.map(|difference| one(tool, &difference, &no_worse.label, margin, allow_small_n)).collect())
}

/// One metric against its older value.
fn one(tool: &ToolV1, difference: &DifferenceV1, label: &str, margin: f64, allow_small_n: bool) -> DemandV1 {
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
