//! Variation over several trials of a case.

use crate::project::{Project, lines, suite, trial};
use serde_json::json;

fn project_with_two_trials() -> Project {
    let golden = json!({ "id": "g", "title": "SQL injection", "file": "a.py", "line_start": 3, "keywords": ["sql"] });
    let found = json!([{ "id": "f", "message": "sql injection", "file": "a.py", "line_start": 3 }]);
    let project = suite(&[json!({ "id": "a", "issues": [golden] }), json!({ "id": "b", "issues": [golden] })]);
    project.with(
        "s.jsonl",
        lines(&[
            trial("a", "flaky", 1, found.clone()),
            trial("b", "flaky", 1, found.clone()),
            trial("a", "flaky", 2, found),
            trial("b", "flaky", 2, json!([])),
        ]),
    )
}

#[test]
fn standard_deviation_over_trials_is_shown() {
    let project = project_with_two_trials();
    let line = "score . --submission s.jsonl --judge none -v -o r.json -o r.md -o r.html";
    let table = project.ok(line);
    // Recall is 1 in the first trial of the suite and 0.5 in the second: mean 0.75, standard deviation √(2 · 0.25²).
    let report: serde_json::Value = serde_json::from_str(&project.read("r.json")).unwrap();
    let recall = &report["tools"][0]["metrics"]["recall"];
    assert_eq!((recall["value"].as_f64(), recall["std_trials"].as_f64()), (Some(0.75), Some(0.125_f64.sqrt())));
    for (name, text) in [("table", table), ("Markdown", project.read("r.md")), ("HTML", project.read("r.html"))] {
        assert!(text.contains("Variation over trials"), "{name}:\n{text}");
        assert!(text.contains("0.750 ± 0.354"), "{name}:\n{text}");
    }
}

#[test]
fn one_trial_has_no_variation() {
    let project = super::tiny();
    let table = project.ok("score . --submission submissions/all.jsonl -v -o r.md -o r.html");
    for text in [table, project.read("r.md"), project.read("r.html")] {
        assert!(!text.contains("Variation over trials"), "{text}");
    }
}

#[test]
fn trials_have_a_calibration_error() {
    let cases = ["right", "wrong", "silent", "failed"].map(|id| json!({ "id": id, "verdict": "vulnerable" }));
    let line = |case: &str, verdict: &str, confidence: serde_json::Value| json!({ "case": case, "tool": "t", "trial": 1, "outcome": "reported", "verdict": verdict, "confidence": confidence });
    let failed = json!({ "case": "failed", "tool": "t", "trial": 1, "outcome": "crashed" });
    let trials = [
        line("right", "vulnerable", json!(0.75)),
        line("wrong", "safe", json!(0.75)),
        line("silent", "vulnerable", json!(null)),
        failed,
    ];
    let project = suite(&cases).with("s.jsonl", lines(&trials));
    let report = project.json("score . --submission s.jsonl --json");
    let errors: Vec<Option<f64>> = report["tools"][0]["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| case["trials"][0]["calibration_error"].as_f64())
        .collect();
    assert_eq!(errors, [Some(0.25), Some(0.75), None, None]);
}

#[test]
fn header_names_only_judges_that_decided_a_pair() {
    let project = super::tiny();
    let header = |flags: &str| {
        let table = project.ok(&format!("score . --submission submissions/all.jsonl {flags}"));
        table.lines().next().unwrap_or_default().to_owned()
    };
    assert!(header("").contains(" · judge local (κ 0."), "{}", header(""));
    assert!(header("--judge none").ends_with("judge none"), "{}", header("--judge none"));
    // No finding is a candidate, so no judge is asked.
    project.write("submissions/all.jsonl", lines(&[trial("tidy", "good", 1, json!([]))]));
    assert!(header("").ends_with("judge none"), "{}", header(""));
}
