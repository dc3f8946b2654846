//! Renders the result of a gate for a terminal and as Markdown.

use super::grid;
use super::markdown::{self, escape};
use super::terminal::{BAD, BOLD, DIM, GOOD, TerminalStyle, WARNING, heading, paint, warnings};
use anstyle::Style;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_format::gate::{DemandOutcomeV1, DemandV1, GateV1};

/// Renders one line per demand with its reason, then the outcome.
pub fn draw(gate: &GateV1, terminal: &TerminalStyle) -> String {
    let facts = format!("{} · profile {}", count(gate.cases, "case"), harmless(&gate.profile));
    let mut out = format!("{}  {}\n", paint(&harmless(&gate.suite), BOLD, terminal), paint(&facts, DIM, terminal));
    let mut tool = None;
    for demand in &gate.demands {
        if tool != Some(&demand.tool) {
            out.push_str(&heading(&harmless(demand.tool.as_deref().unwrap_or("all tools")), terminal));
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
    ];
    let counts = outcomes.map(|(outcome, word)| (count_outcomes(gate, outcome), word)).into_iter();
    let counts = counts.filter(|(n, _)| *n > 0).map(|(n, word)| format!("{} {word}", count(n, "demand")));
    let (.., word) = shown(gate.outcome);
    format!("{word}: {}.", counts.collect::<Vec<_>>().join(", "))
}

pub(crate) fn count_outcomes(gate: &GateV1, outcome: DemandOutcomeV1) -> usize {
    gate.demands.iter().filter(|demand| demand.outcome == outcome).count()
}

/// The style of an outcome, its mark in Markdown, and the sentence about a gate.
fn shown(outcome: DemandOutcomeV1) -> (Style, &'static str, &'static str) {
    match outcome {
        DemandOutcomeV1::Holds => (GOOD, "✅ pass", "The gate passes"),
        DemandOutcomeV1::Inconclusive => (WARNING, "❔ inconclusive", "The gate is inconclusive"),
        DemandOutcomeV1::Fails => (BAD, "❌ fail", "The gate fails"),
    }
}

/// Renders the result as Markdown.
pub fn markdown(gate: &GateV1) -> String {
    let mut out = format!("## Karat gate: {}\n\n**{}**\n\n", escape(&gate.suite), escape(&sentence(gate)));
    out.push_str("| | tool | demand | why |\n|---|---|---|---|\n");
    let row = |demand: &DemandV1| {
        let (_, mark, _) = shown(demand.outcome);
        let tool = demand.tool.as_deref().unwrap_or("all");
        format!("| {mark} | {} | {} | {} |\n", escape(tool), escape(&demand.demand), escape(&demand.why))
    };
    out.extend(gate.demands.iter().map(row));
    out + &markdown::warnings(&gate.warnings)
}
