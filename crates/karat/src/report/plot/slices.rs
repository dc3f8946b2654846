//! A metric of every tool over the parts of the suite, one plot for each dimension.

use super::axes::{BELOW, Frame, few, legend, notes};
use super::scale::{Scale, domain, ticks};
use super::subject::{self, Drawn, Figure};
use super::svg::{Anchor, SIZE, Svg};
use super::{Choice, Nothing, Plot, words};
use crate::format::report::{ReportV1, SliceV1};
use crate::report::exhibit::Exhibit;
use crate::report::number::{count, decimals, title};
use crate::report::slice_order;
use karat_core::metric::table::METRICS;
use std::collections::{BTreeMap, BTreeSet};

const WIDTH: f64 = 520.0;
/// Of a dimension with more values than this, those with most cases are shown.
const MOST_VALUES: usize = 20;

pub(super) fn draw(exhibit: &Exhibit<'_>, choice: &Choice) -> Result<Vec<Plot>, Nothing> {
    let (report, id) = (exhibit.report, subject::metric(exhibit, choice)?);
    let tools = subject::tools(exhibit, choice)?;
    let mut there: BTreeMap<&str, usize> = BTreeMap::new();
    for (dimension, values) in tools.iter().flat_map(|drawn| &drawn.tool.by) {
        let most = there.entry(dimension).or_default();
        *most = (*most).max(values.len());
    }
    let chosen: Vec<&str> = match choice.dimension.as_deref() {
        Some(own) if there.contains_key(own) => vec![own],
        Some(own) => {
            let there: Vec<&str> = there.keys().copied().collect();
            let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
            return Err(Nothing(format!("the report is not split by `{own}`; there is {there}")));
        }
        // A dimension with one value says what the leaderboard says.
        None => there.iter().filter(|(_, values)| **values > 1).map(|(dimension, _)| *dimension).collect(),
    };
    // Parts by what goldens say have a recall only: a false alarm belongs to none of them.
    let ids: &[&str] = if choice.metric.is_some() { &[id] } else { &[id, "recall"] };
    let first = |dimension: &&str| ids.iter().find_map(|id| of(report, &tools, id, dimension));
    let plots: Vec<Plot> = chosen.iter().filter_map(first).collect();
    if plots.is_empty() {
        return Err(Nothing(format!("no part of the suite has a value of {}; {}", title(id), others(&tools, &chosen))));
    }
    Ok(plots)
}

/// What could be drawn instead.
fn others(tools: &[Drawn<'_>], dimensions: &[&str]) -> String {
    let parts = tools.iter().flat_map(|drawn| dimensions.iter().filter_map(|own| drawn.tool.by.get(*own)));
    let figures = parts.flat_map(BTreeMap::values).flat_map(|slice| &slice.metrics);
    let valued = figures.filter(|(_, estimate)| subject::of(estimate).is_ok()).map(|(id, _)| id.as_str());
    let there: BTreeSet<&str> = valued.collect();
    // In the order of the table of metrics, where the best known come first.
    let known: Vec<&str> = METRICS.iter().map(|metric| metric.id).filter(|id| there.contains(id)).collect();
    match known.is_empty() {
        true => "cases are split by severity, category, language and fields of their own".to_owned(),
        false => format!("choose another with --metric: {}", few(&known)),
    }
}

fn of(report: &ReportV1, tools: &[Drawn<'_>], id: &str, dimension: &str) -> Option<Plot> {
    let figure = |slice: &SliceV1| slice.metrics.get(id).and_then(|estimate| subject::of(estimate).ok());
    let of_tool = |drawn: &Drawn<'_>, value: &str| drawn.tool.by.get(dimension)?.get(value).and_then(figure);
    let mut values: BTreeMap<&str, usize> = BTreeMap::new();
    for (value, slice) in tools.iter().filter_map(|drawn| drawn.tool.by.get(dimension)).flatten() {
        if figure(slice).is_some() {
            let cases = values.entry(value).or_default();
            // A clean case has no recall and no F1, so fewer cases may speak than there are.
            *cases = (*cases).max(slice.metrics.get(id).map_or(0, |estimate| estimate.n));
        }
    }
    let mut order: Vec<(&str, usize)> = values.into_iter().collect();
    let left_out = order.len().saturating_sub(MOST_VALUES);
    slice_order::sort(dimension, &mut order);
    order.truncate(MOST_VALUES);
    let all = order.iter().flat_map(|(value, _)| tools.iter().filter_map(|drawn| of_tool(drawn, value)));
    let all: Vec<f64> = all.map(|figure| figure.value).collect();
    if all.is_empty() {
        return None;
    }
    let widest = order.iter().map(|(value, _)| words::width(value, SIZE)).fold(0.0, f64::max);
    let names = widest.clamp(40.0, 150.0);
    // Tools stand below each other within a row, closer the more there are.
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
    let mut said = Vec::new();
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
            svg.about(&words, |svg| {
                svg.series(drawn.series, |svg| svg.marker(drawn.series, (scale.at(found), y), 4.2))
            });
            parts.push(format!("{} {}", drawn.name(), decimals(found, 3)));
        }
        said.push(format!("{value} ({n}): {}", parts.join(", ")));
    }
    let mut foot = frame.bottom + BELOW + 4.0;
    foot += legend(&mut svg, tools, (10.0, foot), WIDTH - 20.0) + 4.0;
    let mut remarks = String::from("n counts cases; parts are small, and their values have no intervals.");
    if left_out > 0 {
        remarks.push_str(&format!(" {} with fewer cases are not shown.", count(left_out, "more value")));
    }
    foot += notes(&mut svg, &[remarks], (10.0, foot), WIDTH - 20.0);
    Some(Plot {
        title: format!("{} by {dimension}", title(id)),
        description: format!("{}.", said.join("; ")),
        about: subject::about(report),
        size: (WIDTH, foot + 6.0),
        marks: svg.done(),
    })
}
