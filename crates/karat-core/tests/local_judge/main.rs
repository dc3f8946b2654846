//! Opinions of the local judge, held to the bit: making it faster must not make it another judge.
#![expect(
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test reads files and may stop at the first fault"
)]
#![allow(dead_code, reason = "what is drawn here is drawn in benchmarks too, each of which needs a part of it")]

#[path = "../../benches/local_judge/drawn.rs"]
mod drawn;
#[path = "../../benches/local_judge/published.rs"]
mod published;
#[path = "../../benches/matching/random.rs"]
mod random;

use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::local_judge::LocalJudge;
use karat_core::local_judge::params::Params;
use random::Random;

/// A name and a digest of opinions on each line.
const HELD: &str = include_str!("../data/local_judge.txt");

/// Shipped parameters have weights of 0; here everything speaks.
fn outspoken(mut params: Params) -> Params {
    for (n, weight) in params.text.weights.values_mut().enumerate() {
        if weight.weight == 0.0 {
            weight.weight = 0.05 + n as f64 / 50.0;
        }
    }
    params
}

fn judges() -> [(&'static str, LocalJudge); 2] {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../karat/judges/local.toml");
    let params: Params =
        toml::from_str(&std::fs::read_to_string(file).expect("the shipped parameters")).expect("parameters");
    let judge = |params: Params| LocalJudge::new(params).expect("sound parameters");
    [("shipped", judge(params.clone())), ("outspoken", judge(outspoken(params)))]
}

/// A digest of everything the judge says of a trial, of each pair and of all pairs together.
fn digest(judge: &LocalJudge, goldens: &[Golden], findings: &[Finding], digest: &mut u64) {
    let mut add = |bits: u64| *digest = (digest.rotate_left(5) ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let likely = judge.probabilities(goldens, findings);
    likely.iter().for_each(|probability| add(probability.to_bits()));
    let all: Vec<(usize, usize)> = (0..goldens.len()).flat_map(|g| (0..findings.len()).map(move |f| (g, f))).collect();
    for (opinion, likely) in judge.judge(goldens, findings, &all).iter().zip(likely) {
        assert_eq!(opinion.probability.to_bits(), likely.to_bits(), "one judge, two opinions");
        for (name, log_odds) in &opinion.reasons {
            name.bytes().for_each(|byte| add(byte.into()));
            add(log_odds.to_bits());
        }
    }
}

/// Compares digests with those that are held. A judge that is meant to differ needs the lines that this prints.
fn check(found: &[String]) {
    let differ: Vec<&str> =
        found.iter().map(String::as_str).filter(|line| !HELD.lines().any(|held| held == *line)).collect();
    assert!(differ.is_empty(), "opinions are not what tests/data/local_judge.txt holds:\n{}", differ.join("\n"));
}

#[test]
fn opinions_on_drawn_texts_are_what_they_were() {
    let mut found = Vec::new();
    for (who, judge) in &judges() {
        for (goldens, findings, words) in
            [(6, 8, 0), (8, 12, 3), (30, 50, 15), (6, 20, 60), (4, 8, 150), (3, 4, 500), (2, 3, 1500), (1, 1, 15)]
        {
            let (mut random, mut plain, mut rich) = (Random::new(words as u64), 0, 0);
            for _ in 0..3 {
                let texts = (
                    drawn::plain_goldens(&mut random, goldens, words),
                    drawn::plain_findings(&mut random, findings, words),
                );
                digest(judge, &texts.0, &texts.1, &mut plain);
                let all = (drawn::goldens(&mut random, goldens, words), drawn::findings(&mut random, findings, words));
                digest(judge, &all.0, &all.1, &mut rich);
            }
            found.push(format!("{who} {goldens}x{findings} words={words} {plain:016x}"));
            found.push(format!("{who} {goldens}x{findings} words={words} beside {rich:016x}"));
        }
    }
    check(&found);
}

#[test]
fn opinions_on_published_reviews_are_what_they_were() {
    let Some(trials) = published::trials() else {
        // Nothing is compared where the reviews are not at hand.
        return;
    };
    let mut found = Vec::new();
    for (who, judge) in &judges() {
        let mut all = 0;
        for (goldens, findings) in &trials {
            digest(judge, goldens, findings, &mut all);
        }
        found.push(format!("{who} code-review-bench {all:016x}"));
    }
    check(&found);
}

/// So many pairs that several threads share them.
#[test]
fn opinions_are_the_same_bits_with_any_number_of_threads() {
    let [(_, judge), _] = judges();
    let mut random = Random::new(5);
    let (goldens, findings) = (drawn::goldens(&mut random, 160, 6), drawn::findings(&mut random, 130, 6));
    let bits = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let mut found = 0;
        pool.install(|| digest(&judge, &goldens, &findings, &mut found));
        found
    };
    assert_eq!(bits(1), bits(5));
    // A pair's opinion does not depend on which part of the work it is in: asked alone it is the same.
    let all = judge.probabilities(&goldens, &findings);
    for (g, f) in [(0, 0), (62, 129), (63, 0), (64, 1), (159, 129)] {
        let [one] = &judge.judge(&goldens, &findings, &[(g, f)])[..] else { panic!("one opinion expected") };
        assert_eq!(one.probability.to_bits(), all[g * findings.len() + f].to_bits());
    }
}
