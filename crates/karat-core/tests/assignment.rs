//! The exact assignment against optima computed by SciPy.
//!
//! `tests/data/assignment_scipy.txt` was written by `bench/assignment_oracle.py`, which draws the problems in the same way.

#[path = "../benches/matching/random.rs"]
mod random;

use karat_core::matching::assign::{Edge, exact};
use random::Random;
use std::collections::BTreeSet;

#[test]
fn totals_are_those_of_scipy() {
    let problems = include_str!("data/assignment_scipy.txt").lines().filter(|line| !line.starts_with('#'));
    let mut checked = 0;
    for line in problems {
        let numbers: Vec<i64> = line.split(' ').map(|n| n.parse().expect("a number")).collect();
        let [shape, rows, columns, seed, optimum] = numbers[..] else { panic!("five numbers expected: {line}") };
        check(shape, rows as u32, columns as u32, seed as u64, optimum);
        checked += 1;
    }
    assert_eq!(checked, 3000);
}

fn check(shape: i64, rows: u32, columns: u32, seed: u64, optimum: i64) {
    let about = format!("shape {shape}, {rows} x {columns}, seed {seed}");
    let edges = draw(shape, rows, columns, seed);
    let chosen = exact::assign(columns as usize, &vec![0; rows as usize], &edges);
    let weight = |row, column| edges.iter().find(|e| (e.row, e.column) == (row, column)).map(|e| e.weight);
    let weights: Option<Vec<i64>> = chosen.iter().map(|c| weight(c.row, c.column)).collect();
    let total = weights.map(|weights| weights.iter().sum::<i64>());
    assert_eq!(total, Some(optimum), "{about}");
    assert_eq!(chosen.iter().map(|c| c.row).collect::<BTreeSet<_>>().len(), chosen.len(), "{about}: a row twice");
    assert_eq!(chosen.iter().map(|c| c.column).collect::<BTreeSet<_>>().len(), chosen.len(), "{about}: a column twice");
}

/// The same problem as `draw` of `bench/assignment_oracle.py`; every draw must come in the same order.
fn draw(shape: i64, rows: u32, columns: u32, seed: u64) -> Vec<Edge> {
    let mut random = Random::new(seed);
    let percent = 5 + random.below(96);
    let hubs = 1 + random.below(3) as u32;
    let mut edges = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            let present = match shape {
                5 => column == row || column == row + 1,
                6 => column < hubs || random.below(100) < 5,
                _ => random.below(100) < percent,
            };
            if present {
                let weight = weight(shape, &mut random);
                edges.push(Edge { row, column, weight });
            }
        }
    }
    edges
}

fn weight(shape: i64, random: &mut Random) -> i64 {
    match shape {
        0 | 6 => 300_000_000 + random.below(700_000_001) as i64,
        1 => 100_000_000 * (3 + random.below(4) as i64),
        2 => {
            let file = [0, 300, 800, 1000][random.below(4) as usize];
            let line = 1000 - 150 * random.below(6) as i64;
            400_000 * file + 200_000 * line + 100_000_000 * random.below(5) as i64
        }
        3 => 1 << random.below(30),
        4 => 500_000_000,
        _ => 500_000_000 + random.below(3) as i64,
    }
}
