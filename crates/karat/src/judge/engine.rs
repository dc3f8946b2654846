//! The engine: many questions at once, each answered, refused or named as unjudged, and none of them lost or asked twice.
//!
//! One thread, the caller's, takes questions in, looks them up, keeps what comes back and tells of it. The requests themselves
//! run on a runtime beside it, as many at once as the judge allows. Only so many questions are under way at a time, so memory
//! does not grow with their number.

mod budget;
mod one;
mod opening;
mod options;
mod pace;

pub use options::{EngineOptions, Prices, Start};

use super::adaptation::{Adaptation, Adapted};
use super::ledger::{CacheMode, Exchange, KeyParts, Ledger, LedgerError, LedgerKey, Outcome, Unjudged};
use super::provider::Provider;
use super::template::{Prompt, Question};
use crate::sandbox::Cancel;
use one::{Asked, Asking, Message};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Asks a provider.
pub struct Engine {
    provider: Arc<dyn Provider>,
    options: EngineOptions,
    runtime: OnceLock<Runtime>,
    /// What all calls share, where they do.
    shared: Option<Arc<Asking>>,
    /// The parameters that exchanges may be kept under besides those that are sent now.
    adapted: OnceLock<Vec<Value>>,
}

/// Something happened.
#[derive(Debug)]
pub enum EngineEvent<'a> {
    /// A request failed and is made again.
    Retrying {
        /// The question.
        question: &'a str,
        /// How often it has failed.
        failures: u32,
        /// How long it waits.
        wait: Duration,
        /// What happened.
        why: &'a str,
    },
    /// A question is done; if it is to be kept, it is kept.
    Settled {
        /// Which of the questions, counted from 0.
        index: usize,
        /// What came of it.
        exchange: Box<Exchange>,
    },
}

/// What all questions together came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Questions.
    pub questions: u64,
    /// Questions that nobody had to be asked about: from the ledger, or asked a moment before.
    pub cached: u64,
    /// Questions without a decision, refused ones left out.
    pub unjudged: u64,
    /// Questions that the model or a filter did not want to answer.
    pub refused: u64,
    /// Requests that were made; where several calls share an engine at once, those of the others meanwhile are among them.
    pub requests: u64,
    /// Tokens that were read this time.
    pub tokens_in: u64,
    /// Tokens that were written this time.
    pub tokens_out: u64,
    /// What it cost this time, where prices are known.
    pub usd: Option<f64>,
    /// Questions that were in flight when somebody who asked them before was stopped, and may have been paid twice.
    pub sent_before: u64,
    /// What the provider did not take, in any of the answers.
    pub adapted: Adapted,
}

impl std::ops::AddAssign<&Tally> for Tally {
    fn add_assign(&mut self, other: &Tally) {
        self.questions += other.questions;
        self.cached += other.cached;
        self.unjudged += other.unjudged;
        self.refused += other.refused;
        self.requests += other.requests;
        self.tokens_in = self.tokens_in.saturating_add(other.tokens_in);
        self.tokens_out = self.tokens_out.saturating_add(other.tokens_out);
        if let Some(usd) = other.usd {
            *self.usd.get_or_insert(0.0) += usd;
        }
        self.sent_before += other.sent_before;
        self.adapted.merge(other.adapted.clone());
    }
}

/// Why the engine could not go on. What was answered before is kept.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Nobody may be asked, and the ledger does not know.
    #[error(
        "the ledger holds no answer of {model} ({provider}) to the question {question}: nothing is recorded under {key}, \
         and --judge-cache only asks nobody. Record it with --judge-cache read-write, or bring the store that has it"
    )]
    NotRecorded {
        /// The question.
        question: String,
        /// What it would be kept under.
        key: LedgerKey,
        /// Who would be asked.
        provider: String,
        /// The model.
        model: String,
    },
    /// The provider answers nothing until a person changes something.
    #[error("{provider} cannot be asked: {why}. What was answered before is kept")]
    Provider {
        /// Who.
        provider: String,
        /// What is wrong, and what to change.
        why: String,
    },
    /// The ledger cannot be read or written.
    #[error("the ledger: {0}")]
    Ledger(LedgerError),
    /// The system gives no threads.
    #[error("no threads to ask with: {0}")]
    Runtime(std::io::Error),
}

/// How often the engine looks whether it is to stop.
const TICK: Duration = Duration::from_millis(25);

/// So many exchanges are kept together; a store makes them durable at the price of one.
const LARGEST_BATCH: usize = 256;

impl Engine {
    /// An engine for a provider. No thread and no connection is made before somebody must be asked.
    pub fn new(provider: Box<dyn Provider>, options: EngineOptions) -> Self {
        Self { provider: provider.into(), options, runtime: OnceLock::new(), shared: None, adapted: OnceLock::new() }
    }

    /// The same, with one budget, one pace and one number of requests at once for all its calls, whichever threads they are
    /// made from. Without this they are for each call.
    pub fn shared(mut self) -> Self {
        self.shared = Some(self.asking());
        self
    }

    /// Who is asked.
    pub fn provider(&self) -> &dyn Provider {
        &*self.provider
    }

    /// What tokens cost, where that is known.
    pub fn prices(&self) -> Option<Prices> {
        self.options.prices
    }

    /// The key that a question's exchange is kept under.
    pub fn key(&self, question: &Question) -> LedgerKey {
        LedgerKey::of(self.provider.id(), question.template, &self.prompt(question))
    }

    /// Asks all questions. The exchanges come in the order of the questions, whatever the order of the answers.
    pub fn ask_all(
        &self,
        questions: Vec<Question>,
        ledger: &mut dyn Ledger,
        cancel: &Cancel,
    ) -> Result<(Vec<Exchange>, Tally), EngineError> {
        let mut exchanges: Vec<Option<Exchange>> = vec![None; questions.len()];
        let mut keep = |event: EngineEvent<'_>| {
            if let EngineEvent::Settled { index, exchange } = event
                && let Some(place) = exchanges.get_mut(index)
            {
                *place = Some(*exchange);
            }
        };
        let tally = self.ask(questions, ledger, cancel, &mut keep)?;
        Ok((exchanges.into_iter().flatten().collect(), tally))
    }

    /// Asks questions as they come, and tells of each as soon as it is done. Neither questions nor exchanges are held on to.
    pub fn ask(
        &self,
        questions: impl IntoIterator<Item = Question>,
        ledger: &mut dyn Ledger,
        cancel: &Cancel,
        tell: &mut dyn FnMut(EngineEvent<'_>),
    ) -> Result<Tally, EngineError> {
        let (sender, receiver) = channel();
        let asking = self.shared.clone().unwrap_or_else(|| self.asking());
        let before = asking.budget.calls();
        let mut flow = Flow {
            engine: self,
            asking,
            ledger,
            tell,
            sender,
            pending: BTreeMap::new(),
            waiting: 0,
            memo: BTreeMap::new(),
            tally: Tally::default(),
        };
        let result = flow.run(&mut questions.into_iter().fuse().enumerate(), &receiver, cancel);
        flow.abandon();
        result?;
        flow.tally.requests = flow.asking.budget.calls() - before;
        Ok(flow.tally)
    }

    fn asking(&self) -> Arc<Asking> {
        Arc::new(Asking::new(Arc::clone(&self.provider), self.options.clone()))
    }

    fn prompt(&self, question: &Question) -> Prompt {
        let prompt = question.prompt();
        Prompt { max_tokens: self.options.max_tokens.unwrap_or(prompt.max_tokens), ..prompt }
    }

    /// All parameters that requests may have come to, those as configured first. Which of them a provider took is found out by
    /// asking, and the ledger must be read without.
    fn adapted(&self) -> &[Value] {
        self.adapted.get_or_init(|| {
            let (configured, formats) = (&self.provider.id().parameters, self.provider.formats());
            match formats {
                // Who answers in one form only is nobody who could refuse anything.
                [_] => vec![configured.clone()],
                _ => Adaptation::all(configured, formats).iter().map(|one| one.parameters(configured)).collect(),
            }
        })
    }

    fn runtime(&self) -> Result<&Runtime, EngineError> {
        if let Some(runtime) = self.runtime.get() {
            return Ok(runtime);
        }
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let made = builder.worker_threads(2).thread_name("karat-judge").enable_all().build();
        let made = made.map_err(EngineError::Runtime)?;
        Ok(self.runtime.get_or_init(|| made))
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // A request that nobody waits for any more must not hold up the end.
            runtime.shutdown_background();
        }
    }
}

/// Somebody who waits for an answer.
struct Waiting {
    index: usize,
    question: String,
}

/// A question that is being asked.
struct Pending {
    handle: JoinHandle<()>,
    /// What is told when it is given up.
    blank: Box<Exchange>,
    /// Who asked, and who asked the same since.
    waiting: Vec<Waiting>,
}

/// The caller's side of one call.
struct Flow<'a> {
    engine: &'a Engine,
    asking: Arc<Asking>,
    ledger: &'a mut dyn Ledger,
    tell: &'a mut dyn FnMut(EngineEvent<'_>),
    sender: Sender<Message>,
    /// By the key that a question has with the parameters as configured.
    pending: BTreeMap<LedgerKey, Pending>,
    /// How many wait for what is pending.
    waiting: usize,
    /// What was answered and is kept nowhere else, for those who ask the same later.
    memo: BTreeMap<LedgerKey, Exchange>,
    tally: Tally,
}

impl Flow<'_> {
    fn run(
        &mut self,
        questions: &mut dyn Iterator<Item = (usize, Question)>,
        receiver: &Receiver<Message>,
        cancel: &Cancel,
    ) -> Result<(), EngineError> {
        // Some wait behind those that are being asked, so that nobody idles while exchanges are being kept.
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
                self.give_up(receiver)?;
            } else {
                self.collect(receiver)?;
            }
        }
        Ok(())
    }

    /// Answers from the ledger what it knows, and sets out to ask the rest.
    fn admit(&mut self, batch: Vec<(usize, Question)>, stopped: bool) -> Result<(), EngineError> {
        let provider = self.engine.provider.id();
        let prepare = |(index, question): (usize, Question)| {
            let prompt = self.engine.prompt(&question);
            let parts = KeyParts::new(provider, question.template, &prompt);
            let key = parts.with(&provider.parameters);
            let check = question.form.map(|form| form.check);
            let asked = Asked { question: question.id.clone(), prompt, key: parts, check };
            (Waiting { index, question: question.id }, question.template.name, asked, key)
        };
        let prepared: Vec<_> = batch.into_iter().map(prepare).collect();
        let known = match self.engine.options.cache.reads() {
            true => self.look_up(&prepared.iter().map(|(_, _, asked, _)| &asked.key).collect::<Vec<_>>())?,
            false => vec![None; prepared.len()],
        };
        for ((waiting, template, asked, key), known) in prepared.into_iter().zip(known) {
            self.tally.questions += 1;
            if let Some(exchange) = known.or_else(|| self.memo.get(&key).cloned()) {
                self.settle_one(waiting, exchange, true);
            } else if let Some(pending) = self.pending.get_mut(&key) {
                pending.waiting.push(waiting);
                self.waiting += 1;
            } else if self.engine.options.cache == CacheMode::Only {
                let (provider, model) = (provider.provider.clone(), provider.model.clone());
                return Err(EngineError::NotRecorded { question: waiting.question, key, provider, model });
            } else {
                let blank = Box::new(blank(key.clone(), provider.clone(), template, &asked.prompt));
                if stopped {
                    self.settle_one(waiting, cancelled(*blank), false);
                    continue;
                }
                let work = Arc::clone(&self.asking).ask(asked, (*blank).clone(), self.sender.clone());
                let handle = self.engine.runtime()?.spawn(work);
                self.waiting += 1;
                self.pending.insert(key, Pending { handle, blank, waiting: vec![waiting] });
            }
        }
        Ok(())
    }

    /// What the ledger knows, under the parameters that are sent now or under any others that they may have come to.
    fn look_up(&mut self, parts: &[&KeyParts]) -> Result<Vec<Option<Exchange>>, EngineError> {
        let now = self.asking.adaptation().parameters(&self.engine.provider.id().parameters);
        let mut get = |keys: &[LedgerKey]| {
            let keys: Vec<&LedgerKey> = keys.iter().collect();
            self.ledger.get_many(&keys).map_err(EngineError::Ledger)
        };
        let keys: Vec<LedgerKey> = parts.iter().map(|parts| parts.with(&now)).collect();
        let mut known = get(&keys)?;
        let others: Vec<&Value> = self.engine.adapted().iter().filter(|parameters| **parameters != now).collect();
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

    /// Waits for something to come back, and takes all that has.
    fn collect(&mut self, receiver: &Receiver<Message>) -> Result<(), EngineError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        match receiver.recv_timeout(TICK) {
            Ok(first) => {
                let batch: Vec<Message> =
                    std::iter::once(first).chain(receiver.try_iter()).take(LARGEST_BATCH).collect();
                self.take(batch, false)
            }
            Err(RecvTimeoutError::Timeout) => self.bury(receiver),
            // This side holds a sender itself.
            Err(RecvTimeoutError::Disconnected) => Ok(()),
        }
    }

    /// Keeps what is to be kept, and then tells of it.
    fn take(&mut self, batch: Vec<Message>, stopped: bool) -> Result<(), EngineError> {
        let (mut done, mut sending, mut fatal) = (Vec::new(), Vec::new(), None);
        for message in batch {
            match message {
                Message::Retrying { question, failures, wait, why } => {
                    (self.tell)(EngineEvent::Retrying { question: &question, failures, wait, why: &why });
                }
                Message::Sending(key, go) => sending.push((key, go)),
                Message::Done(key, exchange) => done.push((key, *exchange)),
                Message::Fatal(why) => fatal = Some(why),
            }
        }
        if self.engine.options.cache.writes() {
            let lasting: Vec<&Exchange> =
                done.iter().map(|(_, exchange)| exchange).filter(|exchange| exchange.is_lasting()).collect();
            if !lasting.is_empty() {
                self.ledger.put(&lasting).map_err(EngineError::Ledger)?;
            }
            let settled: Vec<&LedgerKey> = done.iter().map(|(key, _)| key).collect();
            if !settled.is_empty() {
                self.ledger.forget_sent(&settled).map_err(EngineError::Ledger)?;
            }
        }
        self.let_go(sending, stopped)?;
        for (key, exchange) in done {
            self.settle(&key, exchange);
        }
        let fatal = fatal.or_else(|| self.asking.opening.hopeless());
        let provider = || self.engine.provider.id().provider.clone();
        fatal.map_or(Ok(()), |why| Err(EngineError::Provider { provider: provider(), why }))
    }

    /// Notes in the ledger what is about to be sent, and lets it be sent; nothing is any more once somebody asked to stop.
    fn let_go(&mut self, sending: Vec<(LedgerKey, oneshot::Sender<()>)>, stopped: bool) -> Result<(), EngineError> {
        if sending.is_empty() || stopped {
            return Ok(());
        }
        let keys: Vec<&LedgerKey> = sending.iter().map(|(key, _)| key).collect();
        self.tally.sent_before += self.ledger.mark_sent(&keys).map_err(EngineError::Ledger)?;
        for (_, go) in sending {
            // Whoever was given up meanwhile sends nothing.
            let _ = go.send(());
        }
        Ok(())
    }

    /// Tells everybody who waits for an exchange.
    fn settle(&mut self, key: &LedgerKey, exchange: Exchange) {
        let Some(pending) = self.pending.remove(key) else { return };
        self.waiting -= pending.waiting.len();
        self.tally.tokens_in = self.tally.tokens_in.saturating_add(exchange.tokens_in);
        self.tally.tokens_out = self.tally.tokens_out.saturating_add(exchange.tokens_out);
        if let Some(usd) = exchange.usd {
            *self.tally.usd.get_or_insert(0.0) += usd;
        }
        if !self.engine.options.cache.writes() && exchange.is_lasting() {
            // Whoever asks later needs the decision alone.
            let memo = Exchange { system: String::new(), user: String::new(), ..exchange.clone() };
            self.memo.insert(key.clone(), memo);
        }
        let mut cached = false;
        let lasting = exchange.is_lasting();
        for waiting in pending.waiting {
            self.settle_one(waiting, exchange.clone(), cached);
            cached = lasting;
        }
    }

    fn settle_one(&mut self, waiting: Waiting, exchange: Exchange, cached: bool) {
        self.tally.cached += u64::from(cached);
        if !exchange.replies.is_empty() {
            self.tally.adapted.merge(Adapted::of(&exchange.provider.parameters));
        }
        match exchange.outcome {
            Outcome::Decided(_) => {}
            Outcome::Unjudged { .. } => self.tally.unjudged += 1,
            Outcome::Refused { .. } => self.tally.refused += 1,
        }
        let exchange = Box::new(Exchange { question: waiting.question, cached, ..exchange });
        (self.tell)(EngineEvent::Settled { index: waiting.index, exchange });
    }

    /// Somebody asked to stop: what has come back is kept, and the rest is named.
    fn give_up(&mut self, receiver: &Receiver<Message>) -> Result<(), EngineError> {
        self.abandon();
        let came_back = receiver.try_iter().collect();
        self.take(came_back, true)?;
        self.waiting = 0;
        for (_, pending) in std::mem::take(&mut self.pending) {
            for waiting in pending.waiting {
                self.settle_one(waiting, cancelled((*pending.blank).clone()), false);
            }
        }
        Ok(())
    }

    /// Names what ended without a word, which only a defect could do.
    fn bury(&mut self, receiver: &Receiver<Message>) -> Result<(), EngineError> {
        let ended = |pending: &Pending| pending.handle.is_finished();
        let silent: Vec<LedgerKey> =
            self.pending.iter().filter(|(_, p)| ended(p)).map(|(key, _)| key.clone()).collect();
        // What is finished has sent its word before, so anything that is not in the channel by now will never be.
        self.take(receiver.try_iter().collect(), false)?;
        for key in silent {
            if let Some(pending) = self.pending.get(&key) {
                let why = "asking ended without an answer, which is a defect of Karat".to_owned();
                let outcome = Outcome::Unjudged { reason: Unjudged::Unanswered, why };
                let buried = Exchange { outcome, ..(*pending.blank).clone() };
                self.settle(&key, buried);
            }
        }
        Ok(())
    }

    /// Ends all requests that are under way.
    fn abandon(&mut self) {
        for pending in self.pending.values() {
            pending.handle.abort();
        }
    }
}

/// An exchange before anything has come of it.
fn blank(key: LedgerKey, provider: super::provider::ProviderId, template: &str, prompt: &Prompt) -> Exchange {
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
        cached: false,
        outcome: Outcome::Unjudged { reason: Unjudged::Unanswered, why: String::new() },
    }
}

fn cancelled(blank: Exchange) -> Exchange {
    let outcome =
        Outcome::Unjudged { reason: Unjudged::Cancelled, why: "it was stopped before an answer came".to_owned() };
    Exchange { outcome, ..blank }
}

#[cfg(test)]
mod tests;
