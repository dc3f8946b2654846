//! Opinions from judgements.

use super::golden_found::{Trials, found};
use super::opinions::{Item, On, Opinions, Rated, RatingValue, Scale, gather, no_ratings};
use crate::failure::Result;
use karat_core::judgement::{AuditDecision, Classification, Decision, Judgement, PairDecision, TypeMatch};

/// The opinions in judgements; by default on matches if there are any, else on verdicts. `trials` are for [`On::Found`].
pub(super) fn from_judgements(
    judgements: &[Judgement],
    on: Option<On>,
    trials: Option<&Trials<'_>>,
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
        On::Verdict => Some(RatingValue::Listed(audit.said_vulnerable.map_or(0, |said| 1 + usize::from(said)))),
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
