//! `karat tools`.

use crate::args::ToolsCommand;
use crate::exit::{Exit, Failure};
use crate::terminal::{look, print, print_json};
use karat::run::scratch::Scratch;
use karat::submissions::load_suite;
use karat::tool::catalogue::{CATALOGUE, nearest_name, shipped, to_toml};
use karat::tool::doctor::{Examined, Surroundings, examine};
use karat_format::diagnostic::harmless;
use karat_format::tool::ToolManifestV1;
use karat_report::grid::{Cell, draw};
use karat_sandbox::Supervisor;
use std::path::PathBuf;

pub(crate) fn run(command: &ToolsCommand) -> Result<Exit, Failure> {
    match command {
        ToolsCommand::List { suite, json } => list(suite.as_deref(), *json),
        ToolsCommand::Show { name, suite, json } => show(name, suite.as_deref(), *json),
        ToolsCommand::Doctor { names, suite, json } => doctor(names, suite.as_deref(), *json),
    }
}

/// A tool of the suite or the catalogue.
struct Known {
    name: String,
    /// A suite's name, or `catalogue`.
    declared_in: String,
    manifest: ToolManifestV1,
}

/// The suite's tools, then those of the catalogue that the suite does not declare.
fn known(suite: Option<&str>) -> Result<Vec<Known>, Failure> {
    let mut all = Vec::new();
    if let Some(place) = suite {
        let loaded = load_suite(place)?;
        for (name, manifest) in loaded.config.tools {
            all.push(Known { name, declared_in: loaded.suite.name.clone(), manifest });
        }
    }
    for entry in CATALOGUE {
        if !all.iter().any(|known| known.name == entry.name) {
            let manifest = entry.manifest()?;
            all.push(Known { name: entry.name.to_owned(), declared_in: "catalogue".to_owned(), manifest });
        }
    }
    Ok(all)
}

fn find(name: &str, suite: Option<&str>) -> Result<Known, Failure> {
    let mut all = known(suite)?;
    if let Some(at) = all.iter().position(|known| known.name == name) {
        return Ok(all.swap_remove(at));
    }
    let hint = nearest_name(name).map_or_else(|| ".".to_owned(), |near| format!(", did you mean `{near}`?"));
    let names: Vec<&str> = all.iter().map(|known| known.name.as_str()).collect();
    Err(Failure::usage(format!("unknown tool `{name}`{hint} Available: {}", names.join(", "))))
}

fn list(suite: Option<&str>, json: bool) -> Result<Exit, Failure> {
    let all = known(suite)?;
    if json {
        let entry = |known: &Known| {
            serde_json::json!({
                "name": known.name, "declared_in": known.declared_in, "kind": known.manifest.kind.as_str(),
                "format": known.manifest.format, "description": known.manifest.description,
                "homepage": known.manifest.homepage,
            })
        };
        print_json(&all.iter().map(entry).collect::<Vec<_>>())?;
        return Ok(Exit::Ok);
    }
    let mut rows = Vec::new();
    for known in &all {
        let description = known.manifest.description.as_deref().unwrap_or("-");
        let place = if known.declared_in == "catalogue" { String::new() } else { format!(" ({})", known.declared_in) };
        rows.push(vec![Cell::left(&known.name), Cell::folded(format!("{description}{place}"))]);
    }
    print(&draw(&rows, look().width, false))?;
    Ok(Exit::Ok)
}

fn show(name: &str, suite: Option<&str>, json: bool) -> Result<Exit, Failure> {
    let known = find(name, suite)?;
    if json {
        print_json(&known.manifest)?;
    } else if let Some(entry) = shipped(name).filter(|_| known.declared_in == "catalogue") {
        // Print the shipped file with its comments.
        print(entry.toml)?;
    } else {
        print(&to_toml(name, &known.manifest))?;
    }
    Ok(Exit::Ok)
}

fn doctor(names: &[String], suite: Option<&str>, json: bool) -> Result<Exit, Failure> {
    let chosen = if names.is_empty() {
        known(suite)?
    } else {
        names.iter().map(|name| find(name, suite)).collect::<Result<Vec<_>, _>>()?
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
        scratch: scratch.path(),
    };
    let all: Vec<Examined> = chosen.iter().map(|known| examine(&known.name, &known.manifest, &around)).collect();
    if json {
        print_json(&all)?;
    } else {
        print(&all.iter().map(describe).collect::<String>())?;
    }
    // Only a tool that was named must be usable.
    let wanted = names.is_empty() || all.iter().all(|examined| examined.usable);
    Ok(if wanted { Exit::Ok } else { Exit::Failed })
}

fn describe(examined: &Examined) -> String {
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
