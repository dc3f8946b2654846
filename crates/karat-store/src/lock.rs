//! The lock of a run: one process at a time works on it. In a folder it is a locked file, on a server a lease.

use super::lease::Lease;
use super::{LOCKS, Result, RunId, RunInfo, RunState, Store, StoreError, write_error};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The lock of a run, released when dropped or when the process ends; on a server at the latest 30 seconds after that.
#[derive(Debug)]
pub struct RunLock(Held);

#[derive(Debug)]
enum Held {
    File { path: PathBuf, _file: File },
    Lease(Lease),
}

impl Store {
    /// Locks a run; fails if another process holds the lock.
    pub fn lock(&self, run: &RunId) -> Result<RunLock> {
        if let Some(leases) = &self.leases {
            let lease = leases.take(run)?.ok_or_else(|| self.busy(run))?;
            return Ok(RunLock(Held::Lease(lease)));
        }
        let path = self.lock_path(run);
        let failed = |source| write_error(path.clone(), source);
        std::fs::create_dir_all(self.folder.join(LOCKS)).map_err(failed)?;
        // A process that only checks the lock holds it for a moment.
        for _ in 0..25 {
            let mut file =
                OpenOptions::new().create(true).truncate(false).read(true).write(true).open(&path).map_err(failed)?;
            match file.try_lock() {
                Ok(()) if is_still(&file, &path) => {
                    // For the other process's message; the lock does not need it.
                    let _ = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
                    return Ok(RunLock(Held::File { path, _file: file }));
                }
                // Deleted between opening and locking: this lock would exclude nobody.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(20)),
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
        }
        Err(self.busy(run))
    }

    /// Whether a process is working on a run.
    pub fn is_locked(&self, run: &RunId) -> bool {
        if let Some(leases) = &self.leases {
            return leases.holder(run).is_ok_and(|holder| holder.is_some());
        }
        File::open(self.lock_path(run))
            .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Whether a process is working on a run; an error where a server does not say.
    pub(super) fn is_surely_locked(&self, run: &RunId) -> Result<bool> {
        match &self.leases {
            Some(leases) => Ok(leases.holder(run)?.is_some()),
            None => Ok(self.is_locked(run)),
        }
    }

    /// The state of a run in a word: a running one without a process was interrupted, and a complete one without any report failed.
    pub fn state_word(&self, run: &RunInfo) -> &'static str {
        match run.state {
            RunState::Running if !self.is_locked(&run.id) => "interrupted",
            RunState::Complete if run.is_failed() => "failed",
            // An assessment that could not ask about everything.
            RunState::Stopped if run.has_report => "incomplete",
            state => state.as_str(),
        }
    }

    pub(super) fn busy(&self, run: &RunId) -> StoreError {
        let holder = match &self.leases {
            Some(leases) => leases.holder(run).ok().flatten(),
            None => self.file_holder(run),
        };
        StoreError::Busy { run: run.to_string(), holder: holder.unwrap_or_else(|| "another process".to_owned()) }
    }

    fn file_holder(&self, run: &RunId) -> Option<String> {
        let mut text = String::new();
        let read = File::open(self.lock_path(run)).and_then(|file| file.take(20).read_to_string(&mut text));
        read.ok().and_then(|_| text.parse::<u32>().ok()).map(|process| format!("process {process}"))
    }

    fn lock_path(&self, run: &RunId) -> PathBuf {
        self.folder.join(LOCKS).join(format!("{run}.lock"))
    }
}

impl RunLock {
    /// Whether it still excludes others. A lease ends when the server cannot be reached in time.
    pub fn is_held(&self) -> bool {
        match &self.0 {
            Held::File { .. } => true,
            Held::Lease(lease) => lease.is_held(),
        }
    }

    pub(super) fn remove(self) {
        if let Held::File { path, .. } = &self.0 {
            // A leftover file does no harm.
            let _ = std::fs::remove_file(path);
        }
    }
}

#[cfg(unix)]
fn is_still(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(own), Ok(there)) = (file.metadata(), path.metadata()) else { return false };
    own.dev() == there.dev() && own.ino() == there.ino()
}

#[cfg(not(unix))]
fn is_still(_: &File, _: &Path) -> bool {
    true
}
