//! `karat baseline`.

use crate::args::{BaselineArgs, BaselineCommand};
use crate::exit::{Exit, Failure};
use crate::report_source;
use crate::terminal::{print, print_json, tell};
use karat::baseline::{baseline, text};
use karat_io::atomic_write;

pub(crate) fn run(args: &BaselineArgs) -> Result<Exit, Failure> {
    let BaselineCommand::Write { report: reference, tools, metrics, store, output, json } = &args.command;
    for id in metrics {
        super::metrics::named(id)?;
    }
    let report = report_source::report(reference, store)?;
    let tools = report_source::tools(&report, tools, reference)?;
    let baseline = baseline(&report, &tools, metrics);
    let Some(path) = output else {
        print(&text(&baseline))?;
        return Ok(Exit::Ok);
    };
    let written = text(&baseline);
    atomic_write::write(path, &mut |out| out.write_all(written.as_bytes()))
        .map_err(|error| Failure::unwritten(path.display(), error))?;
    if *json {
        let names: Vec<&str> = baseline.tools.iter().map(|tool| tool.tool.as_str()).collect();
        let metrics = baseline.tools.first().map(|tool| tool.metrics.keys().collect::<Vec<_>>());
        let file = path.display().to_string();
        let made =
            serde_json::json!({ "written": file, "tools": names, "metrics": metrics, "cases": report.cases.len() });
        print_json(&made)?;
    }
    tell(&format!("wrote {}", path.display()));
    Ok(Exit::Ok)
}
