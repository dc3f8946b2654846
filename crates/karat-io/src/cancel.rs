//! Cancellation of running work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often a sleeper looks whether it was cancelled.
const LOOK: Duration = Duration::from_millis(20);

/// A request to stop, shared by everything that should stop.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    own: Arc<AtomicBool>,
    parent: Option<Arc<AtomicBool>>,
}

impl Cancel {
    /// Asks everything that holds this to stop.
    pub fn cancel(&self) {
        self.own.store(true, Ordering::Relaxed);
    }

    /// Whether this or its parent was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled_itself() || self.parent.as_ref().is_some_and(|parent| parent.load(Ordering::Relaxed))
    }

    /// Whether this itself was cancelled, rather than its parent.
    pub fn is_cancelled_itself(&self) -> bool {
        self.own.load(Ordering::Relaxed)
    }

    /// Sleeps unless it is cancelled; whether the whole time has passed.
    pub fn sleep(&self, time: Duration) -> bool {
        let began = Instant::now();
        while !self.is_cancelled() {
            let left = time.saturating_sub(began.elapsed());
            if left.is_zero() {
                return true;
            }
            std::thread::sleep(left.min(LOOK));
        }
        false
    }

    /// A request that is also cancelled by this one, but not the other way round.
    pub fn child(&self) -> Self {
        Self { own: Arc::default(), parent: Some(Arc::clone(&self.own)) }
    }
}

impl From<Arc<AtomicBool>> for Cancel {
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self { own: flag, parent: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_ends_when_it_is_cancelled() {
        let cancel = Cancel::default();
        assert!(cancel.sleep(Duration::from_millis(1)));
        let other = cancel.child();
        let sleeper = std::thread::spawn(move || other.sleep(Duration::from_secs(86_400)));
        cancel.cancel();
        assert!(!sleeper.join().unwrap());
        assert!(!cancel.sleep(Duration::ZERO));
    }
}
