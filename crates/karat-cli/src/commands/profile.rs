//! `karat profile`.

use crate::args::ProfileCommand;
use crate::exit::{Exit, Failure};
use crate::output_files::show;
use karat::profile::request::{ProfileRequest, resolve_for_suite};
use karat::profile::{SHIPPED, to_toml};

pub(crate) fn run(command: &ProfileCommand) -> Result<Exit, Failure> {
    match command {
        ProfileCommand::List { json } => list(*json),
        ProfileCommand::Show { name, sets, json } => {
            let request = ProfileRequest { profile: Some(name.clone()), sets: sets.clone() };
            let profile = resolve_for_suite(&request, None)?;
            // Print the shipped file with its comments, unless a value was changed.
            let shipped = SHIPPED.iter().find(|shipped| shipped.name == name && sets.is_empty());
            show(*json, &profile, |_| shipped.map_or_else(|| to_toml(&profile), |shipped| shipped.toml.to_owned()))
        }
    }
}

fn list(json: bool) -> Result<Exit, Failure> {
    let mut lines = String::new();
    let mut values = Vec::new();
    for shipped in SHIPPED {
        let request = ProfileRequest { profile: Some(shipped.name.to_owned()), sets: Vec::new() };
        let profile = resolve_for_suite(&request, None)?;
        lines.push_str(&format!("{:<10} {}\n", profile.name, profile.description));
        values.push(serde_json::json!({ "name": profile.name, "description": profile.description }));
    }
    show(json, &values, |_| lines)
}
