//! Warnings a reader must know before trusting a number.

use super::CaseScore;
use crate::identity::key;
use crate::ids::ToolName;
use crate::profile::{Method, Profile};
use crate::suite::Suite;
use crate::trial::Outcome;
use crate::wording::plural;
use std::collections::BTreeMap;

pub(super) fn warn_of_trials(
    tool: &ToolName,
    cases: &[CaseScore],
    outcomes: &BTreeMap<Outcome, usize>,
    warnings: &mut Vec<String>,
) {
    for outcome in [Outcome::Crashed, Outcome::TimedOut, Outcome::Unparsable] {
        if let Some(&count) = outcomes.get(&outcome) {
            warnings.push(format!("{tool}: {} {}", crate::wording::count(count, "trial"), outcome.ended()));
        }
    }
    let all: usize = outcomes.values().sum();
    if let Some(&unavailable) = outcomes.get(&Outcome::Unavailable) {
        let cases = cases.iter().filter(|case| !case.trials.is_empty() && case.is_unavailable()).count();
        let cases =
            if cases > 0 { format!(", with {}", crate::wording::count(cases, "whole case")) } else { String::new() };
        warnings.push(format!(
            "{tool}: {unavailable} of {} unavailable: an outage, no key or a spent budget; left out of its figures{cases}",
            crate::wording::count(all, "trial")
        ));
    }
    if !outcomes.contains_key(&Outcome::Reported) {
        warnings.push(format!("{tool}: no trial came to a report, so it has no scores and no rank"));
    }
    let trials = || cases.iter().flat_map(|case| &case.trials);
    let odd = || trials().filter_map(|trial| trial.oddities.as_deref());
    let mut warn = |count: usize, text: &dyn Fn(usize) -> String| {
        if count > 0 {
            warnings.push(format!("{tool}: {}", text(count)));
        }
    };
    warn(odd().map(|odd| odd.unknown_judgements).sum(), &|n| {
        format!("{n} judgements name a golden or finding that its trials do not have; ignored")
    });
    warn(odd().map(|odd| odd.tied).sum(), &|n| {
        let are = plural(n, "pair or extra has", "pairs or extras have");
        format!(
            "{are} evenly split judges; what their confidences do not settle is no match and confirms nothing, and `karat \
             explain` shows both sides"
        )
    });
    warn(odd().filter(|odd| odd.tied_in_audit > 0).count(), &|n| {
        let decisions: usize = odd().map(|odd| odd.tied_in_audit).sum();
        let (are, each) = (plural(n, "trial has", "trials have"), crate::wording::count(decisions, "decision"));
        format!(
            "{are} audits that are evenly split, on {each}; what credits the tool least was used, and `karat explain` \
             names them"
        )
    });
    warn(trials().filter(|trial| trial.unaudited).count(), &|n| {
        let trials = plural(n, "trial was", "trials were");
        format!(
            "{trials} not audited, so its findings and targets are unknown; name a model that judges, or give audits"
        )
    });
    warn(odd().map(|odd| odd.unknown_in_audit).sum(), &|n| {
        format!("findings that audits classify but its trials do not have: {n}; they count as classified")
    });
    warn(odd().map(|odd| odd.crowded).sum(), &|n| {
        format!("goldens with too many candidate findings to assign them all: {n}; only the best candidates were used")
    });
    warn(odd().map(|odd| odd.shared_findings).sum(), &|n| {
        format!("goldens that share their finding with another: {n}; so TP + FP is not the number of findings")
    });
}

pub(super) const MOST_EXAMPLES: usize = 3;

pub(super) fn differing_findings(tool: &ToolName, cases: &[CaseScore]) -> Option<String> {
    let odd = || cases.iter().flat_map(|case| &case.trials).filter_map(|trial| trial.oddities.as_deref());
    let differing = || odd().map(|odd| &odd.differing_keys);
    let examples = differing().flat_map(|keys| &keys.examples).take(MOST_EXAMPLES).cloned().collect();
    let count = differing().map(|keys| keys.count).sum();
    Some(format!("{tool}: {}", differing_keys("finding has", "findings have", count, examples)?))
}

pub(super) fn differing_goldens(suite: &Suite, profile: &Profile) -> Option<String> {
    if profile.method != Method::Identity {
        return None;
    }
    let goldens = suite.cases.iter().flat_map(|case| case.goldens.iter().map(move |golden| (case, golden)));
    let described = goldens.filter_map(|(case, golden)| {
        Some(format!("{} {} {}", case.id, golden.id, key::golden_key_mismatch(golden, &profile.identity)?))
    });
    let mut described: Vec<String> = described.collect();
    let count = described.len();
    described.truncate(MOST_EXAMPLES);
    differing_keys("golden has", "goldens have", count, described)
}

fn differing_keys(one: &str, many: &str, count: usize, described: Vec<String>) -> Option<String> {
    let more = count - described.len();
    let rest = if more > 0 { format!("; and {more} more") } else { String::new() };
    let (subject, examples) = (plural(count, one, many), described.join("; "));
    (count > 0).then(|| {
        format!(
            "{subject} an identity key that differs from the computed key; the given key was used: {examples}{rest}"
        )
    })
}
