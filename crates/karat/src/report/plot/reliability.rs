//! How often verdicts are right against how sure a tool is of them.

use super::axes::{BELOW, Frame, notes};
use super::scale::{Scale, ticks};
use super::subject::{self, Drawn};
use super::svg::Svg;
use super::{Choice, Nothing, Plot};
use crate::format::report::{BinV1, ReportV1};
use crate::report::exhibit::Exhibit;
use crate::report::number::three;

const WIDTH: f64 = 300.0;

pub(super) fn draw(exhibit: &Exhibit<'_>, choice: &Choice) -> Result<Vec<Plot>, Nothing> {
    subject::no_metric(choice, "how often verdicts are right")?;
    let tools = subject::tools(exhibit, choice)?;
    let plots: Vec<Plot> = tools.iter().filter_map(|drawn| of_tool(exhibit.report, drawn)).collect();
    if plots.is_empty() {
        let why = "no tool states how sure it is of its verdicts; a trial may state `verdict` with a `confidence`";
        return Err(Nothing(why.to_owned()));
    }
    Ok(plots)
}

fn of_tool(report: &ReportV1, drawn: &Drawn<'_>) -> Option<Plot> {
    let is_share = |value: f64| (0.0..=1.0).contains(&value);
    let is_good = |bin: &&BinV1| {
        is_share(bin.confidence) && is_share(bin.accuracy) && subject::is_drawable(bin.weight) && bin.weight > 0.0
    };
    let bins: Vec<&BinV1> = drawn.tool.reliability.iter().filter(is_good).collect();
    let most = bins.iter().map(|bin| bin.weight).reduce(f64::max)?;
    let frame = Frame { left: 52.0, top: 8.0, right: WIDTH - 16.0, bottom: 240.0 };
    let (x, y) =
        (Scale::linear((0.0, 1.0), (frame.left, frame.right)), Scale::linear((0.0, 1.0), (frame.bottom, frame.top)));
    let mut svg = Svg::default();
    frame.x_axis(&mut svg, &x, &ticks((0.0, 1.0), 5), "confidence");
    frame.y_axis(&mut svg, &y, &ticks((0.0, 1.0), 5), "share that is right");
    svg.line("faint", (x.at(0.0), y.at(0.0)), (x.at(1.0), y.at(1.0)));
    let points: Vec<(f64, f64)> = bins.iter().map(|bin| (x.at(bin.confidence), y.at(bin.accuracy))).collect();
    svg.series(drawn.series, |svg| svg.path("thin", &points));
    let mut said = Vec::new();
    for (bin, at) in bins.iter().zip(&points) {
        let words = format!(
            "confidence {:.2}: {:.2} right, n = {}",
            bin.confidence,
            bin.accuracy,
            (bin.weight * 10.0).round() / 10.0
        );
        let radius = 3.0 + 7.0 * (bin.weight / most).sqrt();
        svg.about(&words, |svg| svg.series(drawn.series, |svg| svg.circle("dot", *at, radius)));
        said.push(words);
    }
    let ece = subject::figure(report, drawn.tool, "ece").ok().map(|figure| figure.value);
    let remarks = [format!("ECE {}. The larger a point, the more cases.", three(ece))];
    let foot = frame.bottom + BELOW;
    let height = foot + notes(&mut svg, &remarks, (10.0, foot), WIDTH - 20.0) + 6.0;
    Some(Plot {
        title: format!("Reliability of {}", drawn.name()),
        description: format!("{}: ECE {}; {}.", drawn.name(), three(ece), said.join("; ")),
        about: subject::about(report),
        size: (WIDTH, height),
        marks: svg.done(),
    })
}
