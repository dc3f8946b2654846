//! How long requests were under way, which only whoever sends them can tell from waiting for a turn.

use super::adaptation::{Adaptation, AnswerFormat};
use super::provider::{Provider, ProviderId, Sending};
use super::template::Prompt;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A provider whose requests are timed.
pub(crate) struct Watched {
    inner: Box<dyn Provider>,
    log: Log,
}

/// What was spent on each question.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<BTreeMap<String, Spent>>>);

/// What was spent on a question.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Spent {
    /// How long its requests were under way, taken together.
    pub(crate) time: Duration,
    /// Whether the last of them was given up before an answer came.
    pub(crate) cut_off: bool,
}

impl Log {
    /// What was spent on a question, which is then forgotten.
    pub(crate) fn take(&self, question: &str) -> Spent {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(question).unwrap_or_default()
    }
}

impl Watched {
    pub(crate) fn new(inner: Box<dyn Provider>, log: Log) -> Self {
        Self { inner, log }
    }
}

impl Provider for Watched {
    fn id(&self) -> &ProviderId {
        self.inner.id()
    }

    fn lacks(&self) -> Option<&str> {
        self.inner.lacks()
    }

    fn entrusts(&self) -> Option<&str> {
        self.inner.entrusts()
    }

    fn formats(&self) -> &'static [AnswerFormat] {
        self.inner.formats()
    }

    fn strike(&self, value: &mut Value) {
        self.inner.strike(value);
    }

    fn send<'a>(&'a self, question: &'a str, prompt: &'a Prompt, adaptation: &'a Adaptation) -> Sending<'a> {
        Box::pin(async move {
            let mut request = Request { log: &self.log, question, began: Instant::now(), answered: false };
            let sent = self.inner.send(question, prompt, adaptation).await;
            request.answered = true;
            sent
        })
    }
}

/// A request that is under way. One that took too long is dropped by whoever waits for it, and that is how it ends.
struct Request<'a> {
    log: &'a Log,
    question: &'a str,
    began: Instant,
    answered: bool,
}

impl Drop for Request<'_> {
    fn drop(&mut self) {
        let mut log = self.log.0.lock().unwrap_or_else(PoisonError::into_inner);
        let spent = log.entry(self.question.to_owned()).or_default();
        spent.time += self.began.elapsed();
        spent.cut_off = !self.answered;
    }
}
