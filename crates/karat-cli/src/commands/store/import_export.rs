//! `karat store export` and `karat store import`.

use crate::exit::{Exit, Failure};
use crate::output_files::save;
use crate::store_path::folder;
use crate::terminal::{notes, print, print_json, tell};
use karat_core::wording::count;
use karat_store::Store;
use serde_json::json;
use std::path::Path;

pub(super) fn export(
    store: &mut Store,
    run: &str,
    whole: bool,
    output: Option<&Path>,
    json: bool,
) -> Result<Exit, Failure> {
    let run = store.resolve_run(run)?;
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
            save(path, &lines)?;
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
    tell(&format!("error: {left_out} of the run {} could not be read and were skipped", run));
    Ok(Exit::Failed)
}

pub(super) fn import(stated: Option<&Path>, file: &Path, name: Option<&str>, json: bool) -> Result<Exit, Failure> {
    // A missing file is bad input; no store is created for it.
    std::fs::File::open(file).map_err(|error| Failure::io(file.display(), error))?;
    let exchanges = Store::is_ledger_file(file)?;
    if exchanges && name.is_some() {
        return Err(Failure::usage(format!(
            "{} contains exchanges with models, which have no name; omit --name",
            file.display()
        )));
    }
    let mut store = Store::create(&folder(stated))?;
    if exchanges {
        return import_ledger(&mut store, file, json);
    }
    let imported = store.import(file, name)?;
    let info = store.find(imported.run.as_str())?;
    if json {
        print_json(&json!({
            "run": imported.run, "name": info.name, "was_here": imported.was_here, "attempts": imported.attempts,
        }))?;
    }
    let what = if imported.was_here { "is already present, with equal content" } else { "was imported" };
    tell(&format!("the run {} {what}: {}", info.short_id, count(imported.attempts, "trial")));
    Ok(Exit::Ok)
}

/// Exports exchanges with models.
pub(super) fn export_ledger(
    store: &mut Store,
    model: Option<&str>,
    output: Option<&Path>,
    json: bool,
) -> Result<Exit, Failure> {
    let Some(path) = output else {
        let mut lines = Vec::new();
        store.export_ledger(model, &mut lines)?;
        print(&String::from_utf8_lossy(&lines))?;
        return Ok(Exit::Ok);
    };
    let exchanges = store.export_ledger_file(model, path)?;
    if json {
        print_json(&json!({ "file": path, "ledger": true, "exchanges": exchanges }))?;
    }
    tell(&format!("wrote {}, {}", path.display(), count(exchanges, "exchange")));
    Ok(Exit::Ok)
}

fn import_ledger(store: &mut Store, file: &Path, json: bool) -> Result<Exit, Failure> {
    let taken = store.import_ledger(file)?;
    if json {
        print_json(&taken)?;
    }
    tell(&format!("{} added, {} already present", count(taken.added, "exchange"), taken.were_here));
    Ok(Exit::Ok)
}
