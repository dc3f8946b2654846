//! Resolves `--store` and `KARAT_STORE` to a store folder.

use crate::args::{StorePlace, check_local};
use crate::exit::{Failure, Result};
use crate::terminal::word;
use karat_store::{FOLDER, Store};
use std::path::{Path, PathBuf};

impl StorePlace {
    /// The store folder: the flag, else `KARAT_STORE`, else the nearest store in a parent folder, else the default for a new one.
    pub(crate) fn path(&self) -> PathBuf {
        let Some(folder) = self.folder.clone().or_else(variable) else {
            return Store::locate(Path::new(".")).unwrap_or_else(|| PathBuf::from(FOLDER));
        };
        // The flag may name the store, or the folder that contains it.
        let within = folder.join(FOLDER);
        if !Store::is_at(&folder) && Store::is_at(&within) { within } else { folder }
    }

    pub(crate) fn open(&self) -> Result<Store> {
        Ok(Store::open(&self.path())?)
    }

    /// The flag with which another command finds the same store; empty if none is needed.
    pub(crate) fn flag(&self) -> String {
        self.folder
            .as_ref()
            .map(|folder| format!(" --store {}", word(&folder.display().to_string())))
            .unwrap_or_default()
    }
}

/// Refuses a URL in `KARAT_STORE`, as the command line refuses one in `--store`.
pub(crate) fn check_variable() -> Result<()> {
    let Some(folder) = variable() else { return Ok(()) };
    check_local(&folder).map_err(|why| Failure::usage(format!("KARAT_STORE={}: {why}", folder.display())))
}

fn variable() -> Option<PathBuf> {
    std::env::var_os("KARAT_STORE").filter(|value| !value.is_empty()).map(PathBuf::from)
}
