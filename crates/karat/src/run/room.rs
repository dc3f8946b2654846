//! Room on the disk that trials share. Where it is used up, the trial that used it ends, and the others go on.

use karat_io::cancel::Cancel;
use karat_sandbox::DiskUsage;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// With less room than this on the disk for trials, a failure says nothing about the tool.
const LEAST: u64 = 1 << 20;
/// How long a trial may take to be gone once it was told so.
const PATIENCE: Duration = Duration::from_secs(30);

/// The room that is left in the folder of all trials, and who takes it up.
pub(super) struct Room {
    folder: PathBuf,
    /// What was free when the run began; `None` if unknown.
    at_first: Option<u64>,
    trials: Mutex<BTreeMap<PathBuf, Cancel>>,
    /// Held by who makes room, so that one full disk ends one trial.
    making: Mutex<()>,
}

/// A trial that takes up room, until this is dropped.
pub(super) struct Occupied<'a> {
    room: &'a Room,
    folder: PathBuf,
}

impl Drop for Occupied<'_> {
    fn drop(&mut self) {
        locked(&self.room.trials).remove(&self.folder);
    }
}

impl Room {
    pub(super) fn new(folder: &Path) -> Self {
        let at_first = free(folder);
        Self { folder: folder.to_owned(), at_first, trials: Mutex::default(), making: Mutex::default() }
    }

    /// Makes a trial known, with the way to end it.
    pub(super) fn occupy(&self, folder: &Path, end: &Cancel) -> Occupied<'_> {
        locked(&self.trials).insert(folder.to_owned(), end.clone());
        Occupied { room: self, folder: folder.to_owned() }
    }

    /// Whether trials can still write. If unknown, they can.
    pub(super) fn is_left(&self) -> bool {
        free(&self.folder).is_none_or(|free| free >= LEAST)
    }

    /// Whether the disk is full because of this trial.
    pub(super) fn is_used_up_by(&self, folder: &Path) -> bool {
        !self.is_left() && self.culprit().is_some_and(|culprit| culprit == folder)
    }

    /// Sees that there is room: ends the trial that used it up and waits until it is gone. `false` where no trial did.
    pub(super) fn make(&self, cancel: &Cancel) -> bool {
        let _alone = locked(&self.making);
        if self.is_left() {
            return true;
        }
        let Some(culprit) = self.culprit() else { return false };
        if let Some(end) = locked(&self.trials).get(&culprit) {
            end.cancel();
        }
        let begun = Instant::now();
        while locked(&self.trials).contains_key(&culprit) && begun.elapsed() < PATIENCE && !cancel.is_cancelled() {
            std::thread::sleep(Duration::from_millis(20));
        }
        self.is_left()
    }

    /// The trial with the largest folder, where trials together took up more than half of what was free at first. With less,
    /// somebody else filled the disk.
    fn culprit(&self) -> Option<PathBuf> {
        let folders: Vec<PathBuf> = locked(&self.trials).keys().cloned().collect();
        let sizes: Vec<(u64, PathBuf)> =
            folders.into_iter().map(|folder| (DiskUsage::total(&folder), folder)).collect();
        let all = sizes.iter().map(|(size, _)| size).sum::<u64>();
        let largest = sizes.into_iter().max()?;
        (all >= self.at_first? / 2).then_some(largest.1)
    }
}

/// Bytes that can be written; none where no file can be made.
fn free(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    // Some file systems have no fixed number of files, and say that there are none at all.
    let files = disk.f_files == 0 || disk.f_favail > 0;
    Some(if files { disk.f_bavail.saturating_mul(disk.f_frsize) } else { 0 })
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
