//! How often `karat compare` says what is not so, and how often it sees what is.
//!
//! `cargo bench -p karat-core --bench comparison -- [SUITES [RESAMPLES]]` simulates pairs of tools whose truth is known, 2,000
//! by default, and prints a table. `cargo bench -p karat-core --bench comparison -- ranks` times the tests of all pairs of many tools.
//! `cargo bench -p karat-core --bench comparison -- calibrate [FITS]` counts how often `karat calibrate` recommends what it should not,
//! and what it should.
#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a benchmark reads the clock and prints")]

mod calibrations;
mod ranks;
mod verdicts;

use std::process::ExitCode;
use verdicts::{Expectation, SCENARIOS};

fn main() -> ExitCode {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    if arguments.first().is_some_and(|word| word == "ranks") {
        ranks::time();
        return ExitCode::SUCCESS;
    }
    let number = |at: usize, default: usize| arguments.get(at).and_then(|a| a.parse().ok()).unwrap_or(default);
    if arguments.first().is_some_and(|word| word == "calibrate") {
        return calibrations::simulate(number(1, 200));
    }
    let (suites, resamples) = (number(0, 2000), number(1, 2000));
    println!("{suites} suites, {resamples} resamples, level 95 %");
    println!("| {:66} | share | wanted  |", "");
    println!("|{:-<68}|------:|---------|", "");
    let mut kept = true;
    for scenario in SCENARIOS {
        let share = scenario.rate(suites, resamples);
        let (holds, expectation) = match scenario.expectation {
            Expectation::AtLeast(least) => (share >= least, format!(">= {} %", 100.0 * least)),
            Expectation::AtMost(most) => (share <= most, format!("<= {} %", 100.0 * most)),
        };
        kept &= holds;
        let missed = if holds { "" } else { " MISSED" };
        println!("| {:66} | {:4.1}% | {expectation:7} |{missed}", scenario.name, 100.0 * share);
    }
    if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
