//! How often wrong tokens may be shown.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// So many wrong tokens are taken from one address within [`WINDOW`].
pub(super) const MOST_OF_ONE: u32 = 10;

/// And so many from all together, which bounds what is remembered too.
pub(super) const MOST_OF_ALL: u32 = 100;

const WINDOW: Duration = Duration::from_secs(60);

/// Wrong tokens since a moment, by address.
#[derive(Debug)]
pub(crate) struct Attempts(Mutex<Counted>);

#[derive(Debug)]
struct Counted {
    since: Instant,
    all: u32,
    by_address: HashMap<IpAddr, u32>,
}

/// What came of showing a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// It is the token.
    Right,
    /// It is another.
    Wrong,
    /// It was not looked at; tokens are looked at again after this time.
    Refused(Duration),
}

impl Attempts {
    /// None yet.
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Counted { since: Instant::now(), all: 0, by_address: HashMap::new() }))
    }

    /// Looks at a token that was shown from an address, unless there were too many wrong ones. Looking and counting are one
    /// step, so that many requests at once gain nothing.
    pub(super) fn attempt(&self, address: IpAddr, now: Instant, is_right: impl FnOnce() -> bool) -> Attempt {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let age = now.saturating_duration_since(counted.since);
        if age >= WINDOW {
            *counted = Counted { since: now, all: 0, by_address: HashMap::new() };
        }
        let own = counted.by_address.get(&address).copied().unwrap_or(0);
        if own >= MOST_OF_ONE || counted.all >= MOST_OF_ALL {
            return Attempt::Refused(WINDOW.saturating_sub(age));
        }
        if is_right() {
            return Attempt::Right;
        }
        counted.all += 1;
        counted.by_address.insert(address, own + 1);
        Attempt::Wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_wrong_tokens_are_refused_until_the_minute_is_over() {
        let attempts = Attempts::new();
        let began = Instant::now();
        let address = |last: u8| IpAddr::from([10, 0, 0, last]);
        for _ in 0..MOST_OF_ONE {
            assert_eq!(attempts.attempt(address(1), began, || false), Attempt::Wrong);
            assert_eq!(attempts.attempt(address(2), began, || true), Attempt::Right, "right ones are not counted");
        }
        assert!(matches!(attempts.attempt(address(1), began, || true), Attempt::Refused(_)), "not even looked at");
        assert_eq!(attempts.attempt(address(2), began, || false), Attempt::Wrong);
        assert_eq!(attempts.attempt(address(1), began + 2 * WINDOW, || true), Attempt::Right);
    }

    #[test]
    fn many_addresses_together_are_limited_too() {
        let attempts = Attempts::new();
        let now = Instant::now();
        let wrong =
            (0..=255).filter(|last| attempts.attempt(IpAddr::from([10, 0, 0, *last]), now, || false) == Attempt::Wrong);
        assert_eq!(wrong.count(), MOST_OF_ALL as usize);
    }
}
