//! Cross-validation: holds out one group of cases at a time.

use super::LocalJudge;
use super::evaluate::{Figures, Predictions, predict};
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
    let folds = folds(trials, |own| group(own.case));
    let judged = folds.into_par_iter().map(|Fold { name, others, own }| {
        let params = fit(&others, Provenance::default())?;
        let threshold = params.threshold;
        let judge = LocalJudge::new(params).map_err(|_| FitError::NoMatches)?;
        Ok((name, predict(&judge, &own), threshold))
    });
    let judged = judged.collect::<Result<Vec<(String, Predictions, f64)>, FitError>>()?;
    let mut all = Predictions::default();
    let mut groups = BTreeMap::new();
    for (name, predictions, threshold) in judged {
        groups.insert(name, (predictions.figures(), threshold));
        all.append(predictions);
    }
    Ok(HeldOut { groups, pooled: all.figures() })
}

pub(crate) struct Fold<T> {
    pub(crate) name: String,
    pub(crate) others: Vec<T>,
    pub(crate) own: Vec<T>,
}

/// Every group in turn, in the order of their names; what is in a group keeps its order.
pub(crate) fn folds<T: Clone>(items: &[T], group: impl Fn(&T) -> String) -> Vec<Fold<T>> {
    let of_item: Vec<String> = items.iter().map(group).collect();
    let mut names = of_item.clone();
    names.sort();
    names.dedup();
    let part = |name: &String, inside: bool| -> Vec<T> {
        let wanted = |(_, own): &(&T, &String)| (*own == name) == inside;
        items.iter().zip(&of_item).filter(wanted).map(|(item, _)| item.clone()).collect()
    };
    names.into_iter().map(|name| Fold { others: part(&name, false), own: part(&name, true), name }).collect()
}
