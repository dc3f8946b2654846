//! `karat logs`: logs of assessments.

use crate::args::LogsCommand;
use crate::exit::{Exit, Failure};
use crate::output_files::show;
use crate::terminal::{print, print_json, tell};
use karat_documents::assess::log::{find, logs, summarize};
use serde_json::json;

pub(crate) fn run(command: &LogsCommand) -> Result<Exit, Failure> {
    match command {
        LogsCommand::Summarize { run, store, json } => {
            let summary = summarize(&find(&store.path(), run)?)?;
            show(*json, &summary, |look| karat_report::logs::draw(&summary, look))?;
        }
        LogsCommand::List { store, json } => {
            let folder = store.path();
            let all = logs(&folder)?;
            if *json {
                let all: Vec<_> = all.iter().map(|log| json!({ "run": log.batch_run_id, "file": log.path })).collect();
                print_json(&all)?;
            } else if all.is_empty() {
                tell(&format!("no logs in {}; `karat assess` writes one", folder.display()));
            } else {
                let lines =
                    all.iter().map(|log| format!("{}\n", karat_format::diagnostic::harmless(&log.batch_run_id)));
                print(&lines.collect::<String>())?;
            }
        }
    }
    Ok(Exit::Ok)
}
