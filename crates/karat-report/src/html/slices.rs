//! Metrics by slice: severity, category, language and other dimensions of the cases.

use super::{plots, section};
use crate::number::{rank_metric, ranked, three, title};
use crate::page::drawing;
use crate::plot::slices::sort_values;
use crate::plot::{self, PlotOptions};
use crate::report_view::ReportView;
use karat_format::report::{EstimateV1, ReportV1, ToolV1};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// Dimensions with more values are left to the JSON report.
const MOST_VALUES: usize = 60;

pub(super) fn draw(view: &ReportView<'_>) -> Markup {
    let tools = ranked(view.report);
    let mut dimensions: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for tool in &tools {
        for (dimension, values) in &tool.by {
            let known = dimensions.entry(dimension).or_default();
            for (value, slice) in values {
                let cases = known.entry(value).or_default();
                *cases = slice.cases.max(*cases);
            }
        }
    }
    // A single value repeats the whole suite.
    dimensions.retain(|_, values| values.len() > 1);
    if dimensions.is_empty() {
        return Markup::default();
    }
    let order = ["severity", "category", "language", "difficulty"];
    let place = |dimension: &str| order.iter().position(|known| *known == dimension).unwrap_or(order.len());
    let mut sorted: Vec<(&str, BTreeMap<&str, usize>)> = dimensions.into_iter().collect();
    sorted.sort_by_key(|(dimension, _)| (place(dimension), *dimension));
    let content = html! {
        p.dim {
            "The same metrics on parts of the suite. Slices have no intervals; check how many cases each has."
        }
        @for (at, (dimension, values)) in sorted.iter().enumerate() {
            details open[at == 0] {
                summary { "By " (dimension) }
                @match metric(view.report, dimension) {
                    Some(metric) => { (slices(view, &tools, dimension, values, metric)) }
                    None => { p.dim { "No metric is defined here." } }
                }
            }
        }
    };
    section("slices", "Slices", &content)
}

fn slices(
    view: &ReportView<'_>,
    tools: &[&ToolV1],
    dimension: &str,
    values: &BTreeMap<&str, usize>,
    metric: &str,
) -> Markup {
    let options = PlotOptions {
        metric: Some(metric.to_owned()),
        dimension: Some(dimension.to_owned()),
        ..PlotOptions::default()
    };
    let figure = |tool: &ToolV1, value: &str| estimate(tool, dimension, value, metric)?.value;
    let mut rows: Vec<(&str, usize)> = values.iter().map(|(value, cases)| (*value, *cases)).collect();
    sort_values(dimension, &mut rows);
    rows.retain(|(value, _)| tools.iter().any(|tool| figure(tool, value).is_some()));
    let empty = values.len() - rows.len();
    // All bars of a table share a scale, so that tools can be compared.
    let slices = tools.iter().filter_map(|tool| tool.by.get(dimension)).flat_map(BTreeMap::values);
    let scale = plot::column(slices.map(|slice| (slice.metrics.get(metric).and_then(|e| e.value), None)));
    html! {
        div.figures { (plots("slices", view, &options)) }
        div.scroll tabindex="0" {
            table.tools aria-label={ (title(metric)) " by " (dimension) } {
                thead {
                    tr {
                        th scope="col" { "value" }
                        th.n scope="col" { "n" }
                        @for tool in tools { th.n scope="col" { (tool.tool) } }
                    }
                }
                tbody {
                    @for (value, cases) in rows.iter().take(MOST_VALUES) {
                        // A clean case has no recall and no F1, so fewer cases may count.
                        @let estimates = tools.iter().filter_map(|tool| estimate(tool, dimension, value, metric));
                        @let n = estimates.map(|estimate| estimate.n).max().unwrap_or_default();
                        tr {
                            th scope="row" { (value) }
                            td.n { (n) @if n < *cases { " of " (cases) } }
                            @for figure in tools.iter().map(|tool| figure(tool, value)) {
                                td.n { (three(figure)) " " (drawing(plot::interval(figure, None, scale))) }
                            }
                        }
                    }
                }
            }
        }
        @if rows.len() > MOST_VALUES { p.dim { "and " (rows.len() - MOST_VALUES) " more values" } }
        @if empty > 0 {
            p.dim {
                (empty) @if empty == 1 { " more value has" } @else { " more values have" } " no " (title(metric)) " here."
            }
        }
    }
}

fn estimate<'t>(tool: &'t ToolV1, dimension: &str, value: &str, metric: &str) -> Option<&'t EstimateV1> {
    tool.by.get(dimension)?.get(value)?.metrics.get(metric)
}

/// The ranking metric, or the first defined one of the headline: a slice by severity has recall but no F1.
fn metric<'r>(report: &'r ReportV1, dimension: &str) -> Option<&'r str> {
    let is_defined = |id: &&str| {
        let slices = report.tools.iter().filter_map(|tool| tool.by.get(dimension)).flat_map(BTreeMap::values);
        slices.into_iter().any(|slice| slice.metrics.get(*id).is_some_and(|estimate| estimate.value.is_some()))
    };
    let shown = report.profile.headline.iter().map(String::as_str);
    [rank_metric(report), "recall"].into_iter().chain(shown).find(is_defined)
}
