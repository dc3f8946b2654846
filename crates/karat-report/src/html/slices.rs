//! Metrics by slice: severity, category, language and other dimensions of the cases.

use super::figures;
use crate::number::{rank_metric, ranked, three, title};
use crate::page::text;
use crate::plot;
use crate::report_view::ReportView;
use crate::slice_order;
use karat_format::report::{ReportV1, ToolV1};
use std::collections::BTreeMap;

/// Dimensions with more values are left to the JSON report.
const MOST_VALUES: usize = 60;

pub(super) fn draw(view: &ReportView<'_>, out: &mut String) {
    let report = view.report;
    let tools = ranked(report);
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
        return;
    }
    out.push_str("<section id=\"slices\" aria-labelledby=\"slices-title\">\n<h2 id=\"slices-title\">Slices</h2>\n");
    out.push_str("<p class=\"dim\">The same metrics on parts of the suite. Slices have no intervals; check how many cases each has.</p>\n");
    let order = ["severity", "category", "language", "difficulty"];
    let place = |dimension: &str| order.iter().position(|known| *known == dimension).unwrap_or(order.len());
    let mut sorted: Vec<(&str, BTreeMap<&str, usize>)> = dimensions.into_iter().collect();
    sorted.sort_by_key(|(dimension, _)| (place(dimension), *dimension));
    for (at, (dimension, values)) in sorted.iter().enumerate() {
        let open = if at == 0 { " open" } else { "" };
        out.push_str(&format!("<details{open}><summary>By {}</summary>\n", text(dimension)));
        let Some(metric) = metric(report, dimension) else {
            out.push_str("<p class=\"dim\">No metric is defined here.</p></details>\n");
            continue;
        };
        figures::slices(view, dimension, metric, out);
        let figures = |tool: &&ToolV1| {
            let values = tool.by.get(*dimension).into_iter().flat_map(BTreeMap::values);
            values.map(|slice| (slice.metrics.get(metric).and_then(|e| e.value), None)).collect::<Vec<_>>()
        };
        // All bars of a table share a scale, so that tools can be compared.
        let scale = plot::column(tools.iter().flat_map(figures));
        let caption = format!("{} by {}", text(title(metric)), text(dimension));
        out.push_str(&format!("<div class=\"scroll\" tabindex=\"0\"><table class=\"tools\" aria-label=\"{caption}\"><thead><tr><th scope=\"col\">value</th><th scope=\"col\" class=\"n\">n</th>"));
        tools.iter().for_each(|tool| out.push_str(&format!("<th scope=\"col\" class=\"n\">{}</th>", text(&tool.tool))));
        out.push_str("</tr></thead><tbody>\n");
        let mut rows: Vec<(&str, usize)> = values.iter().map(|(value, cases)| (*value, *cases)).collect();
        slice_order::sort(dimension, &mut rows);
        let all = rows.len();
        let slice_of = |tool: &ToolV1, value: &str| tool.by.get(*dimension)?.get(value)?.metrics.get(metric)?.value;
        rows.retain(|(value, _)| tools.iter().any(|tool| slice_of(tool, value).is_some()));
        let empty = all - rows.len();
        for (value, cases) in rows.iter().take(MOST_VALUES) {
            // A clean case has no recall and no F1, so fewer cases may count.
            let estimates = tools.iter().filter_map(|tool| tool.by.get(*dimension)?.get(*value)?.metrics.get(metric));
            let n = estimates.map(|estimate| estimate.n).max().unwrap_or_default();
            let of_cases = if n < *cases { format!("{n} of {cases}") } else { n.to_string() };
            out.push_str(&format!("<tr><th scope=\"row\">{}</th><td class=\"n\">{of_cases}</td>", text(value)));
            for tool in &tools {
                let value = slice_of(tool, value);
                out.push_str(&format!("<td class=\"n\">{} {}</td>", three(value), plot::interval(value, None, scale)));
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody></table></div>\n");
        if rows.len() > MOST_VALUES {
            out.push_str(&format!("<p class=\"dim\">and {} more values</p>\n", rows.len() - MOST_VALUES));
        }
        if empty > 0 {
            let noun = if empty == 1 { "value has" } else { "values have" };
            out.push_str(&format!("<p class=\"dim\">{empty} more {noun} no {} here.</p>\n", text(title(metric))));
        }
        out.push_str("</details>\n");
    }
    out.push_str("</section>\n");
}

/// The ranking metric, or the first defined one of the headline: a slice by severity has recall but no F1.
fn metric<'r>(report: &'r ReportV1, dimension: &str) -> Option<&'r str> {
    let is_defined = |id: &&str| {
        let slices = report.tools.iter().filter_map(|tool| tool.by.get(dimension)).flat_map(BTreeMap::values);
        slices.into_iter().any(|slice| slice.metrics.get(*id).is_some_and(|estimate| estimate.value.is_some()))
    };
    [rank_metric(report), "recall"]
        .into_iter()
        .chain(report.profile.headline.iter().map(String::as_str))
        .find(is_defined)
}
