//! Bootstraps many figures of the same cases with one set of resamples.

use super::{BootstrapKind, BootstrapOptions, by_cluster, estimate, first, method};
use crate::stats::interval::IntervalEstimate;
use crate::stats::random::{Random, seed_of};
use crate::stats::summary::sum;
use rayon::prelude::*;

/// What is known of every case.
#[derive(Clone, Copy, Debug)]
pub struct CaseData<'a> {
    /// By case, then by trial: the values whose means are wanted; none where one is undefined there.
    pub trials: &'a [Vec<Vec<Option<f64>>>],
    /// By case: numbers that add up over cases.
    pub rows: &'a [Vec<f64>],
    /// The cluster of every case; clusters are then drawn whole.
    pub clusters: Option<&'a [usize]>,
}

/// Means, and figures of sums, each with its interval.
#[derive(Clone, Debug, PartialEq)]
pub struct JointEstimates {
    /// The mean over cases of each value's mean over trials.
    pub means: Vec<IntervalEstimate>,
    /// What the figures come to.
    pub figures: Vec<IntervalEstimate>,
}

/// Estimates of all values and figures by the same samples.
///
/// Means are drawn by case and then by trial, as the module above says; figures by case, with the trials it has, whose noise
/// its sums already hold. `figures` turns the sums over cases into figures, always as many and in the same order, none where
/// one is undefined. Neither the order of cases, nor that of trials, nor the number of threads changes a digit.
pub fn joint_estimates(
    cases: &CaseData<'_>,
    figures: &(impl Fn(&[f64]) -> Vec<Option<f64>> + Sync),
    options: &BootstrapOptions,
) -> JointEstimates {
    let sample = Sample::new(cases, options);
    let known = sample.figures_of(&sample.all(), figures);
    let width = known.len();
    let mut drawn = vec![f64::NAN; if sample.units() < 2 { 0 } else { options.resamples * width }];
    if width > 0 {
        drawn.par_chunks_mut(width * BLOCK).enumerate().for_each(|(block, out)| {
            let totals = sample.draw(block * BLOCK, out.len() / width);
            for (out, totals) in out.chunks_exact_mut(width).zip(&totals) {
                for (out, value) in out.iter_mut().zip(sample.figures_of(totals, figures)) {
                    *out = value.unwrap_or(f64::NAN);
                }
            }
        });
    }
    let left_out = match options.kind {
        BootstrapKind::Percentile => Vec::new(),
        BootstrapKind::Bca => sample.left_out(figures),
    };
    let figure = |at: usize| {
        let column = || drawn.iter().skip(at).step_by(width).copied().filter(|v| v.is_finite()).collect();
        let without = || left_out.iter().filter_map(|values| values[at]).filter(|v| v.is_finite()).collect();
        let units = sample.defined.get(at).copied().unwrap_or(sample.units());
        let clustered = sample.units() + 1 < sample.places.len();
        let method = method(options.kind, clustered, sample.again && at < sample.means);
        estimate(known[at], units, method, options, column, without)
    };
    let mut means: Vec<IntervalEstimate> = (0..width).into_par_iter().map(figure).collect();
    JointEstimates { figures: means.split_off(sample.means), means }
}

/// Cases in an order that depends on their values alone, laid out for drawing.
struct Sample {
    /// How many means there are; a mean takes two columns, its sum and its count.
    means: usize,
    /// By case and choice of its trials: sum and count of every mean.
    choices: Vec<f64>,
    /// Where each case's choices start, and where the last ones end.
    places: Vec<usize>,
    /// By case: sum and count of every mean, with the trials it has.
    plain: Vec<f64>,
    /// By case: the columns that are not 0 everywhere.
    rows: Vec<f64>,
    /// Which columns these are, and how many there are in all.
    live: Vec<usize>,
    width: usize,
    /// Where each cluster starts among the cases, and where the last one ends. Without clusters every case is its own.
    starts: Vec<usize>,
    defined: Vec<usize>,
    again: bool,
    seed: u64,
}

/// Sum and count of every mean, then the columns that are not 0 everywhere.
type Totals = Vec<f64>;

fn add(sums: &mut [f64], values: &[f64], times: f64) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += times * value);
}

const BLOCK: usize = 16;

/// Maximum number of trial choices laid out per case; beyond, this many are sampled.
const CHOICES: usize = 256;

/// The fewest choices per case: those of a great many cases vary enough together.
const FEWEST_CHOICES: usize = 8;

/// About how many numbers the choices of all cases may take: 16 MB.
const MOST_NUMBERS: usize = 1 << 21;

/// How many choices of trials each case may have, given how many numbers a choice takes.
fn most_choices(cases: usize, numbers: usize) -> usize {
    (MOST_NUMBERS / (cases * numbers).max(1)).clamp(FEWEST_CHOICES, CHOICES)
}

impl Sample {
    fn new(cases: &CaseData<'_>, options: &BootstrapOptions) -> Self {
        let (ordered, starts) = ordered(cases);
        let means = ordered.iter().flat_map(|case| &case.trials).map(|trial| trial.len()).next().unwrap_or(0);
        let numbers = ordered.iter().flat_map(|case| {
            let trials = case.trials.iter().copied().flatten().map(|v| v.unwrap_or(f64::MIN));
            [case.trials.len() as f64].into_iter().chain(trials).chain(case.row.iter().copied())
        });
        let seed = options.seed.unwrap_or_else(|| seed_of(numbers));
        let width = ordered.first().map_or(0, |case| case.row.len());
        let live: Vec<usize> = (0..width).filter(|at| ordered.iter().any(|case| case.row[*at] != 0.0)).collect();
        let rows = ordered.iter().flat_map(|case| live.iter().map(|at| case.row[*at])).collect();
        let again = options.resample_trials;
        let plain: Vec<f64> = ordered.iter().flat_map(|case| mean_pairs(&case.trials, means)).collect();
        let shrunk: Vec<(f64, f64)> = (0..means)
            .map(|k| if again { shrinking(&ordered, &plain, k, means, &starts) } else { (0.0, 1.0) })
            .collect();
        let mut sample = Self {
            means,
            choices: Vec::new(),
            places: vec![0],
            plain,
            rows,
            live,
            width,
            defined: vec![0; means],
            starts,
            again,
            seed,
        };
        let most = most_choices(ordered.len(), 2 * means);
        for (at, case) in ordered.iter().enumerate() {
            sample.lay_out(at, &case.trials, &shrunk, most);
        }
        for cluster in sample.starts.windows(2) {
            for (k, defined) in sample.defined.iter_mut().enumerate() {
                let any = (cluster[0]..cluster[1]).any(|case| sample.plain[(case * means + k) * 2 + 1] > 0.0);
                *defined += usize::from(any);
            }
        }
        sample
    }

    fn lay_out(&mut self, case: usize, trials: &[&[Option<f64>]], shrunk: &[(f64, f64)], most: usize) {
        let plain = self.plain[case * self.means * 2..(case + 1) * self.means * 2].to_vec();
        let m = trials.len();
        // Few sampled choices lie nearer to their own centre than to that of all choices.
        let mut spread = 1.0;
        let picks: Vec<Vec<&[Option<f64>]>> = match m.checked_pow(m as u32).filter(|count| *count <= most) {
            _ if !self.again || m < 2 => vec![trials.to_vec()],
            Some(count) => (0..count).map(|choice| chosen(trials, choice).collect()).collect(),
            None => {
                if most < CHOICES {
                    spread = (most as f64 / (most as f64 - 1.0)).sqrt();
                }
                let mut random = Random::new(self.seed, u64::MAX - case as u64);
                (0..most).map(|_| (0..m).map(|_| trials[random.below(m)]).collect()).collect()
            }
        };
        let from = self.choices.len();
        for pick in &picks {
            self.choices.extend(mean_pairs(pick, self.means));
        }
        let laid = &mut self.choices[from..];
        for k in 0..self.means {
            let count = laid.iter().skip(2 * k + 1).step_by(2 * self.means).sum::<f64>();
            let centre = laid.iter().skip(2 * k).step_by(2 * self.means).sum::<f64>() / count;
            let (middle, shrink) = shrunk[k];
            let own = plain[2 * k];
            for choice in laid.chunks_exact_mut(2 * self.means).filter(|choice| choice[2 * k + 1] > 0.0) {
                // The choice's own distance from its case stays whole, the case's distance from the middle shrinks.
                choice[2 * k] = middle + shrink * (own - middle) + spread * (choice[2 * k] - centre);
            }
        }
        self.places.push(self.places[case] + picks.len());
    }

    fn units(&self) -> usize {
        self.starts.len() - 1
    }

    fn empty(&self) -> Totals {
        vec![0.0; self.means * 2 + self.live.len()]
    }

    fn all(&self) -> Totals {
        let mut totals = self.empty();
        (0..self.places.len() - 1).for_each(|case| self.add(case, 1.0, &mut totals));
        totals
    }

    /// Adds a case as it is, or takes it away.
    fn add(&self, case: usize, times: f64, totals: &mut Totals) {
        let (means, rows) = (self.means * 2, self.live.len());
        add(&mut totals[..means], &self.plain[case * means..(case + 1) * means], times);
        add(&mut totals[means..], &self.rows[case * rows..(case + 1) * rows], times);
    }

    /// The sums of so many samples, from that number on.
    /// First it is drawn how often each cluster comes up, then all samples go through the cases together: what a case can
    /// add is then read once for all of them, and in the order in which it lies in memory.
    fn draw(&self, first: usize, count: usize) -> Vec<Totals> {
        let (means, rows) = (self.means * 2, self.live.len());
        let mut all: Vec<Totals> = vec![self.empty(); count];
        // Each sample has a stream of its own, whichever thread draws it.
        let mut streams: Vec<Random> =
            (0..count).map(|number| Random::new(self.seed, (first + number) as u64)).collect();
        let mut times = vec![0_u32; self.units() * count];
        for (number, random) in streams.iter_mut().enumerate() {
            (0..self.units()).for_each(|_| times[random.below(self.units()) * count + number] += 1);
        }
        for (cluster, times) in self.starts.windows(2).zip(times.chunks_exact(count)) {
            for case in cluster[0]..cluster[1] {
                let choices = &self.choices[self.places[case] * means..self.places[case + 1] * means];
                let row = &self.rows[case * rows..(case + 1) * rows];
                let choices_there = self.places[case + 1] - self.places[case];
                for ((totals, random), times) in all.iter_mut().zip(&mut streams).zip(times) {
                    if *times == 0 {
                        continue;
                    }
                    add(&mut totals[means..], row, f64::from(*times));
                    if choices_there == 1 {
                        add(&mut totals[..means], choices, f64::from(*times));
                        continue;
                    }
                    for _ in 0..*times {
                        let choice = random.below(choices_there) * means;
                        add(&mut totals[..means], &choices[choice..choice + means], 1.0);
                    }
                }
            }
        }
        all
    }

    /// All means, then all figures.
    fn figures_of(&self, totals: &Totals, figures: &(impl Fn(&[f64]) -> Vec<Option<f64>> + Sync)) -> Vec<Option<f64>> {
        let (means, rows) = totals.split_at(self.means * 2);
        let mut row = vec![0.0; self.width];
        for (at, value) in self.live.iter().zip(rows) {
            row[*at] = *value;
        }
        let means = means.chunks_exact(2).map(|pair| (pair[1] > 0.0).then(|| pair[0] / pair[1]));
        means.chain(figures(&row)).collect()
    }

    fn left_out(&self, figures: &(impl Fn(&[f64]) -> Vec<Option<f64>> + Sync)) -> Vec<Vec<Option<f64>>> {
        let all = self.all();
        let without = |cluster: &[usize]| {
            let mut rest = all.clone();
            (cluster[0]..cluster[1]).for_each(|case| self.add(case, -1.0, &mut rest));
            // What is left of a sum when all that it was made of is taken away may not be exactly 0.
            rest.iter_mut().filter(|v| v.abs() < 1e-9).for_each(|v| *v = 0.0);
            self.figures_of(&rest, figures)
        };
        self.starts.par_windows(2).map(without).collect()
    }
}

/// A case, its trials sorted by their values.
struct Ordered<'a> {
    trials: Vec<&'a [Option<f64>]>,
    row: &'a [f64],
}

fn ordered<'a>(cases: &CaseData<'a>) -> (Vec<Ordered<'a>>, Vec<usize>) {
    let by_value = |a: &Option<f64>, b: &Option<f64>| match (a, b) {
        (Some(a), Some(b)) => a.total_cmp(b),
        (a, b) => a.is_some().cmp(&b.is_some()),
    };
    let by_trial = |a: &&[Option<f64>], b: &&[Option<f64>]| first(a.iter().zip(*b).map(|(a, b)| by_value(a, b)));
    let by_case = |a: &Ordered<'_>, b: &Ordered<'_>| {
        let row = a.row.iter().zip(b.row).map(|(a, b)| a.total_cmp(b));
        let trials = a.trials.iter().zip(&b.trials).map(|(a, b)| by_trial(a, b));
        first(row.chain(trials)).then(a.trials.len().cmp(&b.trials.len()))
    };
    let case = |(trials, row): (&'a Vec<Vec<Option<f64>>>, &'a Vec<f64>)| {
        let mut trials: Vec<&[Option<f64>]> = trials.iter().map(Vec::as_slice).collect();
        trials.sort_by(by_trial);
        Ordered { trials, row }
    };
    by_cluster(cases.trials.iter().zip(cases.rows).map(case).enumerate(), cases.clusters, by_case)
}

/// The trials that a number chooses: its digits, in base of how many trials there are.
fn chosen<T: Copy>(trials: &[T], mut choice: usize) -> impl Iterator<Item = T> {
    (0..trials.len()).map(move |_| {
        let trial = trials[choice % trials.len()];
        choice /= trials.len();
        trial
    })
}

/// The mean of the trials where a value is defined with a count of 1, or twice 0; for each value.
fn mean_pairs(trials: &[&[Option<f64>]], means: usize) -> Vec<f64> {
    let mut pairs = Vec::with_capacity(means * 2);
    for k in 0..means {
        let defined = || trials.iter().filter_map(|trial| trial.get(k).copied().flatten());
        let count = defined().count();
        pairs.extend(if count == 0 { [0.0, 0.0] } else { [sum(defined()) / count as f64, 1.0] });
    }
    pairs
}

/// The middle, and by how much distances of cases from it shrink, since their trials are drawn again.
fn shrinking(cases: &[Ordered<'_>], plain: &[f64], k: usize, means: usize, starts: &[usize]) -> (f64, f64) {
    let own = |case: usize| (plain[(case * means + k) * 2], plain[(case * means + k) * 2 + 1]);
    let count = sum((0..cases.len()).map(|case| own(case).1));
    let middle = sum((0..cases.len()).map(|case| own(case).0)) / count.max(1.0);
    let noise = |(case, ordered): (usize, &Ordered<'_>)| {
        let values: Vec<f64> = ordered.trials.iter().filter_map(|trial| trial[k]).collect();
        let m = values.len().max(1) as f64;
        sum(values.iter().map(|v| (v - own(case).0).powi(2))) / (m * m)
    };
    let trials = sum(cases.iter().enumerate().map(noise));
    let distance = |case: usize| own(case).1 * (own(case).0 - middle);
    let spread = sum(starts.windows(2).map(|cluster| sum((cluster[0]..cluster[1]).map(distance)).powi(2)));
    (middle, if spread > 0.0 { (1.0 - trials / spread).max(0.0).sqrt() } else { 1.0 })
}
