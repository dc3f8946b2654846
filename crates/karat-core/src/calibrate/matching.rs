//! Fits matching weights and threshold to labelled pairs.

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
use weights::{FitPart, fit_parts, fitted_weights, rescaled, threshold, weighs};

/// Minimum number of labelled pairs.
pub const LEAST_PAIRS: usize = 30;

/// The fitted rules are better where their F1 on pairs held out is higher by this much; less is chance.
pub const LEAST_GAIN: f64 = 0.01;

/// New weights are several numbers more than a new threshold, and so must gain more over it.
pub const LEAST_GAIN_OF_WEIGHTS: f64 = 0.02;

/// How many steps from 0 to 1 the thresholds of a curve take.
const CURVE_STEPS: u32 = 20;

/// A labelled pair as the rules see it.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct LabelledPair {
    /// What its score is made of; absent where the pair can never count, as the profile requires more or asks for evidence that
    /// it lacks.
    pub parts: Option<Parts>,
    pub matched: bool,
    pub group: String,
}

/// How well rules decide labelled pairs. What cannot be computed is absent, never 0.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Figures {
    pub precision: Option<f64>,
    pub recall: Option<f64>,
    pub f1: Option<f64>,
    /// The chance that a match scores higher than a pair that is none.
    pub auc: Option<f64>,
    pub n: usize,
}

/// Fitted rules with in-sample and held-out figures.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct MatchFit {
    /// The weights of the parts of a score. Those that the profile can use sum to 1; as they were where none could be learned.
    pub weights: Weights,
    pub present_weights: Weights,
    pub threshold: f64,
    /// How many labelled pairs have each part, in the order of the weights.
    pub seen: [usize; 4],
    /// Which parts are nearly the same in all pairs that have them, so that their weights were kept.
    pub kept: [bool; 4],
    /// Whether any pair has two parts that stand against each other; else weights are not learned, and only the threshold is.
    pub weighs: bool,
    pub matches: usize,
    /// How many can never count, whatever the weights: the profile requires more, or asks for evidence that they lack.
    pub forbidden: usize,
    /// The present rules. They were not fitted to these pairs, so that this is as good as held out.
    pub present: Figures,
    /// The present weights with a threshold that was fitted to them.
    pub threshold_alone: ThresholdFit,
    pub in_sample: Figures,
    /// Each group decided by rules that were fitted on all others, or why there is nothing to hold out.
    pub held_out: Result<HeldOut, HoldOutError>,
}

/// A threshold that was fitted while the weights stay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThresholdFit {
    /// The score from which a pair counts.
    pub threshold: f64,
    /// How it decides the pairs that it was fitted to.
    pub in_sample: Figures,
}

/// What came of holding out each group in turn.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct HeldOut {
    pub figures: Figures,
    /// The same with the present weights, and a threshold that was fitted on the other groups.
    pub threshold_alone: Figures,
    pub groups: usize,
    /// By thresholds from 0 to 1, the same for all groups: with the weights that the other groups gave.
    pub curve: Vec<CurvePoint>,
    pub present_curve: Vec<CurvePoint>,
}

/// What a threshold would decide.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct CurvePoint {
    pub threshold: f64,
    pub precision: Option<f64>,
    pub recall: Option<f64>,
    pub f1: Option<f64>,
}

/// Which of the fitted numbers to adopt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
        let Ok(held_out) = &self.held_out else { return Advice::Keep };
        let (Some(all), Some(alone), Some(present)) =
            (held_out.figures.f1, held_out.threshold_alone.f1, self.present.f1)
        else {
            return Advice::Keep;
        };
        if all.max(alone) < present + LEAST_GAIN {
            Advice::Keep
        } else if all < alone + LEAST_GAIN_OF_WEIGHTS {
            Advice::Threshold
        } else {
            Advice::All
        }
    }
}

/// Why nothing could be fitted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum MatchFitError {
    NoScores(String),
    TooFewPairs(usize),
    NoMatches,
    NoMismatches,
    /// The profile's requirements allow too few of the labelled pairs.
    TooFewAllowed(usize),
    OneKindAllowed,
}

impl std::fmt::Display for MatchFitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of_one_kind = "so there is nothing to separate; give labels of both kinds";
        match self {
            Self::NoScores(name) => {
                write!(
                    f,
                    "the profile `{name}` does not compare scores, so there is nothing to fit; choose another with --profile, such as `karat`"
                )
            }
            Self::TooFewPairs(n) => {
                write!(f, "{n} labelled pairs are too few to fit rules: at least {LEAST_PAIRS} are needed; label more")
            }
            Self::NoMatches => write!(f, "no labelled pair matches, {of_one_kind}"),
            Self::NoMismatches => write!(f, "every labelled pair matches, {of_one_kind}"),
            Self::TooFewAllowed(n) => write!(
                f,
                "the profile's `require`, `line_tolerance` and `evidence` allow {n} of the labelled pairs, but {LEAST_PAIRS} are \
                 needed; require less, or label more"
            ),
            Self::OneKindAllowed => write!(
                f,
                "the profile's `require`, `line_tolerance` and `evidence` allow only pairs of one kind, {of_one_kind}, or require \
                 less"
            ),
        }
    }
}

impl std::error::Error for MatchFitError {}

/// Why nothing could be held out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "its text says it")]
pub enum HoldOutError {
    OneGroup,
    OneKind,
}

impl std::fmt::Display for HoldOutError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::OneGroup => "all labels belong to one group",
            Self::OneKind => "without one of the groups, all labels are of one kind",
        })
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

/// Fits weights and threshold to labelled pairs, and measures them on groups held out in turn.
pub fn fit(pairs: &[LabelledPair], profile: &Profile) -> Result<MatchFit, MatchFitError> {
    if profile.method != Method::Score {
        return Err(MatchFitError::NoScores(profile.name.clone()));
    }
    if pairs.len() < LEAST_PAIRS {
        return Err(MatchFitError::TooFewPairs(pairs.len()));
    }
    let matches = pairs.iter().filter(|pair| pair.matched).count();
    if matches == 0 {
        return Err(MatchFitError::NoMatches);
    }
    if matches == pairs.len() {
        return Err(MatchFitError::NoMismatches);
    }
    let forbidden = pairs.iter().filter(|pair| pair.parts.is_none()).count();
    if pairs.len() - forbidden < LEAST_PAIRS {
        return Err(MatchFitError::TooFewAllowed(pairs.len() - forbidden));
    }
    let rules = Rules::learn(pairs, profile).ok_or(MatchFitError::OneKindAllowed)?;
    let alone = Rules::learn_threshold(pairs, profile.weights.clone(), profile).ok_or(MatchFitError::OneKindAllowed)?;
    let present = Rules { weights: profile.weights.clone(), threshold: profile.threshold };
    let has = |part: fn(&Parts) -> Option<f64>| {
        pairs.iter().filter(|pair| pair.parts.as_ref().and_then(part).is_some()).count()
    };
    Ok(MatchFit {
        seen: [has(|own| own.file), has(|own| own.line), has(|own| own.keyword), has(|own| own.text)],
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

fn hold_out(pairs: &[LabelledPair], profile: &Profile) -> Result<HeldOut, HoldOutError> {
    let folds = folds(pairs, |pair| pair.group.clone());
    let groups = folds.len();
    if groups < 2 {
        return Err(HoldOutError::OneGroup);
    }
    let decided = folds.into_par_iter().map(|Fold { others, own, .. }| {
        let rules = Rules::learn(&others, profile).ok_or(HoldOutError::OneKind)?;
        let alone = Rules::learn_threshold(&others, profile.weights.clone(), profile).ok_or(HoldOutError::OneKind)?;
        Ok((rules.decide(&own, profile), alone.decide(&own, profile)))
    });
    let (decided, alone): (Vec<_>, Vec<_>) = decided.collect::<Result<Vec<_>, HoldOutError>>()?.into_iter().unzip();
    let (decided, alone) = (decided.concat(), alone.concat());
    Ok(HeldOut {
        figures: figures(&decided),
        threshold_alone: figures(&alone),
        groups,
        curve: curve(&decided),
        present_curve: curve(&alone),
    })
}

/// What each threshold would decide about pairs that have their scores already.
fn curve(decided: &[Decided]) -> Vec<CurvePoint> {
    let at = |step: u32| {
        let threshold = f64::from(step) / f64::from(CURVE_STEPS);
        let taken = |pair: &Decided| pair.allowed && quantum(pair.score) >= quantum(threshold);
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
    score: f64,
    allowed: bool,
    taken: bool,
    matched: bool,
}

impl Rules {
    /// None where the pairs that the profile allows are of one kind only.
    fn learn(pairs: &[LabelledPair], profile: &Profile) -> Option<Self> {
        let weights = fitted_weights(&allowed_of_both_kinds(pairs)?, profile);
        Self::learn_threshold(pairs, weights, profile)
    }

    /// The same with weights that stay as they are.
    fn learn_threshold(pairs: &[LabelledPair], weights: Weights, profile: &Profile) -> Option<Self> {
        let score = |(parts, matched): (&Parts, bool)| (weigh(parts, &weights, profile.unstated), matched);
        let scored: Vec<(f64, bool)> = allowed_of_both_kinds(pairs)?.into_iter().map(score).collect();
        Some(Self { threshold: threshold(scored), weights })
    }

    fn decide(&self, pairs: &[LabelledPair], profile: &Profile) -> Vec<Decided> {
        let decide = |pair: &LabelledPair| {
            let score = pair.parts.as_ref().map(|parts| weigh(parts, &self.weights, profile.unstated));
            // To the billionth, as matching does.
            let taken = score.is_some_and(|score| quantum(score) >= quantum(self.threshold));
            Decided { score: score.unwrap_or(0.0), allowed: score.is_some(), taken, matched: pair.matched }
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
        auc: auc(decided.iter().map(|pair| (pair.score, pair.matched))),
        n: decided.len(),
    }
}

#[cfg(test)]
mod tests;
