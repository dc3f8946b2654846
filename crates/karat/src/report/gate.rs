//! What came of demands: for people at a terminal, for a pull request, and for a CI server.

pub mod junit;

use super::Look;
use super::grid;
use super::markdown::escape;
use super::number::count;
use crate::diagnostic::harmless;
use crate::format::gate::{DemandV1, GateV1, HeldV1};
use anstyle::{AnsiColor, Style};

/// A line for each demand and its reason, then the outcome.
pub fn draw(gate: &GateV1, look: &Look) -> String {
    let paint = |text: &str, style: Style| match look.colour {
        true => format!("{}{text}{}", style.render(), style.render_reset()),
        false => text.to_owned(),
    };
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let facts = format!("{} · profile {}", count(gate.cases, "case"), harmless(&gate.profile));
    let mut out = format!("{}  {}\n", paint(&harmless(&gate.suite), bold), paint(&facts, dim));
    let mut tool = None;
    for demand in &gate.demands {
        if tool != Some(&demand.tool) {
            let name = demand.tool.as_deref().unwrap_or("all together");
            out.push_str(&format!("\n{}\n", paint(&harmless(name), bold)));
            tool = Some(&demand.tool);
        }
        let word = format!("{:12}", demand.outcome.word());
        let line = grid::fit(&harmless(&demand.demand), look.width.saturating_sub(16));
        out.push_str(&format!("  {}  {line}\n", paint(&word, style(demand.outcome))));
        for line in grid::wrap(&harmless(&demand.why), look.width.saturating_sub(16)) {
            out.push_str(&format!("                {}\n", paint(&line, dim)));
        }
    }
    if !gate.warnings.is_empty() {
        out.push_str(&format!("\n{}\n", paint("Be careful", AnsiColor::Yellow.on_default().bold())));
        for line in gate.warnings.iter().flat_map(|text| grid::wrap(&harmless(text), look.width.saturating_sub(2))) {
            out.push_str(&format!("  {line}\n"));
        }
    }
    out.push_str(&format!("\n{}\n", paint(&sentence(gate), style(gate.outcome))));
    out
}

/// The outcome in a sentence.
pub fn sentence(gate: &GateV1) -> String {
    let of = |outcome: HeldV1| gate.demands.iter().filter(|demand| demand.outcome == outcome).count();
    let (holds, fails, open) = (of(HeldV1::Holds), of(HeldV1::Fails), of(HeldV1::Inconclusive));
    let counts: Vec<String> = [(fails, "not met"), (open, "that cannot be told"), (holds, "met")]
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, words)| format!("{} {words}", count(n, "demand")))
        .collect();
    let word = match gate.outcome {
        HeldV1::Holds => "The gate holds",
        HeldV1::Inconclusive => "The gate is inconclusive",
        HeldV1::Fails => "The gate fails",
    };
    format!("{word}: {}.", counts.join(", "))
}

fn style(outcome: HeldV1) -> Style {
    match outcome {
        HeldV1::Holds => AnsiColor::Green.on_default().bold(),
        HeldV1::Inconclusive => AnsiColor::Yellow.on_default(),
        HeldV1::Fails => AnsiColor::Red.on_default().bold(),
    }
}

/// The same for a pull request or a step summary.
pub fn markdown(gate: &GateV1) -> String {
    let mut out = format!("## Karat gate: {}\n\n**{}**\n\n", escape(&gate.suite), escape(&sentence(gate)));
    out.push_str("| | tool | demand | why |\n|---|---|---|---|\n");
    let row = |demand: &DemandV1| {
        let mark = match demand.outcome {
            HeldV1::Holds => "✅ holds",
            HeldV1::Inconclusive => "❔ inconclusive",
            HeldV1::Fails => "❌ fails",
        };
        let tool = demand.tool.as_deref().unwrap_or("all");
        format!("| {mark} | {} | {} | {} |\n", escape(tool), escape(&demand.demand), escape(&demand.why))
    };
    out.extend(gate.demands.iter().map(row));
    if !gate.warnings.is_empty() {
        out.push_str("\n**Be careful**\n\n");
        out.extend(gate.warnings.iter().map(|warning| format!("- {}\n", escape(warning))));
    }
    out
}
