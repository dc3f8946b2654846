//! Intervals by resampling cases, or whole clusters of them, and then the trials within each case.
//!
//! The mean of a case's trials already holds the noise of its trials. Drawing cases with replacement therefore shows that
//! noise once, and drawing trials within them shows it again: of three trials that differ as much as cases do, the plain
//! two-stage bootstrap makes intervals 8 % too wide, and of trials that are nothing but noise 29 %. So the distances of cases
//! from the mean are first shrunk by what the trials add (after Davison and Hinkley 1997, section 3.8). With `c` the shrinking,
//! `T` the sums of distances from the mean by cluster (by case without clusters), and `s²ᵢ` the variance of case i's `mᵢ`
//! trials, which divides by mᵢ: `c² = 1 − Σ s²ᵢ/mᵢ / Σ T²`, and 0 where that is below. With one trial a case, c is 1, and
//! nothing differs from the plain bootstrap.

mod joint;

pub use joint::{Cases, Joint, joint};

use super::distribution::{cumulative, quantile};
use super::interval::{Estimate, Interval, NoInterval, checked};
use super::random::{Random, seed_of};
use rayon::prelude::*;

/// How many samples are drawn unless told otherwise.
pub const RESAMPLES: usize = 10_000;

/// How the ends come from the samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The ends are quantiles of the samples (Efron 1979).
    Percentile,
    /// The quantiles are moved for bias and for a spread that changes with the value (Efron 1987).
    Bca,
}

/// Whether the trials of a case are drawn again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trials {
    /// Cases are drawn, then trials within each, with distances shrunk as the module says.
    Resampled,
    /// Cases are drawn with the trials they have.
    Kept,
}

/// How to resample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// How many samples are drawn.
    pub resamples: usize,
    /// Where the samples come from; none takes a seed from the data.
    pub seed: Option<u64>,
    /// How often such intervals shall hold the truth: 0.95 for 95 %.
    pub level: f64,
    /// How the ends come from the samples.
    pub kind: Kind,
    /// Whether the trials of a case are drawn again.
    pub trials: Trials,
}

impl Default for Options {
    fn default() -> Self {
        Self { resamples: RESAMPLES, seed: None, level: 0.95, kind: Kind::Bca, trials: Trials::Resampled }
    }
}

/// The mean over cases of the mean of each case's trials, with its interval.
///
/// A case without trials is no part of the sample. `clusters` names the cluster of every case; clusters are then drawn whole.
/// Neither the order of cases, nor that of trials, nor the number of threads changes a digit.
pub fn interval_of_mean(cases: &[Vec<f64>], clusters: Option<&[usize]>, options: &Options) -> Estimate {
    let cases: Vec<Vec<[f64; 1]>> = cases.iter().map(|trials| trials.iter().map(|v| [*v]).collect()).collect();
    let sample = Sample::new(&cases, clusters, options);
    let mean =
        |values: &[[f64; 1]]| (!values.is_empty()).then(|| sum(values.iter().map(|[v]| *v)) / values.len() as f64);
    sample.estimate(&mean, options, |random, _| sample.drawn_mean(random))
}

/// Any statistic of the values of cases, with its interval.
///
/// Every trial has `W` numbers, and the value of a case is the mean of its trials, number by number: with one number a trial
/// a median or a share of cases, with more a ratio of sums, such as pooled precision out of true and reported findings. The
/// statistic is none where it is undefined, and must not depend on the order of cases.
pub fn interval<const W: usize>(
    cases: &[Vec<[f64; W]>],
    clusters: Option<&[usize]>,
    statistic: &(impl Fn(&[[f64; W]]) -> Option<f64> + Sync),
    options: &Options,
) -> Estimate {
    let sample = Sample::new(cases, clusters, options);
    sample.estimate(statistic, options, |random, values| {
        values.clear();
        sample.draw(random, values);
        statistic(values)
    })
}

/// Cases in an order that depends on their values alone, laid out for drawing.
struct Sample<const W: usize> {
    /// The mean of each case's trials.
    means: Vec<[f64; W]>,
    /// Where each cluster starts among the cases, and where the last one ends. Without clusters every case is its own.
    starts: Vec<usize>,
    /// What each case's draws choose from: its shrunk mean with every choice of its trials, or each trial by itself.
    choices: Vec<[f64; W]>,
    /// Where each case's choices start, and where the last ones end.
    places: Vec<usize>,
    /// How many draws make one value of the case: 1 where every choice of trials is laid out.
    draws: Vec<usize>,
    /// Whether cases stand alone, and all have as many choices.
    even: bool,
    seed: u64,
}

/// Choices of a case's trials are laid out up to so many of them.
const CHOICES: usize = 256;

impl<const W: usize> Sample<W> {
    fn new(cases: &[Vec<[f64; W]>], clusters: Option<&[usize]>, options: &Options) -> Self {
        let (ordered, starts) = ordered(cases, clusters);
        let seed = options.seed.unwrap_or_else(|| {
            seed_of(ordered.iter().flat_map(|trials| {
                std::iter::once(trials.len() as f64).chain(trials.iter().flat_map(|trial| trial.iter().copied()))
            }))
        });
        let means: Vec<[f64; W]> = ordered.iter().map(|trials| mean_of(trials)).collect();
        let again = options.trials == Trials::Resampled;
        let (centre, shrunk) = if again { shrinking(&ordered, &means, &starts) } else { (mean_of(&means), [1.0; W]) };
        let (choices, places, draws) = (Vec::new(), vec![0], Vec::with_capacity(means.len()));
        let mut sample = Self { means, starts, choices, places, draws, even: false, seed };
        for (trials, mean) in ordered.iter().zip(&sample.means) {
            // The trial's own distance from its case stays whole, the case's distance from the centre shrinks.
            let placed = |trial: [f64; W]| -> [f64; W] {
                std::array::from_fn(|w| centre[w] + shrunk[w] * (mean[w] - centre[w]) + (trial[w] - mean[w]))
            };
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

    /// The statistic on all cases, and its interval from samples that `one` draws.
    fn estimate(
        &self,
        statistic: &(impl Fn(&[[f64; W]]) -> Option<f64> + Sync),
        options: &Options,
        one: impl Fn(&mut Random, &mut Vec<[f64; W]>) -> Option<f64> + Sync,
    ) -> Estimate {
        let value = statistic(&self.means).filter(|v| v.is_finite());
        let Some(known) = value else { return Estimate::without(value, NoInterval::Undefined) };
        if self.clusters() < 2 {
            return Estimate::without(value, NoInterval::OneUnit);
        }
        let drawn: Vec<f64> = (0..options.resamples)
            .into_par_iter()
            .with_min_len(32)
            // Each sample has a stream of its own, whichever thread draws it.
            .map_init(Vec::new, |values, number| one(&mut Random::new(self.seed, number as u64), values))
            .flatten_iter()
            .filter(|v| v.is_finite())
            .collect();
        let acceleration = match options.kind {
            Kind::Percentile => None,
            Kind::Bca => Some(acceleration(&self.left_out(statistic))),
        };
        let interval =
            checked(options.level).and_then(|level| ends(known, drawn, acceleration, level, options.resamples));
        let method = self.method(options);
        Estimate {
            value,
            interval: interval.map(|(low, high)| Interval {
                low,
                high,
                method,
                level: options.level,
                n: self.clusters(),
            }),
        }
    }

    fn method(&self, options: &Options) -> &'static str {
        let clustered = self.clusters() < self.means.len();
        let again = options.trials == Trials::Resampled;
        match (options.kind, clustered, again) {
            (Kind::Bca, false, true) => "hierarchical-bootstrap-bca",
            (Kind::Bca, true, true) => "hierarchical-cluster-bootstrap-bca",
            (Kind::Bca, false, false) => "bootstrap-bca",
            (Kind::Bca, true, false) => "cluster-bootstrap-bca",
            (Kind::Percentile, false, true) => "hierarchical-bootstrap-percentile",
            (Kind::Percentile, true, true) => "hierarchical-cluster-bootstrap-percentile",
            (Kind::Percentile, false, false) => "bootstrap-percentile",
            (Kind::Percentile, true, false) => "cluster-bootstrap-percentile",
        }
    }

    /// The statistic without each cluster.
    fn left_out(&self, statistic: &(impl Fn(&[[f64; W]]) -> Option<f64> + Sync)) -> Vec<f64> {
        self.starts
            .par_windows(2)
            .map_init(Vec::new, |rest: &mut Vec<[f64; W]>, cluster| {
                rest.clear();
                rest.extend_from_slice(&self.means[..cluster[0]]);
                rest.extend_from_slice(&self.means[cluster[1]..]);
                statistic(rest)
            })
            .flatten_iter()
            .filter(|v| v.is_finite())
            .collect()
    }

    fn draw(&self, random: &mut Random, values: &mut Vec<[f64; W]>) {
        for _ in 0..self.clusters() {
            let cluster = random.below(self.clusters());
            for case in self.starts[cluster]..self.starts[cluster + 1] {
                values.push(self.value(case, random));
            }
        }
    }

    /// One value of a case: a draw of its trials.
    #[inline]
    fn value(&self, case: usize, random: &mut Random) -> [f64; W] {
        let choices = &self.choices[self.places[case]..self.places[case + 1]];
        match (choices.len(), self.draws[case]) {
            (1, _) => choices[0],
            (count, 1) => choices[random.below(count)],
            (count, draws) => {
                let mut total = [0.0; W];
                for _ in 0..draws {
                    let trial = choices[random.below(count)];
                    (0..W).for_each(|w| total[w] += trial[w]);
                }
                total.map(|v| v / draws as f64)
            }
        }
    }
}

impl Sample<1> {
    /// The mean of one sample, without keeping the sample.
    fn drawn_mean(&self, random: &mut Random) -> Option<f64> {
        // A case and a choice of its trials are one draw.
        if self.even {
            let total = sum((0..self.means.len()).map(|_| self.choices[random.below(self.choices.len())][0]));
            return Some(total / self.means.len() as f64);
        }
        let (mut total, mut count) = (0.0, 0);
        for _ in 0..self.clusters() {
            let cluster = random.below(self.clusters());
            for case in self.starts[cluster]..self.starts[cluster + 1] {
                total += self.value(case, random)[0];
                count += 1;
            }
        }
        (count > 0).then(|| total / f64::from(count))
    }
}

/// Cases with trials, sorted by their values within clusters, clusters sorted likewise, and where each cluster starts.
fn ordered<const W: usize>(cases: &[Vec<[f64; W]>], clusters: Option<&[usize]>) -> (Vec<Vec<[f64; W]>>, Vec<usize>) {
    let by_value = |a: &[f64; W], b: &[f64; W]| {
        let differs = a.iter().zip(b).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne());
        differs.unwrap_or(std::cmp::Ordering::Equal)
    };
    let by_trials = |a: &Vec<[f64; W]>, b: &Vec<[f64; W]>| {
        let differs = a.iter().zip(b).map(|(a, b)| by_value(a, b)).find(|order| order.is_ne());
        differs.unwrap_or(a.len().cmp(&b.len()))
    };
    let mut named: Vec<(usize, Vec<[f64; W]>)> = Vec::with_capacity(cases.len());
    for (at, trials) in cases.iter().enumerate().filter(|(_, trials)| !trials.is_empty()) {
        let mut trials = trials.clone();
        trials.sort_by(by_value);
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

/// The centre, and by how much distances from it shrink, number by number.
fn shrinking<const W: usize>(cases: &[Vec<[f64; W]>], means: &[[f64; W]], starts: &[usize]) -> ([f64; W], [f64; W]) {
    let centre = mean_of(means);
    let shrunk = std::array::from_fn(|w| {
        let trials = sum(cases.iter().zip(means).map(|(trials, mean)| {
            let m = trials.len() as f64;
            sum(trials.iter().map(|trial| (trial[w] - mean[w]).powi(2))) / (m * m)
        }));
        let spread = sum(starts
            .windows(2)
            .map(|cluster| sum(means[cluster[0]..cluster[1]].iter().map(|mean| mean[w] - centre[w])).powi(2)));
        if spread > 0.0 { (1.0 - trials / spread).max(0.0).sqrt() } else { 1.0 }
    });
    (centre, shrunk)
}

fn mean_of<const W: usize>(values: &[[f64; W]]) -> [f64; W] {
    std::array::from_fn(|w| sum(values.iter().map(|value| value[w])) / values.len() as f64)
}

/// The mean of the trials that a number chooses: its digits, in base of how many trials there are.
fn chosen<const W: usize>(trials: &[[f64; W]], mut choice: usize) -> [f64; W] {
    let mut total = [0.0; W];
    for _ in trials {
        let trial = trials[choice % trials.len()];
        choice /= trials.len();
        (0..W).for_each(|w| total[w] += trial[w]);
    }
    total.map(|v| v / trials.len() as f64)
}

/// Adding from plain zero: the sum of nothing is 0, not −0.
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |total, value| total + value)
}

/// The ends of the interval, moved where an acceleration is given.
fn ends(
    value: f64,
    mut drawn: Vec<f64>,
    acceleration: Option<f64>,
    level: f64,
    resamples: usize,
) -> Result<(f64, f64), NoInterval> {
    if drawn.is_empty() || drawn.len() * 20 < resamples * 19 {
        return Err(NoInterval::OftenUndefined);
    }
    drawn.par_sort_unstable_by(f64::total_cmp);
    // The same figure added up in another order may differ in its last digits.
    if drawn[drawn.len() - 1] - drawn[0] <= 1e-12 * value.abs().max(1e-3) {
        return Err(NoInterval::NothingVaries);
    }
    let tail = (1.0 - level) / 2.0;
    let Some(acceleration) = acceleration else { return Ok((at_share(&drawn, tail), at_share(&drawn, 1.0 - tail))) };
    let n = drawn.len() as f64;
    let near = 1e-12 * value.abs().max(1e-3);
    let (below, above) = (drawn.partition_point(|v| *v < value - near), drawn.partition_point(|v| *v <= value + near));
    let share = (below as f64 + above as f64) / (2.0 * n);
    // Where all samples lie on one side, the correction is as large as these samples can show.
    let bias = quantile(share.clamp(0.5 / n, 1.0 - 0.5 / n));
    let end = |z: f64| {
        let moved = bias + z;
        at_share(&drawn, cumulative(bias + moved / (1.0 - acceleration * moved)))
    };
    let z = quantile(1.0 - tail);
    Ok((end(-z), end(z)))
}

/// A sixth of the skewness of the jackknife's values.
fn acceleration(left_out: &[f64]) -> f64 {
    let mean = sum(left_out.iter().copied()) / left_out.len().max(1) as f64;
    let squares = sum(left_out.iter().map(|v| (mean - v).powi(2)));
    let cubes = sum(left_out.iter().map(|v| (mean - v).powi(3)));
    if squares > 0.0 { cubes / (6.0 * squares.powf(1.5)) } else { 0.0 }
}

/// The value below which that share of sorted values lies, between neighbours on a straight line.
fn at_share(sorted: &[f64], share: f64) -> f64 {
    let place = share.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    low + (high - low) * place.fract()
}
