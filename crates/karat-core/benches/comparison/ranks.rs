//! How long it takes to test all pairs of many tools.

use karat_core::comparison::{Row, Rules, ToolScores, rank_sets, test_all_pairs};
use karat_core::metric::table::Direction;
use karat_core::stats::random::Random;
use std::time::Instant;

/// So many tools on so many cases; of every hundred values so many are missing.
const SHAPES: &[(usize, usize, usize)] =
    &[(2, 5_000, 0), (12, 50, 0), (12, 5_000, 0), (50, 500, 0), (50, 5_000, 0), (50, 5_000, 1), (50, 5_000, 30)];

pub(crate) fn time() {
    println!("| tools | cases | missing | metric      | pairs | draws | significant | seconds |");
    println!("|------:|------:|--------:|-------------|------:|------:|------------:|--------:|");
    for (tools, cases, missing) in SHAPES {
        let values = scored(*tools, *cases, *missing);
        line((*tools, *cases, *missing), "mean", &ToolScores::Values(values.clone()));
        if *missing == 0 {
            let row = |value: &Option<f64>| -> Row { value.map_or_else(Vec::new, |v| vec![(0, v), (1, 1.0)]) };
            let rows = values.iter().map(|tool| tool.iter().map(row).collect()).collect();
            line((*tools, *cases, *missing), "sums", &ToolScores::Sums { rows, columns: 2, value: &share });
        }
    }
}

fn line((tools, cases, missing): (usize, usize, usize), metric: &str, scores: &ToolScores<'_>) {
    let rules = Rules { seed: Some(1), ..Rules::default() };
    let start = Instant::now();
    let tests = test_all_pairs(scores, None, &rules);
    let sets = rank_sets(tools, &tests, Direction::Up, rules.level);
    let seconds = start.elapsed().as_secs_f64();
    let significant = tests.iter().filter(|test| test.decided(Direction::Up, rules.level).is_some()).count();
    println!(
        "| {tools:5} | {cases:5} | {missing:5} % | {metric:11} | {:5} | {:5} | {significant:11} | {seconds:7.2} |",
        tests.len(),
        rules.permutations(tests.len()),
    );
    assert!(sets.iter().all(|set| set.low <= set.high));
}

/// Tools between 0.3 and 0.6 whose cases share their difficulty.
fn scored(tools: usize, cases: usize, missing: usize) -> Vec<Vec<Option<f64>>> {
    let mut random = Random::new(50, 0);
    let mut all = vec![Vec::with_capacity(cases); tools];
    for _ in 0..cases {
        let difficulty = 0.4 * random.unit();
        for (at, tool) in all.iter_mut().enumerate() {
            let mean = 0.1 + 0.3 * at as f64 / tools as f64;
            let value = mean + difficulty + 0.6 * (random.unit() - 0.5);
            tool.push((random.below(100) >= missing).then_some(value));
        }
    }
    all
}

fn share(sums: &[f64]) -> Option<f64> {
    (sums[1] > 0.0).then(|| sums[0] / sums[1])
}
