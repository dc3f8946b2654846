//! Metrics as rows: of a tool over the suite and its parts, and of a case.

use crate::case_rows::{ScoredCase, integer};
use crate::error::Result;
use crate::rows::FigureRow;
use crate::writer::TablesWriter;
use karat_core::metric::table::Direction;
use karat_format::report::{EstimateV1, MetricsV1, ReportV1, ToolV1};

/// What metrics are of.
#[derive(Clone, Copy)]
struct Scope<'a> {
    tool: &'a str,
    name: &'static str,
    dimension: Option<&'a str>,
    slice: Option<&'a str>,
}

/// The ranks that a tool may have by the metric that ranks tools.
#[derive(Clone, Copy)]
struct Ranks<'a> {
    metric: &'a str,
    low: Option<usize>,
    high: Option<usize>,
}

pub(crate) fn add_tool_figures(tables: &mut TablesWriter, report: &ReportV1, tool: &ToolV1) -> Result<()> {
    let ranks = report.ranking.as_ref().and_then(|ranking| {
        let own = ranking.tools.iter().find(|own| own.tool == tool.tool)?;
        Some(Ranks { metric: &ranking.metric, low: own.rank_low, high: own.rank_high })
    });
    // Tools are ranked by the whole suite, or by means over a dimension.
    let ranked_by = report.profile.headline_macro_by.as_deref();
    let suite = Scope { tool: &tool.tool, name: "suite", dimension: None, slice: None };
    add_metrics(tables, suite, &tool.metrics, ranks.filter(|_| ranked_by.is_none()))?;
    add_metrics(tables, Scope { name: "micro", ..suite }, &tool.micro, None)?;
    for (dimension, slices) in &tool.by {
        for (value, slice) in slices {
            let scope = Scope { name: "slice", dimension: Some(dimension), slice: Some(value), ..suite };
            add_metrics(tables, scope, &slice.metrics, None)?;
        }
    }
    for (dimension, metrics) in &tool.macro_by {
        let scope = Scope { name: "macro", dimension: Some(dimension), ..suite };
        add_metrics(tables, scope, metrics, ranks.filter(|_| ranked_by == Some(dimension.as_str())))?;
    }
    Ok(())
}

pub(crate) fn add_case_figures(tables: &mut TablesWriter, scored: &ScoredCase<'_>) -> Result<()> {
    let scope = Scope { tool: scored.tool, name: "case", dimension: None, slice: Some(&scored.case.case) };
    add_metrics(tables, scope, &scored.result.metrics, None)
}

pub(crate) fn add_case_figure(
    tables: &mut TablesWriter,
    tool: &str,
    case: &str,
    metric: &str,
    estimate: &EstimateV1,
) -> Result<()> {
    let scope = Scope { tool, name: "case", dimension: None, slice: Some(case) };
    add_metrics(tables, scope, &MetricsV1::from([(metric.to_owned(), estimate.clone())]), None)
}

fn add_metrics(
    tables: &mut TablesWriter,
    scope: Scope<'_>,
    metrics: &MetricsV1,
    ranks: Option<Ranks<'_>>,
) -> Result<()> {
    let origin = tables.origin.clone();
    for (metric, estimate) in metrics {
        let ranks = ranks.filter(|ranks| ranks.metric == metric);
        tables.add(&FigureRow {
            tool: scope.tool,
            run_id: origin.run_id.as_deref(),
            suite: &origin.suite,
            profile: &origin.profile,
            scope: scope.name,
            dimension: scope.dimension,
            slice: scope.slice,
            metric,
            value: estimate.value,
            undefined: estimate.undefined.as_deref(),
            ci_low: estimate.ci.map(|ci| ci[0]),
            ci_high: estimate.ci.map(|ci| ci[1]),
            level: estimate.level,
            method: estimate.method.as_deref(),
            n: integer(estimate.n),
            left_out: integer(estimate.left_out),
            standard_error: estimate.se,
            std_trials: estimate.std_trials,
            std_cases: estimate.std_cases,
            higher_is_better: estimate.direction == Direction::Up,
            unreliable: estimate.unreliable,
            rank_low: ranks.and_then(|ranks| ranks.low).map(integer),
            rank_high: ranks.and_then(|ranks| ranks.high).map(integer),
        })?;
    }
    Ok(())
}
