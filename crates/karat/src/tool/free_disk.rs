//! Free space on the disk that trials share. When it is used up, the trial that used it is ended, and the others go on.

use karat_io::cancel::Cancel;
use karat_sandbox::DiskUsage;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// With less free space than this, a failure says nothing about the tool.
const MIN_FREE: u64 = 1 << 20;
/// How long a cancelled trial may take to end.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// How long to wait for trials that are ending, where none is to blame for a full disk.
const MAX_ENDING: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(20);
/// How often something is tried again on a full disk although no trial was ended.
const MAX_RESTARTS: usize = 3;
/// How often it is tried again at all: two trials whose checkouts do not fit beside each other could end each other for ever.
const MAX_REPEATS: usize = 1000;

/// The free space in the folder of all trials, and the trials that use it.
pub(crate) struct FreeDisk {
    folder: PathBuf,
    /// What was free when the run began; `None` if unknown.
    at_first: Option<u64>,
    trials: Mutex<BTreeMap<PathBuf, Cancel>>,
    /// Locked while room is made, so that one full disk ends one trial.
    making: Mutex<()>,
    /// How many trials were ended.
    ended: AtomicUsize,
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
        Self {
            folder: folder.to_owned(),
            at_first: free(folder),
            trials: Mutex::default(),
            making: Mutex::default(),
            ended: AtomicUsize::new(0),
        }
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

    /// Does something, and again as long as the disk is full and the trials that filled it can be ended.
    pub(crate) fn repeat<T, E>(
        &self,
        cancel: &Cancel,
        is_disk_full: impl Fn(&E) -> bool,
        mut work: impl FnMut() -> Result<T, E>,
    ) -> Result<T, E> {
        let mut restarts = 0;
        for _ in 0..MAX_REPEATS {
            let ended = self.ended.load(Ordering::Relaxed);
            let done = work();
            if !done.as_ref().is_err_and(&is_disk_full) || cancel.is_cancelled() {
                return done;
            }
            let has_room = self.make(cancel);
            // The next trial may have filled the disk again at once.
            if self.ended.load(Ordering::Relaxed) == ended {
                restarts += 1;
                if !has_room || restarts > MAX_RESTARTS {
                    return done;
                }
            }
        }
        work()
    }

    /// Makes room: ends the trial that used it up and waits for its end. `false` if no trial did.
    fn make(&self, cancel: &Cancel) -> bool {
        let _alone = locked(&self.making);
        let begun = Instant::now();
        let culprit = loop {
            if self.is_left() {
                return true;
            }
            match self.culprit() {
                Some(culprit) => break culprit,
                // The folder of a trial that has ended may be half removed.
                None if begun.elapsed() < MAX_ENDING && !cancel.is_cancelled() => std::thread::sleep(LOOK),
                None => return false,
            }
        };
        let Some(end) = locked(&self.trials).get(&culprit).cloned() else { return true };
        end.cancel();
        while locked(&self.trials).contains_key(&culprit) {
            if begun.elapsed() > MAX_WAIT || cancel.is_cancelled() {
                return false;
            }
            std::thread::sleep(LOOK);
        }
        self.ended.fetch_add(1, Ordering::Relaxed);
        true
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_full_disk_prevents_is_repeated_while_trials_are_ended() {
        let folder = tempfile::tempdir().unwrap();
        let room = FreeDisk::new(folder.path());
        let tries = |greedy: usize, outcome: Result<(), bool>| {
            let mut tries = 0;
            let result = room.repeat(
                &Cancel::default(),
                |full: &bool| *full,
                || {
                    tries += 1;
                    if tries > greedy {
                        return outcome;
                    }
                    room.ended.fetch_add(1, Ordering::Relaxed);
                    Err(true)
                },
            );
            assert_eq!(result, outcome);
            tries
        };
        assert_eq!(tries(0, Ok(())), 1);
        assert_eq!(tries(0, Err(false)), 1, "an error of another kind");
        assert_eq!(tries(20, Ok(())), 21, "more trials than it is repeated for without any");
        assert_eq!(tries(2, Err(true)), 2 + 1 + MAX_RESTARTS);
        assert_eq!(tries(MAX_REPEATS, Err(true)), MAX_REPEATS + 1, "trials that end each other");
    }
}
