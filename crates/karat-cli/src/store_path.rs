//! Resolves `--store` and `KARAT_STORE` to a store folder.

use crate::args::check_local;
use crate::exit::Failure;
use crate::hints::word;
use karat_store::{FOLDER, Store};
use std::path::{Path, PathBuf};

/// The store folder: the flag, else `KARAT_STORE`, else the nearest store in a parent folder, else the default for a new one.
pub(crate) fn folder(stated: Option<&Path>) -> PathBuf {
    let Some(folder) = stated.map(Path::to_owned).or_else(variable) else {
        return Store::locate(Path::new(".")).unwrap_or_else(|| PathBuf::from(FOLDER));
    };
    // The flag may name the store, or the folder that contains it.
    let within = folder.join(FOLDER);
    if !Store::is_at(&folder) && Store::is_at(&within) { within } else { folder }
}

/// Refuses a URL in `KARAT_STORE`, as the command line refuses one in `--store`.
pub(crate) fn check_variable() -> Result<(), Failure> {
    let Some(folder) = variable() else { return Ok(()) };
    check_local(&folder).map_err(|why| Failure::usage(format!("KARAT_STORE={}: {why}", folder.display())))
}

fn variable() -> Option<PathBuf> {
    std::env::var_os("KARAT_STORE").filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Opens the store, which must exist.
pub(crate) fn open(stated: Option<&Path>) -> Result<Store, Failure> {
    Ok(Store::open(&folder(stated))?)
}

/// The flag with which another command finds the same store; empty if none is needed.
pub(crate) fn flag(stated: Option<&Path>) -> String {
    stated.map(|folder| format!(" --store {}", word(&folder.display().to_string()))).unwrap_or_default()
}

/// Whether an argument names a run: a store exists, and no file, folder or built-in suite has this name. An argument that looks
/// like a file path is a run only if the store has a run of this name.
pub(crate) fn names_run(text: &str, stated: Option<&Path>) -> bool {
    let is_there = Path::new(text).exists() || karat_format::shipped_suites::embedded(text).is_some();
    if is_there || !Store::is_at(&folder(stated)) {
        return false;
    }
    !reads_as_file(text) || open(stated).is_ok_and(|mut store| store.find(text).is_ok())
}

fn reads_as_file(text: &str) -> bool {
    let extension = Path::new(text).extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    text.contains(std::path::is_separator) || ["json", "jsonl"].iter().any(|own| extension.eq_ignore_ascii_case(own))
}
