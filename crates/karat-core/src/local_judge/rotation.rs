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
    let mut names: Vec<String> = trials.iter().map(|own| group(own.case)).collect();
    let of_trial = names.clone();
    names.sort();
    names.dedup();
    let part = |name: &String, inside: bool| -> Vec<LabelledTrial<'_>> {
        trials
            .iter()
            .zip(&of_trial)
            .filter(|(_, own)| (*own == name) == inside)
            .map(|(trial, _)| trial.clone())
            .collect()
    };
    let parts: Vec<_> = names.into_iter().map(|name| (part(&name, false), part(&name, true), name)).collect();
    let judged = parts.into_par_iter().map(|(others, own, name)| {
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
