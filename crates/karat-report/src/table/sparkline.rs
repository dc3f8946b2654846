//! Draws the ranking metric of every tool with its interval as a line of characters.

use crate::number::{headline, rank_metric};
use crate::plot::svg::domain;
use karat_format::report::{EstimateV1, ReportV1, ToolV1};

/// With fewer cells, intervals cannot be distinguished.
pub(super) const FEWEST: usize = 8;
pub(super) const MOST: usize = 18;

/// The ends of a track of all intervals, round numbers; `None` if there is no interval to draw.
pub(super) fn ends(report: &ReportV1) -> Option<(f64, f64)> {
    let estimates = || report.tools.iter().filter_map(|tool| estimate(report, tool));
    if !estimates().any(|estimate| estimate.ci.is_some()) {
        return None;
    }
    let all: Vec<f64> = estimates().flat_map(|e| e.value.into_iter().chain(e.ci.into_iter().flatten())).collect();
    let (low, high) = all.iter().map(|v| (*v, *v)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
    let ends = domain(all);
    if ends != (0.0, 1.0) {
        return Some(ends);
    }
    // For shares, round to tenths; equal values get some room.
    let (from, to) = ((low * 10.0 + 1e-9).floor(), (high * 10.0 - 1e-9).ceil());
    let (from, to) = if from < to { (from, to) } else { ((from - 1.0).max(0.0), (from + 1.0).min(10.0)) };
    Some((from / 10.0, to / 10.0))
}

/// The value and the interval of a tool; empty if it has no value.
pub(super) fn draw(report: &ReportV1, tool: &ToolV1, ends: (f64, f64), cells: usize) -> String {
    let estimate = estimate(report, tool);
    let Some(value) = estimate.and_then(|e| e.value) else { return String::new() };
    let cell = |value: f64| {
        let share = (value - ends.0) / (ends.1 - ends.0);
        (share.clamp(0.0, 1.0) * (cells - 1) as f64).round() as usize
    };
    let mut track = vec!['·'; cells];
    if let Some([low, high]) = estimate.and_then(|e| e.ci) {
        let (from, to) = (cell(low.min(high)), cell(high.max(low)));
        track[from..=to].fill('─');
        (track[from], track[to]) = ('├', '┤');
    }
    track[cell(value)] = '●';
    track.into_iter().collect()
}

fn estimate<'r>(report: &ReportV1, tool: &'r ToolV1) -> Option<&'r EstimateV1> {
    headline(report, tool).get(rank_metric(report)).filter(|estimate| estimate.value.is_some_and(f64::is_finite))
}
