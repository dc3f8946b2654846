//! Plots the variance components of every tool: cases, trials and judges.

use super::axes::{describe, finish};
use super::subject;
use super::svg::{Anchor, SIZE, SMALL, Svg};
use super::{NothingToDraw, Plot, PlotOptions, words};
use crate::number::{rank_metric, title};
use crate::report_view::ReportView;
use karat_format::power::VarianceV1;

const WIDTH: f64 = 560.0;
const ROW: f64 = 28.0;
const PARTS: [&str; 4] = ["cases", "trials", "judges", "rest"];

pub(super) fn draw(view: &ReportView<'_>, options: &PlotOptions) -> Result<Vec<Plot>, NothingToDraw> {
    let report = view.report;
    let tools = subject::tools(view, options)?;
    if options.metric.as_deref().is_some_and(|id| id != rank_metric(report)) {
        let by = title(rank_metric(report));
        let other = "for another metric use `karat power --metric`";
        return Err(NothingToDraw(format!("this report has shares for {by} only; {other}")));
    }
    let shares = |name: &str| view.variance.iter().find(|(tool, _)| tool == name).and_then(|(_, own)| shares(own));
    let rows: Vec<(&str, [f64; 4])> =
        tools.iter().filter_map(|drawn| Some((drawn.name(), shares(drawn.name())?))).collect();
    if rows.is_empty() {
        let why = "no tool has several trials of a case; run with --trials 3 to measure variance between trials";
        return Err(NothingToDraw(why.to_owned()));
    }
    let names = words::widest(rows.iter().map(|(name, _)| *name), SIZE).clamp(40.0, 170.0);
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
    let mut sentences = Vec::new();
    for (at, (name, shares)) in rows.iter().enumerate() {
        let y = 28.0 + at as f64 * ROW;
        svg.name((left - 12.0, y + ROW / 2.0 + 3.0), Anchor::End, name, names);
        let mut from = left;
        let mut parts = Vec::new();
        for &part in &there {
            let (wide, share) = (shares[part] * (right - left), format!("{:.0} %", shares[part] * 100.0));
            let words = format!("{name}: {} {share}", PARTS[part]);
            svg.series_about(part, &words, |svg| svg.rect("seam", (from, y + 3.0), (wide, ROW - 8.0)));
            if words::width(&share, SMALL) + 6.0 <= wide {
                svg.words("small strong on", (from + wide / 2.0, y + ROW / 2.0 + 3.0), Anchor::Middle, &share);
            }
            from += wide;
            parts.push(format!("{} {share}", PARTS[part]));
        }
        sentences.push(format!("{name}: {}", parts.join(", ")));
    }
    let foot = 28.0 + rows.len() as f64 * ROW + 6.0;
    let metric = title(rank_metric(report));
    let note = format!("Shares of the variance of the mean of {metric}. Add more of whichever has the largest share.");
    Ok(vec![finish(svg, report, (WIDTH, foot), &[note], "Variance".to_owned(), describe(&sentences))])
}

/// The shares in the order of [`PARTS`], summing to 1; `None` if they cannot.
fn shares(variance: &VarianceV1) -> Option<[f64; 4]> {
    let all = [Some(variance.cases), Some(variance.trials), variance.judges, variance.rest];
    let all = all.map(|share| share.filter(|share| subject::is_drawable(*share)).unwrap_or_default().max(0.0));
    let sum: f64 = all.iter().sum();
    (sum > 0.0).then(|| all.map(|share| share / sum))
}
