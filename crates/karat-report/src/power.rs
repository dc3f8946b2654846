//! Renders a power analysis for a terminal.

use super::number::title;
use super::terminal::{BOLD, DIM, TerminalStyle, heading, indented, paint};
use anstyle::Style;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_format::power::{PowerV1, VarianceV1};

/// Renders the number of cases needed, the detectable difference, and what would narrow an interval.
pub fn draw(power: &PowerV1, terminal: &TerminalStyle) -> String {
    let head = power.metric.as_deref().map_or("Required cases", title);
    let facts = format!("spread {:.3}: {}", power.spread, harmless(&power.spread_of));
    let mut out = format!("{}  {}\n\n", paint(head, BOLD, terminal), paint(&facts, DIM, terminal));
    let line = |text: &str| indented(text, Style::new(), terminal);
    let clusters = |n: Option<usize>| n.map(|n| format!(" in {}", count(n, "cluster"))).unwrap_or_default();
    let often = often(power.power);
    if let Some(cases) = power.cases {
        let cases = count(cases, "case") + &clusters(power.clusters);
        out.push_str(&line(&format!("To detect a difference of {} ({often}): {cases}.", power.effect)));
    }
    if let Some(present) = &power.present
        && let Some(least) = present.detectable
    {
        let now = count(present.cases, "case") + &clusters(present.clusters);
        out.push_str(&line(&format!("The present {now} detect a difference of {least:.3} ({often}).")));
    }
    if let Some(design) = power.design_effect {
        let text =
            format!("Cases of a cluster are similar: this takes {design:.2} times as many as independent cases.");
        out.push_str(&line(&text));
    }
    if let Some(variance) = &power.variance {
        out.push_str(&heading("Variance", terminal));
        out.push_str(&line(&shares(variance)));
        out.push_str(&line(&halving(variance)));
    }
    if !power.notes.is_empty() {
        out.push('\n');
    }
    out.extend(power.notes.iter().map(|note| indented(note, DIM, terminal)));
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
    let judges = variance.judges.map(|_| format!(", {}", count(variance.judges_per_trial.round() as usize, "judge")));
    let judges = judges.unwrap_or_default();
    let per_case = variance.trials_per_case;
    let is_whole = (per_case - per_case.round()).abs() < 1e-9;
    let trials = if is_whole { count(per_case.round() as usize, "trial") } else { format!("{per_case:.1} trials") };
    format!("{} ({}, {trials} of each{judges})", parts.join(", "), count(variance.case_count, "case"))
}

fn halving(variance: &VarianceV1) -> String {
    let more = |all: usize| format!("{} ({all} in all)", count(all.saturating_sub(variance.case_count), "more case"));
    let mut ways = vec![
        ("cases", variance.halved_by_cases.map(more)),
        ("trials", variance.halved_by_trials.map(|trials| format!("{} of each case", count(trials, "trial")))),
    ];
    if variance.judges.is_some() {
        ways.push(("judges", variance.halved_by_judges.map(|judges| count(judges, "judge"))));
    }
    let never: Vec<&str> = ways.iter().filter(|(_, way)| way.is_none()).map(|(what, _)| *what).collect();
    let enough: Vec<&str> = ways.iter().filter_map(|(_, way)| way.as_deref()).collect();
    let never = (!never.is_empty()).then(|| format!("no number of {} is enough", never.join(", nor any number of ")));
    match (enough.join(", or "), never) {
        (enough, None) => format!("To halve the interval: {enough}."),
        (enough, Some(never)) if enough.is_empty() => format!("To halve the interval, {never}."),
        (enough, Some(never)) => format!("To halve the interval: {enough}; {never}."),
    }
}
