//! Plots with a row per tool: a metric with its interval, the possible ranks, and the variance components.

use super::axes::{BELOW, Frame, finish};
use super::subject::{self, DrawnTool, Figure};
use super::svg::{Anchor, SIZE, SMALL, Scale, Svg, domain, ticks};
use super::{DrawnPlots, Plot, PlotOptions, words};
use crate::number::{rank_metric, rank_set, span, three, title};
use crate::report_view::ReportView;
use karat_format::comparison::RanksV1;
use karat_format::power::VarianceV1;

const WIDTH: f64 = 560.0;
const ROW: f64 = 24.0;
const MOST_NUMBERED: usize = 20;

fn name_width<'a>(names: impl Iterator<Item = &'a str>) -> f64 {
    words::widest(names, SIZE).clamp(40.0, 170.0)
}

fn frame(tools: &[DrawnTool<'_>], names: f64, right: f64) -> Frame {
    Frame { left: 10.0 + names + 14.0, top: 6.0, right, bottom: 6.0 + tools.len() as f64 * ROW + 4.0 }
}

/// Writes the name of the tool in a row, and returns the height of the row's marks.
fn row(svg: &mut Svg, frame: &Frame, at: usize, drawn: &DrawnTool<'_>, names: f64) -> f64 {
    let y = frame.top + at as f64 * ROW + ROW / 2.0 + 2.0;
    svg.name((frame.left - 14.0, y + 4.5), Anchor::End, drawn.name(), names);
    y
}

pub(super) fn intervals(view: &ReportView<'_>, options: &PlotOptions) -> DrawnPlots {
    let (report, id) = (view.report, subject::metric(view, options)?);
    let tools = subject::by_metric(report, subject::tools(view, options)?, id);
    let figures: Vec<Result<Figure, String>> =
        tools.iter().map(|drawn| subject::figure(report, drawn.tool, id)).collect();
    if let Some(Err(why)) = figures.first().filter(|_| figures.iter().all(Result::is_err)) {
        return Err(format!("{} has no value for any tool: {why}", title(id)));
    }
    let names = name_width(tools.iter().map(DrawnTool::name));
    // Pages use system fonts, which may be wider than the font measured here.
    let shown = figures.iter().flatten();
    let values = 1.1 * shown.clone().map(|own| words::width(&three(Some(own.value)), SIZE)).fold(0.0, f64::max);
    let spans = 1.1 * shown.clone().map(|own| words::width(&span(own.ci), SMALL)).fold(0.0, f64::max);
    let frame = frame(&tools, names, WIDTH - 14.0 - spans - 10.0 - values - 12.0);
    let ends = domain(shown.flat_map(Figure::all));
    let scale = Scale::linear(ends, (frame.left, frame.right));
    let mut svg = Svg::default();
    frame.x_axis(&mut svg, &scale, &ticks(ends, 5), &subject::axis_title(report, id));
    for (at, (drawn, figure)) in tools.iter().zip(&figures).enumerate() {
        let y = row(&mut svg, &frame, at, drawn, names);
        match figure {
            Ok(figure) => {
                let words = format!("{}: {}", drawn.name(), figure.to_text());
                svg.mark(drawn.series, words, |svg| {
                    if let Some(ci) = figure.ci {
                        svg.interval(ci.map(|end| scale.at(end)), y);
                    }
                    svg.marker(drawn.series, (scale.at(figure.value), y), 5.0);
                });
                svg.words("", (frame.right + 12.0, y + 4.5), Anchor::Start, &three(Some(figure.value)));
                if figure.ci.is_some() {
                    svg.words("dim small", (WIDTH - 14.0, y + 4.0), Anchor::End, &span(figure.ci));
                }
            }
            Err(why) => {
                let shown = words::fit(why, frame.right - frame.left - 8.0, SMALL);
                svg.about(why, |svg| svg.words("dim small", (frame.left + 6.0, y + 4.0), Anchor::Start, &shown));
                svg.sentences.push(format!("{}: {why}", drawn.name()));
            }
        }
    }
    let missing = figures.iter().flatten().any(|figure| figure.ci.is_none());
    let remark = if missing { "; markers without a line have none." } else { "." };
    let notes = [format!("{}{remark}", subject::level(report))];
    let title = format!("{} of every tool", title(id));
    Ok(vec![finish(svg, report, (WIDTH, frame.bottom + BELOW), &notes, title)])
}

pub(super) fn ranking<'a>(view: &ReportView<'a>, options: &PlotOptions) -> Result<&'a RanksV1, String> {
    let id = subject::metric(view, options)?;
    let Some(ranking) = view.report.ranking.as_ref().filter(|ranking| !ranking.pairs.is_empty()) else {
        let why = "the report has no tests of pairs of tools; they need two tools with a value, scored by this version";
        return Err(why.to_owned());
    };
    if id != ranking.metric {
        let (by, other) = (title(&ranking.metric), format!("`karat compare --ranks --metric {id}`"));
        return Err(format!("this report ranks tools by {by}; for another metric use {other}"));
    }
    Ok(ranking)
}

pub(super) fn ranks(view: &ReportView<'_>, options: &PlotOptions) -> DrawnPlots {
    let report = view.report;
    let tools = subject::tools(view, options)?;
    let ranking = ranking(view, options)?;
    let count = ranking.tools.iter().filter(|tool| tool.rank_low.is_some()).count().max(1);
    let names = name_width(tools.iter().map(DrawnTool::name));
    let sets = 1.1 * words::width(&format!("{count}–{count}"), SIZE);
    let frame = frame(&tools, names, WIDTH - 26.0 - sets);
    let scale = Scale::linear((0.5, count as f64 + 0.5), (frame.left, frame.right));
    let is_numbered = |rank: &usize| count <= MOST_NUMBERED || *rank == 1 || rank.is_multiple_of(5);
    let ticks: Vec<(f64, String)> =
        (1..=count).filter(is_numbered).map(|rank| (rank as f64, rank.to_string())).collect();
    let mut svg = Svg::default();
    frame.x_axis(&mut svg, &scale, &ticks, &format!("rank by {}", title(&ranking.metric)));
    for (at, drawn) in tools.iter().enumerate() {
        let y = row(&mut svg, &frame, at, drawn, names);
        let own = ranking.tools.iter().find(|tool| tool.tool == drawn.name());
        let set = own.and_then(|own| Some((own, own.rank_low?, own.rank_high?, rank_set(own)?)));
        let Some((own, low, high, shown)) = set else {
            let why = "no value, no rank";
            svg.words("dim small", (frame.left + 6.0, y + 4.0), Anchor::Start, &words::fit(why, 120.0, SMALL));
            svg.sentences.push(format!("{}: {why}", drawn.name()));
            continue;
        };
        let words = format!("{}: rank {shown}", drawn.name());
        svg.mark(drawn.series, words, |svg| {
            svg.interval([low, high].map(|rank| scale.at(rank as f64)), y);
            svg.marker(drawn.series, (scale.at(own.rank.unwrap_or(low) as f64), y), 5.0);
        });
        svg.words("", (WIDTH - 14.0, y + 4.5), Anchor::End, &words::fit(&shown, sets, SIZE));
    }
    let remark = format!(
        "Lines: ranks that tests of all pairs leave open. They contain the true ranks of all tools with {:.0} % confidence. Markers: \
         ranks by value.",
        100.0 * ranking.level
    );
    let notes = [ranking.statement.clone(), remark];
    let title = format!("Possible ranks of every tool by {}", title(&ranking.metric));
    let description = format!("{} {}", ranking.statement, svg.description());
    Ok(vec![Plot { description, ..finish(svg, report, (WIDTH, frame.bottom + BELOW), &notes, title) }])
}

const VARIANCE_ROW: f64 = 28.0;
const PARTS: [&str; 4] = ["cases", "trials", "judges", "rest"];

pub(super) fn variance(view: &ReportView<'_>, options: &PlotOptions) -> DrawnPlots {
    let report = view.report;
    let tools = subject::tools(view, options)?;
    if options.metric.as_deref().is_some_and(|id| id != rank_metric(report)) {
        let by = title(rank_metric(report));
        return Err(format!("this report has shares for {by} only; for another metric use `karat power --metric`"));
    }
    let shares = |name: &str| view.variance.iter().find(|(tool, _)| tool == name).and_then(|(_, own)| shares(own));
    let rows: Vec<(&str, [f64; 4])> =
        tools.iter().filter_map(|drawn| Some((drawn.name(), shares(drawn.name())?))).collect();
    if rows.is_empty() {
        let why = "no tool has several trials of a case; run with --trials 3 to measure variance between trials";
        return Err(why.to_owned());
    }
    let names = name_width(rows.iter().map(|(name, _)| *name));
    let (left, right) = (10.0 + names + 12.0, WIDTH - 12.0);
    let mut svg = Svg::default();
    let there: Vec<usize> =
        (0..PARTS.len()).filter(|part| rows.iter().any(|(_, shares)| shares[*part] > 0.0)).collect();
    let mut x = left;
    for &part in &there {
        svg.series(part, |svg| svg.rect("seam", (x, 6.0), (14.0, 12.0)));
        svg.words("", (x + 20.0, 16.5), Anchor::Start, PARTS[part]);
        x += 20.0 + words::width(PARTS[part], SIZE) + 22.0;
    }
    for (at, (name, shares)) in rows.iter().enumerate() {
        let y = 28.0 + at as f64 * VARIANCE_ROW;
        svg.name((left - 12.0, y + VARIANCE_ROW / 2.0 + 3.0), Anchor::End, name, names);
        let mut from = left;
        let mut parts = Vec::new();
        for &part in &there {
            let (wide, share) = (shares[part] * (right - left), format!("{:.0} %", shares[part] * 100.0));
            let words = format!("{name}: {} {share}", PARTS[part]);
            svg.series_about(part, &words, |svg| svg.rect("seam", (from, y + 3.0), (wide, VARIANCE_ROW - 8.0)));
            if words::width(&share, SMALL) + 6.0 <= wide {
                svg.words("small strong on", (from + wide / 2.0, y + VARIANCE_ROW / 2.0 + 3.0), Anchor::Middle, &share);
            }
            from += wide;
            parts.push(format!("{} {share}", PARTS[part]));
        }
        svg.sentences.push(format!("{name}: {}", parts.join(", ")));
    }
    let foot = 28.0 + rows.len() as f64 * VARIANCE_ROW + 6.0;
    let metric = title(rank_metric(report));
    let note = format!("Shares of the variance of the mean of {metric}. Add more of whichever has the largest share.");
    Ok(vec![finish(svg, report, (WIDTH, foot), &[note], "Variance".to_owned())])
}

/// The shares in the order of [`PARTS`], summing to 1; `None` if they cannot.
fn shares(variance: &VarianceV1) -> Option<[f64; 4]> {
    let all = [Some(variance.cases), Some(variance.trials), variance.judges, variance.rest];
    let all = all.map(|share| share.filter(|share| subject::is_drawable(*share)).unwrap_or_default().max(0.0));
    let sum: f64 = all.iter().sum();
    (sum > 0.0).then(|| all.map(|share| share / sum))
}
