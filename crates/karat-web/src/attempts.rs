//! Rate limit for wrong tokens.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of wrong tokens from one address within [`WINDOW`].
pub(super) const MOST_OF_ONE: u32 = 10;

/// Maximum number of wrong tokens from all addresses, which also bounds the memory used.
pub(super) const MOST_OF_ALL: u32 = 100;

const WINDOW: Duration = Duration::from_secs(60);

/// Wrong tokens in the current window, by address.
#[derive(Debug)]
pub(crate) struct Attempts(Mutex<Counted>);

#[derive(Debug)]
struct Counted {
    since: Instant,
    all: u32,
    by_address: HashMap<IpAddr, u32>,
}

/// The result of presenting a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    Right,
    Wrong,
    /// Not checked; tokens are checked again after this time.
    Refused(Duration),
}

impl Attempts {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Counted { since: Instant::now(), all: 0, by_address: HashMap::new() }))
    }

    /// Checks a token from an address, unless there were too many wrong ones. Checking and counting are one step, so that
    /// parallel requests gain nothing.
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
    fn wrong_tokens_are_rate_limited_per_address() {
        let attempts = Attempts::new();
        let start = Instant::now();
        let address = |last: u8| IpAddr::from([10, 0, 0, last]);
        for _ in 0..MOST_OF_ONE {
            assert_eq!(attempts.attempt(address(1), start, || false), Attempt::Wrong);
            assert_eq!(attempts.attempt(address(2), start, || true), Attempt::Right, "right tokens are counted");
        }
        assert!(matches!(attempts.attempt(address(1), start, || true), Attempt::Refused(_)), "the token was checked");
        assert_eq!(attempts.attempt(address(2), start, || false), Attempt::Wrong);
        assert_eq!(attempts.attempt(address(1), start + 2 * WINDOW, || true), Attempt::Right);
    }

    #[test]
    fn wrong_tokens_are_rate_limited_over_all_addresses() {
        let attempts = Attempts::new();
        let now = Instant::now();
        let wrong =
            (0..=255).filter(|last| attempts.attempt(IpAddr::from([10, 0, 0, *last]), now, || false) == Attempt::Wrong);
        assert_eq!(wrong.count(), MOST_OF_ALL as usize);
    }
}
