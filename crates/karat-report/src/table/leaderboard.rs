//! The leaderboard, with as many columns as fit: the ranking metric first, then the other headline metrics.

use super::{BOLD, DIM, GOOD, RED, TerminalStyle, WARNING, sparkline};
use crate::grid::{self, Cell};
use crate::number::{
    at_least, failed_trials, headline, is_best, or_dash, rank_metric, rank_of, ranked, span, three, title, tried,
};
use anstyle::Style;
use karat_core::metric::table::{Direction, find};
use karat_core::profile::Method;
use karat_format::diagnostic::harmless;
use karat_format::report::{ReportV1, ToolV1};
use unicode_width::UnicodeWidthStr;

/// Tool names may be shortened to this to make room for a column.
const NAME: usize = 24;
/// Tool names may be shortened to this to make room for a headline metric.
const SHORT_NAME: usize = 16;
/// Bars below short names are this long.
const BAR: usize = 14;

struct Column<'r> {
    /// Columns are shown in this order.
    place: usize,
    title: &'r str,
    /// The id of a headline metric, which is shown with its interval.
    headline: Option<&'r str>,
    cell: Box<dyn Fn(&ToolV1) -> Cell + 'r>,
}

const RESULT: usize = 2;

impl<'r> Column<'r> {
    fn new(place: usize, title: &'r str, cell: impl Fn(&ToolV1) -> Cell + 'r) -> Self {
        Self { place, title, headline: None, cell: Box::new(cell) }
    }
}

/// Returns the leaderboard and its footnotes: what the bars show, and what did not fit.
pub(super) fn draw(report: &ReportV1, terminal: &TerminalStyle) -> (String, Vec<String>) {
    let board = Board::new(report, terminal);
    let mut notes = Vec::new();
    if let Some((from, to)) = board.ends.filter(|_| !board.is_inline && board.bar_width() >= sparkline::FEWEST) {
        notes.push(format!("bars {from} to {to}"));
    }
    let is_shown = |id: &String| board.columns.iter().any(|column| column.headline == Some(id.as_str()));
    let left_out: Vec<&str> = report.profile.headline.iter().filter(|id| !is_shown(id)).map(|id| title(id)).collect();
    if !left_out.is_empty() {
        notes.push(format!("not shown for lack of space: {}", left_out.join(", ")));
    }
    (grid::draw(&board.rows(), terminal.width, terminal.colour), notes)
}

struct Board<'r> {
    report: &'r ReportV1,
    columns: Vec<Column<'r>>,
    has_ranks: bool,
    has_intervals: bool,
    /// Values, intervals and bars in one line; otherwise the intervals are below the values, and the bars below the names.
    is_inline: bool,
    /// Column heads take two lines.
    is_stacked: bool,
    /// The ends of the bars, if there are any.
    ends: Option<(f64, f64)>,
    /// The width of the longest name.
    longest: usize,
    /// The width that is left for names.
    room: usize,
}

impl<'r> Board<'r> {
    fn new(report: &'r ReportV1, terminal: &TerminalStyle) -> Self {
        let mut ids: Vec<&str> = report.profile.headline.iter().map(String::as_str).collect();
        ids.sort_by_key(|id| *id != rank_metric(report));
        let metric =
            |id| Column { headline: Some(id), ..Column::new(0, title(id), move |tool| metric_cell(report, tool, id)) };
        let mut board = Self {
            report,
            columns: ids.into_iter().map(metric).collect(),
            has_ranks: report.tools.iter().any(|tool| rank_of(report, &tool.tool).is_some()),
            is_inline: true,
            is_stacked: false,
            has_intervals: has_intervals(report),
            ends: sparkline::ends(report),
            longest: report.tools.iter().map(|tool| harmless(&tool.tool).width()).max().unwrap_or_default(),
            room: usize::MAX,
        };
        board.fit(terminal);
        board
    }

    /// Removes headline metrics that do not fit, and adds further columns that do.
    fn fit(&mut self, terminal: &TerminalStyle) {
        if self.report.profile.expect_pass {
            let result = |tool: &ToolV1| match tool.pass {
                _ if !tool.has_reported() => Cell::left("failed").styled(RED),
                true => Cell::left("pass").styled(GOOD),
                false => Cell::left("FAIL").styled(RED),
            };
            self.columns.push(Column::new(RESULT, "result", result));
        }
        self.is_inline = self.fits(NAME, terminal);
        self.is_stacked = !self.is_inline && !self.fits(SHORT_NAME, terminal);
        // The ranking metric and whether tools pass are kept.
        while !self.is_inline && !self.fits(SHORT_NAME, terminal) {
            let can_go = |column: &Column<'_>| column.headline.is_some_and(|id| id != rank_metric(self.report));
            let Some(last) = self.columns.iter().rposition(can_go) else { break };
            self.columns.remove(last);
        }
        for column in further(self.report, terminal.verbosity.verbose) {
            self.columns.push(column);
            if !self.fits(NAME, terminal) {
                self.columns.pop();
            }
        }
        self.columns.sort_by_key(|column| column.place);
        self.room = terminal.width.saturating_sub(self.width_beside_names() + 2).max(SHORT_NAME);
    }

    fn fits(&self, name: usize, terminal: &TerminalStyle) -> bool {
        self.width_beside_names() + self.longest.max(BAR).min(name) + 2 <= terminal.width
    }

    fn width_beside_names(&self) -> usize {
        let rows = self.rows();
        grid::width(&rows, usize::MAX) - grid::width(&rows, 1)
    }

    fn bar_width(&self) -> usize {
        if self.is_inline { sparkline::MOST } else { self.longest.max(BAR).min(self.room).min(NAME) }
    }

    fn rows(&self) -> Vec<Vec<Cell>> {
        let names = self.report.tools.iter().map(|tool| harmless(&tool.tool).into_owned()).collect::<Vec<_>>();
        let names = grid::shorten_names(names.iter().map(String::as_str), self.room.min(self.longest));
        let mut rows = self.heads();
        for tool in ranked(self.report) {
            let name = names.get(&*harmless(&tool.tool)).cloned().unwrap_or_default();
            let mut row = vec![Cell::left(name).styled(BOLD)];
            let mut below = vec![self.bar(tool)];
            if self.has_ranks {
                row.push(Cell::right(or_dash(rank_of(self.report, &tool.tool))));
                below.push(Cell::left(""));
            }
            for column in &self.columns {
                row.push((column.cell)(tool));
                let Some(id) = column.headline.filter(|_| self.has_intervals) else { continue };
                let ci = headline(self.report, tool).get(id).and_then(|estimate| estimate.ci);
                let interval = Cell::right(span(ci)).styled(DIM);
                if !self.is_inline {
                    below.push(interval);
                    continue;
                }
                row.push(interval);
                if id == rank_metric(self.report) && self.ends.is_some() {
                    row.push(self.bar(tool));
                }
            }
            rows.push(row);
            if !self.is_inline && self.has_intervals {
                rows.push(below);
            }
        }
        rows
    }

    /// The value and the interval of the ranking metric as a line; empty if it would be too short to read.
    fn bar(&self, tool: &ToolV1) -> Cell {
        let cells = self.bar_width();
        let style = if is_best(self.report, tool, rank_metric(self.report)) { GOOD } else { Style::new() };
        match self.ends.filter(|_| cells >= sparkline::FEWEST) {
            Some(ends) => Cell::left(sparkline::draw(self.report, tool, ends, cells)).styled(style),
            None => Cell::left(""),
        }
    }

    /// One row of column heads, or two.
    fn heads(&self) -> Vec<Vec<Cell>> {
        let (mut upper, mut lower) = (vec![Cell::left("")], vec![Cell::left("tool").styled(DIM)]);
        if self.has_ranks {
            upper.push(Cell::left(""));
            lower.push(Cell::right("rank").styled(DIM));
        }
        for column in &self.columns {
            let is_ranking = column.headline == Some(rank_metric(self.report));
            let (above, head) = self.head(column);
            upper.push(Cell::right(above).styled(DIM));
            lower.push(match (column.place == RESULT, is_ranking) {
                (true, _) => Cell::left(head).styled(DIM),
                (false, is_ranking) => Cell::right(head).styled(if is_ranking { BOLD } else { DIM }),
            });
            if column.headline.is_some() && self.is_inline && self.has_intervals {
                lower.push(Cell::left(""));
            }
            if let Some((from, to)) = self.ends.filter(|_| is_ranking && self.is_inline) {
                let room = sparkline::MOST.saturating_sub(from.to_string().width());
                lower.push(Cell::left(format!("{from}{to:>room$}")).styled(DIM));
            }
        }
        if upper.iter().all(Cell::is_empty) { vec![lower] } else { vec![upper, lower] }
    }

    /// The title of a column; on two lines if heads are stacked. The metric that ranks has a mark.
    fn head(&self, column: &Column<'_>) -> (String, String) {
        let mut head = column.title.to_owned();
        if column.headline == Some(rank_metric(self.report)) && self.has_ranks {
            head.push(' ');
            head.push(rank_mark(self.report));
        }
        match (column.headline.filter(|_| self.is_stacked), column.title.rsplit_once(' ')) {
            (Some(_), Some((upper, _))) => {
                let lower = head[upper.len()..].trim_start();
                (upper.to_owned(), format!("{lower:>width$}", width = upper.chars().count()))
            }
            _ => (String::new(), head),
        }
    }
}

/// Whether any value of the leaderboard has an interval.
pub(super) fn has_intervals(report: &ReportV1) -> bool {
    let has_interval = |tool: &ToolV1, id: &str| headline(report, tool).get(id).is_some_and(|one| one.ci.is_some());
    report.tools.iter().any(|tool| report.profile.headline.iter().any(|id| has_interval(tool, id)))
}

/// Marks the metric that ranks tools: the best value is on top.
pub(super) fn rank_mark(report: &ReportV1) -> char {
    let is_down = find(rank_metric(report)).is_some_and(|metric| metric.direction == Direction::Down);
    if is_down { '▴' } else { '▾' }
}

/// Further columns, most useful first.
fn further(report: &ReportV1, verbose: bool) -> Vec<Column<'_>> {
    let (latency, cost) = (&report.measured.latency, &report.measured.cost);
    let has_any = |is_known: &dyn Fn(&ToolV1) -> bool| report.tools.iter().any(is_known);
    let mut columns = Vec::new();
    if has_any(&|tool| failed_trials(tool) > 0) {
        let failed = |tool: &ToolV1| {
            let n = failed_trials(tool);
            Cell::right(format!("{n}/{}", tried(tool))).styled(if n > 0 { WARNING } else { DIM })
        };
        columns.push(Column::new(3, "failed", failed));
    }
    if has_any(&|tool| tool.unavailable() > 0) {
        let unavailable = |tool: &ToolV1| Cell::right(format!("{}/{}", tool.unavailable(), tool.trials)).styled(DIM);
        columns.push(Column::new(3, "unavailable", unavailable));
    }
    if has_any(&|tool| cost.contains_key(&tool.tool)) {
        let usd = move |tool: &ToolV1| {
            let own = cost.get(&tool.tool)?;
            Some(at_least(own.usd_is_lower_bound, &format!("{:.2}", own.usd?)))
        };
        columns.push(Column::new(6, "USD", move |tool| Cell::right(or_dash(usd(tool)))));
    }
    if has_any(&|tool| latency.contains_key(&tool.tool)) {
        let seconds = move |tool: &ToolV1| latency.get(&tool.tool).map(|own| format!("{:.1}", own.mean_ms / 1000.0));
        columns.push(Column::new(5, "s/trial", move |tool| Cell::right(or_dash(seconds(tool)))));
    }
    for id in ["f2", "found_any", "found_all", "consistency"] {
        let value = move |tool: &ToolV1| tool.metrics.get(id).and_then(|estimate| estimate.value);
        if verbose && report.profile.method != Method::Verdict && has_any(&|tool| value(tool).is_some()) {
            columns.push(Column::new(4, title(id), move |tool| Cell::right(three(value(tool)))));
        }
    }
    columns
}

fn metric_cell(report: &ReportV1, tool: &ToolV1, id: &str) -> Cell {
    let estimate = headline(report, tool).get(id);
    let mut text = three(estimate.and_then(|e| e.value));
    let best = is_best(report, tool, id);
    text.push(if best { '*' } else { ' ' });
    let style = match estimate.and_then(|e| e.value) {
        _ if best => GOOD,
        Some(_) => Style::new(),
        None => DIM,
    };
    Cell::right(text).styled(style)
}
