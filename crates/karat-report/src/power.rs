//! Renders a power analysis for a terminal.

use super::grid;
use super::number::title;
use super::terminal::{TerminalStyle, paint};
use anstyle::Style;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_format::power::{PowerV1, VarianceV1};

/// Renders the number of cases needed, the detectable difference, and what would narrow an interval.
pub fn draw(power: &PowerV1, terminal: &TerminalStyle) -> String {
    let paint = |text: &str, style: Style| paint(text, style, terminal);
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let head = power.metric.as_deref().map_or("Required cases", title);
    let facts = format!("spread {:.3}: {}", power.spread, harmless(&power.spread_of));
    let mut out = format!("{}  {}\n\n", paint(head, bold), paint(&facts, dim));
    let mut line = |text: &str| {
        for line in grid::wrap(text, terminal.width.saturating_sub(2)) {
            out.push_str(&format!("  {line}\n"));
        }
    };
    let often = often(power.power);
    if let Some(cases) = power.cases {
        let clusters = power.clusters.map(|n| format!(" in {}", count(n, "cluster"))).unwrap_or_default();
        line(&format!("To detect a difference of {} ({often}): {}{clusters}.", power.effect, count(cases, "case")));
    }
    if let Some(present) = &power.present
        && let Some(least) = present.detectable
    {
        let clusters = present.clusters.map(|n| format!(" in {}", count(n, "cluster"))).unwrap_or_default();
        let now = count(present.cases, "case");
        line(&format!("The present {now}{clusters} detect a difference of {least:.3} ({often})."));
    }
    if let Some(design) = power.design_effect {
        line(&format!("Cases of a cluster are similar: this takes {design:.2} times as many as independent cases."));
    }
    if let Some(variance) = &power.variance {
        out.push_str(&format!("\n{}\n", paint("Variance", bold)));
        for text in [shares(variance), halving(variance)] {
            for line in grid::wrap(&text, terminal.width.saturating_sub(2)) {
                out.push_str(&format!("  {line}\n"));
            }
        }
    }
    if !power.notes.is_empty() {
        out.push('\n');
    }
    for note in &power.notes {
        for text in grid::wrap(&harmless(note), terminal.width.saturating_sub(2)) {
            out.push_str(&format!("  {}\n", paint(&text, dim)));
        }
    }
    out
}

fn often(power: f64) -> String {
    if (power - 0.8).abs() < 1e-9 {
        "4 times out of 5".to_owned()
    } else {
        format!("{:.0} times out of 100", 100.0 * power)
    }
}

fn shares(variance: &VarianceV1) -> String {
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    let mut parts = vec![format!("cases {}", percent(variance.cases)), format!("trials {}", percent(variance.trials))];
    parts.extend(variance.judges.map(|share| format!("judges {}", percent(share))));
    parts.extend(variance.rest.map(|share| format!("rest {}", percent(share))));
    let judges = if variance.judges.is_some() {
        format!(", {}", count(variance.judges_per_trial.round() as usize, "judge"))
    } else {
        String::new()
    };
    let per_case = variance.trials_per_case;
    let trials = match (per_case - per_case.round()).abs() < 1e-9 {
        true => count(per_case.round() as usize, "trial"),
        false => format!("{per_case:.1} trials"),
    };
    format!("{} ({}, {trials} of each{judges})", parts.join(", "), count(variance.case_count, "case"))
}

fn halving(variance: &VarianceV1) -> String {
    let mut ways = Vec::new();
    match variance.halved_by_cases {
        Some(all) => {
            ways.push(format!("{} ({all} in all)", count(all.saturating_sub(variance.case_count), "more case")))
        }
        None => ways.push("no number of cases".to_owned()),
    }
    match variance.halved_by_trials {
        Some(trials) => ways.push(format!("{} of each case", count(trials, "trial"))),
        None => ways.push("no number of trials".to_owned()),
    }
    if variance.judges.is_some() {
        match variance.halved_by_judges {
            Some(judges) => ways.push(count(judges, "judge")),
            None => ways.push("no number of judges".to_owned()),
        }
    }
    let (never, does): (Vec<String>, Vec<String>) = ways.into_iter().partition(|way| way.starts_with("no number"));
    let alone = |ways: &[String]| ways.join(", nor ").replace(", nor no number", ", nor any number");
    match (does.is_empty(), never.is_empty()) {
        (true, _) => format!("To halve the interval, {} is enough.", alone(&never)),
        (false, true) => format!("To halve the interval: {}.", does.join(", or ")),
        (false, false) => format!("To halve the interval: {}; {} is enough.", does.join(", or "), alone(&never)),
    }
}
