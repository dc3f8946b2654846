//! Simulated suites whose truth is known: how often do intervals hold it, and how often is there a false alarm?

use karat_core::stats::bootstrap::{BootstrapKind, BootstrapOptions, CaseData, interval_of_mean, joint_estimates};
use karat_core::stats::correct::{Label, rogan_gladen};
use karat_core::stats::distribution::quantile;
use karat_core::stats::interval::{Interval, IntervalEstimate, clopper_pearson, wilson};
use karat_core::stats::paired::sign_flip;
use karat_core::stats::random::Random;
use rayon::prelude::*;

/// What a rate must keep over 2,000 suites.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Expectation {
    /// Between 93 % and 97 %.
    Coverage,
    /// At least so much.
    AtLeast(f64),
    /// At most so much.
    AtMost(f64),
}

/// Whether a value lies inside, ends included.
pub(crate) fn is_inside(interval: &Interval, value: f64) -> bool {
    interval.low <= value && value <= interval.high
}

/// One kind of suite and what is asked of it.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) expectation: Expectation,
    /// Whether it holds in one suite drawn with these numbers and so many resamples; none where the suite has no interval.
    holds: fn(&mut Random, usize) -> Option<bool>,
}

impl Scenario {
    /// In what share of suites it holds. A suite without an interval counts as a miss.
    pub(crate) fn rate(&self, suites: usize, resamples: usize) -> f64 {
        let holds = |number: &usize| (self.holds)(&mut Random::new(2024, *number as u64), resamples) == Some(true);
        (0..suites).into_par_iter().filter(holds).count() as f64 / suites as f64
    }
}

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "hierarchical BCa, 60 cases x 3 trials, found or not",
        expectation: Expectation::Coverage,
        holds: |random, resamples| hierarchical(random, resamples, BootstrapKind::Bca, 3, 1.0),
    },
    Scenario {
        name: "hierarchical percentile, 60 cases x 3 trials, found or not",
        expectation: Expectation::Coverage,
        holds: |random, resamples| hierarchical(random, resamples, BootstrapKind::Percentile, 3, 1.0),
    },
    Scenario {
        name: "hierarchical BCa, 60 cases x 3 trials, cases all alike",
        expectation: Expectation::Coverage,
        holds: |random, resamples| hierarchical(random, resamples, BootstrapKind::Bca, 3, 0.0),
    },
    Scenario {
        name: "hierarchical BCa, 60 cases x 1 trial, found or not",
        expectation: Expectation::Coverage,
        holds: |random, resamples| hierarchical(random, resamples, BootstrapKind::Bca, 1, 1.0),
    },
    Scenario {
        name: "cluster bootstrap BCa, 50 clusters of 10",
        expectation: Expectation::Coverage,
        holds: |random, resamples| {
            clustered(random, |cases, names| {
                let options = BootstrapOptions { resamples, ..BootstrapOptions::default() };
                interval_of_mean(cases, Some(names), &options).interval.ok().map(|i| is_inside(&i, 0.0))
            })
        },
    },
    Scenario {
        name: "ratio of sums, BCa, 60 cases, findings right or wrong",
        expectation: Expectation::Coverage,
        holds: |random, resamples| ratio_of_sums(random, resamples, 60, 1),
    },
    Scenario {
        name: "ratio of sums, cluster BCa, 50 clusters of 4",
        expectation: Expectation::Coverage,
        holds: |random, resamples| ratio_of_sums(random, resamples, 50, 4),
    },
    Scenario {
        name: "Wilson, 80 items, any share",
        expectation: Expectation::Coverage,
        holds: |random, _| share(random, |k, truth| wilson(k, 80, 0.95).ok().map(|i| is_inside(&i, truth))),
    },
    Scenario {
        name: "Clopper-Pearson, 80 items, any share",
        expectation: Expectation::AtLeast(0.94),
        holds: |random, _| share(random, |k, truth| clopper_pearson(k, 80, 0.95).ok().map(|i| is_inside(&i, truth))),
    },
    Scenario {
        name: "Rogan-Gladen, 500 items, 120 labels, se 0.85, sp 0.9",
        expectation: Expectation::Coverage,
        holds: |random, _| {
            let judge = |random: &mut Random, truth: bool| random.unit() < if truth { 0.85 } else { 0.1 };
            let k = (0..500)
                .filter(|_| {
                    let truth = random.unit() < 0.4;
                    judge(random, truth)
                })
                .count();
            let labels: Vec<Label> = (0..120)
                .map(|unit| {
                    let truth = random.unit() < 0.4;
                    Label { judged: judge(random, truth), truth, probability: 0.2, unit, cluster: unit }
                })
                .collect();
            rogan_gladen(k, 500, &labels, 0.95).ok().map(|c| is_inside(&c.interval, 0.4))
        },
    },
    Scenario {
        name: "false alarms of the sign-flip test, 50 clusters of 10",
        expectation: Expectation::AtMost(0.06),
        holds: |random, resamples| {
            clustered(random, |cases, names| sign_flip(cases, Some(names), resamples, None).map(|p| p <= 0.05))
        },
    },
];

/// Trials that find a golden or not, by cases that are harder and easier by so much.
fn hierarchical(random: &mut Random, resamples: usize, kind: BootstrapKind, trials: usize, apart: f64) -> Option<bool> {
    let cases: Vec<Vec<f64>> = (0..60)
        .map(|_| {
            let chance = 0.6 + apart * (0.8 * random.unit() - 0.4);
            (0..trials).map(|_| number(random.unit() < chance)).collect()
        })
        .collect();
    let options = BootstrapOptions { resamples, kind, ..BootstrapOptions::default() };
    hierarchical_mean(&cases, None, &options).interval.ok().map(|i| is_inside(&i, 0.6))
}

/// The mean over cases of the mean of each case's trials, with its interval.
pub(crate) fn hierarchical_mean(
    cases: &[Vec<f64>],
    clusters: Option<&[usize]>,
    options: &BootstrapOptions,
) -> IntervalEstimate {
    let trials: Vec<Vec<Vec<Option<f64>>>> =
        cases.iter().map(|trials| trials.iter().map(|value| vec![Some(*value)]).collect()).collect();
    let rows = vec![Vec::new(); cases.len()];
    joint_estimates(&CaseData { trials: &trials, rows: &rows, clusters }, &|_| Vec::new(), options).means[0]
}

/// Pooled precision: cases report more or fewer findings, and those of a cluster are right more or less often.
fn ratio_of_sums(random: &mut Random, resamples: usize, clusters: usize, size: usize) -> Option<bool> {
    let (mut rows, mut names) = (Vec::new(), Vec::new());
    for cluster in 0..clusters {
        let chance = 0.3 + 0.6 * random.unit();
        for _ in 0..size {
            let reported = 1 + random.below(5);
            let right = (0..reported).filter(|_| random.unit() < chance).count();
            rows.push(vec![right as f64, reported as f64]);
            names.push(cluster);
        }
    }
    let trials = vec![Vec::new(); rows.len()];
    let cases = CaseData { trials: &trials, rows: &rows, clusters: (size > 1).then_some(&names) };
    let share = |row: &[f64]| vec![(row[1] > 0.0).then(|| row[0] / row[1])];
    let found = joint_estimates(&cases, &share, &BootstrapOptions { resamples, ..BootstrapOptions::default() });
    found.figures[0].interval.ok().map(|i| is_inside(&i, 0.6))
}

/// Differences around 0 in 50 clusters of 10 that are alike within.
fn clustered(random: &mut Random, check: impl Fn(&[f64], &[usize]) -> Option<bool>) -> Option<bool> {
    let (mut values, mut names) = (Vec::new(), Vec::new());
    for cluster in 0..50 {
        let common = 0.5 * normal(random);
        for _ in 0..10 {
            values.push(common + normal(random));
            names.push(cluster);
        }
    }
    check(&values, &names)
}

fn share(random: &mut Random, check: impl Fn(usize, f64) -> Option<bool>) -> Option<bool> {
    let truth = 0.02 + 0.96 * random.unit();
    let k = (0..80).filter(|_| random.unit() < truth).count();
    check(k, truth)
}

fn normal(random: &mut Random) -> f64 {
    quantile(random.unit())
}

fn number(holds: bool) -> f64 {
    if holds { 1.0 } else { 0.0 }
}
