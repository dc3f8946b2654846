//! Plots a metric of every tool over several reports; a missing tool leaves a gap.

use super::axes::{Frame, MANY, end_labels, finish, legend, list_names};
use super::subject::{self, DrawnTool, Figure};
use super::svg::{Anchor, SIZE, SMALL, Scale, Svg, domain, ticks};
use super::{DrawnPlots, PlotOptions, words};
use crate::number::title;
use crate::report_view::ReportView;
use karat_core::wording::count;
use karat_format::report::ReportV1;

const WIDTH: f64 = 620.0;
/// With more reports, intervals would cover each other.
const MOST_WITH_INTERVALS: usize = 30;

pub(super) fn draw(view: &ReportView<'_>, options: &PlotOptions) -> DrawnPlots {
    let (report, id) = (view.report, subject::metric(view, options)?);
    let chosen = subject::tools(view, options)?;
    if view.earlier.is_empty() {
        return Err("only one report was given; a trend needs several, oldest first".to_owned());
    }
    let mut stops: Vec<(&str, &ReportV1)> =
        view.earlier.iter().map(|earlier| (earlier.label.as_str(), &earlier.report)).collect();
    stops.push((view.trend_label(), report));
    let all: Vec<(DrawnTool<'_>, Vec<Option<Figure>>)> =
        chosen.iter().map(|drawn| (*drawn, figures_over(&stops, drawn, id))).collect();
    let (shown, lacking): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(_, figures)| figures.iter().any(Option::is_some));
    let (tools, figures): (Vec<DrawnTool<'_>>, Vec<Vec<Option<Figure>>>) = shown.into_iter().unzip();
    let all: Vec<f64> = figures.iter().flatten().flatten().flat_map(Figure::all).collect();
    if all.is_empty() {
        return Err(format!("{} has no value in any of the reports", title(id)));
    }
    // A few lines have their names at their ends.
    let is_labelled = tools.len() <= MANY;
    let names = 1.1 * words::widest(tools.iter().map(DrawnTool::name), SIZE).clamp(20.0, 140.0);
    let right = if is_labelled { WIDTH - names - 26.0 } else { WIDTH - 20.0 };
    let frame = Frame { left: 56.0, top: 10.0, right, bottom: 300.0 };
    let ends = domain(all);
    let y = Scale::linear(ends, (frame.bottom, frame.top));
    let inset = 22.0;
    let x = Scale::linear((0.0, (stops.len() - 1) as f64), (frame.left + inset, frame.right - inset));
    let mut svg = Svg::default();
    frame.y_axis(&mut svg, &y, &ticks(ends, 5), &subject::axis_title(report, id));
    report_labels(&mut svg, &frame, &x, &stops);
    for (nth, (drawn, figures)) in tools.iter().zip(&figures).enumerate() {
        // Tools are offset so that intervals do not overlap.
        let aside = (nth as f64 - (tools.len() - 1) as f64 / 2.0) * (28.0 / tools.len() as f64).min(4.0);
        let place = |at: usize, value: f64| (x.at(at as f64) + aside, y.at(value));
        let points = figures.iter().enumerate().map(|(at, figure)| figure.map(|figure| place(at, figure.value)));
        let points: Vec<Option<(f64, f64)>> = points.collect();
        svg.series(drawn.series, |svg| {
            for stretch in points.split(Option::is_none) {
                svg.path("thin", &stretch.iter().flatten().copied().collect::<Vec<_>>());
            }
        });
        let mut values = Vec::new();
        for (at, figure) in figures.iter().enumerate() {
            let Some(figure) = figure else { continue };
            let words = format!("{}, {}: {}", drawn.name(), stops[at].0, figure.to_text());
            svg.series_about(drawn.series, &words, |svg| {
                if let Some([low, high]) = figure.ci.filter(|_| stops.len() <= MOST_WITH_INTERVALS) {
                    svg.line("ci", place(at, low), place(at, high));
                }
                svg.marker(drawn.series, place(at, figure.value), 4.5);
            });
            values.push(format!("{} {}", stops[at].0, figure.to_text()));
        }
        svg.sentences.push(format!("{}: {}", drawn.name(), values.join(", ")));
    }
    let last = |figures: &[Option<Figure>]| figures.iter().rev().flatten().next().map(|figure| y.at(figure.value));
    let ends = tools.iter().zip(&figures).filter_map(|(drawn, figures)| Some((*drawn, last(figures)?)));
    let foot = match is_labelled {
        true => {
            end_labels(&mut svg, &frame, names, ends.collect());
            frame.bottom + 26.0
        }
        false => legend(&mut svg, &tools, frame.bottom + 26.0, WIDTH),
    };
    let mut remarks = Vec::new();
    if figures.iter().flatten().flatten().any(|figure| figure.ci.is_some()) {
        remarks.push(match stops.len() <= MOST_WITH_INTERVALS {
            true => format!("Lines at markers: {}.", subject::level(report)),
            false => "Intervals are not drawn: too many reports.".to_owned(),
        });
    }
    remarks.extend(mismatched_reports(view));
    if !lacking.is_empty() {
        let names: Vec<&str> = lacking.iter().map(|(drawn, _)| drawn.name()).collect();
        remarks.push(format!("Without a value: {}.", list_names(&names)));
    }
    let title = format!("{} over {} reports", title(id), stops.len());
    Ok(vec![finish(svg, report, (WIDTH, foot), &[remarks.join(" ")], title)])
}

fn mismatched_reports(view: &ReportView<'_>) -> Vec<String> {
    let suite = &view.report.suite;
    let others = view.earlier.iter().map(|earlier| &earlier.report.suite);
    let (same_name, another): (Vec<_>, Vec<_>) = others.partition(|other| other.name == suite.name);
    let changed = same_name.iter().filter(|other| other.digest != suite.digest).count();
    let rest = |n: usize| format!("{} {}", count(n, "report"), if n == 1 { "rests" } else { "rest" });
    let mut out = Vec::new();
    if changed > 0 {
        let why = "part of a change may be due to that";
        out.push(format!("{} on another state of the suite: {why}.", rest(changed)));
    }
    if !another.is_empty() {
        out.push(format!("{} on another suite, which cannot be compared.", rest(another.len())));
    }
    out
}

fn figures_over(stops: &[(&str, &ReportV1)], drawn: &DrawnTool<'_>, id: &str) -> Vec<Option<Figure>> {
    let at = |(_, report): &(&str, &ReportV1)| {
        let tool = report.tools.iter().find(|tool| tool.tool == drawn.name())?;
        subject::figure(report, tool, id).ok()
    };
    stops.iter().map(at).collect()
}

/// Names of reports, as many as fit, always including the last.
fn report_labels(svg: &mut Svg, frame: &Frame, x: &Scale, stops: &[(&str, &ReportV1)]) {
    let step = (frame.right - frame.left - 44.0) / (stops.len() - 1) as f64;
    let every = (62.0 / step).ceil().max(1.0) as usize;
    let room = step * every as f64 - 6.0;
    svg.line("axis", (frame.left, frame.bottom), (frame.right, frame.bottom));
    for (at, (label, _)) in stops.iter().enumerate() {
        let place = x.at(at as f64);
        svg.line("axis", (place, frame.bottom), (place, frame.bottom + 4.0));
        if (stops.len() - 1 - at).is_multiple_of(every) {
            // The first and the last name must stay inside the picture.
            let room = room.min(2.0 * (place - 4.0)).min(2.0 * (WIDTH - place - 4.0));
            let shown = words::fit_end(label, room, SMALL);
            svg.about(label, |svg| svg.words("dim small", (place, frame.bottom + 17.0), Anchor::Middle, &shown));
        }
    }
}
