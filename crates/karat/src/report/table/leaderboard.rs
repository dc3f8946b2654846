//! A row for each tool, with as many columns as there is room for.

use super::{BAD, BOLD, CAREFUL, DIM, GOOD, Look, sparkline};
use crate::format::report::{ReportV1, ToolV1};
use crate::report::grid::{self, Cell};
use crate::report::number::{failed_trials, headline, is_best, rank_metric, rank_of, ranked, span, three, title};
use anstyle::Style;
use karat_core::profile::Method;

/// Names of tools may be cut down to so many characters for a column that would find no room otherwise.
const NAME: usize = 24;
/// For a metric of the headline, down to so many.
const SHORT_NAME: usize = 16;

/// What a column shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    /// A metric of the headline, by its place there, with its interval beneath.
    Headline(usize),
    Tp,
    Fp,
    Fn,
    Result,
    Failed,
    /// Another metric.
    Metric(&'static str),
    Seconds,
    Usd,
}

/// What there is beside the headline, the most useful first; what stands together comes together.
const MORE: [&[What]; 8] = [
    &[What::Tp, What::Fp, What::Fn],
    &[What::Failed],
    &[What::Usd],
    &[What::Seconds],
    &[What::Metric("f2")],
    &[What::Metric("found_any")],
    &[What::Metric("found_all")],
    &[What::Metric("consistency")],
];

/// The leaderboard, and what remains to be said of it: what its bars show where no head says so, and what found no room.
pub(super) fn draw(report: &ReportV1, look: &Look) -> (String, Vec<String>) {
    let Board { columns, stacked } = Board::fitting(report, look.width);
    let mut rows = rows(report, &columns, stacked);
    let is_shown = |at: usize| columns.contains(&What::Headline(at));
    let shown = (0..report.profile.headline.len()).filter(|at| is_shown(*at)).count();
    let bars = sparkline::add(report, &mut rows, 1 + shown, look);
    if stacked && columns.iter().any(|what| !split(report, *what).0.is_empty()) {
        let upper = columns.iter().map(|what| Cell::right(split(report, *what).0).styled(DIM));
        rows.insert(0, [Cell::left("")].into_iter().chain(upper).collect());
    }
    let ids = report.profile.headline.iter().enumerate();
    let left_out: Vec<&str> = ids.filter(|(at, _)| !is_shown(*at)).map(|(_, id)| title(id)).collect();
    let no_room = (!left_out.is_empty()).then(|| format!("no room for {}", left_out.join(", ")));
    (grid::draw(&rows, look.width, look.colour), bars.into_iter().chain(no_room).collect())
}

/// The columns that fit, in the order in which they stand.
struct Board {
    columns: Vec<What>,
    /// Whether heads of several words stand on two lines.
    stacked: bool,
}

impl Board {
    fn fitting(report: &ReportV1, width: usize) -> Self {
        let headline: Vec<What> = (0..report.profile.headline.len()).map(What::Headline).collect();
        let rows = rows(report, &headline, false);
        let first = grid::width(&rows, 1);
        let stacked = first.min(SHORT_NAME + 2) + grid::width(&rows, usize::MAX) - first > width;
        Self { columns: chosen(report, width, stacked), stacked }
    }
}

fn chosen(report: &ReportV1, width: usize, stacked: bool) -> Vec<What> {
    let fits = |columns: &[What], name: usize, beside: usize| {
        let rows = rows(report, columns, stacked);
        let first = grid::width(&rows, 1);
        first.min(name + 2) + grid::width(&rows, usize::MAX) - first + beside <= width
    };
    let headline = &report.profile.headline;
    let mut columns: Vec<What> = (0..headline.len()).map(What::Headline).collect();
    if report.profile.expect_pass {
        columns.push(What::Result);
    }
    // What ranks tools stays, and so does whether they pass.
    while !fits(&columns, SHORT_NAME, 0) {
        let can_go = |what: &What| matches!(what, What::Headline(at) if headline[*at] != rank_metric(report));
        let Some(last) = columns.iter().rposition(can_go) else { break };
        columns.remove(last);
    }
    let mut more: Vec<&[What]> = MORE.to_vec();
    if report.profile.method == Method::Audit {
        // Audits measure other things than the counts of findings.
        more.rotate_left(1);
    }
    for group in more.into_iter().filter(|group| has_any(report, group[0])) {
        let with: Vec<What> = columns.iter().chain(group).copied().collect();
        // The track of intervals says more than what comes after the counts and the failures.
        let track = if matches!(group[0], What::Tp | What::Failed) { 0 } else { sparkline::COLUMN + 2 };
        if fits(&with, NAME, track) {
            columns = with;
        }
    }
    columns.sort_by_key(|what| place(*what));
    columns
}

/// Where a column stands.
fn place(what: What) -> usize {
    match what {
        What::Headline(at) => at,
        What::Tp | What::Fp | What::Fn => 100,
        What::Result => 101,
        What::Failed => 102,
        What::Metric(_) => 103,
        What::Seconds => 104,
        What::Usd => 105,
    }
}

/// Whether a column would say anything of any tool.
fn has_any(report: &ReportV1, what: What) -> bool {
    let verdicts_only = report.profile.method == Method::Verdict;
    report.tools.iter().any(|tool| match what {
        What::Headline(_) | What::Result => true,
        What::Tp | What::Fp | What::Fn => !verdicts_only,
        What::Failed => failed_trials(tool) > 0,
        What::Metric(id) => !verdicts_only && tool.metrics.get(id).is_some_and(|estimate| estimate.value.is_some()),
        What::Seconds => report.measured.latency.contains_key(&tool.tool),
        What::Usd => report.measured.cost.contains_key(&tool.tool),
    })
}

/// The head of a column on two lines, the second as wide as the first.
fn split(report: &ReportV1, what: What) -> (String, String) {
    let title = head_words(report, what);
    match (what, title.rsplit_once(' ')) {
        (What::Headline(_), Some((upper, lower))) => {
            (upper.to_owned(), format!("{lower:>width$}", width = upper.chars().count()))
        }
        _ => (String::new(), title.to_owned()),
    }
}

fn rows(report: &ReportV1, columns: &[What], stacked: bool) -> Vec<Vec<Cell>> {
    let mut header = vec![Cell::left("tool").styled(DIM)];
    let head = |what: &What| {
        let words = if stacked { split(report, *what).1 } else { head_words(report, *what).to_owned() };
        if *what == What::Result { Cell::left(words) } else { Cell::right(words) }.styled(DIM)
    };
    header.extend(columns.iter().map(head));
    let mut rows = vec![header];
    for tool in ranked(report) {
        let mut row = vec![Cell::left(&tool.tool).styled(BOLD)];
        row.extend(columns.iter().map(|what| cell(report, tool, *what)));
        rows.push(row);
        let rank = rank_of(report, &tool.tool).map_or_else(String::new, |rank| format!("rank {rank}"));
        let spans = columns.iter().filter_map(|what| match what {
            What::Headline(at) => {
                Some(span(headline(report, tool).get(&report.profile.headline[*at]).and_then(|e| e.ci)))
            }
            _ => None,
        });
        let beneath = [Cell::left(rank).styled(DIM)].into_iter().chain(spans.map(|s| Cell::right(s).styled(DIM)));
        rows.push(beneath.collect());
    }
    rows
}

fn head_words(report: &ReportV1, what: What) -> &str {
    match what {
        What::Headline(at) => title(&report.profile.headline[at]),
        What::Tp => "TP",
        What::Fp => "FP",
        What::Fn => "FN",
        What::Result => "result",
        What::Failed => "failed",
        What::Metric(id) => title(id),
        What::Seconds => "s/trial",
        What::Usd => "USD",
    }
}

fn cell(report: &ReportV1, tool: &ToolV1, what: What) -> Cell {
    let figure = |value: Option<String>| Cell::right(value.unwrap_or_else(|| "–".to_owned()));
    match what {
        What::Headline(at) => metric_cell(report, tool, &report.profile.headline[at]),
        What::Tp => Cell::right(tool.counts.tp.to_string()),
        What::Fp => Cell::right(tool.counts.fp.to_string()),
        What::Fn => Cell::right(tool.counts.r#fn.to_string()),
        What::Result if tool.pass => Cell::left("pass").styled(GOOD),
        What::Result => Cell::left("FAIL").styled(BAD),
        What::Failed => {
            let n = failed_trials(tool);
            Cell::right(format!("{n}/{}", tool.trials)).styled(if n > 0 { CAREFUL } else { DIM })
        }
        What::Metric(id) => Cell::right(three(tool.metrics.get(id).and_then(|e| e.value))),
        What::Seconds => {
            figure(report.measured.latency.get(&tool.tool).map(|own| format!("{:.1}", own.mean_ms / 1000.0)))
        }
        What::Usd => figure(report.measured.cost.get(&tool.tool).map(|own| format!("{:.2}", own.usd))),
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
