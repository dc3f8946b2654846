//! Combines several judges into one decision.
//!
//! Results do not depend on the order of the judges, and unanimous decisions stay as they are. A tie is left
//! open or settled by a documented rule, and is reported either way.

mod audits;
mod pairs;

pub use audits::{AuditConsensus, settle_audits};
pub use pairs::{FEWEST_ITEMS, FEWEST_JUDGES, PanelDecision, PanelDecisions, Vote, settle_pairs};

/// How votes become a decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Consensus {
    /// Every voice weighs the same.
    #[default]
    Majority,
    /// A voice weighs by how its judge errs, which is learnt from all items together.
    DawidSkene,
}

impl Consensus {
    /// All ways, as they are typed.
    pub const NAMES: [(&str, Self); 2] = [("majority", Self::Majority), ("dawid-skene", Self::DawidSkene)];

    /// The way of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, way)| *way)
    }
}

#[cfg(test)]
mod tests;
