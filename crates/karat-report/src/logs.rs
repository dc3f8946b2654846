//! Renders the summary of an assessment log for a terminal.

use super::grid::{self, Cell};
use super::number::or_dash;
use super::terminal::{DIM, TerminalStyle, indented};
use anstyle::Style;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_format::log::{LogStageV1, LogSummaryV1};

const NOTE: &str = "in, out: tokens · p50 to p99: percentiles of the time";

/// Renders times, work by stage and model, and failures.
pub fn draw(summary: &LogSummaryV1, terminal: &TerminalStyle) -> String {
    let session = summary.session_id.as_ref().map(|id| format!(" · session {id}")).unwrap_or_default();
    let ended =
        summary.ended.as_ref().map_or("did not end".to_owned(), |ended| format!("ended {}", without_fraction(ended)));
    let mut out = format!("run {}{}\n", harmless(&summary.batch_run_id), harmless(&session));
    let stage = format!("stage {}", summary.assessment_mode);
    let began = format!("began {}", without_fraction(&summary.began));
    let facts = [
        summary.templates.join(", "),
        count(summary.bundles, "bundle"),
        count(summary.requirements, "requirement"),
        if summary.assessment_mode.is_empty() { String::new() } else { stage },
        if summary.began.is_empty() { String::new() } else { began },
        ended,
    ];
    let facts: Vec<String> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
    let facts = facts.join(" · ");
    out.push_str(&indented(&facts, Style::new(), terminal));
    let heads = ["calls", "cached", "errors", "in", "out", "p50", "p90", "p99", "max"];
    let mut rows = vec![grid::header("stage · model", heads)];
    rows.extend(summary.stages.iter().map(row));
    out.push('\n');
    out.push_str(&grid::draw(&rows, terminal.width, terminal.colour));
    out.push_str(&grid::draw(&[vec![Cell::left(NOTE).styled(DIM)]], terminal.width, terminal.colour));
    if let Some(usd) = summary.usd {
        let rest = if summary.usd_is_lower_bound { "; the price of other calls is not known" } else { "" };
        let least = if summary.usd_is_lower_bound { "at least " } else { "" };
        out.push_str(&format!("  cost {least}${usd:.4}{rest}\n"));
    }
    if !summary.errors.is_empty() {
        out.push_str("\nerrors\n");
    }
    for error in &summary.errors {
        let model = error.model.as_ref().map(|model| format!(" · {model}")).unwrap_or_default();
        let text = format!("{} × {}{model} {}: {}", error.count, error.stage, error.kind, error.first);
        out.push_str(&indented(&text, Style::new(), terminal));
    }
    if summary.unreadable_lines > 0 {
        out.push_str(&format!("\n{} could not be read\n", count(summary.unreadable_lines, "line")));
    }
    out
}

fn row(stage: &LogStageV1) -> Vec<Cell> {
    let name = stage.model.as_ref().map_or(stage.stage.clone(), |model| format!("{} · {model}", stage.stage));
    let mut row = vec![Cell::left(name)];
    row.extend([stage.calls, stage.cached, stage.errors].map(|n| Cell::right(n.to_string())));
    row.extend([stage.tokens_in, stage.tokens_out].map(|n| Cell::right(n.to_string())));
    let times = stage.latency_ms.map(|times| [times.p50, times.p90, times.p99, times.max].map(format_ms));
    row.extend(times.unwrap_or_else(|| std::array::from_fn(|_| or_dash(None))).map(Cell::right));
    row
}

fn without_fraction(time: &str) -> String {
    time.split_once('.').map_or_else(|| time.to_owned(), |(seconds, _)| format!("{seconds}Z"))
}

fn format_ms(ms: f64) -> String {
    match ms {
        ms if ms >= 10_000.0 => format!("{:.0} s", ms / 1e3),
        ms if ms >= 1_000.0 => format!("{:.1} s", ms / 1e3),
        ms if ms >= 10.0 => format!("{ms:.0} ms"),
        ms => format!("{ms:.1} ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_of_some_prices_is_the_least() {
        let cost = |usd: Option<f64>, usd_is_lower_bound: bool| {
            let drawn = draw(
                &LogSummaryV1 { usd, usd_is_lower_bound, ..LogSummaryV1::default() },
                &TerminalStyle::complete(80),
            );
            drawn.lines().find(|line| line.contains("cost")).map(|line| line.trim().to_owned())
        };
        assert_eq!(cost(None, false), None);
        assert_eq!(cost(Some(0.5), false).as_deref(), Some("cost $0.5000"));
        assert_eq!(
            cost(Some(0.5), true).as_deref(),
            Some("cost at least $0.5000; the price of other calls is not known")
        );
    }
}
