//! `karat expect`: the findings of a trusted scan become the expected findings.

use crate::project::{Project, lines, trial};
use serde_json::{Value, json};

fn make_finding(id: &str, rule: &str, line: u32) -> Value {
    json!({ "id": id, "rule_id": rule, "title": format!("{rule} at {line}"), "file": "app.py", "line_start": line })
}

fn scan(findings: &[Value]) -> String {
    lines(&[trial("web", "scan", 1, json!(findings)), trial("clean", "scan", 1, json!([]))])
}

fn project() -> Project {
    let project = Project::new().with("scan.jsonl", scan(&[make_finding("f1", "R1", 3), make_finding("f2", "R2", 8)]));
    project
        .run("expect --from scan.jsonl -o exact")
        .expect_error(0, &["wrote exact/cases.jsonl (2 cases)", "2 new, 0 kept, 0 not met"]);
    project
}

#[test]
fn expected_findings_pass() {
    let project = project();
    assert!(project.read("exact/karat.toml").contains("profile = \"identity\""));
    let ran = project.run("score exact --submission scan.jsonl").expect(0);
    assert!(ran.out.contains("pass"), "{}", ran.out);
    assert!(project.ok("check exact --strict").contains("no problems"));
}

#[test]
fn moved_finding_fails_and_is_named() {
    let project = project();
    project.write("new.jsonl", scan(&[make_finding("f1", "R1", 3), make_finding("f2", "R2", 9)]));
    let ran = project.run("score exact --submission new.jsonl").expect(1);
    assert!(ran.out.contains("FAIL") && ran.out.contains("scan does not pass"), "{}", ran.out);
    assert!(ran.out.contains("missing     web · R2 at 8 (no finding has its key)"), "{}", ran.out);
    assert!(ran.out.contains("unexpected  web · R2 at 9 (its key is not one of the expected keys)"), "{}", ran.out);
    assert!(!ran.out.contains("R1 at 3"), "{}", ran.out);
    // A finding in a case without expected findings fails, and so does a crashed trial.
    project.write(
        "new.jsonl",
        lines(&[
            trial("web", "scan", 1, json!([make_finding("f1", "R1", 3), make_finding("f2", "R2", 8)])),
            trial("clean", "scan", 1, json!([make_finding("f", "R1", 1)])),
        ]),
    );
    project.run("score exact --submission new.jsonl").expect(1);
    let crashed = json!({ "case": "clean", "tool": "scan", "trial": 1, "outcome": "crashed" });
    project.write(
        "new.jsonl",
        lines(&[trial("web", "scan", 1, json!([make_finding("f1", "R1", 3), make_finding("f2", "R2", 8)])), crashed]),
    );
    project.run("score exact --submission new.jsonl").expect(1);
    // Other profiles have no pass or fail.
    project.run("score exact --submission new.jsonl --profile karat").expect(0);
}

#[test]
fn expectations_are_updated_and_pruned() {
    let project = project();
    project.write("new.jsonl", scan(&[make_finding("f1", "R1", 3), make_finding("f2", "R3", 20)]));
    let ran = project.run("expect --from new.jsonl --suite exact -o exact/cases.jsonl");
    ran.expect_error(
        0,
        &[
            "1 new, 1 kept, 1 not met",
            "web: v2|app.py|r3|lines:20-20",
            "web: v2|app.py|r2|lines:8-8",
            "(--prune removes them)",
        ],
    );
    let keys = |project: &Project| {
        let first: Value = serde_json::from_str(project.read("exact/cases.jsonl").lines().next().unwrap()).unwrap();
        let issues = first["issues"].as_array().unwrap().clone();
        issues.iter().map(|i| i["identity_key"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(keys(&project), ["v2|app.py|r1|lines:3-3", "v2|app.py|r2|lines:8-8", "v2|app.py|r3|lines:20-20"]);
    project.run("score exact --submission new.jsonl").expect(1);
    let ran = project.run("expect --from new.jsonl --suite exact --prune -o exact/cases.jsonl");
    ran.expect_error(0, &["0 new, 2 kept, 1 not met", "are gone and were removed"]);
    assert_eq!(keys(&project), ["v2|app.py|r1|lines:3-3", "v2|app.py|r3|lines:20-20"]);
    project.run("score exact --submission new.jsonl").expect(0);
}

#[test]
fn findings_without_key_and_failed_trials_are_reported() {
    let project = Project::new();
    let crashed = json!({ "case": "x", "tool": "scan", "trial": 1, "outcome": "timed_out" });
    let keyless = trial(
        "web",
        "scan",
        1,
        json!([{ "id": "f9", "title": "no rule" }, make_finding("f1", "R1", 3), make_finding("f2", "R1", 3)]),
    );
    project.write("scan.jsonl", lines(&[keyless, crashed]));
    let ran = project.run("expect --from scan.jsonl").expect_error(0, &["web: f9", "x: timed_out", "2 new"]);
    assert_eq!(ran.out.matches("v2|app.py|r1|lines:3-3").count(), 2, "two findings of one key are two expectations");
    project.write("two.jsonl", lines(&[trial("web", "a", 1, json!([])), trial("web", "b", 1, json!([]))]));
    project.run("expect --from two.jsonl").expect_error(2, &["--tool", "a, b"]);
    project.run("expect --from two.jsonl --tool c").expect_error(2, &["no such trial"]);
    project.run("expect --from two.jsonl --tool b").expect(0);
    project.run("expect --from absent.jsonl").expect_error(4, &["absent.jsonl"]);
}
