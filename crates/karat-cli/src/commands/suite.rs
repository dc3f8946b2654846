//! `karat suite`.

mod adopt;

use crate::args::SuiteCommand;
use crate::exit::{Exit, Failure};
use crate::terminal::{notes, print, print_json, tell};
use karat::suite::from_commit::skeleton;
use karat_source::git::Repository;
use std::path::Path;

pub(crate) fn run(command: &SuiteCommand) -> Result<Exit, Failure> {
    match command {
        SuiteCommand::Add { from_commit, repo, suite, id, json } => add(from_commit, repo, suite, id.as_deref(), *json),
        SuiteCommand::Adopt(args) => adopt::run(args),
    }
}

fn add(from_commit: &str, repo: &Path, suite: &Path, id: Option<&str>, json: bool) -> Result<Exit, Failure> {
    let repository = Repository::open(repo).map_err(|error| Failure::bad_input(error.to_string()))?;
    let made = skeleton(&repository, from_commit, id).map_err(|error| Failure::bad_input(error.to_string()))?;
    let folder = made.write(suite).map_err(|error| Failure::io(suite.display(), error))?;
    if json {
        print_json(&serde_json::json!({ "case": made.id, "folder": folder, "notes": made.notes }))?;
        return Ok(Exit::Ok);
    }
    notes(&made.notes);
    print(&format!("{}\n", folder.display()))?;
    tell(&format!("\nNext: fill in {}\n  karat check {}", folder.join("case.yaml").display(), suite.display()));
    Ok(Exit::Ok)
}
