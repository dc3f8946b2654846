//! What it costs to run a program that does nothing.

use super::*;
use std::time::Instant;

const RUNS: u32 = 200;

/// Hundredths of a second of processor time that this process and all it waited for have used.
fn ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    stat.rsplit_once(") ").unwrap().1.split(' ').skip(11).take(4).map(|field| field.parse::<u64>().unwrap()).sum()
}

/// Prints processor time and time for each isolation. Run it alone:
/// `cargo test -p karat-cli --test it sandbox::cost -- --ignored --nocapture`.
#[test]
#[ignore = "it measures, and nothing can fail"]
#[expect(clippy::print_stderr, reason = "the numbers are what it is for")]
fn of_nothing() {
    each(|isolation| {
        let mut trial = Trial::new(isolation, "");
        trial.job.command = vec!["/bin/true".into()];
        let (cpu, begun) = (ticks(), Instant::now());
        for _ in 0..RUNS {
            assert_eq!(trial.run().ended, Ended::Exited(0));
        }
        let cpu = (ticks() - cpu) as f64 * 10.0 / f64::from(RUNS);
        let wall = begun.elapsed().as_secs_f64() * 1000.0 / f64::from(RUNS);
        eprintln!("{:<12} {cpu:.2} ms of processor time, {wall:.2} ms", isolation.as_str());
    });
    let (cpu, begun) = (ticks(), Instant::now());
    for _ in 0..RUNS {
        std::process::Command::new("/bin/true").status().unwrap();
    }
    let cpu = (ticks() - cpu) as f64 * 10.0 / f64::from(RUNS);
    eprintln!(
        "{:<12} {cpu:.2} ms of processor time, {:.2} ms",
        "bare",
        begun.elapsed().as_secs_f64() * 1000.0 / f64::from(RUNS)
    );
}
