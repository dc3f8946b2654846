use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// What new series are counted as once there are too many.
pub const OTHER: &str = "other";

/// How many names there can be.
const LIMIT: usize = 512;

static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// The stored form of a name, or [`OTHER`] if it is new and there is no room for it.
pub fn intern(name: &str) -> &'static str {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(stored) = known.get(name) {
        return stored;
    }
    if known.len() >= LIMIT {
        return OTHER;
    }
    let stored: &'static str = Box::leak(name.into());
    known.insert(stored);
    stored
}
