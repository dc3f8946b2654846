//! The sortable leaderboard: a row per tool, a bar per interval.

use crate::number::{failed_trials, headline, is_best, rank_metric, rank_of, ranked, span, three, title};
use crate::page::text;
use crate::plot;
use karat_core::metric::table::{Direction, find};
use karat_core::profile::Method;
use karat_format::report::{EstimateV1, ReportV1, ToolV1};

/// Every sortable cell carries its value.
pub(super) fn draw(report: &ReportV1, out: &mut String) {
    out.push_str("<section id=\"leaderboard\" aria-labelledby=\"leaderboard-title\">\n<h2 id=\"leaderboard-title\">Leaderboard</h2>\n");
    let by = report.profile.headline_macro_by.as_deref().unwrap_or("cases");
    out.push_str(&format!("<p class=\"dim\">Means over {}, with 95 % intervals.", text(by)));
    if report.ranking.is_some() {
        out.push_str(" A range of ranks means that the tools in it are statistically tied.");
    }
    out.push_str("</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Leaderboard, scrolls sideways\"><table class=\"sortable\">\n<thead><tr>");
    let columns = columns(report);
    for (at, column) in columns.iter().enumerate() {
        let sorted = match (column.ranks, column.less_is_better) {
            (false, _) => "",
            (true, true) => " aria-sort=\"ascending\"",
            (true, false) => " aria-sort=\"descending\"",
        };
        let down = if column.less_is_better { " data-less=\"\"" } else { "" };
        let class = if at == 0 { "" } else { " class=\"n\"" };
        out.push_str(&format!("<th scope=\"col\"{class}{sorted}{down}>{}</th>", text(&column.title)));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for tool in ranked(report) {
        out.push_str("<tr>");
        columns.iter().for_each(|column| out.push_str(&(column.cell)(report, tool, column)));
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n</section>\n");
}

struct Column {
    title: String,
    id: String,
    ranks: bool,
    less_is_better: bool,
    cell: fn(&ReportV1, &ToolV1, &Column) -> String,
}

fn columns(report: &ReportV1) -> Vec<Column> {
    let plain = |title: &str, less_is_better, cell| Column {
        title: title.to_owned(),
        id: String::new(),
        ranks: false,
        less_is_better,
        cell,
    };
    let mut columns = vec![plain("Tool", true, name)];
    if report.ranking.is_some() {
        columns.push(plain("Rank", true, place));
    }
    // The ranking metric comes right after the rank, where small screens show it too.
    let (first, others): (Vec<&String>, Vec<&String>) =
        report.profile.headline.iter().partition(|id| *id == rank_metric(report));
    for id in first.into_iter().chain(others) {
        let less_is_better = find(id).is_some_and(|metric| metric.direction == Direction::Down);
        let ranks = id == rank_metric(report);
        columns.push(Column { title: title(id).to_owned(), id: id.clone(), ranks, less_is_better, cell: metric });
    }
    if report.profile.method != Method::Verdict {
        columns.push(plain("TP", false, |_, tool, _| number(tool.counts.tp)));
        columns.push(plain("FP", true, |_, tool, _| number(tool.counts.fp)));
        columns.push(plain("FN", true, |_, tool, _| number(tool.counts.r#fn)));
    }
    if report.tools.iter().any(|tool| failed_trials(tool) > 0) {
        columns.push(plain("Failed", true, failed));
    }
    if !report.measured.latency.is_empty() {
        columns.push(plain("Time a case", true, latency));
    }
    if report.measured.cost.values().any(|cost| cost.n > 0) {
        columns.push(plain("USD a case", true, cost));
        columns.push(plain("USD a golden", true, cost_per_golden));
    }
    columns
}

/// Longer names wrap.
const SHORT_NAME: usize = 24;

fn name(report: &ReportV1, tool: &ToolV1, _: &Column) -> String {
    let result = match (report.profile.expect_pass, tool.pass) {
        (false, _) => "",
        (true, true) => " <span class=\"good\">pass</span>",
        (true, false) => " <span class=\"bad\">FAIL</span>",
    };
    let shown = text(&tool.tool);
    let short = if tool.tool.chars().count() <= SHORT_NAME { " class=\"short\"" } else { "" };
    format!("<th scope=\"row\"{short} data-sort=\"{shown}\">{shown}{result}</th>")
}

fn place(report: &ReportV1, tool: &ToolV1, _: &Column) -> String {
    let at = ranked(report).iter().position(|own| own.tool == tool.tool).unwrap_or_default();
    let shown = rank_of(report, &tool.tool).unwrap_or_else(|| "–".to_owned());
    format!("<td class=\"n\" data-sort=\"{at}\">{shown}</td>")
}

fn metric(report: &ReportV1, tool: &ToolV1, column: &Column) -> String {
    let Some(estimate) = headline(report, tool).get(&column.id) else { return empty("") };
    let Some(value) = estimate.value else { return empty(estimate.undefined.as_deref().unwrap_or_default()) };
    let best = if is_best(report, tool, &column.id) { "<b class=\"good\" title=\"best\">★</b> " } else { "" };
    let (ci, why) = (span(estimate.ci), no_interval(estimate));
    let all = report.tools.iter().filter_map(|tool| headline(report, tool).get(&column.id));
    let scale = plot::column(all.map(|estimate| (estimate.value, estimate.ci)));
    format!(
        "<td class=\"n\" data-sort=\"{value}\">{best}<span class=\"value\">{}</span><br>{}<br><span class=\"dim small\"{why}>{ci}</span></td>",
        three(Some(value)),
        plot::interval(Some(value), estimate.ci, scale),
    )
}

fn no_interval(estimate: &EstimateV1) -> String {
    let why = estimate.no_ci.as_deref().filter(|_| estimate.ci.is_none());
    why.map_or_else(String::new, |why| format!(" title=\"{}\"", text(why)))
}

fn empty(why: &str) -> String {
    let why =
        if why.is_empty() { String::new() } else { format!("<br><span class=\"dim small\">{}</span>", text(why)) };
    format!("<td class=\"n\" data-sort=\"\">–{why}</td>")
}

fn number(n: usize) -> String {
    format!("<td class=\"n\" data-sort=\"{n}\">{n}</td>")
}

fn failed(_: &ReportV1, tool: &ToolV1, _: &Column) -> String {
    let n = failed_trials(tool);
    let class = if n > 0 { "n warn" } else { "n" };
    format!("<td class=\"{class}\" data-sort=\"{n}\">{n} of {}</td>", tool.trials)
}

fn latency(report: &ReportV1, tool: &ToolV1, _: &Column) -> String {
    let Some(latency) = report.measured.latency.get(&tool.tool) else { return empty("") };
    let ms = latency.mean_ms;
    let shown = if ms < 1000.0 { format!("{ms:.0} ms") } else { format!("{:.1} s", ms / 1000.0) };
    format!("<td class=\"n\" data-sort=\"{ms}\">{shown}</td>")
}

fn cost(report: &ReportV1, tool: &ToolV1, _: &Column) -> String {
    let stated = report.measured.cost.get(&tool.tool).filter(|cost| cost.n > 0);
    stated.map_or_else(|| empty(""), |cost| dollars(cost.usd_per_case))
}

fn cost_per_golden(report: &ReportV1, tool: &ToolV1, _: &Column) -> String {
    let stated = report.measured.cost.get(&tool.tool).filter(|cost| cost.n > 0);
    stated.and_then(|cost| cost.usd_per_tp).map_or_else(|| empty(""), dollars)
}

fn dollars(usd: f64) -> String {
    let shown = if usd != 0.0 && usd.abs() < 1.0 { format!("{usd:.4}") } else { format!("{usd:.2}") };
    format!("<td class=\"n\" data-sort=\"{usd}\">{shown}</td>")
}
