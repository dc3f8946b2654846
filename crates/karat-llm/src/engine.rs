//! Sends many questions to a provider concurrently. Every question ends answered, refused or unjudged; none is lost or sent twice.
//!
//! The caller's thread takes questions in, looks them up in the ledger, stores what comes back and emits events. The requests run
//! on a runtime beside it, as many at once as the judge allows. The number of questions in progress is limited, so memory use does
//! not grow with their number.

mod budget;
mod options;
mod request;
mod session;
mod warm_up;

pub use options::{EngineOptions, Prices, StartMode};

use super::adaptation::Adaptation;
use super::ledger::{Exchange, Ledger, LedgerError, LedgerKey};
use super::prompt::{Prompt, Question};
use super::provider::Provider;
use super::runtime::BackgroundRuntime;
use karat_io::cancel::Cancel;
use request::SharedState;
use serde_json::Value;
use std::sync::{Arc, OnceLock, PoisonError};
use std::time::Duration;

/// Sends questions to a provider.
pub struct Engine {
    provider: Arc<dyn Provider>,
    options: EngineOptions,
    runtime: BackgroundRuntime,
    /// Set if all calls share one budget and rate.
    shared: Option<Arc<SharedState>>,
    /// Parameters under which earlier exchanges may be stored, besides the current ones.
    adapted: OnceLock<Vec<Value>>,
}

/// Progress of a call to [`Engine::ask`].
#[derive(Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub enum EngineEvent<'a> {
    /// A request failed and will be retried.
    Retrying(&'a Retry),
    /// A question is done and, where it is to be stored, stored. `index` is its position, from 0.
    Settled { index: usize, exchange: Box<Exchange> },
}

/// A try that failed, and the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Retry {
    pub why: String,
    pub wait: Duration,
    /// The number of the next try, counted from 1.
    pub next: u32,
    /// The most tries that there will be.
    pub most: u32,
}

/// Counts over all questions of a call.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct EngineStats {
    pub questions: u64,
    /// Questions answered from the ledger or by an equal question just before.
    pub cached: u64,
    /// Questions without an answer, apart from refused ones.
    pub unjudged: u64,
    pub refused: u64,
    /// Requests that were made; where several calls share an engine, those of concurrent calls are included.
    pub requests: u64,
    pub tokens_in: u64,
    pub tokens_out: u64,
    pub usd: Option<f64>,
    /// Questions that were in flight when an earlier process was stopped, and may have been paid for twice.
    pub sent_before: u64,
    pub adapted: Adaptation,
}

impl EngineStats {
    fn add_cost(&mut self, tokens_in: u64, tokens_out: u64, usd: Option<f64>) {
        self.tokens_in = self.tokens_in.saturating_add(tokens_in);
        self.tokens_out = self.tokens_out.saturating_add(tokens_out);
        if let Some(usd) = usd {
            *self.usd.get_or_insert(0.0) += usd;
        }
    }
}

impl std::ops::AddAssign<&EngineStats> for EngineStats {
    fn add_assign(&mut self, other: &EngineStats) {
        self.questions += other.questions;
        self.cached += other.cached;
        self.unjudged += other.unjudged;
        self.refused += other.refused;
        self.requests += other.requests;
        self.add_cost(other.tokens_in, other.tokens_out, other.usd);
        self.sent_before += other.sent_before;
        self.adapted.merge(&other.adapted);
    }
}

/// Why the engine stopped. Earlier answers are stored.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages explain the variants")]
pub enum EngineError {
    #[error(
        "the ledger holds no answer of {model} ({provider}) to the question {question}: nothing is recorded under {key}, \
         and --judge-cache only asks nobody. Record it with --judge-cache read-write, or use the store that has it"
    )]
    NotRecorded { question: String, key: LedgerKey, provider: String, model: String },
    #[error("{provider} cannot be asked: {why}. What was answered before is kept{}", in_ledger(.ledger.as_deref()))]
    Provider { provider: String, why: String, ledger: Option<String> },
    #[error("the ledger: {0}")]
    Ledger(LedgerError),
    #[error("no threads to ask with: {0}")]
    Runtime(std::io::Error),
}

fn in_ledger(place: Option<&str>) -> String {
    place.map(|place| format!(" in the ledger of {place}")).unwrap_or_default()
}

impl Engine {
    /// Starts no thread and makes no connection before the first request.
    pub fn new(provider: Box<dyn Provider>, options: EngineOptions) -> Self {
        let (runtime, adapted) = (BackgroundRuntime::default(), OnceLock::new());
        Self { provider: provider.into(), options, runtime, shared: None, adapted }
    }

    /// Makes all calls share one budget, rate and concurrency limit; otherwise each call has its own.
    pub fn shared(mut self) -> Self {
        self.shared = Some(self.new_shared_state());
        self
    }

    /// The provider.
    pub fn provider(&self) -> &dyn Provider {
        &*self.provider
    }

    /// The prices of tokens, where known.
    pub fn prices(&self) -> Option<Prices> {
        self.options.prices
    }

    /// Whether answers are stored.
    pub fn stores_answers(&self) -> bool {
        self.options.cache.writes()
    }

    /// The ledger key of a question.
    pub fn key(&self, question: &Question) -> LedgerKey {
        LedgerKey::new(self.provider.id(), question.template, &self.prompt(question))
    }

    /// Asks all questions and returns the exchanges in the same order.
    pub fn ask_all(
        &self,
        questions: Vec<Question>,
        ledger: &mut dyn Ledger,
        cancel: &Cancel,
    ) -> Result<(Vec<Exchange>, EngineStats), EngineError> {
        let mut exchanges: Vec<Option<Exchange>> = vec![None; questions.len()];
        let mut collect = |event: EngineEvent<'_>| {
            if let EngineEvent::Settled { index, exchange } = event
                && let Some(slot) = exchanges.get_mut(index)
            {
                *slot = Some(*exchange);
            }
        };
        let stats = self.ask(questions, ledger, cancel, &mut collect)?;
        Ok((exchanges.into_iter().flatten().collect(), stats))
    }

    /// Asks questions as the iterator yields them, and calls `observer` for each as soon as it is done.
    pub fn ask(
        &self,
        questions: impl IntoIterator<Item = Question>,
        ledger: &mut dyn Ledger,
        cancel: &Cancel,
        observer: &mut dyn FnMut(EngineEvent<'_>),
    ) -> Result<EngineStats, EngineError> {
        session::ask(self, &mut questions.into_iter().fuse().enumerate(), ledger, cancel, observer)
    }

    fn new_shared_state(&self) -> Arc<SharedState> {
        Arc::new(SharedState::new(Arc::clone(&self.provider), self.options.clone()))
    }

    /// Reads what the server refused in earlier runs, once.
    fn recall(&self, state: &SharedState, ledger: &mut dyn Ledger) -> Result<(), EngineError> {
        let mut recalled = state.recalled.lock().unwrap_or_else(PoisonError::into_inner);
        // A provider without an address reads from a file and refuses nothing.
        if recalled.is_none() && self.options.cache.reads() && self.provider.endpoint().is_some() {
            let found = ledger.recall_adaptation(&state.server_key()).map_err(EngineError::Ledger)?;
            found.iter().for_each(|found| state.adopt_recalled(found));
            *recalled = Some(state.adaptation());
        }
        Ok(())
    }

    fn prompt(&self, question: &Question) -> Prompt {
        let prompt = question.prompt();
        Prompt { max_tokens: self.options.max_tokens.unwrap_or(prompt.max_tokens), ..prompt }
    }

    /// All parameters that requests may have been adapted to, the configured ones first. Which of them a provider accepts is
    /// learned by sending requests, but the ledger must be read without.
    fn possible_parameters(&self) -> &[Value] {
        self.adapted.get_or_init(|| {
            let (configured, formats) = (&self.provider.id().parameters, self.provider.formats());
            match formats {
                // A provider with a single answer format reads from a file and refuses nothing.
                [_] => vec![configured.clone()],
                _ => Adaptation::all(configured, formats).iter().map(|one| one.parameters(configured)).collect(),
            }
        })
    }
}

#[cfg(test)]
mod tests;
