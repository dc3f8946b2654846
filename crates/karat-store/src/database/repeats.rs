//! When a write on a server is repeated, and how long to wait before.

use super::server_error::Failure;
use crate::StoreError;
use std::time::{Duration, Instant};

/// How often a write is repeated where waiting is not what helps.
const FEW_REPEATS: u32 = 3;

/// How a write ended that was not stored.
pub(super) struct Ended {
    pub(super) why: Failure,
    pub(super) error: StoreError,
}

impl Ended {
    /// Whether the same work may succeed when it is repeated.
    pub(super) fn may_repeat(&self, repeats: u32, now: Instant, deadline: Instant) -> bool {
        match self.why {
            Failure::Lost | Failure::Full | Failure::Locked => now < deadline,
            // Each of them means that another transaction came through, also if waiting for it took all the time.
            Failure::Conflict => now < deadline || repeats < FEW_REPEATS,
            // Garbage collection may have removed what was just found; a real violation comes again.
            Failure::Reference => repeats < FEW_REPEATS,
            Failure::Statement | Failure::Work => false,
        }
    }
}

/// Waits longer each time, and not all in step.
#[derive(Default)]
pub(crate) struct Backoff {
    tries: u32,
}

impl Backoff {
    pub(crate) fn wait(&mut self, deadline: Instant) {
        let most = Duration::from_millis(10).saturating_mul(1 << self.tries.min(7));
        self.tries += 1;
        let share = f64::from(uuid::Uuid::now_v7().as_bytes()[15]) / 256.0;
        let pause = most.mul_f64(0.5 + share / 2.0);
        std::thread::sleep(pause.min(deadline.saturating_duration_since(Instant::now())));
    }
}
