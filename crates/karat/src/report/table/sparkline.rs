//! The metric that ranks tools, drawn in characters: every tool's value and interval on one track.

use super::{DIM, GOOD, Look};
use crate::format::report::{EstimateV1, ReportV1, ToolV1};
use crate::report::grid::{self, Cell};
use crate::report::number::{headline, is_best, rank_metric, ranked, title};
use crate::report::plot::scale::domain;
use anstyle::Style;

/// As a column, a track has so many cells.
pub(super) const COLUMN: usize = 18;
/// On fewer cells no interval can be told from another.
const FEWEST: usize = 10;
/// More cells than this only spread an interval out.
const MOST: usize = 14;

/// Adds a track to every tool of a leaderboard, where it costs nothing else: as a column, after the intervals beneath a tool, or
/// on a line of its own. What it shows is given back, for the footnotes.
pub(super) fn add(report: &ReportV1, rows: &mut Vec<Vec<Cell>>, columns: usize, look: &Look) -> Option<String> {
    let track = Track::of(report)?;
    let natural = grid::width(rows, usize::MAX);
    let room = look.width.saturating_sub(grid::width(rows, columns).min(look.width) + 2);
    let tools = ranked(report);
    if natural + 2 + COLUMN <= look.width {
        rows.first_mut()?.push(Cell::left(track.said()).styled(DIM));
        for (tool, row) in tools.iter().zip(rows.iter_mut().skip(1).step_by(2)) {
            row.push(Cell::left(track.draw(tool, COLUMN)).styled(style(report, tool)));
        }
        return None;
    }
    // A first column that must be cut leaves nothing to spare beside it.
    if room >= FEWEST && natural <= look.width {
        for (tool, row) in tools.iter().zip(rows.iter_mut().skip(2).step_by(2)) {
            row.push(Cell::over(track.draw(tool, room.min(MOST))).styled(style(report, tool)));
        }
    } else {
        for (at, tool) in tools.iter().enumerate() {
            let cell = Cell::over(track.draw(tool, COLUMN)).styled(style(report, tool));
            rows.insert(3 + 3 * at, vec![Cell::left(""), cell]);
        }
    }
    Some(format!("bars: {}", track.said()))
}

fn style(report: &ReportV1, tool: &ToolV1) -> Style {
    if is_best(report, tool, rank_metric(report)) { GOOD } else { Style::new() }
}

/// What all tools are drawn on.
struct Track<'a> {
    report: &'a ReportV1,
    ends: (f64, f64),
}

impl<'a> Track<'a> {
    /// From the lowest end of an interval to the highest, in round numbers; none where no tool has a value.
    fn of(report: &'a ReportV1) -> Option<Self> {
        let estimates = report.tools.iter().filter_map(|tool| estimate(report, tool));
        let all: Vec<f64> = estimates.flat_map(|e| e.value.into_iter().chain(e.ci.into_iter().flatten())).collect();
        let (low, high) = all.iter().map(|v| (*v, *v)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
        let ends = match domain(all) {
            // Of shares, the tenths around them; what is the same everywhere gets a little room.
            (0.0, 1.0) => {
                let (from, to) = ((low * 10.0 + 1e-9).floor(), (high * 10.0 - 1e-9).ceil());
                if from < to {
                    (from / 10.0, to / 10.0)
                } else {
                    ((from - 1.0).max(0.0) / 10.0, (from + 1.0).min(10.0) / 10.0)
                }
            }
            ends => ends,
        };
        Some(Self { report, ends })
    }

    fn said(&self) -> String {
        format!("{} from {} to {}", title(rank_metric(self.report)), self.ends.0, self.ends.1)
    }

    /// A tool's interval with its value; nothing where it has none.
    fn draw(&self, tool: &ToolV1, cells: usize) -> String {
        let estimate = estimate(self.report, tool);
        let Some(value) = estimate.and_then(|e| e.value) else { return String::new() };
        let cell = |value: f64| {
            let share = (value - self.ends.0) / (self.ends.1 - self.ends.0);
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
}

fn estimate<'r>(report: &ReportV1, tool: &'r ToolV1) -> Option<&'r EstimateV1> {
    headline(report, tool).get(rank_metric(report)).filter(|estimate| estimate.value.is_some_and(f64::is_finite))
}
