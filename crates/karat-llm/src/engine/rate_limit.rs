//! Limits the request rate and computes the delay before a retry.

use crate::ledger::LedgerKey;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

pub(super) struct RateLimiter {
    interval: Option<Duration>,
    next: Mutex<Option<Instant>>,
}

impl RateLimiter {
    pub(super) fn new(per_minute: Option<u32>) -> Self {
        let interval = per_minute.map(|max| Duration::from_secs(60) / max.max(1));
        Self { interval, next: Mutex::new(None) }
    }

    pub(super) async fn wait_turn(&self) {
        let Some(interval) = self.interval else { return };
        let turn = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let turn = next.map_or_else(Instant::now, |next| next.max(Instant::now()));
            *next = Some(turn + interval);
            turn
        };
        tokio::time::sleep_until(turn).await;
    }
}

/// Exponential backoff with full jitter, seeded so that it is repeatable; at least `Retry-After`, at most `longest`.
pub(super) fn retry_delay(
    key: &LedgerKey,
    seed: u64,
    failures: u32,
    first: Duration,
    longest: Duration,
    retry_after: Option<Duration>,
) -> Duration {
    let bound = first.saturating_mul(1_u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX)).min(longest);
    let hash = blake3::Hasher::new()
        .update(&seed.to_le_bytes())
        .update(key.as_str().as_bytes())
        .update(&failures.to_le_bytes())
        .finalize();
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&hash.as_bytes()[..4]);
    let share = f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX);
    let delay = bound.mul_f64(share);
    retry_after.map_or(delay, |retry_after| retry_after.min(longest).max(delay))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays(seed: u64, failures: u32, retry_after: Option<u64>) -> Vec<Duration> {
        let key = |n: u32| serde_json::from_value(n.to_string().into()).unwrap();
        let (first, longest) = (Duration::from_secs(1), Duration::from_secs(30));
        (0..200)
            .map(|n| retry_delay(&key(n), seed, failures, first, longest, retry_after.map(Duration::from_secs)))
            .collect()
    }

    #[test]
    fn delays_double_with_seeded_jitter() {
        let longest = |failures| delays(1, failures, None).into_iter().max().unwrap().as_secs_f64();
        for (failures, bound) in [(1, 1.0), (2, 2.0), (4, 8.0), (20, 30.0), (u32::MAX, 30.0)] {
            assert!((bound * 0.9..=bound).contains(&longest(failures)), "{failures}: {}", longest(failures));
        }
        let mean = delays(1, 1, None).iter().sum::<Duration>().as_secs_f64() / 200.0;
        assert!((0.4..0.6).contains(&mean), "{mean}");
        assert_eq!(delays(1, 3, None), delays(1, 3, None));
        assert_ne!(delays(1, 3, None), delays(2, 3, None));
    }

    #[test]
    fn retry_after_is_honoured_up_to_the_maximum() {
        assert!(delays(1, 1, Some(5)).iter().all(|wait| *wait == Duration::from_secs(5)));
        assert!(delays(1, 1, Some(86_400)).iter().all(|wait| *wait == Duration::from_secs(30)));
    }
}
