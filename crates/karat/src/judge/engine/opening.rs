//! The first questions to a provider. They are asked one at a time until one is answered: what the provider refuses is found
//! out once, and a provider that answers nothing is not asked everything.

use super::options::Start;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};

/// When so many questions in a row failed with the same words and none was answered, the rest would fail too.
const SAME_WORDS: u64 = 3;
/// When so many questions failed and none was answered, the rest would fail too, whatever the words.
const ANY_WORDS: u64 = 20;
/// A request that was not refused within this time is being answered, and nobody needs to wait for it any longer.
const THINKING: Duration = Duration::from_secs(5);
/// When so many answers came and none of them could be read, the rest could not be read either.
const UNREADABLE: u64 = 20;

pub(super) struct Opening {
    start: Start,
    turn: Semaphore,
    open: AtomicBool,
    failures: Mutex<Failures>,
}

#[derive(Default)]
struct Failures {
    /// Whether a reply came to any question.
    replied: bool,
    /// Whether a request failed before any reply came.
    stumbled: bool,
    /// Questions that failed before any was answered.
    failed: u64,
    /// The words of the last failure, and how many failed with them in a row.
    words: String,
    same: u64,
    /// Whether a question went unanswered after all its retries.
    tired: bool,
    /// Answers that could not be read, as long as none could.
    unreadable: u64,
    /// What was wrong with the last of them.
    unreadable_because: String,
    readable: bool,
}

impl Opening {
    pub(super) fn new(start: Start) -> Self {
        Self { start, turn: Semaphore::new(1), open: AtomicBool::new(false), failures: Mutex::default() }
    }

    /// Waits until this question may be asked. While nothing was answered, the permit keeps others from being asked.
    pub(super) async fn enter(&self) -> Option<SemaphorePermit<'_>> {
        while !self.is_open() {
            match tokio::time::timeout(THINKING, self.turn.acquire()).await {
                // The semaphore is never closed.
                Ok(turn) => return turn.ok().filter(|_| !self.is_open()),
                Err(_) if self.failures().stumbled => {}
                Err(_) => self.open(),
            }
        }
        None
    }

    /// A provider replied, so that all questions may be asked at once.
    pub(super) fn replied(&self) {
        self.failures().replied = true;
        self.open();
    }

    /// A request failed, whatever becomes of its question.
    pub(super) fn stumbled(&self) {
        self.failures().stumbled = true;
    }

    /// A question failed with these words; `tired` when that took all its retries.
    pub(super) fn failed(&self, words: &str, tired: bool) {
        let mut failures = self.failures();
        if failures.replied && self.start == Start::Cautious {
            return;
        }
        // Where each question is a result of its own, those that went unanswered say nothing about the others.
        if self.start == Start::Cautious || !tired {
            failures.failed += 1;
            failures.same = if failures.words == words { failures.same + 1 } else { 1 };
            words.clone_into(&mut failures.words);
        }
        failures.tired |= tired;
        drop(failures);
        if self.start == Start::Independent {
            self.open();
        }
    }

    /// An answer came and could be read.
    pub(super) fn readable(&self) {
        self.failures().readable = true;
    }

    /// An answer came and could not be read.
    pub(super) fn unreadable(&self, why: &str) {
        let mut failures = self.failures();
        failures.unreadable += 1;
        why.clone_into(&mut failures.unreadable_because);
    }

    /// Whether a request that failed is worth making again: not when another question has just failed in the same way often
    /// enough.
    pub(super) fn is_patient(&self) -> bool {
        let failures = self.failures();
        self.start == Start::Independent || failures.replied || !failures.tired
    }

    /// Why nothing more is asked, when the first questions all failed.
    pub(super) fn hopeless(&self) -> Option<String> {
        let failures = self.failures();
        if failures.readable {
            return None;
        }
        let Failures { failed, same, words, unreadable, unreadable_because, .. } = &*failures;
        if self.start == Start::Independent {
            return (*failed >= ANY_WORDS && *unreadable == 0)
                .then(|| format!("the first questions all failed ({failed} so far), the last one: {words}"));
        }
        if *same >= SAME_WORDS || *failed >= ANY_WORDS {
            return Some(format!("the first questions all failed ({failed} so far), the last one: {words}"));
        }
        (*unreadable >= UNREADABLE).then(|| {
            format!("none of the first {unreadable} answers could be read; the last one: {unreadable_because}")
        })
    }

    fn open(&self) {
        self.open.store(true, Ordering::Relaxed);
    }

    fn is_open(&self) -> bool {
        self.open.load(Ordering::Relaxed)
    }

    fn failures(&self) -> MutexGuard<'_, Failures> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
