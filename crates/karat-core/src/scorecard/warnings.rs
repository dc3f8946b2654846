//! Warnings a reader must know before trusting a number.

use super::CaseScore;
use crate::identity::key::{self, KeyMismatch};
use crate::ids::ToolName;
use crate::profile::{Method, Profile};
use crate::suite::Suite;
use crate::trial::{Outcome, Trial};
use std::collections::BTreeMap;

pub(super) fn warn_of_trials(
    tool: &ToolName,
    cases: &[CaseScore],
    outcomes: &BTreeMap<Outcome, usize>,
    warnings: &mut Vec<String>,
) {
    for outcome in [Outcome::Crashed, Outcome::TimedOut, Outcome::Unparsable] {
        if let Some(&count) = outcomes.get(&outcome) {
            let noun = if count == 1 { "trial" } else { "trials" };
            warnings.push(format!("{tool}: {count} {noun} {}", outcome.ended()));
        }
    }
    let trials = || cases.iter().flat_map(|case| &case.trials);
    let strangers: usize = trials().map(|trial| trial.unknown_judgements).sum();
    if strangers > 0 {
        warnings.push(format!(
            "{tool}: {strangers} judgements name a golden or finding that its trials do not have; ignored"
        ));
    }
    let split = trials().filter(|trial| trial.split_audit).count();
    if split > 0 {
        warnings.push(format!(
            "{tool}: trials whose audits are evenly split about the verdict: {split}; the first audit was used"
        ));
    }
    let unaudited = trials().filter(|trial| trial.unaudited).count();
    if unaudited > 0 {
        let noun = if unaudited == 1 { "trial was" } else { "trials were" };
        warnings.push(format!(
            "{tool}: {unaudited} {noun} not audited, so its findings and targets are unknown; name a model that judges, or \
             give audits"
        ));
    }
    let unknown: usize = trials().map(|trial| trial.unknown_in_audit).sum();
    if unknown > 0 {
        warnings.push(format!(
            "{tool}: findings that audits classify but its trials do not have: {unknown}; they count as classified"
        ));
    }
    let crowded: usize = trials().map(|trial| trial.result.crowded).sum();
    if crowded > 0 {
        warnings.push(format!(
            "{tool}: goldens with too many candidate findings to assign them all: {crowded}; only the best candidates were used"
        ));
    }
    let shared: Vec<usize> = trials().filter_map(|trial| trial.shared_findings).collect();
    if !shared.is_empty() {
        warnings.push(format!(
            "{tool}: goldens that share their finding with another: {}; so TP + FP is not the number of findings",
            shared.iter().sum::<usize>()
        ));
    }
}

/// Maximum number of examples in a warning.
const MOST_EXAMPLES: usize = 3;

/// Findings that carry another key than the computed one.
pub(super) fn warn_of_keys(
    tool: &ToolName,
    cases: &[CaseScore],
    trials: &[Trial],
    profile: &Profile,
    warnings: &mut Vec<String>,
) {
    let scores = || cases.iter().flat_map(|case| &case.trials);
    let count: usize = scores().map(|score| score.differing_keys.len()).sum();
    if count == 0 {
        return;
    }
    let examples = scores().flat_map(|score| score.differing_keys.iter().map(move |f| (score.line, *f)));
    let examples = examples.filter_map(|(line, f)| {
        let trial = &trials[line?];
        let KeyMismatch { stated, computed } = key::key_mismatch(&trial.findings[f], &profile.identity)?;
        Some(format!("{} {} has {stated}, computed {computed}", trial.case, trial.findings[f].id))
    });
    let examples: Vec<String> = examples.take(MOST_EXAMPLES).collect();
    let (noun, verb) = if count == 1 { ("finding", "has") } else { ("findings", "have") };
    warnings.push(format!(
        "{tool}: {count} {noun} {verb} an identity key that differs from the computed key; the given key was used: {}",
        join_examples(&examples, count)
    ));
}

/// Goldens that state another key than the computed ones.
pub(super) fn differing_goldens(suite: &Suite, profile: &Profile) -> Option<String> {
    if profile.method != Method::Identity {
        return None;
    }
    let goldens = suite.cases.iter().flat_map(|case| case.goldens.iter().map(move |golden| (case, golden)));
    let mut count = 0;
    let mut examples = Vec::new();
    for (case, golden) in goldens {
        let Some(KeyMismatch { stated, computed }) = key::golden_key_mismatch(golden, &profile.identity) else {
            continue;
        };
        count += 1;
        if examples.len() < MOST_EXAMPLES {
            examples.push(format!("{} {} has {stated}, computed {computed}", case.id, golden.id));
        }
    }
    let (noun, verb) = if count == 1 { ("golden", "has") } else { ("goldens", "have") };
    (count > 0).then(|| {
        format!(
            "{count} {noun} {verb} an identity key that differs from the computed key; the given key was used: {}",
            join_examples(&examples, count)
        )
    })
}

fn join_examples(examples: &[String], count: usize) -> String {
    let more = count - examples.len().min(count);
    let rest = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("{}{rest}", examples.join("; "))
}
