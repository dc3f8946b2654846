//! Renders the result of a gate for a terminal and as Markdown.

use super::compare::{draw_other_judges, markdown_other_judges};
use super::grid;
use super::markdown::{self, escape};
use super::number::title;
use super::terminal::{BAD, BOLD, DIM, GOOD, TerminalStyle, WARNING, heading, paint, warnings};
use anstyle::Style;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_format::gate::{DemandOutcomeV1, DemandV1, GateV1};
use unicode_width::UnicodeWidthStr;

/// Renders one line per tool and one for what is left out, then the outcome.
pub fn draw(gate: &GateV1, terminal: &TerminalStyle) -> String {
    let mut out = first_lines(gate, terminal);
    let mut tools: Vec<&str> = Vec::new();
    for name in gate.demands.iter().map(tool_name) {
        if !tools.contains(&name) {
            tools.push(name);
        }
    }
    let names = tools.iter().map(|name| harmless(name).width()).max().unwrap_or(0);
    for name in tools {
        let demands: Vec<&DemandV1> = gate.demands.iter().filter(|demand| tool_name(demand) == name).collect();
        let (word, style, text) = summary(&demands);
        let name = harmless(name);
        let line = format!("{name}{}  {}", " ".repeat(names - name.width()), harmless(&text));
        let line = grid::fit(&line, terminal.width.saturating_sub(16));
        out.push_str(&format!("  {}  {line}\n", paint(&format!("{word:12}"), style, terminal)));
        let left_out: Vec<String> = demands.iter().filter_map(|demand| left_out(demand)).collect();
        if !left_out.is_empty() {
            let text = format!("{}, too few to decide", harmless(&left_out.join(", ")));
            let mut head = format!("{name}{}  ", " ".repeat(names - name.width()));
            for (at, line) in grid::wrap(&text, terminal.width.saturating_sub(16 + head.width())).iter().enumerate() {
                let word = if at == 0 { DemandOutcomeV1::LeftOut.word() } else { "" };
                out.push_str(&format!("  {}  {head}{line}\n", paint(&format!("{word:12}"), DIM, terminal)));
                head = " ".repeat(head.width());
            }
        }
    }
    let more = match gate.warnings.len() {
        0 if gate.outcome == DemandOutcomeV1::Holds => String::new(),
        0 => " Details: --verbose.".to_owned(),
        warnings => format!(" {}, details: --verbose.", count(warnings, "warning")),
    };
    out + &format!("{}{more}\n", paint(&sentence(gate), shown(gate.outcome).0, terminal))
}

/// A metric that is no part of the result, with its own n.
fn left_out(demand: &DemandV1) -> Option<String> {
    let metric = demand.metric.as_ref().filter(|_| demand.outcome == DemandOutcomeV1::LeftOut)?;
    Some(format!("{}: n = {}", title(metric), demand.n.unwrap_or_default()))
}

/// What a reader must know before any figure, then the suite.
fn first_lines(gate: &GateV1, terminal: &TerminalStyle) -> String {
    let judges = gate.other_judges.as_ref().map(|own| draw_other_judges(own, terminal));
    judges.unwrap_or_default() + &suite_line(gate, terminal)
}

fn suite_line(gate: &GateV1, terminal: &TerminalStyle) -> String {
    let facts = format!("{} · profile {}", count(gate.cases, "case"), harmless(&gate.profile));
    format!("{}  {}\n", paint(&harmless(&gate.suite), BOLD, terminal), paint(&facts, DIM, terminal))
}

fn tool_name(demand: &DemandV1) -> &str {
    demand.tool.as_deref().unwrap_or("all tools")
}

/// What came of the demands on one tool: the outcome, its style, and the demand that decided it.
fn summary(demands: &[&DemandV1]) -> (&'static str, Style, String) {
    let decided: Vec<&&DemandV1> = demands.iter().filter(|demand| demand.outcome != DemandOutcomeV1::LeftOut).collect();
    if !decided.is_empty() && decided.iter().all(|demand| demand.unchanged) {
        let ns: Vec<usize> = decided.iter().filter_map(|demand| demand.n).collect();
        let n = match (ns.iter().min(), ns.iter().max()) {
            (Some(least), Some(most)) if least < most => format!(": n = {least} to {most}"),
            (Some(n), _) => format!(": n = {n}"),
            _ => String::new(),
        };
        let unseen = decided.iter().filter_map(|demand| demand.unseen).reduce(f64::max);
        let bound = unseen.map(|unseen| format!(", up to {:.1} % could differ", 100.0 * unseen));
        return ("identical", GOOD, count(decided.len(), "metric") + &n + &bound.unwrap_or_default());
    }
    let outcome = demands.iter().map(|demand| demand.outcome).max().unwrap_or(DemandOutcomeV1::Holds);
    // What has not changed says least.
    let decisive: Vec<&&DemandV1> = demands.iter().filter(|demand| demand.outcome == outcome).collect();
    let text = match decisive.iter().find(|demand| !demand.unchanged).or(decisive.first()) {
        Some(first) if decisive.len() == 1 => format!("{}: {}", first.demand, first.why),
        Some(first) => format!("{} and {} more: {}", first.demand, decisive.len() - 1, first.why),
        None => String::new(),
    };
    (outcome.word(), shown(outcome).0, text)
}

/// Renders every demand with its reason, then the outcome.
pub fn draw_demands(gate: &GateV1, terminal: &TerminalStyle) -> String {
    let mut out = first_lines(gate, terminal);
    let mut tool = None;
    for demand in &gate.demands {
        if tool != Some(&demand.tool) {
            out.push_str(&heading(&harmless(tool_name(demand)), terminal));
            tool = Some(&demand.tool);
        }
        let word = paint(&format!("{:12}", demand.outcome.word()), shown(demand.outcome).0, terminal);
        let line = grid::fit(&harmless(&demand.demand), terminal.width.saturating_sub(16));
        out.push_str(&format!("  {word}  {line}\n"));
        for line in grid::wrap(&harmless(&demand.why), terminal.width.saturating_sub(16)) {
            out.push_str(&format!("                {}\n", paint(&line, DIM, terminal)));
        }
    }
    out.push_str(&warnings(&gate.warnings, terminal));
    out.push_str(&format!("\n{}\n", paint(&sentence(gate), shown(gate.outcome).0, terminal)));
    out
}

fn sentence(gate: &GateV1) -> String {
    let outcomes = [
        (DemandOutcomeV1::Fails, "failed"),
        (DemandOutcomeV1::Inconclusive, "inconclusive"),
        (DemandOutcomeV1::Holds, "passed"),
        (DemandOutcomeV1::LeftOut, "left out"),
    ];
    let counts = outcomes.map(|(outcome, word)| (count_outcomes(gate, outcome), word)).into_iter();
    let counts = counts.filter(|(n, _)| *n > 0).map(|(n, word)| format!("{} {word}", count(n, "demand")));
    let (.., word) = shown(gate.outcome);
    let written = gate.baseline_written.as_ref().map(|path| format!("there was no baseline, {path} was written"));
    format!("{word}: {}.", written.into_iter().chain(counts).collect::<Vec<_>>().join(", "))
}

pub(crate) fn count_outcomes(gate: &GateV1, outcome: DemandOutcomeV1) -> usize {
    gate.demands.iter().filter(|demand| demand.outcome == outcome).count()
}

/// The style of an outcome, its mark in Markdown, and the sentence about a gate.
fn shown(outcome: DemandOutcomeV1) -> (Style, &'static str, &'static str) {
    match outcome {
        DemandOutcomeV1::LeftOut => (DIM, "➖ left out", "The gate passes"),
        DemandOutcomeV1::Holds => (GOOD, "✅ pass", "The gate passes"),
        DemandOutcomeV1::Inconclusive => (WARNING, "❔ inconclusive", "The gate is inconclusive"),
        DemandOutcomeV1::Fails => (BAD, "❌ fail", "The gate fails"),
    }
}

/// Renders the result as Markdown.
pub fn markdown(gate: &GateV1) -> String {
    let mut out = format!("## Karat gate: {}\n", escape(&gate.suite));
    out.extend(gate.other_judges.as_ref().map(markdown_other_judges));
    out.push_str(&format!("\n**{}**\n\n", escape(&sentence(gate))));
    out.push_str("| | tool | demand | why |\n|---|---|---|---|\n");
    let row = |demand: &DemandV1| {
        let (_, mark, _) = shown(demand.outcome);
        let tool = demand.tool.as_deref().unwrap_or("all");
        format!("| {mark} | {} | {} | {} |\n", escape(tool), escape(&demand.demand), escape(&demand.why))
    };
    out.extend(gate.demands.iter().map(row));
    out + &markdown::warnings(&gate.warnings)
}
