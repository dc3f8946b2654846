//! Plots the possible ranks of every tool.

use super::axes::{BELOW, Frame, describe, finish};
use super::subject::{self, DrawnTool};
use super::svg::{Anchor, SIZE, SMALL, Scale, Svg};
use super::{NothingToDraw, Plot, PlotOptions, words};
use crate::number::{rank_set, title};
use crate::report_view::ReportView;
use karat_format::comparison::RanksV1;

const WIDTH: f64 = 560.0;
const ROW: f64 = 24.0;
const MOST_NUMBERED: usize = 20;

pub(super) fn ranking<'a>(view: &ReportView<'a>, options: &PlotOptions) -> Result<&'a RanksV1, NothingToDraw> {
    let id = subject::metric(view, options)?;
    let stated = view.report.ranking.as_ref().filter(|ranking| !ranking.pairs.is_empty());
    let Some(ranking) = stated else {
        let why = "the report has no tests of pairs of tools; they need two tools with a value, scored by this version";
        return Err(NothingToDraw(why.to_owned()));
    };
    if id != ranking.metric {
        let (by, other) = (title(&ranking.metric), format!("`karat compare --ranks --metric {id}`"));
        return Err(NothingToDraw(format!("this report ranks tools by {by}; for another metric use {other}")));
    }
    Ok(ranking)
}

pub(super) fn draw(view: &ReportView<'_>, options: &PlotOptions) -> Result<Vec<Plot>, NothingToDraw> {
    let report = view.report;
    let tools = subject::tools(view, options)?;
    let ranking = ranking(view, options)?;
    let count = ranking.tools.iter().filter(|tool| tool.rank_low.is_some()).count().max(1);
    let names = words::widest(tools.iter().map(DrawnTool::name), SIZE).clamp(40.0, 170.0);
    let sets = 1.1 * words::width(&format!("{count}–{count}"), SIZE);
    let rows = tools.len() as f64 * ROW;
    let frame = Frame { left: 10.0 + names + 14.0, top: 6.0, right: WIDTH - 26.0 - sets, bottom: 6.0 + rows + 4.0 };
    let scale = Scale::linear((0.5, count as f64 + 0.5), (frame.left, frame.right));
    let is_numbered = |rank: &usize| count <= MOST_NUMBERED || *rank == 1 || rank.is_multiple_of(5);
    let ticks: Vec<(f64, String)> =
        (1..=count).filter(is_numbered).map(|rank| (rank as f64, rank.to_string())).collect();
    let mut svg = Svg::default();
    frame.x_axis(&mut svg, &scale, &ticks, &format!("rank by {}", title(&ranking.metric)));
    let mut sentences = Vec::new();
    for (at, drawn) in tools.iter().enumerate() {
        let y = frame.top + at as f64 * ROW + ROW / 2.0 + 2.0;
        svg.name((frame.left - 14.0, y + 4.5), Anchor::End, drawn.name(), names);
        let own = ranking.tools.iter().find(|tool| tool.tool == drawn.name());
        let set = own.and_then(|own| Some((own, own.rank_low?, own.rank_high?, rank_set(own)?)));
        let Some((own, low, high, shown)) = set else {
            let why = "no value, no rank";
            svg.words("dim small", (frame.left + 6.0, y + 4.0), Anchor::Start, &words::fit(why, 120.0, SMALL));
            sentences.push(format!("{}: {why}", drawn.name()));
            continue;
        };
        let words = format!("{}: rank {shown}", drawn.name());
        svg.series_about(drawn.series, &words, |svg| {
            svg.interval([low, high].map(|rank| scale.at(rank as f64)), y);
            svg.marker(drawn.series, (scale.at(own.rank.unwrap_or(low) as f64), y), 5.0);
        });
        svg.words("", (WIDTH - 14.0, y + 4.5), Anchor::End, &words::fit(&shown, sets, SIZE));
        sentences.push(words);
    }
    let remark = format!(
        "Lines: ranks that tests of all pairs leave open. They contain the true ranks of all tools with {:.0} % confidence. Markers: \
         ranks by value.",
        100.0 * ranking.level
    );
    let notes = [ranking.statement.clone(), remark];
    let title = format!("Possible ranks of every tool by {}", title(&ranking.metric));
    let description = format!("{} {}", ranking.statement, describe(&sentences));
    Ok(vec![finish(svg, report, (WIDTH, frame.bottom + BELOW), &notes, title, description)])
}
