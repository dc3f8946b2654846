//! Simulated pairs of tools whose truth is known: what does the whole verdict say of them?

use karat_core::comparison::{MetricDifference, PairedMetric, Pairs, Row, Rules, compare};
use karat_core::metric::table::Direction;
use karat_core::stats::distribution::quantile;
use karat_core::stats::paired::{DifferenceVerdict, minimum_detectable};
use karat_core::stats::random::Random;
use rayon::prelude::*;

/// What a rate must keep.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Expectation {
    /// At least so much.
    AtLeast(f64),
    /// At most so much.
    AtMost(f64),
}

/// One kind of two tools, and what is counted.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) expectation: Expectation,
    counts: fn(&mut Random, &Rules) -> bool,
}

impl Scenario {
    /// In what share of suites it counts.
    pub(crate) fn rate(&self, suites: usize, resamples: usize) -> f64 {
        let rules = Rules { resamples, ..Rules::default() };
        let counts = |number: &usize| (self.counts)(&mut Random::new(2025, *number as u64), &rules);
        (0..suites).into_par_iter().filter(counts).count() as f64 / suites as f64
    }
}

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "50 clusters of 10, no difference: better or worse",
        expectation: Expectation::AtMost(0.06),
        counts: |random, rules| told_apart(&compare(&[clustered(random, 50, 10)], rules)[0]),
    },
    Scenario {
        name: "60 cases, no difference, found or not: better or worse",
        expectation: Expectation::AtMost(0.06),
        counts: |random, rules| told_apart(&compare(&[found_or_not(random, 60)], rules)[0]),
    },
    Scenario {
        name: "60 cases, no difference, pooled precision: better or worse",
        expectation: Expectation::AtMost(0.06),
        counts: |random, rules| told_apart(&compare(&[pooled(random, 60)], rules)[0]),
    },
    Scenario {
        name: "12 cases, no difference: better or worse",
        expectation: Expectation::AtMost(0.06),
        counts: |random, rules| told_apart(&compare(&[planted(random, 12, 0.3, 0.0)], rules)[0]),
    },
    Scenario {
        name: "one tool against 11 others, no difference: any better or worse",
        expectation: Expectation::AtMost(0.06),
        counts: |random, rules| compare(&against_eleven(random, 50), rules).iter().any(told_apart),
    },
    Scenario {
        name: "60 cases, a difference of the margin: equivalent",
        expectation: Expectation::AtMost(0.05),
        counts: |random, rules| {
            let found = &compare(&[planted(random, 60, 0.03, rules.margin)], rules)[0];
            found.verdict == DifferenceVerdict::Equivalent
        },
    },
    Scenario {
        name: "60 cases, twice the minimum detectable difference: better",
        expectation: Expectation::AtLeast(0.9),
        counts: |random, rules| better_at_twice(random, rules, 60),
    },
    Scenario {
        name: "200 cases, a tenth of the margin: equivalent",
        expectation: Expectation::AtLeast(0.9),
        counts: |random, rules| {
            let found = &compare(&[planted(random, 200, 0.06, rules.margin / 10.0)], rules)[0];
            found.verdict == DifferenceVerdict::Equivalent
        },
    },
    Scenario {
        name: "the same run twice: better or worse",
        expectation: Expectation::AtMost(0.0),
        counts: |random, rules| {
            let same = (0..60).map(|_| random.unit()).map(|v| [v, v]).collect();
            told_apart(&compare(&[comparand(Pairs::Values(same))], rules)[0])
        },
    },
];

fn told_apart(found: &MetricDifference) -> bool {
    matches!(found.verdict, DifferenceVerdict::Better | DifferenceVerdict::Worse)
}

fn comparand(pairs: Pairs<'static>) -> PairedMetric<'static> {
    PairedMetric { pairs, clusters: None, direction: Direction::Up }
}

pub(crate) fn normal(random: &mut Random) -> f64 {
    quantile((random.unit() + 1e-9).min(1.0 - 1e-9))
}

/// Clusters of cases whose differences are alike within, and 0 on the whole.
fn clustered(random: &mut Random, clusters: usize, size: usize) -> PairedMetric<'static> {
    let (mut pairs, mut names) = (Vec::new(), Vec::new());
    for cluster in 0..clusters {
        let shared = 0.15 * normal(random);
        for _ in 0..size {
            let a = random.unit();
            pairs.push([a, a + shared + 0.25 * normal(random)]);
            names.push(cluster);
        }
    }
    PairedMetric { clusters: Some(names), ..comparand(Pairs::Values(pairs)) }
}

/// Both find the golden of a case with the same chance.
fn found_or_not(random: &mut Random, cases: usize) -> PairedMetric<'static> {
    let one = |random: &mut Random| {
        let chance = random.unit();
        [0, 1].map(|_| f64::from(u8::from(random.unit() < chance)))
    };
    comparand(Pairs::Values((0..cases).map(|_| one(random)).collect()))
}

/// Findings that are right or wrong, of both with the same chance.
fn pooled(random: &mut Random, cases: usize) -> PairedMetric<'static> {
    let side = |random: &mut Random, chance: f64| -> Row {
        let all = random.below(6);
        let right = (0..all).filter(|_| random.unit() < chance).count();
        vec![(0, right as f64), (1, all as f64)]
    };
    let rows = (0..cases).map(|_| {
        let chance = random.unit();
        [side(random, chance), side(random, chance)]
    });
    comparand(Pairs::Sums { rows: rows.collect(), columns: 2, value: &share })
}

fn share(sums: &[f64]) -> Option<f64> {
    (sums[1] > 0.0).then(|| sums[0] / sums[1])
}

/// Cases that differ by this much on average.
fn planted(random: &mut Random, cases: usize, spread: f64, by: f64) -> PairedMetric<'static> {
    let pairs = (0..cases).map(|_| {
        let a = random.unit();
        [a, a + by + spread * normal(random)]
    });
    comparand(Pairs::Values(pairs.collect()))
}

/// Twelve equal tools on the same cases, the first against each of the others.
fn against_eleven(random: &mut Random, cases: usize) -> Vec<PairedMetric<'static>> {
    let mut tools = vec![Vec::new(); 12];
    for _ in 0..cases {
        let level = random.unit();
        tools.iter_mut().for_each(|tool| tool.push(level + 0.2 * normal(random)));
    }
    let against = |tool: &Vec<f64>| tools[0].iter().zip(tool).map(|(a, b)| [*a, *b]).collect();
    tools[1..].iter().map(|tool| comparand(Pairs::Values(against(tool)))).collect()
}

fn better_at_twice(random: &mut Random, rules: &Rules, cases: usize) -> bool {
    let spread = 0.3;
    let least = minimum_detectable(spread / (cases as f64).sqrt(), rules.level, rules.power).unwrap_or(f64::NAN);
    compare(&[planted(random, cases, spread, 2.0 * least)], rules)[0].verdict == DifferenceVerdict::Better
}
