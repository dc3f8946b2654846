//! The budget. A request is sent only if its worst-case cost fits, so the budget is never exceeded.

use super::options::Prices;
use crate::prompt::Prompt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

pub(super) struct Budget {
    prices: Option<Prices>,
    max_usd: Option<f64>,
    max_calls: Option<u64>,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    spent: f64,
    reserved: f64,
    in_flight: u64,
    calls: u64,
}

/// Permission for one request; its worst-case cost stays reserved until this is dropped.
pub(super) struct Reservation<'a> {
    budget: &'a Budget,
    worst_case: f64,
}

/// A low estimate of the bytes in a token, so that the number of tokens is overestimated.
const BYTES_PER_TOKEN: u64 = 2;

impl Budget {
    pub(super) fn new(prices: Option<Prices>, max_usd: Option<f64>, max_calls: Option<u64>) -> Self {
        Self { prices, max_usd, max_calls, state: Mutex::default(), changed: Notify::new() }
    }

    /// Waits until a request fits into the budget; `None` when it never will.
    pub(super) async fn reserve(&self, prompt: &Prompt) -> Option<Reservation<'_>> {
        let worst_case = self.worst_case(prompt);
        loop {
            // Created before the check, so that no change after it is missed.
            let changed = self.changed.notified();
            {
                let mut state = self.state();
                if self.max_calls.is_some_and(|max| state.calls >= max) {
                    return None;
                }
                if self.max_usd.is_none_or(|max| state.spent + state.reserved + worst_case <= max) {
                    state.reserved += worst_case;
                    state.in_flight += 1;
                    state.calls += 1;
                    return Some(Reservation { budget: self, worst_case });
                }
                if state.in_flight == 0 {
                    return None;
                }
            }
            // Requests in flight mostly cost less than their worst case.
            changed.await;
        }
    }

    pub(super) fn calls(&self) -> u64 {
        self.state().calls
    }

    pub(super) fn cost(&self, tokens_in: u64, tokens_out: u64) -> Option<f64> {
        self.prices.map(|prices| prices.cost(tokens_in, tokens_out))
    }

    fn worst_case(&self, prompt: &Prompt) -> f64 {
        self.cost(most_tokens_in(prompt), prompt.max_tokens.into()).unwrap_or(0.0)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// More tokens than the prompt has.
fn most_tokens_in(prompt: &Prompt) -> u64 {
    let bytes = prompt.system.len() + prompt.user.len() + prompt.schema.to_string().len();
    bytes as u64 / BYTES_PER_TOKEN + 100
}

/// More tokens than the prompt and its answer have.
pub(super) fn most_tokens(prompt: &Prompt) -> u64 {
    most_tokens_in(prompt) + u64::from(prompt.max_tokens)
}

impl Reservation<'_> {
    pub(super) fn worst_case(&self) -> f64 {
        self.worst_case
    }

    /// What was reserved counts as spent: nobody knows what the request cost.
    pub(super) fn spend_all(self) {
        self.budget.state().spent += self.worst_case;
    }

    /// Replaces the reservation by the actual cost.
    pub(super) fn spend(self, tokens_in: u64, tokens_out: u64) {
        let usd = self.budget.cost(tokens_in, tokens_out).unwrap_or(0.0);
        self.budget.state().spent += usd;
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let mut state = self.budget.state();
        state.reserved -= self.worst_case;
        state.in_flight -= 1;
        if state.in_flight == 0 {
            // Removes rounding errors.
            state.reserved = 0.0;
        }
        drop(state);
        self.budget.changed.notify_waiters();
    }
}
