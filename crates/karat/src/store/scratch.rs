//! Folders of this machine that runs use while they are worked on.
//!
//! Every folder is remembered until it is gone from the disk, whatever became of its run.

use super::Store;
use super::database::{Database, Taken, Value};
use super::error::StoreError;
use super::naming::RunId;
use super::tables::{RUNS, SCRATCH_FOLDERS};
use crate::checkout::remove_tree;
use std::io;
use std::path::{Path, PathBuf};

/// A file with this name marks a folder as scratch of the run whose id it holds.
const MARK: &str = ".karat-scratch";

impl Store {
    /// Says which folder of this machine a run uses while it is worked on; whoever says it holds the run's lock, or has just
    /// begun it. The folder is made and marked, since no folder without the mark is ever deleted. What earlier, interrupted
    /// parts of the run left behind is deleted; what cannot be deleted is left to garbage collection.
    pub fn set_scratch(&mut self, run: &RunId, scratch: Option<&Path>) -> Result<(), StoreError> {
        let scratch = scratch.map(std::path::absolute).transpose();
        let scratch = scratch.map_err(|source| StoreError::Io { path: self.folder.clone(), source })?;
        if let Some(folder) = &scratch {
            std::fs::create_dir_all(folder)
                .and_then(|()| mark(folder, run))
                .map_err(|source| super::unwritable(folder.clone(), source))?;
        }
        let text = scratch.as_ref().map(|folder| folder.to_string_lossy().into_owned());
        self.change(run, &[("scratch", text.clone().into())])?;
        // The folder in use stays remembered even when the run is done with it: deleting it may fail.
        let (Some(folder), Some(text)) = (scratch, text) else { return Ok(()) };
        self.database.insist(|database| {
            forget(database, &text)?;
            database.insert(&SCRATCH_FOLDERS, vec![vec![text.into(), run.into()]], Taken::Refuse)
        })?;
        for (left, owner) in self.scratch_folders()? {
            if owner == *run && left != folder && discard(&left, run).is_ok() {
                self.forget_scratch(&left)?;
            }
        }
        Ok(())
    }

    /// Every folder that may still be there, with the run it belongs or belonged to.
    pub(super) fn scratch_folders(&mut self) -> Result<Vec<(PathBuf, RunId)>, StoreError> {
        let rows = self.database.select(&SCRATCH_FOLDERS, "ORDER BY folder", Vec::new())?;
        let mut folders = Vec::new();
        for row in rows {
            let folder = PathBuf::from(row.text(0)?);
            // An id that is none marks nothing.
            folders.extend(RunId::parse(&row.text(1)?).map(|run| (folder, run)));
        }
        Ok(folders)
    }

    /// Remembers a folder no longer: it is gone, or it is somebody else's.
    pub(super) fn forget_scratch(&mut self, folder: &Path) -> Result<(), StoreError> {
        let text = folder.to_string_lossy().into_owned();
        self.database.insist(|database| {
            let unused = [("scratch", Value::Null)];
            database.update(&RUNS, "WHERE scratch = $1", vec![text.as_str().into()], &unused)?;
            forget(database, &text)
        })
    }
}

fn forget(database: &mut Database, folder: &str) -> Result<(), StoreError> {
    database.execute("DELETE FROM scratch_folders WHERE folder = $1", vec![folder.into()]).map(|_| ())
}

/// Whether a folder has the mark of a run. Without it, it is no folder of ours.
pub(super) fn is_marked(folder: &Path, run: &RunId) -> bool {
    let path = folder.join(MARK);
    // Whatever else a tool may have put there is not waited for.
    let plain = path.symlink_metadata().is_ok_and(|there| there.is_file() && there.len() < 100);
    plain && std::fs::read_to_string(path).is_ok_and(|text| text == run.as_str())
}

/// Deletes a folder that has the mark of a run, and tells whether there was one.
pub(super) fn discard(folder: &Path, run: &RunId) -> io::Result<bool> {
    if !is_marked(folder, run) {
        return Ok(false);
    }
    remove_tree(folder).map(|()| true).inspect_err(|_| {
        // The mark may be gone while the rest is not, and next time it is needed again.
        let _ = mark(folder, run);
    })
}

fn mark(folder: &Path, run: &RunId) -> io::Result<()> {
    std::fs::write(folder.join(MARK), run.as_str())
}
