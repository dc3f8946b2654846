//! How fast resampling is, and how often intervals hold the truth.
//!
//! `cargo bench -p karat-core --bench statistics` times 10,000 hierarchical resamples of 500 cases × 3 trials. With
//! `KARAT_BENCH_PYTHON` naming a Python that has SciPy, SciPy bootstraps the same statistic of the same data.
//! `cargo bench -p karat-core --bench statistics -- coverage [SUITES [RESAMPLES]]` simulates suites whose truth is known, 2,000 by default.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark reads the clock, starts processes, prints, and may stop at the first fault"
)]

mod coverage;

use coverage::{Expectation, SCENARIOS, hierarchical_mean};
use karat_core::stats::bootstrap::{BootstrapKind, BootstrapOptions, CaseData, interval_of_mean, joint_estimates};
use karat_core::stats::random::Random;
use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

fn main() -> ExitCode {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let number = |at: usize, default: usize| arguments.get(at).and_then(|a| a.parse().ok()).unwrap_or(default);
    match arguments.first().map(String::as_str) {
        Some("coverage") => simulate(number(1, 2000), number(2, 2000)),
        _ => time(),
    }
}

fn simulate(suites: usize, resamples: usize) -> ExitCode {
    println!("{suites} suites, {resamples} resamples, level 95 %");
    println!("| {:59} | share | wanted   |", "");
    println!("|{:-<61}|------:|----------|", "");
    let mut kept = true;
    for scenario in SCENARIOS {
        let share = scenario.rate(suites, resamples);
        let (holds, expectation) = match scenario.expectation {
            Expectation::Coverage => ((0.93..=0.97).contains(&share), "93-97 %".to_owned()),
            Expectation::AtLeast(least) => (share >= least, format!(">= {} %", 100.0 * least)),
            Expectation::AtMost(most) => (share <= most, format!("<= {} %", 100.0 * most)),
        };
        kept &= holds;
        println!(
            "| {:59} | {:4.1}% | {:8} |{}",
            scenario.name,
            100.0 * share,
            expectation,
            if holds { "" } else { " MISSED" }
        );
    }
    if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// All figures of a tool by the same samples, against one figure by itself.
fn many(seconds: &dyn Fn(&dyn Fn()) -> f64) {
    println!();
    println!("| cases x trials | means | sums | together | one mean | together / (figures x one mean) |");
    println!("|---|--:|--:|--:|--:|--:|");
    for (cases, trials, means, sums) in [(500, 3, 15, 30), (500, 1, 15, 30), (5000, 3, 15, 30)] {
        let mut random = Random::new(1, 0);
        let values: Vec<Vec<Vec<Option<f64>>>> = (0..cases)
            .map(|_| (0..trials).map(|_| (0..means).map(|_| Some(random.unit())).collect()).collect())
            .collect();
        let rows: Vec<Vec<f64>> = (0..cases).map(|_| (0..sums).map(|_| random.unit()).collect()).collect();
        let figures = |row: &[f64]| row.iter().map(|v| Some(v / row[0])).collect();
        let options = BootstrapOptions::default();
        let together = seconds(&|| {
            let all = CaseData { trials: &values, rows: &rows, clusters: None };
            std::hint::black_box(joint_estimates(&all, &figures, &options).means.len());
        });
        let plain: Vec<f64> = values.iter().filter_map(|trials| trials[0][0]).collect();
        let one = seconds(&|| {
            std::hint::black_box(interval_of_mean(&plain, None, &options).value);
        });
        let share = together / ((means + sums) as f64 * one);
        println!("| {cases} x {trials} | {means} | {sums} | {together:.3} s | {one:.4} s | {share:.2} |");
    }
    println!();
}

fn time() -> ExitCode {
    let mut random = Random::new(1, 0);
    let cases: Vec<Vec<f64>> = (0..500)
        .map(|_| {
            let chance = random.unit();
            (0..3).map(|_| f64::from(u8::from(random.unit() < chance))).collect()
        })
        .collect();
    let options = BootstrapOptions { kind: BootstrapKind::Percentile, ..BootstrapOptions::default() };
    let seconds = |work: &dyn Fn()| {
        let times = (0..5).map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        });
        times.fold(f64::INFINITY, f64::min)
    };
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    let resample = || {
        std::hint::black_box(hierarchical_mean(&cases, None, &options).value);
    };
    let (single, all) = (seconds(&|| one.install(resample)), seconds(&resample));
    println!("10,000 hierarchical resamples of 500 cases x 3 trials, percentile, best of 5:");
    println!("karat, one thread:   {single:.4} s");
    println!("karat, {:2} threads:   {all:.4} s", rayon::current_num_threads());
    many(&seconds);
    let Ok(python) = std::env::var("KARAT_BENCH_PYTHON") else {
        println!("SciPy: skipped: KARAT_BENCH_PYTHON does not name a Python with SciPy");
        return ExitCode::SUCCESS;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/statistics_scipy.py");
    let mut child =
        Command::new(&python).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("Python starts");
    let rows: String = cases.iter().map(|case| format!("{} {} {}\n", case[0], case[1], case[2])).collect();
    child.stdin.take().expect("a pipe").write_all(rows.as_bytes()).expect("Python reads");
    let output = child.wait_with_output().expect("Python ends");
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Some((what, seconds)) = line.split_once(": ") else { continue };
        let Ok(scipy) = seconds.parse::<f64>() else { continue };
        println!("SciPy, {what}: {scipy:.4} s; {:.1} times karat's one thread", scipy / single);
    }
    if output.status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
