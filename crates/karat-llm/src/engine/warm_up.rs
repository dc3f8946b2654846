//! Sends the first questions to a provider one at a time until one is answered, so that what the provider refuses is learned once,
//! and a provider that answers nothing is not sent everything.

use super::options::StartMode;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};

/// Give up after this many consecutive questions failed with the same message and none was answered.
const MAX_EQUAL_FAILURES: u64 = 3;
/// Give up after this many questions failed and none was answered.
const MAX_FAILURES: u64 = 20;
/// Give up after this many answers of which none could be read.
const MAX_UNREADABLE: u64 = 20;
/// A request that was not refused within this time is being answered, so nobody needs to wait for it any longer.
const ASSUME_ACCEPTED: Duration = Duration::from_secs(5);

pub(super) struct WarmUp {
    mode: StartMode,
    turn: Semaphore,
    history: Mutex<History>,
}

#[derive(Default)]
struct History {
    /// Whether all questions may be sent at once.
    open: bool,
    any_reply: bool,
    /// Whether a request failed before any reply came.
    any_failed_request: bool,
    /// Questions that failed before any was answered.
    failed: u64,
    last_message: String,
    /// How many questions in a row failed with the last message.
    equal_failures: u64,
    /// Whether a question went unanswered after all its retries.
    retries_exhausted: bool,
    unreadable: u64,
    last_unreadable: String,
    any_readable: bool,
}

impl WarmUp {
    pub(super) fn new(mode: StartMode) -> Self {
        Self { mode, turn: Semaphore::new(1), history: Mutex::default() }
    }

    /// Waits until a question may be sent. During warm-up, the permit keeps others waiting.
    pub(super) async fn enter(&self) -> Option<SemaphorePermit<'_>> {
        while !self.history().open {
            match tokio::time::timeout(ASSUME_ACCEPTED, self.turn.acquire()).await {
                // The semaphore is never closed.
                Ok(turn) => return turn.ok().filter(|_| !self.history().open),
                Err(_) if self.history().any_failed_request => {}
                Err(_) => self.history().open = true,
            }
        }
        None
    }

    pub(super) fn record_reply(&self) {
        let mut history = self.history();
        history.any_reply = true;
        history.open = true;
    }

    pub(super) fn record_failed_request(&self) {
        self.history().any_failed_request = true;
    }

    pub(super) fn record_failed_question(&self, message: &str, retries_exhausted: bool) {
        let mut history = self.history();
        if history.any_reply && self.mode == StartMode::Cautious {
            return;
        }
        // Where each question is a result of its own, an unanswered one says nothing about the others.
        if self.mode == StartMode::Cautious || !retries_exhausted {
            history.failed += 1;
            history.equal_failures = if history.last_message == message { history.equal_failures + 1 } else { 1 };
            message.clone_into(&mut history.last_message);
        }
        history.retries_exhausted |= retries_exhausted;
        history.open |= self.mode == StartMode::Independent;
    }

    pub(super) fn record_readable(&self) {
        self.history().any_readable = true;
    }

    pub(super) fn record_unreadable(&self, why: &str) {
        let mut history = self.history();
        history.unreadable += 1;
        why.clone_into(&mut history.last_unreadable);
    }

    /// Whether a failed request is worth retrying: not when another question has just used up its retries.
    pub(super) fn may_retry(&self) -> bool {
        let history = self.history();
        self.mode == StartMode::Independent || history.any_reply || !history.retries_exhausted
    }

    /// Why nothing more is sent, when the first questions all failed.
    pub(super) fn give_up_reason(&self) -> Option<String> {
        let history = self.history();
        if history.any_readable {
            return None;
        }
        let History { failed, equal_failures, last_message, unreadable, last_unreadable, .. } = &*history;
        let all_failed = || format!("the first questions all failed ({failed} so far), the last one: {last_message}");
        if self.mode == StartMode::Independent {
            return (*failed >= MAX_FAILURES && *unreadable == 0).then(all_failed);
        }
        if *equal_failures >= MAX_EQUAL_FAILURES || *failed >= MAX_FAILURES {
            return Some(all_failed());
        }
        (*unreadable >= MAX_UNREADABLE)
            .then(|| format!("none of the first {unreadable} answers could be read, and the next run asks them again; the last one: {last_unreadable}"))
    }

    fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
