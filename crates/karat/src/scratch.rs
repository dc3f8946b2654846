//! The folder in which the trials of a run take place. It goes when the run ends, and when it could not, with the next run.

use crate::failure::{Failure, Result};
use karat_io::remove_tree::remove_tree;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

/// Such folders are called so, and a number after it.
const PREFIX: &str = "karat-run-";
/// What they are called until they are locked.
const UNLOCKED: &str = "karat-unlocked-";
/// Held while the folder is in use; the system lets go of it when the process ends, however it ends.
const LOCK: &str = "lock";

static NEXT: AtomicUsize = AtomicUsize::new(0);

/// A folder for the time of a run.
pub(crate) struct Scratch {
    pub(crate) path: PathBuf,
    _lock: File,
}

impl Scratch {
    /// Makes one below `parent`, and removes those there that nobody holds any more.
    fn make(parent: &Path) -> io::Result<Self> {
        sweep(parent);
        let moment = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_nanos());
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{moment:x}-{number}", std::process::id());
        // It has another name until it is locked: what nobody has locked is removed by others.
        let unlocked = parent.join(format!("{UNLOCKED}{name}"));
        // Under root, tools run as another user, who must be able to pass to the folder of a trial without listing the others.
        let mode = if rustix::process::geteuid().is_root() { 0o711 } else { 0o700 };
        DirBuilder::new().mode(mode).create(&unlocked)?;
        let lock = File::create_new(unlocked.join(LOCK))?;
        lock.lock()?;
        let folder = parent.join(format!("{PREFIX}{name}"));
        fs::rename(&unlocked, &folder)?;
        Ok(Self { path: folder.canonicalize()?, _lock: lock })
    }
}

/// Makes one in the system's folder for temporary files.
pub(crate) fn make_scratch() -> Result<Scratch> {
    let parent = std::env::temp_dir();
    Scratch::make(&parent).map_err(|error| {
        let parent = parent.display();
        Failure::failed(format!("could not create a folder for trials in {parent}: {error}; set TMPDIR to use another"))
    })
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed now is tried again by the next run.
        let _ = remove_tree(&self.path);
    }
}

/// Removes what runs left behind that were killed.
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
    fn a_folder_that_is_being_made_is_not_swept() {
        let parent = tempfile::tempdir().unwrap();
        let made_by_many = || {
            for _ in 0..200 {
                let own = Scratch::make(parent.path()).unwrap();
                assert!(own.path.join(LOCK).exists());
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(made_by_many);
            }
        });
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

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
        assert!(!left.exists() && held.path.exists() && foreign.exists());
        let path = next.path.clone();
        drop(next);
        assert!(!path.exists());
    }
}
