//! Permission to send requests, where several processes share one budget, one rate and one ledger.

use super::exchange::{Exchange, LedgerKey};
use std::time::Duration;

/// The limits of a judge that all who ask it share.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct SharedLimits {
    /// Provider and model. Budgets are counted for each.
    pub judge: String,
    /// The provider's address and a hash of the key. Rates are counted for each.
    pub account: String,
    pub budget_micro_usd: Option<i64>,
    pub budget_calls: Option<i64>,
    pub requests_per_minute: Option<u32>,
    pub tokens_per_minute: Option<u32>,
    /// How long a request and the wait before the next one may take at most. After this time without a sign of life, whoever
    /// sent a question is taken to have died.
    pub longest_silence: Duration,
}

/// A request that waits for permission.
#[derive(Clone, Debug)]
pub struct PermitRequest {
    /// The key under which the question is known.
    pub key: LedgerKey,
    /// All keys under which its answer may be stored.
    pub answer_keys: Vec<LedgerKey>,
    /// Whether it is the first request of its question; the others are retries and repairs.
    pub is_first: bool,
    /// The worst case.
    pub micro_usd: i64,
    /// The worst case.
    pub tokens: i64,
}

/// The answer to a [`PermitRequest`].
#[derive(Clone, Debug)]
pub enum Permit {
    /// The request may be sent. The question may have been paid for before, by a process that was stopped.
    Granted {
        /// Whether the question was sent before and never settled.
        was_sent: bool,
    },
    /// Somebody else has got the answer meanwhile.
    Answered(Box<Exchange>),
    /// Not yet: another process is asking this question, or the rate or the budget does not allow it now.
    Wait(Duration),
    /// The budget does not allow it, and nothing is under way that could cost less than reserved.
    OverBudget,
}

/// A request that came to an end.
#[derive(Clone, Debug)]
pub struct SettledRequest {
    /// What was reserved for it.
    pub reserved_micro_usd: i64,
    /// What it cost. Where nobody knows, as after a timeout, what was reserved.
    pub micro_usd: i64,
    /// How long the server asked everybody to wait.
    pub retry_after: Option<Duration>,
}

/// Whole micro-dollars, rounded up.
pub(super) fn micro_usd(usd: f64) -> i64 {
    // Amounts are far below what an i64 holds, and a cast saturates.
    (usd * 1e6).ceil() as i64
}
