//! Quality of findings by audit class (tier 3).

use super::{Value, ratio};
use crate::judgement::Classification;
use crate::profile::HarmWeights;
use std::ops::AddAssign;

/// How many findings are of each class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Classes {
    pub(super) counts: [f64; Classification::ALL.len()],
    /// Findings called another true problem by a model, which no person confirmed.
    pub(crate) unconfirmed_bonus: f64,
}

const NONE: &str = "no audited finding";

impl Classes {
    /// Counts one finding; `confirmed` where a person says so.
    pub(crate) fn add(&mut self, class: Classification, confirmed: bool) {
        self.counts[class as usize] += 1.0;
        self.unconfirmed_bonus += f64::from(u8::from(class == Classification::BonusValid && !confirmed));
    }

    pub fn count(&self, class: Classification) -> f64 {
        self.counts[class as usize]
    }

    pub(crate) fn total(&self) -> f64 {
        self.counts.iter().sum()
    }

    pub(crate) fn valid(&self) -> f64 {
        Classification::ALL.into_iter().filter(|class| class.is_valid()).map(|class| self.count(class)).sum()
    }

    pub(crate) fn invalid(&self) -> f64 {
        self.total() - self.valid()
    }

    pub(crate) fn precision(&self) -> Value {
        self.share(self.valid())
    }

    /// The same, a bonus that no person confirmed counting `credit`.
    pub(crate) fn precision_confirmed(&self, credit: f64) -> Value {
        self.share(self.valid() - self.unconfirmed_bonus + credit * self.unconfirmed_bonus)
    }

    pub(crate) fn harm_rate(&self, weights: &HarmWeights) -> Value {
        self.share(Classification::ALL.into_iter().map(|class| weights.weight(class) * self.count(class)).sum())
    }

    pub(super) fn share(&self, part: f64) -> Value {
        ratio(part, self.total(), NONE)
    }
}

impl AddAssign for Classes {
    fn add_assign(&mut self, other: Self) {
        for (own, more) in self.counts.iter_mut().zip(other.counts) {
            *own += more;
        }
        self.unconfirmed_bonus += other.unconfirmed_bonus;
    }
}

#[cfg(test)]
mod tests;
