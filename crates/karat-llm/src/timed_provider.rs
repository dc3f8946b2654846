//! A provider wrapper that measures how long requests take, without the time they wait in the engine.

use super::adaptation::{Adaptation, AnswerFormat};
use super::prompt::Prompt;
use super::provider::{Provider, ProviderId, SendFuture};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Measures the requests to another provider.
pub struct TimedProvider {
    inner: Box<dyn Provider>,
    log: TimingLog,
}

/// The timing of each question.
#[derive(Clone, Default)]
pub struct TimingLog(Arc<Mutex<BTreeMap<String, RequestTiming>>>);

/// The time that a question's requests took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct RequestTiming {
    pub time: Duration,
    /// Whether the last request was aborted before an answer came.
    pub cut_off: bool,
}

impl TimingLog {
    /// Removes and returns the timing of a question.
    pub fn take(&self, question: &str) -> RequestTiming {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(question).unwrap_or_default()
    }
}

impl TimedProvider {
    /// Measures the requests to `inner` and adds them to `log`.
    pub fn new(inner: Box<dyn Provider>, log: TimingLog) -> Self {
        Self { inner, log }
    }
}

impl Provider for TimedProvider {
    fn id(&self) -> &ProviderId {
        self.inner.id()
    }

    fn missing_setup(&self) -> Option<&str> {
        self.inner.missing_setup()
    }

    fn key_recipient(&self) -> Option<&str> {
        self.inner.key_recipient()
    }

    fn formats(&self) -> &'static [AnswerFormat] {
        self.inner.formats()
    }

    fn redact(&self, value: &mut Value) {
        self.inner.redact(value);
    }

    fn send<'a>(&'a self, question: &'a str, prompt: &'a Prompt, adaptation: &'a Adaptation) -> SendFuture<'a> {
        Box::pin(async move {
            let mut timer = RequestTimer { log: &self.log, question, began: Instant::now(), answered: false };
            let result = self.inner.send(question, prompt, adaptation).await;
            timer.answered = true;
            result
        })
    }
}

/// Records the time when dropped, since the future of a request that times out is dropped.
struct RequestTimer<'a> {
    log: &'a TimingLog,
    question: &'a str,
    began: Instant,
    answered: bool,
}

impl Drop for RequestTimer<'_> {
    fn drop(&mut self) {
        let mut log = self.log.0.lock().unwrap_or_else(PoisonError::into_inner);
        let timing = log.entry(self.question.to_owned()).or_default();
        timing.time += self.began.elapsed();
        timing.cut_off = !self.answered;
    }
}
