//! Fits matching weights and threshold to labelled pairs.

#![expect(missing_docs, reason = "names of fields and variants say it")]

mod weights;

use crate::local_judge::evaluate::{auc, counts};
use crate::local_judge::fit::{Fold, folds};
use crate::local_judge::labels::LabelledTrial;
use crate::matching::assign::quantum;
use crate::matching::outcome::Parts;
use crate::matching::pair::{PreparedCase, weigh};
use crate::profile::{Method, Profile, Weights};
use crate::scorecard::vocabulary;
use crate::suite::{Case, Suite};
use rayon::prelude::*;
use serde::Serialize;
use weights::{FitPart, fit_parts, fitted_weights, rescaled, threshold, weighs};

const LEAST_PAIRS: usize = 30;

/// The fitted rules are better where their F1 on pairs held out is higher by this much; less is chance.
pub const LEAST_GAIN: f64 = 0.01;

/// New weights are several numbers more than a new threshold, and so must gain more over it.
pub const LEAST_GAIN_OF_WEIGHTS: f64 = 0.02;

const CURVE_STEPS: u32 = 20;

#[derive(Clone, Debug, PartialEq)]
pub struct LabelledPair {
    /// What its score is made of; absent where the profile's requirements or its demand for evidence forbid the pair.
    pub parts: Option<Parts>,
    pub matched: bool,
    pub group: String,
}

/// How well rules decide labelled pairs. What cannot be computed is absent, never 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figures {
    pub precision: Option<f64>,
    pub recall: Option<f64>,
    pub f1: Option<f64>,
    /// The chance that a match scores higher than a pair that is none.
    pub auc: Option<f64>,
    pub n: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct MatchFit {
    /// The weights of the parts of a score. Those that the profile can use sum to 1; as they were where none could be learned.
    pub weights: Weights,
    pub present_weights: Weights,
    pub threshold: f64,
    /// How many labelled pairs have each part, in the order of the weights.
    pub pairs_with_part: [usize; 4],
    /// Which parts are nearly the same in all pairs that have them, so that their weights were kept.
    pub kept: [bool; 4],
    /// Whether any pair has two parts that stand against each other; else weights are not learned, and only the threshold is.
    pub weighs: bool,
    pub matches: usize,
    /// How many can never count, whatever the weights.
    pub forbidden: usize,
    /// The present rules. They were not fitted to these pairs, so that this is as good as held out.
    pub present: Figures,
    /// The present weights with a threshold that was fitted to them.
    pub threshold_alone: ThresholdFit,
    pub in_sample: Figures,
    /// Each group decided by rules that were fitted on all others, or why there is nothing to hold out.
    pub held_out: Result<HeldOut, &'static str>,
}

/// A threshold that was fitted while the weights stay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThresholdFit {
    pub threshold: f64,
    pub in_sample: Figures,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeldOut {
    pub groups: usize,
    #[serde(flatten)]
    pub figures: Figures,
    /// The same with the present weights, and a threshold that was fitted on the other groups.
    pub threshold_alone: Figures,
    /// By thresholds from 0 to 1, the same for all groups: with the weights that the other groups gave.
    pub curve: Vec<CurvePoint>,
    pub present_curve: Vec<CurvePoint>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CurvePoint {
    pub threshold: f64,
    pub precision: Option<f64>,
    pub recall: Option<f64>,
    pub f1: Option<f64>,
}

/// Which of the fitted numbers to adopt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Advice {
    /// None: the present rules are as good, or nothing could be held out.
    Keep,
    /// The threshold; with it, the present weights are as good as others.
    Threshold,
    /// Weights and threshold.
    All,
}

impl MatchFit {
    /// Which fitted rules to adopt, by the held-out figures. Fewer changes win, unless the threshold gains
    /// [`LEAST_GAIN`], and the weights beside it [`LEAST_GAIN_OF_WEIGHTS`] more.
    pub fn advice(&self) -> Advice {
        let f1 = |held_out: &HeldOut| Some((held_out.figures.f1?, held_out.threshold_alone.f1?, self.present.f1?));
        match self.held_out.as_ref().ok().and_then(f1) {
            None => Advice::Keep,
            Some((all, alone, present)) if all.max(alone) < present + LEAST_GAIN => Advice::Keep,
            Some((all, alone, _)) if all < alone + LEAST_GAIN_OF_WEIGHTS => Advice::Threshold,
            Some(_) => Advice::All,
        }
    }
}

/// The labelled pairs of trials with the parts of their scores; `group` names the group of each case.
pub fn pairs(
    suite: &Suite,
    trials: &[LabelledTrial<'_>],
    profile: &Profile,
    group: impl Fn(&Case) -> String + Sync,
) -> Vec<LabelledPair> {
    let vocabulary = vocabulary(suite, profile);
    let of_trial = |own: &LabelledTrial<'_>| -> Vec<LabelledPair> {
        let case = PreparedCase::new(own.case, &vocabulary, profile);
        let findings = case.prepare(&own.trial.findings);
        let name = group(own.case);
        let width = own.trial.findings.len().max(1);
        let labelled = own.stated.iter().enumerate().filter_map(|(at, label)| Some((at, (*label)?)));
        labelled
            .map(|(at, matched)| {
                let (golden, finding) = (at / width, at % width);
                let scored = case.score(golden, &findings, finding).map(|(_, parts)| parts);
                let parts = scored.filter(|parts| case.has_evidence(golden, &findings, finding, parts));
                LabelledPair { parts, matched, group: name.clone() }
            })
            .collect()
    };
    trials.par_iter().map(of_trial).collect::<Vec<_>>().into_iter().flatten().collect()
}

/// Why nothing is fitted to a profile that does not compare scores.
pub fn no_scores(profile: &Profile) -> String {
    let name = &profile.name;
    format!(
        "the profile `{name}` does not compare scores, so there is nothing to fit; choose another with --profile, such as `karat`"
    )
}

/// Fits weights and threshold to labelled pairs, and measures them on groups held out in turn; else says why not.
pub fn fit(pairs: &[LabelledPair], profile: &Profile) -> Result<MatchFit, String> {
    const NOTHING_TO_SEPARATE: &str = "so there is nothing to separate; give labels of both kinds";
    const ALLOWED: &str = "the profile's `require`, `line_tolerance` and `evidence` allow";
    let n = pairs.len();
    let matches = pairs.iter().filter(|pair| pair.matched).count();
    let forbidden = pairs.iter().filter(|pair| pair.parts.is_none()).count();
    let allowed = n - forbidden;
    if profile.method != Method::Score {
        return Err(no_scores(profile));
    }
    if n < LEAST_PAIRS {
        return Err(format!(
            "{n} labelled pairs are too few to fit rules: at least {LEAST_PAIRS} are needed; label more"
        ));
    }
    if matches == 0 || matches == n {
        let which = if matches == 0 { "no" } else { "every" };
        return Err(format!("{which} labelled pair matches, {NOTHING_TO_SEPARATE}"));
    }
    if allowed < LEAST_PAIRS {
        return Err(format!(
            "{ALLOWED} {allowed} of the labelled pairs, but {LEAST_PAIRS} are needed; require less, or label more"
        ));
    }
    let one_kind = || format!("{ALLOWED} only pairs of one kind, {NOTHING_TO_SEPARATE}, or require less");
    let rules = Rules::learn(pairs, profile).ok_or_else(one_kind)?;
    let alone = Rules::learn_threshold(pairs, profile.weights.clone(), profile).ok_or_else(one_kind)?;
    let present = Rules { weights: profile.weights.clone(), threshold: profile.threshold };
    let has = |part: usize| pairs.iter().filter_map(|pair| pair.parts?.list()[part]).count();
    Ok(MatchFit {
        pairs_with_part: std::array::from_fn(has),
        kept: fit_parts(pairs.iter().filter_map(|pair| pair.parts.as_ref())).map(|part| part == FitPart::Kept),
        weighs: pairs.iter().filter_map(|pair| pair.parts.as_ref()).any(weighs),
        matches,
        forbidden,
        present: figures(&present.decide(pairs, profile)),
        threshold_alone: ThresholdFit { threshold: alone.threshold, in_sample: figures(&alone.decide(pairs, profile)) },
        in_sample: figures(&rules.decide(pairs, profile)),
        held_out: hold_out(pairs, profile),
        present_weights: rescaled(&profile.weights, &rules.weights),
        weights: rules.weights,
        threshold: rules.threshold,
    })
}

const ONE_GROUP: &str = "all labels belong to one group";
const ONE_KIND: &str = "without one of the groups, all labels are of one kind";

fn hold_out(pairs: &[LabelledPair], profile: &Profile) -> Result<HeldOut, &'static str> {
    let folds = folds(pairs, |pair| pair.group.clone());
    let groups = folds.len();
    if groups < 2 {
        return Err(ONE_GROUP);
    }
    let decided = folds.into_par_iter().map(|Fold { others, own, .. }| {
        let rules = Rules::learn(&others, profile).ok_or(ONE_KIND)?;
        let alone = Rules::learn_threshold(&others, profile.weights.clone(), profile).ok_or(ONE_KIND)?;
        Ok((rules.decide(&own, profile), alone.decide(&own, profile)))
    });
    let (decided, alone): (Vec<_>, Vec<_>) = decided.collect::<Result<Vec<_>, &str>>()?.into_iter().unzip();
    let (decided, alone) = (decided.concat(), alone.concat());
    Ok(HeldOut {
        figures: figures(&decided),
        threshold_alone: figures(&alone),
        groups,
        curve: curve(&decided),
        present_curve: curve(&alone),
    })
}

fn curve(decided: &[Decided]) -> Vec<CurvePoint> {
    let at = |step: u32| {
        let threshold = f64::from(step) / f64::from(CURVE_STEPS);
        let taken = |pair: &Decided| pair.score.is_some_and(|score| quantum(score) >= quantum(threshold));
        let counts = counts(decided.iter().map(|pair| (pair.matched, taken(pair))));
        let (precision, recall, f1) = (counts.precision().ok(), counts.recall().ok(), counts.f_beta(1.0).ok());
        CurvePoint { threshold, precision, recall, f1 }
    };
    (0..=CURVE_STEPS).map(at).collect()
}

struct Rules {
    weights: Weights,
    threshold: f64,
}

#[derive(Clone, Copy)]
struct Decided {
    /// None where the profile forbids the pair.
    score: Option<f64>,
    taken: bool,
    matched: bool,
}

impl Rules {
    /// None where the pairs that the profile allows are of one kind only.
    fn learn(pairs: &[LabelledPair], profile: &Profile) -> Option<Self> {
        Self::learn_threshold(pairs, fitted_weights(&allowed_of_both_kinds(pairs)?, profile), profile)
    }

    fn learn_threshold(pairs: &[LabelledPair], weights: Weights, profile: &Profile) -> Option<Self> {
        let score = |(parts, matched): (&Parts, bool)| (weigh(parts, &weights, profile.unstated), matched);
        Some(Self { threshold: threshold(allowed_of_both_kinds(pairs)?.into_iter().map(score).collect()), weights })
    }

    fn decide(&self, pairs: &[LabelledPair], profile: &Profile) -> Vec<Decided> {
        let decide = |pair: &LabelledPair| {
            let score = pair.parts.as_ref().map(|parts| weigh(parts, &self.weights, profile.unstated));
            // To the billionth, as matching does.
            let taken = score.is_some_and(|score| quantum(score) >= quantum(self.threshold));
            Decided { score, taken, matched: pair.matched }
        };
        pairs.iter().map(decide).collect()
    }
}

/// The pairs that the profile allows; none where all of them match, or none does.
fn allowed_of_both_kinds(pairs: &[LabelledPair]) -> Option<Vec<(&Parts, bool)>> {
    let rows: Vec<(&Parts, bool)> =
        pairs.iter().filter_map(|pair| Some((pair.parts.as_ref()?, pair.matched))).collect();
    let matches = rows.iter().filter(|(_, matched)| *matched).count();
    (matches > 0 && matches < rows.len()).then_some(rows)
}

fn figures(decided: &[Decided]) -> Figures {
    let counts = counts(decided.iter().map(|pair| (pair.matched, pair.taken)));
    Figures {
        precision: counts.precision().ok(),
        recall: counts.recall().ok(),
        f1: counts.f_beta(1.0).ok(),
        auc: auc(decided.iter().map(|pair| (pair.score.unwrap_or(0.0), pair.matched))),
        n: decided.len(),
    }
}

#[cfg(test)]
mod tests;
