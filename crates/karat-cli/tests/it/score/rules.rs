//! Profiles: files that extend them, a suite's overrides, and `--set`.

use super::{counts, outcomes, score_one};
use crate::project::{lines, near, suite, trial};
use serde_json::json;

#[test]
fn flags_override_suite_settings_and_profiles() {
    let case = json!({ "id": "c", "issues": [{ "id": "g", "title": "x", "file": "a.py", "keywords": ["k"] }] });
    let project = suite(&[case]).with("s.jsonl", lines(&[trial("c", "t", 1, json!([]))]));
    let threshold = |flags: &str| {
        let report = project.json(&format!("score . --json --submission s.jsonl {flags}"));
        let name = report["profile"]["name"].as_str().unwrap().to_owned();
        format!("{name} {} {}", report["profile"]["threshold"], report["profile"]["assignment"].as_str().unwrap())
    };
    assert_eq!(threshold(""), "karat 0.575 exact");
    assert_eq!(threshold("--profile crb"), "crb 0.3 greedy");
    project.write(
        "karat.toml",
        "[suite]\nname = \"s\"\n[scoring]\nprofile = \"crb\"\n[scoring.override]\nthreshold = 0.4\n",
    );
    assert_eq!(threshold(""), "crb 0.4 greedy");
    assert_eq!(threshold("--profile karat"), "karat 0.4 exact");
    assert_eq!(threshold("--set threshold=0.5"), "crb 0.5 greedy");
    assert_eq!(threshold("--set threshold=0.5 --set threshold=0.6 --set assignment=exact"), "crb 0.6 exact");
    project.write("mine.toml", "extends = \"crb\"\nthreshold = 0.9\n");
    project.write("yours.toml", "extends = \"mine.toml\"\nname = \"ours\"\nassignment = \"exact\"\n");
    project.write("karat.toml", "[suite]\nname = \"s\"\n[scoring]\nprofile = \"mine.toml\"\n");
    assert_eq!(threshold(""), "mine 0.9 greedy");
    assert_eq!(threshold("--profile yours.toml"), "ours 0.9 exact");
}

#[test]
fn invalid_profiles_and_settings_are_reported() {
    let project = suite(&[json!({ "id": "c" })]).with("s.jsonl", lines(&[trial("c", "t", 1, json!([]))]));
    let check = |flags: &str, code, texts: &[&str]| {
        drop(project.run(&format!("score . --submission s.jsonl {flags}")).expect_error(code, texts))
    };
    check("--profile krat", 2, &["unknown profile `krat`", "did you mean `karat`?"]);
    project.write("latin1.toml", b"name = \"caf\xe9\"\n");
    check("--profile latin1.toml", 4, &["the profile `latin1.toml` could not be read", "not UTF-8"]);
    std::fs::create_dir(project.path("folder.toml")).unwrap();
    check("--profile folder.toml", 4, &["the profile `folder.toml` could not be read", "directory"]);
    check("--set treshold=0.5", 2, &["--set treshold=0.5", "did you mean `threshold`?"]);
    check("--set weights.fle=0.5", 2, &["did you mean `weights.file`?"]);
    check("--set threshold=high", 2, &["threshold: expected float, found string"]);
    check("--set threshold=1.5", 2, &["expected a number from 0 to 1"]);
    check("--set assignment=best", 2, &["best", "exact", "greedy"]);
    check("--set threshold", 2, &["KEY=VALUE"]);
    project.write("a.toml", "extends = \"b.toml\"\n");
    project.write("b.toml", "extends = \"a.toml\"\n");
    check("--profile a.toml", 4, &["circle"]);
    project.write("karat.toml", "[suite]\nname = \"s\"\n[scoring.override]\ntreshold = 1\n");
    check("", 4, &["[scoring.override] of karat.toml", "did you mean `threshold`?"]);
}

#[test]
fn required_fields_must_agree() {
    let case = json!({ "id": "c", "issues": [{ "id": "g", "title": "x", "file": "a.sol", "line_start": 10, "category": "re_entrancy", "cwe": [841], "rule_id": "R", "rule_aliases": ["S"] }] });
    let finding = json!([{ "id": "f", "message": "x", "file": "a.sol", "line_start": 12, "category": "Re-Entrancy", "cwe": [1, 841], "rule_id": "s" }]);
    let found = |flags: &[&str]| {
        let mut arguments = vec!["score", ".", "--json", "--submission", "s.jsonl"];
        arguments.extend(flags.iter().flat_map(|flag| ["--set", *flag]));
        let project = suite(std::slice::from_ref(&case)).with("s.jsonl", lines(&[trial("c", "t", 1, finding.clone())]));
        counts(&serde_json::from_str(&project.run_list(&arguments).expect(0).out).unwrap())[0] == 1
    };
    assert!(found(&["require=[\"file\", \"category\", \"cwe\", \"rule\"]"]));
    assert!(found(&["line_tolerance=2"]));
    assert!(!found(&["line_tolerance=1"]));
    let differing = |key: &str, value: serde_json::Value| {
        let mut finding = finding.clone();
        finding[0][key] = value;
        let flags = format!("--set require=[\"{}\"]", if key == "rule_id" { "rule" } else { key });
        counts(&score_one(case.clone(), finding, &flags))[0]
    };
    assert_eq!(differing("file", "b/a.sol".into()), 0);
    assert_eq!(differing("category", "other".into()), 0);
    assert_eq!(differing("cwe", json!([1])), 0);
    assert_eq!(differing("rule_id", "T".into()), 0);
    assert_eq!(differing("file", "./a.sol".into()), 1);
}

#[test]
fn descriptions_without_locations_are_matched_by_text() {
    let case = json!({ "id": "c", "issues": [
        { "id": "race", "description": "The counter is read and written without holding the mutex, so increments are lost." },
        { "id": "leak", "description": "The file handle stays open when parsing fails." },
    ] });
    let findings = json!([
        { "id": "f1", "message": "If parsing fails the file handle stays open" },
        { "id": "f2", "message": "Increments can be lost because the counter is written without the mutex" },
        { "id": "f3", "message": "Rename this variable" },
    ]);
    insta::assert_snapshot!(outcomes(&score_one(case, findings, "")), @r"
    match race f2
    match leak f1
    extra f3: no golden is similar to it
    ");
}

#[test]
fn beta_sets_f_beta() {
    let case = json!({ "id": "c", "issues": [{ "id": "g", "title": "x", "file": "a.py", "keywords": ["k"] }, { "id": "h", "title": "y", "file": "q/b.py", "keywords": ["m"] }] });
    let report = score_one(
        case,
        json!([{ "id": "f", "message": "k", "file": "a.py" }, { "id": "e", "message": "z", "file": "zz" }, { "id": "d", "message": "z", "file": "zy" }]),
        "--set beta=3",
    );
    assert_eq!(counts(&report), [1, 2, 1]);
    near(&report, "/profile/beta", 3.0);
    near(&report, "/tools/0/metrics/f1/value", 2.0 / (2.0 + 2.0 + 1.0));
    near(&report, "/tools/0/metrics/f2/value", 5.0 / (5.0 + 4.0 + 2.0));
    near(&report, "/tools/0/metrics/f_beta/value", 10.0 / (10.0 + 9.0 + 2.0));
}

#[test]
fn profile_list_and_show() {
    let project = crate::project::Project::new();
    insta::assert_snapshot!("profile_list", project.ok("profile list"));
    let shown = project.ok("profile show crb --set threshold=0.5");
    project.write("again.toml", shown);
    let again = project.json("profile show again.toml --json");
    near(&again, "/threshold", 0.5);
    assert_eq!(again, project.json("profile show crb --set threshold=0.5 --json"));
    for (name, judge) in
        [("karat", "local"), ("crb", "none"), ("identity", "none"), ("owasp", "none"), ("recorded", "none")]
    {
        let profile = project.json(&format!("profile show {name} --json"));
        assert_eq!(
            (&profile["judge"], &profile["judge_by_variable"]),
            (&judge.into(), &(name == "crb").into()),
            "{name}"
        );
    }
}
