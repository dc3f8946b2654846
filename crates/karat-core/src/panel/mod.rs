//! Several judges as one: what a panel decides, and what it cannot.
//!
//! Nothing here depends on the order of the judges, and what all of them say stays as it is. An even split is never settled
//! by who spoke first: it is left open or goes by a rule that is written down, and is named either way.

mod audits;
mod pairs;

pub use audits::{AuditConsensus, audits};
pub use pairs::{FEWEST_ITEMS, FEWEST_JUDGES, Ruling, Rulings, Vote, pairs};

/// How voices become a decision.
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
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, way)| *way)
    }
}

#[cfg(test)]
mod tests;
