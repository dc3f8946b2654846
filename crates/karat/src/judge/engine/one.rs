//! One question, from its first request to whatever comes of it.

use super::budget::Budget;
use super::options::EngineOptions;
use super::pace::{self, Pace};
use crate::judge::answer::{self, AnswerFault};
use crate::judge::ledger::{Exchange, Outcome, Unjudged};
use crate::judge::provider::{Provider, Reply, SendError, Stop};
use crate::judge::template::{Check, Prompt};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;

/// What all questions of one call share.
pub(super) struct Asking {
    pub(super) budget: Budget,
    provider: Arc<dyn Provider>,
    options: EngineOptions,
    slots: Semaphore,
    pace: Pace,
    answered: AtomicU64,
    rejected: AtomicU64,
    last_rejection: Mutex<String>,
}

/// What is asked.
pub(super) struct Asked {
    /// What the asker calls it.
    pub(super) question: String,
    pub(super) prompt: Prompt,
    /// What the answer must hold beyond its schema.
    pub(super) check: Option<Arc<dyn Check>>,
}

/// What the caller's thread hears.
pub(super) enum Message {
    Retrying { question: String, failures: u32, wait: Duration, why: String },
    Done(Box<Exchange>),
    Fatal(String),
}

/// Why there is no reply.
enum Failed {
    Outcome(Unjudged, String),
    Fatal(String),
}

impl Asking {
    pub(super) fn new(provider: Arc<dyn Provider>, options: EngineOptions) -> Self {
        Self {
            budget: Budget::new(options.prices, options.budget_usd, options.budget_calls),
            slots: Semaphore::new(options.concurrency.max(1)),
            pace: Pace::new(options.requests_per_minute),
            answered: AtomicU64::new(0),
            rejected: AtomicU64::new(0),
            last_rejection: Mutex::default(),
            provider,
            options,
        }
    }

    /// Asks, and sends word of what came of it.
    pub(super) async fn ask(self: Arc<Self>, asked: Asked, mut blank: Exchange, sender: Sender<Message>) {
        let message = match self.decide(&asked, &mut blank, &sender).await {
            Ok(outcome) => Message::Done(Box::new(Exchange { outcome, ..blank })),
            Err(Failed::Outcome(reason, why)) => {
                Message::Done(Box::new(Exchange { outcome: Outcome::Unjudged { reason, why }, ..blank }))
            }
            Err(Failed::Fatal(why)) => Message::Fatal(why),
        };
        // Nobody listens any more when the caller has given up.
        let _ = sender.send(message);
    }

    /// What the provider says against everything, when it has rejected so many questions and answered none.
    pub(super) fn is_hopeless(&self, most: u64) -> Option<String> {
        let hopeless = self.rejected.load(Ordering::Relaxed) >= most && self.answered.load(Ordering::Relaxed) == 0;
        let last = || self.last_rejection.lock().unwrap_or_else(PoisonError::into_inner).clone();
        hopeless.then(|| format!("it rejected every question so far ({most}): {}", last()))
    }

    async fn decide(
        &self,
        asked: &Asked,
        exchange: &mut Exchange,
        sender: &Sender<Message>,
    ) -> Result<Outcome, Failed> {
        let Asked { question, prompt, .. } = asked;
        let reply = self.reply(question, prompt, exchange, sender).await?;
        let fault = match read(&reply, asked) {
            Ok(outcome) => return Ok(outcome),
            Err(fault) => fault,
        };
        // What was said goes back with what is wrong with it, once.
        let said = reply.structured.as_ref().map_or_else(|| reply.text.clone(), ToString::to_string);
        let reply = self.reply(question, &prompt.repaired(&said, &fault.to_string()), exchange, sender).await?;
        read(&reply, asked).map_err(|again| {
            let why = format!("the answer could not be read: {fault}; and after asking for a better one: {again}");
            Failed::Outcome(Unjudged::Unreadable, why)
        })
    }

    /// A reply to a prompt, however many requests that takes.
    async fn reply(
        &self,
        question: &str,
        prompt: &Prompt,
        exchange: &mut Exchange,
        sender: &Sender<Message>,
    ) -> Result<Reply, Failed> {
        let mut failures = 0;
        loop {
            let (after, why) = match self.request(question, prompt, exchange).await? {
                Ok(reply) => {
                    self.answered.fetch_add(1, Ordering::Relaxed);
                    return Ok(reply);
                }
                Err(SendError::Retry { after, why }) => (after, why),
                Err(SendError::Rejected { why }) => {
                    self.last_rejection.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&why);
                    self.rejected.fetch_add(1, Ordering::Relaxed);
                    return Err(Failed::Outcome(Unjudged::Rejected, why));
                }
                Err(SendError::Fatal { why }) => return Err(Failed::Fatal(why)),
            };
            failures += 1;
            let options = &self.options;
            if failures > options.retries {
                return Err(Failed::Outcome(
                    Unjudged::Unanswered,
                    format!("{failures} requests failed, the last one: {why}"),
                ));
            }
            let wait = pace::wait(&exchange.key, options.seed, failures, options.backoff, options.longest_wait, after);
            let _ = sender.send(Message::Retrying { question: question.to_owned(), failures, wait, why });
            // Whoever waits holds no slot, so others go first.
            tokio::time::sleep(wait).await;
        }
    }

    /// One request, in its turn and within the budget.
    async fn request(
        &self,
        question: &str,
        prompt: &Prompt,
        exchange: &mut Exchange,
    ) -> Result<Result<Reply, SendError>, Failed> {
        // The slots are never closed.
        let _slot = self.slots.acquire().await;
        let leave = self.budget.leave(prompt).await;
        let spent = || Failed::Outcome(Unjudged::Budget, "the budget is spent".to_owned());
        let leave = leave.ok_or_else(spent)?;
        self.pace.turn().await;
        exchange.attempts += 1;
        let limit = self.options.timeout;
        let sent = tokio::time::timeout(limit, self.provider.send(question, prompt)).await;
        let sent = sent.unwrap_or_else(|_| {
            Err(SendError::Retry { after: None, why: format!("no answer within {} s", limit.as_secs_f64()) })
        });
        if let Ok(reply) = &sent {
            leave.spent(reply.tokens_in, reply.tokens_out);
            exchange.tokens_in += reply.tokens_in;
            exchange.tokens_out += reply.tokens_out;
            exchange.usd = self.budget.price(exchange.tokens_in, exchange.tokens_out);
            exchange.replies.push(reply.clone());
        }
        Ok(sent)
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
