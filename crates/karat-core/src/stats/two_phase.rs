//! Counts from two phases of sampling: a judge decided about every pair, and people about some of them, picked by chance.
//!
//! A label is weighted by 1 over the probability of asking for it (Horvitz and Thompson 1952). A golden may have several
//! candidates and a finding several goldens, so that counts are not a sum over pairs. They are a sum over sets of pairs: the
//! judge's counts; what changes when one of its answers is put right; what changes when two are put right, beyond what
//! either changes alone; and so on. Each summand counts 1 over the product of its probabilities. Where pairs are picked
//! independently, the expected value of that sum is the counts that people would reach, whatever the judge's errors and
//! whatever the rules of matching. What cannot be labelled, such as a golden without a candidate, stays as it is.

use super::correct::{
    CorrectedEstimate, CorrectionError, LEAST_LABELS, LEAST_OF_EACH, Label, Share, Weighted, rogan_gladen_of_share,
    variance_of_sum,
};
use super::distribution::{t_two_sided, two_sided};
use super::interval::{Interval, checked};
use std::collections::{BTreeMap, BTreeSet};

/// Pooled counts. Estimates of them are not whole numbers, and may be negative.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Totals {
    pub(crate) tp: f64,
    /// Countable findings that report none.
    pub(crate) fp: f64,
    pub(crate) required: f64,
}

impl Totals {
    /// `self + times * other`.
    pub(crate) fn plus(self, other: Self, times: f64) -> Self {
        Self {
            tp: self.tp + other.tp * times,
            fp: self.fp + other.fp * times,
            required: self.required + other.required * times,
        }
    }

    fn dot(self, other: Self) -> f64 {
        self.tp * other.tp + self.fp * other.fp + self.required * other.required
    }
}

/// A figure made of pooled counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Figure {
    Precision,
    Recall,
    F1,
}

impl Figure {
    /// The figure; none where nothing is counted.
    pub(crate) fn value(self, totals: Totals) -> Option<f64> {
        let (above, below) = self.fraction(totals);
        (below > 0.0).then(|| above / below)
    }

    fn fraction(self, totals: Totals) -> (f64, f64) {
        match self {
            Self::Precision => (totals.tp, totals.tp + totals.fp),
            Self::Recall => (totals.tp, totals.required),
            Self::F1 => (2.0 * totals.tp, totals.tp + totals.fp + totals.required),
        }
    }

    fn gradient(self, totals: Totals) -> Totals {
        let (above, below) = self.fraction(totals);
        let value = above / below;
        match self {
            Self::Precision => Totals { tp: (1.0 - value) / below, fp: -value / below, required: 0.0 },
            Self::Recall => Totals { tp: 1.0 / below, fp: 0.0, required: -value / below },
            Self::F1 => Totals { tp: (2.0 - value) / below, fp: -value / below, required: -value / below },
        }
    }

    /// How many items the figure is a share of.
    fn items(self, totals: Totals) -> f64 {
        let (_, below) = self.fraction(totals);
        if self == Self::F1 { below / 2.0 } else { below }
    }
}

/// Cases that may be alike, as the judge has them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cluster {
    pub(crate) totals: Totals,
    pub(crate) matches: usize,
    pub(crate) others: usize,
    /// The counts were no candidate a match, and were all of them.
    pub(crate) extremes: [Totals; 2],
}

/// Something that people were asked about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Draw {
    pub(crate) cluster: usize,
    /// Draws of one unit were picked together, such as the same pair in several trials.
    pub(crate) unit: usize,
    /// The probability with which it was picked, above 0 and at most 1.
    pub(crate) probability: f64,
    pub(crate) weight: f64,
    /// How many pairs it holds that the judge calls a match; 0 for a pair that it does not.
    pub(crate) matches: usize,
    /// Whether it is among the matches or other candidates that its cluster counts.
    pub(crate) is_counted: bool,
    pub(crate) wrong: bool,
    /// How the counts change when only this answer of the judge is flipped.
    pub(crate) change: Totals,
}

/// What a set of wrong answers changes, beyond what its subsets change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Term {
    pub(crate) cluster: usize,
    pub(crate) times: f64,
    /// How many of the answers have a weight that is scaled: as matches are, and as other candidates are.
    pub(crate) scaled: [usize; 2],
    pub(crate) change: Totals,
}

/// All that is known of the pairs of one tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TwoPhase {
    pub(crate) clusters: Vec<Cluster>,
    pub(crate) draws: Vec<Draw>,
    pub(crate) terms: Vec<Term>,
    /// Whether no golden and no finding has several candidates, and all that was labelled is a candidate.
    pub(crate) is_single: bool,
    /// Whether the weights of candidates that are no match add up to how many of these there are.
    fits_others: bool,
}

impl TwoPhase {
    pub(crate) fn judged(&self) -> Totals {
        self.clusters.iter().fold(Totals::default(), |sum, cluster| sum.plus(cluster.totals, 1.0))
    }

    /// The counts without the judge's errors.
    pub(crate) fn totals(&self) -> Totals {
        self.terms.iter().fold(self.judged(), |sum, term| sum.plus(term.change, term.times))
    }

    /// How many pairs the judge calls a match, and how many other candidates there are.
    fn pairs(&self) -> (usize, usize) {
        let add = |(matches, others), cluster: &Cluster| (matches + cluster.matches, others + cluster.others);
        self.clusters.iter().fold((0, 0), add)
    }

    /// Sets the weights: 1 over the probability, times one number by which the weights of pairs that the judge calls a match add
    /// up to how many of these there are. So a sample that was not labelled to its end weighs as much as a whole one, and
    /// the share of wrong answers among matches is a plain weighted share. Other candidates have such a number of their own,
    /// unless it differs from that of matches by more than chance: then pairs were picked among others than are counted here.
    ///
    /// What was picked for certain stands for itself, unless nothing was picked otherwise and some of it is missing.
    pub(crate) fn weigh(&mut self) {
        let (matches, others) = self.pairs();
        let of_matches = Scale::new(self.draws.iter().filter(|draw| draw.matches > 0), matches as f64);
        let of_others = self.draws.iter().filter(|draw| draw.matches == 0 && draw.is_counted);
        let of_others = Scale::new(of_others, others as f64);
        let plain = Scale { times: 1.0, error: 0.0, of_sure: false };
        let scale = of_matches.or(of_others.filter(|scale| scale.of_sure)).unwrap_or(plain);
        let fitting = of_others.filter(|own| {
            let error = (own.error.powi(2) + scale.error.powi(2)).sqrt();
            (own.times / scale.times - 1.0).abs() <= two_sided(0.99) * error + 1e-9
        });
        self.fits_others = fitting.is_some();
        for draw in &mut self.draws {
            let own = if draw.matches == 0 && draw.is_counted { fitting.unwrap_or(scale) } else { scale };
            draw.weight = own.weight(draw.probability);
        }
    }

    /// The figure without the judge's errors, by what labels add to what the judge says of all pairs: PPI++ (Angelopoulos,
    /// Duchi and Zrnic 2023), whose best use of a judge that says yes or no is a share of wrong answers for either.
    ///
    /// The interval is about suites like this one. It adds up the squares (Zou and Donner 2008) of three distances: that of the judge's
    /// figure, as far as its answers tell the truth, and those of its two shares of wrong answers. Each is Wilson's, of as many
    /// items as weights and clusters leave, so that it allows for wrong answers that no label shows yet. It is no
    /// narrower than the spread between clusters makes it.
    pub(crate) fn ppi(&self, figure: Figure, level: f64) -> Result<CorrectedEstimate, CorrectionError> {
        let level = checked(level).map_err(|_| CorrectionError::LEVEL)?;
        let labels = self.enough()?;
        let (judged, totals) = (self.judged(), self.totals());
        let raw = figure.value(judged).ok_or(CorrectionError::NOTHING_JUDGED)?;
        let value = figure.value(totals).ok_or(CorrectionError::NOTHING_JUDGED)?;
        let (own, gradient) = (figure.gradient(judged), figure.gradient(totals));
        let (false_matches, missed) =
            (WrongAnswers::new(self, gradient, true), WrongAnswers::new(self, gradient, false));
        let z = two_sided(level);
        let between: Vec<f64> = self.clusters.iter().map(|cluster| own.dot(cluster.totals)).collect();
        let judged_share = Share { share: raw, count: figure.items(judged) }.varying(variance_of_sum(&between));
        let (low, high) = judged_share.wilson(z);
        let trust = (1.0 - false_matches.share.share - missed.share.share).max(0.0);
        let unknown_size = z * missed.share.share * missed.size_error;
        let below = [trust * (raw - low), false_matches.up(z), missed.down(z), unknown_size];
        let above = [trust * (high - raw), false_matches.down(z), missed.up(z), unknown_size];
        let least = self.spread(gradient, level);
        let distance = |parts: [f64; 4]| parts.iter().map(|part| part * part).sum::<f64>().sqrt().max(least);
        let (low, high) = (value - distance(below), value + distance(above));
        let value = value.clamp(0.0, 1.0);
        let (low, high) = (low.clamp(0.0, value), high.clamp(value, 1.0));
        Ok(CorrectedEstimate { value, interval: Interval { low, high, method: "ppi++", level, n: labels } })
    }

    /// The figure without the judge's errors, by its sensitivity and specificity among labelled pairs. They say how many pairs
    /// are matches, and that determines the counts only where no golden and no finding has several candidates.
    pub(crate) fn rogan_gladen(&self, figure: Figure, level: f64) -> Result<CorrectedEstimate, CorrectionError> {
        self.usable()?;
        let (matches, others) = self.pairs();
        let (matches, pairs) = (matches as f64, (matches + others) as f64);
        figure.value(self.judged()).filter(|_| pairs > 0.0).ok_or(CorrectionError::NOTHING_JUDGED)?;
        if !self.is_single {
            return Err(CorrectionError::SEVERAL_CANDIDATES);
        }
        let label = |draw: &Draw| Label {
            judged: draw.matches > 0,
            truth: (draw.matches > 0) != draw.wrong,
            probability: 1.0 / draw.weight,
            unit: draw.unit,
            cluster: draw.cluster,
        };
        let share = matches / pairs;
        let distance =
            |cluster: &Cluster| (cluster.matches as f64 - share * (cluster.matches + cluster.others) as f64) / pairs;
        let between: Vec<f64> = self.clusters.iter().map(distance).collect();
        let raw = Share { share, count: pairs }.varying(variance_of_sum(&between));
        let found = rogan_gladen_of_share(raw, Some(pairs), &self.draws.iter().map(label).collect::<Vec<_>>(), level)?;
        let of_cluster = |cluster: &Cluster, share: f64| {
            cluster.extremes[0].plus(cluster.extremes[1], share).plus(cluster.extremes[0], -share)
        };
        let totals = |share: f64| {
            self.clusters.iter().fold(Totals::default(), |sum, cluster| sum.plus(of_cluster(cluster, share), 1.0))
        };
        let at = |share: f64| figure.value(totals(share)).map_or(0.0, |value| value.clamp(0.0, 1.0));
        let value = at(found.value);
        // Were the share known, the figure would still vary with how many candidates, goldens and findings clusters have.
        let gradient = figure.gradient(totals(found.value));
        let makeup: Vec<f64> =
            self.clusters.iter().map(|cluster| gradient.dot(of_cluster(cluster, found.value))).collect();
        let makeup = two_sided(level).powi(2) * variance_of_sum(&makeup).unwrap_or(0.0);
        let distance = |end: f64| ((at(end) - value).powi(2) + makeup).sqrt();
        let low = (value - distance(found.interval.low)).max(0.0);
        let high = (value + distance(found.interval.high)).min(1.0);
        Ok(CorrectedEstimate { value, interval: Interval { low, high, n: self.units(|_| true), ..found.interval } })
    }

    fn units(&self, of: impl Fn(&Draw) -> bool) -> usize {
        self.draws.iter().filter(|draw| of(draw)).map(|draw| draw.unit).collect::<BTreeSet<usize>>().len()
    }

    fn usable(&self) -> Result<(), CorrectionError> {
        let is_bad = |draw: &Draw| !(draw.probability > 0.0 && draw.probability <= 1.0);
        if self.draws.iter().any(is_bad) { Err(CorrectionError::BAD_LABEL) } else { Ok(()) }
    }

    /// How many things were labelled, where that is enough: of pairs that the judge calls a match and of others, so many or all.
    fn enough(&self) -> Result<usize, CorrectionError> {
        self.usable()?;
        let (matches, others) = self.pairs();
        let labelled: usize = self.draws.iter().map(|draw| draw.matches).sum();
        let other_draws = self.draws.iter().filter(|draw| draw.matches == 0).count();
        let few_matches = labelled < matches && self.units(|draw| draw.matches > 0) < LEAST_OF_EACH;
        let few_others = other_draws < others && self.units(|draw| draw.matches == 0) < LEAST_OF_EACH;
        let all = self.units(|_| true);
        if all < LEAST_LABELS || few_matches || few_others { Err(CorrectionError::FEW_LABELS) } else { Ok(all) }
    }

    /// The half-width that the spread between clusters alone makes; 0 with too few of them.
    fn spread(&self, gradient: Totals, level: f64) -> f64 {
        let mut sums: Vec<f64> = self.clusters.iter().map(|cluster| gradient.dot(cluster.totals)).collect();
        let known = |cluster: &Cluster| [-(cluster.matches as f64), -(cluster.others as f64)];
        let mut drawn: Vec<[f64; 2]> = self.clusters.iter().map(known).collect();
        let (mut moved, mut all) = ([0.0_f64; 2], [0.0_f64; 2]);
        for term in &self.terms {
            let change = gradient.dot(term.change) * term.times;
            sums[term.cluster] += change;
            let [as_matches, as_others] = term.scaled.map(|count| change * count as f64);
            moved[0] += as_matches;
            moved[usize::from(self.fits_others)] += as_others;
        }
        for draw in self.draws.iter().filter(|draw| draw.is_counted) {
            let share = draw.matches.max(1) as f64 * draw.weight;
            all[usize::from(draw.matches == 0)] += share;
            drawn[draw.cluster][usize::from(draw.matches == 0)] += share;
        }
        // Weights add up to known numbers, so that a cluster with much of them says nothing by that.
        for (kind, (moved, all)) in moved.into_iter().zip(all).enumerate() {
            let by_pair = if all > 0.0 { moved / all } else { 0.0 };
            sums.iter_mut().zip(&drawn).for_each(|(sum, drawn)| *sum -= by_pair * drawn[kind]);
        }
        let Some(variance) = variance_of_sum(&sums) else { return 0.0 };
        t_two_sided((sums.len() - 1) as f64, level) * variance.sqrt()
    }
}

/// The variance of a sum over units that were picked or not: of each the unit, its weighted value and its probability.
fn variance_of_draws(draws: impl IntoIterator<Item = (usize, f64, f64)>) -> f64 {
    let mut units: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    for (unit, value, probability) in draws {
        units.entry(unit).or_insert((0.0, probability)).0 += value;
    }
    units.values().map(|(value, probability)| value * value * (1.0 - probability)).sum()
}

/// By which number weights are multiplied, so that they add up to what is known.
#[derive(Clone, Copy)]
struct Scale {
    times: f64,
    error: f64,
    /// Whether it is of things that were picked for certain, too.
    of_sure: bool,
}

impl Scale {
    fn new<'d>(draws: impl Iterator<Item = &'d Draw>, all: f64) -> Option<Self> {
        let (mut sure, mut by_chance) = (0.0, 0.0);
        let mut sure_units = BTreeSet::new();
        let mut drawn = Vec::new();
        for draw in draws {
            let pairs = draw.matches.max(1) as f64;
            if draw.probability >= 1.0 {
                sure += pairs;
                sure_units.insert(draw.unit);
            } else {
                by_chance += pairs / draw.probability;
                drawn.push((draw.unit, pairs / draw.probability, draw.probability));
            }
        }
        let (times, error, of_sure) = if by_chance > 0.0 {
            ((all - sure) / by_chance, variance_of_draws(drawn).sqrt() / by_chance, false)
        } else {
            (all / sure, ((1.0 - sure / all).max(0.0) / sure_units.len() as f64).sqrt(), true)
        };
        (times > 0.0 && times.is_finite()).then_some(Self { times, error, of_sure })
    }

    fn weight(self, probability: f64) -> f64 {
        if probability >= 1.0 && !self.of_sure { 1.0 } else { (self.times / probability).max(1.0) }
    }
}

/// How often one of the judge's two answers is wrong, each weighed by how far it moves the figure.
struct WrongAnswers {
    share: Share,
    /// How far the figure would move, were all these answers wrong.
    size: f64,
    /// The standard error of `size`, where it is an estimate.
    size_error: f64,
}

impl WrongAnswers {
    fn new(sample: &TwoPhase, gradient: Totals, matches: bool) -> Self {
        let own = || sample.draws.iter().filter(|draw| (draw.matches > 0) == matches);
        let worth = |draw: &Draw| draw.weight * gradient.dot(draw.change).abs();
        let item =
            |draw: &Draw| Weighted { holds: draw.wrong, weight: worth(draw), unit: draw.unit, cluster: draw.cluster };
        let items: Vec<Weighted> = own().map(item).collect();
        let size: f64 = items.iter().map(|item| item.weight).sum();
        let Some(share) = Share::weighted(&items) else {
            return Self { share: Share { share: 0.0, count: 0.0 }, size: 0.0, size_error: 0.0 };
        };
        // Matches are counted. How many others there are may be known from the sample alone.
        let by_chance = variance_of_draws(own().map(|draw| (draw.unit, worth(draw), 1.0 / draw.weight)));
        let shares =
            || sample.draws.iter().map(|draw| (draw.unit, draw.matches as f64 * draw.weight, 1.0 / draw.weight));
        let all: f64 = shares().map(|(_, share, _)| share).sum();
        let scale = if all > 0.0 { variance_of_draws(shares()) / (all * all) } else { 0.0 };
        let size_error = if matches || sample.fits_others { 0.0 } else { (by_chance + size * size * scale).sqrt() };
        Self { share, size, size_error }
    }

    /// How far the figure moves when the share is as high as it may be, or as low.
    fn up(&self, z: f64) -> f64 {
        self.size * (self.share.wilson(z).1 - self.share.share)
    }

    fn down(&self, z: f64) -> f64 {
        self.size * (self.share.share - self.share.wilson(z).0)
    }
}
