//! The ledger stores every exchange with a model under a hash of everything its answer depends on.

pub use super::exchange::{Answer, Exchange, FailureReason, LedgerKey, sorted};

use super::adaptation::Adaptation;
use super::permits::{Permit, PermitRequest, SettledRequest, SharedLimits};
use std::collections::BTreeMap;

/// Storage of exchanges.
pub trait Ledger {
    /// The exchanges under these keys, in the same order.
    fn get_many(&mut self, keys: &[&LedgerKey]) -> Result<Vec<Option<Exchange>>, LedgerError>;

    /// Stores exchanges durably. Existing entries are not replaced, but for those whose answer could not be read.
    fn put(&mut self, exchanges: &[&Exchange]) -> Result<(), LedgerError>;

    /// Where it is, for messages; `None` if it does not outlive the process.
    fn place(&self) -> Option<String> {
        None
    }

    /// Whether other processes use it at the same time. Then every request needs a permit, and limits are shared.
    fn is_shared(&self) -> bool {
        false
    }

    /// Decides about requests, in the same order. Without others, the first request of each question is noted, so that what was in
    /// flight when a process was stopped is known, and all are granted.
    fn permit(&mut self, _limits: &SharedLimits, requests: &[PermitRequest]) -> Result<Vec<Permit>, LedgerError> {
        Ok(requests.iter().map(|_| Permit::Granted { was_sent: false }).collect())
    }

    /// Replaces what was reserved for requests by what they cost.
    fn settle_requests(&mut self, _limits: &SharedLimits, _settled: &[SettledRequest]) -> Result<(), LedgerError> {
        Ok(())
    }

    /// What a server was found to refuse, under the key that names it.
    fn recall_adaptation(&mut self, _server: &str) -> Result<Option<Adaptation>, LedgerError> {
        Ok(None)
    }

    /// Remembers what a server refuses, beside what is remembered of it already.
    fn remember_adaptation(&mut self, _server: &str, _adaptation: &Adaptation) -> Result<(), LedgerError> {
        Ok(())
    }

    /// Removes the notes of questions that are settled.
    fn forget_sent(&mut self, _keys: &[&LedgerKey]) -> Result<(), LedgerError> {
        Ok(())
    }
}

/// An error of the storage behind a ledger.
pub type LedgerError = Box<dyn std::error::Error + Send + Sync>;

/// A ledger in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryLedger {
    exchanges: BTreeMap<LedgerKey, Exchange>,
    adaptations: BTreeMap<String, Adaptation>,
}

impl MemoryLedger {
    /// All exchanges, by key.
    pub fn exchanges(&self) -> impl Iterator<Item = &Exchange> {
        self.exchanges.values()
    }
}

impl Ledger for MemoryLedger {
    fn get_many(&mut self, keys: &[&LedgerKey]) -> Result<Vec<Option<Exchange>>, LedgerError> {
        Ok(keys.iter().map(|key| self.exchanges.get(*key).cloned()).collect())
    }

    fn put(&mut self, exchanges: &[&Exchange]) -> Result<(), LedgerError> {
        for exchange in exchanges {
            let stored = self.exchanges.entry(exchange.key.clone()).or_insert_with(|| (*exchange).clone());
            if stored.answer.is_unreadable() {
                stored.clone_from(exchange);
            }
        }
        Ok(())
    }

    fn recall_adaptation(&mut self, server: &str) -> Result<Option<Adaptation>, LedgerError> {
        Ok(self.adaptations.get(server).cloned())
    }

    fn remember_adaptation(&mut self, server: &str, adaptation: &Adaptation) -> Result<(), LedgerError> {
        self.adaptations.entry(server.to_owned()).or_default().merge(adaptation);
        Ok(())
    }
}

/// How the ledger is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheMode {
    /// Use stored exchanges and store new ones.
    #[default]
    ReadWrite,
    /// Use stored exchanges, but store nothing.
    Read,
    /// Use stored exchanges only; a missing one is an error.
    Only,
    /// Neither use nor store exchanges.
    Off,
}

impl CacheMode {
    /// Whether stored exchanges are used.
    pub fn reads(self) -> bool {
        self != Self::Off
    }

    pub(super) fn writes(self) -> bool {
        self == Self::ReadWrite
    }
}
