//! `karat tools`: lists tools, prints their manifests, checks which can run here, and tries one on a case.

use crate::args::{DoctorArgs, ToolsCommand, TryArgs};
use crate::commands::run::ask_consent;
use crate::exit::{Exit, Failure, Result};
use crate::progress::{CountProgress, JudgeProgress};
use crate::signals::cancel_on_signals;
use crate::terminal::{note, print_stderr, show};
use karat::evaluate::{EvaluateObserver, EvaluateRequest, Tried, try_tool};
use karat::judge::run::JudgeObserver;
use karat::run::tool_lookup::{read_manifest, use_full_paths};
use karat::suggestion;
use karat::suite::load_suite;
use karat::tool::catalogue::{self, CATALOGUE, shipped};
use karat::tool::doctor::{DoctorRequest, Examined, ToolToExamine, diagnose};
use karat::tool::grants::Request;
use karat::tool::{Blocked, failed};
use karat_core::finding::Finding;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_format::submission::TrialV1;
use karat_format::tool::ToolManifestV1;
use karat_io::cancel::Cancel;
use karat_io::files::Files;
use karat_report::grid::{Cell, draw};
use karat_sandbox::{OutputStream, Supervisor};
use serde_json::json;
use std::path::Path;

pub(crate) fn run(command: &ToolsCommand, jobs: Option<usize>) -> Result<Exit> {
    match command {
        ToolsCommand::List { suite, json } => list_tools(suite.as_deref(), *json),
        ToolsCommand::Show { name, suite, json } => show_tool(name, suite.as_deref(), *json),
        ToolsCommand::Doctor(args) => doctor(args, jobs),
        ToolsCommand::Try(args) => try_once(args),
    }
}

pub(crate) struct KnownTool {
    name: String,
    /// A suite's name, `catalogue`, or a manifest file.
    declared_in: String,
    /// The files of the suite that declares it, which may come from anybody.
    suite: Option<Files>,
    manifest: ToolManifestV1,
}

/// The suite's tools, then those of the catalogue that the suite does not declare.
pub(crate) fn known_tools(suite: Option<&str>) -> Result<Vec<KnownTool>> {
    let mut all = Vec::new();
    if let Some(place) = suite {
        let loaded = load_suite(place)?;
        for (name, manifest) in loaded.config.tools {
            let (declared_in, suite) = (loaded.suite.name.clone(), Some(loaded.files.clone()));
            all.push(KnownTool { name, declared_in, suite, manifest });
        }
    }
    for entry in CATALOGUE {
        if !all.iter().any(|known| known.name == entry.name) {
            let manifest = entry.manifest()?;
            let (name, declared_in) = (entry.name.to_owned(), "catalogue".to_owned());
            all.push(KnownTool { name, declared_in, suite: None, manifest });
        }
    }
    Ok(all)
}

fn find_tool(name: &str, suite: Option<&str>) -> Result<KnownTool> {
    if name.ends_with(".toml") {
        let (own_name, manifest) = read_manifest(Path::new(name))?;
        return Ok(KnownTool { name: own_name, declared_in: name.to_owned(), suite: None, manifest });
    }
    let mut all = known_tools(suite)?;
    if let Some(at) = all.iter().position(|known| known.name == name) {
        return Ok(all.swap_remove(at));
    }
    let hint = suggestion(name, CATALOGUE.iter().map(|entry| entry.name), ".");
    let names: Vec<&str> = all.iter().map(|known| known.name.as_str()).collect();
    Err(Failure::usage(format!("unknown tool `{name}`{hint} Available: {}", names.join(", "))))
}

fn list_tools(suite: Option<&str>, json: bool) -> Result<Exit> {
    let all = known_tools(suite)?;
    let entry = |known: &KnownTool| {
        json!({
            "name": known.name, "declared_in": known.declared_in, "kind": known.manifest.kind.as_str(),
            "format": known.manifest.format, "description": known.manifest.description,
            "homepage": known.manifest.homepage,
        })
    };
    let row = |known: &KnownTool| {
        let description = known.manifest.description.as_deref().unwrap_or("-");
        let place = if known.declared_in == "catalogue" { String::new() } else { format!(" ({})", known.declared_in) };
        vec![Cell::left(&known.name), Cell::folded(format!("{description}{place}"))]
    };
    show(json, &all.iter().map(entry).collect::<Vec<_>>(), |look| {
        draw(&all.iter().map(row).collect::<Vec<_>>(), look.width, false)
    })
}

fn show_tool(name: &str, suite: Option<&str>, json: bool) -> Result<Exit> {
    let mut known = find_tool(name, suite)?;
    if let Some(files) = &known.suite {
        for file in use_full_paths(&mut known.manifest, files) {
            note(&format!("{} is built in: only tools of that suite can name it", files.display(&file)));
        }
    }
    // A shipped file is printed with its comments.
    let entry = shipped(name).filter(|_| known.declared_in == "catalogue");
    show(json, &known.manifest, |_| {
        entry.map_or_else(|| catalogue::to_toml(&known.name, &known.manifest), |entry| entry.toml.to_owned())
    })
}

fn doctor(args: &DoctorArgs, jobs: Option<usize>) -> Result<Exit> {
    let suite = args.suite.as_deref();
    let chosen = match args.names.as_slice() {
        [] => known_tools(suite)?,
        names => names.iter().map(|name| find_tool(name, suite)).collect::<Result<Vec<_>, _>>()?,
    };
    let EvaluateRequest { environment, supervisor, .. } = EvaluateRequest::new("", &[], Path::new(""), supervisor()?);
    let tools: Vec<ToolToExamine> = chosen.into_iter().map(to_examine).collect();
    let progress = CountProgress::new(&format!("checking {} …", count(tools.len(), "tool")), tools.len());
    let request = DoctorRequest { tools, environment, supervisor, cancel: cancel_on_signals()?, jobs };
    let all = diagnose(&request, &|examined| progress.advance(&examined.tool));
    progress.clear();
    let all = all?;
    // Most tools of the catalogue are not installed, and why each is not matters only to who asked for it.
    let is_named = !args.names.is_empty();
    show(args.json, &all, |_| all.iter().map(|examined| describe_tool(examined, args.all, is_named)).collect())?;
    // Only a tool that was named must be usable.
    Ok(if !is_named || all.iter().all(|examined| examined.usable) { Exit::Ok } else { Exit::Failed })
}

pub(crate) fn to_examine(known: KnownTool) -> ToolToExamine {
    ToolToExamine { name: known.name, manifest: known.manifest, trusted: known.suite.is_none() }
}

pub(crate) fn supervisor() -> Result<Supervisor> {
    Supervisor::this_program(crate::SUPERVISE).map_err(|error| Failure::io("the program", error))
}

/// One line about a tool, and details if it does not work or everything is wanted.
fn describe_tool(examined: &Examined, all: bool, is_named: bool) -> String {
    let mut parts = vec![if examined.usable { "usable" } else { "not usable" }.to_owned()];
    parts.extend(examined.version.clone());
    let trial = examined.trial.as_ref();
    match trial.filter(|_| examined.usable) {
        Some(trial) => parts.push(format!("{} in its trial", count(trial.findings, "finding"))),
        None if examined.usable => {
            parts.extend(examined.remarks.iter().find(|why| why.starts_with("not tried")).cloned())
        }
        None => parts.extend(examined.remarks.first().cloned()),
    }
    let mut lines = vec![format!("{}: {}", examined.tool, parts.join(" · "))];
    let is_broken = !examined.usable && trial.is_some();
    if all {
        lines.push(format!("  {}", examined.isolation));
        for program in &examined.programs {
            let place = program.found.as_ref().map_or("not found".to_owned(), |path| path.display().to_string());
            lines.push(format!("  {}: {place}", program.name));
        }
    }
    if all || is_named {
        for variable in &examined.variables {
            let state = if variable.set { "is set" } else { "is not set" };
            lines.push(format!("  {} {state}", variable.name));
        }
    }
    if all || is_named || is_broken {
        let rest = examined.remarks.iter().filter(|remark| !parts.contains(remark));
        lines.extend(rest.map(|remark| format!("  {remark}")));
    }
    if let Some(trial) = trial.filter(|_| all || is_broken) {
        lines.extend(trial.stderr.iter().map(|line| format!("  │ {line}")));
        lines.extend(trial.blocked.iter().flat_map(describe_blocked));
    }
    if is_broken {
        lines.push(format!("  `karat tools try {} SUITE` shows everything it prints", examined.tool));
    }
    lines.iter().map(|line| format!("{}\n", harmless(line))).collect()
}

fn describe_blocked(blocked: &Blocked) -> Vec<String> {
    vec![format!("  blocked: {}: {}", blocked.what, blocked.line), format!("    help: {}", blocked.help)]
}

fn try_once(args: &TryArgs) -> Result<Exit> {
    let request = EvaluateRequest {
        model: args.sandbox.tool_model(),
        isolation: args.sandbox.isolation,
        allow: args.sandbox.allow.clone(),
        ..EvaluateRequest::new(&args.suite, &[args.tool.as_str()], args.store.location()?, supervisor()?)
    };
    let mut observer = TryObserver(JudgeProgress::new(true));
    let tried = try_tool(request, args.case.as_deref(), &mut observer, &|stream, line| {
        let name = if stream == OutputStream::Stdout { "out" } else { "err" };
        print_stderr(&format!("{name} │ {}", harmless(line)));
    })?;
    show(args.json, &as_json(&tried), |_| describe_tried(&tried))?;
    Ok(if failed(tried.record.trial.outcome) { Exit::Failed } else { Exit::Ok })
}

struct TryObserver(JudgeProgress);

impl EvaluateObserver for TryObserver {
    fn note(&mut self, text: &str) {
        note(text);
    }

    fn setting_up(&mut self, tool: &str) {
        print_stderr(&format!("setting up {tool} …"));
    }

    fn consent(&mut self, request: &Request) -> Result<Option<bool>> {
        ask_consent(request)
    }

    fn cancel(&mut self) -> Result<Cancel> {
        cancel_on_signals()
    }

    fn judge(&mut self) -> &mut dyn JudgeObserver {
        &mut self.0
    }
}

fn as_json(tried: &Tried) -> serde_json::Value {
    let Tried { record, facts, blocked } = tried;
    let text = |name: &str| {
        let artifact = record.artifacts.iter().find(|artifact| artifact.name == name);
        artifact.map(|artifact| String::from_utf8_lossy(&artifact.bytes).into_owned())
    };
    json!({
        "tool": facts, "trial": TrialV1::from(&record.trial), "detail": record.detail, "blocked": blocked,
        "stdout": text("stdout"), "stderr": text("stderr"), "output": text("output"),
    })
}

fn describe_tried(tried: &Tried) -> String {
    let Tried { record, facts, blocked } = tried;
    let (trial, detail) = (&record.trial, &record.detail);
    let mut ended = vec![trial.outcome.words().to_owned()];
    ended.extend(detail.exit.map(|code| format!("exit code {code}")));
    ended.extend(detail.signal.map(|signal| format!("signal {signal}")));
    ended.extend(trial.latency_ms.map(|ms| format!("{:.1} s", ms / 1_000.0)));
    let mut lines = vec![format!("{} on {}: {}", trial.tool, trial.case, ended.join(" · "))];
    lines.extend(facts.version.iter().map(|version| format!("  version: {version}")));
    lines.push(format!("  isolation: {}", detail.isolation.as_ref().unwrap_or(&facts.isolation)));
    lines.extend(detail.reason.iter().map(|reason| format!("  reason: {reason}")));
    lines.extend(detail.remarks.iter().chain(&trial.notes).map(|remark| format!("  note: {remark}")));
    lines.extend(blocked.iter().flat_map(describe_blocked));
    if failed(trial.outcome) && blocked.is_empty() {
        lines.push(
            "  blocked: nothing that its output shows; what a tool does not print about refusals is not known"
                .to_owned(),
        );
    }
    if !failed(trial.outcome) {
        lines.push(format!("  {}", count(trial.findings.len(), "finding")));
        lines.extend(trial.findings.iter().map(describe_finding));
    }
    lines.iter().map(|line| format!("{}\n", harmless(line))).collect()
}

fn describe_finding(finding: &Finding) -> String {
    let line = finding.line_start.map(|line| format!(":{line}")).unwrap_or_default();
    let place = finding.file.as_ref().map_or("no file".to_owned(), |file| format!("{file}{line}"));
    let rule = finding.rule_id.as_ref().map(|rule| format!(" [{rule}]")).unwrap_or_default();
    let severity = finding.severity.map(|severity| format!("{} ", severity.as_str())).unwrap_or_default();
    let title = finding.title.as_deref().or(finding.message.as_deref()).unwrap_or_default();
    format!("    {place} {severity}{}{rule}", title.lines().next().unwrap_or_default())
}
