//! Quality of findings by audit class (tier 3).

use super::{Value, ratio};
use crate::judgement::Classification;
use crate::panel::PeopleOnFinding;
use crate::profile::HarmWeights;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// How many findings are of each class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Classes {
    pub(super) counts: [f64; Classification::ALL.len()],
    /// Findings called another true problem by a model, which no person confirmed.
    pub(crate) unconfirmed_bonus: f64,
    /// Findings that people call valid or not, and of which no class is known that agrees with it.
    pub(super) unclassified: [f64; 2],
}

/// How many findings of a tool audits judged, and as what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AuditedFindingsV1")]
pub struct AuditedFindings {
    /// All of them, over all trials.
    pub total: usize,
    /// TARGET_MATCH, PARTIAL_MATCH or BONUS_VALID, or valid by the word of people.
    pub valid: usize,
    /// The others.
    pub invalid: usize,
    /// HALLUCINATED ones.
    pub hallucinated: usize,
}

/// What is known of one finding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AuditedFinding {
    pub(crate) class: Option<Classification>,
    pub(crate) people: PeopleOnFinding,
    pub(crate) is_valid: Option<bool>,
}

const NONE: &str = "no audited finding";

impl Classes {
    /// Counts one finding, by its class. A class that a model gave does not count where people say that it cannot be.
    pub(crate) fn add(&mut self, finding: AuditedFinding) {
        let AuditedFinding { class, people, is_valid } = finding;
        let by_people = people.is_valid.filter(|_| !people.classified);
        match (class.filter(|class| by_people.is_none_or(|valid| valid == class.is_valid())), by_people.or(is_valid)) {
            (Some(class), _) => {
                self.counts[class as usize] += 1.0;
                let confirmed = people.classified || by_people == Some(true);
                self.unconfirmed_bonus += f64::from(u8::from(class == Classification::BonusValid && !confirmed));
            }
            (None, Some(valid)) => self.unclassified[usize::from(valid)] += 1.0,
            (None, None) => {}
        }
    }

    pub fn count(&self, class: Classification) -> f64 {
        self.counts[class as usize]
    }

    pub(crate) fn total(&self) -> f64 {
        self.counts.iter().chain(&self.unclassified).sum()
    }

    pub(crate) fn valid(&self) -> f64 {
        let valid = Classification::ALL.into_iter().filter(|class| class.is_valid());
        valid.map(|class| self.count(class)).sum::<f64>() + self.unclassified[1]
    }

    pub(crate) fn audited(&self) -> AuditedFindings {
        // Each finding counts 1.
        let [total, valid, invalid] = [self.total(), self.valid(), self.invalid()].map(|count| count as usize);
        AuditedFindings { total, valid, invalid, hallucinated: self.count(Classification::Hallucinated) as usize }
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
        let classified: f64 =
            Classification::ALL.into_iter().map(|class| weights.weight(class) * self.count(class)).sum();
        // Of what is invalid in an unknown way, no more harm is assumed than of any class.
        let invalid = Classification::ALL.into_iter().filter(|class| !class.is_valid());
        let least = invalid.map(|class| weights.weight(class)).fold(f64::INFINITY, f64::min);
        self.share(classified + least * self.unclassified[0])
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
        for (own, more) in self.unclassified.iter_mut().zip(other.unclassified) {
            *own += more;
        }
    }
}

#[cfg(test)]
mod tests;
