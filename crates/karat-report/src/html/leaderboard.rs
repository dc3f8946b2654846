//! The sortable leaderboard: a row per tool, a bar per interval.

use super::section;
use crate::facts::{sensitivity_sentence, untouched_sentence};
use crate::number::{failed_trials, headline, is_best, rank_metric, rank_of, ranked, span, three, title, tried};
use crate::page::drawing;
use crate::plot;
use karat_core::metric::table::{Direction, find};
use karat_format::report::{ReportV1, ToolV1};
use maud::{Markup, Render, html};

/// Every sortable cell carries its value.
pub(super) fn draw(report: &ReportV1) -> Markup {
    let columns = columns(report);
    let content = html! {
        p.dim {
            "Means over " (report.profile.headline_macro_by.as_deref().unwrap_or("cases")) ", with 95 % intervals."
            @if report.ranking.is_some() {
                " A range of ranks means that the tools in it are statistically tied."
            }
        }
        div.scroll tabindex="0" role="group" aria-label="Leaderboard, scrolls sideways" {
            table.sortable {
                thead { tr { @for (at, column) in columns.iter().enumerate() { (column.head(at == 0)) } } }
                tbody {
                    @for tool in ranked(report) {
                        tr { @for column in &columns { ((column.cell)(tool)) } }
                    }
                }
            }
        }
        @if let Some(sentence) = untouched_sentence(report) { p.dim { (sentence) "." } }
        @if let Some(sentence) = sensitivity_sentence(report) { p.warn { (sentence) } }
    };
    section("leaderboard", "Leaderboard", &content)
}

struct Column<'r> {
    title: &'r str,
    ranks: bool,
    less_is_better: bool,
    cell: Box<dyn Fn(&ToolV1) -> Markup + 'r>,
}

impl<'r> Column<'r> {
    fn new(title: &'r str, less_is_better: bool, cell: impl Fn(&ToolV1) -> Markup + 'r) -> Self {
        Self { title, ranks: false, less_is_better, cell: Box::new(cell) }
    }

    fn head(&self, first: bool) -> Markup {
        let sorted = self.ranks.then_some(if self.less_is_better { "ascending" } else { "descending" });
        html! {
            th scope="col" class=[(!first).then_some("n")] aria-sort=[sorted]
                data-less=[self.less_is_better.then_some("")] { (self.title) }
        }
    }
}

fn columns(report: &ReportV1) -> Vec<Column<'_>> {
    let mut columns = vec![Column::new("Tool", true, move |tool| name(report, tool))];
    if report.ranking.is_some() {
        columns.push(Column::new("Rank", true, move |tool| {
            let at = ranked(report).iter().position(|own| own.tool == tool.tool).unwrap_or_default();
            cell(at, rank_of(report, &tool.tool).unwrap_or_else(|| "–".to_owned()))
        }));
    }
    // The ranking metric comes right after the rank, where small screens show it too.
    let (first, others): (Vec<&String>, Vec<&String>) =
        report.profile.headline.iter().partition(|id| *id == rank_metric(report));
    for id in first.into_iter().chain(others) {
        let less_is_better = find(id).is_some_and(|metric| metric.direction == Direction::Down);
        let column = Column::new(title(id), less_is_better, move |tool| metric(report, tool, id));
        columns.push(Column { ranks: id == rank_metric(report), ..column });
    }
    if report.tools.iter().any(|tool| failed_trials(tool) > 0) {
        columns.push(Column::new("Failed", true, |tool| {
            let n = failed_trials(tool);
            html! { td.n.warn[n > 0] data-sort=(n) { (n) " of " (tried(tool)) } }
        }));
    }
    if report.tools.iter().any(|tool| tool.unavailable() > 0) {
        columns.push(Column::new("Unavailable", true, |tool| {
            let n = tool.unavailable();
            html! { td.n data-sort=(n) { (n) " of " (tool.trials) } }
        }));
    }
    if !report.measured.latency.is_empty() {
        columns.push(Column::new("Time a case", true, move |tool| {
            let Some(latency) = report.measured.latency.get(&tool.tool) else { return empty(None) };
            let ms = latency.mean_ms;
            cell(ms, if ms < 1000.0 { format!("{ms:.0} ms") } else { format!("{:.1} s", ms / 1000.0) })
        }));
    }
    if report.measured.cost.values().any(|cost| cost.n > 0) {
        let cost = move |tool: &ToolV1| report.measured.cost.get(&tool.tool).filter(|cost| cost.n > 0);
        columns.push(Column::new("USD a case", true, move |tool| dollars(cost(tool).map(|cost| cost.usd_per_case))));
        columns
            .push(Column::new("USD a golden", true, move |tool| dollars(cost(tool).and_then(|cost| cost.usd_per_tp))));
    }
    columns
}

const SHORT_NAME: usize = 24;

fn name(report: &ReportV1, tool: &ToolV1) -> Markup {
    let is_short = tool.tool.chars().count() <= SHORT_NAME;
    html! {
        th scope="row" class=[is_short.then_some("short")] data-sort=(tool.tool) {
            (tool.tool)
            @match (report.profile.expect_pass, tool.pass) {
                _ if !tool.has_reported() => { " " span.bad { "failed" } }
                (false, _) => {}
                (true, true) => { " " span.good { "pass" } }
                (true, false) => { " " span.bad { "FAIL" } }
            }
        }
    }
}

fn metric(report: &ReportV1, tool: &ToolV1, id: &str) -> Markup {
    let Some(estimate) = headline(report, tool).get(id) else { return empty(None) };
    let Some(value) = estimate.value else { return empty(estimate.undefined.as_deref()) };
    let all = report.tools.iter().filter_map(|tool| headline(report, tool).get(id));
    let scale = plot::column(all.map(|estimate| (estimate.value, estimate.ci)));
    let why = estimate.no_ci.as_deref().filter(|_| estimate.ci.is_none());
    let shown = html! {
        @if is_best(report, tool, id) { b.good title="best" { "★" } " " }
        span.value { (three(Some(value))) }
        br;
        (drawing(plot::interval(Some(value), estimate.ci, scale)))
        br;
        span.dim.small title=[why] { (span(estimate.ci)) }
    };
    cell(value, shown)
}

fn cell(value: impl std::fmt::Display, shown: impl Render) -> Markup {
    html! { td.n data-sort=(value) { (shown) } }
}

fn empty(why: Option<&str>) -> Markup {
    html! { td.n data-sort="" { "–" @if let Some(why) = why { br; span.dim.small { (why) } } } }
}

fn dollars(usd: Option<f64>) -> Markup {
    let Some(usd) = usd else { return empty(None) };
    cell(usd, if usd != 0.0 && usd.abs() < 1.0 { format!("{usd:.4}") } else { format!("{usd:.2}") })
}
