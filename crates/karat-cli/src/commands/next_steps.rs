//! `karat` without arguments: what is in this folder, and what to do next.

use crate::args::StorePlace;
use crate::exit::{Exit, Result};
use crate::outputs::explain_command;
use crate::terminal::{note_problem, print};
use karat::folder_state::{FolderState, LatestRun, SuiteState, read_folder_state};
use karat_core::wording::count;
use karat_format::config::SuiteKind;
use karat_format::diagnostic::harmless;
use karat_report::number::{rank_metric, ranked, stated, three, title};
use karat_store::timestamp::format_utc;
use std::path::Path;

/// A command, and what it is for.
type Step = (String, &'static str);

pub(crate) fn run() -> Result<Exit> {
    let place = StorePlace { location: None };
    let state = read_folder_state(Path::new("."), &place.named()?).unwrap_or_else(|failure| {
        note_problem(&failure.text());
        FolderState::default()
    });
    let mut lines = Vec::new();
    let mut steps: Vec<Step> = Vec::new();
    if let Some(suite) = &state.suite {
        lines.push(describe_suite(suite));
    }
    let latest = state.store.as_ref().and_then(|store| store.latest.as_ref());
    if let Some(latest) = latest {
        lines.push(describe_run(latest));
    }
    if let Some(run) = state.store.as_ref().and_then(|store| store.unfinished.as_ref()) {
        steps.push((format!("karat run --resume {}", run.short_id), "continue the unfinished run"));
    }
    if let Some(latest) = latest {
        steps.extend(steps_after(latest));
    }
    match &state.suite {
        Some(suite) => steps.extend(steps_in(suite)),
        None if latest.is_none() => steps.extend(first_steps()),
        None => {}
    }
    if lines.is_empty() {
        lines.push("There is no suite and no run in this folder.".to_owned());
    }
    let width = steps.iter().map(|(command, _)| command.chars().count()).max().unwrap_or_default();
    let steps: String = steps.iter().map(|(command, why)| format!("  {command:<width$}   {why}\n")).collect();
    let text = format!("{}\n\nNext:\n{steps}\n`karat --help` lists all commands.\n", lines.join("\n"));
    print(&text.lines().map(|line| format!("{}\n", harmless(line))).collect::<String>())
}

fn describe_suite(suite: &SuiteState) -> String {
    let name = suite.name.as_ref().map(|name| format!(", {name}")).unwrap_or_default();
    let kind = match suite.kind {
        SuiteKind::Findings => "a suite of cases",
        SuiteKind::Assessment => "a suite of documents",
    };
    let empty = if suite.has_cases { "" } else { ", still empty" };
    format!("This folder has {kind}{name}{empty}.")
}

/// The latest run in one line.
fn describe_run(latest: &LatestRun) -> String {
    let LatestRun { info, state, report } = latest;
    let name = info.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    let started = format_utc(info.created_ms);
    let minutes = started.get(.."2026-03-01 14:05".len()).unwrap_or(&started);
    let mut parts = vec![format!("{} of {minutes} UTC", info.suite), (*state).to_owned()];
    if info.kind == SuiteKind::Findings {
        let done: u64 = info.outcomes.values().sum();
        parts.push(match done == info.planned {
            true => count(done as usize, "trial"),
            false => format!("{done} of {} trials", info.planned),
        });
    }
    if let Some((report, best)) = report.as_ref().and_then(|report| Some((report, *ranked(report).first()?))) {
        let metric = rank_metric(report);
        let value = three(stated(report, best, metric).and_then(|estimate| estimate.value));
        parts.push(format!("{} first, {} {value}", best.tool, title(metric)));
    }
    format!("Latest run {}{name}: {}.", info.short_id, parts.join(", "))
}

fn steps_after(latest: &LatestRun) -> Vec<Step> {
    let mut steps = Vec::new();
    if latest.state == "running" {
        steps.push(("karat serve --open".to_owned(), "watch it in a browser"));
        return steps;
    }
    if latest.info.has_report {
        steps.push(("karat report latest".to_owned(), "show its result again"));
    }
    let explain = latest.report.as_ref().and_then(|report| explain_command(report, " --run latest"));
    steps.extend(explain.map(|command| (command, "why its worst case went wrong")));
    steps.push(("karat serve --open".to_owned(), "browse all runs"));
    steps
}

fn steps_in(suite: &SuiteState) -> Vec<Step> {
    let mut steps = Vec::new();
    if !suite.has_cases && suite.kind == SuiteKind::Findings {
        let command = "karat suite add --from-commit REV --repo PATH".to_owned();
        steps.push((command, "add a case"));
        return steps;
    }
    steps.push(("karat check".to_owned(), "lint the suite"));
    steps.push(match suite.kind {
        SuiteKind::Findings => ("karat run .".to_owned(), "run its tools"),
        SuiteKind::Assessment => ("karat assess".to_owned(), "assess its documents"),
    });
    steps
}

fn first_steps() -> [Step; 4] {
    [
        ("karat run code-review".to_owned(), "try Karat on a built-in suite"),
        ("karat assess agreements".to_owned(), "the same for documents"),
        ("karat init my-suite".to_owned(), "start a suite of your own"),
        ("karat doctor".to_owned(), "check what works on this machine"),
    ]
}
