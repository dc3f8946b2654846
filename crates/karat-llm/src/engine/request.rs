//! Carries one question from its first request to its answer: retries, adaptation to the provider, and one repair request.

use super::Retry;
use super::budget::{Budget, most_tokens};
use super::options::{EngineOptions, StartMode};
use super::warm_up::WarmUp;
use crate::adaptation::Adaptation;
use crate::answer::{self, AnswerFault};
use crate::error::MAX_UNREACHED;
use crate::exchange::{Answer, Exchange, FailureReason, KeyParts, LedgerKey};
use crate::http::Endpoint;
use crate::permits::{SettledRequest, SharedLimits, micro_usd};
use crate::prompt::{AnswerCheck, Prompt};
use crate::provider::{Provider, Reply, SendError, StopReason};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, SemaphorePermit, oneshot};

pub(super) struct SharedState {
    pub(super) budget: Budget,
    provider: Arc<dyn Provider>,
    options: EngineOptions,
    slots: Semaphore,
    /// For requests that are repeated where others ask, too: the slots above may all be held by requests that wait for an answer
    /// to somebody who waits for this one.
    repeat_slots: Semaphore,
    rate_limiter: RateLimiter,
    pub(super) warm_up: WarmUp,
    /// Whether the last connection was refused as often as is waited for: until one is made, further questions do not wait.
    is_gone: AtomicBool,
    /// Why no further request is worth sending: the account is used up.
    exhausted: OnceLock<String>,
    /// Whether every request needs permission, since other processes share the ledger and its limits.
    pub(super) is_shared: AtomicBool,
    /// What the provider is known to refuse.
    adaptation: Mutex<Adaptation>,
    /// As much of that as is known without asking: from the table of models, or from the ledger. `None` before the ledger was read.
    pub(super) recalled: Mutex<Option<Adaptation>>,
}

pub(super) struct Request {
    pub(super) question: String,
    pub(super) prompt: Prompt,
    pub(super) key: KeyParts,
    /// What the answer must satisfy beyond its schema.
    pub(super) check: Option<Arc<dyn AnswerCheck>>,
}

pub(super) enum Message {
    Retrying(Retry),
    // A request is about to be sent and waits for permission.
    Sending(PermissionRequest),
    // A request that was permitted came to an end.
    Settled(SettledRequest),
    // A question is done. The key is the one it was registered under, not necessarily the one of the exchange.
    Done(LedgerKey, Box<Exchange>),
    Fatal(String),
}

/// A request that waits for permission, which the engine's thread gets from the ledger.
pub(super) struct PermissionRequest {
    /// The key that the question was registered under.
    pub(super) key: LedgerKey,
    pub(super) parts: KeyParts,
    pub(super) is_first: bool,
    pub(super) micro_usd: i64,
    pub(super) tokens: i64,
    pub(super) reply: oneshot::Sender<Permission>,
}

pub(super) enum Permission {
    Granted,
    OverBudget,
}

enum Failed {
    // `message` is that of the last failed request, without our own words around it.
    Missing { reason: FailureReason, why: String, message: String },
    Fatal(String),
}

impl Failed {
    /// Without a failed request.
    fn unsent(reason: FailureReason, why: impl Into<String>) -> Self {
        Self::Missing { reason, why: why.into(), message: String::new() }
    }
}

impl SharedState {
    pub(super) fn new(provider: Arc<dyn Provider>, options: EngineOptions) -> Self {
        Self {
            budget: Budget::new(options.prices, options.budget_usd, options.budget_calls),
            slots: Semaphore::new(options.concurrency.max(1)),
            repeat_slots: Semaphore::new(options.concurrency.max(1)),
            rate_limiter: RateLimiter::new(options.requests_per_minute, options.tokens_per_minute),
            is_gone: AtomicBool::new(false),
            exhausted: OnceLock::new(),
            is_shared: AtomicBool::new(false),
            warm_up: WarmUp::new(options.start),
            adaptation: Mutex::new(known_adaptation(&*provider)),
            recalled: Mutex::default(),
            provider,
            options,
        }
    }

    /// The limits that all who use the ledger share.
    pub(super) fn shared_limits(&self) -> SharedLimits {
        let (options, id) = (&self.options, self.provider.id());
        let count = |most: u64| i64::try_from(most).unwrap_or(i64::MAX);
        SharedLimits {
            judge: format!("{}/{}", id.provider, id.model),
            account: self.provider.endpoint().map_or_else(|| id.provider.clone(), Endpoint::account),
            budget_micro_usd: options.budget_usd.map(|usd| (usd * 1e6).floor() as i64),
            budget_calls: options.budget_calls.map(count),
            requests_per_minute: options.requests_per_minute,
            tokens_per_minute: options.tokens_per_minute,
            longest_silence: options.timeout + options.longest_wait + Duration::from_secs(30),
        }
    }

    pub(super) fn adaptation(&self) -> Adaptation {
        self.adaptation.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Answers a question and reports the result to `sender`. `exchange` is filled in on the way.
    pub(super) async fn answer(self: Arc<Self>, request: Request, exchange: Exchange, sender: Sender<Message>) {
        let key = exchange.key.clone();
        let mut asking = Asking { state: &self, request: &request, key: key.clone(), exchange, sender };
        let decided = asking.decide().await;
        let Asking { exchange, sender, .. } = asking;
        let done = |answer| Message::Done(key, Box::new(self.redact_exchange(Exchange { answer, ..exchange })));
        let message = match decided {
            Ok(answer) => done(answer),
            Err(Failed::Missing { reason, why, .. }) => done(Answer::Missing { reason, why }),
            Err(Failed::Fatal(why)) => Message::Fatal(why),
        };
        // Nobody receives it when the caller has given up.
        let _ = sender.send(message);
    }

    /// Removes the provider's key. Answers are parsed by now, so this cannot make them unreadable.
    fn redact_exchange(&self, exchange: Exchange) -> Exchange {
        let answer = self.redact(&exchange.answer);
        let unreadable = || Answer::missing(FailureReason::Unreadable, "the answer cannot be kept");
        let replies = self.redact(&exchange.replies).unwrap_or_default();
        Exchange { answer: answer.unwrap_or_else(unreadable), replies, ..exchange }
    }

    fn redact<T: Serialize + DeserializeOwned>(&self, value: &T) -> Option<T> {
        let mut value = serde_json::to_value(value).ok()?;
        if let Some(endpoint) = self.provider.endpoint() {
            endpoint.redact(&mut value);
        }
        serde_json::from_value(value).ok()
    }

    /// The key under which the ledger remembers what this model on this server refuses.
    pub(super) fn server_key(&self) -> String {
        let id = self.provider.id();
        let address = self.provider.endpoint().map_or("", Endpoint::address);
        blake3::hash(format!("{}\n{}\n{address}", id.provider, id.model).as_bytes()).to_hex().to_string()
    }

    /// Leaves out what was refused in earlier runs.
    pub(super) fn adopt_recalled(&self, recalled: &Adaptation) {
        let own = recalled.clone().restricted_to(&self.provider.id().parameters);
        self.adaptation.lock().unwrap_or_else(PoisonError::into_inner).merge(&own);
    }

    /// What becomes of a question where no other would be answered either: trials have an outcome each, a judge ends.
    fn end_for_all(&self, why: String) -> Failed {
        match self.options.start {
            StartMode::Independent => Failed::unsent(FailureReason::Unanswered, why),
            StartMode::Cautious => Failed::Fatal(why),
        }
    }

    /// Uses a successful adaptation for all requests from now on.
    fn adopt(&self, trial: Option<(Adaptation, String)>) {
        if let Some((adaptation, _)) = trial {
            self.adaptation.lock().unwrap_or_else(PoisonError::into_inner).merge(&adaptation);
        }
    }
}

/// The wait before the next connection to a server that refused the last one: it may be starting.
fn reconnect_delay(options: &EngineOptions, refused: u32) -> Duration {
    options.backoff.saturating_mul(2 * 4_u32.saturating_pow(refused.saturating_sub(1))).min(options.longest_wait)
}

/// What the table of models says that requests must not have.
fn known_adaptation(provider: &dyn Provider) -> Adaptation {
    let of_model = |model| Adaptation::of_model(model, &provider.id().parameters, provider.formats());
    provider.known_model().map(of_model).unwrap_or_default()
}

/// A question that is being asked.
struct Asking<'s> {
    state: &'s SharedState,
    request: &'s Request,
    /// The key that the question was registered under.
    key: LedgerKey,
    exchange: Exchange,
    sender: Sender<Message>,
}

impl<'s> Asking<'s> {
    async fn decide(&mut self) -> Result<Answer, Failed> {
        let warm_up = &self.state.warm_up;
        let turn = warm_up.enter().await;
        if let Some(why) = warm_up.give_up_reason() {
            return Err(Failed::Fatal(why));
        }
        if let Some(why) = self.state.exhausted.get() {
            return Err(Failed::unsent(FailureReason::Unanswered, why));
        }
        let reply = self.request_reply(&self.request.prompt).await;
        match &reply {
            Ok(_) => warm_up.record_reply(),
            Err(Failed::Missing { reason: FailureReason::Rejected, message, .. }) => {
                warm_up.record_failed_question(message, false);
            }
            Err(Failed::Missing { reason: FailureReason::Unanswered, message, .. }) => {
                warm_up.record_failed_question(message, true);
            }
            Err(_) => {}
        }
        drop(turn);
        let answer = self.parse_or_repair(reply?).await;
        match &answer {
            Err(Failed::Missing { reason: FailureReason::Unreadable, why, .. }) => warm_up.record_unreadable(why),
            Ok(_) => warm_up.record_readable(),
            Err(_) => {}
        }
        answer
    }

    /// The answer in a reply, after one repair request where it cannot be read.
    async fn parse_or_repair(&mut self, reply: Reply) -> Result<Answer, Failed> {
        let fault = match answer_or_refusal(&reply, self.request) {
            Ok(answer) => return Ok(answer),
            Err(fault) => fault,
        };
        let answer = reply.structured.as_ref().map_or_else(|| reply.text.clone(), ToString::to_string);
        let repair = self.request.prompt.to_repair_prompt(&answer, &fault.to_string());
        let reply = self.request_reply(&repair).await?;
        answer_or_refusal(&reply, self.request).map_err(|again| {
            let why = format!("the answer could not be read: {fault}; and after asking for a better one: {again}");
            Failed::unsent(FailureReason::Unreadable, why)
        })
    }

    /// A reply to a prompt, however many requests that takes. What the provider refuses is left out, now and from then on.
    async fn request_reply(&mut self, prompt: &Prompt) -> Result<Reply, Failed> {
        let (state, options) = (self.state, &self.state.options);
        // Failed requests, and refused connections in a row.
        let (mut failures, mut unreached) = (0, 0);
        // An adaptation on trial, and the message of the refusal that led to it.
        let mut trial: Option<(Adaptation, String)> = None;
        // The slot is kept while adapting: the other requests in the queue would be refused in the same way meanwhile.
        let mut slot = None;
        loop {
            let trial_adaptation = trial.as_ref().map(|(adaptation, _)| adaptation);
            let (adaptation, result) = self.send(prompt, trial_adaptation, &mut slot).await?;
            let mut error = match result {
                Ok(reply) => {
                    state.is_gone.store(false, Ordering::Relaxed);
                    state.adopt(trial);
                    let parameters = adaptation.parameters(&state.provider.id().parameters);
                    self.exchange.key = self.request.key.with(&parameters);
                    self.exchange.provider.parameters = parameters;
                    return Ok(reply);
                }
                Err(error) => error,
            };
            state.warm_up.record_failed_request();
            if let SendError::Refused { refused, otherwise } = error {
                let message = otherwise.to_string();
                // Another message than before means that the adaptation helped. The same message may be about something
                // else, so the adaptation is adopted only if an answer comes.
                if trial.as_ref().is_some_and(|(_, before)| *before != message) {
                    state.adopt(trial.take());
                }
                if let Some(next) = adaptation.without(&refused, state.provider.formats()) {
                    trial = Some((next, message));
                    continue;
                }
                error = *otherwise;
            }
            trial = None;
            slot = None;
            if matches!(error, SendError::Unreached { .. }) {
                unreached += 1;
            } else {
                unreached = 0;
                state.is_gone.store(false, Ordering::Relaxed);
            }
            let (retry_after, why) = match error {
                SendError::Retry { after, why } => (after, why),
                SendError::AnswerLost { why } => (None, why),
                SendError::Unreached { why } if unreached < MAX_UNREACHED && !state.is_gone.load(Ordering::Relaxed) => {
                    (None, why)
                }
                SendError::Unreached { why } => {
                    state.is_gone.store(true, Ordering::Relaxed);
                    let times = if unreached > 1 { format!(" {unreached} times in a row") } else { String::new() };
                    return Err(state.end_for_all(format!("{why}{times}")));
                }
                SendError::Exhausted { why } => {
                    let _ = state.exhausted.set(why.clone());
                    return Err(state.end_for_all(why));
                }
                SendError::Rejected { why } => {
                    return Err(Failed::Missing { reason: FailureReason::Rejected, why: why.clone(), message: why });
                }
                SendError::Fatal { why } => return Err(Failed::Fatal(why)),
                // A refusal within a refusal; no provider makes one.
                SendError::Refused { .. } => return Err(Failed::Fatal(error.to_string())),
            };
            failures += 1;
            if failures > options.retries || !state.warm_up.may_retry() {
                return Err(Failed::Missing {
                    reason: FailureReason::Unanswered,
                    why: format!("{failures} requests failed, the last one: {why}"),
                    message: why,
                });
            }
            let most = options.retries.saturating_add(1);
            let (wait, most) = match unreached {
                0 => (retry_delay(options, &self.exchange.key, failures, retry_after), most),
                _ => (reconnect_delay(options, unreached), most.min(failures + MAX_UNREACHED - unreached)),
            };
            let _ = self.sender.send(Message::Retrying(Retry { why, wait, next: failures + 1, most }));
            // No slot is held while waiting, so others go first.
            tokio::time::sleep(wait).await;
        }
    }

    /// Sends one request within concurrency, budget and rate, and returns the adaptation it was sent with. Without one on trial
    /// that is decided last, since other requests may learn what the provider refuses meanwhile.
    async fn send(
        &mut self,
        prompt: &Prompt,
        trial: Option<&Adaptation>,
        slot: &mut Option<SemaphorePermit<'s>>,
    ) -> Result<(Adaptation, Result<Reply, SendError>), Failed> {
        let (state, exchange) = (self.state, &mut self.exchange);
        if slot.is_none() {
            // The semaphore is never closed.
            let is_repeated = exchange.attempts > 0 && state.is_shared.load(Ordering::Relaxed);
            let slots = if is_repeated { &state.repeat_slots } else { &state.slots };
            *slot = slots.acquire().await.ok();
        }
        let reservation = state.budget.reserve(prompt).await;
        let over_budget = || Failed::unsent(FailureReason::Budget, "the budget is spent (budget_usd, budget_calls)");
        let reservation = reservation.ok_or_else(over_budget)?;
        let tokens = most_tokens(prompt);
        state.rate_limiter.wait_turn(tokens).await;
        let is_shared = state.is_shared.load(Ordering::Relaxed);
        let is_first = exchange.attempts == 0;
        let reserved = micro_usd(reservation.worst_case());
        if (is_first || is_shared) && state.options.cache.writes() {
            let (reply, permission) = oneshot::channel();
            let request = PermissionRequest {
                key: self.key.clone(),
                parts: self.request.key.clone(),
                is_first,
                micro_usd: reserved,
                tokens: i64::try_from(tokens).unwrap_or(i64::MAX),
                reply,
            };
            let _ = self.sender.send(Message::Sending(request));
            let stopped = |_| Failed::unsent(FailureReason::Cancelled, "it was stopped before it was sent");
            match permission.await.map_err(stopped)? {
                Permission::Granted => {}
                Permission::OverBudget => return Err(over_budget()),
            }
        }
        exchange.attempts += 1;
        let timeout = state.options.timeout;
        let adaptation = trial.cloned().unwrap_or_else(|| state.adaptation());
        let began = Instant::now();
        let result =
            tokio::time::timeout(timeout, state.provider.send(&self.request.question, prompt, &adaptation)).await;
        exchange.request_time += began.elapsed();
        exchange.timed_out = result.is_err();
        let result = result
            .unwrap_or_else(|_| Err(SendError::answer_lost(format!("no answer within {} s", timeout.as_secs_f64()))));
        let cost = match &result {
            Ok(reply) => micro_usd(state.budget.cost(reply.tokens_in, reply.tokens_out).unwrap_or(0.0)),
            // Nobody knows what it cost.
            Err(SendError::AnswerLost { .. }) => reserved,
            Err(_) => 0,
        };
        if is_shared {
            let retry_after = match &result {
                Err(SendError::Retry { after, .. }) => after.map(|after| after.min(state.options.longest_wait)),
                _ => None,
            };
            let settled = SettledRequest { reserved_micro_usd: reserved, micro_usd: cost, retry_after };
            let _ = self.sender.send(Message::Settled(settled));
        }
        if let Err(SendError::AnswerLost { .. }) = &result {
            reservation.spend_all();
        } else if let Ok(reply) = &result {
            reservation.spend(reply.tokens_in, reply.tokens_out);
            exchange.tokens_in = exchange.tokens_in.saturating_add(reply.tokens_in);
            exchange.tokens_out = exchange.tokens_out.saturating_add(reply.tokens_out);
            exchange.usd = state.budget.cost(exchange.tokens_in, exchange.tokens_out);
            exchange.replies.push(reply.clone());
        }
        Ok((adaptation, result))
    }
}

/// The answer in a reply. It must fit its schema and then pass the question's own check.
fn answer_or_refusal(reply: &Reply, request: &Request) -> Result<Answer, AnswerFault> {
    if let StopReason::Refused(why) = &reply.stop {
        return Ok(Answer::Refused { why: why.clone() });
    }
    let answer = answer::parse_reply(reply, &request.prompt.schema)?;
    if let Some(check) = &request.check {
        check.check(&answer).map_err(AnswerFault::Unfit)?;
    }
    Ok(Answer::Given(answer))
}

struct RateLimiter {
    interval: Option<Duration>,
    per_token: Option<Duration>,
    next: Mutex<Option<tokio::time::Instant>>,
}

impl RateLimiter {
    fn new(requests_per_minute: Option<u32>, tokens_per_minute: Option<u32>) -> Self {
        let interval = |max: u32| Duration::from_secs(60) / max.max(1);
        let (interval, per_token) = (requests_per_minute.map(interval), tokens_per_minute.map(interval));
        Self { interval, per_token, next: Mutex::new(None) }
    }

    /// Waits until a request with so many tokens may be sent.
    async fn wait_turn(&self, tokens: u64) {
        let for_tokens = self.per_token.map(|one| one.saturating_mul(u32::try_from(tokens).unwrap_or(u32::MAX)));
        let Some(interval) = self.interval.max(for_tokens) else { return };
        let turn = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let turn = next.map_or_else(tokio::time::Instant::now, |next| next.max(tokio::time::Instant::now()));
            *next = Some(turn + interval);
            turn
        };
        tokio::time::sleep_until(turn).await;
    }
}

/// Exponential backoff with full jitter, seeded so that it is repeatable; at least `Retry-After`, at most `longest_wait`.
fn retry_delay(options: &EngineOptions, key: &LedgerKey, failures: u32, retry_after: Option<Duration>) -> Duration {
    let EngineOptions { backoff, longest_wait: longest, .. } = *options;
    let bound = backoff.saturating_mul(1_u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX)).min(longest);
    let hash = blake3::Hasher::new()
        .update(&options.seed.to_le_bytes())
        .update(key.as_str().as_bytes())
        .update(&failures.to_le_bytes())
        .finalize();
    let [a, b, c, d, ..] = *hash.as_bytes();
    let delay = bound.mul_f64(f64::from(u32::from_le_bytes([a, b, c, d])) / f64::from(u32::MAX));
    retry_after.map_or(delay, |retry_after| retry_after.min(longest).max(delay))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays(seed: u64, failures: u32, retry_after: Option<u64>) -> Vec<Duration> {
        let key = |n: u32| serde_json::from_value(n.to_string().into()).unwrap();
        let (backoff, longest_wait) = (Duration::from_secs(1), Duration::from_secs(30));
        let options = EngineOptions { seed, backoff, longest_wait, ..EngineOptions::default() };
        (0..200).map(|n| retry_delay(&options, &key(n), failures, retry_after.map(Duration::from_secs))).collect()
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
