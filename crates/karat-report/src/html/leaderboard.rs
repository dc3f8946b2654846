//! The sortable leaderboard: a row per tool, a bar per interval.

use super::{save, section};
use crate::facts::{averaged_values, derived_sentence, sensitivity_sentence, untouched_sentence};
use crate::number::{
    at_least, decimals, failed_trials, headline, is_best, rank_metric, rank_of, ranked, span, three, title, tried,
};
use crate::page::drawing;
use crate::plot::{self, PlotOptions};
use crate::report_view::ReportView;
use karat_core::metric::table::{Direction, find};
use karat_core::suite::Verdict;
use karat_format::report::{AuditedFindingsV1, CostV1, ReportV1, ToolV1};
use maud::{Markup, Render, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use std::collections::BTreeSet;

/// Every sortable cell carries its value.
pub(super) fn draw(report: &ReportV1) -> Markup {
    let (ids, left_out) = shown_metrics(report);
    let columns = columns(report, &ids);
    let content = html! {
        p.dim {
            "Means over " (report.profile.headline_macro_by.as_deref().unwrap_or("cases")) ", with 95 % intervals."
            @if !report.measured.latency.is_empty() || !report.measured.cost.is_empty() {
                " Time and USD are those of a case, USD/TP those of a golden found."
            }
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
        @if !left_out.is_empty() { p.dim { "Left out: " (left_out.join(", ")) "." } }
        @let sentences = [averaged_values(report), derived_sentence(report, true), untouched_sentence(report)];
        @for sentence in sentences.iter().flatten() { p.dim { (sentence) "." } }
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

/// The headline metrics, ranking metric first, and why others are left out. A metric without a value for any tool, or one
/// that says nothing on this suite, would only take the place of the others.
fn shown_metrics(report: &ReportV1) -> (Vec<&str>, Vec<String>) {
    let verdicts: BTreeSet<_> = report.cases.iter().map(|case| case.verdict).collect();
    let mut shown = Vec::new();
    let mut left_out = Vec::new();
    for id in &report.profile.headline {
        let estimates = || report.tools.iter().filter_map(|tool| headline(report, tool).get(id));
        let why = match (estimates().any(|estimate| estimate.value.is_some()), verdicts.first()) {
            (false, _) => {
                estimates().find_map(|estimate| estimate.undefined.as_deref()).unwrap_or("no value").to_owned()
            }
            (true, Some(Verdict::Vulnerable)) if id == "accuracy" && verdicts.len() == 1 => {
                "every case is vulnerable".to_owned()
            }
            (true, Some(Verdict::Safe)) if id == "accuracy" && verdicts.len() == 1 => "every case is safe".to_owned(),
            _ => {
                shown.push(id.as_str());
                continue;
            }
        };
        match id == rank_metric(report) {
            // Without its column the order of the tools would have no reason.
            true => shown.push(id.as_str()),
            false => left_out.push(format!("{} ({why})", title(id))),
        }
    }
    // The ranking metric comes right after the rank, where small screens show it too.
    shown.sort_by_key(|id| *id != rank_metric(report));
    (shown, left_out)
}

/// The ranking metric of all tools on one scale; nothing unless two have a value.
pub(super) fn forest(view: &ReportView<'_>) -> Markup {
    let report = view.report;
    let id = rank_metric(report);
    let figure = |tool: &ToolV1| headline(report, tool).get(id).and_then(|own| Some((own.value?, own.ci)));
    let rows: Vec<(&str, f64, Option<[f64; 2]>)> =
        ranked(report).into_iter().filter_map(|tool| figure(tool).map(|(v, ci)| (tool.tool.as_str(), v, ci))).collect();
    if rows.len() < 2 {
        return Markup::default();
    }
    let (ends, labels) = plot::forest_scale(rows.iter().map(|(_, value, ci)| (Some(*value), *ci)));
    let about = |name: &str, value: f64, ci: Option<[f64; 2]>| {
        let ends = ci.map(|[low, high]| format!(", {} to {}", decimals(low, 3), decimals(high, 3)));
        format!("{name}: {} {}{}", title(id), decimals(value, 3), ends.unwrap_or_default())
    };
    let table = |rows: &[(&str, f64, Option<[f64; 2]>)]| {
        html! {
            table.forests aria-label={ (title(id)) " of every tool" } {
                tbody {
                    @for &(name, value, ci) in rows {
                        tr {
                            th scope="row" title=(name) { (name) }
                            td.scale { (drawing(plot::forest(&about(name, value, ci), value, ci, ends))) }
                            td.n { b { (three(Some(value))) } " " span.dim.small { (span(ci)) } }
                        }
                    }
                }
                tfoot aria-hidden="true" {
                    tr { td {} td.scale { div.ticks { @for label in &labels { span { (label) } } } } td {} }
                }
            }
        }
    };
    let (first, rest) = rows.split_at(rows.len().min(MOST_ROWS));
    let drawn = plot::kind("intervals").and_then(|kind| (kind.draw)(view, &PlotOptions::default()).ok());
    let content = html! {
        @for plot in drawn.iter().flatten() { (save(plot)) }
        (table(first))
        @if !rest.is_empty() { details { summary { (rest.len()) " more" } (table(rest)) } }
    };
    let direction =
        if find(id).is_some_and(|metric| metric.direction == Direction::Down) { ", less is better" } else { "" };
    section("ranking", &format!("{} with 95 % intervals{direction}", title(id)), &content)
}

/// More tools would push the leaderboard off the first screens.
const MOST_ROWS: usize = 12;

fn columns<'r>(report: &'r ReportV1, ids: &[&'r str]) -> Vec<Column<'r>> {
    let mut columns = vec![Column::new("Tool", true, move |tool| name(report, tool))];
    if report.ranking.is_some() {
        columns.push(Column::new("Rank", true, move |tool| {
            let at = ranked(report).iter().position(|own| own.tool == tool.tool).unwrap_or_default();
            cell(at, rank_of(report, &tool.tool).unwrap_or_else(|| "–".to_owned()))
        }));
    }
    for &id in ids {
        let less_is_better = find(id).is_some_and(|metric| metric.direction == Direction::Down);
        let column = Column::new(title(id), less_is_better, move |tool| metric(report, tool, id));
        columns.push(Column { ranks: id == rank_metric(report), ..column });
    }
    if report.tools.iter().any(|tool| tool.audited_findings.is_some()) {
        let column = |title, less_is_better, count: fn(&AuditedFindingsV1) -> usize| {
            Column::new(title, less_is_better, move |tool: &ToolV1| {
                let Some(own) = &tool.audited_findings else { return empty(None) };
                html! { td.n data-sort=(count(own)) { (count(own)) } }
            })
        };
        columns.push(column("Findings", false, |own| own.total));
        columns.push(column("Valid", false, |own| own.valid));
        columns.push(column("Invalid", true, |own| own.invalid));
        columns.push(column("Hallucinated", true, |own| own.hallucinated));
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
        columns.push(Column::new("Time", true, move |tool| {
            let Some(latency) = report.measured.latency.get(&tool.tool) else { return empty(None) };
            let ms = latency.mean_ms;
            cell(ms, if ms < 1000.0 { format!("{ms:.0} ms") } else { format!("{:.1} s", ms / 1000.0) })
        }));
    }
    if report.measured.cost.values().any(|cost| cost.n > 0) {
        let cost = move |tool: &ToolV1| report.measured.cost.get(&tool.tool).filter(|cost| cost.n > 0);
        columns.push(Column::new("USD", true, move |tool| dollars(cost(tool), |cost| cost.usd_per_case, false)));
        columns.push(Column::new("USD/TP", true, move |tool| dollars(cost(tool), |cost| cost.usd_per_tp, true)));
    }
    columns
}

const SHORT_NAME: usize = 24;

fn name(report: &ReportV1, tool: &ToolV1) -> Markup {
    let is_short = tool.tool.chars().count() <= SHORT_NAME;
    let has_misses = tool.cases.iter().flat_map(|case| &case.trials).any(|trial| trial.counted && trial.r#fn > 0);
    let outcome = if has_misses { "&outcome=missed" } else { "" };
    let address = format!("#/cases?tool={}{outcome}", utf8_percent_encode(&tool.tool, NON_ALPHANUMERIC));
    html! {
        th scope="row" class=[is_short.then_some("short")] data-sort=(tool.tool) {
            a href=(address) title=(if has_misses { "its missed goldens" } else { "its cases" }) { (tool.tool) }
            @if let Some(recorded) = &tool.recorded { " " small title="not run: repeated from a recording" { (recorded.words()) } }
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
    let why = estimate.no_ci.as_deref().filter(|_| estimate.ci.is_none());
    let all = report.tools.iter().filter_map(|tool| headline(report, tool).get(id));
    let scale = plot::column(all.map(|estimate| (estimate.value, estimate.ci)));
    let shown = html! {
        span.figure {
            @if is_best(report, tool, id) { b.good title="best" { "★" } }
            span.value { (three(Some(value))) }
            (drawing(plot::interval(Some(value), estimate.ci, scale)))
            span.dim.small title=[why] { (span(estimate.ci)) }
        }
    };
    cell(value, shown)
}

fn cell(value: impl std::fmt::Display, shown: impl Render) -> Markup {
    html! { td.n data-sort=(value) { (shown) } }
}

fn empty(why: Option<&str>) -> Markup {
    html! { td.n data-sort="" { "–" @if let Some(why) = why { br; span.dim.small { (why) } } } }
}

/// A price, or why there is none; a part of a sum that is not known in full is only the least that it can be.
fn dollars(cost: Option<&CostV1>, price: fn(&CostV1) -> Option<f64>, is_of_sum: bool) -> Markup {
    let Some(cost) = cost else { return empty(None) };
    let Some(usd) = price(cost) else { return empty(cost.usd_undefined.as_deref()) };
    let text = if usd != 0.0 && usd.abs() < 1.0 { format!("{usd:.4}") } else { format!("{usd:.2}") };
    cell(usd, at_least(is_of_sum && cost.usd_is_lower_bound, &text))
}
