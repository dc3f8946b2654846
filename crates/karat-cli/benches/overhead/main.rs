//! What `karat run` costs beside the tools themselves: `cargo bench -p karat-cli --bench overhead`.
//!
//! Whole runs are timed from the outside, their parts from the inside. With `KARAT_BENCH_PYTHON` naming a Python that has Inspect
//! AI, its mock model is timed too. See `bench/README.md`.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "a benchmark prints, and may stop at the first fault")]

mod drawn;
mod inspect;
mod shares;
mod spent;
mod whole;

use karat_sandbox::Isolation;
use shares::Share;
use std::process::ExitCode;
use whole::Runs;

/// Milliseconds of processor time that a replayed trial may take, stored and scored.
const MOST_REPLAYED: f64 = 0.2;
/// And that a program may take that does nothing, in a fresh checkout without a sandbox.
const MOST_EXECUTED: f64 = 5.0;
/// How much more a trial may cost in the larger run, for what is linear is not so to the last digit.
const MOST_GROWTH: f64 = 1.25;
/// How many times less a replayed trial must take than a sample of Inspect AI's mock model.
const LEAST_RATIO: f64 = 100.0;

fn main() -> ExitCode {
    println!("| {:29} | trials | CPU ms a trial | ms a trial | growth |", "run");
    println!("|{:-<31}|-------:|---------------:|-----------:|-------:|", "");
    let replayed = show(whole::replayed());
    let sparse = show(whole::replayed_sparsely());
    let executed = whole::executed(Isolation::Process).map(show);
    whole::executed_in_memory().map(show);
    for isolation in [Isolation::Landlock, Isolation::Bubblewrap] {
        whole::executed(isolation).map(show);
    }
    println!();
    show_shares("replayed trial", &shares::of_replaying(), replayed.cpu_ms());
    let (shares, extra) = shares::of_executing();
    show_shares("no-op command", &shares, executed.as_ref().map_or(f64::NAN, Runs::cpu_ms));
    for (isolation, ms) in extra {
        println!("sandbox: {isolation} adds {ms:.2} ms");
    }
    println!();
    let mut targets = Targets { held: true };
    targets.at_most("a replayed trial, CPU ms", replayed.cpu_ms(), MOST_REPLAYED);
    targets.at_most("a replayed trial, growth", replayed.growth(), MOST_GROWTH);
    if let Some(executed) = executed {
        targets.at_most("a no-op command, CPU ms", executed.cpu_ms(), MOST_EXECUTED);
        targets.at_most("a no-op command, growth", executed.growth(), MOST_GROWTH);
    }
    match inspect::sample() {
        Err(why) => println!("inspect: skipped: {why}"),
        Ok(sample) => {
            let (wall, cpu) = (sample.wall * 1000.0, sample.cpu * 1000.0);
            println!("inspect: Inspect AI {}: {wall:.1} ms a sample, {cpu:.1} CPU ms", sample.version);
            println!(
                "inspect: {:.0} times the CPU time of a replayed trial with ten findings",
                cpu / replayed.cpu_ms()
            );
            let ratio = cpu / sparse.cpu_ms();
            let what = "inspect: as a multiple of one with one finding, CPU time";
            targets.say(what, ratio, "at least", LEAST_RATIO, ratio >= LEAST_RATIO);
        }
    }
    if targets.held { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn show(runs: Runs) -> Runs {
    for (which, (trials, spent)) in runs.sizes.iter().enumerate() {
        let growth = if which == 0 { String::new() } else { format!("{:.2}", runs.growth()) };
        let (cpu, wall) = (spent.cpu_ms_each(*trials), spent.wall * 1000.0 / *trials as f64);
        println!("| {:29} | {trials:6} | {cpu:14.3} | {wall:10.3} | {growth:>6} |", runs.about);
    }
    runs
}

/// The parts of a trial, and what is left of the whole.
fn show_shares(about: &str, shares: &[Share], whole: f64) {
    println!("| {about:29} | CPU ms | share |");
    println!("|{:-<31}|-------:|------:|", "");
    let known: f64 = shares.iter().map(|(_, ms)| ms).sum();
    for (part, ms) in shares.iter().copied().chain([("the rest", whole - known), ("all", whole)]) {
        println!("| {part:29} | {ms:6.3} | {:3.0} % |", ms / whole * 100.0);
    }
    println!();
}

/// Whether everything held so far.
struct Targets {
    held: bool,
}

impl Targets {
    fn at_most(&mut self, what: &str, value: f64, most: f64) {
        self.say(what, value, "at most", most, value <= most);
    }

    fn say(&mut self, what: &str, value: f64, word: &str, bound: f64, held: bool) {
        self.held &= held;
        println!("{what}: {value:.3} ({word} {bound}): {}", if held { "held" } else { "MISSED" });
    }
}
