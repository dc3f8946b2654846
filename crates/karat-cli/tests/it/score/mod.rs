//! `karat score`: output formats, counting, profiles, judgements, intervals.

mod corrected;
mod costs;
mod counting;
mod detail;
mod formats;
mod judgements;
mod pooled;
mod rules;
mod sensitivity;
mod terminal;
mod trials;
mod trust;
mod variation;
mod verbosity;
mod verdicts;

use crate::project::{Project, lines, suite, trial};
use serde_json::{Value, json};

/// Two cases with goldens, one clean case, and two tools: one good, one with more false positives and fewer matches.
pub(crate) fn tiny() -> Project {
    let project = suite(&[
        json!({
            "id": "sqli", "language": "python", "difficulty": "easy", "categories": ["security"],
            "issues": [
                { "id": "concat", "severity": "critical", "category": "injection", "file": "app/db.py", "line_start": 10,
                  "line_end": 12, "title": "SQL is put together from user input", "keywords": ["SQL", "user input"] },
                { "id": "leak", "severity": "low", "category": "resources", "file": "app/pool.py", "line_start": 40,
                  "title": "The connection is never closed", "keywords": ["connection", "never closed"] },
            ],
        }),
        json!({ "id": "tidy", "language": "go", "issues": [] }),
        json!({
            "id": "race", "language": "go", "difficulty": "hard",
            "issues": [{ "id": "lock", "severity": "high", "file": "main.go", "line_start": 5, "title": "The lock is taken late",
                         "keywords": ["lock"] }],
        }),
    ]);
    let concat = json!({ "id": "f1", "rule_id": "S1", "message": "SQL built from user input", "file": "app/db.py",
                         "line_start": 11, "severity": "high", "category": "injection" });
    let noise = json!({ "id": "f2", "message": "Name is too short", "file": "app/names.py", "line_start": 1, "severity": "info" });
    let lock = json!({ "id": "f1", "message": "The lock comes after the read", "file": "main.go", "line_start": 5 });
    project.with(
        "submissions/all.jsonl",
        lines(&[
            trial("sqli", "good", 1, json!([concat])),
            trial("tidy", "good", 1, json!([])),
            trial("race", "good", 1, json!([lock])),
            trial("sqli", "loud, \"=tool\"", 1, json!([concat, noise])),
            trial("tidy", "loud, \"=tool\"", 1, json!([noise])),
            trial("race", "loud, \"=tool\"", 1, json!([])),
        ]),
    )
}

/// Scores one trial of one case; returns the JSON report.
pub(crate) fn score_one(case: Value, findings: Value, flags: &str) -> Value {
    let id = case["id"].as_str().unwrap().to_owned();
    let project = suite(&[case]).with("s.jsonl", lines(&[trial(&id, "t", 1, findings)]));
    project.json(&format!("score . --json --submission s.jsonl {flags}"))
}

/// `TP FP FN` of the first tool's pooled counts.
pub(crate) fn counts(report: &Value) -> [u64; 3] {
    ["tp", "fp", "fn"].map(|key| report["tools"][0]["counts"][key].as_u64().unwrap())
}

/// The first trial of the first case of the first tool.
pub(crate) fn first_trial(report: &Value) -> &Value {
    &report["tools"][0]["cases"][0]["trials"][0]
}

/// The first trial as text: `match g f`, `acceptable g f`, `duplicate g f`, `miss g: why`, `extra f: why`.
pub(crate) fn outcomes(report: &Value) -> String {
    let trial = first_trial(report);
    let list = |key: &str| trial[key].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let mut out = Vec::new();
    for m in list("matches") {
        out.push(format!("match {} {}", text(&m["golden"]), text(&m["finding"])));
    }
    for m in list("acceptable") {
        out.push(format!("acceptable {} {}", text(&m["golden"]), text(&m["finding"])));
    }
    for d in list("duplicates") {
        out.push(format!("duplicate {} {}", text(&d["golden"]), text(&d["finding"])));
    }
    for m in list("misses") {
        out.push(format!("miss {}: {}", text(&m["golden"]), text(&m["why"])));
    }
    for e in list("extras") {
        out.push(format!("extra {}: {}", text(&e["finding"]), text(&e["why"])));
    }
    out.join("\n")
}
