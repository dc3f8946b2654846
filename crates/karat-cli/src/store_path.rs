//! Resolves `--store` and `KARAT_STORE` to a store folder.

use crate::args::{StorePlace, check_local};
use crate::exit::Failure;
use crate::hints::word;
use karat_store::{FOLDER, Store};
use std::path::{Path, PathBuf};

impl StorePlace {
    /// The store folder.
    pub(crate) fn path(&self) -> PathBuf {
        folder(self.folder.as_deref())
    }

    /// Opens the store, which must exist.
    pub(crate) fn open(&self) -> Result<Store, Failure> {
        Ok(Store::open(&self.path())?)
    }

    /// The flag with which another command finds the same store; empty if none is needed.
    pub(crate) fn flag(&self) -> String {
        flag(self.folder.as_deref())
    }
}

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

/// The flag with which another command finds the same store; empty if none is needed.
pub(crate) fn flag(stated: Option<&Path>) -> String {
    stated.map(|folder| format!(" --store {}", word(&folder.display().to_string()))).unwrap_or_default()
}
