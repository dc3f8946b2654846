//! Plots a metric of every tool by slice, one plot per dimension.

use super::axes::{BELOW, Frame, finish, legend, list_names};
use super::subject::{self, DrawnTool, Figure};
use super::svg::{Anchor, SIZE, Scale, Svg, domain, ticks};
use super::{DrawnPlots, Plot, PlotOptions, words};
use crate::number::{decimals, title};
use crate::report_view::ReportView;
use karat_core::metric::table::METRICS;
use karat_core::wording::count;
use karat_format::report::{ReportV1, SliceV1};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

const WIDTH: f64 = 520.0;
/// Of a dimension with more values, those with most cases are shown.
const MOST_VALUES: usize = 20;

pub(super) fn draw(view: &ReportView<'_>, options: &PlotOptions) -> DrawnPlots {
    let (report, id) = (view.report, subject::metric(view, options)?);
    let tools = subject::tools(view, options)?;
    let mut there: BTreeMap<&str, usize> = BTreeMap::new();
    for (dimension, values) in tools.iter().flat_map(|drawn| &drawn.tool.by) {
        let most = there.entry(dimension).or_default();
        *most = (*most).max(values.len());
    }
    let chosen: Vec<&str> = match options.dimension.as_deref() {
        Some(own) if there.contains_key(own) => vec![own],
        Some(own) => {
            let there: Vec<&str> = there.keys().copied().collect();
            let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
            return Err(format!("the report has no dimension `{own}`; available: {there}"));
        }
        // A dimension with one value repeats the leaderboard.
        None => there.iter().filter(|(_, values)| **values > 1).map(|(dimension, _)| *dimension).collect(),
    };
    // Slices by golden attributes have recall only: a false alarm belongs to none of them.
    let ids: &[&str] = if options.metric.is_some() { &[id] } else { &[id, "recall"] };
    let first = |dimension: &&str| ids.iter().find_map(|id| draw_dimension(report, &tools, id, dimension));
    subject::not_empty(chosen.iter().filter_map(first).collect(), || {
        format!("no slice of the suite has a value of {}; {}", title(id), others(&tools, &chosen))
    })
}

fn others(tools: &[DrawnTool<'_>], dimensions: &[&str]) -> String {
    let parts = tools.iter().flat_map(|drawn| dimensions.iter().filter_map(|own| drawn.tool.by.get(*own)));
    let figures = parts.flat_map(BTreeMap::values).flat_map(|slice| &slice.metrics);
    let valued = figures.filter(|(_, estimate)| subject::figure_from(estimate).is_ok()).map(|(id, _)| id.as_str());
    let there: BTreeSet<&str> = valued.collect();
    // In table order, best known first.
    let known: Vec<&str> = METRICS.iter().map(|metric| metric.id).filter(|id| there.contains(id)).collect();
    match known.is_empty() {
        true => "cases are split by severity, category, language and fields of their own".to_owned(),
        false => format!("choose another with --metric: {}", list_names(&known)),
    }
}

fn draw_dimension(report: &ReportV1, tools: &[DrawnTool<'_>], id: &str, dimension: &str) -> Option<Plot> {
    let figure = |slice: &SliceV1| slice.metrics.get(id).and_then(|estimate| subject::figure_from(estimate).ok());
    let of_tool = |drawn: &DrawnTool<'_>, value: &str| drawn.tool.by.get(dimension)?.get(value).and_then(figure);
    let mut values: BTreeMap<&str, usize> = BTreeMap::new();
    for (value, slice) in tools.iter().filter_map(|drawn| drawn.tool.by.get(dimension)).flatten() {
        if figure(slice).is_some() {
            let cases = values.entry(value).or_default();
            // A clean case has no recall and no F1, so fewer cases may count.
            *cases = (*cases).max(slice.metrics.get(id).map_or(0, |estimate| estimate.n));
        }
    }
    let mut order: Vec<(&str, usize)> = values.into_iter().collect();
    let left_out = order.len().saturating_sub(MOST_VALUES);
    sort_values(dimension, &mut order);
    order.truncate(MOST_VALUES);
    let all = order.iter().flat_map(|(value, _)| tools.iter().filter_map(|drawn| of_tool(drawn, value)));
    let all: Vec<f64> = all.map(|figure| figure.value).collect();
    if all.is_empty() {
        return None;
    }
    let names = words::widest(order.iter().map(|(value, _)| *value), SIZE).clamp(40.0, 150.0);
    // Tools are stacked within a row, closer the more there are.
    let apart = (54.0 / tools.len() as f64).clamp(2.0, 9.0);
    let row = (apart * tools.len() as f64 + 10.0).max(26.0);
    let frame = Frame { left: names + 76.0, top: 6.0, right: WIDTH - 20.0, bottom: 6.0 + row * order.len() as f64 };
    let ends = domain(all);
    let scale = Scale::linear(ends, (frame.left, frame.right));
    let mut svg = Svg::default();
    for at in (1..order.len()).step_by(2) {
        svg.rect("band", (10.0, frame.top + at as f64 * row), (frame.right - 10.0, row));
    }
    frame.x_axis(&mut svg, &scale, &ticks(ends, 5), &subject::axis_title(report, id));
    for (at, (value, cases)) in order.iter().enumerate() {
        let top = frame.top + at as f64 * row;
        let n = format!("n = {cases}");
        svg.name((14.0, top + row / 2.0 + 4.5), Anchor::Start, value, names);
        svg.words("dim small", (frame.left - 8.0, top + row / 2.0 + 4.0), Anchor::End, &n);
        let mut parts = Vec::new();
        for (nth, drawn) in tools.iter().enumerate() {
            let Some(Figure { value: found, .. }) = of_tool(drawn, value) else { continue };
            let y = top + row / 2.0 + (nth as f64 - (tools.len() - 1) as f64 / 2.0) * apart;
            let words = format!("{}, {value}: {}", drawn.name(), decimals(found, 3));
            svg.series_about(drawn.series, &words, |svg| svg.marker(drawn.series, (scale.at(found), y), 4.2));
            parts.push(format!("{} {}", drawn.name(), decimals(found, 3)));
        }
        svg.sentences.push(format!("{value} ({n}): {}", parts.join(", ")));
    }
    let foot = legend(&mut svg, tools, frame.bottom + BELOW + 4.0, WIDTH);
    let mut remarks = String::from("n counts cases; slices are small, and their values have no intervals.");
    if left_out > 0 {
        remarks.push_str(&format!(" {} with fewer cases are not shown.", count(left_out, "more value")));
    }
    let title = format!("{} by {dimension}", title(id));
    Some(finish(svg, report, (WIDTH, foot), &[remarks], title))
}

/// Sorts values with their numbers of cases: worst severity first, easiest difficulty first, others by cases.
pub(crate) fn sort_values(dimension: &str, values: &mut [(&str, usize)]) {
    let order: &[&str] = match dimension {
        "severity" => &["critical", "high", "medium", "low", "info"],
        "difficulty" => &["easy", "medium", "hard"],
        _ => &[],
    };
    let place = |value: &str| order.iter().position(|own| *own == value).unwrap_or(usize::MAX);
    values.sort_by_key(|(value, cases)| (place(value), Reverse(*cases), *value));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(dimension: &str, values: &[(&'static str, usize)]) -> String {
        let mut values = values.to_vec();
        sort_values(dimension, &mut values);
        values.iter().map(|(value, _)| *value).collect::<Vec<_>>().join(" < ")
    }

    #[test]
    fn values_are_in_the_order_of_their_dimension() {
        let severities = [("info", 9), ("odd", 9), ("low", 1), ("critical", 2), ("medium", 5), ("high", 1)];
        assert_eq!(sorted("severity", &severities), "critical < high < medium < low < info < odd");
        let difficulties = [("hard", 9), ("unknown", 20), ("easy", 2), ("medium", 5)];
        assert_eq!(sorted("difficulty", &difficulties), "easy < medium < hard < unknown");
    }

    #[test]
    fn other_values_are_ordered_by_number_of_cases() {
        // A category may have the name of a severity.
        assert_eq!(sorted("category", &[("high", 1), ("auth", 3), ("xss", 3)]), "auth < xss < high");
    }
}
