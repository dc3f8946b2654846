//! The rules of matching from labels: which weights and which threshold decide pairs as people do?

use super::simplex::{Slope, descend, readable, scaled};
use super::squash::Squash;
use crate::local_judge::arithmetic::probability;
use crate::local_judge::evaluate::{auc, counts};
use crate::local_judge::labels::LabelledTrial;
use crate::local_judge::rotation::{Turn, turns};
use crate::matching::assign::quantum;
use crate::matching::outcome::Parts;
use crate::matching::pair::{PreparedCase, weigh};
use crate::metric::counts::Counts;
use crate::profile::{Method, Profile, Unstated, Weights};
use crate::scorecard::vocabulary;
use crate::suite::{Case, Suite};
use rayon::prelude::*;

/// Fewer labelled pairs say too little about weights and a threshold.
pub const LEAST_PAIRS: usize = 30;

/// The fitted rules are better where their F1 on pairs held out is higher by this much; less is chance.
pub const LEAST_GAIN: f64 = 0.01;

/// New weights are several numbers more than a new threshold, and so must gain more over it.
pub const LEAST_GAIN_OF_WEIGHTS: f64 = 0.02;

/// How strongly weights are pulled towards those of today: about as much as ten pairs.
const RIDGE: f64 = 10.0;

/// A part that is the same in more than this share of the pairs keeps its weight: they say too little about it.
const MOST_ALIKE: f64 = 0.95;

/// How many steps from 0 to 1 the thresholds of a curve take.
const CURVE_STEPS: u32 = 20;

/// A labelled pair as the rules see it.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelledPair {
    /// What its score is made of; absent where the pair can never count, as the profile requires more or asks for evidence that
    /// it lacks.
    pub parts: Option<Parts>,
    /// Whether people call it a match.
    pub matched: bool,
    /// The group that it is held out with.
    pub group: String,
}

/// How well rules decide labelled pairs. What cannot be computed is absent, never 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Of the pairs taken for matches, the share that are.
    pub precision: Option<f64>,
    /// Of the matches, the share taken for one.
    pub recall: Option<f64>,
    /// F1 of the decisions.
    pub f1: Option<f64>,
    /// The chance that a match scores higher than a pair that is none.
    pub auc: Option<f64>,
    /// How many pairs.
    pub n: usize,
}

/// Fitted rules, and how far they hold.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchFit {
    /// The weights of the parts of a score. Those that the profile can use sum to 1; as they were where none could be learned.
    pub weights: Weights,
    /// The weights of today, brought to the same sum.
    pub present_weights: Weights,
    /// The score from which a pair counts.
    pub threshold: f64,
    /// How many labelled pairs have each part, in the order of the weights.
    pub seen: [usize; 4],
    /// Which parts are nearly the same in all pairs that have them, so that their weights were kept.
    pub kept: [bool; 4],
    /// Whether any pair has two parts that stand against each other; else weights are not learned, and only the threshold is.
    pub weighs: bool,
    /// How many of the labelled pairs match.
    pub matches: usize,
    /// How many can never count, whatever the weights: the profile requires more, or asks for evidence that they lack.
    pub forbidden: usize,
    /// The rules of today. They were not fitted to these pairs, so that this is as good as held out.
    pub present: Figures,
    /// The weights of today with a threshold that was fitted to them.
    pub threshold_alone: ThresholdFit,
    /// The fitted rules on what they were fitted to.
    pub in_sample: Figures,
    /// Each group decided by rules that were fitted on all others, or why there is nothing to hold out.
    pub held_out: Result<HeldOut, NotHeldOut>,
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
pub struct HeldOut {
    /// All groups' decisions taken together.
    pub figures: Figures,
    /// The same with the weights of today, and a threshold that was fitted on the other groups.
    pub threshold_alone: Figures,
    /// How many groups there are.
    pub groups: usize,
    /// By thresholds from 0 to 1, the same for all groups: with the weights that the other groups gave.
    pub curve: Vec<CurvePoint>,
    /// By the same thresholds: with the weights of today.
    pub present_curve: Vec<CurvePoint>,
}

/// What a threshold would decide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// The score from which a pair counts.
    pub threshold: f64,
    /// Of the pairs taken for matches, the share that are.
    pub precision: Option<f64>,
    /// Of the matches, the share taken for one.
    pub recall: Option<f64>,
    /// F1 of the decisions.
    pub f1: Option<f64>,
}

/// Which of the numbers hold on pairs that they were not fitted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// None: the rules of today are as good, or nothing could be held out.
    Keep,
    /// The threshold; with it, the weights of today are as good as others.
    Threshold,
    /// Weights and threshold.
    All,
}

impl MatchFit {
    /// What to take of the fitted rules, by what was held out. Fewer changes win, unless the threshold gains [`LEAST_GAIN`], and
    /// the weights beside it [`LEAST_GAIN_OF_WEIGHTS`] more.
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
pub enum MatchRefusal {
    /// The profile compares no scores.
    NoScores(String),
    /// There are only so many labelled pairs.
    TooFewPairs(usize),
    /// No labelled pair matches.
    NoMatches,
    /// Every labelled pair matches.
    NoMismatches,
    /// The profile's requirements allow only so many of the labelled pairs.
    TooFewAllowed(usize),
    /// The profile's requirements allow pairs of one kind only.
    OneKindAllowed,
}

impl std::fmt::Display for MatchRefusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of_one_kind = "so that there is nothing to tell apart; give labels of both kinds";
        match self {
            Self::NoScores(name) => {
                write!(
                    f,
                    "the profile `{name}` compares no scores, so that it has nothing to fit; name another with --profile, such as `karat`"
                )
            }
            Self::TooFewPairs(n) => {
                write!(f, "{n} labelled pairs are too few to fit rules to: {LEAST_PAIRS} are needed; label more")
            }
            Self::NoMatches => write!(f, "no labelled pair matches, {of_one_kind}"),
            Self::NoMismatches => write!(f, "every labelled pair matches, {of_one_kind}"),
            Self::TooFewAllowed(n) => write!(
                f,
                "the profile's `require`, `line_tolerance` and `evidence` allow {n} of the labelled pairs, and {LEAST_PAIRS} are \
                 needed; require less, or label more"
            ),
            Self::OneKindAllowed => write!(
                f,
                "the profile's `require`, `line_tolerance` and `evidence` allow pairs of one kind only, {of_one_kind}, or require \
                 less"
            ),
        }
    }
}

impl std::error::Error for MatchRefusal {}

/// Why nothing could be held out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotHeldOut {
    /// All pairs are of one group.
    OneGroup,
    /// Without some group, the others have labels of one kind only.
    OneKind,
}

impl std::fmt::Display for NotHeldOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::OneGroup => "all labels are of one group",
            Self::OneKind => "without one of the groups, the labels are of one kind only",
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
        let findings = case.prepare(&own.trial.findings, &vocabulary, profile);
        let name = group(own.case);
        let width = own.trial.findings.len().max(1);
        let labelled = own.stated.iter().enumerate().filter_map(|(at, label)| Some((at, (*label)?)));
        labelled
            .map(|(at, matched)| {
                let (golden, finding) = (at / width, at % width);
                let scored = case.score(golden, &findings, finding, profile).map(|(_, parts)| parts);
                let parts = scored.filter(|parts| case.has_evidence(golden, &findings, finding, parts, profile));
                LabelledPair { parts, matched, group: name.clone() }
            })
            .collect()
    };
    trials.par_iter().map(of_trial).collect::<Vec<_>>().into_iter().flatten().collect()
}

/// Fits weights and threshold to labelled pairs, and measures them on groups held out in turn.
pub fn fit(pairs: &[LabelledPair], profile: &Profile) -> Result<MatchFit, MatchRefusal> {
    if profile.method != Method::Score {
        return Err(MatchRefusal::NoScores(profile.name.clone()));
    }
    if pairs.len() < LEAST_PAIRS {
        return Err(MatchRefusal::TooFewPairs(pairs.len()));
    }
    let matches = pairs.iter().filter(|pair| pair.matched).count();
    if matches == 0 {
        return Err(MatchRefusal::NoMatches);
    }
    if matches == pairs.len() {
        return Err(MatchRefusal::NoMismatches);
    }
    let forbidden = pairs.iter().filter(|pair| pair.parts.is_none()).count();
    if pairs.len() - forbidden < LEAST_PAIRS {
        return Err(MatchRefusal::TooFewAllowed(pairs.len() - forbidden));
    }
    let rules = Rules::learn(pairs, profile).ok_or(MatchRefusal::OneKindAllowed)?;
    let alone = Rules::learn_threshold(pairs, profile.weights.clone(), profile).ok_or(MatchRefusal::OneKindAllowed)?;
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
        present_weights: brought_to(&profile.weights, &rules.weights),
        weights: rules.weights,
        threshold: rules.threshold,
    })
}

fn hold_out(pairs: &[LabelledPair], profile: &Profile) -> Result<HeldOut, NotHeldOut> {
    let turns = turns(pairs, |pair| pair.group.clone());
    let groups = turns.len();
    if groups < 2 {
        return Err(NotHeldOut::OneGroup);
    }
    let decided = turns.into_par_iter().map(|Turn { others, own, .. }| {
        let rules = Rules::learn(&others, profile).ok_or(NotHeldOut::OneKind)?;
        let alone = Rules::learn_threshold(&others, profile.weights.clone(), profile).ok_or(NotHeldOut::OneKind)?;
        Ok((rules.decide(&own, profile), alone.decide(&own, profile)))
    });
    let (decided, alone): (Vec<_>, Vec<_>) = decided.collect::<Result<Vec<_>, NotHeldOut>>()?.into_iter().unzip();
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
        let (precision, recall, f1) = (counts.precision().ok(), counts.recall().ok(), counts.f(1.0).ok());
        CurvePoint { threshold, precision, recall, f1 }
    };
    (0..=CURVE_STEPS).map(at).collect()
}

/// What decides a pair.
struct Rules {
    weights: Weights,
    threshold: f64,
}

/// A pair that was decided.
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
        f1: counts.f(1.0).ok(),
        auc: auc(decided.iter().map(|pair| (pair.score, pair.matched))),
        n: decided.len(),
    }
}

/// The weights under which scores, turned into probabilities, make the labels likeliest. Parts that no pair has keep their
/// share, and so do parts that are nearly the same in all pairs.
///
/// With parts left out the loss is not convex, so that the way down starts twice, from today's weights and from equal ones.
fn fitted_weights(rows: &[(&Parts, bool)], profile: &Profile) -> Weights {
    let own = &profile.weights;
    let parts = fit_parts(rows.iter().map(|(parts, _)| *parts));
    let free = parts.map(|part| part == FitPart::Free);
    if !rows.iter().any(|(parts, _)| weighs(parts)) || !free.contains(&true) {
        return own.clone();
    }
    let listed = [own.file, own.line, own.keyword, own.text];
    let shares = scaled(listed, [true, true, true, profile.text_instead_of_keywords]);
    let today = scaled(listed, parts.map(|part| part != FitPart::Absent));
    // Of the weight of all parts that pairs have, the free ones share this much.
    let portion: f64 = today.iter().zip(free).filter(|(_, free)| *free).map(|(weight, _)| weight).sum();
    let whole = |found: &[f64; 4]| -> [f64; 4] {
        std::array::from_fn(|part| if free[part] { portion * found[part] } else { today[part] })
    };
    let down = |start: [f64; 4]| {
        let mut squash = Squash::default();
        descend(start, free, |found| {
            let here = slope(rows, &whole(found), &today, profile.unstated, &mut squash);
            Slope { loss: here.loss, gradient: here.gradient.map(|slope| portion * slope) }
        })
    };
    let ((from_today, loss), (from_equal, other)) = (down(scaled(listed, free)), down(scaled([0.0; 4], free)));
    let found = whole(if other < loss - 1e-6 * loss.abs() { &from_equal } else { &from_today });
    let seen: f64 = shares.iter().zip(parts).filter(|(_, part)| *part != FitPart::Absent).map(|(share, _)| share).sum();
    let all =
        std::array::from_fn(|part| if parts[part] == FitPart::Absent { shares[part] } else { seen * found[part] });
    let [file, line, mut keyword, text] = readable(all);
    if file + line + keyword <= 0.0 {
        // A profile must have one of the three; so little changes no order.
        keyword = 0.0001;
    }
    Weights { file, line, keyword, text: if profile.text_instead_of_keywords { text } else { own.text } }
}

/// What labelled pairs can say about the weight of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FitPart {
    /// Nothing: no pair has it.
    Absent,
    /// Nothing: it is nearly the same in all pairs that have it.
    Kept,
    /// How much it tells.
    Free,
}

fn fit_parts<'p>(rows: impl Iterator<Item = &'p Parts>) -> [FitPart; 4] {
    let mut values: [Vec<i64>; 4] = Default::default();
    for parts in rows {
        for (values, part) in values.iter_mut().zip([parts.file, parts.line, parts.keyword, parts.text]) {
            values.extend(part.map(quantum));
        }
    }
    values.map(|mut values| {
        values.sort_unstable();
        let alike = values.chunk_by(|a, b| a == b).map(<[i64]>::len).max().unwrap_or(0);
        match alike {
            0 => FitPart::Absent,
            alike if alike as f64 > MOST_ALIKE * values.len() as f64 => FitPart::Kept,
            _ => FitPart::Free,
        }
    })
}

/// Whether weights make a difference to a score: it has two parts at least.
fn weighs(parts: &Parts) -> bool {
    [parts.file, parts.line, parts.keyword, parts.text].iter().flatten().count() > 1
}

/// Weights brought to the sum that others have, to be held beside them. What both leave as it is stays so.
fn brought_to(own: &Weights, other: &Weights) -> Weights {
    let text = own.text != other.text;
    let sum = |of: &Weights| of.file + of.line + of.keyword + if text { of.text } else { 0.0 };
    let factor = if sum(own) > 0.0 { sum(other) / sum(own) } else { 1.0 };
    Weights {
        file: own.file * factor,
        line: own.line * factor,
        keyword: own.keyword * factor,
        text: if text { own.text * factor } else { own.text },
    }
}

/// The loss at some weights, with the steepness that suits them best, and its slope. `squash` is where to look from.
fn slope(
    rows: &[(&Parts, bool)],
    weights: &[f64; 4],
    today: &[f64; 4],
    unstated: Unstated,
    squash: &mut Squash,
) -> Slope<4> {
    let [file, line, keyword, text] = *weights;
    let named = Weights { file, line, keyword, text };
    let scored: Vec<(f64, bool)> =
        rows.iter().map(|(parts, matched)| (weigh(parts, &named, unstated), *matched)).collect();
    *squash = squash.fitted(&scored);
    let mut loss = squash.loss(&scored);
    let mut gradient = [0.0; 4];
    for ((parts, _), &(score, matched)) in rows.iter().zip(&scored) {
        let push = squash.steepness * (probability(squash.log_odds(score)) - f64::from(matched));
        let there = [parts.file, parts.line, parts.keyword, parts.text];
        let total: f64 = there.iter().zip(weights).filter(|(part, _)| part.is_some()).map(|(_, weight)| weight).sum();
        for (slope, part) in gradient.iter_mut().zip(there) {
            *slope += push
                * match (part, unstated) {
                    (None, _) => 0.0,
                    (Some(part), Unstated::Zero) => part,
                    (Some(part), Unstated::LeaveOut) if total > 0.0 => (part - score) / total,
                    (Some(_), Unstated::LeaveOut) => 0.0,
                };
        }
    }
    for (slope, (weight, today)) in gradient.iter_mut().zip(weights.iter().zip(today)) {
        loss += RIDGE * (weight - today) * (weight - today);
        *slope += 2.0 * RIDGE * (weight - today);
    }
    Slope { loss, gradient }
}

/// The threshold with the highest F1; of equals, the one in the middle of the widest gap between scores.
fn threshold(mut scored: Vec<(f64, bool)>) -> f64 {
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let all = scored.iter().filter(|(_, matched)| *matched).count();
    let mut taken = Counts { tp: 0, fp: 0, fn_: all };
    let (mut best, mut widest, mut chosen) = (f64::NEG_INFINITY, 0.0, 0.0);
    let mut groups = scored.chunk_by(|a, b| quantum(a.0) == quantum(b.0)).peekable();
    while let Some(tied) = groups.next() {
        let matches = tied.iter().filter(|(_, matched)| *matched).count();
        taken += Counts { tp: matches, fp: tied.len() - matches, fn_: 0 };
        taken.fn_ = all - taken.tp;
        let high = tied.last().map_or(0.0, |(score, _)| *score);
        let low = groups.peek().and_then(|next| next.first()).map_or(0.0, |(score, _)| *score);
        let f1 = taken.f(1.0).unwrap_or(0.0);
        if f1 > best || f1 == best && high - low > widest {
            (best, widest, chosen) = (f1, high - low, between(low, high));
        }
    }
    chosen
}

/// The middle, in ten-thousandths where the gap has room for that.
fn between(low: f64, high: f64) -> f64 {
    let middle = f64::midpoint(low, high);
    let short = (middle * 1e4).round() / 1e4;
    if quantum(short) > quantum(low) && quantum(short) <= quantum(high) { short } else { middle }
}

#[cfg(test)]
mod tests;
