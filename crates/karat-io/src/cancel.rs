//! Cancellation of running work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
