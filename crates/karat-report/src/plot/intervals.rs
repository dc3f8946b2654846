//! Plots a metric of every tool with its interval, best first.

use super::axes::{BELOW, Frame, describe, finish};
use super::subject::{self, DrawnTool, Figure};
use super::svg::{Anchor, SIZE, SMALL, Scale, Svg, domain, ticks};
use super::{NothingToDraw, Plot, PlotOptions, words};
use crate::number::{span, three, title};
use crate::report_view::ReportView;

const WIDTH: f64 = 560.0;
const ROW: f64 = 24.0;

pub(super) fn draw(view: &ReportView<'_>, options: &PlotOptions) -> Result<Vec<Plot>, NothingToDraw> {
    let (report, id) = (view.report, subject::metric(view, options)?);
    let tools = subject::by_metric(report, subject::tools(view, options)?, id);
    let figures: Vec<Result<Figure, String>> =
        tools.iter().map(|drawn| subject::figure(report, drawn.tool, id)).collect();
    if let Some(Err(why)) = figures.first().filter(|_| figures.iter().all(Result::is_err)) {
        return Err(NothingToDraw(format!("{} has no value for any tool: {why}", title(id))));
    }
    let names = words::widest(tools.iter().map(DrawnTool::name), SIZE).clamp(40.0, 170.0);
    let rows = tools.len() as f64 * ROW;
    // Pages use system fonts, which may be wider than the font measured here.
    let shown = figures.iter().flatten();
    let values = 1.1 * shown.clone().map(|own| words::width(&three(Some(own.value)), SIZE)).fold(0.0, f64::max);
    let spans = 1.1 * shown.clone().map(|own| words::width(&span(own.ci), SMALL)).fold(0.0, f64::max);
    let right = WIDTH - 14.0 - spans - 10.0 - values - 12.0;
    let frame = Frame { left: 10.0 + names + 14.0, top: 6.0, right, bottom: 6.0 + rows + 4.0 };
    let ends = domain(shown.flat_map(Figure::all));
    let scale = Scale::linear(ends, (frame.left, frame.right));
    let mut svg = Svg::default();
    frame.x_axis(&mut svg, &scale, &ticks(ends, 5), &subject::axis_title(report, id));
    let mut sentences = Vec::new();
    for (at, (drawn, figure)) in tools.iter().zip(&figures).enumerate() {
        let y = frame.top + at as f64 * ROW + ROW / 2.0 + 2.0;
        svg.name((frame.left - 14.0, y + 4.5), Anchor::End, drawn.name(), names);
        match figure {
            Ok(figure) => {
                let words = format!("{}: {}", drawn.name(), figure.to_text());
                svg.series_about(drawn.series, &words, |svg| {
                    if let Some(ci) = figure.ci {
                        svg.interval(ci.map(|end| scale.at(end)), y);
                    }
                    svg.marker(drawn.series, (scale.at(figure.value), y), 5.0);
                });
                svg.words("", (frame.right + 12.0, y + 4.5), Anchor::Start, &three(Some(figure.value)));
                if figure.ci.is_some() {
                    svg.words("dim small", (WIDTH - 14.0, y + 4.0), Anchor::End, &span(figure.ci));
                }
                sentences.push(words);
            }
            Err(why) => {
                let shown = words::fit(why, frame.right - frame.left - 8.0, SMALL);
                svg.about(why, |svg| svg.words("dim small", (frame.left + 6.0, y + 4.0), Anchor::Start, &shown));
                sentences.push(format!("{}: {why}", drawn.name()));
            }
        }
    }
    let missing = figures.iter().flatten().any(|figure| figure.ci.is_none());
    let remark = if missing { "; markers without a line have none." } else { "." };
    let notes = [format!("{}{remark}", subject::level(report))];
    let title = format!("{} of every tool", title(id));
    Ok(vec![finish(svg, report, (WIDTH, frame.bottom + BELOW), &notes, title, describe(&sentences))])
}
