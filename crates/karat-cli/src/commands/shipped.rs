//! What Karat ships: `karat profile`, `metrics`, `tools` and `completions`.

use crate::args::{self, MetricsCommand, ProfileCommand, ToolsCommand};
use crate::exit::{Exit, Failure, Result};
use crate::terminal::{merged, print, show};
use karat::did_you_mean;
use karat::profile::{ProfileRequest, SHIPPED, resolve_for_suite, to_toml};
use karat::report_source::find_metric;
use karat::run::scratch::Scratch;
use karat::submissions::load_suite;
use karat::tool::catalogue::{self, CATALOGUE, shipped};
use karat::tool::doctor::{Examined, Surroundings, examine};
use karat_core::metric::formula_text::applied_formula;
use karat_core::metric::table::{Direction, METRICS, Metric, Track};
use karat_core::profile::Profile;
use karat_format::diagnostic::harmless;
use karat_format::tool::ToolManifestV1;
use karat_report::TerminalStyle;
use karat_report::grid::{Cell, draw};
use karat_sandbox::Supervisor;
use serde_json::json;
use std::path::PathBuf;

pub(crate) fn completions(shell: clap_complete::Shell) -> Result<Exit> {
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut args::command(), "karat", &mut out);
    print(&String::from_utf8_lossy(&out))
}

pub(crate) fn profile(command: &ProfileCommand) -> Result<Exit> {
    match command {
        ProfileCommand::List { json } => {
            let all = SHIPPED.iter().map(|shipped| named_profile(shipped.name, &[])).collect::<Result<Vec<_>, _>>()?;
            let entry = |own: &Profile| json!({ "name": own.name, "description": own.description });
            let line = |own: &Profile| format!("{:<10} {}\n", own.name, own.description);
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

pub(crate) fn tools(command: &ToolsCommand) -> Result<Exit> {
    match command {
        ToolsCommand::List { suite, json } => list_tools(suite.as_deref(), *json),
        ToolsCommand::Show { name, suite, json } => show_tool(name, suite.as_deref(), *json),
        ToolsCommand::Doctor { names, suite, json } => doctor(names, suite.as_deref(), *json),
    }
}

struct KnownTool {
    name: String,
    /// A suite's name, or `catalogue`.
    declared_in: String,
    manifest: ToolManifestV1,
}

/// The suite's tools, then those of the catalogue that the suite does not declare.
fn known_tools(suite: Option<&str>) -> Result<Vec<KnownTool>> {
    let mut all = Vec::new();
    if let Some(place) = suite {
        let loaded = load_suite(place)?;
        for (name, manifest) in loaded.config.tools {
            all.push(KnownTool { name, declared_in: loaded.suite.name.clone(), manifest });
        }
    }
    for entry in CATALOGUE {
        if !all.iter().any(|known| known.name == entry.name) {
            let manifest = entry.manifest()?;
            all.push(KnownTool { name: entry.name.to_owned(), declared_in: "catalogue".to_owned(), manifest });
        }
    }
    Ok(all)
}

fn find_tool(name: &str, suite: Option<&str>) -> Result<KnownTool> {
    let mut all = known_tools(suite)?;
    if let Some(at) = all.iter().position(|known| known.name == name) {
        return Ok(all.swap_remove(at));
    }
    let hint = did_you_mean(name, CATALOGUE.iter().map(|entry| entry.name)).unwrap_or_else(|| ".".to_owned());
    let names: Vec<&str> = all.iter().map(|known| known.name.as_str()).collect();
    Err(Failure::usage(format!("unknown tool `{name}`{hint} Available: {}", names.join(", "))))
}

fn list_tools(suite: Option<&str>, json: bool) -> Result<Exit> {
    let all = known_tools(suite)?;
    let entry = |known: &KnownTool| {
        json!({
            "name": known.name, "declared_in": known.declared_in, "kind": known.manifest.kind.as_str(),
            "format": known.manifest.format, "description": known.manifest.description,
            "homepage": known.manifest.homepage,
        })
    };
    let row = |known: &KnownTool| {
        let description = known.manifest.description.as_deref().unwrap_or("-");
        let place = if known.declared_in == "catalogue" { String::new() } else { format!(" ({})", known.declared_in) };
        vec![Cell::left(&known.name), Cell::folded(format!("{description}{place}"))]
    };
    show(json, &all.iter().map(entry).collect::<Vec<_>>(), |look| {
        draw(&all.iter().map(row).collect::<Vec<_>>(), look.width, false)
    })
}

fn show_tool(name: &str, suite: Option<&str>, json: bool) -> Result<Exit> {
    let known = find_tool(name, suite)?;
    // A shipped file is printed with its comments.
    let entry = shipped(name).filter(|_| known.declared_in == "catalogue");
    show(json, &known.manifest, |_| {
        entry.map_or_else(|| catalogue::to_toml(name, &known.manifest), |entry| entry.toml.to_owned())
    })
}

fn doctor(names: &[String], suite: Option<&str>, json: bool) -> Result<Exit> {
    let chosen = if names.is_empty() {
        known_tools(suite)?
    } else {
        names.iter().map(|name| find_tool(name, suite)).collect::<Result<Vec<_>, _>>()?
    };
    let path = std::env::var_os("PATH");
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let supervisor = Supervisor::this_program(crate::SUPERVISE).map_err(|error| Failure::io("the program", error))?;
    let scratch = Scratch::make(&std::env::temp_dir()).map_err(|error| Failure::io("the scratch folder", error))?;
    let around = Surroundings {
        path: path.as_deref(),
        home: home.as_deref(),
        is_set: &is_set,
        supervisor: &supervisor,
        scratch: &scratch.path,
    };
    let all: Vec<Examined> = chosen.iter().map(|known| examine(&known.name, &known.manifest, &around)).collect();
    show(json, &all, |_| all.iter().map(describe_tool).collect())?;
    // Only a tool that was named must be usable.
    Ok(if names.is_empty() || all.iter().all(|examined| examined.usable) { Exit::Ok } else { Exit::Failed })
}

fn describe_tool(examined: &Examined) -> String {
    let state = if examined.usable { "usable" } else { "not usable" };
    let version = examined.version.as_ref().map_or_else(String::new, |version| format!(" · {}", harmless(version)));
    let mut text = format!("{}: {state}{version} · {}\n", harmless(&examined.tool), harmless(&examined.isolation));
    for variable in &examined.variables {
        let state = if variable.set { "is set" } else { "is not set" };
        text.push_str(&format!("  {} {state}\n", harmless(&variable.name)));
    }
    for remark in &examined.remarks {
        text.push_str(&format!("  {}\n", harmless(remark)));
    }
    text
}
