//! What may still be spent. A request is made only where its worst case fits, so the budget is never overdrawn.

use super::options::Prices;
use crate::judge::template::Prompt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// What may be spent, and what was.
pub(super) struct Budget {
    prices: Option<Prices>,
    most_usd: Option<f64>,
    most_calls: Option<u64>,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    spent: f64,
    set_aside: f64,
    under_way: u64,
    calls: u64,
}

/// Leave to make one request; the most it may cost is set aside until it is given back.
pub(super) struct Leave<'a> {
    budget: &'a Budget,
    worst: f64,
}

/// A token is seldom shorter than this many bytes.
const BYTES_PER_TOKEN: u64 = 2;

impl Budget {
    pub(super) fn new(prices: Option<Prices>, most_usd: Option<f64>, most_calls: Option<u64>) -> Self {
        Self { prices, most_usd, most_calls, state: Mutex::default(), changed: Notify::new() }
    }

    /// Waits until a request fits into the budget; `None` when it never will.
    pub(super) async fn leave(&self, prompt: &Prompt) -> Option<Leave<'_>> {
        let worst = self.worst(prompt);
        loop {
            // Made before looking, so that no change after looking is missed.
            let changed = self.changed.notified();
            {
                let mut state = self.state();
                if self.most_calls.is_some_and(|most| state.calls >= most) {
                    return None;
                }
                if self.most_usd.is_none_or(|most| state.spent + state.set_aside + worst <= most) {
                    state.set_aside += worst;
                    state.under_way += 1;
                    state.calls += 1;
                    return Some(Leave { budget: self, worst });
                }
                if state.under_way == 0 {
                    return None;
                }
            }
            // Requests that are under way will mostly cost less than their worst case.
            changed.await;
        }
    }

    /// How many requests were made.
    pub(super) fn calls(&self) -> u64 {
        self.state().calls
    }

    /// What so many tokens cost, where that is known.
    pub(super) fn price(&self, tokens_in: u64, tokens_out: u64) -> Option<f64> {
        self.prices.map(|prices| prices.of(tokens_in, tokens_out))
    }

    fn worst(&self, prompt: &Prompt) -> f64 {
        let bytes = prompt.system.len() + prompt.user.len() + prompt.schema.to_string().len();
        let tokens = bytes as u64 / BYTES_PER_TOKEN + 100;
        self.price(tokens, prompt.max_tokens.into()).unwrap_or(0.0)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Leave<'_> {
    /// The request is over, and this is what it took.
    pub(super) fn spent(self, tokens_in: u64, tokens_out: u64) {
        let usd = self.budget.price(tokens_in, tokens_out).unwrap_or(0.0);
        self.budget.state().spent += usd;
    }
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        let mut state = self.budget.state();
        state.set_aside -= self.worst;
        state.under_way -= 1;
        if state.under_way == 0 {
            // Sums of fractions leave dust behind.
            state.set_aside = 0.0;
        }
        drop(state);
        self.budget.changed.notify_waiters();
    }
}
