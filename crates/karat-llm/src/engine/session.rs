//! One call of [`Engine::ask`]: takes questions in, answers what the ledger knows, starts requests for the rest and stores what comes back.

use super::request::{Message, Permission, PermissionRequest, Request, SharedState};
use super::{Engine, EngineError, EngineEvent, EngineStats};
use crate::adaptation::Adaptation;
use crate::exchange::KeyParts;
use crate::ledger::{Answer, CacheMode, Exchange, FailureReason, Ledger, LedgerKey};
use crate::permits::{Permit, PermitRequest, SettledRequest, SharedLimits};
use crate::prompt::{Prompt, Question};
use crate::provider::ProviderId;
use karat_io::cancel::Cancel;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

/// How often the engine checks for cancellation.
const TICK: Duration = Duration::from_millis(25);

/// Exchanges stored together, since a store makes many durable at the cost of one.
const MAX_BATCH: usize = 256;

/// Asks questions and calls `observer` for each as soon as it is done.
pub(super) fn ask(
    engine: &Engine,
    questions: &mut dyn Iterator<Item = (usize, Question)>,
    ledger: &mut dyn Ledger,
    cancel: &Cancel,
    observer: &mut dyn FnMut(EngineEvent<'_>),
) -> Result<EngineStats, EngineError> {
    let (sender, receiver) = channel();
    let state = engine.shared.clone().unwrap_or_else(|| engine.new_shared_state());
    let earlier_requests = state.budget.calls();
    state.is_shared.store(ledger.is_shared(), std::sync::atomic::Ordering::Relaxed);
    engine.recall(&state, ledger)?;
    let limits = state.shared_limits();
    let mut session = AskSession {
        engine,
        state,
        limits,
        unpermitted: Vec::new(),
        ledger,
        observer,
        sender,
        pending: BTreeMap::new(),
        waiting: 0,
        memo: BTreeMap::new(),
        stats: EngineStats::default(),
    };
    let result = session.run(questions, &receiver, cancel);
    session.abort_requests();
    result?;
    session.stats.requests = session.state.budget.calls() - earlier_requests;
    Ok(session.stats)
}

struct Waiter {
    index: usize,
    question: String,
}

struct Pending {
    handle: JoinHandle<()>,
    blank: Box<Exchange>,
    /// The question, and equal questions that came since.
    waiters: Vec<Waiter>,
}

struct AskSession<'a> {
    engine: &'a Engine,
    state: Arc<SharedState>,
    limits: SharedLimits,
    /// Requests that wait for permission, and when it is asked for again.
    unpermitted: Vec<(PermissionRequest, Instant)>,
    ledger: &'a mut dyn Ledger,
    observer: &'a mut dyn FnMut(EngineEvent<'_>),
    sender: Sender<Message>,
    /// By the key with the configured parameters.
    pending: BTreeMap<LedgerKey, Pending>,
    waiting: usize,
    /// Answers that the ledger does not give back, for equal questions that come later.
    memo: BTreeMap<LedgerKey, Exchange>,
    stats: EngineStats,
}

impl AskSession<'_> {
    fn run(
        &mut self,
        questions: &mut dyn Iterator<Item = (usize, Question)>,
        receiver: &Receiver<Message>,
        cancel: &Cancel,
    ) -> Result<(), EngineError> {
        // More than can be in flight, so that slots are not idle while exchanges are being stored.
        let window = self.engine.options.concurrency * 4 + 64;
        let mut more = true;
        while more || !self.pending.is_empty() {
            let stopped = cancel.is_cancelled();
            let room = window.saturating_sub(self.waiting);
            if more && (room * 2 >= window || stopped) {
                let batch: Vec<(usize, Question)> = (&mut *questions).take(room.max(1)).collect();
                more = !batch.is_empty();
                self.admit(batch, stopped)?;
            }
            if stopped {
                self.cancel_pending(receiver)?;
            } else {
                self.collect(receiver)?;
            }
        }
        Ok(())
    }

    /// Answers questions from the ledger where possible, and starts requests for the rest.
    fn admit(&mut self, batch: Vec<(usize, Question)>, stopped: bool) -> Result<(), EngineError> {
        let provider = self.engine.provider.id();
        let prepare = |(index, question): (usize, Question)| {
            let prompt = self.engine.prompt(&question);
            let parts = KeyParts::new(provider, question.template, &prompt);
            let key = parts.with(&provider.parameters);
            let check = question.form.map(|form| form.check);
            // Room to think changes no answer, so that it is no part of the key. A limit that was configured is meant.
            let room =
                if self.engine.options.max_tokens.is_some() { 0 } else { self.engine.provider.thinking_tokens() };
            let prompt = Prompt { max_tokens: prompt.max_tokens.saturating_add(room), ..prompt };
            let request = Request { question: question.id.clone(), prompt, key: parts, check };
            (Waiter { index, question: question.id }, question.template.name, request, key)
        };
        let prepared: Vec<_> = batch.into_iter().map(prepare).collect();
        let known = match self.engine.options.cache.reads() {
            true => self.look_up(&prepared.iter().map(|(_, _, request, _)| &request.key).collect::<Vec<_>>())?,
            false => vec![None; prepared.len()],
        };
        for ((waiter, template, request, key), known) in prepared.into_iter().zip(known) {
            self.stats.questions += 1;
            if let Some(exchange) = known.or_else(|| self.memo.get(&key).cloned()) {
                self.settle_one(waiter, exchange, true);
            } else if let Some(pending) = self.pending.get_mut(&key) {
                pending.waiters.push(waiter);
                self.waiting += 1;
            } else if self.engine.options.cache == CacheMode::Only {
                let (provider, model) = (provider.provider.clone(), provider.model.clone());
                return Err(EngineError::NotRecorded { question: waiter.question, key, provider, model });
            } else {
                let blank = Box::new(blank(key.clone(), provider.clone(), template, &request.prompt));
                if stopped {
                    self.settle_one(waiter, cancelled(*blank), false);
                    continue;
                }
                let work = Arc::clone(&self.state).answer(request, (*blank).clone(), self.sender.clone());
                let runtime = self.engine.runtime.get("karat-judge", 2).map_err(EngineError::Runtime)?;
                let handle = runtime.spawn(work);
                self.waiting += 1;
                self.pending.insert(key, Pending { handle, blank, waiters: vec![waiter] });
            }
        }
        Ok(())
    }

    /// Looks up exchanges under the current parameters, then under all others they may have been adapted to.
    fn look_up(&mut self, parts: &[&KeyParts]) -> Result<Vec<Option<Exchange>>, EngineError> {
        let current = self.state.adaptation().parameters(&self.engine.provider.id().parameters);
        // What could not be read may be answered better by now; where nobody is asked, it is what there is.
        let asks_again = self.engine.options.cache != CacheMode::Only;
        let mut get = |keys: &[LedgerKey]| {
            let keys: Vec<&LedgerKey> = keys.iter().collect();
            let found = self.ledger.get_many(&keys).map_err(EngineError::Ledger)?;
            let is_good = |exchange: &Exchange| !(asks_again && exchange.answer.is_unreadable());
            Ok(found.into_iter().map(|exchange| exchange.filter(is_good)).collect::<Vec<_>>())
        };
        let keys: Vec<LedgerKey> = parts.iter().map(|parts| parts.with(&current)).collect();
        let mut known = get(&keys)?;
        let others: Vec<&Value> =
            self.engine.possible_parameters().iter().filter(|parameters| **parameters != current).collect();
        let missing: Vec<usize> = (0..known.len()).filter(|at| known[*at].is_none()).collect();
        if others.is_empty() || missing.is_empty() {
            return Ok(known);
        }
        let keys: Vec<LedgerKey> =
            missing.iter().flat_map(|at| others.iter().map(|parameters| parts[*at].with(parameters))).collect();
        let found = get(&keys)?;
        for (at, found) in missing.into_iter().zip(found.chunks(others.len())) {
            known[at] = found.iter().flatten().next().cloned();
        }
        Ok(known)
    }

    /// Waits for messages and handles all that have arrived.
    fn collect(&mut self, receiver: &Receiver<Message>) -> Result<(), EngineError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        match receiver.recv_timeout(TICK) {
            Ok(first) => {
                let batch: Vec<Message> = std::iter::once(first).chain(receiver.try_iter()).take(MAX_BATCH).collect();
                self.handle_messages(batch, false)
            }
            Err(RecvTimeoutError::Timeout) => {
                self.ask_for_permits()?;
                self.settle_silent_requests(receiver)
            }
            // This side holds a sender itself.
            Err(RecvTimeoutError::Disconnected) => Ok(()),
        }
    }

    /// Stores answers. What another process stored first is used from now on, so that scoring again gives the same.
    fn store_answers(&mut self, done: &mut [(LedgerKey, Exchange)]) -> Result<(), EngineError> {
        if done.is_empty() {
            return Ok(());
        }
        let is_final = |(_, exchange): &&(LedgerKey, Exchange)| exchange.is_final();
        let answers: Vec<&Exchange> = done.iter().filter(is_final).map(|(_, exchange)| exchange).collect();
        let has_answers = !answers.is_empty();
        if has_answers {
            self.ledger.put(&answers).map_err(EngineError::Ledger)?;
        }
        let keys: Vec<LedgerKey> = done.iter().map(|(key, _)| key.clone()).collect();
        let keys: Vec<&LedgerKey> = keys.iter().collect();
        self.ledger.forget_sent(&keys).map_err(EngineError::Ledger)?;
        if self.ledger.is_shared() && has_answers {
            let stored = self.ledger.get_many(&keys).map_err(EngineError::Ledger)?;
            for ((_, own), stored) in done.iter_mut().zip(stored) {
                if let Some(stored) = stored.filter(|_| own.is_final()) {
                    *own = stored;
                }
            }
        }
        Ok(())
    }

    /// Stores what the server was found to refuse, so that later runs do not ask again.
    fn remember_adaptation(&mut self) -> Result<(), EngineError> {
        let now = self.state.adaptation();
        let mut recalled = self.state.recalled.lock().unwrap_or_else(PoisonError::into_inner);
        if recalled.as_ref().is_some_and(|recalled| *recalled != now) {
            self.ledger.remember_adaptation(&self.state.server_key(), &now).map_err(EngineError::Ledger)?;
            *recalled = Some(now);
        }
        Ok(())
    }

    fn handle_messages(&mut self, batch: Vec<Message>, stopped: bool) -> Result<(), EngineError> {
        let mut done = Vec::new();
        let mut settled_requests: Vec<SettledRequest> = Vec::new();
        let mut fatal = None;
        for message in batch {
            match message {
                Message::Retrying(retry) => (self.observer)(EngineEvent::Retrying(&retry)),
                Message::Sending(request) => self.unpermitted.push((request, Instant::now())),
                Message::Settled(settled) => settled_requests.push(settled),
                Message::Done(key, exchange) => done.push((key, *exchange)),
                Message::Fatal(why) => fatal = Some(why),
            }
        }
        if self.engine.options.cache.writes() {
            self.store_answers(&mut done)?;
            self.remember_adaptation()?;
        }
        // After the answers: whoever is stopped in between has paid for something that is there.
        if !settled_requests.is_empty() {
            self.ledger.settle_requests(&self.limits, &settled_requests).map_err(EngineError::Ledger)?;
        }
        if !stopped {
            self.ask_for_permits()?;
        }
        for (key, exchange) in done {
            self.settle(&key, exchange);
        }
        match fatal.or_else(|| self.state.warm_up.give_up_reason()) {
            Some(why) => {
                let provider = self.engine.provider.id().provider.clone();
                let ledger = self.ledger.place().filter(|_| self.engine.options.cache.writes());
                Err(EngineError::Provider { provider, why, ledger })
            }
            None => Ok(()),
        }
    }

    /// Asks for permission for the requests whose time has come.
    fn ask_for_permits(&mut self) -> Result<(), EngineError> {
        let now = Instant::now();
        // Requests that were aborted meanwhile wait no longer.
        self.unpermitted.retain(|(request, _)| !request.reply.is_closed());
        let (due, later): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.unpermitted).into_iter().partition(|(_, due)| *due <= now);
        self.unpermitted = later;
        if due.is_empty() {
            return Ok(());
        }
        let is_shared = self.ledger.is_shared();
        let requests: Vec<PermitRequest> = due
            .iter()
            .map(|(request, _)| PermitRequest {
                key: request.key.clone(),
                answer_keys: match is_shared && request.is_first {
                    true => self.engine.possible_parameters().iter().map(|own| request.parts.with(own)).collect(),
                    false => Vec::new(),
                },
                is_first: request.is_first,
                micro_usd: request.micro_usd,
                tokens: request.tokens,
            })
            .collect();
        let permits = self.ledger.permit(&self.limits, &requests).map_err(EngineError::Ledger)?;
        for ((request, _), permit) in due.into_iter().zip(permits) {
            match permit {
                Permit::Granted { was_sent } => {
                    self.stats.sent_before += u64::from(was_sent);
                    // Fails for a request that was aborted meanwhile.
                    let _ = request.reply.send(Permission::Granted);
                }
                Permit::OverBudget => drop(request.reply.send(Permission::OverBudget)),
                Permit::Wait(time) => self.unpermitted.push((request, now + time)),
                Permit::Answered(exchange) => self.settle_by_others(&request.key, *exchange),
            }
        }
        Ok(())
    }

    /// Settles a question that another process has got the answer to.
    fn settle_by_others(&mut self, key: &LedgerKey, exchange: Exchange) {
        let Some(pending) = self.pending.remove(key) else { return };
        pending.handle.abort();
        self.waiting -= pending.waiters.len();
        for waiter in pending.waiters {
            self.settle_one(waiter, exchange.clone(), true);
        }
    }

    fn settle(&mut self, key: &LedgerKey, exchange: Exchange) {
        let Some(pending) = self.pending.remove(key) else { return };
        self.waiting -= pending.waiters.len();
        self.stats.add_cost(exchange.tokens_in, exchange.tokens_out, exchange.usd);
        // What could not be read is asked again by later runs only, since each time has to be paid for.
        let is_looked_up = self.engine.options.cache.writes() && !exchange.answer.is_unreadable();
        if !is_looked_up && exchange.is_final() {
            // Later questions need the answer only.
            let memo = Exchange { system: String::new(), user: String::new(), ..exchange.clone() };
            self.memo.insert(key.clone(), memo);
        }
        for (at, waiter) in pending.waiters.into_iter().enumerate() {
            self.settle_one(waiter, exchange.clone(), at > 0 && exchange.is_final());
        }
    }

    fn settle_one(&mut self, waiter: Waiter, exchange: Exchange, cached: bool) {
        self.stats.cached += u64::from(cached);
        if !exchange.replies.is_empty() {
            self.stats.adapted.merge(&Adaptation::from_parameters(&exchange.provider.parameters));
        }
        match exchange.answer {
            Answer::Given(_) => {}
            Answer::Missing { .. } => self.stats.unjudged += 1,
            Answer::Refused { .. } => self.stats.refused += 1,
        }
        let exchange = Box::new(Exchange { question: waiter.question, cached, ..exchange });
        (self.observer)(EngineEvent::Settled { index: waiter.index, exchange });
    }

    /// After cancellation: stores what has come back and settles the rest as cancelled.
    fn cancel_pending(&mut self, receiver: &Receiver<Message>) -> Result<(), EngineError> {
        self.abort_requests();
        self.handle_messages(receiver.try_iter().collect(), true)?;
        self.waiting = 0;
        for (_, pending) in std::mem::take(&mut self.pending) {
            for waiter in pending.waiters {
                self.settle_one(waiter, cancelled((*pending.blank).clone()), false);
            }
        }
        Ok(())
    }

    /// Settles requests whose task ended without a message, which only a bug could cause.
    fn settle_silent_requests(&mut self, receiver: &Receiver<Message>) -> Result<(), EngineError> {
        let finished = self.pending.iter().filter(|(_, pending)| pending.handle.is_finished());
        let finished: Vec<LedgerKey> = finished.map(|(key, _)| key.clone()).collect();
        // A finished task has sent its message before, so what is not in the channel by now never will be.
        self.handle_messages(receiver.try_iter().collect(), false)?;
        for key in finished {
            if let Some(pending) = self.pending.get(&key) {
                let why = "asking ended without an answer, which is a defect of Karat";
                let answer = Answer::missing(FailureReason::Unanswered, why);
                self.settle(&key, Exchange { answer, ..(*pending.blank).clone() });
            }
        }
        Ok(())
    }

    fn abort_requests(&mut self) {
        for pending in self.pending.values() {
            pending.handle.abort();
        }
    }
}

fn blank(key: LedgerKey, provider: ProviderId, template: &str, prompt: &Prompt) -> Exchange {
    Exchange {
        key,
        question: String::new(),
        provider,
        template: template.to_owned(),
        system: prompt.system.clone(),
        user: prompt.user.clone(),
        replies: Vec::new(),
        tokens_in: 0,
        tokens_out: 0,
        usd: None,
        attempts: 0,
        request_time: Duration::ZERO,
        timed_out: false,
        cached: false,
        answer: Answer::missing(FailureReason::Unanswered, ""),
    }
}

fn cancelled(blank: Exchange) -> Exchange {
    Exchange { answer: Answer::missing(FailureReason::Cancelled, "it was stopped before an answer came"), ..blank }
}
