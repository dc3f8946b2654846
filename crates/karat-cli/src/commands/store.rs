//! `karat store`.

use super::run::load_results;
use crate::args::{StoreArgs, StoreCommand, StorePlace, require_answer, within_folder};
use crate::exit::{Exit, Failure, Result};
use crate::outputs::save;
use crate::progress::CopyingProgress;
use crate::terminal::{draw_table, merged, note, notes, print, print_always, print_done, print_json, print_stderr};
use karat::copy_store::{CopyRequest, copy_store};
use karat::tables::check_target;
use karat::tool::failed;
use karat_core::trial::Outcome;
use karat_core::wording::count;
use karat_format::config::SuiteKind;
use karat_format::diagnostic::harmless;
use karat_report::RED;
use karat_report::grid::Cell;
use karat_store::timestamp::format_utc;
use karat_store::{GcOptions, ObjectLocation, Problem, RunInfo, Store, StoreError, StoreLocation};
use serde_json::{Value, json};
use std::path::Path;

mod show;

pub(crate) fn run(args: &StoreArgs) -> Result<Exit> {
    let place = StorePlace { location: args.store.clone() };
    let open = || place.open();
    match &args.command {
        StoreCommand::List { json } => list(&mut open()?, *json),
        StoreCommand::Show { run, trial: None, json, .. } => show::run(&mut open()?, run, *json),
        StoreCommand::Show { run, trial: Some(trial), artifact, json } => {
            show::trial(&mut open()?, run, trial, artifact.as_deref(), *json)
        }
        StoreCommand::Gc { runs, older_than, keep, ledger, sessions, grace, dry_run, json } => {
            let mut store = open()?;
            let runs = runs.iter().map(|run| store.find(run).map(|info| info.id)).collect::<Result<_, _>>()?;
            remove_sessions(&mut store, sessions, *dry_run)?;
            // With `--ledger`, the age applies to exchanges and not to runs.
            let (older_than, exchanges_older_than) = if *ledger { (None, *older_than) } else { (*older_than, None) };
            let (keep, grace, dry_run) = (*keep, *grace, *dry_run);
            gc(&mut store, &GcOptions { runs, older_than, keep, exchanges_older_than, grace, dry_run }, *json)
        }
        StoreCommand::Export { ledger: true, model, output, json, .. } => {
            export_ledger(&mut open()?, model.as_deref(), output.as_deref(), *json)
        }
        StoreCommand::Export { run, parquet: Some(folder), json, .. } => {
            export_tables(&mut open()?, run, folder, *json)
        }
        StoreCommand::Export { run, whole, output, json, .. } => {
            export(&mut open()?, run, *whole, output.as_deref(), *json)
        }
        StoreCommand::Import { file, name, json } => import(&place, file, name.as_deref(), *json),
        StoreCommand::Copy { .. } if args.store.is_some() => {
            Err(Failure::usage("`karat store copy FROM TO` names both stores; omit --store"))
        }
        StoreCommand::Copy { from, to, json } => copy(from, to, *json),
        StoreCommand::Artifacts { place, json } => artifacts(&mut open()?, place.as_deref(), *json),
        StoreCommand::Verify { json } => verify(&mut open()?, *json),
    }
}

fn list(store: &mut Store, json: bool) -> Result<Exit> {
    let runs = store.runs()?;
    if json {
        return print_json(&runs.iter().map(|run| value(store, run)).collect::<Vec<_>>());
    }
    if runs.is_empty() {
        print_stderr(&format!("no runs in {}; create one with `karat run SUITE`", store.location()));
        return Ok(Exit::Ok);
    }
    let unavailable = |run: &RunInfo| run.outcomes.get(&Outcome::Unavailable).copied().unwrap_or_default();
    let any_outage = runs.iter().any(|run| unavailable(run) > 0);
    // Six columns, with the name below or beside the id, fit 80 characters.
    let header = ["run", "suite", "started (UTC)", "state", "trials", "failed"];
    let outages = any_outage.then(|| Cell::left("unavailable"));
    let mut rows = vec![header.map(Cell::left).into_iter().chain(outages).collect::<Vec<_>>()];
    for run in &runs {
        let started = format_utc(run.created_ms);
        let minutes = started.get(.."2026-03-01 14:05".len()).unwrap_or(&started);
        let failures = run.outcomes.iter().filter(|(outcome, _)| failed(**outcome)).map(|(_, trials)| trials);
        let (trials, failures) = match run.kind {
            SuiteKind::Findings => (format!("{}/{}", made(run), run.planned), failures.sum::<u64>().to_string()),
            SuiteKind::Assessment => ("–".to_owned(), "–".to_owned()),
        };
        let word = store.state_word(run);
        let state = if run.is_failed() { Cell::left(word).styled(RED) } else { Cell::left(word) };
        let mut row = vec![
            Cell::whole(&run.short_id, run.name.as_deref().unwrap_or_default()),
            Cell::folded(&run.suite),
            Cell::left(minutes),
            state,
            Cell::right(trials),
            Cell::right(failures),
        ];
        row.extend(any_outage.then(|| Cell::right(unavailable(run).to_string())));
        rows.push(row);
    }
    // A store with runs of tools only needs no kinds.
    if runs.iter().any(|run| run.kind == SuiteKind::Assessment) {
        let kinds = runs.iter().map(|run| run.kind.as_str());
        rows.iter_mut().zip(["kind"].into_iter().chain(kinds)).for_each(|(row, kind)| row.insert(2, Cell::left(kind)));
    }
    print(&draw_table(&rows))?;
    // Runs are listed even if other data is damaged; `verify` reports that.
    let beside = beside(store).unwrap_or_default();
    if !beside.is_empty() {
        print_stderr(&format!("and{}", beside.replacen(',', "", 1)));
    }
    Ok(Exit::Ok)
}

/// What the store holds besides runs, as the end of a list; empty if nothing.
fn beside(store: &mut Store) -> Result<String> {
    let (exchanges, labels) = (store.ledger_len()?, store.labels()?.len());
    let counted = |n: usize, noun: &str| if n > 0 { format!(", {}", count(n, noun)) } else { String::new() };
    let sessions = store.sessions()?.len();
    Ok(counted(exchanges, "exchange") + &counted(labels, "label") + &counted(sessions, "session"))
}

/// Removes sessions by name; all of them must exist before any is removed.
fn remove_sessions(store: &mut Store, wanted: &[String], dry_run: bool) -> Result<()> {
    let there: Vec<String> = store.sessions()?.into_iter().map(|session| session.id).collect();
    if let Some(unknown) = wanted.iter().find(|id| !there.contains(id)) {
        let known =
            if there.is_empty() { "the store has none".to_owned() } else { format!("available: {}", there.join(", ")) };
        return Err(Failure::usage(format!("unknown session `{unknown}`; {known}")));
    }
    for id in wanted {
        if !dry_run {
            store.remove_session(id)?;
        }
        print_stderr(&harmless(&format!("{} the session {id}", if dry_run { "would remove" } else { "removed" })));
    }
    Ok(())
}

fn gc(store: &mut Store, gc: &GcOptions, json: bool) -> Result<Exit> {
    let report = store.gc(gc).map_err(|error| match error {
        StoreError::ShortGrace => Failure::usage(error.to_string()),
        error => error.into(),
    })?;
    notes(&report.notes);
    for run in &report.in_use {
        note(&format!("the run {} is kept because a process is working on it", run.short_id));
    }
    if json {
        let removed: Vec<Value> = report.runs.iter().map(|run| value(store, run)).collect();
        let in_use: Vec<Value> = report.in_use.iter().map(|run| value(store, run)).collect();
        return print_json(&json!({
            "dry_run": gc.dry_run, "runs": removed, "in_use": in_use, "artifacts": report.artifacts,
            "bytes": report.bytes, "objects": report.objects, "object_bytes": report.object_bytes,
            "waiting_objects": report.waiting_objects, "exchanges": report.exchanges, "scratch": report.scratch,
            "notes": report.notes,
        }));
    }
    let mut text = String::new();
    for run in &report.runs {
        let name = run.name.as_deref().map(|name| format!(" ({name})")).unwrap_or_default();
        text.push_str(&format!("{}{name}, started {}\n", run.short_id, format_utc(run.created_ms)));
    }
    let verb = if gc.dry_run { "would remove" } else { "removed" };
    text.push_str(&format!(
        "{verb} {}, {} ({}) and {}\n",
        count(report.runs.len(), "run"),
        count(usize::try_from(report.artifacts).unwrap_or(usize::MAX), "artifact"),
        size(report.bytes),
        count(report.scratch.len(), "leftover folder"),
    ));
    let objects = |n: u64| count(usize::try_from(n).unwrap_or(usize::MAX), "object");
    if report.objects > 0 {
        text.push_str(&format!("{verb} {} ({})\n", objects(report.objects), size(report.object_bytes)));
    }
    if report.waiting_objects > 0 {
        let waiting = objects(report.waiting_objects);
        text.push_str(&format!("{waiting} can be removed when the grace period is over\n"));
    }
    if gc.exchanges_older_than.is_some() {
        let exchanges = count(usize::try_from(report.exchanges).unwrap_or(usize::MAX), "exchange");
        text.push_str(&format!("{verb} {exchanges} with models\n"));
    }
    print(&text.lines().map(|line| format!("{}\n", harmless(line))).collect::<String>())
}

fn export(store: &mut Store, run: &str, whole: bool, output: Option<&Path>, json: bool) -> Result<Exit> {
    let run = store.resolve_run(run)?;
    if let (true, Some(path)) = (whole, output) {
        store.export_run_file(&run, path)?;
        let value = json!({ "run": run, "file": path, "whole": true });
        return print_done(json, &value, &format!("wrote {}, the whole run {run}", path.display()));
    }
    if store.plan(&run).is_ok_and(|plan| plan.kind == SuiteKind::Assessment) {
        let message =
            "an assessment has no trials to export; use --whole -o FILE, or `karat report RUN -o report.json`";
        return Err(Failure::usage(message));
    }
    let mut lines = Vec::new();
    let exported = store.export(&run, &mut lines)?;
    match output {
        None => print(&String::from_utf8_lossy(&lines))?,
        Some(path) => {
            save(path, &lines)?;
            let value = json!({
                "run": run, "file": path, "whole": false, "trials": exported.trials, "unreadable": exported.unreadable,
            });
            print_done(json, &value, &format!("wrote {}, {}", path.display(), count(exported.trials, "trial")))?
        }
    };
    if exported.unreadable.is_empty() {
        return Ok(Exit::Ok);
    }
    notes(&exported.unreadable);
    let left_out = count(exported.unreadable.len(), "trial");
    print_always(&format!("error: {left_out} of the run {run} could not be read and were skipped"));
    Ok(Exit::Failed)
}

fn export_tables(store: &mut Store, run: &str, folder: &Path, json: bool) -> Result<Exit> {
    check_target(folder)?;
    let run = store.resolve_run(run)?;
    let rows = load_results(store, run.as_str())?.tables().write(folder)?;
    let value = json!({ "run": run, "folder": folder, "rows": rows });
    let all = usize::try_from(rows.values().sum::<u64>()).unwrap_or(usize::MAX);
    print_done(json, &value, &format!("wrote {}, {} of the run {run}", folder.display(), count(all, "row")))
}

fn import(place: &StorePlace, file: &Path, name: Option<&str>, json: bool) -> Result<Exit> {
    // A missing file is bad input; no store is created for it.
    std::fs::File::open(file).map_err(|error| Failure::io(file.display(), error))?;
    let exchanges = Store::is_ledger_file(file)?;
    if exchanges && name.is_some() {
        let why = "contains exchanges with models, which have no name; omit --name";
        return Err(Failure::usage(format!("{} {why}", file.display())));
    }
    let mut store = Store::create(&place.location()?)?;
    if exchanges {
        let taken = store.import_ledger(file)?;
        let text = format!("{} added, {} already present", count(taken.added, "exchange"), taken.were_here);
        return print_done(json, &taken, &text);
    }
    let imported = store.import(file, name)?;
    let info = store.find(imported.run.as_str())?;
    let value = json!({
        "run": imported.run, "name": info.name, "was_here": imported.was_here, "attempts": imported.attempts,
    });
    let what = if imported.was_here { "is already present, with equal content" } else { "was imported" };
    let attempts = count(imported.attempts, "trial");
    print_done(json, &value, &format!("the run {} {what}: {attempts}", info.short_id))
}

fn copy(from: &StoreLocation, to: &StoreLocation, json: bool) -> Result<Exit> {
    let request = CopyRequest { from: within_folder(from.clone()), to: within_folder(to.clone()) };
    require_answer(&request.to)?;
    let mut progress = CopyingProgress::new();
    let copied = copy_store(&request, &mut |done| progress.show(done));
    progress.clear();
    let copied = copied?;
    let value = merged(json!({ "from": request.from, "to": request.to }), &copied);
    let rows = |rows: u64| count(usize::try_from(rows).unwrap_or(usize::MAX), "row");
    let (runs, added) = (count(usize::try_from(copied.runs).unwrap_or(usize::MAX), "run"), rows(copied.added));
    let text = format!(
        "{} is copied to {}: {runs}; {added} added, {} already there",
        request.from, request.to, copied.were_here
    );
    print_done(json, &value, &harmless(&text))
}

fn export_ledger(store: &mut Store, model: Option<&str>, output: Option<&Path>, json: bool) -> Result<Exit> {
    let Some(path) = output else {
        let mut lines = Vec::new();
        store.export_ledger(model, &mut lines)?;
        return print(&String::from_utf8_lossy(&lines));
    };
    let exchanges = store.export_ledger_file(model, path)?;
    let value = json!({ "file": path, "ledger": true, "exchanges": exchanges });
    print_done(json, &value, &format!("wrote {}, {}", path.display(), count(exchanges, "exchange")))
}

/// Shows or sets where large artifacts are kept.
fn artifacts(store: &mut Store, place: Option<&str>, json: bool) -> Result<Exit> {
    match place {
        None => {}
        Some("none") => store.set_object_storage(None)?,
        Some(url) => {
            let location = ObjectLocation::parse(url).map_err(|error| Failure::usage(error.to_string()))?;
            store.set_object_storage(Some(&location))?;
        }
    }
    let (location, objects) = (store.object_storage()?.map(|location| location.to_string()), store.object_count()?);
    let text = match &location {
        None => "all artifacts are kept in the database".to_owned(),
        Some(location) => {
            let objects = count(usize::try_from(objects).unwrap_or(usize::MAX), "object");
            format!("artifacts of more than 1 MiB are kept in {location}: {objects}")
        }
    };
    if place.is_none() && !json {
        return print(&format!("{text}\n"));
    }
    print_done(json, &json!({ "object_storage": location, "objects": objects }), &text)
}

fn verify(store: &mut Store, json: bool) -> Result<Exit> {
    let problems = store.verify()?;
    if json {
        print_json(&json!({ "store": store.location(), "sound": problems.is_empty(), "problems": problems }))?;
    } else if problems.is_empty() {
        let runs = count(store.runs()?.len(), "run");
        let beside = beside(store)?;
        print(&format!("{}: {runs}{beside}, no problems\n", store.location()))?;
    } else {
        let line = |p: &Problem| format!("{}\n", harmless(&format!("{}: {}", p.code, p.message)));
        print(&problems.iter().map(line).collect::<String>())?;
    }
    if problems.is_empty() {
        return Ok(Exit::Ok);
    }
    let found = count(problems.len(), "problem");
    let advice = "nothing was changed; copy the store, then save the runs with `karat store export`";
    print_always(&format!("error: {found} in {}; {advice}", store.location()));
    Ok(Exit::Failed)
}

fn value(store: &Store, run: &RunInfo) -> Value {
    merged(json!(run), &json!({ "in_use": store.is_locked(&run.id), "status": store.state_word(run) }))
}

fn made(run: &RunInfo) -> u64 {
    run.outcomes.values().sum()
}

pub(super) fn size(bytes: u64) -> String {
    let mut shown = bytes as f64;
    for unit in ["B", "KiB", "MiB"] {
        if shown < 1024.0 {
            return if unit == "B" { format!("{bytes} B") } else { format!("{shown:.1} {unit}") };
        }
        shown /= 1024.0;
    }
    format!("{shown:.1} GiB")
}
