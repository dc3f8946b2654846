//! The folder in which the trials of a run take place. It goes when the run ends, and when it could not, with the next run.

use crate::checkout::remove_tree;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Such folders are called so, and a number after it.
const PREFIX: &str = "karat-run-";
/// Held while the folder is in use; the system lets go of it when the process ends, however it ends.
const LOCK: &str = "lock";

/// A folder for the time of a run.
pub struct Scratch {
    folder: PathBuf,
    _lock: File,
}

impl Scratch {
    /// Makes one below `parent`, and removes those there that nobody holds any more.
    pub fn make(parent: &Path) -> io::Result<Self> {
        sweep(parent);
        let moment = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_nanos());
        let folder = parent.join(format!("{PREFIX}{}-{moment:x}", std::process::id()));
        // Under root, tools run as another user, who must be able to pass to the folder of a trial without listing the others.
        let mode = if rustix::process::geteuid().is_root() { 0o711 } else { 0o700 };
        DirBuilder::new().mode(mode).create(&folder)?;
        let folder = folder.canonicalize()?;
        let lock = File::create_new(folder.join(LOCK))?;
        lock.lock()?;
        Ok(Self { folder, _lock: lock })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed now is tried again by the next run.
        let _ = remove_tree(&self.folder);
    }
}

/// Removes what runs left behind that were killed. A folder without a lock file may be one that is just being made.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if !entry.file_name().to_string_lossy().starts_with(PREFIX)
            || !entry.file_type().is_ok_and(|kind| kind.is_dir())
        {
            continue;
        }
        let Ok(lock) = File::open(entry.path().join(LOCK)) else { continue };
        if lock.try_lock().is_ok() {
            let _ = remove_tree(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nobody_holds_is_swept() {
        let parent = tempfile::tempdir().unwrap();
        let held = Scratch::make(parent.path()).unwrap();
        let left = parent.path().join(format!("{PREFIX}1-2"));
        fs::create_dir_all(left.join("0/checkout")).unwrap();
        fs::write(left.join(LOCK), "").unwrap();
        let foreign = parent.path().join("karat-runner");
        fs::create_dir(&foreign).unwrap();
        let next = Scratch::make(parent.path()).unwrap();
        assert!(!left.exists() && held.path().exists() && foreign.exists());
        let path = next.path().to_owned();
        drop(next);
        assert!(!path.exists());
    }
}
