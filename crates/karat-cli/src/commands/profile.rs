//! `karat profile`.

use crate::args::{ProfileArgs, ProfileCommand, RuleArgs};
use crate::exit::{Exit, Failure};
use crate::inputs;
use crate::terminal::{print, print_json};
use karat::profile::SHIPPED;

pub(crate) fn run(args: &ProfileArgs) -> Result<Exit, Failure> {
    match &args.command {
        ProfileCommand::List { json } => list(*json)?,
        ProfileCommand::Show { name, sets, json } => show(name, sets, *json)?,
    }
    Ok(Exit::Ok)
}

fn list(json: bool) -> Result<(), Failure> {
    let mut lines = String::new();
    let mut values = Vec::new();
    for shipped in SHIPPED {
        let profile = inputs::profile(&RuleArgs { profile: Some(shipped.name.to_owned()), sets: Vec::new() }, None)?;
        lines.push_str(&format!("{:<10} {}\n", profile.name, profile.description));
        values.push(serde_json::json!({ "name": profile.name, "description": profile.description }));
    }
    if json { print_json(&values) } else { print(&lines) }
}

fn show(name: &str, sets: &[String], json: bool) -> Result<(), Failure> {
    let profile = inputs::profile(&RuleArgs { profile: Some(name.to_owned()), sets: sets.to_vec() }, None)?;
    if json {
        return print_json(&profile);
    }
    // Print the shipped file with its comments, unless a value was changed.
    match SHIPPED.iter().find(|shipped| shipped.name == name && sets.is_empty()) {
        Some(shipped) => print(shipped.toml),
        None => print(&karat::profile::to_toml(&profile)),
    }
}
