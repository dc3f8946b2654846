//! How much memory and time scoring needs, and how both grow: `cargo bench -p karat-cli --bench memory -- many 5 6`.
//!
//! Arguments are shapes (see `SHAPES`; default: all), details (default: `none`) and powers of ten of findings (default: 4 5). The
//! program runs as a child: its peak of memory is read from `/proc` while it runs, its processor time when it has ended.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and may stop at the first fault")]

use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A way to spread findings over tools and cases.
struct Shape {
    name: &'static str,
    tools: usize,
    /// How many trials each tool has of each case.
    trials: usize,
    /// The findings of a trial on each case, given those of a tool in all trials of a number.
    cases: fn(usize) -> Vec<usize>,
    /// Whether each finding states another confidence.
    confidences: bool,
    /// Whether tables are written beside the report.
    tables: bool,
}

const MANY: Shape = Shape {
    name: "many",
    tools: 1,
    trials: 1,
    cases: |findings| vec![PER_CASE; findings.div_ceil(PER_CASE)],
    confidences: false,
    tables: false,
};

const SHAPES: [Shape; 10] = [
    MANY,
    Shape { name: "huge", cases: |findings| vec![findings], ..MANY },
    // Half of all findings in one case, half of the rest in the next, and so on.
    Shape { name: "skewed", cases: halves, ..MANY },
    Shape { name: "tools", tools: 50, ..MANY },
    Shape { name: "team", tools: 50, trials: 3, cases: |findings| vec![3; findings.div_ceil(3)], ..MANY },
    Shape { name: "one", tools: 20, cases: |findings| vec![1; findings], ..MANY },
    Shape { name: "five", cases: |findings| vec![5; findings.div_ceil(5)], ..MANY },
    Shape { name: "trials", trials: 5, ..MANY },
    Shape { name: "confidences", confidences: true, ..MANY },
    Shape { name: "tables", tables: true, ..MANY },
];

const PER_CASE: usize = 20;
/// The most findings of a line: a longer one is refused. A case with more of them has them in several trials.
const PER_LINE: usize = 100_000;
const GOLDENS: usize = 2;
const DETAILS: [&str; 3] = ["none", "misses", "all"];
/// Clock ticks of `/proc` in a second.
const TICKS: f64 = 100.0;

fn halves(findings: usize) -> Vec<usize> {
    let mut cases = Vec::new();
    let mut left = findings;
    while left > PER_CASE {
        cases.push(left / 2);
        left -= left / 2;
    }
    cases.push(left);
    cases
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let powers: Vec<u32> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    let powers = if powers.is_empty() { vec![4, 5] } else { powers };
    let named = |name: &str| arguments.iter().any(|argument| argument == name);
    let any_named = SHAPES.iter().any(|shape| named(shape.name));
    let details: Vec<&str> = DETAILS.into_iter().filter(|detail| named(detail)).collect();
    let details = if details.is_empty() { vec!["none"] } else { details };
    println!("| shape | findings | detail | peak MB | seconds | cpu seconds | report MB | peak × | cpu × | report × |");
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for shape in SHAPES.iter().filter(|shape| !any_named || named(shape.name)) {
        for detail in &details {
            let mut last: Option<Measured> = None;
            for power in &powers {
                let findings = 10_usize.pow(*power);
                let folder = tempfile::tempdir().unwrap();
                write(folder.path(), shape, findings);
                let now = measure(folder.path(), shape, detail);
                let growth = last.map_or_else(|| "- | - | -".to_owned(), |last| now.growth(&last));
                let Measured { peak_mb, seconds, cpu, report_mb } = now;
                println!(
                    "| {} | {findings} | {detail} | {peak_mb:.0} | {seconds:.1} | {cpu:.1} | {report_mb:.1} | {growth} |",
                    shape.name
                );
                last = Some(now);
            }
        }
    }
}

#[derive(Clone, Copy)]
struct Measured {
    peak_mb: f64,
    seconds: f64,
    cpu: f64,
    report_mb: f64,
}

impl Measured {
    /// How many times as much it is.
    fn growth(&self, before: &Self) -> String {
        let times = |now: f64, before: f64| if before > 0.0 { format!("{:.1}", now / before) } else { "-".to_owned() };
        [times(self.peak_mb, before.peak_mb), times(self.cpu, before.cpu), times(self.report_mb, before.report_mb)]
            .join(" | ")
    }
}

/// Scores the submission of a folder.
fn measure(folder: &Path, shape: &Shape, detail: &str) -> Measured {
    let start = Instant::now();
    let tables: &[&str] = if shape.tables { &["-o", "report.parquet"] } else { &[] };
    let mut child = Command::new(env!("CARGO_BIN_EXE_karat"))
        .args(["score", ".", "--submission", "submission.jsonl", "--detail", detail, "-o", "report.json"])
        .args(tables)
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (peak_mb, cpu) = follow(&child);
    let status = child.wait().unwrap();
    let seconds = start.elapsed().as_secs_f64();
    assert!(status.success(), "scoring ended with {status}");
    let report_mb = fs::metadata(folder.join("report.json")).unwrap().len() as f64 / 1e6;
    Measured { peak_mb, seconds, cpu, report_mb }
}

/// The peak of memory and the processor time of a child, once it has ended and before it is waited for.
fn follow(child: &Child) -> (f64, f64) {
    let process = format!("/proc/{}", child.id());
    let mut peak_kb = 0.0;
    loop {
        let status = fs::read_to_string(format!("{process}/status")).unwrap();
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        if let Some(text) = field("VmHWM:") {
            peak_kb = text.trim_end_matches(" kB").parse().unwrap();
        }
        if field("State:").is_some_and(|state| state.starts_with('Z')) {
            let stat = fs::read_to_string(format!("{process}/stat")).unwrap();
            // The name of the program, which may have spaces, is in brackets.
            let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
            let ticks: f64 = fields[11..13].iter().map(|ticks| ticks.parse::<f64>().unwrap()).sum();
            return (peak_kb / 1e3, ticks / TICKS);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Writes a suite and a submission with that many findings.
fn write(folder: &Path, shape: &Shape, findings: usize) {
    let cases = (shape.cases)((findings / shape.tools / shape.trials).max(1));
    fs::write(folder.join("karat.toml"), "[suite]\nname = \"memory\"\n").unwrap();
    let mut stated = BufWriter::new(File::create(folder.join("cases.jsonl")).unwrap());
    for case in 0..cases.len() {
        let issues: Vec<Value> = (0..GOLDENS).map(|golden| issue(case, golden)).collect();
        writeln!(stated, "{}", json!({ "id": id(case), "issues": issues })).unwrap();
    }
    stated.flush().unwrap();
    let mut trials = BufWriter::new(File::create(folder.join("submission.jsonl")).unwrap());
    for tool in 0..shape.tools {
        for (case, findings) in cases.iter().enumerate() {
            let lines = findings.div_ceil(PER_LINE).max(1);
            for trial in 0..shape.trials * lines {
                let name = format!("tool-{tool:02}");
                let head = json!({ "case": id(case), "tool": name, "trial": trial + 1, "outcome": "reported" });
                let head = head.to_string();
                write!(trials, "{},\"findings\":[", head.trim_end_matches('}')).unwrap();
                let first = trial % lines * PER_LINE;
                for number in first..(first + PER_LINE).min(*findings) {
                    let comma = if number > first { "," } else { "" };
                    let mut finding = finding(case, tool, number);
                    if shape.confidences {
                        finding["confidence"] = json!(confidence(case, number));
                    }
                    write!(trials, "{comma}{finding}").unwrap();
                }
                writeln!(trials, "]}}").unwrap();
            }
        }
    }
    trials.flush().unwrap();
}

fn id(case: usize) -> String {
    format!("case-{case:07}")
}

/// Spread over all numbers from 0 to 1, and hardly any twice.
fn confidence(case: usize, number: usize) -> f64 {
    ((case * PER_CASE + number) as f64 * 0.618_033_988_749_895).fract()
}

const WORDS: [&str; 12] =
    ["buffer", "session", "query", "token", "index", "socket", "cache", "parser", "header", "cursor", "lock", "digest"];

fn word(number: usize) -> &'static str {
    WORDS[number % WORDS.len()]
}

fn issue(case: usize, golden: usize) -> Value {
    let (first, second) = (word(case + golden), word(case * 5 + golden * 7 + 1));
    json!({
        "id": format!("g{golden}"), "title": format!("The {first} is used before the {second} is checked"),
        "file": format!("src/{second}.rs"), "line_start": 40 * golden + 1, "line_end": 40 * golden + 4,
        "severity": "high", "category": "correctness", "keywords": [first, second],
    })
}

/// Of ten findings one reports a golden; the others are noise in many files.
fn finding(case: usize, tool: usize, number: usize) -> Value {
    let golden = number / 10 % GOLDENS;
    let is_report = number % 10 == tool % 10;
    let (first, second) = if is_report {
        (word(case + golden), word(case * 5 + golden * 7 + 1))
    } else {
        (word(number * 7 + tool), word(number + 3))
    };
    let file = if is_report { format!("src/{second}.rs") } else { format!("lib/{second}{}.rs", number % 97) };
    let line = if is_report { 40 * golden + 2 } else { 1 + number % 900 };
    json!({
        "id": format!("f{number}"), "rule_id": format!("R{:03}", number % 200),
        "message": format!("The {first} is not checked before the {second} is used, so that a caller may see a stale one."),
        "file": file, "line_start": line, "severity": "medium", "category": "correctness",
    })
}
