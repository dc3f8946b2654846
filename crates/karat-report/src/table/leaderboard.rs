//! The leaderboard, with as many columns as fit.

use super::{BOLD, DIM, GOOD, RED, TerminalStyle, WARNING, sparkline};
use crate::grid::{self, Cell};
use crate::number::{
    failed_trials, headline, is_best, or_dash, rank_metric, rank_of, ranked, span, three, title, tried,
};
use anstyle::Style;
use karat_core::profile::Method;
use karat_format::report::{ReportV1, ToolV1};

/// Tool names may be cut to this to make room for a column.
const NAME: usize = 24;
/// Tool names may be cut to this to make room for a headline metric.
const SHORT_NAME: usize = 16;

struct Column<'r> {
    /// Columns are shown in this order.
    place: usize,
    title: &'r str,
    /// The id of a headline metric, whose interval is shown below.
    headline: Option<&'r str>,
    cell: Box<dyn Fn(&ToolV1) -> Cell + 'r>,
}

const RESULT: usize = 2;

impl<'r> Column<'r> {
    fn new(place: usize, title: &'r str, cell: impl Fn(&ToolV1) -> Cell + 'r) -> Self {
        Self { place, title, headline: None, cell: Box::new(cell) }
    }

    /// The title on two lines.
    fn split(&self) -> (String, String) {
        match (self.headline, self.title.rsplit_once(' ')) {
            (Some(_), Some((upper, lower))) => {
                (upper.to_owned(), format!("{lower:>width$}", width = upper.chars().count()))
            }
            _ => (String::new(), self.title.to_owned()),
        }
    }
}

/// Returns the leaderboard and its footnotes: what the bars show, and what did not fit.
pub(super) fn draw(report: &ReportV1, terminal: &TerminalStyle) -> (String, Vec<String>) {
    let ids = report.profile.headline.iter().map(String::as_str);
    let metric =
        |id| Column { headline: Some(id), ..Column::new(0, title(id), move |tool| metric_cell(report, tool, id)) };
    let mut columns: Vec<Column<'_>> = ids.clone().map(metric).collect();
    // If the headline metrics do not fit, column heads take two lines.
    let stacked = width_with_name(&rows(report, &columns, false), SHORT_NAME) > terminal.width;
    fit_columns(report, terminal.width, &mut columns, stacked);
    let mut rows = rows(report, &columns, stacked);
    let shown: Vec<&str> = columns.iter().filter_map(|column| column.headline).collect();
    let bars = sparkline::add(report, &mut rows, 1 + shown.len(), terminal);
    if stacked && columns.iter().any(|column| !column.split().0.is_empty()) {
        let upper = columns.iter().map(|column| Cell::right(column.split().0).styled(DIM));
        rows.insert(0, [Cell::left("")].into_iter().chain(upper).collect());
    }
    let left_out: Vec<&str> = ids.filter(|id| !shown.contains(id)).map(title).collect();
    let no_room = (!left_out.is_empty()).then(|| format!("not shown for lack of space: {}", left_out.join(", ")));
    (grid::draw(&rows, terminal.width, terminal.colour), bars.into_iter().chain(no_room).collect())
}

fn width_with_name(rows: &[Vec<Cell>], name: usize) -> usize {
    let first = grid::width(rows, 1);
    first.min(name + 2) + grid::width(rows, usize::MAX) - first
}

/// Removes headline metrics that do not fit, and adds further columns that do.
fn fit_columns<'r>(report: &'r ReportV1, width: usize, columns: &mut Vec<Column<'r>>, stacked: bool) {
    let fits = |columns: &[Column<'_>], name: usize, beside: usize| {
        width_with_name(&rows(report, columns, stacked), name) + beside <= width
    };
    if report.profile.expect_pass {
        let result = |tool: &ToolV1| match tool.pass {
            _ if !tool.has_reported() => Cell::left("failed").styled(RED),
            true => Cell::left("pass").styled(GOOD),
            false => Cell::left("FAIL").styled(RED),
        };
        columns.push(Column::new(RESULT, "result", result));
    }
    // The ranking metric and whether tools pass are kept.
    while !fits(columns, SHORT_NAME, 0) {
        let can_go = |column: &Column<'_>| column.headline.is_some_and(|id| id != rank_metric(report));
        let Some(last) = columns.iter().rposition(can_go) else { break };
        columns.remove(last);
    }
    for (group, beside) in further(report) {
        let before = columns.len();
        columns.extend(group);
        if !fits(columns, NAME, beside) {
            columns.truncate(before);
        }
    }
    columns.sort_by_key(|column| column.place);
}

/// Further columns, most useful first, with the room to leave beside them; a group is shown together.
fn further(report: &ReportV1) -> Vec<(Vec<Column<'_>>, usize)> {
    let (latency, cost) = (&report.measured.latency, &report.measured.cost);
    let has_any = |is_known: &dyn Fn(&ToolV1) -> bool| report.tools.iter().any(is_known);
    let counts_findings = report.profile.method != Method::Verdict;
    // The interval track is more useful than what comes after failures.
    let track = sparkline::COLUMN + 2;
    let mut groups = Vec::new();
    if has_any(&|tool| failed_trials(tool) > 0) {
        let failed = |tool: &ToolV1| {
            let n = failed_trials(tool);
            Cell::right(format!("{n}/{}", tried(tool))).styled(if n > 0 { WARNING } else { DIM })
        };
        groups.push((vec![Column::new(3, "failed", failed)], 0));
    }
    if has_any(&|tool| tool.unavailable() > 0) {
        let unavailable = |tool: &ToolV1| Cell::right(format!("{}/{}", tool.unavailable(), tool.trials)).styled(DIM);
        groups.push((vec![Column::new(3, "unavailable", unavailable)], 0));
    }
    if has_any(&|tool| cost.contains_key(&tool.tool)) {
        let usd = move |tool: &ToolV1| cost.get(&tool.tool).map(|own| format!("{:.2}", own.usd));
        groups.push((vec![Column::new(6, "USD", move |tool| Cell::right(or_dash(usd(tool))))], track));
    }
    if has_any(&|tool| latency.contains_key(&tool.tool)) {
        let seconds = move |tool: &ToolV1| latency.get(&tool.tool).map(|own| format!("{:.1}", own.mean_ms / 1000.0));
        groups.push((vec![Column::new(5, "s/trial", move |tool| Cell::right(or_dash(seconds(tool))))], track));
    }
    for id in ["f2", "found_any", "found_all", "consistency"] {
        let value = move |tool: &ToolV1| tool.metrics.get(id).and_then(|estimate| estimate.value);
        if counts_findings && has_any(&|tool| value(tool).is_some()) {
            groups.push((vec![Column::new(4, title(id), move |tool| Cell::right(three(value(tool))))], track));
        }
    }
    groups
}

fn rows(report: &ReportV1, columns: &[Column<'_>], stacked: bool) -> Vec<Vec<Cell>> {
    let head = |column: &Column<'_>| if stacked { column.split().1 } else { column.title.to_owned() };
    let mut rows = vec![grid::header("tool", columns.iter().map(head))];
    if let Some(at) = columns.iter().position(|column| column.place == RESULT) {
        rows[0][at + 1] = Cell::left(columns[at].title).styled(DIM);
    }
    for tool in ranked(report) {
        let mut row = vec![Cell::left(&tool.tool).styled(BOLD)];
        row.extend(columns.iter().map(|column| (column.cell)(tool)));
        rows.push(row);
        let rank = rank_of(report, &tool.tool).map_or_else(String::new, |rank| format!("rank {rank}"));
        let ci = |id: &str| headline(report, tool).get(id).and_then(|estimate| estimate.ci);
        let spans = columns.iter().filter_map(|column| column.headline).map(|id| Cell::right(span(ci(id))).styled(DIM));
        rows.push([Cell::left(rank).styled(DIM)].into_iter().chain(spans).collect());
    }
    rows
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
