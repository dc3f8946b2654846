//! `karat import`: every format once, and the assignment of findings to cases. The formats' details have unit tests in `karat-import`.

mod hostile;

use crate::project::{Project, fixture, suite};
use karat_import::IMPORTERS;
use serde_json::{Value, json};

/// The findings of a submission, one per line: case, tool, rule, file:lines.
fn findings(submission: &str) -> String {
    let mut out = String::new();
    for line in submission.lines() {
        let trial: Value = serde_json::from_str(line).unwrap();
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let head = format!("{} {}", text(&trial["case"]), text(&trial["tool"]));
        let list = trial["findings"].as_array().unwrap();
        if list.is_empty() {
            out.push_str(&format!("{head} {}\n", text(&trial["outcome"])));
        }
        for f in list {
            let lines =
                [&f["line_start"], &f["line_end"]].map(|n| n.as_u64().map_or("-".to_owned(), |n| n.to_string()));
            out.push_str(&format!("{head} {} {}:{}\n", text(&f["rule_id"]), text(&f["file"]), lines.join("-")));
        }
    }
    out
}

#[track_caller]
fn check_import(format: &str, file: &str, flags: &str, expected: &str) {
    let file = fixture(file);
    let mut arguments = vec!["import", "--from", format, &file];
    arguments.extend(flags.split_whitespace());
    let ran = Project::new().run_list(&arguments).expect(0);
    let got: String =
        findings(&ran.out).lines().take(expected.lines().count()).map(|line| format!("{line}\n")).collect();
    assert_eq!(got, expected, "{format}");
}

#[test]
fn every_finding_format_is_imported() {
    check_import("sarif", "sarif/full.sarif", "--case c --tool t", "c t py/sql app/db layer.py:12-14\n");
    check_import("sarif", "sarif/utf16be.sarif", "--case c --tool t", "c t r -:---\n");
    check_import("sarif", "sarif/utf16le-bom.sarif", "--case c --tool t", "c t r -:---\n");
    check_import("sarif", "sarif/plain.sarif.gz", "--case c --tool t", "c t r -:---\n");
    check_import("sarif", "sarif/failed.sarif", "--case c --tool t", "c t unparsable\n");
    check_import("semgrep", "semgrep/report.json", "--case c", "c semgrep python.sqli src/db.py:12-14\n");
    check_import("bandit", "bandit/report.json", "--case c", "c bandit B608 app/db.py:11-14\n");
    check_import("eslint", "eslint/report.json", "--case c", "c eslint no-eval app/src/a.js:3-4\n");
    check_import("slither", "slither/report.json", "--case c", "c slither reentrancy-eth src/Bank.sol:10-14\n");
    check_import("rdjson", "rdjson/report.json", "--case c --tool t", "c t E1 a/b.go:14-15\nc t 404 a/c.go:2--\n");
    check_import("rdjsonl", "rdjsonl/report.jsonl", "--case c --tool t", "c t E1 a/b.go:14-15\n");
    check_import("github-review", "github-review/paginated.json", "--case c --tool t", "c t - src/db.py:10-12\n");
    check_import(
        "scan-findings",
        "scan-findings/scan.json",
        "--case c --tool t",
        "c t missing_auth app/api/route.ts:4-21\n",
    );
    check_import("csv", "csv/semicolons.csv", "--case c --tool t", "c t R1 app/db.py:12-14\n");
}

#[test]
fn formats_with_cases_write_a_suite() {
    let project = Project::new();
    let owasp = fixture("owasp/expectedresults-tiny.csv");
    project
        .run_list(&["import", "--from", "owasp", &owasp, "-o", "bench"])
        .expect_error(0, &["wrote bench/cases.jsonl (3 cases)"]);
    assert!(project.ok("check bench --profile owasp").starts_with("bench: 3 cases, 0 goldens"));
    let first: Value = serde_json::from_str(project.read("bench/cases.jsonl").lines().next().unwrap()).unwrap();
    assert_eq!(
        first,
        json!({ "id": "BenchTest00001", "categories": ["pathtraver"], "verdict": "vulnerable", "cwe": [22] })
    );

    let evals = fixture("eval-spec/evals.json");
    project.run_list(&["import", "--from", "eval-spec", &evals, "-o", "expected"]).expect(0);
    let cases = project.read("expected/cases.jsonl");
    assert!(cases.contains("\"identity_key\":\"v2|"), "{cases}");
    project.run("check expected --profile identity").expect(0);

    let bench = fixture("code-review-bench");
    project.run_list(&["import", "--from", "code-review-bench", &bench, "-o", "crb"]).expect(0);
    for name in ["crb/karat.toml", "crb/cases.jsonl", "crb/submissions/strict.jsonl", "crb/judgements/strict.jsonl"] {
        assert!(project.path(name).is_file(), "{name} was not written");
    }
    let report = project.json("score crb --json --profile recorded --judgements crb/judgements/strict.jsonl");
    assert!(!report["tools"].as_array().unwrap().is_empty());
}

#[test]
fn every_importer_is_listed() {
    let list = Project::new().ok("import --list");
    let names: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, IMPORTERS.iter().map(|importer| importer.name).collect::<Vec<_>>());
}

#[test]
fn unknown_format_suggests_the_nearest() {
    let project = Project::new().with("x.json", "{}");
    project
        .run("import --from sarf x.json")
        .expect_error(2, &["unknown format `sarf`, did you mean `sarif`?", "Available: sarif"]);
    project.run("import --from q x.json").expect_error(2, &["unknown format `q`. Available: sarif"]);
    project.run("import x.json").expect_error(2, &["--from FORMAT"]);
    project.run("import --from sarif").expect(2);
    project.run("import --from sarif absent.sarif --case c").expect_error(4, &["absent.sarif"]);
}

/// A SARIF file with one result in each of these files.
fn sarif(files: &[&str]) -> String {
    let result = |file: &&str| {
        json!({ "ruleId": "R1", "message": { "text": "m" }, "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": file }, "region": { "startLine": 3 } } }] })
    };
    let results: Vec<Value> = files.iter().map(result).collect();
    json!({ "version": "2.1.0", "runs": [{ "tool": { "driver": { "name": "scan" } }, "results": results }] })
        .to_string()
}

/// Two cases; `web` has a golden in `app.py`, `api` in `main.go`.
fn two_cases() -> Project {
    let golden = |file: &str| json!([{ "id": "g", "title": "Something is wrong", "file": file }]);
    suite(&[json!({ "id": "web", "issues": golden("app.py") }), json!({ "id": "api", "issues": golden("main.go") })])
}

#[test]
fn findings_are_assigned_to_cases() {
    let project = two_cases().with("scan.sarif", sarif(&["cases/web/after/app.py", "api/main.go", "src/web-1/x.py"]));
    let ran = project
        .run("import --from sarif --suite . scan.sarif")
        .expect_error(0, &["1 finding without a case: src/web-1/x.py (1)"]);
    assert_eq!(findings(&ran.out), "web scan R1 app.py:3-3\napi scan R1 main.go:3-3\n");
    let ran = project.run("import --from sarif --suite . --case api --tool other scan.sarif").expect(0);
    assert_eq!(ran.out.lines().count(), 1);
    assert!(findings(&ran.out).starts_with("api other R1 "), "{}", ran.out);
    let ran =
        project.run_list(&["import", "--from", "sarif", "--suite", ".", "--case-from", "src/([a-z]+)-", "scan.sarif"]);
    let ran = ran.expect_error(0, &["2 findings without a case"]);
    assert!(findings(&ran.out).contains("web scan R1 "), "{}", ran.out);
    assert!(findings(&ran.out).contains("api scan reported\n"), "a case without findings has a trial: {}", ran.out);
}

#[test]
fn findings_without_a_case_are_reported() {
    let project = two_cases().with("scan.sarif", sarif(&["elsewhere/q.rs", "elsewhere/q.rs", "r.rs"]));
    let nowhere = ["3 findings without a case: elsewhere/q.rs (2), r.rs (1)", "--case ID or --case-from REGEX"];
    project.run("import --from sarif --suite . scan.sarif").expect_error(4, &nowhere);
    project.run("score . --submission scan.sarif").expect_error(4, &nowhere);
    project
        .run("import --from sarif --suite . --case webb scan.sarif")
        .expect_error(4, &["the suite has no case webb", "did you mean web?"]);
    project.run("import --from sarif scan.sarif").expect_error(2, &["--suite", "--case", "--case-from"]);
    project
        .run_list(&["import", "--from", "sarif", "--case-from", "(", "scan.sarif"])
        .expect_error(2, &["--case-from:"]);
    project.write("bare.json", "[]");
    project.run("import --from rdjson --case web bare.json").expect(4);
    project.write("plain.csv", "message\nwords\n");
    project.run("import --from csv --case web plain.csv").expect_error(2, &["name it with --tool"]);
}

#[test]
fn imported_submission_can_be_scored() {
    let project = two_cases().with("scan.sarif", sarif(&["web/app.py"]));
    project
        .run("import --from sarif --suite . scan.sarif -o sub.jsonl --trial-number 2")
        .expect_error(0, &["wrote sub.jsonl (2 trials, 1 finding)"]);
    assert_eq!(project.json("score . --json --submission sub.jsonl")["tools"][0]["cases"][0]["trials"][0]["trial"], 2);
    // The same from standard input.
    let ran = crate::project::CommandOutput::start(
        project
            .command()
            .args(["import", "--from", "sarif", "--suite", ".", "--trial-number", "2", "-"])
            .write_stdin(project.read("scan.sarif")),
    );
    assert_eq!(ran.expect(0).out, project.read("sub.jsonl"));
}

#[test]
fn rule_map_sets_category_and_cwe() {
    let project = two_cases().with("scan.sarif", sarif(&["web/app.py"]));
    project.write("map.csv", "rule_id,category,cwe\nr1,injection,89\nR2,other,\n");
    let ran = project.run("import --from sarif --suite . --rule-map map.csv scan.sarif");
    let ran = ran.expect_error(0, &["the rule map knows the rules of 1 of 1 findings"]);
    assert!(ran.out.contains("\"category\":\"injection\",\"cwe\":[89]"), "{}", ran.out);
    project.write("map.csv", "rule,kind\n");
    project.run("import --from sarif --suite . --rule-map map.csv scan.sarif").expect_error(4, &["map.csv", "rule_id"]);
}
