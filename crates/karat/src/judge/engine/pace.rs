//! When the next request may go out.

use crate::judge::ledger::LedgerKey;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Spreads requests evenly over time.
pub(super) struct Pace {
    apart: Option<Duration>,
    next: Mutex<Option<Instant>>,
}

impl Pace {
    pub(super) fn new(per_minute: Option<u32>) -> Self {
        let apart = per_minute.map(|most| Duration::from_secs(60) / most.max(1));
        Self { apart, next: Mutex::new(None) }
    }

    /// Waits for a turn.
    pub(super) async fn turn(&self) {
        let Some(apart) = self.apart else { return };
        let turn = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let turn = next.map_or_else(Instant::now, |next| next.max(Instant::now()));
            *next = Some(turn + apart);
            turn
        };
        tokio::time::sleep_until(turn).await;
    }
}

/// How long to wait before a request is made again: somewhere between nothing and a bound that doubles with every failure,
/// so that those who failed together do not come back together. A server that asks for time gets it, up to the longest.
pub(super) fn wait(
    key: &LedgerKey,
    seed: u64,
    failures: u32,
    first: Duration,
    longest: Duration,
    asked_for: Option<Duration>,
) -> Duration {
    let bound = first.saturating_mul(1_u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX)).min(longest);
    let drawn = blake3::Hasher::new()
        .update(&seed.to_le_bytes())
        .update(key.as_str().as_bytes())
        .update(&failures.to_le_bytes())
        .finalize();
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&drawn.as_bytes()[..4]);
    let share = f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX);
    let drawn = bound.mul_f64(share);
    asked_for.map_or(drawn, |asked| asked.min(longest).max(drawn))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(seed: u64, failures: u32, asked: Option<u64>) -> Vec<Duration> {
        let key = |n: u32| serde_json::from_value(n.to_string().into()).unwrap();
        let (first, longest) = (Duration::from_secs(1), Duration::from_secs(30));
        (0..200).map(|n| wait(&key(n), seed, failures, first, longest, asked.map(Duration::from_secs))).collect()
    }

    #[test]
    fn waits_double_spread_and_repeat() {
        let longest = |failures| waits(1, failures, None).into_iter().max().unwrap().as_secs_f64();
        for (failures, bound) in [(1, 1.0), (2, 2.0), (4, 8.0), (20, 30.0), (u32::MAX, 30.0)] {
            assert!((bound * 0.9..=bound).contains(&longest(failures)), "{failures}: {}", longest(failures));
        }
        let mean = waits(1, 1, None).iter().sum::<Duration>().as_secs_f64() / 200.0;
        assert!((0.4..0.6).contains(&mean), "{mean}");
        assert_eq!(waits(1, 3, None), waits(1, 3, None));
        assert_ne!(waits(1, 3, None), waits(2, 3, None));
    }

    #[test]
    fn servers_get_the_time_they_ask_for_within_reason() {
        assert!(waits(1, 1, Some(5)).iter().all(|wait| *wait == Duration::from_secs(5)));
        assert!(waits(1, 1, Some(86_400)).iter().all(|wait| *wait == Duration::from_secs(30)));
    }
}
