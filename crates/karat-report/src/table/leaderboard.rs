//! The leaderboard, with as many columns as fit.

use super::{BOLD, DIM, GOOD, RED, TerminalStyle, WARNING, sparkline};
use crate::grid::{self, Cell};
use crate::number::{failed_trials, headline, is_best, or_dash, rank_metric, rank_of, ranked, span, three, title};
use anstyle::Style;
use karat_core::profile::Method;
use karat_format::report::{ReportV1, ToolV1};

/// Tool names may be cut to this to make room for a column.
const NAME: usize = 24;
/// Tool names may be cut to this to make room for a headline metric.
const SHORT_NAME: usize = 16;

/// In the order in which columns are shown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Column {
    /// By position in the headline, with its interval below.
    Headline(usize),
    Tp,
    Fp,
    Fn,
    Result,
    Failed,
    /// By position in [`METRICS`].
    Metric(usize),
    Seconds,
    Usd,
}

const METRICS: [&str; 4] = ["f2", "found_any", "found_all", "consistency"];

/// Further columns, most useful first; a group is shown together.
const MORE: [&[Column]; 8] = [
    &[Column::Tp, Column::Fp, Column::Fn],
    &[Column::Failed],
    &[Column::Usd],
    &[Column::Seconds],
    &[Column::Metric(0)],
    &[Column::Metric(1)],
    &[Column::Metric(2)],
    &[Column::Metric(3)],
];

/// Returns the leaderboard and its footnotes: what the bars show, and what did not fit.
pub(super) fn draw(report: &ReportV1, terminal: &TerminalStyle) -> (String, Vec<String>) {
    let headline: Vec<Column> = (0..report.profile.headline.len()).map(Column::Headline).collect();
    // If the headline metrics do not fit, column heads take two lines.
    let stacked = width_with_name(&rows(report, &headline, false), SHORT_NAME) > terminal.width;
    let columns = chosen(report, terminal.width, headline, stacked);
    let mut rows = rows(report, &columns, stacked);
    let is_shown = |at: usize| columns.contains(&Column::Headline(at));
    let shown = (0..report.profile.headline.len()).filter(|at| is_shown(*at)).count();
    let bars = sparkline::add(report, &mut rows, 1 + shown, terminal);
    if stacked && columns.iter().any(|column| !split(report, *column).0.is_empty()) {
        let upper = columns.iter().map(|column| Cell::right(split(report, *column).0).styled(DIM));
        rows.insert(0, [Cell::left("")].into_iter().chain(upper).collect());
    }
    let ids = report.profile.headline.iter().enumerate();
    let left_out: Vec<&str> = ids.filter(|(at, _)| !is_shown(*at)).map(|(_, id)| title(id)).collect();
    let no_room = (!left_out.is_empty()).then(|| format!("not shown for lack of space: {}", left_out.join(", ")));
    (grid::draw(&rows, terminal.width, terminal.colour), bars.into_iter().chain(no_room).collect())
}

fn width_with_name(rows: &[Vec<Cell>], name: usize) -> usize {
    let first = grid::width(rows, 1);
    first.min(name + 2) + grid::width(rows, usize::MAX) - first
}

fn chosen(report: &ReportV1, width: usize, mut columns: Vec<Column>, stacked: bool) -> Vec<Column> {
    let fits = |columns: &[Column], name: usize, beside: usize| {
        width_with_name(&rows(report, columns, stacked), name) + beside <= width
    };
    let headline = &report.profile.headline;
    if report.profile.expect_pass {
        columns.push(Column::Result);
    }
    // The ranking metric and whether tools pass are kept.
    while !fits(&columns, SHORT_NAME, 0) {
        let can_go = |column: &Column| matches!(column, Column::Headline(at) if headline[*at] != rank_metric(report));
        let Some(last) = columns.iter().rposition(can_go) else { break };
        columns.remove(last);
    }
    let mut more: Vec<&[Column]> = MORE.to_vec();
    if report.profile.method == Method::Audit {
        // Audits do not count findings.
        more.rotate_left(1);
    }
    for group in more.into_iter().filter(|group| has_any(report, group[0])) {
        let with: Vec<Column> = columns.iter().chain(group).copied().collect();
        // The interval track is more useful than what comes after counts and failures.
        let track = if matches!(group[0], Column::Tp | Column::Failed) { 0 } else { sparkline::COLUMN + 2 };
        if fits(&with, NAME, track) {
            columns = with;
        }
    }
    columns.sort();
    columns
}

fn has_any(report: &ReportV1, column: Column) -> bool {
    let verdicts_only = report.profile.method == Method::Verdict;
    report.tools.iter().any(|tool| match column {
        Column::Headline(_) | Column::Result => true,
        Column::Tp | Column::Fp | Column::Fn => !verdicts_only,
        Column::Failed => failed_trials(tool) > 0,
        Column::Metric(at) => {
            !verdicts_only && tool.metrics.get(METRICS[at]).is_some_and(|estimate| estimate.value.is_some())
        }
        Column::Seconds => report.measured.latency.contains_key(&tool.tool),
        Column::Usd => report.measured.cost.contains_key(&tool.tool),
    })
}

fn split(report: &ReportV1, column: Column) -> (String, String) {
    let title = head_words(report, column);
    match (column, title.rsplit_once(' ')) {
        (Column::Headline(_), Some((upper, lower))) => {
            (upper.to_owned(), format!("{lower:>width$}", width = upper.chars().count()))
        }
        _ => (String::new(), title.to_owned()),
    }
}

fn rows(report: &ReportV1, columns: &[Column], stacked: bool) -> Vec<Vec<Cell>> {
    let head = |column: &Column| {
        if stacked { split(report, *column).1 } else { head_words(report, *column).to_owned() }
    };
    let mut rows = vec![grid::header("tool", columns.iter().map(head))];
    if let Some(at) = columns.iter().position(|column| *column == Column::Result) {
        rows[0][at + 1] = Cell::left(head(&Column::Result)).styled(DIM);
    }
    for tool in ranked(report) {
        let mut row = vec![Cell::left(&tool.tool).styled(BOLD)];
        row.extend(columns.iter().map(|column| cell(report, tool, *column)));
        rows.push(row);
        let rank = rank_of(report, &tool.tool).map_or_else(String::new, |rank| format!("rank {rank}"));
        let spans = columns.iter().filter_map(|column| match column {
            Column::Headline(at) => {
                Some(span(headline(report, tool).get(&report.profile.headline[*at]).and_then(|e| e.ci)))
            }
            _ => None,
        });
        let beneath = [Cell::left(rank).styled(DIM)].into_iter().chain(spans.map(|s| Cell::right(s).styled(DIM)));
        rows.push(beneath.collect());
    }
    rows
}

fn head_words(report: &ReportV1, column: Column) -> &str {
    match column {
        Column::Headline(at) => title(&report.profile.headline[at]),
        Column::Tp => "TP",
        Column::Fp => "FP",
        Column::Fn => "FN",
        Column::Result => "result",
        Column::Failed => "failed",
        Column::Metric(at) => title(METRICS[at]),
        Column::Seconds => "s/trial",
        Column::Usd => "USD",
    }
}

fn cell(report: &ReportV1, tool: &ToolV1, column: Column) -> Cell {
    let figure = |value: Option<String>| Cell::right(or_dash(value));
    match column {
        Column::Headline(at) => metric_cell(report, tool, &report.profile.headline[at]),
        Column::Tp => Cell::right(tool.counts.tp.to_string()),
        Column::Fp => Cell::right(tool.counts.fp.to_string()),
        Column::Fn => Cell::right(tool.counts.r#fn.to_string()),
        Column::Result if tool.pass => Cell::left("pass").styled(GOOD),
        Column::Result => Cell::left("FAIL").styled(RED),
        Column::Failed => {
            let n = failed_trials(tool);
            Cell::right(format!("{n}/{}", tool.trials)).styled(if n > 0 { WARNING } else { DIM })
        }
        Column::Metric(at) => Cell::right(three(tool.metrics.get(METRICS[at]).and_then(|e| e.value))),
        Column::Seconds => {
            figure(report.measured.latency.get(&tool.tool).map(|own| format!("{:.1}", own.mean_ms / 1000.0)))
        }
        Column::Usd => figure(report.measured.cost.get(&tool.tool).map(|own| format!("{:.2}", own.usd))),
    }
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
