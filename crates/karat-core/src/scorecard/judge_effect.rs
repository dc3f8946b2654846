//! The pairs on which a ranking may rest: those where judges and the profile's rules alone disagree, and those that judges are
//! unsure of.

use super::{CaseContext, JudgementsByTrial, vocabulary};
use crate::judgement::{Decision, Judgement};
use crate::matching::decisions::SettledPair;
use crate::profile::{Method, Profile};
use crate::suite::Suite;
use crate::trial::{Outcome, Trial};
use rayon::prelude::*;
use std::borrow::Cow;

/// Pairs that judges decided; what people decided is not among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairSelection {
    /// Judges refused what the profile's rules alone match, or matched what the rules alone do not.
    Disputed,
    /// The judge's probability lies near its threshold.
    Unsure,
}

/// A decided pair, by index of the trial, of the golden in its case and of the finding in the trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectedPair {
    pub trial: usize,
    pub golden: usize,
    pub finding: usize,
    pub matched: bool,
}

/// The selected pairs, in the order of the trials; none where pairs do not come about by score.
pub fn select_pairs(
    suite: &Suite,
    trials: &[Trial],
    judgements: &[Judgement],
    profile: &Profile,
    selection: PairSelection,
) -> Vec<SelectedPair> {
    let vocabulary = vocabulary(suite, profile);
    let context = CaseContext { cases: &suite.cases, vocabulary: &vocabulary, profile };
    select_pairs_in(context, trials, judgements, selection)
}

/// The same of the trials of some cases.
pub fn select_pairs_in(
    context: CaseContext<'_>,
    trials: &[Trial],
    judgements: &[Judgement],
    selection: PairSelection,
) -> Vec<SelectedPair> {
    if context.profile.method != Method::Score {
        return Vec::new();
    }
    let judged = JudgementsByTrial::new(judgements);
    let cases = context.prepare(trials);
    let is_unsure = |decided: &SettledPair<'_>| match judgements.get(decided.judgement).map(|own| &own.decision) {
        Some(Decision::Pair(pair)) => pair.is_unsure(),
        _ => false,
    };
    let of_trial = |(line, trial): (usize, &Trial)| -> Vec<SelectedPair> {
        let case = cases.get(trial.case.as_str()).filter(|_| trial.outcome == Outcome::Reported);
        let Some(case) = case.filter(|_| !judged.about(trial).is_empty()) else { return Vec::new() };
        let findings = case.prepare(&trial.findings);
        let decisions = judged.decisions(case.case, trial);
        let by_judges = decisions.pairs.iter().filter(|(_, decided)| !decided.judge.is_human());
        let selected = by_judges.filter(|((golden, finding), decided)| match selection {
            PairSelection::Disputed => decided.matched != case.matches_by_score(*golden, &findings, *finding),
            PairSelection::Unsure => is_unsure(decided),
        });
        let pair = |(&(golden, finding), decided): (&(usize, usize), &SettledPair<'_>)| SelectedPair {
            trial: line,
            golden,
            finding,
            matched: decided.matched,
        };
        selected.map(pair).collect()
    };
    let by_trial: Vec<Vec<SelectedPair>> = trials.par_iter().enumerate().map(of_trial).collect();
    by_trial.into_iter().flatten().collect()
}

/// What people said, and nothing of what other judges said about pairs: judgements for scoring by the profile's rules alone.
pub fn without_judges(judgements: &[Judgement]) -> Vec<Judgement> {
    let stays = |judgement: &&Judgement| match judgement.decision {
        Decision::Pair(_) => judgement.judge.is_human(),
        Decision::Unjudged(_) => false,
        Decision::Extra(_) | Decision::Audit(_) => true,
    };
    judgements.iter().filter(stays).cloned().collect()
}

/// Whether a judge, and no person, decides about a pair and is unsure of it.
pub fn is_unsure(judgement: &Judgement) -> bool {
    match &judgement.decision {
        Decision::Pair(pair) => !judgement.judge.is_human() && pair.is_unsure(),
        _ => false,
    }
}

/// The judgements with every pair that a judge is unsure of decided this way; borrowed if there is none.
pub fn with_unsure_decided(judgements: &[Judgement], matched: bool) -> Cow<'_, [Judgement]> {
    if !judgements.iter().any(is_unsure) {
        return Cow::Borrowed(judgements);
    }
    let mut decided = judgements.to_vec();
    for judgement in decided.iter_mut().filter(|judgement| is_unsure(judgement)) {
        if let Decision::Pair(pair) = &mut judgement.decision {
            let threshold = pair.threshold();
            pair.confidence = Some(if matched { threshold } else { 1.0 - threshold });
            pair.matched = matched;
        }
    }
    Cow::Owned(decided)
}
