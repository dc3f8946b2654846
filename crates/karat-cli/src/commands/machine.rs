//! `karat doctor`: what works on this machine.

use crate::args::MachineArgs;
use crate::commands::store::size;
use crate::commands::tools::{known_tools, supervisor, to_examine};
use crate::exit::{Exit, Result};
use crate::progress::CountProgress;
use crate::signals::cancel_on_signals;
use crate::terminal::{look, merged, screen_width, show};
use karat::evaluate::EvaluateRequest;
use karat::folder_state::read_folder_state;
use karat::machine::{KeyState, MachineReport, MachineRequest, check_machine};
use karat::tool::doctor::{DoctorRequest, Examined};
use karat_core::wording::count;
use karat_format::config::SuiteKind;
use karat_format::diagnostic::harmless;
use karat_report::TerminalStyle;
use karat_report::grid::{Cell, draw};
use karat_store::StoreLocation;
use serde_json::json;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &MachineArgs, jobs: Option<usize>) -> Result<Exit> {
    let suite = args.suite.clone().or_else(suite_here);
    let known = match (args.skip_tools, &args.suite) {
        (true, _) => Vec::new(),
        (false, Some(suite)) => known_tools(Some(suite))?,
        // A fault in the suite of this folder is for `karat check` to tell.
        (false, None) => known_tools(suite.as_deref()).or_else(|_| known_tools(None))?,
    };
    let EvaluateRequest { environment, supervisor, .. } = EvaluateRequest::new("", &[], Path::new(""), supervisor()?);
    let tools: Vec<_> = known.into_iter().map(to_examine).collect();
    let progress = CountProgress::new(&format!("checking {} …", count(tools.len(), "tool")), tools.len());
    let request = MachineRequest {
        store: args.store.named()?,
        suite: suite.map(PathBuf::from).filter(|folder| folder.is_dir()),
        tools: DoctorRequest { tools, environment, supervisor, cancel: cancel_on_signals()?, jobs },
    };
    let report = check_machine(&request, &|examined| progress.advance(&examined.tool));
    progress.clear();
    let report = report?;
    let problems = report.problems();
    let terminal = Terminal::here();
    let value = merged(json!(report), &json!({ "terminal": terminal.as_json(), "problems": problems }));
    show(args.json, &value, |look| describe(&report, args, &terminal, &problems, look))?;
    Ok(if problems.is_empty() { Exit::Ok } else { Exit::Failed })
}

/// The current folder, if it is a suite with tools.
fn suite_here() -> Option<String> {
    let state = read_folder_state(Path::new("."), &StoreLocation::default()).ok()?;
    state.suite.filter(|suite| suite.kind == SuiteKind::Findings && suite.has_cases).map(|_| ".".to_owned())
}

struct Terminal {
    is_terminal: bool,
    width: usize,
    colour: bool,
}

impl Terminal {
    fn here() -> Self {
        Self { is_terminal: std::io::stdout().is_terminal(), width: screen_width(), colour: look().colour }
    }

    fn as_json(&self) -> serde_json::Value {
        json!({ "is_terminal": self.is_terminal, "width": self.width, "colour": self.colour })
    }
}

fn describe(
    report: &MachineReport,
    args: &MachineArgs,
    terminal: &Terminal,
    problems: &[String],
    look: &TerminalStyle,
) -> String {
    let areas = [
        ("sandbox", describe_sandbox(report)),
        ("scratch", describe_scratch(report)),
        ("store", describe_store(report)),
        ("keys", report.keys.iter().map(describe_key).chain([describe_models(report)]).collect()),
        ("tools", describe_tools(&report.tools, args.skip_tools)),
        ("fonts", vec![format!("{}, built in; pictures need no font of the system", report.fonts.join(" and "))]),
        ("mirrors", describe_mirrors(report)),
        ("terminal", describe_terminal(terminal)),
    ];
    let mut rows = Vec::new();
    for (area, lines) in areas {
        for (place, line) in lines.iter().enumerate() {
            rows.push(vec![Cell::left(if place == 0 { area } else { "" }), Cell::folded(harmless(line))]);
        }
    }
    let verdict = match problems {
        [] => "Everything that Karat needs works.".to_owned(),
        problems => {
            let lines: Vec<String> = problems.iter().map(|problem| format!("  {}", harmless(problem))).collect();
            format!("{}:\n{}", count(problems.len(), "problem"), lines.join("\n"))
        }
    };
    format!("{}\n{verdict}\n", draw(&rows, look.width, look.colour))
}

fn describe_sandbox(report: &MachineReport) -> Vec<String> {
    let sandbox = &report.sandbox;
    let open = sandbox.leaves_open.map(|open| format!("; {open}")).unwrap_or_default();
    let mut lines = vec![format!("tools are isolated by {}{open}; {}", sandbox.strongest, sandbox.limits)];
    for kind in sandbox.kinds.iter().filter(|kind| !kind.available) {
        lines.push(format!("no {}: {}", kind.name, kind.reason.as_deref().unwrap_or("unknown reason")));
        lines.extend(kind.help.map(|help| format!("help: {help}")));
    }
    lines.extend(sandbox.problem.clone());
    lines
}

fn describe_scratch(report: &MachineReport) -> Vec<String> {
    let scratch = &report.scratch;
    let mut lines = vec![format!("trials take place in {}{}", scratch.folder.display(), free(scratch.free_bytes))];
    lines.extend(scratch.problem.clone());
    lines
}

fn describe_store(report: &MachineReport) -> Vec<String> {
    let store = &report.store;
    let location = &store.location;
    let mut line = match store.exists {
        true => location.to_string(),
        false => format!("none yet; the first run makes {location}"),
    };
    if let Some(runs) = store.runs {
        line.push_str(&format!(", {}", count(runs, "run")));
    }
    if let Some(version) = &store.server_version {
        line.push_str(&format!(", PostgreSQL {version}"));
    }
    if let Some(version) = store.schema_version {
        line.push_str(&format!(", schema version {version}"));
    }
    if let Some(bytes) = store.bytes {
        line.push_str(&format!(", {}", size(bytes)));
    }
    let mut lines = vec![format!("{line}{}", free(store.free_bytes))];
    lines.extend(store.problem.clone());
    lines
}

fn free(bytes: Option<u64>) -> String {
    bytes.map(|bytes| format!(", {} free", size(bytes))).unwrap_or_default()
}

fn describe_key(key: &KeyState) -> String {
    let state = |set: bool| if set { "is set" } else { "is not set" };
    let address = if key.address.set { format!("; {} is set", key.address.name) } else { String::new() };
    format!("{}: {} {}{address}", key.provider, key.key.name, state(key.key.set))
}

fn describe_models(report: &MachineReport) -> String {
    let set: Vec<&str> = report.models.iter().filter(|model| model.set).map(|model| model.name.as_str()).collect();
    match set.as_slice() {
        [] => "no key is needed for the local judge, the baseline and scanners".to_owned(),
        set => format!("default models: {}", set.join(", ")),
    }
}

fn describe_tools(tools: &[Examined], skipped: bool) -> Vec<String> {
    if skipped {
        return vec!["not checked; `karat tools doctor` checks them".to_owned()];
    }
    let names = |wanted: &dyn Fn(&Examined) -> bool| {
        let names: Vec<&str> = tools.iter().filter(|tool| wanted(tool)).map(|tool| tool.tool.as_str()).collect();
        (names.len(), names.join(", "))
    };
    let is_broken = |tool: &Examined| !tool.usable && tool.trial.is_some();
    let (usable, usable_names) = names(&|tool| tool.usable);
    let (broken, broken_names) = names(&is_broken);
    let (missing, missing_names) = names(&|tool| !tool.usable && !is_broken(tool));
    let mut lines = vec![format!("{usable} usable: {usable_names}")];
    if broken > 0 {
        lines.push(format!("{broken} installed, but their trial failed: {broken_names}"));
    }
    if missing > 0 {
        lines.push(format!("{missing} without a program or a key: {missing_names}"));
    }
    lines.push("`karat tools doctor NAME` says why one is not usable, and how to install it".to_owned());
    lines
}

fn describe_mirrors(report: &MachineReport) -> Vec<String> {
    if report.mirrors.is_empty() {
        return vec!["none; only suites whose cases name a commit need them (KARAT_MIRRORS)".to_owned()];
    }
    let line = |mirror: &karat::machine::MirrorState| match mirror.exists {
        true => format!("{}: {}", mirror.folder.display(), repositories(mirror.repositories)),
        false => format!("{} does not exist; correct KARAT_MIRRORS", mirror.folder.display()),
    };
    report.mirrors.iter().map(line).collect()
}

fn repositories(number: usize) -> String {
    format!("{number} {}", if number == 1 { "repository" } else { "repositories" })
}

fn describe_terminal(terminal: &Terminal) -> Vec<String> {
    let colour = if terminal.colour { "colours" } else { "no colours" };
    let place = if terminal.is_terminal { "" } else { ", output is not a terminal" };
    vec![format!("{} columns, {colour}{place}", terminal.width)]
}
