//! How many pairs the local judge decides in a second on one core: `cargo bench -p karat-core --bench local_judge`.
//!
//! `KARAT_SHARED_DATA` names the folder in which code-review-bench lies; where it is absent its line is left out. Words
//! behind `--` choose the lines that have one of them.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark reads files and the clock, prints, and may stop at the first fault"
)]
#![allow(dead_code, reason = "what is drawn here is drawn in tests too, each of which needs a part of it")]

mod drawn;
mod published;
#[path = "../matching/random.rs"]
mod random;

use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::local_judge::LocalJudge;
use random::Random;
use std::time::Instant;

fn main() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../karat/judges/local.toml");
    let params = std::fs::read_to_string(file).expect("the shipped parameters");
    let judge = LocalJudge::new(toml::from_str(&params).expect("parameters")).expect("sound parameters");
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    one.install(|| on_one_core(&judge));
    huge(&judge);
}

fn on_one_core(judge: &LocalJudge) {
    println!("| texts | goldens | findings | pairs/s on one core, reading included |");
    println!("|-------|--------:|---------:|--------------------------------------:|");
    let line = |texts: &str, goldens: usize, findings: usize, trials: &dyn Fn() -> Option<Vec<Trial>>| {
        let called = format!("| {texts} | {goldens} | {findings} |");
        if is_chosen(&called)
            && let Some(trials) = trials()
        {
            println!("{called} {:.0} |", rate(judge, &trials));
        }
    };
    for (words, goldens, findings) in [15, 60, 150, 500].into_iter().flat_map(|words| [(words, 3, 5), (words, 20, 200)])
    {
        line(&format!("{words} words"), goldens, findings, &|| {
            let mut random = Random::new(words as u64);
            let own = drawn::plain_goldens(&mut random, goldens, words);
            Some(vec![(own, drawn::plain_findings(&mut random, findings, words))])
        });
    }
    line("30 words, places and kinds", 20, 200, &|| {
        let mut random = Random::new(1);
        let own = drawn::goldens(&mut random, 20, 30);
        Some(vec![(own, drawn::findings(&mut random, 200, 30))])
    });
    line("code-review-bench", 3, 3, &published::trials);
}

/// Whether the command line asks for a line, or for none in particular.
fn is_chosen(line: &str) -> bool {
    let mut asked = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).peekable();
    asked.peek().is_none() || asked.any(|part| line.contains(&part))
}

type Trial = (Vec<Golden>, Vec<Finding>);

/// Pairs in a second of this thread's time, in the best of several stretches: what else the machine does only ever slows.
fn rate(judge: &LocalJudge, trials: &[Trial]) -> f64 {
    let stretch = |_| {
        let (start, before, mut pairs) = (Instant::now(), on_cpu(), 0);
        while start.elapsed().as_secs_f64() < 0.2 {
            let decided = trials.iter().map(|(goldens, findings)| judge.probabilities(goldens, findings).len());
            pairs += decided.sum::<usize>();
        }
        let spent = before.zip(on_cpu()).map_or(start.elapsed().as_secs_f64(), |(before, after)| after - before);
        pairs as f64 / spent
    };
    (0..10).map(stretch).fold(0.0, f64::max)
}

/// The seconds this thread has run for, where the system tells: on a busy machine the clock on the wall says little.
fn on_cpu() -> Option<f64> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(told.split(' ').next()?.parse::<f64>().ok()? / 1e9)
}

/// One case so large that all its pairs together count, on all cores.
fn huge(judge: &LocalJudge) {
    if !is_chosen("huge") {
        return;
    }
    let (count, mut random) = (3000, Random::new(7));
    let (goldens, findings) =
        (drawn::plain_goldens(&mut random, count, 15), drawn::plain_findings(&mut random, count, 15));
    let wanted: Vec<(usize, usize)> = (0..count).flat_map(|g| (0..10).map(move |f| (g, (g + f * 7) % count))).collect();
    let start = Instant::now();
    let opinions = judge.judge(&goldens, &findings, &wanted).len();
    let (seconds, cores) = (start.elapsed().as_secs_f64(), rayon::current_num_threads());
    println!();
    println!("{count} goldens, {count} findings of 15 words, {opinions} opinions: {seconds:.1} s on {cores} cores");
}
