//! Plots with a diagram per tool: accuracy against stated confidence, and precision, recall and F1 by threshold.

use super::axes::{BELOW, Frame, finish};
use super::subject::{self, DrawnTool, is_share};
use super::svg::{Anchor, Scale, Svg, domain, ticks};
use super::{DrawnPlots, Plot, PlotOptions};
use crate::number::{SEVERITIES, span, three, threshold};
use crate::report_view::ReportView;
use karat_format::report::{BinV1, OperatingV1, ReportV1, SweepV1};

const RELIABILITY_WIDTH: f64 = 300.0;
const SWEEP_WIDTH: f64 = 340.0;
/// More points would cover the line.
const MOST_POINTS: usize = 40;

pub(super) fn reliability(view: &ReportView<'_>, options: &PlotOptions) -> DrawnPlots {
    subject::no_metric(options, "accuracy of verdicts")?;
    let tools = subject::tools(view, options)?;
    let plots = tools.iter().filter_map(|drawn| draw_reliability(view.report, drawn)).collect();
    let why = "no tool reports the confidence of its verdicts; a trial may have a `verdict` with a `confidence`";
    subject::not_empty(plots, || why.to_owned())
}

fn draw_reliability(report: &ReportV1, drawn: &DrawnTool<'_>) -> Option<Plot> {
    let is_good = |bin: &&BinV1| {
        is_share(bin.confidence) && is_share(bin.accuracy) && subject::is_drawable(bin.weight) && bin.weight > 0.0
    };
    let bins: Vec<&BinV1> = drawn.tool.reliability.iter().filter(is_good).collect();
    let most = bins.iter().map(|bin| bin.weight).reduce(f64::max)?;
    let frame = Frame { left: 52.0, top: 14.0, right: RELIABILITY_WIDTH - 16.0, bottom: 246.0 };
    let mut svg = Svg::default();
    let (x, y) = frame.share_axes(&mut svg, "confidence", "share correct");
    svg.line("faint", (x.at(0.0), y.at(0.0)), (x.at(1.0), y.at(1.0)));
    let points: Vec<(f64, f64)> = bins.iter().map(|bin| (x.at(bin.confidence), y.at(bin.accuracy))).collect();
    svg.series(drawn.series, |svg| svg.path("thin", &points));
    for (bin, at) in bins.iter().zip(&points) {
        let n = (bin.weight * 10.0).round() / 10.0;
        let ci = bin.ci.filter(|ci| ci.iter().all(|end| is_share(*end)));
        let interval = ci.map_or_else(String::new, |ci| format!(" ({})", span(Some(ci))));
        let words = format!("confidence {:.2}: {:.2}{interval} correct, n = {n}", bin.confidence, bin.accuracy);
        let radius = 3.0 + 7.0 * (bin.weight / most).sqrt();
        svg.mark(drawn.series, words, |svg| {
            if let Some([low, high]) = ci {
                svg.line("ci", (at.0, y.at(low)), (at.0, y.at(high)));
            }
            svg.circle("dot", *at, radius);
        });
    }
    let figure = |id: &str| subject::figure(report, drawn.tool, id).ok().map(|figure| figure.value);
    let debiased =
        figure("ece_debiased").map_or_else(String::new, |value| format!(", debiased {}", three(Some(value))));
    let errors = format!("ECE {}{debiased}", three(figure("ece")));
    let lines = match bins.iter().any(|bin| bin.ci.is_some()) {
        true => format!(" Vertical lines: {} of the share correct.", subject::level(report)),
        false => String::new(),
    };
    let notes = [format!("{errors}. The larger a point, the more cases.{lines}")];
    let title = format!("Reliability of {}", drawn.name());
    let description = format!("{}: {errors}; {}", drawn.name(), svg.description());
    Some(Plot { description, ..finish(svg, report, (RELIABILITY_WIDTH, frame.bottom + BELOW), &notes, title) })
}

type Line = (&'static str, &'static str, fn(&OperatingV1) -> f64);

/// Line styles differ too, so that colour is not the only difference.
const LINES: [Line; 3] =
    [("precision", "run dash", |p| p.precision), ("recall", "run dots", |p| p.recall), ("F1", "run", |p| p.f1)];

pub(super) fn sweep(view: &ReportView<'_>, options: &PlotOptions) -> DrawnPlots {
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
    let frame = Frame { left: 52.0, top: 26.0, right: SWEEP_WIDTH - 16.0, bottom: 228.0 };
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
    for point in order.iter().filter(|_| order.len() <= MOST_POINTS) {
        let from = point.threshold.map_or_else(|| "all".to_owned(), |value| threshold(&sweep.by, value));
        let OperatingV1 { precision, recall, f1, .. } = point;
        let words = format!("{from}: precision {precision:.3}, recall {recall:.3}, F1 {f1:.3}");
        svg.series_about(2, &words, |svg| svg.circle("dot", (place(point), y.at(point.f1)), 3.5));
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
    Some(Plot { description, ..finish(svg, report, (SWEEP_WIDTH, frame.bottom + BELOW), &[remarks], title) })
}
