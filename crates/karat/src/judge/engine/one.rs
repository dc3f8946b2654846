//! One question, from its first request to whatever comes of it.

use super::budget::Budget;
use super::opening::Opening;
use super::options::EngineOptions;
use super::pace::{self, Pace};
use crate::judge::adaptation::Adaptation;
use crate::judge::answer::{self, AnswerFault};
use crate::judge::ledger::{Exchange, KeyParts, LedgerKey, Outcome, Unjudged};
use crate::judge::provider::{Provider, Reply, SendError, Stop};
use crate::judge::template::{Check, Prompt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit, oneshot};

/// What all questions of one call share.
pub(super) struct Asking {
    pub(super) budget: Budget,
    provider: Arc<dyn Provider>,
    options: EngineOptions,
    slots: Semaphore,
    pace: Pace,
    pub(super) opening: Opening,
    /// What the provider has refused so far.
    adaptation: Mutex<Adaptation>,
}

/// What is asked.
pub(super) struct Asked {
    /// What the asker calls it.
    pub(super) question: String,
    pub(super) prompt: Prompt,
    /// What the exchange's key is made of.
    pub(super) key: KeyParts,
    /// What the answer must hold beyond its schema.
    pub(super) check: Option<Arc<dyn Check>>,
}

/// What the caller's thread hears.
pub(super) enum Message {
    Retrying {
        question: String,
        failures: u32,
        wait: Duration,
        why: String,
    },
    /// A question is about to be sent, and waits to be let go.
    Sending(LedgerKey, oneshot::Sender<()>),
    /// What came of a question, with the key that it goes by while it is being asked.
    Done(LedgerKey, Box<Exchange>),
    Fatal(String),
}

/// Why there is no reply.
enum Failed {
    /// The reason, and the words of the last request's failure.
    Outcome(Unjudged, String, String),
    Fatal(String),
}

impl Asking {
    pub(super) fn new(provider: Arc<dyn Provider>, options: EngineOptions) -> Self {
        Self {
            budget: Budget::new(options.prices, options.budget_usd, options.budget_calls),
            slots: Semaphore::new(options.concurrency.max(1)),
            pace: Pace::new(options.requests_per_minute),
            opening: Opening::new(options.start),
            adaptation: Mutex::default(),
            provider,
            options,
        }
    }

    /// What the provider has refused so far.
    pub(super) fn adaptation(&self) -> Adaptation {
        self.adaptation.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks, and sends word of what came of it.
    pub(super) async fn ask(self: Arc<Self>, asked: Asked, mut blank: Exchange, sender: Sender<Message>) {
        let key = blank.key.clone();
        let outcome = match self.decide(&asked, &mut blank, &sender).await {
            Ok(outcome) => Ok(outcome),
            Err(Failed::Outcome(reason, why, _)) => Ok(Outcome::Unjudged { reason, why }),
            Err(Failed::Fatal(why)) => Err(why),
        };
        let message = match outcome {
            Ok(outcome) => Message::Done(key, Box::new(self.struck(Exchange { outcome, ..blank }))),
            Err(why) => Message::Fatal(why),
        };
        // Nobody listens any more when the caller has given up.
        let _ = sender.send(message);
    }

    /// The exchange without the provider's key. Answers are parsed by now, so that striking cannot make them unreadable.
    fn struck(&self, exchange: Exchange) -> Exchange {
        let unkept = || Outcome::Unjudged { reason: Unjudged::Unreadable, why: "the answer cannot be kept".to_owned() };
        let outcome = self.strike(&exchange.outcome).unwrap_or_else(unkept);
        let replies = self.strike(&exchange.replies).unwrap_or_default();
        Exchange { outcome, replies, ..exchange }
    }

    fn strike<T: Serialize + DeserializeOwned>(&self, value: &T) -> Option<T> {
        let mut value = serde_json::to_value(value).ok()?;
        self.provider.strike(&mut value);
        serde_json::from_value(value).ok()
    }

    async fn decide(
        &self,
        asked: &Asked,
        exchange: &mut Exchange,
        sender: &Sender<Message>,
    ) -> Result<Outcome, Failed> {
        let Asked { prompt, .. } = asked;
        let turn = self.opening.enter().await;
        if let Some(why) = self.opening.hopeless() {
            return Err(Failed::Fatal(why));
        }
        let reply = self.reply(asked, prompt, exchange, sender).await;
        match &reply {
            Ok(_) => self.opening.replied(),
            Err(Failed::Outcome(Unjudged::Rejected, _, words)) => self.opening.failed(words, false),
            Err(Failed::Outcome(Unjudged::Unanswered, _, words)) => self.opening.failed(words, true),
            Err(_) => {}
        }
        drop(turn);
        let decided = self.understand(asked, reply?, exchange, sender).await;
        match &decided {
            Err(Failed::Outcome(Unjudged::Unreadable, why, _)) => self.opening.unreadable(why),
            Ok(_) => self.opening.readable(),
            Err(_) => {}
        }
        decided
    }

    /// What a reply comes to, after asking for a better one where it cannot be read.
    async fn understand(
        &self,
        asked: &Asked,
        reply: Reply,
        exchange: &mut Exchange,
        sender: &Sender<Message>,
    ) -> Result<Outcome, Failed> {
        let fault = match read(&reply, asked) {
            Ok(outcome) => return Ok(outcome),
            Err(fault) => fault,
        };
        // What was said goes back with what is wrong with it, once.
        let said = reply.structured.as_ref().map_or_else(|| reply.text.clone(), ToString::to_string);
        let reply = self.reply(asked, &asked.prompt.repaired(&said, &fault.to_string()), exchange, sender).await?;
        read(&reply, asked).map_err(|again| {
            let why = format!("the answer could not be read: {fault}; and after asking for a better one: {again}");
            Failed::Outcome(Unjudged::Unreadable, why, String::new())
        })
    }

    /// A reply to a prompt, however many requests that takes. What the provider refuses is left out, now and from then on.
    async fn reply(
        &self,
        asked: &Asked,
        prompt: &Prompt,
        exchange: &mut Exchange,
        sender: &Sender<Message>,
    ) -> Result<Reply, Failed> {
        let question = &asked.question;
        let mut failures = 0;
        // What is tried without, and the words of the refusal that led to it.
        let mut tried: Option<(Adaptation, String)> = None;
        // What was refused is tried otherwise at once: in the queue, all others would be refused meanwhile.
        let mut slot = None;
        loop {
            let trying = tried.as_ref().map(|(adaptation, _)| adaptation);
            let (adaptation, sent) = self.request(question, prompt, trying, &mut slot, exchange, sender).await?;
            let mut error = match sent {
                Ok(reply) => {
                    self.adapt(tried);
                    let parameters = adaptation.parameters(&self.provider.id().parameters);
                    exchange.key = asked.key.with(&parameters);
                    exchange.provider.parameters = parameters;
                    return Ok(reply);
                }
                Err(error) => error,
            };
            self.opening.stumbled();
            if let SendError::Refused { refused, otherwise } = error {
                let words = otherwise.to_string();
                // Other words than before mean that leaving something out made a difference; the same words may be about
                // something else, and what was left out is only kept to if an answer comes.
                if tried.as_ref().is_some_and(|(_, before)| *before != words) {
                    self.adapt(tried.take());
                }
                if let Some(next) = adaptation.without(&refused, self.provider.formats()) {
                    tried = Some((next, words));
                    continue;
                }
                error = *otherwise;
            }
            tried = None;
            slot = None;
            let (after, why) = match error {
                SendError::Retry { after, why } => (after, why),
                SendError::Rejected { why } => return Err(Failed::Outcome(Unjudged::Rejected, why.clone(), why)),
                SendError::Fatal { why } => return Err(Failed::Fatal(why)),
                // A refusal within a refusal; no provider makes one.
                SendError::Refused { .. } => return Err(Failed::Fatal(error.to_string())),
            };
            failures += 1;
            let options = &self.options;
            if failures > options.retries || !self.opening.is_patient() {
                let told = format!("{failures} requests failed, the last one: {why}");
                return Err(Failed::Outcome(Unjudged::Unanswered, told, why));
            }
            let wait = pace::wait(&exchange.key, options.seed, failures, options.backoff, options.longest_wait, after);
            let _ = sender.send(Message::Retrying { question: question.to_owned(), failures, wait, why });
            // Whoever waits holds no slot, so others go first.
            tokio::time::sleep(wait).await;
        }
    }

    /// Leaves out from now on what was left out with success.
    fn adapt(&self, tried: Option<(Adaptation, String)>) {
        if let Some((adaptation, _)) = tried {
            self.adaptation.lock().unwrap_or_else(PoisonError::into_inner).merge(&adaptation);
        }
    }

    /// One request, in its turn and within the budget, and how it was adapted. While it waits for its turn, others may learn
    /// what the provider refuses.
    async fn request<'s>(
        &'s self,
        question: &str,
        prompt: &Prompt,
        trying: Option<&Adaptation>,
        slot: &mut Option<SemaphorePermit<'s>>,
        exchange: &mut Exchange,
        sender: &Sender<Message>,
    ) -> Result<(Adaptation, Result<Reply, SendError>), Failed> {
        if slot.is_none() {
            // The slots are never closed.
            *slot = self.slots.acquire().await.ok();
        }
        let leave = self.budget.leave(prompt).await;
        let spent = || Failed::Outcome(Unjudged::Budget, "the budget is spent".to_owned(), String::new());
        let leave = leave.ok_or_else(spent)?;
        self.pace.turn().await;
        if exchange.attempts == 0 && self.options.cache.writes() {
            let (go, gone) = oneshot::channel();
            let _ = sender.send(Message::Sending(exchange.key.clone(), go));
            let stopped =
                |_| Failed::Outcome(Unjudged::Cancelled, "it was stopped before it was sent".into(), "".into());
            gone.await.map_err(stopped)?;
        }
        exchange.attempts += 1;
        let limit = self.options.timeout;
        let adaptation = trying.cloned().unwrap_or_else(|| self.adaptation());
        let sent = tokio::time::timeout(limit, self.provider.send(question, prompt, &adaptation)).await;
        let sent = sent.unwrap_or_else(|_| {
            Err(SendError::Retry { after: None, why: format!("no answer within {} s", limit.as_secs_f64()) })
        });
        if let Ok(reply) = &sent {
            leave.spent(reply.tokens_in, reply.tokens_out);
            exchange.tokens_in = exchange.tokens_in.saturating_add(reply.tokens_in);
            exchange.tokens_out = exchange.tokens_out.saturating_add(reply.tokens_out);
            exchange.usd = self.budget.price(exchange.tokens_in, exchange.tokens_out);
            exchange.replies.push(reply.clone());
        }
        Ok((adaptation, sent))
    }
}

/// What a reply comes to. An answer must fit its schema first, and then whatever the schema cannot say.
fn read(reply: &Reply, asked: &Asked) -> Result<Outcome, AnswerFault> {
    if let Stop::Refused(why) = &reply.stop {
        return Ok(Outcome::Refused { why: why.clone() });
    }
    let answer = answer::read(reply, &asked.prompt.schema)?;
    if let Some(check) = &asked.check {
        check.check(&answer).map_err(AnswerFault::Unfit)?;
    }
    Ok(Outcome::Decided(answer))
}
