//! `karat suite`: work on a suite's cases.

use crate::args::{SuiteArgs, SuiteCommand};
use crate::exit::{Exit, Failure};
use crate::terminal::{notes, print, print_json, tell};
use karat::git::Repository;
use karat::suite::from_commit::skeleton;

pub(crate) fn run(args: &SuiteArgs) -> Result<Exit, Failure> {
    let SuiteCommand::Add { from_commit, repo, suite, id, json } = &args.command;
    let repository = Repository::open(repo).map_err(|error| Failure::bad_input(error.to_string()))?;
    let made =
        skeleton(&repository, from_commit, id.as_deref()).map_err(|error| Failure::bad_input(error.to_string()))?;
    let folder = made.write(suite).map_err(|error| Failure::io(suite.display(), error))?;
    if *json {
        print_json(&serde_json::json!({ "case": made.id, "folder": folder, "notes": made.notes }))?;
        return Ok(Exit::Ok);
    }
    notes(&made.notes);
    print(&format!("{}\n", folder.display()))?;
    tell(&format!("\nNext: fill in {}\n  karat check {}", folder.join("case.yaml").display(), suite.display()));
    Ok(Exit::Ok)
}
