//! Submissions: validation, failed trials, missing trials.

use super::{counts, tiny};
use crate::project::{Project, lines, near, suite, trial};
use serde_json::{Value, json};

#[test]
fn nothing_to_score_is_a_usage_error() {
    let project = suite(&[json!({ "id": "a" })]);
    project.run("score .").expect_error(2, &["nothing to score", "--submission FILE"]);
    let there = ["starter: no trials of nobody. Available: ", "careful-reviewer"];
    project.run("score starter --tool nobody").expect_error(2, &there);
    project.run("score starter --tool nobody --detail none").expect_error(2, &there);
    project
        .run("score starter --tool carefull-reviewer")
        .expect_error(2, &["no trials of carefull-reviewer", "did you mean `careful-reviewer`?"]);
    project.run("score absent-suite").expect_error(4, &["absent-suite", "there is no such folder", "karat init"]);
    project.run("score . --submission absent.jsonl").expect_error(4, &["absent.jsonl"]);
}

/// Scores a faulty submission against a suite with one case `sqli-login`; returns standard error.
fn score_faulty(submission: &str) -> String {
    let issues = json!([{ "id": "g", "title": "Something is wrong here", "file": "a.py" }]);
    let project = suite(&[json!({ "id": "sqli-login", "issues": issues })]).with("s.jsonl", submission);
    project.run("score . --submission s.jsonl").expect(4).err
}

#[track_caller]
fn check(submission: &str, texts: &[&str]) {
    let err = score_faulty(submission);
    for text in texts {
        assert!(err.contains(text), "{text:?} is not in:\n{err}");
    }
}

#[test]
fn unknown_case_is_reported_with_its_position() {
    let good = trial("sqli-login", "t", 1, json!([]));
    let text = format!("{good}\n{{\"case\":\"sqli-logon\",\"tool\":\"t\",\"trial\":1,\"outcome\":\"reported\"}}\n");
    check(
        &text,
        &["s.jsonl:2:9", "the suite has no case `sqli-logon`", "did you mean `sqli-login`?", "nothing was loaded"],
    );
}

#[test]
fn duplicate_trial_is_reported() {
    let line = trial("sqli-login", "t", 1, json!([]));
    check(&format!("{line}\n\n{line}\n"), &["s.jsonl:3:", "trial 1 of t on sqli-login is already given, at s.jsonl:1"]);
}

#[test]
fn all_faults_of_a_submission_are_reported_together() {
    let failed = json!({ "case": "sqli-login", "tool": "t", "trial": 1, "outcome": "crashed", "findings": [{ "id": "f", "title": "x" }] });
    let twice = trial("sqli-login", "t", 2, json!([{ "id": "f", "title": "x" }, { "id": "f", "title": "y" }]));
    let silent = trial("sqli-login", "t", 3, json!([{ "id": "f" }]));
    let zero = trial("sqli-login", "t", 0, json!([]));
    let confident = trial("sqli-login", "t", 4, json!([{ "id": "f", "title": "x", "confidence": 2 }]));
    let misspelled = trial("sqli-login", "t", 5, json!([{ "id": "f", "titel": "x" }]));
    let text = lines(&[failed, twice, silent, zero, confident, misspelled]) + "not json\n[]\n";
    check(
        &text,
        &[
            "s.jsonl:1:",
            "a trial that ended as crashed cannot have findings",
            "s.jsonl:2:",
            "duplicate finding id `f`",
            "s.jsonl:3:",
            "needs a title, a message or a rule_id",
            "s.jsonl:4:",
            "s.jsonl:5:",
            "s.jsonl:6:",
            "did you mean `title`?",
            "s.jsonl:7:1",
            "s.jsonl:8:1",
        ],
    );
}

/// One case with two goldens; trial 1 finds one of them, trial 2 crashed.
fn half_failed() -> Project {
    let issues = json!([
        { "id": "a", "title": "First thing", "file": "a.py", "keywords": ["alpha"] },
        { "id": "b", "title": "Second thing", "file": "b.py", "keywords": ["beta"] },
    ]);
    suite(&[json!({ "id": "c", "issues": issues }), json!({ "id": "clean" })]).with(
        "s.jsonl",
        lines(&[
            trial("c", "t", 1, json!([{ "id": "f", "message": "alpha", "file": "a.py" }])),
            json!({ "case": "c", "tool": "t", "trial": 2, "outcome": "crashed" }),
            trial("clean", "t", 1, json!([])),
            json!({ "case": "clean", "tool": "t", "trial": 2, "outcome": "timed_out" }),
        ]),
    )
}

#[test]
fn failed_trials_count_as_misses_unless_excluded() {
    let project = half_failed();
    let report = project.json("score . --json --submission s.jsonl --set verdict_from=any");
    assert_eq!(counts(&report), [1, 0, 3]);
    near(&report, "/tools/0/metrics/recall/value", 0.25);
    near(&report, "/tools/0/metrics/clean_pass/value", 0.5);
    // Four verdicts, each with the weight of half a case: those of the two failed trials are wrong.
    near(&report, "/tools/0/metrics/accuracy/value", 0.5);
    assert_eq!(
        report["tools"][0]["outcomes"],
        json!({ "reported": 2, "crashed": 1, "timed_out": 1, "unparsable": 0, "unavailable": 0, "skipped": 0 })
    );
    let report = project.json("score . --json --submission s.jsonl --set verdict_from=any --set failed_trials=exclude");
    assert_eq!(counts(&report), [1, 0, 1]);
    near(&report, "/tools/0/metrics/recall/value", 0.5);
    near(&report, "/tools/0/metrics/clean_pass/value", 1.0);
    near(&report, "/tools/0/metrics/accuracy/value", 1.0);
    assert_eq!(
        report["tools"][0]["outcomes"],
        json!({ "reported": 2, "crashed": 1, "timed_out": 1, "unparsable": 0, "unavailable": 0, "skipped": 0 })
    );
    let warnings = json!(["t: 1 trial crashed", "t: 1 trial timed out"]);
    assert_eq!(report["warnings"], warnings);
    let table = project.ok("score . --submission s.jsonl");
    assert!(table.contains("2/4"), "{table}");
}

#[test]
fn missing_planned_trial_counts_as_skipped_with_a_warning() {
    let project = suite(&[
        json!({ "id": "a", "issues": [{ "id": "g", "title": "A thing", "file": "x" }] }),
        json!({ "id": "b" }),
    ]);
    project.write(
        "s.jsonl",
        lines(&[trial("a", "t", 1, json!([])), trial("a", "t", 2, json!([])), trial("b", "t", 1, json!([]))]),
    );
    let report = project.json("score . --json --submission s.jsonl");
    let warning = "t: 1 of 4 planned trials have no line in the submission and count as skipped";
    assert_eq!(report["warnings"], json!([warning]));
    assert_eq!(
        report["tools"][0]["outcomes"],
        json!({ "reported": 3, "crashed": 0, "timed_out": 0, "unparsable": 0, "unavailable": 0, "skipped": 1 })
    );
    near(&report, "/tools/0/metrics/clean_pass/value", 0.5);
    assert!(project.ok("score . --submission s.jsonl").contains(warning));
}

#[test]
fn tool_flag_selects_tools() {
    let project = tiny();
    let report = project.json("score . --json --tool good");
    let names: Vec<&Value> = report["tools"].as_array().unwrap().iter().map(|tool| &tool["tool"]).collect();
    assert_eq!(names, ["good"]);
}

#[test]
fn sarif_file_is_accepted_as_submission() {
    let web = json!({ "id": "web", "issues": [{ "id": "g", "title": "Weak hash is used", "file": "app.py" }] });
    let project = suite(&[web.clone(), json!({ "id": "api" })]);
    let sarif = json!({ "version": "2.1.0", "runs": [{
        "tool": { "driver": { "name": "scan" } },
        "results": [{ "ruleId": "W1", "message": { "text": "weak hash is used here" },
                      "locations": [{ "physicalLocation": { "artifactLocation": { "uri": "web/app.py" } } }] },
                    { "ruleId": "W2", "message": { "text": "elsewhere" },
                      "locations": [{ "physicalLocation": { "artifactLocation": { "uri": "vendor/x.py" } } }] }],
    }] });
    project.write("scan.sarif", sarif.to_string());
    let report = project.json("score . --json --submission scan.sarif");
    assert_eq!(report["tools"][0]["tool"], "scan");
    assert_eq!(counts(&report), [1, 0, 0]);
    let warnings = ["1 finding without a case: vendor/x.py (1)", "scan has no findings in 1 of 2 cases"];
    assert_eq!(report["warnings"], json!(warnings));
    // The same with the extension .json, and the tool renamed.
    std::fs::copy(project.path("scan.sarif"), project.path("scan.json")).unwrap();
    let report = project.json("score . --json --submission scan.json --tool renamed");
    assert_eq!((report["tools"][0]["tool"].as_str(), counts(&report)), (Some("renamed"), [1, 0, 0]));
    // In a suite of one case, all findings belong to it.
    project.write("cases.jsonl", lines(&[web]));
    assert_eq!(counts(&project.json("score . --json --submission scan.sarif")), [1, 1, 0]);
}

/// Extras that a case allows are no false alarms, wherever results are shown.
#[test]
fn allowed_extras_are_no_false_alarms() {
    let noise = json!([{ "id": "f1", "title": "noise", "file": "a.py", "line_start": 1 }]);
    let cases = [
        json!({ "id": "open", "allow_unexpected": true, "issues": [] }),
        json!({ "id": "shut", "issues": [] }),
        json!({ "id": "bug", "issues": [{ "id": "g", "title": "leak", "file": "a.py", "line_start": 9 }] }),
    ];
    let trials = ["open", "shut", "bug"].map(|case| trial(case, "t", 1, noise.clone()));
    let project = suite(&cases).with("t.jsonl", lines(&trials));
    let line = "score . --submission t.jsonl --judge none";
    let report = project.json(&format!("{line} --json"));
    near(&report, "/tools/0/metrics/clean_pass/value", 0.5);
    let of_case =
        |id: &str| report["tools"][0]["cases"].as_array().unwrap().iter().find(|case| case["case"] == id).unwrap();
    assert_eq!((&of_case("open")["pass"], &of_case("shut")["pass"]), (&json!(true), &json!(false)));
    let table = project.ok(line);
    let row = |id: &str| table.lines().find(|line| line.trim_start().starts_with(id)).unwrap_or_default().to_owned();
    assert!(row("open").contains("1 extra allowed") && row("shut").contains("1 false alarm"), "{table}");
    let explained = project.ok("explain open --suite . --submission t.jsonl --judge none");
    assert!(explained.contains("1 extra allowed") && !explained.contains("1 false"), "{explained}");
    let junit = project.ok(&format!("{line} --format junit"));
    assert_eq!(junit.matches("unexpected f1").count(), 2, "{junit}");
    let sarif: serde_json::Value = serde_json::from_str(&project.ok(&format!("{line} --format sarif"))).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let kind = |case: &str| results.iter().find(|own| own["properties"]["case"] == case).unwrap()["kind"].clone();
    assert_eq!((kind("open"), kind("shut")), (json!("informational"), json!("fail")));
}

/// A tool without a value says nothing about how many cases the values of others rest on.
#[test]
fn too_few_cases_are_those_behind_a_value() {
    let finding = json!({ "id": "f", "title": "leak", "file": "a.py", "line_start": 9 });
    let golden = json!({ "id": "g", "title": "leak", "file": "a.py", "line_start": 9 });
    let cases = ["one", "two"].map(|id| json!({ "id": id, "issues": [golden.clone()] }));
    let reported = ["one", "two"].map(|case| trial(case, "works", 1, json!([finding.clone()])));
    let unavailable = ["one", "two"].map(|case| {
        let mut trial = trial(case, "down", 1, json!([]));
        trial["outcome"] = json!("unavailable");
        trial
    });
    let project = suite(&cases).with("t.jsonl", lines(&[reported, unavailable].concat()));
    let line = "score . --submission t.jsonl --judge none";
    for (format, expected) in [("", "n = 2 cases: too few"), (" --format md", "n = 2: too few cases")] {
        let out = project.ok(&format!("{line}{format}"));
        assert!(out.contains(expected) && !out.contains("n = 0"), "{out}");
    }
}
