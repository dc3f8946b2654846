//! `karat logs`: logs of assessments.

use crate::args::{LogsArgs, LogsCommand};
use crate::exit::{Exit, Failure};
use crate::store_path;
use crate::terminal::{look, print, print_json, tell};
use karat_documents::assess::log::{find, logs, summarize};
use serde_json::json;

pub(crate) fn run(args: &LogsArgs) -> Result<Exit, Failure> {
    match &args.command {
        LogsCommand::Summarize { run, store, json } => {
            let folder = store_path::folder(store.folder.as_deref());
            let summary = summarize(&find(&folder, run)?)?;
            match json {
                true => print_json(&summary)?,
                false => print(&karat_report::logs::draw(&summary, &look()))?,
            }
        }
        LogsCommand::List { store, json } => {
            let folder = store_path::folder(store.folder.as_deref());
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
