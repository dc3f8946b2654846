//! Simulated rankings and labels whose truth is known: are fitted values recommended?

use crate::verdicts::{Expectation, normal};
use karat_core::calibrate::matching::{self, Advice, LabelledPair};
use karat_core::calibrate::sui::{self, Expert, Parts};
use karat_core::matching::outcome;
use karat_core::profile::{CompositeMean, Profile};
use karat_core::stats::random::Random;
use std::process::ExitCode;
use std::time::Instant;

struct Scenario {
    name: &'static str,
    expectation: Expectation,
    is_recommended: fn(&mut Random, &Profile) -> bool,
}

/// Chance may be recommended in one of twenty fits.
const CHANCE: Expectation = Expectation::AtMost(0.05);

const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "sui: 30 tools, a random ranking",
        expectation: CHANCE,
        is_recommended: |random, profile| ranked(random, profile, &Tools { n: 30, experts: 1, ..Tools::default() }),
    },
    Scenario {
        name: "sui: 100 tools, a random ranking",
        expectation: CHANCE,
        is_recommended: |random, profile| ranked(random, profile, &Tools { n: 100, experts: 1, ..Tools::default() }),
    },
    Scenario {
        name: "sui: 30 tools, 4 experts who agree on a random ranking",
        expectation: CHANCE,
        is_recommended: |random, profile| {
            ranked(random, profile, &Tools { n: 30, experts: 4, shared: 0.5, noise: 0.2, ..Tools::default() })
        },
    },
    Scenario {
        name: "sui: 40 tools, 2 experts who follow the present weights roughly",
        expectation: CHANCE,
        is_recommended: |random, profile| {
            let weights = profile.sui.list();
            ranked(random, profile, &Tools { n: 40, experts: 2, weights, noise: 0.15, ..Tools::default() })
        },
    },
    Scenario {
        name: "sui: 40 tools, 2 experts who follow other weights roughly",
        expectation: Expectation::AtLeast(0.8),
        is_recommended: |random, profile| {
            let weights = [0.0, 0.1, 0.7, 0.1, 0.1];
            ranked(random, profile, &Tools { n: 40, experts: 2, weights, noise: 0.15, ..Tools::default() })
        },
    },
    Scenario {
        name: "match: 200 labels in 10 cases, a third of them matches at random",
        expectation: CHANCE,
        is_recommended: |random, profile| labelled(random, profile, 10, |random, _, _| random.unit() < 1.0 / 3.0),
    },
    Scenario {
        name: "match: 200 labels in 10 cases, nine tenths of them matches at random",
        expectation: CHANCE,
        is_recommended: |random, profile| labelled(random, profile, 10, |random, _, _| random.unit() < 0.9),
    },
    Scenario {
        name: "match: 400 labels in 20 cases, each with its own share of matches",
        expectation: CHANCE,
        is_recommended: |random, profile| labelled(random, profile, 20, |random, _, share| random.unit() < share),
    },
    Scenario {
        name: "match: 400 labels in 20 cases, which follow the present rules roughly",
        expectation: CHANCE,
        is_recommended: |random, profile| {
            labelled(random, profile, 20, |random, [file, line, keyword], _| {
                0.4 * file + 0.2 * line + 0.4 * keyword + 0.1 * normal(random) >= 0.575
            })
        },
    },
    Scenario {
        name: "match: 200 labels in 10 cases, which follow other weights roughly",
        expectation: Expectation::AtLeast(0.8),
        is_recommended: |random, profile| {
            labelled(random, profile, 10, |random, [_, line, keyword], _| {
                0.2 * line + 0.8 * keyword + 0.1 * normal(random) >= 0.5
            })
        },
    },
];

/// Simulates so many fits of each kind, one after the other, since a fit uses all threads.
pub(crate) fn simulate(fits: usize) -> ExitCode {
    let profile: Profile = match toml::from_str(include_str!("../../../karat/profiles/karat.toml")) {
        Ok(profile) => profile,
        Err(error) => {
            println!("{error}");
            return ExitCode::FAILURE;
        }
    };
    println!("{fits} fits");
    println!("| {:72} | recommended | wanted  | s / fit |", "");
    println!("|{:-<74}|------------:|---------|--------:|", "");
    let mut kept = true;
    for scenario in SCENARIOS {
        let start = Instant::now();
        let fit = |number: &usize| (scenario.is_recommended)(&mut Random::new(2026, *number as u64), &profile);
        let recommended = (0..fits).filter(fit).count();
        let (share, seconds) = (recommended as f64 / fits as f64, start.elapsed().as_secs_f64() / fits as f64);
        // Four standard deviations of so many fits.
        let (holds, expectation) = match scenario.expectation {
            Expectation::AtLeast(least) => (share >= least, format!(">= {} %", 100.0 * least)),
            Expectation::AtMost(most) => {
                let spread = (most * (1.0 - most) / fits as f64).sqrt();
                (share <= most + 4.0 * spread, format!("<= {} %", 100.0 * most))
            }
        };
        kept &= holds;
        let missed = if holds { "" } else { " MISSED" };
        println!("| {:72} | {:9.1} % | {expectation:7} | {seconds:7.3} |{missed}", scenario.name, 100.0 * share);
    }
    if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Tools with random parts, and experts who rank them by an index, by what they share, and by noise.
#[derive(Default)]
struct Tools {
    n: usize,
    experts: usize,
    weights: [f64; 5],
    shared: f64,
    noise: f64,
}

fn ranked(random: &mut Random, profile: &Profile, own: &Tools) -> bool {
    let tools: Vec<Parts> = (0..own.n).map(|_| std::array::from_fn(|_| random.unit())).collect();
    let said: Vec<f64> = tools
        .iter()
        .map(|parts| {
            let index: f64 = parts.iter().zip(own.weights).map(|(part, weight)| part * weight).sum();
            index + own.shared * normal(random)
        })
        .collect();
    let noise = if own.shared + own.noise > 0.0 { own.noise } else { 1.0 };
    let experts: Vec<Expert> = (0..own.experts)
        .map(|at| {
            let order = said.iter().map(|said| said + noise * normal(random)).enumerate().collect();
            Expert { name: at.to_string(), order }
        })
        .collect();
    sui::fit(&tools, &experts, &profile.sui, CompositeMean::AsPublished).is_ok_and(|fit| fit.gain.is_recommended())
}

/// Twenty pairs a case. Cases differ in their scores and, for labels that ask for it, in their share of matches.
fn labelled(
    random: &mut Random,
    profile: &Profile,
    cases: usize,
    label: fn(&mut Random, [f64; 3], f64) -> bool,
) -> bool {
    let mut pairs = Vec::new();
    for case in 0..cases {
        let (share, lift) = (0.1 + 0.8 * random.unit(), 0.3 * random.unit());
        for _ in 0..20 {
            let [file, line, keyword] = std::array::from_fn(|_| 0.7 * random.unit() + lift);
            let parts = outcome::Parts {
                file: Some(file),
                line: Some(line),
                keyword: Some(keyword),
                ..outcome::Parts::default()
            };
            let matched = label(random, [file, line, keyword], share);
            pairs.push(LabelledPair { parts: Some(parts), matched, group: format!("c{case:02}") });
        }
    }
    matching::fit(&pairs, profile).is_ok_and(|fit| fit.advice() != Advice::Keep)
}
