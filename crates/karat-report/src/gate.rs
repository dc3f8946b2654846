//! Renders the result of a gate for a terminal, as Markdown and as JUnit.

pub mod junit;

use super::grid;
use super::markdown::escape;
use super::terminal::{TerminalStyle, paint};
use anstyle::{AnsiColor, Style};
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_format::gate::{DemandOutcomeV1, DemandV1, GateV1};

/// Renders one line per demand with its reason, then the outcome.
pub fn draw(gate: &GateV1, terminal: &TerminalStyle) -> String {
    let paint = |text: &str, style: Style| paint(text, style, terminal);
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let facts = format!("{} · profile {}", count(gate.cases, "case"), harmless(&gate.profile));
    let mut out = format!("{}  {}\n", paint(&harmless(&gate.suite), bold), paint(&facts, dim));
    let mut tool = None;
    for demand in &gate.demands {
        if tool != Some(&demand.tool) {
            let name = demand.tool.as_deref().unwrap_or("all tools");
            out.push_str(&format!("\n{}\n", paint(&harmless(name), bold)));
            tool = Some(&demand.tool);
        }
        let word = format!("{:12}", demand.outcome.word());
        let line = grid::fit(&harmless(&demand.demand), terminal.width.saturating_sub(16));
        out.push_str(&format!("  {}  {line}\n", paint(&word, style(demand.outcome))));
        for line in grid::wrap(&harmless(&demand.why), terminal.width.saturating_sub(16)) {
            out.push_str(&format!("                {}\n", paint(&line, dim)));
        }
    }
    if !gate.warnings.is_empty() {
        out.push_str(&format!("\n{}\n", paint("Warnings", AnsiColor::Yellow.on_default().bold())));
        for line in gate.warnings.iter().flat_map(|text| grid::wrap(&harmless(text), terminal.width.saturating_sub(2)))
        {
            out.push_str(&format!("  {line}\n"));
        }
    }
    out.push_str(&format!("\n{}\n", paint(&sentence(gate), style(gate.outcome))));
    out
}

/// The outcome in one sentence.
pub fn sentence(gate: &GateV1) -> String {
    let count_of = |outcome: DemandOutcomeV1| gate.demands.iter().filter(|demand| demand.outcome == outcome).count();
    let (holds, fails, open) =
        (count_of(DemandOutcomeV1::Holds), count_of(DemandOutcomeV1::Fails), count_of(DemandOutcomeV1::Inconclusive));
    let counts: Vec<String> = [(fails, "failed"), (open, "inconclusive"), (holds, "passed")]
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, words)| format!("{} {words}", count(n, "demand")))
        .collect();
    let word = match gate.outcome {
        DemandOutcomeV1::Holds => "The gate passes",
        DemandOutcomeV1::Inconclusive => "The gate is inconclusive",
        DemandOutcomeV1::Fails => "The gate fails",
    };
    format!("{word}: {}.", counts.join(", "))
}

fn style(outcome: DemandOutcomeV1) -> Style {
    match outcome {
        DemandOutcomeV1::Holds => AnsiColor::Green.on_default().bold(),
        DemandOutcomeV1::Inconclusive => AnsiColor::Yellow.on_default(),
        DemandOutcomeV1::Fails => AnsiColor::Red.on_default().bold(),
    }
}

/// Renders the result as Markdown.
pub fn markdown(gate: &GateV1) -> String {
    let mut out = format!("## Karat gate: {}\n\n**{}**\n\n", escape(&gate.suite), escape(&sentence(gate)));
    out.push_str("| | tool | demand | why |\n|---|---|---|---|\n");
    let row = |demand: &DemandV1| {
        let mark = match demand.outcome {
            DemandOutcomeV1::Holds => "✅ pass",
            DemandOutcomeV1::Inconclusive => "❔ inconclusive",
            DemandOutcomeV1::Fails => "❌ fail",
        };
        let tool = demand.tool.as_deref().unwrap_or("all");
        format!("| {mark} | {} | {} | {} |\n", escape(tool), escape(&demand.demand), escape(&demand.why))
    };
    out.extend(gate.demands.iter().map(row));
    if !gate.warnings.is_empty() {
        out.push_str("\n**Warnings**\n\n");
        out.extend(gate.warnings.iter().map(|warning| format!("- {}\n", escape(warning))));
    }
    out
}
