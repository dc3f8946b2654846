//! Opinions from judgements.

use super::opinions::{Item, On, Opinions, Rated, RatingValue, Scale, gather, no_ratings};
use crate::failure::Result;
use karat_core::judgement::{AuditDecision, Classification, Decision, Judgement, PairDecision, TypeMatch};
use karat_core::suite::{Case, Suite};
use karat_core::trial::{Outcome, Trial};
use karat_core::wording::plural;
use std::collections::{BTreeMap, BTreeSet};

/// Which goldens there were to be found; trials may come from several submissions.
pub(super) type SuiteTrials<'a> = (&'a Suite, &'a [Trial]);

/// The opinions in judgements; by default on matches if there are any, else on verdicts. `trials` are for [`On::Found`].
pub(super) fn from_judgements(
    judgements: &[Judgement],
    on: Option<On>,
    trials: Option<SuiteTrials<'_>>,
) -> Result<Opinions> {
    let on = on.unwrap_or_else(|| {
        let has_pairs = judgements.iter().any(|judgement| matches!(judgement.decision, Decision::Pair(_)));
        if has_pairs { On::Match } else { On::Verdict }
    });
    let mut notes = Vec::new();
    let rated = match on {
        On::Found => found(judgements, trials, &mut notes),
        _ => judgements.iter().flat_map(|judgement| ratings(judgement, on)).collect(),
    };
    if rated.is_empty() {
        return Err(no_ratings(on, &alternatives(judgements, on)));
    }
    let (values, scale) = match on {
        On::Match | On::Found => (vec!["false", "true"], Scale::Nominal),
        On::Verdict => (vec!["none", "safe", "vulnerable"], Scale::Nominal),
        On::Classification => (Classification::ALL.map(Classification::as_str).to_vec(), Scale::Nominal),
        On::TypeMatch => (type_matches().map(TypeMatch::as_str).to_vec(), Scale::Ordinal),
        On::Rcir | On::Ava | On::Fsv | On::Value => return gather(on, rated, None, notes),
    };
    let values = values.into_iter().map(str::to_owned).collect();
    gather(on, rated, Some((values, scale)), notes)
}

/// From the worst to the best.
fn type_matches() -> [TypeMatch; 5] {
    let mut levels = TypeMatch::ALL;
    levels.reverse();
    levels
}

fn ratings(judgement: &Judgement, on: On) -> Vec<Rated> {
    let trial = Item::for_trial(judgement.case.as_str(), judgement.tool.as_str(), judgement.trial);
    let rate = |item: Item, value: RatingValue, explanation: &Option<String>| {
        let rater = judgement.judge.to_string();
        Rated { item, rater, value, explanation: explanation.clone() }
    };
    match (&judgement.decision, on) {
        (Decision::Pair(pair), On::Match) => {
            let PairDecision { golden, finding, matched, explanation, .. } = pair;
            let (golden, finding) = (golden.as_ref().map(ToString::to_string), Some(finding.to_string()));
            vec![rate(Item { golden, finding, ..trial }, RatingValue::Listed(usize::from(*matched)), explanation)]
        }
        (Decision::Audit(audit), On::Classification) => {
            let rated = audit.findings.iter().filter_map(|found| {
                let at = Classification::ALL.iter().position(|class| *class == found.classification)?;
                let item = Item { finding: Some(found.finding.to_string()), ..trial.clone() };
                Some(rate(item, RatingValue::Listed(at), &audit.explanation))
            });
            rated.collect()
        }
        (Decision::Audit(audit), _) => {
            audit_value(audit, on).map(|value| rate(trial, value, &audit.explanation)).into_iter().collect()
        }
        (Decision::Pair(_) | Decision::Unjudged(_) | Decision::Extra(_), _) => Vec::new(),
    }
}

fn audit_value(audit: &AuditDecision, on: On) -> Option<RatingValue> {
    let target = audit.target.as_ref();
    match on {
        On::Verdict => Some(RatingValue::Listed(audit.said_vulnerable.map_or(0, |answer| 1 + usize::from(answer)))),
        On::TypeMatch => {
            let stated = target?.type_match?;
            type_matches().iter().position(|level| *level == stated).map(RatingValue::Listed)
        }
        On::Rcir => target?.rcir.map(RatingValue::Number),
        On::Ava => target?.ava.map(RatingValue::Number),
        On::Fsv => target?.fsv.map(RatingValue::Number),
        On::Match | On::Found | On::Classification | On::Value => None,
    }
}

fn alternatives(judgements: &[Judgement], on: On) -> String {
    if judgements.is_empty() {
        return "the files contain no judgement".to_owned();
    }
    let others = On::NAMES.into_iter().filter(|(_, other)| *other != on);
    let there = others.filter(|(_, other)| match other {
        On::Found => !found(judgements, None, &mut Vec::new()).is_empty(),
        other => judgements.iter().any(|judgement| !ratings(judgement, *other).is_empty()),
    });
    let there: Vec<String> = there.map(|(name, _)| format!("--on {name}")).collect();
    format!("the judgements contain other decisions; try {}", there.join(" or "))
}

/// Case, tool and trial.
type Key<'a> = (&'a str, &'a str, u32);

#[derive(Default)]
struct GoldenOpinion<'a> {
    found: bool,
    explanation: Option<&'a String>,
}

/// Whether each golden was found: any of its pairs matched. A trial without findings found nothing, which needs no judgement.
fn found(judgements: &[Judgement], trials: Option<SuiteTrials<'_>>, notes: &mut Vec<String>) -> Vec<Rated> {
    let mut opinions: BTreeMap<(Key<'_>, &str, &str), GoldenOpinion<'_>> = BTreeMap::new();
    let mut judged: BTreeMap<Key<'_>, BTreeSet<&str>> = BTreeMap::new();
    let mut nameless = 0;
    for judgement in judgements {
        let Decision::Pair(pair) = &judgement.decision else { continue };
        let (key, judge) = (key(judgement), judgement.judge.as_str());
        judged.entry(key).or_default().insert(judge);
        let Some(golden) = &pair.golden else {
            nameless += usize::from(pair.matched);
            continue;
        };
        let opinion = opinions.entry((key, golden.as_str(), judge)).or_default();
        // The explanation of the first match, else of the last pair that did not match.
        if !opinion.found {
            opinion.explanation = pair.explanation.as_ref();
        }
        opinion.found |= pair.matched;
    }
    if judged.is_empty() {
        return targets(judgements);
    }
    if nameless > 0 {
        notes.push(format!("{} no golden and count for none", plural(nameless, "match names", "matches name")));
    }
    if let Some(trials) = trials {
        fill(&mut opinions, &judged, trials, notes);
    }
    let rated = |((key, golden, judge), opinion): ((Key<'_>, &str, &str), GoldenOpinion<'_>)| Rated {
        item: Item { golden: Some(golden.to_owned()), ..Item::for_trial(key.0, key.1, key.2) },
        rater: judge.to_owned(),
        value: RatingValue::Listed(usize::from(opinion.found)),
        explanation: opinion.explanation.cloned(),
    };
    opinions.into_iter().map(rated).collect()
}

fn key(judgement: &Judgement) -> Key<'_> {
    (judgement.case.as_str(), judgement.tool.as_str(), judgement.trial)
}

/// Adds implied decisions: a judge of a trial found no other goldens in it, and a trial without findings or judgements found
/// none. A judge who decided nothing about a trial that others judged has no opinion, and nobody has one about an outage.
fn fill<'a>(
    opinions: &mut BTreeMap<(Key<'a>, &'a str, &'a str), GoldenOpinion<'a>>,
    judged: &BTreeMap<Key<'a>, BTreeSet<&'a str>>,
    (suite, trials): SuiteTrials<'a>,
    notes: &mut Vec<String>,
) {
    let judges: BTreeSet<&str> = judged.values().flatten().copied().collect();
    let cases: BTreeMap<&str, &Case> = suite.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let mut silent: BTreeMap<Key<'_>, bool> = BTreeMap::new();
    for trial in trials.iter().filter(|trial| trial.outcome != Outcome::Unavailable) {
        let key = (trial.case.as_str(), trial.tool.as_str(), trial.number);
        *silent.entry(key).or_default() |= trial.findings.is_empty();
    }
    let mut undecided = 0;
    for (key, silent) in &silent {
        let deciders = judged.get(key);
        for judge in &judges {
            if !silent && deciders.is_some_and(|deciders| !deciders.contains(judge)) {
                undecided += 1;
                continue;
            }
            for golden in cases.get(key.0).into_iter().flat_map(|case| &case.goldens) {
                opinions.entry((*key, golden.id.as_str(), judge)).or_default();
            }
        }
    }
    if undecided > 0 {
        let times = plural(undecided, "time", "times");
        notes.push(format!("{times} a judge decided nothing about a trial that others judged; treated as missing"));
    }
    let foreign = judged.keys().filter(|key| !silent.contains_key(*key)).count();
    if foreign > 0 {
        notes.push(format!("{foreign} judged trials are not in the submissions; of those, only judged goldens count"));
    }
}

/// For audits: whether the target was found.
fn targets(judgements: &[Judgement]) -> Vec<Rated> {
    let rated = |judgement: &Judgement| {
        let Decision::Audit(audit) = &judgement.decision else { return None };
        let (case, tool, trial) = key(judgement);
        let (item, rater) = (Item::for_trial(case, tool, trial), judgement.judge.to_string());
        let value = RatingValue::Listed(usize::from(audit.target.as_ref()?.found));
        Some(Rated { item, rater, value, explanation: audit.explanation.clone() })
    };
    judgements.iter().filter_map(rated).collect()
}
