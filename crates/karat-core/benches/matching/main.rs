//! How long matching takes and how much memory it needs: `cargo bench -p karat-core --bench matching [-- NAME…]`.
//!
//! Every workload is measured in a process of its own. With `KARAT_BENCH_PYTHON` naming a Python that has SciPy, the same work
//! is done there too, and both results are compared. See `bench/README.md`.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::expect_used,
    reason = "a benchmark reads the clock, starts processes, prints, and may stop at the first fault"
)]

mod dump;
mod measure;
mod one_case;
mod pathological;
mod random;
mod workload;

use measure::{Measured, WORKLOADS, Workload};
use std::process::{Command, ExitCode};

/// The line by which a child process hands its figures over starts with this.
const MARK: &str = "measured:";

fn main() -> ExitCode {
    // Cargo adds `--bench`; what is left are the names of workloads.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--child", name] => child(name, None),
        ["--child", name, data] => child(name, Some(data)),
        _ => parent(&arguments),
    }
}

fn child(name: &str, data: Option<&str>) -> ExitCode {
    let Some(workload) = WORKLOADS.iter().find(|w| w.name == name) else { return ExitCode::FAILURE };
    println!("{MARK}{}", workload.measure(data).line());
    ExitCode::SUCCESS
}

fn parent(names: &[String]) -> ExitCode {
    if let Some(name) = names.iter().find(|name| WORKLOADS.iter().all(|w| w.name != *name)) {
        let known: Vec<&str> = WORKLOADS.iter().map(|w| w.name).collect();
        eprintln!("no workload is called `{name}`; there are {}", known.join(", "));
        return ExitCode::FAILURE;
    }
    println!(
        "| {:10} | {:37} | threads | seconds | CPU s | findings/s | input MB | peak MB | matches |",
        "name", "workload"
    );
    println!("|------------|{:-<39}|--------:|--------:|------:|-----------:|---------:|--------:|--------:|", "");
    let mut results: Vec<(&str, Measured)> = Vec::new();
    for workload in WORKLOADS.iter().filter(|w| names.is_empty() || names.iter().any(|n| n == w.name)) {
        let m = in_child(workload, None);
        println!(
            "| {:10} | {:37} | {:7} | {:7.3} | {:5.2} | {:10.0} | {:8.0} | {:7.0} | {:7} |",
            workload.name,
            workload.about,
            workload.threads,
            m.seconds,
            m.cpu_seconds,
            m.findings / m.seconds,
            m.input_mb,
            m.peak_mb,
            m.matches
        );
        results.push((workload.name, m));
    }
    println!();
    let held = targets(&results);
    let agreed = results.iter().find(|(name, _)| *name == "100k").is_none_or(|(_, rust)| python(rust));
    if held && agreed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn in_child(workload: &Workload, data: Option<&str>) -> Measured {
    let own = std::env::current_exe().expect("the path of this program");
    let output = Command::new(own).arg("--child").arg(workload.name).args(data).output().expect("a child process");
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find_map(|line| line.strip_prefix(MARK));
    line.and_then(Measured::parse).unwrap_or_else(|| {
        eprintln!("{}: the child ended with {}", workload.name, output.status);
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
        Measured { seconds: f64::NAN, ..Measured::default() }
    })
}

/// Says which targets hold; a target whose workload was not asked for is not spoken of.
fn targets(results: &[(&str, Measured)]) -> bool {
    let of = |name: &str| results.iter().find(|(own, _)| *own == name).map(|(_, measured)| measured);
    let mut held = true;
    let mut say = |what: &str, value: f64, most: f64| {
        let ok = value <= most;
        held &= ok;
        println!("{what}: {value:.3} (at most {most}): {}", if ok { "held" } else { "MISSED" });
    };
    if let Some(small) = of("100k") {
        say("100k, seconds", small.seconds, 1.0);
        say("100k, peak MB with the input", small.peak_mb, 300.0);
        if let Some(large) = of("1M") {
            say("1M, time as a multiple of 100k", large.seconds / small.seconds, 12.0);
        }
    }
    for name in ["lines", "identical", "keywords", "tiers", "greedy"] {
        if let Some(crowd) = of(name) {
            say(&format!("{name}, seconds"), crowd.seconds, 10.0);
        }
    }
    // In `crb` equal lines of different files are candidates, so that their number grows with the square.
    for (small, large, most) in
        [("score-5k", "score-20k", 6.0), ("crb-5k", "crb-20k", 16.0), ("keys-5k", "keys-20k", 6.0)]
    {
        if let (Some(a), Some(b)) = (of(small), of(large)) {
            say(&format!("{large}, CPU as a multiple of {small}"), b.cpu_seconds / a.cpu_seconds, most);
        }
    }
    for (name, most) in [
        ("score-20k", 3.0),
        ("crb-20k", 3.0),
        ("prose-20k", 3.0),
        ("line-1", 30.0),
        ("one-file", 30.0),
        ("same", 30.0),
        ("same-crb", 30.0),
    ] {
        if let Some(one) = of(name) {
            say(&format!("{name}, CPU seconds"), one.cpu_seconds, most);
            say(&format!("{name}, peak MB"), one.peak_mb, 800.0);
        }
    }
    for name in ["keys-100k", "keys-100", "keys-file", "keys-same", "keys-glob", "keys-alias", "keys-fold", "keys-rule"]
    {
        if let Some(keys) = of(name) {
            say(&format!("{name}, seconds"), keys.seconds, 3.0);
        }
    }
    held
}

/// The same work in Python; false only when both were done and disagree.
fn python(rust: &Measured) -> bool {
    let Ok(python) = std::env::var("KARAT_BENCH_PYTHON") else {
        println!("python: skipped: KARAT_BENCH_PYTHON does not name a Python with SciPy");
        return true;
    };
    let folder = std::env::temp_dir().join(format!("karat-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the data");
    let data = folder.join("cases.jsonl").to_string_lossy().into_owned();
    let workload = WORKLOADS.iter().find(|w| w.name == "100k").expect("a known workload");
    in_child(workload, Some(&data));
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bench/matching_scipy.py");
    let output = Command::new(&python).arg(script).arg(&data).output();
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
    let text = match output {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
        Ok(output) => {
            println!("python: skipped: {python} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
            return true;
        }
        Err(error) => {
            println!("python: skipped: {python}: {error}");
            return true;
        }
    };
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|n| n.parse().ok()).collect();
    let [seconds, cpu_seconds, matches, total] = numbers[..] else {
        println!("python: skipped: {python} said {text:?}");
        return true;
    };
    println!(
        "python: the same 100k with NumPy and SciPy, one thread: {seconds:.3} s, {cpu_seconds:.2} CPU s: {:.1} times the time, \
         {:.1} times the processor time",
        seconds / rust.seconds,
        cpu_seconds / rust.cpu_seconds
    );
    // Totals must be equal to the billionth. The number of matches may differ where two small scores add up to a large one.
    let agreed = total == rust.total;
    println!(
        "python: {matches} matches against {}, total score {total} against {} billionths: {}",
        rust.matches,
        rust.total,
        if agreed { "equal" } else { "DIFFERENT" }
    );
    agreed
}
