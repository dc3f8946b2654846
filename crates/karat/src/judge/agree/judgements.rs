//! Opinions from judgements.

use super::opinions::{Item, On, Opinions, Rated, RatingValue, Scale, gather, no_ratings};
use crate::failure::Result;
use karat_core::ids::FindingId;
use karat_core::judgement::{Decision, Judgement, PairDecision};
use karat_core::panel::{AuditAnswer, AuditField, AuditRatings};
use karat_core::stats::agreement::Level;
use karat_core::suite::{Case, Suite};
use karat_core::trial::{Outcome, Trial};
use karat_core::wording::plural;
use std::collections::{BTreeMap, BTreeSet};

/// Which goldens there were to be found; trials may come from several submissions.
pub(super) type SuiteTrials<'a> = (&'a Suite, &'a [Trial]);

/// The opinions in judgements; by default on matches if there are any, else on the first decision of audits that two judges
/// share, and with the agreement on each of the ten. `trials` are for [`On::Found`].
pub(super) fn from_judgements(
    judgements: &[Judgement],
    on: Option<On>,
    trials: Option<SuiteTrials<'_>>,
) -> Result<Opinions> {
    let Some(on) = on else {
        let mut audits = AuditRatings::default();
        judgements.iter().for_each(|judgement| audits.add(judgement));
        let has_pairs = judgements.iter().any(|judgement| matches!(judgement.decision, Decision::Pair(_)));
        let on = if has_pairs { On::Match } else { On::Audit(audits.first_shared()) };
        let opinions = from_judgements(judgements, Some(on), trials)?;
        return Ok(Opinions { audits: Some(audits), ..opinions });
    };
    let mut notes = Vec::new();
    let rated = match on {
        On::Found => found(judgements, trials, &mut notes),
        _ => judgements.iter().flat_map(|judgement| ratings(judgement, on)).collect(),
    };
    if rated.is_empty() {
        return Err(no_ratings(on, &alternatives(judgements, on)));
    }
    let field = match on {
        On::Match | On::Found => AuditField::TargetFound,
        On::Audit(field) => field,
        On::Value => return gather(on, rated, None, notes),
    };
    let scale = if field.level() == Level::Ordinal { Scale::Ordinal } else { Scale::Nominal };
    let values = field.categories().map(|names| names.into_iter().map(str::to_owned).collect());
    gather(on, rated, values.map(|values| (values, scale)), notes)
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
        (Decision::Audit(audit), On::Audit(field)) => {
            // Each judge numbers the claims of a text anew.
            let answers =
                field.answers(audit).into_iter().filter(|(finding, _)| !finding.is_some_and(FindingId::is_claim));
            let rated = answers.map(|(finding, answer)| {
                let item = Item { finding: finding.map(ToString::to_string), ..trial.clone() };
                let value = match answer {
                    AuditAnswer::Category(category) => RatingValue::Listed(category),
                    AuditAnswer::Number(number) => RatingValue::Number(number),
                };
                rate(item, value, &audit.explanation)
            });
            rated.collect()
        }
        _ => Vec::new(),
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
    if there.is_empty() {
        return "the judgements contain no decision about the same items".to_owned();
    }
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
        let value = RatingValue::Listed(usize::from(audit.target.as_ref()?.found?));
        Some(Rated { item, rater, value, explanation: audit.explanation.clone() })
    };
    judgements.iter().filter_map(rated).collect()
}
