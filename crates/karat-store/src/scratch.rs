//! Scratch folders of runs on this machine.
//!
//! A folder stays recorded until it is deleted, whatever happens to its run.

use super::tables::{RUNS, SCRATCH_FOLDERS};
use super::{Database, OnConflict, Result, RunId, Store, StoreError, Value};
use karat_io::remove_tree::remove_tree;
use std::io;
use std::path::{Path, PathBuf};

/// A file of this name, holding the run's id, marks a folder as scratch. Folders without it are never deleted.
const MARK: &str = ".karat-scratch";

impl Store {
    /// Sets the scratch folder of a run; the caller holds the run's lock or has just begun it. The folder is created and
    /// marked. Folders left by interrupted parts of the run are deleted; failures are left to garbage collection.
    pub fn set_scratch(&mut self, run: &RunId, scratch: Option<&Path>) -> Result<()> {
        let scratch = scratch.map(std::path::absolute).transpose();
        let scratch = scratch.map_err(|source| StoreError::Io { path: self.folder.clone(), source })?;
        if let Some(folder) = &scratch {
            std::fs::create_dir_all(folder)
                .and_then(|()| mark(folder, run))
                .map_err(|source| super::write_error(folder.clone(), source))?;
        }
        let text = scratch.as_ref().map(|folder| folder.to_string_lossy().into_owned());
        self.change(run, &[("scratch", text.clone().into())])?;
        // The folder stays recorded when the run is done with it: deleting it may fail.
        let (Some(folder), Some(text)) = (scratch, text) else { return Ok(()) };
        self.database.write_waiting(|database| {
            forget(database, &text)?;
            database.insert(&SCRATCH_FOLDERS, vec![vec![text.as_str().into(), run.into()]], OnConflict::Fail)
        })?;
        for (left, owner) in self.scratch_folders()? {
            if owner == *run && left != folder && discard(&left, run).is_ok() {
                self.forget_scratch(&left)?;
            }
        }
        Ok(())
    }

    pub(super) fn scratch_folders(&mut self) -> Result<Vec<(PathBuf, RunId)>> {
        let rows = self.database.select(&SCRATCH_FOLDERS, "ORDER BY folder", Vec::new())?;
        let mut folders = Vec::new();
        for row in rows {
            let folder = PathBuf::from(row.get::<&str>(0)?);
            // A malformed id marks nothing.
            folders.extend(RunId::parse(row.get(1)?).map(|run| (folder, run)));
        }
        Ok(folders)
    }

    pub(super) fn forget_scratch(&mut self, folder: &Path) -> Result<()> {
        let text = folder.to_string_lossy().into_owned();
        self.database.write_waiting(|database| {
            database.update(&RUNS, "WHERE scratch = $1", vec![text.as_str().into()], &[("scratch", Value::Null)])?;
            forget(database, &text)
        })
    }
}

fn forget(database: &mut Database, folder: &str) -> Result<()> {
    database.execute("DELETE FROM scratch_folders WHERE folder = $1", vec![folder.into()]).map(|_| ())
}

pub(super) fn is_marked(folder: &Path, run: &RunId) -> bool {
    let path = folder.join(MARK);
    // Do not wait on a pipe or device that a tool may have put there.
    let plain = path.symlink_metadata().is_ok_and(|there| there.is_file() && there.len() < 100);
    plain && std::fs::read_to_string(path).is_ok_and(|text| text == run.as_str())
}

pub(super) fn discard(folder: &Path, run: &RunId) -> io::Result<bool> {
    if !is_marked(folder, run) {
        return Ok(false);
    }
    remove_tree(folder).map(|()| true).inspect_err(|_| {
        // The mark may be gone while the rest is not; it is needed next time.
        let _ = mark(folder, run);
    })
}

fn mark(folder: &Path, run: &RunId) -> io::Result<()> {
    std::fs::write(folder.join(MARK), run.as_str())
}
