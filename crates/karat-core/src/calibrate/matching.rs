//! Fits matching weights and threshold to labelled pairs.

#![expect(missing_docs, reason = "names of fields and variants say it")]

mod held_out;
mod weights;

use crate::local_judge::evaluate::{auc, counts};
use crate::local_judge::labels::LabelledTrial;
use crate::matching::assign::quantum;
use crate::matching::outcome::Parts;
use crate::matching::pair::{PreparedCase, weigh};
use crate::profile::{Method, Profile, Weights};
use crate::scorecard::vocabulary;
use crate::stats::agreement::binary_kappa;
use crate::suite::{Case, Suite};
use rayon::prelude::*;
use serde::Serialize;
use weights::{FitPart, fit_parts, fitted_weights, rescaled, threshold, weighs};

pub use held_out::{Gains, HeldOut};

const LEAST_PAIRS: usize = 30;

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
    /// Cohen's kappa of decisions and labels: what thresholds are fitted to, and gains are stated in. Rules that call all pairs a match, or none,
    /// have 0, whatever the share of matches.
    pub kappa: Option<f64>,
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

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CurvePoint {
    pub threshold: f64,
    pub precision: Option<f64>,
    pub recall: Option<f64>,
    pub f1: Option<f64>,
    pub kappa: Option<f64>,
}

/// Which of the fitted numbers to adopt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Advice {
    /// None: nothing shows that others are better.
    Keep,
    /// The threshold; nothing shows that other weights beside it are better.
    Threshold,
    /// Weights and threshold.
    All,
}

impl MatchFit {
    /// Which fitted rules to adopt. Weights must gain over the present rules and over a threshold that is fitted alone.
    pub fn advice(&self) -> Advice {
        let Ok(HeldOut { gains, .. }) = &self.held_out else { return Advice::Keep };
        if gains.all.is_recommended() && gains.weights.is_recommended() {
            return Advice::All;
        }
        if gains.threshold.is_recommended() { Advice::Threshold } else { Advice::Keep }
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
    let rows: Vec<Row<'_>> = pairs.iter().map(|pair| (pair.parts.as_ref(), pair.matched)).collect();
    let rules = Rules::learn(&rows, profile).ok_or_else(one_kind)?;
    let alone = Rules::learn_threshold(&rows, profile.weights.clone(), profile).ok_or_else(one_kind)?;
    let present = Rules { weights: profile.weights.clone(), threshold: profile.threshold }.decide(&rows, profile);
    let has = |part: usize| pairs.iter().filter_map(|pair| pair.parts?.list()[part]).count();
    Ok(MatchFit {
        pairs_with_part: std::array::from_fn(has),
        kept: fit_parts(pairs.iter().filter_map(|pair| pair.parts.as_ref())).map(|part| part == FitPart::Kept),
        weighs: pairs.iter().filter_map(|pair| pair.parts.as_ref()).any(weighs),
        matches,
        forbidden,
        present: figures(&present),
        threshold_alone: ThresholdFit { threshold: alone.threshold, in_sample: figures(&alone.decide(&rows, profile)) },
        in_sample: figures(&rules.decide(&rows, profile)),
        held_out: held_out::hold_out(pairs, &rows, &present, profile),
        present_weights: rescaled(&profile.weights, &rules.weights),
        weights: rules.weights,
        threshold: rules.threshold,
    })
}

fn curve(decided: &[Decided]) -> Vec<CurvePoint> {
    let at = |step: u32| {
        let threshold = f64::from(step) / f64::from(CURVE_STEPS);
        let taken = |pair: &Decided| pair.score.is_some_and(|score| quantum(score) >= quantum(threshold));
        let counts = counts(decided.iter().map(|pair| (pair.matched, taken(pair))));
        CurvePoint {
            threshold,
            precision: counts.precision().ok(),
            recall: counts.recall().ok(),
            f1: counts.f_beta(1.0).ok(),
            kappa: binary_kappa(decided.iter().map(|pair| (pair.matched, taken(pair)))),
        }
    };
    (0..=CURVE_STEPS).map(at).collect()
}

/// The parts of a pair that the profile allows, and its label.
type Row<'p> = (Option<&'p Parts>, bool);

struct Rules {
    weights: Weights,
    threshold: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Decided {
    /// None where the profile forbids the pair.
    score: Option<f64>,
    taken: bool,
    matched: bool,
}

impl Rules {
    /// None where the pairs that the profile allows are of one kind only.
    fn learn(rows: &[Row<'_>], profile: &Profile) -> Option<Self> {
        Self::learn_threshold(rows, fitted_weights(&allowed_of_both_kinds(rows)?, profile), profile)
    }

    fn learn_threshold(rows: &[Row<'_>], weights: Weights, profile: &Profile) -> Option<Self> {
        let score = |(parts, matched): (&Parts, bool)| (weigh(parts, &weights, profile.unstated), matched);
        Some(Self { threshold: threshold(allowed_of_both_kinds(rows)?.into_iter().map(score).collect()), weights })
    }

    fn decide(&self, rows: &[Row<'_>], profile: &Profile) -> Vec<Decided> {
        let decide = |&(parts, matched): &Row<'_>| {
            let score = parts.map(|parts| weigh(parts, &self.weights, profile.unstated));
            // To the billionth, as matching does.
            let taken = score.is_some_and(|score| quantum(score) >= quantum(self.threshold));
            Decided { score, taken, matched }
        };
        rows.iter().map(decide).collect()
    }
}

/// The pairs that the profile allows; none where all of them match, or none does.
fn allowed_of_both_kinds<'p>(rows: &[Row<'p>]) -> Option<Vec<(&'p Parts, bool)>> {
    let allowed: Vec<(&Parts, bool)> = rows.iter().filter_map(|(parts, matched)| Some(((*parts)?, *matched))).collect();
    let matches = allowed.iter().filter(|(_, matched)| *matched).count();
    (matches > 0 && matches < allowed.len()).then_some(allowed)
}

fn figures(decided: &[Decided]) -> Figures {
    let counts = counts(decided.iter().map(|pair| (pair.matched, pair.taken)));
    Figures {
        precision: counts.precision().ok(),
        recall: counts.recall().ok(),
        f1: counts.f_beta(1.0).ok(),
        kappa: held_out::kappa_of(decided),
        auc: auc(decided.iter().map(|pair| (pair.score.unwrap_or(0.0), pair.matched))),
        n: decided.len(),
    }
}

#[cfg(test)]
mod tests;
