//! Who decided what about which item.

use crate::failure::{Failure, Result};
use karat_core::panel::{AuditField, AuditRatings};
use serde::Serialize;
use std::collections::BTreeMap;

/// The decision on which agreement is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum On {
    /// Whether a finding reports a golden.
    Match,
    Found,
    /// A decision of audits.
    Audit(AuditField),
    /// The column of a CSV file.
    Value,
}

impl On {
    /// All decisions that judgements contain, with their names on the command line and in JSON.
    pub const NAMES: [(&str, Self); 12] = [
        ("match", Self::Match),
        ("found", Self::Found),
        ("classification", Self::Audit(AuditField::Classification)),
        ("matches_target", Self::Audit(AuditField::MatchesTarget)),
        ("is_valid_concern", Self::Audit(AuditField::IsValidConcern)),
        ("verdict", Self::Audit(AuditField::SaidVulnerable)),
        ("confidence", Self::Audit(AuditField::ConfidenceExpressed)),
        ("target.found", Self::Audit(AuditField::TargetFound)),
        ("type_match", Self::Audit(AuditField::TypeMatch)),
        ("rcir", Self::Audit(AuditField::Rcir)),
        ("ava", Self::Audit(AuditField::Ava)),
        ("fsv", Self::Audit(AuditField::Fsv)),
    ];

    pub(super) fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, on)| *on == self).map_or("value", |(name, _)| name)
    }
}

/// What was rated: a trial and perhaps a golden and a finding of it, or an item of a CSV file.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Item {
    /// The name in a CSV file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) item: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) case: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) trial: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) golden: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) finding: Option<String>,
}

impl Item {
    pub(super) fn for_trial(case: &str, tool: &str, trial: u32) -> Self {
        Self { case: Some(case.to_owned()), tool: Some(tool.to_owned()), trial: Some(trial), ..Self::default() }
    }
}

/// One rating, before values have numbers.
#[derive(Clone, Debug)]
pub(super) struct Rated {
    pub(super) item: Item,
    pub(super) rater: String,
    pub(super) value: RatingValue,
    pub(super) explanation: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) enum RatingValue {
    /// The index in a fixed list.
    Listed(usize),
    Number(f64),
    Word(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Opinion {
    pub(super) rater: usize,
    pub(super) value: usize,
    pub(super) explanation: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scale {
    Nominal,
    Ordinal,
    /// The number of each value.
    Interval(Vec<f64>),
}

/// All opinions on all items.
#[derive(Clone, Debug, PartialEq)]
pub struct Opinions {
    pub(super) on: On,
    /// Sorted by name.
    pub(super) raters: Vec<String>,
    /// Rising if they have an order.
    pub(super) values: Vec<String>,
    pub(super) scale: Scale,
    /// Sorted, with opinions in the order of raters.
    pub(super) items: Vec<(Item, Vec<Opinion>)>,
    pub(super) notes: Vec<String>,
    /// The answers to each decision of the audits among the judgements, unless one decision was asked for.
    pub(super) audits: Option<AuditRatings>,
}

pub(super) fn no_ratings(on: On, there: &str) -> Failure {
    Failure::bad_input(format!("nobody decided `{}`: {there}", on.name()))
}

/// Groups ratings by item; without a fixed list, the values are the numbers or words that occur.
pub(super) fn gather(
    on: On,
    rated: Vec<Rated>,
    listed: Option<(Vec<String>, Scale)>,
    notes: Vec<String>,
) -> Result<Opinions> {
    let mut raters: Vec<String> = rated.iter().map(|rated| rated.rater.clone()).collect();
    raters.sort_unstable();
    raters.dedup();
    if let [rater] = raters.as_slice() {
        let help = "agreement needs two raters, so give the files of the others too";
        return Err(Failure::bad_input(format!("all ratings are by {rater}; {help}")));
    }
    let mut numbers: Vec<f64> = Vec::new();
    let mut words: Vec<String> = Vec::new();
    for rated in &rated {
        match &rated.value {
            RatingValue::Listed(_) => {}
            RatingValue::Number(number) => numbers.push(*number),
            RatingValue::Word(word) => words.push(word.clone()),
        }
    }
    numbers.sort_by(f64::total_cmp);
    numbers.dedup();
    words.sort_unstable();
    words.dedup();
    let mut items: BTreeMap<Item, Vec<Opinion>> = BTreeMap::new();
    for Rated { item, rater, value, explanation } in rated {
        let value = match value {
            RatingValue::Listed(at) => at,
            RatingValue::Number(number) => numbers.partition_point(|known| *known < number),
            RatingValue::Word(word) => words.partition_point(|known| *known < word),
        };
        let rater = raters.partition_point(|known| *known < rater);
        items.entry(item).or_default().push(Opinion { rater, value, explanation });
    }
    let (values, scale) = listed.unwrap_or_else(|| match numbers.is_empty() {
        true => (words, Scale::Nominal),
        false => (numbers.iter().map(f64::to_string).collect(), Scale::Interval(numbers)),
    });
    let mut items: Vec<(Item, Vec<Opinion>)> = items.into_iter().collect();
    for (_, opinions) in &mut items {
        opinions.sort_by_key(|opinion| opinion.rater);
        // An audit may name a finding twice; the first counts.
        opinions.dedup_by_key(|opinion| opinion.rater);
    }
    Ok(Opinions { on, raters, values, scale, items, notes, audits: None })
}
