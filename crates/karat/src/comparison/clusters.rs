//! Clusters of cases, named by one of their fields.

use super::pairing::{Paired, Refusal};
use karat_core::clusters::{ClusterBy, Clustering, numbers};
use std::collections::BTreeSet;

/// What is done about cases of a pair that are alike.
pub(super) fn clustering(pair: &Paired<'_>, by: &ClusterBy) -> Result<Clustering, Refusal> {
    let field = by.field();
    let clustering = by.decide_from((0..pair.cases.len()).map(|at| value(pair, at, field)));
    if clustering.used && clustering.groups == 0 {
        let all = pair.cases.iter().flat_map(|(_, a, b)| a.fields.keys().chain(b.fields.keys()));
        let known: BTreeSet<&String> = all.collect();
        return Err(Refusal::NoField { field: field.to_owned(), known: known.into_iter().cloned().collect() });
    }
    Ok(clustering)
}

/// The cluster of each of some cases of a pair; none where every case stands alone.
pub(super) fn of_cases(pair: &Paired<'_>, cases: &[usize], clustering: &Clustering) -> Option<Vec<usize>> {
    let field = clustering.used_field()?;
    Some(numbers(cases.iter().map(|at| value(pair, *at, field))))
}

/// What a case says; an older baseline states no fields, but the other side does.
fn value<'p>(pair: &Paired<'p>, at: usize, field: &str) -> Option<&'p str> {
    let (_, a, b) = pair.cases[at];
    b.fields.get(field).or_else(|| a.fields.get(field)).map(String::as_str)
}
