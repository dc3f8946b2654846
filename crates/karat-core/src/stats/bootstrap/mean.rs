//! Bootstraps the mean of one figure, with one draw per case and choice of trials.

use super::{BootstrapKind, BootstrapOptions, TrialResampling, acceleration, ends, method, sum};
use crate::stats::interval::{Interval, IntervalEstimate, NoInterval, checked};
use crate::stats::random::{Random, seed_of};
use rayon::prelude::*;

/// The mean over cases of the mean of each case's trials, with its interval.
///
/// A case without trials is no part of the sample. `clusters` names the cluster of every case; clusters are then drawn whole.
/// Neither the order of cases, nor that of trials, nor the number of threads changes a digit.
pub fn interval_of_mean(
    cases: &[Vec<f64>],
    clusters: Option<&[usize]>,
    options: &BootstrapOptions,
) -> IntervalEstimate {
    Sample::new(cases, clusters, options).estimate(options)
}

/// Cases in an order that depends on their values alone, laid out for drawing.
struct Sample {
    means: Vec<f64>,
    /// Where each cluster starts among the cases, and where the last one ends. Without clusters every case is its own.
    starts: Vec<usize>,
    /// What each case's draws choose from: its shrunk mean with every choice of its trials, or each trial by itself.
    choices: Vec<f64>,
    /// Where each case's choices start, and where the last ones end.
    places: Vec<usize>,
    /// How many draws make one value of the case: 1 where every choice of trials is laid out.
    draws: Vec<usize>,
    /// Whether cases stand alone, and all have as many choices.
    even: bool,
    seed: u64,
}

/// Maximum number of trial choices laid out per case.
const CHOICES: usize = 256;

impl Sample {
    fn new(cases: &[Vec<f64>], clusters: Option<&[usize]>, options: &BootstrapOptions) -> Self {
        let (ordered, starts) = ordered(cases, clusters);
        let numbers = ordered.iter().flat_map(|trials| [trials.len() as f64].into_iter().chain(trials.iter().copied()));
        let seed = options.seed.unwrap_or_else(|| seed_of(numbers));
        let means: Vec<f64> = ordered.iter().map(|trials| mean_of(trials)).collect();
        let again = options.trials == TrialResampling::Resampled;
        let (centre, shrunk) = if again { shrinking(&ordered, &means, &starts) } else { (mean_of(&means), 1.0) };
        let (choices, places, draws) = (Vec::new(), vec![0], Vec::with_capacity(means.len()));
        let mut sample = Self { means, starts, choices, places, draws, even: false, seed };
        for (trials, mean) in ordered.iter().zip(&sample.means) {
            // The trial's own distance from its case stays whole, the case's distance from the centre shrinks.
            let placed = |trial: f64| centre + shrunk * (mean - centre) + (trial - mean);
            let count = trials.len().checked_pow(trials.len() as u32).filter(|n| *n <= CHOICES);
            match count {
                _ if !again => sample.choices.push(placed(*mean)),
                Some(count) => sample.choices.extend((0..count).map(|choice| placed(chosen(trials, choice)))),
                None => sample.choices.extend(trials.iter().map(|trial| placed(*trial))),
            }
            sample.draws.push(if again && count.is_none() { trials.len() } else { 1 });
            sample.places.push(sample.choices.len());
        }
        let each = sample.choices.len() / sample.means.len().max(1);
        sample.even = sample.clusters() == sample.means.len()
            && sample.draws.iter().all(|n| *n == 1)
            && sample.places.windows(2).all(|p| p[1] - p[0] == each);
        sample
    }

    fn clusters(&self) -> usize {
        self.starts.len() - 1
    }

    /// The mean over all cases, and its interval.
    fn estimate(&self, options: &BootstrapOptions) -> IntervalEstimate {
        let value = (!self.means.is_empty()).then(|| mean_of(&self.means)).filter(|v| v.is_finite());
        let Some(known) = value else { return IntervalEstimate::without(value, NoInterval::Undefined) };
        if self.clusters() < 2 {
            return IntervalEstimate::without(value, NoInterval::OneUnit);
        }
        let drawn: Vec<f64> = (0..options.resamples)
            .into_par_iter()
            .with_min_len(32)
            // Each sample has a stream of its own, whichever thread draws it.
            .map(|number| self.drawn(&mut Random::new(self.seed, number as u64)))
            .flatten_iter()
            .filter(|v| v.is_finite())
            .collect();
        let acceleration = match options.kind {
            BootstrapKind::Percentile => None,
            BootstrapKind::Bca => Some(acceleration(&self.left_out())),
        };
        let interval =
            checked(options.level).and_then(|level| ends(known, drawn, acceleration, level, options.resamples));
        let method =
            method(options.kind, self.clusters() < self.means.len(), options.trials == TrialResampling::Resampled);
        let of = |(low, high)| Interval { low, high, method, level: options.level, n: self.clusters() };
        IntervalEstimate { value, interval: interval.map(of) }
    }

    fn left_out(&self) -> Vec<f64> {
        let total = sum(self.means.iter().copied());
        let without = |cluster: &[usize]| {
            let rest = self.means.len() - (cluster[1] - cluster[0]);
            (total - sum(self.means[cluster[0]..cluster[1]].iter().copied())) / rest as f64
        };
        self.starts.windows(2).map(without).filter(|v| v.is_finite()).collect()
    }

    fn drawn(&self, random: &mut Random) -> Option<f64> {
        if self.even {
            let total = sum((0..self.means.len()).map(|_| self.choices[random.below(self.choices.len())]));
            return Some(total / self.means.len() as f64);
        }
        let (mut total, mut count) = (0.0, 0);
        for _ in 0..self.clusters() {
            let cluster = random.below(self.clusters());
            for case in self.starts[cluster]..self.starts[cluster + 1] {
                total += self.value(case, random);
                count += 1;
            }
        }
        (count > 0).then(|| total / f64::from(count))
    }

    /// One value of a case: a draw of its trials.
    #[inline]
    fn value(&self, case: usize, random: &mut Random) -> f64 {
        let choices = &self.choices[self.places[case]..self.places[case + 1]];
        match (choices.len(), self.draws[case]) {
            (1, _) => choices[0],
            (count, 1) => choices[random.below(count)],
            (count, draws) => sum((0..draws).map(|_| choices[random.below(count)])) / draws as f64,
        }
    }
}

/// Cases with trials, sorted by their values within clusters, clusters sorted likewise, and where each cluster starts.
fn ordered(cases: &[Vec<f64>], clusters: Option<&[usize]>) -> (Vec<Vec<f64>>, Vec<usize>) {
    let by_trials = |a: &Vec<f64>, b: &Vec<f64>| {
        let differs = a.iter().zip(b).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne());
        differs.unwrap_or(a.len().cmp(&b.len()))
    };
    let mut named: Vec<(usize, Vec<f64>)> = Vec::with_capacity(cases.len());
    for (at, trials) in cases.iter().enumerate().filter(|(_, trials)| !trials.is_empty()) {
        let mut trials = trials.clone();
        trials.sort_by(f64::total_cmp);
        // A case whose cluster is not named stands alone.
        let alone = usize::MAX - at;
        named.push((clusters.map_or(alone, |names| names.get(at).copied().unwrap_or(alone)), trials));
    }
    named.sort_by(|(a, x), (b, y)| a.cmp(b).then_with(|| by_trials(x, y)));
    let mut groups: Vec<_> = named.chunk_by(|a, b| a.0 == b.0).collect();
    groups.sort_by(|a, b| {
        let differs = a.iter().zip(b.iter()).map(|((_, a), (_, b))| by_trials(a, b)).find(|order| order.is_ne());
        differs.unwrap_or(a.len().cmp(&b.len()))
    });
    let mut starts = vec![0];
    for group in &groups {
        starts.push(starts[starts.len() - 1] + group.len());
    }
    (groups.into_iter().flatten().map(|(_, trials)| trials.clone()).collect(), starts)
}

/// The centre, and by how much distances from it shrink.
fn shrinking(cases: &[Vec<f64>], means: &[f64], starts: &[usize]) -> (f64, f64) {
    let centre = mean_of(means);
    let trials = sum(cases.iter().zip(means).map(|(trials, mean)| {
        let m = trials.len() as f64;
        sum(trials.iter().map(|trial| (trial - mean).powi(2))) / (m * m)
    }));
    let spread = sum(starts.windows(2).map(|c| sum(means[c[0]..c[1]].iter().map(|mean| mean - centre)).powi(2)));
    (centre, if spread > 0.0 { (1.0 - trials / spread).max(0.0).sqrt() } else { 1.0 })
}

fn mean_of(values: &[f64]) -> f64 {
    sum(values.iter().copied()) / values.len() as f64
}

/// The mean of the trials that a number chooses: its digits, in base of how many trials there are.
fn chosen(trials: &[f64], mut choice: usize) -> f64 {
    let pick = |_| {
        let trial = trials[choice % trials.len()];
        choice /= trials.len();
        trial
    };
    sum((0..trials.len()).map(pick)) / trials.len() as f64
}
