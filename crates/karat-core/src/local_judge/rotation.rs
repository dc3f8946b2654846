//! Whole groups of cases held out in turn, so that figures speak of what the judge has never seen.

use super::LocalJudge;
use super::evaluate::{Figures, Seen, seen};
use super::fit::{FitError, fit};
use super::labels::LabelledTrial;
use super::params::Provenance;
use crate::suite::Case;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// How groups did that were each judged by parameters fitted on all others.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldOut {
    /// By the name of the group: its figures and the threshold that the others gave.
    pub groups: BTreeMap<String, (Figures, f64)>,
    /// All groups' decisions taken together.
    pub pooled: Figures,
}

/// Judges each group by parameters that were fitted on all others; `group` names the group of each trial.
pub fn hold_out(trials: &[LabelledTrial<'_>], group: impl Fn(&Case) -> String) -> Result<HeldOut, FitError> {
    let turns = turns(trials, |own| group(own.case));
    let judged = turns.into_par_iter().map(|Turn { name, others, own }| {
        let params = fit(&others, Provenance::default())?;
        let threshold = params.threshold;
        let judge = LocalJudge::new(params).map_err(|_| FitError::NoMatches)?;
        Ok((name, seen(&judge, &own), threshold))
    });
    let judged = judged.collect::<Result<Vec<(String, Seen, f64)>, FitError>>()?;
    let mut all = Seen::default();
    let mut groups = BTreeMap::new();
    for (name, seen, threshold) in judged {
        groups.insert(name, (seen.figures(), threshold));
        all.append(seen);
    }
    Ok(HeldOut { groups, pooled: all.figures() })
}

/// One group beside all others.
pub(crate) struct Turn<T> {
    /// The name of the group.
    pub(crate) name: String,
    /// What to learn from.
    pub(crate) others: Vec<T>,
    /// What to be measured on.
    pub(crate) own: Vec<T>,
}

/// Every group in turn, in the order of their names; what is in a group keeps its order.
pub(crate) fn turns<T: Clone>(items: &[T], group: impl Fn(&T) -> String) -> Vec<Turn<T>> {
    let of_item: Vec<String> = items.iter().map(group).collect();
    let mut names = of_item.clone();
    names.sort();
    names.dedup();
    let part = |name: &String, inside: bool| -> Vec<T> {
        let wanted = |(_, own): &(&T, &String)| (*own == name) == inside;
        items.iter().zip(&of_item).filter(wanted).map(|(item, _)| item.clone()).collect()
    };
    names.into_iter().map(|name| Turn { others: part(&name, false), own: part(&name, true), name }).collect()
}
