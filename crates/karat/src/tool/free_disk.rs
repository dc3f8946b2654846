//! Free space on the disk that trials share. When it is used up, the trial that used it is ended, and the others go on.

use karat_io::cancel::Cancel;
use karat_sandbox::DiskUsage;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// With less free space than this, a failure says nothing about the tool.
const MIN_FREE: u64 = 1 << 20;
/// How long a cancelled trial may take to end.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// The free space in the folder of all trials, and the trials that use it.
pub(crate) struct FreeDisk {
    folder: PathBuf,
    /// What was free when the run began; `None` if unknown.
    at_first: Option<u64>,
    trials: Mutex<BTreeMap<PathBuf, Cancel>>,
    /// Locked while room is made, so that one full disk ends one trial.
    making: Mutex<()>,
}

/// A trial that is known to use space, until this is dropped.
pub(super) struct Occupied<'a> {
    room: &'a FreeDisk,
    folder: PathBuf,
}

impl Drop for Occupied<'_> {
    fn drop(&mut self) {
        locked(&self.room.trials).remove(&self.folder);
    }
}

impl FreeDisk {
    pub(super) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), at_first: free(folder), trials: Mutex::default(), making: Mutex::default() }
    }

    pub(super) fn occupy(&self, folder: &Path, end: &Cancel) -> Occupied<'_> {
        locked(&self.trials).insert(folder.to_owned(), end.clone());
        Occupied { room: self, folder: folder.to_owned() }
    }

    /// Whether trials can still write. If unknown, they can.
    pub(super) fn is_left(&self) -> bool {
        free(&self.folder).is_none_or(|free| free >= MIN_FREE)
    }

    pub(super) fn is_used_up_by(&self, folder: &Path) -> bool {
        !self.is_left() && self.culprit().is_some_and(|culprit| culprit == folder)
    }

    /// Makes room: ends the trial that used it up and waits for its end. `false` if no trial did.
    pub(crate) fn make(&self, cancel: &Cancel) -> bool {
        let _alone = locked(&self.making);
        if self.is_left() {
            return true;
        }
        let Some(culprit) = self.culprit() else { return false };
        if let Some(end) = locked(&self.trials).get(&culprit) {
            end.cancel();
        }
        let begun = Instant::now();
        while locked(&self.trials).contains_key(&culprit) && begun.elapsed() < MAX_WAIT && !cancel.is_cancelled() {
            std::thread::sleep(Duration::from_millis(20));
        }
        self.is_left()
    }

    /// The trial with the largest folder, unless something else than trials filled the disk.
    fn culprit(&self) -> Option<PathBuf> {
        let folders: Vec<PathBuf> = locked(&self.trials).keys().cloned().collect();
        let sizes: Vec<u64> = folders.iter().map(|folder| DiskUsage::total(folder)).collect();
        let used: u64 = sizes.iter().sum();
        let (_, largest) = sizes.into_iter().zip(folders).max()?;
        (used >= self.at_first? / 2).then_some(largest)
    }
}

/// Bytes that can be written; none if no file can be created.
pub(crate) fn free(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    // File systems without a fixed number of files report 0 of 0.
    let files = disk.f_files == 0 || disk.f_favail > 0;
    Some(if files { disk.f_bavail.saturating_mul(disk.f_frsize) } else { 0 })
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
