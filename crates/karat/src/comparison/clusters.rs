//! Clusters of cases, named by one of their fields.

use super::pairing::{Paired, Refusal};
use std::collections::{BTreeMap, BTreeSet};

/// The cluster of every case.
pub(super) struct Clusters {
    /// By the places given.
    pub(super) of_case: Vec<usize>,
    /// How many cases do not state the field.
    pub(super) alone: usize,
}

/// The clusters of some cases of a pair; a case that does not state the field stands alone.
pub(super) fn clusters(pair: &Paired<'_>, cases: &[usize], field: &str) -> Result<Clusters, Refusal> {
    // A baseline states no fields; the other side does.
    let stated = |at: usize| {
        let (_, a, b) = pair.cases[at];
        b.fields.get(field).or_else(|| a.fields.get(field))
    };
    if !(0..pair.cases.len()).any(|at| stated(at).is_some()) {
        let all = pair.cases.iter().flat_map(|(_, a, b)| a.fields.keys().chain(b.fields.keys()));
        let known: BTreeSet<&String> = all.collect();
        return Err(Refusal::NoField { field: field.to_owned(), known: known.into_iter().cloned().collect() });
    }
    let values: BTreeSet<&String> = cases.iter().filter_map(|at| stated(*at)).collect();
    let numbers: BTreeMap<&String, usize> = values.into_iter().zip(0..).collect();
    let mut alone = 0;
    let number = |at: &usize| {
        stated(*at).and_then(|value| numbers.get(value).copied()).unwrap_or_else(|| {
            alone += 1;
            numbers.len() + alone
        })
    };
    let of_case = cases.iter().map(number).collect();
    Ok(Clusters { of_case, alone })
}
