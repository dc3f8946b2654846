//! Plots accuracy against stated confidence.

use super::axes::{BELOW, Frame, describe, finish};
use super::subject::{self, DrawnTool, is_share};
use super::svg::Svg;
use super::{NothingToDraw, Plot, PlotOptions};
use crate::number::three;
use crate::report_view::ReportView;
use karat_format::report::{BinV1, ReportV1};

const WIDTH: f64 = 300.0;

pub(super) fn draw(view: &ReportView<'_>, options: &PlotOptions) -> Result<Vec<Plot>, NothingToDraw> {
    subject::no_metric(options, "accuracy of verdicts")?;
    let tools = subject::tools(view, options)?;
    let plots = tools.iter().filter_map(|drawn| draw_tool(view.report, drawn)).collect();
    let why = "no tool reports the confidence of its verdicts; a trial may have a `verdict` with a `confidence`";
    subject::not_empty(plots, || why.to_owned())
}

fn draw_tool(report: &ReportV1, drawn: &DrawnTool<'_>) -> Option<Plot> {
    let is_good = |bin: &&BinV1| {
        is_share(bin.confidence) && is_share(bin.accuracy) && subject::is_drawable(bin.weight) && bin.weight > 0.0
    };
    let bins: Vec<&BinV1> = drawn.tool.reliability.iter().filter(is_good).collect();
    let most = bins.iter().map(|bin| bin.weight).reduce(f64::max)?;
    let frame = Frame { left: 52.0, top: 8.0, right: WIDTH - 16.0, bottom: 240.0 };
    let mut svg = Svg::default();
    let (x, y) = frame.share_axes(&mut svg, "confidence", "share correct");
    svg.line("faint", (x.at(0.0), y.at(0.0)), (x.at(1.0), y.at(1.0)));
    let points: Vec<(f64, f64)> = bins.iter().map(|bin| (x.at(bin.confidence), y.at(bin.accuracy))).collect();
    svg.series(drawn.series, |svg| svg.path("thin", &points));
    let mut sentences = Vec::new();
    for (bin, at) in bins.iter().zip(&points) {
        let n = (bin.weight * 10.0).round() / 10.0;
        let words = format!("confidence {:.2}: {:.2} correct, n = {n}", bin.confidence, bin.accuracy);
        let radius = 3.0 + 7.0 * (bin.weight / most).sqrt();
        svg.series_about(drawn.series, &words, |svg| svg.circle("dot", *at, radius));
        sentences.push(words);
    }
    let ece = subject::figure(report, drawn.tool, "ece").ok().map(|figure| figure.value);
    let notes = [format!("ECE {}. The larger a point, the more cases.", three(ece))];
    let title = format!("Reliability of {}", drawn.name());
    let description = format!("{}: ECE {}; {}", drawn.name(), three(ece), describe(&sentences));
    Some(finish(svg, report, (WIDTH, frame.bottom + BELOW), &notes, title, description))
}
