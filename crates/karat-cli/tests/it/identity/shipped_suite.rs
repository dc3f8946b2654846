//! The suite `identity`: what was recorded on its first commit passes, and drift carries its goldens to the second.

use super::drift::{commit, git};
use crate::project::{Project, copy_tree, near, root};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

fn cases(folder: &Path) -> Vec<PathBuf> {
    let mut cases: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    cases
}

/// A copy of the suite, and `repo` with both commits.
fn project() -> Project {
    let project = Project::new();
    copy_tree(&root().join("suites/identity"), &project.path("suite"));
    let repo = project.path("repo");
    fs::create_dir(&repo).unwrap();
    git(&project, &["init", "-q", "-b", "main"]);
    for case in cases(&project.path("suite/cases")) {
        copy_tree(&case.join("after"), &repo);
    }
    commit(&project, "First", "first");
    git(&project, &["rm", "-rq", "."]);
    for case in cases(&project.path("suite/second")) {
        copy_tree(&case, &repo);
    }
    commit(&project, "Second", "second");
    project
}

/// The scanner's part of the report on a submission, and the cases that do not pass.
fn score(project: &Project, submission: &str, code: i32) -> (Value, Vec<String>) {
    project.run(&format!("score suite --submission suite/{submission} -o report.json -q")).expect(code);
    let mut report: Value = serde_json::from_str(&project.read("report.json")).unwrap();
    let tool = report["tools"][0].take();
    let failing = tool["cases"].as_array().unwrap().iter().filter(|case| case["pass"] == false);
    let failing = failing.map(|case| case["case"].as_str().unwrap().to_owned()).collect();
    (tool, failing)
}

#[test]
fn recorded_scan_of_the_first_commit_passes() {
    let project = project();
    let (tool, failing) = score(&project, "submissions/semgrep.jsonl", 0);
    assert_eq!(failing, [""; 0]);
    assert_eq!(tool["counts"], json!({ "tp": 14, "fp": 1, "fn": 0 }));
    near(&tool, "/metrics/recall/value", 1.0);
    // The one report that `go-queue` allows, in one of 13 cases with goldens.
    near(&tool, "/metrics/precision/value", 12.5 / 13.0);
    assert!(
        project
            .ok("check --strict suite")
            .contains("15 cases, 15 goldens, 14 to find, 1 acceptable, profile identity: no problems")
    );
}

#[test]
fn drift_carries_the_goldens_to_the_second_commit() {
    let project = project();
    for case in cases(&project.path("suite/second")) {
        let after = project.path("suite/cases").join(case.file_name().unwrap()).join("after");
        fs::remove_dir_all(&after).unwrap();
        copy_tree(&case, &after);
    }
    // Only what has a key of a symbol or a glob, or did not move, is found.
    let (tool, failing) = score(&project, "second.jsonl", 1);
    assert_eq!(tool["counts"], json!({ "tp": 5, "fp": 9, "fn": 9 }));
    assert!(!failing.iter().any(|case| case == "py-session-names" || case == "rs-units"), "{failing:?}");

    let list = project.json("drift suite --repo repo --from first --to second --write --json");
    let line = |golden: &Value| {
        let place = |of: &Value| format!("{}:{}", of["file"].as_str().unwrap(), of["line_start"]);
        let to = golden["reason"].as_str().map_or_else(|| place(&golden["to"]), str::to_owned);
        format!("{} {} {to}", golden["case"].as_str().unwrap(), golden["status"].as_str().unwrap())
    };
    let changed: Vec<String> =
        list.as_array().unwrap().iter().filter(|golden| golden["status"] != "unchanged").map(line).collect();
    assert_eq!(
        changed,
        [
            "c-label edited display/label.c:8",
            "go-queue moved queue/number.go:13",
            "java-invoice-name moved invoice/src/harbour/invoice/FileName.java:14",
            "js-cells moved web/cells.js:10",
            "js-notices moved web/notices.js:10",
            "py-berths moved booking/berths.py:19",
            "py-tickets moved booking/tickets.py:7",
            "rb-export lost its lines were deleted or rewritten",
            "rs-units moved units/src/lib.rs:14",
            "sql-migrations lost its file is a glob, which matches many files",
            "ts-stations lost its file is a glob, which matches many files",
        ]
    );
    assert_eq!(list.as_array().unwrap().len(), 15);
    let rewritten = project.read("suite/cases/js-notices/case.yaml");
    assert!(rewritten.contains("v2|web/notices.js|js-inner-html|lines:10-10"), "{rewritten}");

    let (tool, failing) = score(&project, "second.jsonl", 1);
    assert_eq!(tool["counts"], json!({ "tp": 12, "fp": 2, "fn": 2 }));
    assert_eq!(failing, ["rb-export", "ts-stations"]);
}
