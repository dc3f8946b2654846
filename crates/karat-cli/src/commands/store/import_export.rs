//! `karat store export` and `karat store import`.

use crate::args::StorePlace;
use crate::exit::{Exit, Failure, Result};
use crate::outputs::save;
use crate::terminal::{notes, print, print_done, print_stderr};
use karat_core::wording::count;
use karat_store::Store;
use serde_json::json;
use std::path::Path;

pub(super) fn export(store: &mut Store, run: &str, whole: bool, output: Option<&Path>, json: bool) -> Result<Exit> {
    let run = store.resolve_run(run)?;
    if let (true, Some(path)) = (whole, output) {
        store.export_run_file(&run, path)?;
        let value = json!({ "run": run, "file": path, "whole": true });
        return print_done(json, &value, &format!("wrote {}, the whole run {run}", path.display()));
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
    print_stderr(&format!("error: {left_out} of the run {run} could not be read and were skipped"));
    Ok(Exit::Failed)
}

pub(super) fn import(place: &StorePlace, file: &Path, name: Option<&str>, json: bool) -> Result<Exit> {
    // A missing file is bad input; no store is created for it.
    std::fs::File::open(file).map_err(|error| Failure::io(file.display(), error))?;
    let exchanges = Store::is_ledger_file(file)?;
    if exchanges && name.is_some() {
        let why = "contains exchanges with models, which have no name; omit --name";
        return Err(Failure::usage(format!("{} {why}", file.display())));
    }
    let mut store = Store::create(&place.path())?;
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

pub(super) fn export_ledger(store: &mut Store, model: Option<&str>, output: Option<&Path>, json: bool) -> Result<Exit> {
    let Some(path) = output else {
        let mut lines = Vec::new();
        store.export_ledger(model, &mut lines)?;
        return print(&String::from_utf8_lossy(&lines));
    };
    let exchanges = store.export_ledger_file(model, path)?;
    let value = json!({ "file": path, "ledger": true, "exchanges": exchanges });
    print_done(json, &value, &format!("wrote {}, {}", path.display(), count(exchanges, "exchange")))
}
