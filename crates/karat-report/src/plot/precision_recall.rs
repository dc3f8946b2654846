//! Plots precision against recall, with intervals in both directions and the effect of thresholds.

use super::axes::{BELOW, Frame, MANY, describe, finish, legend, list_names};
use super::subject::{self, DrawnTool, Figure};
use super::svg::{Anchor, Scale, Svg};
use super::{NothingToDraw, Plot, PlotOptions};
use crate::report_view::ReportView;

const WIDTH: f64 = 520.0;

pub(super) fn draw(view: &ReportView<'_>, options: &PlotOptions) -> Result<Vec<Plot>, NothingToDraw> {
    let report = view.report;
    subject::no_metric(options, "precision and recall")?;
    let tools = subject::tools(view, options)?;
    let both = |id: &str| tools.iter().map(|drawn| subject::figure(report, drawn.tool, id).ok()).collect::<Vec<_>>();
    let points: Vec<Option<(Figure, Figure)>> =
        both("recall").into_iter().zip(both("precision")).map(|(x, y)| x.zip(y)).collect();
    if points.iter().all(Option::is_none) {
        let why = "no tool has both precision and recall; they need findings that were compared with goldens";
        return Err(NothingToDraw(why.to_owned()));
    }
    let frame = Frame { left: 56.0, top: 10.0, right: WIDTH - 16.0, bottom: 390.0 };
    let mut svg = Svg::default();
    let (x, y) = frame.share_axes(&mut svg, "recall", "precision");
    equal_f1(&mut svg, &x, &y);
    let mut swept = false;
    for drawn in tools.iter().filter(|_| tools.len() <= MANY) {
        for sweep in drawn.tool.sweeps.iter().filter(|sweep| sweep.by == "confidence") {
            let points: Vec<(f64, f64)> = sweep.points.iter().map(|p| (x.at(p.recall), y.at(p.precision))).collect();
            swept |= points.len() > 1;
            svg.series(drawn.series, |svg| svg.path("thin", &points));
        }
    }
    let mut sentences = Vec::new();
    for (drawn, point) in tools.iter().zip(&points) {
        let Some((recall, precision)) = point else { continue };
        let at = (x.at(recall.value), y.at(precision.value));
        let words = format!("{}: precision {}, recall {}", drawn.name(), precision.to_text(), recall.to_text());
        svg.series_about(drawn.series, &words, |svg| {
            if let Some([low, high]) = recall.ci {
                svg.line("ci", (x.at(low), at.1), (x.at(high), at.1));
            }
            if let Some([low, high]) = precision.ci {
                svg.line("ci", (at.0, y.at(low)), (at.0, y.at(high)));
            }
            svg.marker(drawn.series, at, 5.0);
        });
        sentences.push(words);
    }
    let (shown, lacking): (Vec<_>, Vec<_>) = tools.iter().zip(&points).partition(|(_, point)| point.is_some());
    let shown: Vec<DrawnTool<'_>> = shown.into_iter().map(|(drawn, _)| *drawn).collect();
    let lacking: Vec<&str> = lacking.into_iter().map(|(drawn, _)| drawn.name()).collect();
    let foot = legend(&mut svg, &shown, frame.bottom + BELOW + 4.0, WIDTH);
    let mut remarks = vec![format!("Crosses: {}. Dotted: equal F1.", subject::level(report))];
    if swept {
        remarks.push("Thin lines: thresholds on confidence, pooled over cases.".to_owned());
    }
    if !lacking.is_empty() {
        remarks.push(format!("Not shown, without precision or recall: {}.", list_names(&lacking)));
    }
    let title = "Precision and recall".to_owned();
    Ok(vec![finish(svg, report, (WIDTH, foot), &[remarks.join(" ")], title, describe(&sentences))])
}

fn equal_f1(svg: &mut Svg, x: &Scale, y: &Scale) {
    const STEPS: usize = 24;
    for f1 in [0.2, 0.4, 0.6, 0.8] {
        let first: f64 = f1 / (2.0 - f1);
        let recall = |step: usize| first + (1.0 - first) * (step as f64 / STEPS as f64).powi(2);
        let points: Vec<(f64, f64)> =
            (0..=STEPS).map(recall).map(|r| (x.at(r), y.at(f1 * r / (2.0 * r - f1)))).collect();
        svg.path("faint", &points);
        // Above the curve, which falls to the right.
        let above = y.at(f1 * 0.92 / (2.0 * 0.92 - f1)) - 4.0;
        svg.words("dim small", (x.at(1.0) - 4.0, above), Anchor::End, &format!("F1 {f1}"));
    }
}
