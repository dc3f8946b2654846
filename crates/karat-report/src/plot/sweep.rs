//! Plots precision, recall and F1 by threshold.

use super::axes::{BELOW, Frame, finish};
use super::subject::{self, DrawnTool, is_share};
use super::svg::{Anchor, Scale, Svg, domain, ticks};
use super::{NothingToDraw, Plot, PlotOptions};
use crate::number::{SEVERITIES, threshold};
use crate::report_view::ReportView;
use karat_format::report::{OperatingV1, ReportV1, SweepV1};

const WIDTH: f64 = 340.0;
type Line = (&'static str, &'static str, fn(&OperatingV1) -> f64);

/// Line styles differ too, so that colour is not the only difference.
const LINES: [Line; 3] =
    [("precision", "run dash", |p| p.precision), ("recall", "run dots", |p| p.recall), ("F1", "run", |p| p.f1)];

pub(super) fn draw(view: &ReportView<'_>, options: &PlotOptions) -> Result<Vec<Plot>, NothingToDraw> {
    subject::no_metric(options, "precision, recall and F1")?;
    let tools = subject::tools(view, options)?;
    let all = tools.iter().flat_map(|drawn| drawn.tool.sweeps.iter().map(move |sweep| (drawn, sweep)));
    let plots = all.filter_map(|(drawn, sweep)| draw_sweep(view.report, drawn, sweep)).collect();
    let why = "no tool reports a confidence or severity for its findings, so no threshold can be applied";
    subject::not_empty(plots, || why.to_owned())
}

fn draw_sweep(report: &ReportV1, drawn: &DrawnTool<'_>, sweep: &SweepV1) -> Option<Plot> {
    let is_good = |p: &&OperatingV1| {
        is_share(p.precision) && is_share(p.recall) && is_share(p.f1) && p.threshold.is_none_or(subject::is_drawable)
    };
    let points: Vec<&OperatingV1> = sweep.points.iter().filter(is_good).collect();
    let stated: Vec<f64> = points.iter().filter_map(|point| point.threshold).collect();
    if stated.is_empty() || points.len() < 2 {
        return None;
    }
    let is_severity = sweep.by == "severity";
    let ends = if is_severity { (0.5, 5.5) } else { domain(stated) };
    let frame = Frame { left: 52.0, top: 26.0, right: WIDTH - 16.0, bottom: 228.0 };
    // Without a threshold everything is shown, which lies before the lowest one.
    let has_all = points.iter().any(|point| point.threshold.is_none());
    let first = if has_all { frame.left + 40.0 } else { frame.left };
    let x = Scale::linear(ends, (first, frame.right));
    let y = Scale::linear((0.0, 1.0), (frame.bottom, frame.top));
    let place = |point: &OperatingV1| point.threshold.map_or(frame.left + 16.0, |threshold| x.at(threshold));
    let mut svg = Svg::default();
    let steps = if is_severity {
        SEVERITIES.iter().enumerate().map(|(at, word)| ((at + 1) as f64, (*word).to_owned())).collect()
    } else {
        ticks(ends, 5)
    };
    frame.x_axis(&mut svg, &x, &steps, &format!("lowest {} kept", sweep.by));
    if has_all {
        svg.words("dim small", (frame.left + 16.0, frame.bottom + 15.0), Anchor::Middle, "all");
    }
    frame.y_axis(&mut svg, &y, &ticks((0.0, 1.0), 5), "share");
    let mut order = points.clone();
    order.sort_by(|a, b| place(a).total_cmp(&place(b)));
    let mut left = frame.left;
    for (series, (name, class, value)) in LINES.iter().enumerate() {
        let line: Vec<(f64, f64)> = order.iter().map(|point| (place(point), y.at(value(point)))).collect();
        svg.series(series, |svg| {
            svg.path(class, &line);
            svg.path(class, &[(left, 12.0), (left + 26.0, 12.0)]);
        });
        svg.words("small", (left + 31.0, 16.0), Anchor::Start, name);
        left += 92.0;
    }
    let best = sweep.best.filter(|best| is_good(&best));
    let words = best.map_or_else(String::new, |best| {
        let from = match best.threshold {
            None => "all findings".to_owned(),
            Some(value) => format!("{} and above", threshold(&sweep.by, value)),
        };
        svg.about(&format!("best F1 {:.3}: {from}", best.f1), |svg| {
            svg.circle("ring", (place(&best), y.at(best.f1)), 5.0);
        });
        format!("Ring: the best F1, {:.3}, {from}. ", best.f1)
    });
    let remarks = format!("{words}Pooled over cases; chosen on the same cases, so it is optimistic.");
    let title = format!("Thresholds on the {} of {}", sweep.by, drawn.name());
    let description = format!("{}: {remarks}", drawn.name());
    Some(finish(svg, report, (WIDTH, frame.bottom + BELOW), &[remarks], title, description))
}
