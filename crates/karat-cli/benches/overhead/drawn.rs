//! Suites on disk, drawn from fixed numbers: one with recorded trials, one with code and a program that does nothing.

use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// How often each case is tried.
pub(crate) const TRIALS: usize = 10;
/// How many files the code of a case has: as many as the largest of the shipped suites, most of which have one.
const FILES: usize = 4;

/// What the program prints that does nothing.
pub(crate) const NOTHING_FOUND: &str = "{\"findings\":[]}";
/// That program.
pub(crate) const PROGRAM: &str = "/bin/echo";

const WORDS: [&str; 16] = [
    "cache", "token", "lock", "query", "cursor", "buffer", "index", "offset", "thread", "session", "cookie", "header",
    "payload", "schema", "retry", "timeout",
];

const SEVERITIES: [&str; 3] = ["high", "medium", "low"];
const CATEGORIES: [&str; 2] = ["bug", "security"];
const LANGUAGES: [&str; 3] = ["rust", "python", "go"];

/// A suite whose tool is a recording: ten findings a trial, six goldens a case.
pub(crate) fn recorded(folder: &Path, cases: usize) {
    recording(folder, cases, 6, 10);
}

/// The same with one finding and one golden, which is as much as a sample of a mock model has.
pub(crate) fn recorded_sparsely(folder: &Path, cases: usize) {
    recording(folder, cases, 1, 1);
}

fn recording(folder: &Path, cases: usize, goldens: usize, findings: usize) {
    let config = format!(
        "[suite]\nname = \"recorded\"\n[scoring]\ntrials = {TRIALS}\n\
         [tools.recorded]\nkind = \"replay\"\nsubmission = \"recorded.jsonl\"\n"
    );
    let mut stated = String::new();
    let mut trials = String::new();
    for case in 0..cases {
        let issues: Vec<Value> = (0..goldens).map(|golden| issue(case, golden)).collect();
        line(&mut stated, &json!({"id": id(case), "language": LANGUAGES[case % 3], "issues": issues}));
        for trial in 1..=TRIALS {
            let findings: Vec<Value> = (0..findings).map(|number| finding(case, trial, number, goldens)).collect();
            line(
                &mut trials,
                &json!({"case": id(case), "tool": "recorded", "trial": trial, "outcome": "reported",
                        "latency_ms": 900 + case % 100, "findings": findings}),
            );
        }
    }
    write(folder, "karat.toml", &config);
    write(folder, "cases.jsonl", &stated);
    write(folder, "recorded.jsonl", &trials);
}

/// A suite with code, and a program that prints that it found nothing.
pub(crate) fn with_code(folder: &Path, cases: usize) {
    // A brace begins a placeholder, unless there are two.
    let command = json!([PROGRAM, NOTHING_FOUND.replace('{', "{{").replace('}', "}}")]);
    let config = format!(
        "[suite]\nname = \"code\"\n[scoring]\ntrials = {TRIALS}\n[tools.nothing]\ncommand = {command}\nformat = \"karat\"\n"
    );
    write(folder, "karat.toml", &config);
    for case in 0..cases {
        let place = format!("cases/{}", id(case));
        let yaml = format!(
            "id: {}\nlanguage: python\npr:\n  title: Search by name\n  description: Adds a search.\n\
             issues:\n  - id: query\n    title: SQL query built from input\n    file: app/m0.py\n    line_start: 3\n",
            id(case)
        );
        write(folder, &format!("{place}/case.yaml"), &yaml);
        for file in 0..FILES {
            let name = format!("{}/m{file}.py", if file < FILES / 2 { "app" } else { "app/store" });
            let code = code(case, file);
            write(folder, &format!("{place}/before/{name}"), &code);
            // The first file is the one that the change is about.
            let after = if file == 0 { code.replace("+ 3\n", "+ 4\n") } else { code };
            write(folder, &format!("{place}/after/{name}"), &after);
        }
    }
}

fn id(case: usize) -> String {
    format!("case-{case:05}")
}

fn word(number: usize) -> &'static str {
    WORDS[number % WORDS.len()]
}

fn issue(case: usize, golden: usize) -> Value {
    let (first, second) = (word(case + golden), word(case * 3 + golden * 5 + 1));
    json!({
        "id": format!("g{golden}"),
        "title": format!("The {first} of the {second} is wrong"),
        "description": format!("The {first} is never checked before the {second} is used, so a caller may see a stale one."),
        "file": format!("src/{second}.rs"),
        "line_start": 10 * golden + 1,
        "line_end": 10 * golden + 4,
        "severity": SEVERITIES[golden % 3],
        "category": CATEGORIES[golden % 2],
        "keywords": [first, second],
    })
}

/// About half of them report a golden, a little off; the others are noise.
fn finding(case: usize, trial: usize, number: usize, goldens: usize) -> Value {
    let golden = (number + trial) % goldens;
    let told = number.is_multiple_of(2);
    let second = if told { word(case * 3 + golden * 5 + 1) } else { word(case + trial * 7 + number) };
    let first = if told { word(case + golden) } else { word(number * 11 + trial) };
    let line = 10 * golden + 1 + (trial + number) % 4;
    json!({
        "id": format!("f{number}"),
        "rule_id": format!("R{:03}", (case + number * 13) % 200),
        "title": format!("Unchecked {first}"),
        "message": format!(
            "The `{first}` that is handed over here is not checked before the `{second}` is used; under load another caller \
             may have changed it in between, which leads to a wrong result in production."
        ),
        "file": format!("src/{second}.rs"),
        "line_start": line,
        "line_end": line + number % 3,
        "severity": SEVERITIES[number % 3],
        "category": CATEGORIES[golden % 2],
        "confidence": f64::from(u8::try_from(number * 9 % 100).unwrap_or_default()) / 100.0,
    })
}

/// About two kilobytes of Python.
fn code(case: usize, file: usize) -> String {
    let mut text = String::new();
    for function in 0..20 {
        let (first, second) = (word(case + file + function), word(case * 5 + function));
        let _ = write!(
            text,
            "def {first}_{second}_{function}(value):\n    # The {second} of case {case}.\n    return value + {function}\n\n\n"
        );
    }
    text
}

fn line(text: &mut String, value: &Value) {
    let _ = writeln!(text, "{value}");
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("a folder for the suite");
    fs::write(path, text).expect("a file of the suite");
}
