//! Unpacked suites of runs, kept for all workers of a machine so that none is fetched again for every run.
//!
//! A suite is unpacked beside its place and renamed, so that what is there is whole. A lock beside it is shared by whoever uses
//! it, and held alone by whoever unpacks or removes it.

use crate::failure::{Failure, Result};
use karat_io::cancel::Cancel;
use karat_io::remove_tree::remove_tree;
use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A suite that was not used for so long is removed.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

const PAUSE: Duration = Duration::from_millis(50);

/// A suite that nobody removes while this is there.
pub(super) struct CachedSuite {
    pub(super) folder: PathBuf,
    lock_file: PathBuf,
    _lock: File,
}

impl CachedSuite {
    /// The suite whose parts have this hash. `unpack` writes it into an empty folder where it is not there yet.
    pub(super) fn open(
        parent: &Path,
        hash: &str,
        cancel: &Cancel,
        unpack: &mut dyn FnMut(&Path) -> Result<()>,
    ) -> Result<Self> {
        let failed = |error: io::Error| Failure::io(parent.display(), error);
        private_folder(parent).map_err(failed)?;
        let (folder, lock_file) = (parent.join(hash), parent.join(format!("{hash}.lock")));
        loop {
            let lock = take_lock(&lock_file, File::try_lock_shared, cancel).map_err(failed)?;
            if folder.is_dir() {
                return Ok(Self { folder, lock_file, _lock: lock });
            }
            drop(lock);
            let _alone = take_lock(&lock_file, File::try_lock, cancel).map_err(failed)?;
            if !folder.is_dir() {
                let part = parent.join(format!("{hash}.part"));
                // Whoever began it was killed.
                remove_if_there(&part).map_err(failed)?;
                private_folder(&part).map_err(failed)?;
                unpack(&part)?;
                fs::rename(&part, &folder).map_err(failed)?;
            }
        }
    }

    /// Removes a suite that is not what it should be, unless others use it.
    pub(super) fn discard(self) {
        let Self { folder, lock_file, _lock: lock } = self;
        drop(lock);
        remove_unused(&folder, &lock_file);
    }
}

/// Removes suites that were not used for long.
pub(super) fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let lock_file = entry.path();
        let used = entry.metadata().and_then(|meta| meta.modified());
        let is_old = used.is_ok_and(|used| used.elapsed().is_ok_and(|age| age > KEPT));
        if is_old && lock_file.extension().is_some_and(|extension| extension == "lock") {
            remove_unused(&lock_file.with_extension(""), &lock_file);
        }
    }
}

/// What cannot be removed now is removed later.
fn remove_unused(folder: &Path, lock_file: &Path) {
    let Ok(lock) = File::open(lock_file) else { return };
    if lock.try_lock().is_ok() && is_still(&lock, lock_file) {
        let part = folder.with_extension("part");
        if remove_if_there(folder).and_then(|()| remove_if_there(&part)).is_ok() {
            let _ = fs::remove_file(lock_file);
        }
    }
}

/// Locks a file, which it creates, and notes that it was used now.
fn take_lock(path: &Path, lock: fn(&File) -> Result<(), TryLockError>, cancel: &Cancel) -> io::Result<File> {
    loop {
        let file = File::options().create(true).truncate(false).write(true).open(path)?;
        match lock(&file) {
            // Removed between opening and locking, it would exclude nobody.
            Ok(()) if is_still(&file, path) => {
                file.set_modified(SystemTime::now())?;
                return Ok(file);
            }
            Ok(()) => {}
            Err(TryLockError::WouldBlock) if cancel.sleep(PAUSE) => {}
            Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::Interrupted.into()),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

fn is_still(file: &File, path: &Path) -> bool {
    let (Ok(own), Ok(there)) = (file.metadata(), path.metadata()) else { return false };
    own.dev() == there.dev() && own.ino() == there.ino()
}

fn private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn remove_if_there(folder: &Path) -> io::Result<()> {
    if folder.exists() { remove_tree(folder) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn open(parent: &Path, hash: &str, unpacked: &AtomicUsize) -> Result<CachedSuite> {
        CachedSuite::open(parent, hash, &Cancel::default(), &mut |folder| {
            unpacked.fetch_add(1, Ordering::SeqCst);
            fs::write(folder.join("karat.toml"), hash).map_err(|error| Failure::io("a suite", error))
        })
    }

    #[test]
    fn suite_is_unpacked_once_for_all() {
        let parent = tempfile::tempdir().unwrap();
        let parent = parent.path().join("suites");
        let unpacked = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let suite = open(&parent, "0a", &unpacked).unwrap();
                    assert_eq!(fs::read_to_string(suite.folder.join("karat.toml")).unwrap(), "0a");
                });
            }
        });
        assert_eq!(unpacked.load(Ordering::SeqCst), 1);
        // What a killed worker began is not used.
        let part = parent.join("0b.part");
        fs::create_dir(&part).unwrap();
        fs::write(part.join("other"), "").unwrap();
        let suite = open(&parent, "0b", &unpacked).unwrap();
        assert!(!suite.folder.join("other").exists() && !part.exists());
        // What is not as it should be is fetched again.
        suite.discard();
        assert!(!parent.join("0b").exists());
        open(&parent, "0b", &unpacked).unwrap();
        assert_eq!(unpacked.load(Ordering::SeqCst), 3);
    }

    #[test]
    fn failed_unpacking_leaves_nothing_to_use() {
        let parent = tempfile::tempdir().unwrap();
        let mut fail = |_: &Path| Err(Failure::failed("no"));
        assert!(CachedSuite::open(parent.path(), "0a", &Cancel::default(), &mut fail).is_err());
        let unpacked = AtomicUsize::new(0);
        open(parent.path(), "0a", &unpacked).unwrap();
        assert_eq!(unpacked.into_inner(), 1);
    }

    #[test]
    fn only_what_nobody_used_for_long_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let unpacked = AtomicUsize::new(0);
        let used = open(parent.path(), "0a", &unpacked).unwrap();
        drop(open(parent.path(), "0b", &unpacked).unwrap());
        drop(open(parent.path(), "0c", &unpacked).unwrap());
        for old in ["0a", "0b"] {
            let lock = File::options().write(true).open(parent.path().join(format!("{old}.lock"))).unwrap();
            lock.set_modified(SystemTime::now() - 2 * KEPT).unwrap();
        }
        sweep(parent.path());
        let there = |hash: &str| parent.path().join(hash).exists();
        assert_eq!([there("0a"), there("0b"), there("0c")], [true, false, true]);
        drop(used);
    }
}
