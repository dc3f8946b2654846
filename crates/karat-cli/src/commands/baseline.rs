//! `karat baseline`.

use crate::args::BaselineCommand;
use crate::exit::{Exit, Failure};
use crate::output_files::save;
use crate::progress::JudgeProgress;
use crate::terminal::{print, print_json, tell};
use karat::baseline::{BaselineRequest, take_baseline, text};

pub(crate) fn run(command: &BaselineCommand) -> Result<Exit, Failure> {
    let BaselineCommand::Write { report, tools, metrics, store, output, json } = command;
    let request = BaselineRequest {
        report: report.clone(),
        tools: tools.clone(),
        metrics: metrics.clone(),
        store_folder: store.path(),
    };
    let baseline = take_baseline(&request, &mut JudgeProgress::new(false))?;
    let Some(path) = output else {
        print(&text(&baseline))?;
        return Ok(Exit::Ok);
    };
    save(path, text(&baseline).as_bytes())?;
    if *json {
        let names: Vec<&str> = baseline.tools.iter().map(|tool| tool.tool.as_str()).collect();
        let first = baseline.tools.first();
        print_json(&serde_json::json!({
            "written": path.display().to_string(), "tools": names,
            "metrics": first.map(|tool| tool.metrics.keys().collect::<Vec<_>>()),
            "cases": first.map_or(0, |tool| tool.cases.len()),
        }))?;
    }
    tell(&format!("wrote {}", path.display()));
    Ok(Exit::Ok)
}
