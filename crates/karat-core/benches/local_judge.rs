//! How many pairs the local judge decides in a second on one core: `cargo bench -p karat-core --bench local_judge`.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark reads files and the clock, prints, and may stop at the first fault"
)]

use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::local_judge::LocalJudge;
use std::time::Instant;

/// Words of reviews, of which texts are made.
const WORDS: &[&str] = &[
    "the",
    "cache",
    "is",
    "never",
    "cleared",
    "when",
    "getUserById",
    "returns",
    "null",
    "and",
    "a",
    "race",
    "between",
    "`order.total`",
    "check",
    "token_cache",
    "query",
    "concatenated",
    "without",
    "escaping",
    "3600",
    "===",
    "lock",
    "timeout",
    "is",
    "ignored",
    "so",
    "that",
    "retryPolicy",
    "loops",
    "forever",
    "in",
    "production",
];

fn main() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../karat/judges/local.toml");
    let params = std::fs::read_to_string(file).expect("the shipped parameters");
    let judge = LocalJudge::new(toml::from_str(&params).expect("parameters")).expect("sound parameters");
    println!("| goldens | findings | words a text | pairs/s on one core, reading included |");
    println!("|--------:|---------:|-------------:|--------------------------------------:|");
    for (goldens, findings, length) in [(3, 5, 30), (3, 50, 30), (20, 200, 30), (3, 5, 500)] {
        let text = |seed: usize| -> String {
            let word = |at: usize| WORDS[(seed * 7919 + at * (31 + seed % 5) + at * at) % WORDS.len()];
            (0..length).map(word).collect::<Vec<_>>().join(" ")
        };
        let goldens: Vec<Golden> = (0..goldens)
            .map(|n| {
                let mut golden = Golden::named(format!("g{n}"));
                golden.description = Some(text(n));
                golden
            })
            .collect();
        let findings: Vec<Finding> = (0..findings)
            .map(|n| {
                let mut finding = Finding::named(format!("f{n}"));
                finding.message = Some(text(n + 1000));
                finding
            })
            .collect();
        let (start, mut pairs) = (Instant::now(), 0);
        while start.elapsed().as_secs_f64() < 1.0 {
            pairs += judge.probabilities(&goldens, &findings).len();
        }
        let rate = pairs as f64 / start.elapsed().as_secs_f64();
        println!("| {:7} | {:8} | {length:12} | {rate:37.0} |", goldens.len(), findings.len());
    }
}
