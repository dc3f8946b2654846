//! Draws the ranking metric of every tool with its interval as a line of characters.

use super::{DIM, GOOD, TerminalStyle};
use crate::grid::{self, Cell};
use crate::number::{headline, is_best, rank_metric, ranked, title};
use crate::plot::svg::domain;
use anstyle::Style;
use karat_format::report::{EstimateV1, ReportV1, ToolV1};

pub(super) const COLUMN: usize = 18;
/// With fewer cells, intervals cannot be distinguished.
const FEWEST: usize = 10;
const MOST: usize = 14;

/// Adds a track to every tool if there is room, in a column or on a line; returns its caption for the footnotes.
pub(super) fn add(
    report: &ReportV1,
    rows: &mut Vec<Vec<Cell>>,
    columns: usize,
    terminal: &TerminalStyle,
) -> Option<String> {
    let ends = ends(report)?;
    let caption = format!("{} from {} to {}", title(rank_metric(report)), ends.0, ends.1);
    let track = |tool: &ToolV1, cells: usize| draw(estimate(report, tool), ends, cells);
    let style = |tool: &ToolV1| if is_best(report, tool, rank_metric(report)) { GOOD } else { Style::new() };
    let natural = grid::width(rows, usize::MAX);
    let room = terminal.width.saturating_sub(grid::width(rows, columns).min(terminal.width) + 2);
    let tools = ranked(report);
    if natural + 2 + COLUMN <= terminal.width {
        rows.first_mut()?.push(Cell::left(caption).styled(DIM));
        for (tool, row) in tools.iter().zip(rows.iter_mut().skip(1).step_by(2)) {
            row.push(Cell::left(track(tool, COLUMN)).styled(style(tool)));
        }
        return None;
    }
    // If the first column must be cut, there is no room.
    if room >= FEWEST && natural <= terminal.width {
        for (tool, row) in tools.iter().zip(rows.iter_mut().skip(2).step_by(2)) {
            row.push(Cell::over(track(tool, room.min(MOST))).styled(style(tool)));
        }
    } else {
        for (at, tool) in tools.iter().enumerate() {
            let cell = Cell::over(track(tool, COLUMN)).styled(style(tool));
            rows.insert(3 + 3 * at, vec![Cell::left(""), cell]);
        }
    }
    Some(format!("bars: {caption}"))
}

/// The ends of a track of all intervals, round numbers; `None` if no tool has a value.
fn ends(report: &ReportV1) -> Option<(f64, f64)> {
    let estimates = report.tools.iter().filter_map(|tool| estimate(report, tool));
    let all: Vec<f64> = estimates.flat_map(|e| e.value.into_iter().chain(e.ci.into_iter().flatten())).collect();
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

fn draw(estimate: Option<&EstimateV1>, ends: (f64, f64), cells: usize) -> String {
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
