//! What Karat ships: `karat profile`, `metrics` and `schema`.

use crate::args::{MetricsCommand, ProfileCommand};
use crate::exit::{Exit, Failure, Result};
use crate::terminal::{merged, print, show};
use karat::profile::{ProfileRequest, SHIPPED, resolve_for_suite, to_toml};
use karat::report_source::find_metric;
use karat::suggestion;
use karat_core::metric::formula_text::applied_formula;
use karat_core::metric::table::{Direction, METRICS, Metric, Track};
use karat_core::profile::Profile;
use karat_format::schemas::{PublishedSchema, SCHEMAS};
use karat_report::TerminalStyle;
use karat_report::grid::{Cell, draw};
use serde_json::json;

pub(crate) fn schema(name: Option<&str>, json: bool) -> Result<Exit> {
    let Some(typed) = name else {
        let entry = |schema: &PublishedSchema| json!({ "name": schema.name(), "describes": schema.describes });
        let row = |schema: &PublishedSchema| vec![Cell::left(schema.name()), Cell::folded(schema.describes)];
        return show(json, &SCHEMAS.iter().map(entry).collect::<Vec<_>>(), |look| {
            draw(&SCHEMAS.iter().map(row).collect::<Vec<_>>(), look.width, false)
        });
    };
    let wanted = typed.strip_suffix(".json").unwrap_or(typed);
    match SCHEMAS.iter().find(|schema| schema.name() == wanted) {
        Some(schema) => print(&schema.text()),
        None => {
            let hint = suggestion(wanted, SCHEMAS.iter().map(PublishedSchema::name), ".");
            Err(Failure::usage(format!("unknown schema `{typed}`{hint} `karat schema` lists them")))
        }
    }
}

pub(crate) fn profile(command: &ProfileCommand) -> Result<Exit> {
    match command {
        ProfileCommand::List { json } => {
            let all = SHIPPED.iter().map(|shipped| named_profile(shipped.name, &[])).collect::<Result<Vec<_>, _>>()?;
            let entry = |own: &Profile| json!({ "name": own.name, "description": own.description });
            let line = |own: &Profile| format!("{:<12} {}\n", own.name, own.description);
            show(*json, &all.iter().map(entry).collect::<Vec<_>>(), |_| all.iter().map(line).collect())
        }
        ProfileCommand::Show { name, sets, json } => {
            let profile = named_profile(name, sets)?;
            // Print the shipped file with its comments, unless a value was changed.
            let shipped = SHIPPED.iter().find(|shipped| shipped.name == name && sets.is_empty());
            show(*json, &profile, |_| shipped.map_or_else(|| to_toml(&profile), |shipped| shipped.toml.to_owned()))
        }
    }
}

fn named_profile(name: &str, sets: &[String]) -> Result<Profile> {
    resolve_for_suite(&ProfileRequest { profile: Some(name.to_owned()), sets: sets.to_vec() }, None)
}

pub(crate) fn metrics(command: &MetricsCommand) -> Result<Exit> {
    match command {
        MetricsCommand::List { json } => show(*json, &METRICS, list_metrics),
        MetricsCommand::Explain { id, profile, json } => explain_metric(find_metric(id)?, profile, *json),
    }
}

fn list_metrics(look: &TerminalStyle) -> String {
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

fn explain_metric(metric: &Metric, profile: &str, json: bool) -> Result<Exit> {
    let profile = named_profile(profile, &[])?;
    let formula = applied_formula(metric, &profile);
    let applied = json!({ "profile": profile.name, "applied_formula": formula });
    show(json, &merged(json!(metric), &applied), |look| describe_metric(metric, &profile.name, &formula, look))
}

fn describe_metric(metric: &Metric, profile: &str, formula: &str, look: &TerminalStyle) -> String {
    let better = if metric.direction == Direction::Up { "more" } else { "less" };
    let rows = [
        ("tier", tier_title(metric)),
        ("formula", formula),
        ("profile", profile),
        ("unit", metric.unit),
        ("denominator", metric.denominator),
        ("better", better),
        ("undefined", metric.undefined_when),
        ("aggregated", metric.aggregation.text()),
        ("rests on", metric.rests_on.text()),
    ];
    let mut lines = format!("{} ({})\n", metric.id, metric.title);
    for (name, value) in rows {
        lines.push_str(&draw(&[vec![Cell::left(format!("{name:<11}")), Cell::folded(value)]], look.width, false));
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
