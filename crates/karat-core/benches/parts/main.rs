//! How fast parts of documents are compared with golden parts: `cargo bench -p karat-core --bench parts`.
//!
//! Texts are drawn from a fixed seed, words as unevenly as in prose. Half of the golden parts are parts of the documents with some
//! words changed. What is printed are ratios of one run on one machine; both ways must come to the same result.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark reads the clock, prints, and may stop at the first fault"
)]

#[path = "../matching/random.rs"]
mod random;

use karat_core::assessment::part_match::{PartIndex, PartMatch, compare};
use karat_core::assessment::rules::Thresholds;
use karat_core::assessment::text::Tokens;
use random::Random;
use std::time::Instant;

fn main() {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    one.install(|| {
        println!("| words | pairs | plain s | bit-parallel s | ratio |");
        println!("|------:|------:|--------:|---------------:|------:|");
        for (words, goldens, parts) in [(40, 300, 1000), (150, 100, 500), (600, 30, 100), (3000, 8, 20)] {
            bit_parallel(words, goldens, parts);
        }
        println!("\n| words | golden parts | parts | all pairs s | pruned s | ratio | million pairs/s |");
        println!("|------:|-------------:|------:|------------:|---------:|------:|----------------:|");
        for (words, goldens, parts) in [(40, 1000, 2000), (150, 1000, 2000), (600, 200, 1000)] {
            pruned(words, goldens, parts);
        }
    });
}

fn bit_parallel(words: u64, goldens: usize, parts: usize) {
    let (goldens, parts) = drawn(words, goldens, parts);
    let thresholds = Thresholds::default();
    let pairs = || goldens.iter().flat_map(|golden| parts.iter().map(move |part| (golden, part)));
    let (plain_s, expect) = timed(|| pairs().map(|(a, b)| plain(a.in_order(), b.in_order())).sum::<usize>());
    let common = |golden: &Tokens, found: PartMatch| (found.golden_coverage * golden.len() as f64).round() as usize;
    let (bits_s, found) = timed(|| pairs().map(|(a, b)| common(a, compare(a, b, &thresholds))).sum::<usize>());
    assert_eq!(found, expect, "both ways find the same");
    println!(
        "| {words} | {} | {plain_s:.3} | {bits_s:.3} | {:.1} |",
        goldens.len() * parts.len(),
        plain_s / bits_s.max(1e-9)
    );
}

fn pruned(words: u64, goldens: usize, parts: usize) {
    let (goldens, parts) = drawn(words, goldens, parts);
    let count = parts.len();
    let index = PartIndex::new(parts);
    let thresholds = Thresholds::default();
    // Where nothing in common is enough no pair can be skipped.
    let (all_s, all) = timed(|| index.matches(&goldens, &Thresholds { weak: 0.0, ..thresholds }));
    let (pruned_s, near) = timed(|| index.matches(&goldens, &thresholds));
    for golden in 0..goldens.len() {
        let whole = all.near_parts(golden).iter();
        let kept = whole.filter(|n| n.found.golden_coverage.max(n.found.part_coverage) >= thresholds.weak);
        assert!(kept.map(|n| n.part).eq(near.near_parts(golden).iter().map(|n| n.part)), "both ways find the same");
    }
    let pairs = goldens.len() * count;
    println!(
        "| {words} | {} | {count} | {all_s:.3} | {pruned_s:.3} | {:.1} | {:.1} |",
        goldens.len(),
        all_s / pruned_s.max(1e-9),
        pairs as f64 / pruned_s.max(1e-9) / 1e6
    );
}

fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed().as_secs_f64(), result)
}

/// Golden parts and parts of documents, of about so many words each.
fn drawn(words: u64, goldens: usize, parts: usize) -> (Vec<Tokens>, Vec<Tokens>) {
    let mut random = Random::new(words);
    let parts: Vec<Vec<u32>> = (0..parts).map(|_| text(&mut random, words)).collect();
    let mut golden = |at: usize| {
        let mut own = if at.is_multiple_of(2) { parts[at % parts.len()].clone() } else { text(&mut random, words) };
        for _ in 0..words / 20 {
            let place = random.below(own.len() as u64) as usize;
            own[place] = word(&mut random);
        }
        Tokens::new(own)
    };
    let goldens = (0..goldens).map(&mut golden).collect();
    (goldens, parts.into_iter().map(Tokens::new).collect())
}

fn text(random: &mut Random, words: u64) -> Vec<u32> {
    let length = words / 2 + random.below(words);
    (0..length).map(|_| word(random)).collect()
}

/// A word of 20,000, the n-th about n times as rare as the first.
fn word(random: &mut Random) -> u32 {
    let unit = random.below(1 << 32) as f64 / (1_u64 << 32) as f64;
    20_000_f64.powf(unit) as u32
}

/// The plain dynamic program, one row at a time.
fn plain(a: &[u32], b: &[u32]) -> usize {
    let mut row = vec![0_usize; b.len() + 1];
    for x in a {
        let mut diagonal = 0;
        for (j, y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = if x == y { diagonal + 1 } else { row[j].max(above) };
            diagonal = above;
        }
    }
    row[b.len()]
}
