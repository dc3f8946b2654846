//! `karat metrics`.

use crate::args::{MetricsArgs, MetricsCommand, RuleArgs};
use crate::exit::{Exit, Failure};
use crate::inputs;
use crate::terminal::{look, print, print_json};
use karat_core::metric::formula::applied_formula;
use karat_core::metric::table::{self, Direction, METRICS, Metric, Track};
use karat_format::document::suggest;
use karat_report::grid::{Cell, draw};
use serde::Serialize;

pub(crate) fn run(args: &MetricsArgs) -> Result<Exit, Failure> {
    match &args.command {
        MetricsCommand::List { json } => list(*json)?,
        MetricsCommand::Explain { id, profile, json } => explain(named(id)?, profile, *json)?,
    }
    Ok(Exit::Ok)
}

/// Finds a metric by id; the error suggests a similar one.
pub(crate) fn named(id: &str) -> Result<&'static Metric, Failure> {
    table::find(id).ok_or_else(|| {
        let near = suggest::nearest(id, METRICS.iter().map(|metric| metric.id));
        let hint = near.map(|near| format!(", did you mean `{near}`?")).unwrap_or_default();
        Failure::usage(format!("unknown metric `{id}`{hint}; list them with `karat metrics list`"))
    })
}

fn list(json: bool) -> Result<(), Failure> {
    if json {
        return print_json(&METRICS);
    }
    let width = METRICS.iter().map(|metric| metric.id.len()).max().unwrap_or_default();
    let mut lines = String::new();
    let mut title = None;
    for metric in METRICS {
        let own = tier_title(metric);
        if title.replace(own) != Some(own) {
            lines.push_str(&format!("{own}\n"));
        }
        let row = vec![Cell::left(format!("{:<width$}", metric.id)), Cell::folded(metric.formula)];
        lines.push_str(&draw(&[row], look().width, false));
    }
    print(&lines)
}

#[derive(Serialize)]
struct Explained<'a> {
    #[serde(flatten)]
    metric: &'a Metric,
    profile: String,
    applied_formula: String,
}

fn explain(metric: &Metric, profile: &str, json: bool) -> Result<(), Failure> {
    let profile = inputs::profile(&RuleArgs { profile: Some(profile.to_owned()), sets: Vec::new() }, None)?;
    let formula = applied_formula(metric, &profile);
    if json {
        return print_json(&Explained { metric, profile: profile.name, applied_formula: formula });
    }
    let better = match metric.direction {
        Direction::Up => "more",
        Direction::Down => "less",
    };
    let rows = [
        ("tier", tier_title(metric)),
        ("formula", formula.as_str()),
        ("profile", profile.name.as_str()),
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
        lines.push_str(&draw(&[row], look().width, false));
    }
    print(&lines)
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
