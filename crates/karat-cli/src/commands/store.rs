//! `karat store`: runs listed, shown, cleared out, moved and checked.

use crate::args::{StoreArgs, StoreCommand};
use crate::exit::{Exit, Failure};
use crate::stored::{folder, open};
use crate::terminal::{look, note, notes, print, print_json, tell};
use karat::report::grid::{Cell, draw, fit};
use karat::report::number::count;
use karat::run::drive::failed;
use karat::store::moment::shown;
use karat::store::{Gc, RunInfo, RunState, Store};
use karat::whole_file;
use serde_json::{Value, json};
use std::path::Path;

mod show;

pub(crate) fn run(args: &StoreArgs) -> Result<Exit, Failure> {
    let stated = args.store.as_deref();
    match &args.command {
        StoreCommand::List { json } => list(&mut open(stated)?, *json),
        StoreCommand::Show { run, trial: None, json, .. } => show::run(&mut open(stated)?, run, *json),
        StoreCommand::Show { run, trial: Some(trial), artifact, json } => {
            show::trial(&mut open(stated)?, run, trial, artifact.as_deref(), *json)
        }
        StoreCommand::Gc { runs, older_than, keep, dry_run, json } => {
            let mut store = open(stated)?;
            let runs = runs.iter().map(|run| store.find(run).map(|info| info.id)).collect::<Result<_, _>>()?;
            gc(&mut store, &Gc { runs, older_than: *older_than, keep: *keep, dry_run: *dry_run }, *json)
        }
        StoreCommand::Export { run, whole, output, json } => {
            export(&mut open(stated)?, run, *whole, output.as_deref(), *json)
        }
        StoreCommand::Import { file, name, json } => import(stated, file, name.as_deref(), *json),
        StoreCommand::Verify { json } => verify(&mut open(stated)?, *json),
    }
}

fn list(store: &mut Store, json: bool) -> Result<Exit, Failure> {
    let runs = store.runs()?;
    if json {
        let values: Vec<Value> = runs.iter().map(|run| value(store, run)).collect();
        print_json(&values)?;
        return Ok(Exit::Ok);
    }
    if runs.is_empty() {
        tell(&format!("no runs are stored in {}; `karat run SUITE` makes one", store.folder().display()));
        return Ok(Exit::Ok);
    }
    let header = ["run", "name", "suite", "begun (UTC)", "state", "trials", "failed"];
    let mut rows = vec![header.map(Cell::left).to_vec()];
    for run in &runs {
        rows.push(vec![
            Cell::left(&run.short_id),
            Cell::left(fit(run.name.as_deref().unwrap_or("–"), 20)),
            Cell::left(fit(&run.suite, 20)),
            Cell::left(shown(run.created_ms)),
            Cell::left(state(store, run)),
            Cell::right(format!("{}/{}", made(run), run.planned)),
            Cell::right(failures(run).to_string()),
        ]);
    }
    print(&draw(&rows, look().width, look().colour))?;
    Ok(Exit::Ok)
}

fn gc(store: &mut Store, gc: &Gc, json: bool) -> Result<Exit, Failure> {
    let report = store.gc(gc)?;
    notes(&report.notes);
    for run in &report.in_use {
        note(&format!("the run {} stays, since a process is working on it", run.short_id));
    }
    if json {
        let removed: Vec<Value> = report.runs.iter().map(|run| value(store, run)).collect();
        let in_use: Vec<Value> = report.in_use.iter().map(|run| value(store, run)).collect();
        print_json(&json!({
            "dry_run": gc.dry_run, "runs": removed, "in_use": in_use, "artifacts": report.artifacts,
            "bytes": report.bytes, "scratch": report.scratch, "notes": report.notes,
        }))?;
        return Ok(Exit::Ok);
    }
    let mut text = String::new();
    for run in &report.runs {
        let name = run.name.as_deref().map(|name| format!(" ({name})")).unwrap_or_default();
        text.push_str(&format!("{}{name}, begun {}\n", run.short_id, shown(run.created_ms)));
    }
    let verb = if gc.dry_run { "would remove" } else { "removed" };
    text.push_str(&format!(
        "{verb} {}, {} ({}) and {}\n",
        count(report.runs.len(), "run"),
        count(usize::try_from(report.artifacts).unwrap_or(usize::MAX), "artifact"),
        size(report.bytes),
        count(report.scratch.len(), "leftover folder"),
    ));
    print(&text.lines().map(|line| format!("{}\n", karat::diagnostic::harmless(line))).collect::<String>())?;
    Ok(Exit::Ok)
}

fn export(store: &mut Store, run: &str, whole: bool, output: Option<&Path>, json: bool) -> Result<Exit, Failure> {
    let run = store.identify(run)?;
    if let (true, Some(path)) = (whole, output) {
        store.export_run_file(&run, path)?;
        if json {
            print_json(&json!({ "run": run, "file": path, "whole": true }))?;
        }
        tell(&format!("wrote {}, the whole run {}", path.display(), run));
        return Ok(Exit::Ok);
    }
    let mut lines = Vec::new();
    let exported = store.export(&run, &mut lines)?;
    match output {
        None => print(&String::from_utf8_lossy(&lines))?,
        Some(path) => {
            whole_file::write(path, &mut |out| out.write_all(&lines))
                .map_err(|error| Failure::unwritten(path.display(), error))?;
            if json {
                print_json(&json!({
                    "run": run, "file": path, "whole": false,
                    "trials": exported.trials, "unreadable": exported.unreadable,
                }))?;
            }
            tell(&format!("wrote {}, {}", path.display(), count(exported.trials, "trial")));
        }
    }
    if exported.unreadable.is_empty() {
        return Ok(Exit::Ok);
    }
    notes(&exported.unreadable);
    let left_out = count(exported.unreadable.len(), "trial");
    tell(&format!("error: {left_out} of the run {} could not be read and were left out", run));
    Ok(Exit::Failed)
}

fn import(stated: Option<&Path>, file: &Path, name: Option<&str>, json: bool) -> Result<Exit, Failure> {
    // A file that is not there is a bad input, and no store is made for it.
    std::fs::File::open(file).map_err(|error| Failure::io(file.display(), error))?;
    let mut store = Store::create(&folder(stated))?;
    let imported = store.import(file, name)?;
    let info = store.find(imported.run.as_str())?;
    if json {
        print_json(&json!({
            "run": imported.run, "name": info.name, "was_here": imported.was_here, "attempts": imported.attempts,
        }))?;
    }
    let what = if imported.was_here { "is here already, with equal content" } else { "was imported" };
    tell(&format!("the run {} {what}: {}", info.short_id, count(imported.attempts, "trial")));
    Ok(Exit::Ok)
}

fn verify(store: &mut Store, json: bool) -> Result<Exit, Failure> {
    let problems = store.verify()?;
    if json {
        print_json(&json!({ "store": store.folder(), "sound": problems.is_empty(), "problems": problems }))?;
    } else if problems.is_empty() {
        let runs = store.runs()?.len();
        print(&format!("{}: {}, all as they were stored\n", store.folder().display(), count(runs, "run")))?;
    } else {
        let line = |text: &str| format!("{}\n", karat::diagnostic::harmless(text));
        print(&problems.iter().map(|p| line(&format!("{}: {}", p.code, p.message))).collect::<String>())?;
    }
    if problems.is_empty() {
        return Ok(Exit::Ok);
    }
    let found = count(problems.len(), "problem");
    let advice = "nothing was changed; copy the folder, then save runs with `karat store export`";
    tell(&format!("error: {found} in {}; {advice}", store.folder().display()));
    Ok(Exit::Failed)
}

/// A run as JSON, with whether a process works on it.
fn value(store: &Store, run: &RunInfo) -> Value {
    let mut value = json!(run);
    value["in_use"] = store.is_locked(&run.id).into();
    value
}

/// The state in a word: a run that should be running and that nobody works on was interrupted.
fn state(store: &Store, run: &RunInfo) -> &'static str {
    match run.state {
        RunState::Running if !store.is_locked(&run.id) => "interrupted",
        state => state.as_str(),
    }
}

/// Trials that were made.
fn made(run: &RunInfo) -> u64 {
    run.outcomes.values().sum()
}

/// Trials on which the tool failed.
fn failures(run: &RunInfo) -> u64 {
    run.outcomes.iter().filter(|(outcome, _)| failed(**outcome)).map(|(_, trials)| trials).sum()
}

/// A number of bytes as people read it.
fn size(bytes: u64) -> String {
    let mut shown = bytes as f64;
    for unit in ["B", "KiB", "MiB"] {
        if shown < 1024.0 {
            return if unit == "B" { format!("{bytes} B") } else { format!("{shown:.1} {unit}") };
        }
        shown /= 1024.0;
    }
    format!("{shown:.1} GiB")
}
