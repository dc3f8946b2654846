//! `karat metrics`.

use crate::args::MetricsCommand;
use crate::exit::{Exit, Failure};
use crate::output_files::show;
use karat::profile::request::{ProfileRequest, resolve_for_suite};
use karat::report_source::find_metric;
use karat_core::metric::formula_text::applied_formula;
use karat_core::metric::table::{Direction, METRICS, Metric, Track};
use karat_report::TerminalStyle;
use karat_report::grid::{Cell, draw};
use serde::Serialize;

pub(crate) fn run(command: &MetricsCommand) -> Result<Exit, Failure> {
    match command {
        MetricsCommand::List { json } => show(*json, &METRICS, list),
        MetricsCommand::Explain { id, profile, json } => explain(find_metric(id)?, profile, *json),
    }
}

fn list(look: &TerminalStyle) -> String {
    let width = METRICS.iter().map(|metric| metric.id.len()).max().unwrap_or_default();
    let mut lines = String::new();
    let mut title = None;
    for metric in METRICS {
        let own = tier_title(metric);
        if title.replace(own) != Some(own) {
            lines.push_str(&format!("{own}\n"));
        }
        let row = vec![Cell::left(format!("{:<width$}", metric.id)), Cell::folded(metric.formula)];
        lines.push_str(&draw(&[row], look.width, false));
    }
    lines
}

#[derive(Serialize)]
struct Explained<'a> {
    #[serde(flatten)]
    metric: &'a Metric,
    profile: String,
    applied_formula: String,
}

fn explain(metric: &Metric, profile: &str, json: bool) -> Result<Exit, Failure> {
    let request = ProfileRequest { profile: Some(profile.to_owned()), sets: Vec::new() };
    let profile = resolve_for_suite(&request, None)?;
    let formula = applied_formula(metric, &profile);
    let explained = Explained { metric, profile: profile.name, applied_formula: formula };
    show(json, &explained, |look| describe(&explained, look))
}

fn describe(explained: &Explained<'_>, look: &TerminalStyle) -> String {
    let metric = explained.metric;
    let better = match metric.direction {
        Direction::Up => "more",
        Direction::Down => "less",
    };
    let rows = [
        ("tier", tier_title(metric)),
        ("formula", explained.applied_formula.as_str()),
        ("profile", explained.profile.as_str()),
        ("unit", metric.unit),
        ("denominator", metric.denominator),
        ("better", better),
        ("undefined", metric.undefined_when),
        ("aggregated", metric.aggregation.text()),
        ("rests on", metric.rests_on.text()),
    ];
    let mut lines = format!("{} ({})\n", metric.id, metric.title);
    for (name, value) in rows {
        let row = vec![Cell::left(format!("{name:<11}")), Cell::folded(value)];
        lines.push_str(&draw(&[row], look.width, false));
    }
    lines
}

fn tier_title(metric: &Metric) -> &'static str {
    if metric.track == Track::Assessment {
        return "assessment of documents";
    }
    match metric.tier {
        0 => "findings",
        1 => "tier 1: verdicts",
        2 => "tier 2: targets",
        3 => "tier 3: finding quality",
        4 => "tier 4: reasoning",
        5 => "tier 5: types",
        6 => "tier 6: confidence",
        _ => "tier 7: composites",
    }
}
