//! The suite `code-review`: reviewers whose figures are known by construction, what can be guessed from its texts alone, and the
//! tools that were recorded on it. What holds for all suites is in `suites.rs`.

mod texts;

use crate::project::{Project, lines, near, root, trial};
use karat_format::snapshot::{SnapshotCaseV1, SnapshotV1};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

const SUITE: &str = "code-review";

/// Where a suite is, as an argument of the command.
fn folder(suite: &str) -> String {
    root().join("suites").join(suite).canonicalize().unwrap().display().to_string()
}

fn cases_of(suite: &str) -> Vec<SnapshotCaseV1> {
    let snapshot: SnapshotV1 = karat::suite::load_suite(&folder(suite)).unwrap().snapshot();
    snapshot.cases
}

fn cases() -> Vec<SnapshotCaseV1> {
    cases_of(SUITE)
}

/// The required goldens of a case, as they stand in its file.
fn required(case: &SnapshotCaseV1) -> Vec<Value> {
    let issues = case.case.issues.iter().map(|issue| serde_json::to_value(issue).unwrap());
    issues.filter(|issue| issue.get("acceptance").is_none_or(|acceptance| acceptance == "required")).collect()
}

/// What a reviewer who saw the golden would report.
fn as_found(golden: &Value) -> Value {
    let mut finding = json!({ "id": golden["id"], "title": golden["title"], "message": golden["description"] });
    for key in ["file", "line_start", "line_end", "severity", "cwe"] {
        if let Some(value) = golden.get(key) {
            finding[key] = value.clone();
        }
    }
    finding
}

/// A report about the whole of a file that the change touched, which is about nothing in particular.
fn noise(case: &SnapshotCaseV1, number: usize) -> Value {
    let file = case.touched.iter().flat_map(|files| files.keys()).next().unwrap();
    json!({ "id": format!("noise-{number}"), "title": "The order of the declarations could be alphabetical", "file": file, "severity": "low" })
}

/// What a scripted reviewer answers to a case with this number: findings, a verdict and a confidence.
type Review = fn(usize, &SnapshotCaseV1) -> (Vec<Value>, &'static str, f64);

/// The reviewers in `scripted/` of the suite.
const SCRIPTED: &[(&str, Review)] = &[
    ("perfect", perfect),
    ("noisy", noisy),
    ("lucky-guesser", lucky_guesser),
    ("overconfident", overconfident),
    ("hallucinating", hallucinating),
    ("easy-only", easy_only),
];

/// What a scripted reviewer answers to the suite, as a submission.
fn submission_of(reviewer: &str, review: Review) -> String {
    let answer = |(i, case): (usize, &SnapshotCaseV1)| {
        let (findings, verdict, confidence) = review(i, case);
        let mut line = trial(&case.case.id, reviewer, 1, json!(findings));
        (line["verdict"], line["confidence"]) = (json!(verdict), json!(confidence));
        line
    };
    lines(&cases().iter().enumerate().map(answer).collect::<Vec<_>>())
}

/// Scores the submission of a scripted reviewer as it is in the suite, and returns its part of the report.
fn score(reviewer: &str) -> Value {
    score_file(SUITE, &root().join(format!("suites/code-review/scripted/{reviewer}.jsonl")))
}

#[test]
fn scripted_reviewers_are_current() {
    for (reviewer, review) in SCRIPTED {
        let (path, current) =
            (root().join(format!("suites/code-review/scripted/{reviewer}.jsonl")), submission_of(reviewer, *review));
        if std::env::var_os("KARAT_UPDATE").is_some() {
            std::fs::write(&path, &current).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap();
        assert!(kept == current, "{} is out of date; KARAT_UPDATE=1 writes it", path.display());
    }
}

fn score_submission(suite: &str, submission: &[Value]) -> Value {
    let project = Project::new().with("submission.jsonl", lines(submission));
    score_file(suite, &project.path("submission.jsonl"))
}

fn score_file(suite: &str, submission: &Path) -> Value {
    let project = Project::new();
    let (suite, submission) = (folder(suite), submission.to_str().unwrap());
    project.run_list(&["score", &suite, "--submission", submission, "-o", "report.json", "-q"]).expect(0);
    let mut report: Value = serde_json::from_str(&project.read("report.json")).unwrap();
    report["tools"][0].take()
}

fn counts(tool: &Value) -> [u64; 3] {
    ["tp", "fp", "fn"].map(|name| tool["counts"][name].as_u64().unwrap())
}

fn verdict(case: &SnapshotCaseV1) -> &'static str {
    if required(case).is_empty() { "safe" } else { "vulnerable" }
}

/// Cases, faulty cases and required goldens.
fn sizes() -> (usize, usize, usize) {
    let cases = cases();
    let goldens: Vec<usize> = cases.iter().map(|case| required(case).len()).collect();
    (cases.len(), goldens.iter().filter(|&&n| n > 0).count(), goldens.iter().sum())
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

fn perfect(_: usize, case: &SnapshotCaseV1) -> (Vec<Value>, &'static str, f64) {
    (required(case).iter().map(as_found).collect(), verdict(case), 1.0)
}

#[test]
fn perfect_reviewer_has_full_marks() {
    let tool = score("perfect");
    let (_, _, goldens) = sizes();
    assert_eq!(counts(&tool), [goldens as u64, 0, 0]);
    for metric in ["precision", "recall", "f1", "found_all", "clean_pass", "accuracy", "target_detection_rate"] {
        near(&tool, &format!("/metrics/{metric}/value"), 1.0);
    }
    for metric in ["ece", "brier", "lucky_guess_rate"] {
        near(&tool, &format!("/metrics/{metric}/value"), 0.0);
    }
}

/// Finds everything, and says two things about every case that are about nothing.
fn noisy(_: usize, case: &SnapshotCaseV1) -> (Vec<Value>, &'static str, f64) {
    let found = required(case).iter().map(as_found).chain((1..=2).map(|number| noise(case, number))).collect();
    (found, "vulnerable", 0.5)
}

#[test]
fn noise_costs_precision_and_clean_cases_only() {
    let tool = score("noisy");
    let (cases_total, faulty, goldens) = sizes();
    assert_eq!(counts(&tool), [goldens as u64, 2 * cases_total as u64, 0]);
    near(&tool, "/metrics/recall/value", 1.0);
    near(&tool, "/metrics/clean_pass/value", 0.0);
    near(&tool, "/micro/precision/value", share(goldens, goldens + 2 * cases_total));
    let of_cases: f64 =
        cases().iter().map(|case| required(case).len()).filter(|&n| n > 0).map(|n| share(n, n + 2)).sum();
    near(&tool, "/metrics/precision/value", of_cases / share(faulty, 1));
    near(&tool, "/metrics/accuracy/value", share(faulty, cases_total));
}

/// Calls every case vulnerable, and never knows why.
fn lucky_guesser(_: usize, case: &SnapshotCaseV1) -> (Vec<Value>, &'static str, f64) {
    (vec![noise(case, 1)], "vulnerable", 0.6)
}

#[test]
fn lucky_guesser_is_found_out() {
    let tool = score("lucky-guesser");
    let (cases_total, faulty, goldens) = sizes();
    assert_eq!(counts(&tool), [0, cases_total as u64, goldens as u64]);
    near(&tool, "/metrics/accuracy/value", share(faulty, cases_total));
    near(&tool, "/metrics/recall/value", 0.0);
    near(&tool, "/metrics/target_detection_rate/value", 0.0);
    near(&tool, "/metrics/lucky_guess_rate/value", 1.0);
    near(&tool, "/metrics/lucky_guess_indicator/value", share(faulty, cases_total));
}

/// Right in every other case, and always as sure of it.
fn overconfident(number: usize, case: &SnapshotCaseV1) -> (Vec<Value>, &'static str, f64) {
    let right = number.is_multiple_of(2);
    match verdict(case) {
        "vulnerable" if right => (required(case).iter().map(as_found).collect(), "vulnerable", 0.99),
        "safe" if !right => (vec![noise(case, 1)], "vulnerable", 0.99),
        _ => (Vec::new(), "safe", 0.99),
    }
}

#[test]
fn overconfident_reviewer_is_badly_calibrated() {
    let tool = score("overconfident");
    let (cases_total, ..) = sizes();
    let accuracy = share(cases_total.div_ceil(2), cases_total);
    near(&tool, "/metrics/accuracy/value", accuracy);
    near(&tool, "/metrics/overconfidence_rate/value", 1.0 - accuracy);
    near(&tool, "/metrics/ece/value", 0.99 - accuracy);
    near(&tool, "/metrics/brier/value", accuracy * 0.01 * 0.01 + (1.0 - accuracy) * 0.99 * 0.99);
}

/// Invents defects, in files that do not exist and behind the end of those that do.
fn hallucinating(_: usize, case: &SnapshotCaseV1) -> (Vec<Value>, &'static str, f64) {
    let mut findings = Vec::new();
    for golden in required(case) {
        let mut elsewhere = noise(case, 1);
        elsewhere["id"] = json!(format!("{}-elsewhere", golden["id"].as_str().unwrap()));
        elsewhere["title"] = json!("Division by zero in the exchange rate");
        elsewhere["file"] = json!("generated/rates/Exchange.kt");
        elsewhere["line_start"] = json!(7);
        let mut behind = elsewhere.clone();
        behind["id"] = json!(format!("{}-behind", golden["id"].as_str().unwrap()));
        behind["file"] = golden["file"].clone();
        behind["line_start"] = json!(90_000);
        findings.extend([elsewhere, behind]);
    }
    (findings, verdict(case), 0.9)
}

#[test]
fn hallucinated_places_match_nothing() {
    let tool = score("hallucinating");
    let (_, _, goldens) = sizes();
    let [tp, _, missed] = counts(&tool);
    assert_eq!((tp, missed), (0, goldens as u64));
    assert_eq!(tool["extras"], json!(2 * goldens), "each of them is an extra");
    near(&tool, "/metrics/recall/value", 0.0);
    near(&tool, "/metrics/accuracy/value", 1.0);
    near(&tool, "/metrics/lucky_guess_rate/value", 1.0);
}

fn is_easy(case: &SnapshotCaseV1) -> bool {
    serde_json::to_value(case.case.difficulty).unwrap() == "easy"
}

fn easy_only(_: usize, case: &SnapshotCaseV1) -> (Vec<Value>, &'static str, f64) {
    let found: Vec<Value> = if is_easy(case) { required(case).iter().map(as_found).collect() } else { Vec::new() };
    let verdict = if found.is_empty() { "safe" } else { "vulnerable" };
    (found, verdict, 0.8)
}

#[test]
fn easy_cases_alone_show_in_the_slices() {
    let tool = score("easy-only");
    let cases = cases();
    let faulty = cases.iter().filter(|case| !required(case).is_empty());
    let easy = faulty.clone().filter(|case| is_easy(case)).count();
    assert!(easy > 0);
    near(&tool, "/metrics/recall/value", share(easy, faulty.count()));
    near(&tool, "/metrics/precision/value", 1.0);
    near(&tool, "/metrics/clean_pass/value", 1.0);
    for (difficulty, recall) in [("easy", 1.0), ("medium", 0.0), ("hard", 0.0)] {
        near(&tool, &format!("/by/difficulty/{difficulty}/metrics/recall/value"), recall);
    }
}

#[test]
fn recorded_findings_are_in_files_that_changed() {
    let touched: BTreeSet<(String, String)> = cases()
        .iter()
        .flat_map(|case| {
            case.touched.iter().flatten().map(|(file, _)| (case.case.id.clone(), file.clone())).collect::<Vec<_>>()
        })
        .collect();
    let mut findings = 0;
    for entry in std::fs::read_dir(root().join("suites/code-review/submissions")).unwrap() {
        let path = entry.unwrap().path();
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            let trial: Value = serde_json::from_str(line).unwrap();
            for finding in trial["findings"].as_array().unwrap() {
                let place = (trial["case"].as_str().unwrap().to_owned(), finding["file"].as_str().unwrap().to_owned());
                assert!(touched.contains(&place), "{}: {place:?} was not changed", path.display());
                findings += 1;
            }
        }
    }
    assert!(findings > 300, "only {findings} findings are recorded");
}
