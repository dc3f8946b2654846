//! True positives, false positives and misses, checked against values computed by hand.

use super::{counts, first_trial, outcomes, score_one};
use crate::project::{Project, lines, near, suite, trial};
use serde_json::{Value, json};

#[test]
fn published_formula_gives_hand_computed_values() {
    let case = json!({ "id": "c", "issues": [{
        "id": "g", "title": "SQL injection", "file": "src/routes/users.ts", "line_start": 12, "line_end": 15,
        "keywords": ["sql injection", "parameterized", "sanitize", "interpolation"],
    }] });
    let finding = json!([{ "id": "f", "message": "SQL injection through string interpolation",
                           "file": "src\\routes\\users.ts", "line_start": 18 }]);
    let report = score_one(case, finding, "--profile crb");
    near(first_trial(&report), "/matches/0/parts/file", 1.0);
    near(first_trial(&report), "/matches/0/parts/line", 0.55);
    near(first_trial(&report), "/matches/0/parts/keyword", 0.5);
    near(first_trial(&report), "/matches/0/score", 0.4 * 1.0 + 0.2 * 0.55 + 0.4 * 0.5);
    near(first_trial(&report), "/matches/0/score", 0.71);
}

/// The parts of a pair's score under `crb`, as `file line keyword`.
fn parts(golden: Value, finding: Value) -> String {
    let mut golden = golden;
    golden["id"] = "g".into();
    golden["title"] = "A title of words".into();
    let mut finding = finding;
    finding["id"] = "f".into();
    if finding["message"].is_null() {
        finding["message"] = "nothing to see".into();
    }
    let report =
        score_one(json!({ "id": "c", "issues": [golden] }), json!([finding]), "--profile crb --set threshold=0");
    let parts = &first_trial(&report)["matches"][0]["parts"];
    let part = |key: &str| format!("{:.3}", parts[key].as_f64().unwrap_or(f64::NAN));
    ["file", "line", "keyword"].map(part).join(" ")
}

#[test]
fn steps_of_the_crb_score() {
    let place = |file: &str, start: u32, end: u32| json!({ "file": file, "line_start": start, "line_end": end });
    let check = |golden: Value, finding: Value, expected: &str| {
        assert_eq!(parts(golden.clone(), finding.clone()), expected, "{golden} {finding}")
    };
    check(place("a/x.py", 10, 12), place("./a//x.py", 12, 30), "1.000 1.000 0.000");
    check(place("a/x.py", 10, 12), place("b/x.py", 13, 13), "0.800 0.850 0.000");
    check(place("a/x.py", 10, 12), place("a/y.py", 17, 18), "0.300 0.250 0.000");
    check(place("a/x.py", 10, 12), place("b/y.py", 18, 18), "0.000 0.000 0.000");
    check(place("a/x.py", 10, 12), place("a/x.py", 1, 9), "1.000 0.850 0.000");
    check(place("a/x.py", 10, 12), json!({ "file": "a/x.py" }), "1.000 0.000 0.000");
    check(json!({ "file": "A/x.py" }), json!({ "file": "a/x.py" }), "0.800 0.000 0.000");
    check(json!({ "keywords": ["Null", "crash"] }), json!({ "message": "a NULL here" }), "0.000 0.000 0.500");
    check(json!({ "keywords": ["B608"] }), json!({ "rule_id": "b608" }), "0.000 0.000 1.000");
    check(json!({ "keywords": ["sqli"] }), json!({ "category": "SQLi" }), "0.000 0.000 1.000");
    check(json!({ "keywords": ["x.py"] }), json!({ "file": "x.py" }), "0.000 0.000 0.000");
}

/// The published benchmark's program scales a partial path match; its documentation does not.
#[test]
fn partial_path_score_is_fixed_or_scaled() {
    let case =
        json!({ "id": "c", "issues": [{ "id": "g", "title": "x", "file": "src/web/a.py", "keywords": ["boom"] }] });
    let findings = json!([{ "id": "f", "message": "boom", "file": "src/web/deep/b.py", "line_start": 3 }]);
    let file = |flags: &str| {
        let report = score_one(case.clone(), findings.clone(), &format!("--profile crb {flags}"));
        first_trial(&report)["matches"][0]["parts"]["file"].as_f64().unwrap()
    };
    assert_eq!((file(""), file("--set partial_path=fixed")), (0.3, 0.3));
    // Two components in common; the longer path has four.
    assert!((file("--set partial_path=scaled") - 0.3 * 2.0 / 4.0).abs() < 1e-12);
    let project = Project::new();
    project.run("profile show crb --set partial_path=half").expect_error(2, &["partial_path"]);
    assert!(project.ok("profile show crb").contains("partial_path = \"fixed\"\n"));
}

#[test]
fn parts_missing_from_a_golden_do_not_count_in_karat() {
    let case = json!({ "id": "c", "issues": [{ "id": "g", "title": "x", "file": "a.py", "keywords": ["boom"] }] });
    let finding = json!([{ "id": "f", "message": "boom", "file": "a.py", "line_start": 3 }]);
    let report = score_one(case.clone(), finding.clone(), "--judge none");
    near(first_trial(&report), "/matches/0/score", 1.0);
    assert!(first_trial(&report)["matches"][0]["parts"].get("line").is_none_or(Value::is_null));
    near(first_trial(&score_one(case, finding, "--profile crb")), "/matches/0/score", 0.8);
}

/// A case with a golden reported twice, an acceptable golden and a trap, and the findings.
fn case_with_all_kinds() -> (Value, Value) {
    let golden = |id: &str, acceptance: &str| json!({ "id": id, "title": format!("Issue {id}"), "file": format!("{id}.py"), "line_start": 1, "keywords": [id], "acceptance": acceptance });
    let case = json!({ "id": "c", "issues": [golden("real", "required"), golden("nice", "acceptable"), golden("bait", "trap")] });
    let finding =
        |id: &str, word: &str| json!({ "id": id, "message": word, "file": format!("{word}.py"), "line_start": 1 });
    let findings = json!([
        finding("f1", "real"),
        finding("f2", "real"),
        finding("f3", "nice"),
        finding("f4", "bait"),
        finding("f5", "other")
    ]);
    (case, findings)
}

#[test]
fn duplicates_acceptable_goldens_and_traps() {
    let (case, findings) = case_with_all_kinds();
    let karat = score_one(case.clone(), findings.clone(), "");
    insta::assert_snapshot!(outcomes(&karat), @r"
    match real f1
    acceptable nice f3
    duplicate real f2
    extra f4: it reports a known false alarm, bait
    extra f5: no golden is similar to it
    ");
    assert_eq!(first_trial(&karat)["extras"][0]["flags"], json!(["trap"]));
    assert_eq!(counts(&karat), [1, 2, 0]);
    near(&karat, "/tools/0/metrics/precision/value", 1.0 / 3.0);
    // As published: precision is over all findings.
    let crb = score_one(case, findings, "--profile crb");
    assert_eq!(counts(&crb), [1, 4, 0]);
    near(&crb, "/tools/0/metrics/precision/value", 0.2);
}

#[test]
fn case_without_required_goldens_is_clean() {
    let case = json!({ "id": "c", "issues": [{ "id": "nice", "title": "True but trifling", "file": "a.py", "acceptance": "acceptable" }] });
    let report = score_one(case.clone(), json!([{ "id": "f", "message": "true but trifling", "file": "a.py" }]), "");
    near(&report, "/tools/0/metrics/clean_pass/value", 1.0);
    assert_eq!(report["tools"][0]["metrics"]["recall"]["value"], Value::Null);
    let report = score_one(case, json!([{ "id": "f", "message": "wrong", "file": "b.py" }]), "");
    near(&report, "/tools/0/metrics/clean_pass/value", 0.0);
    assert_eq!(counts(&report), [0, 1, 0]);
}

/// One case with a golden that is found, and one clean case with a false positive.
fn project_with_clean_case() -> Project {
    let issues = json!([{ "id": "g", "title": "A thing is wrong", "file": "a.py", "keywords": ["thing"] }]);
    suite(&[json!({ "id": "c", "issues": issues }), json!({ "id": "clean" })]).with(
        "s.jsonl",
        lines(&[
            trial("c", "t", 1, json!([{ "id": "f", "message": "thing", "file": "a.py" }])),
            trial("clean", "t", 1, json!([{ "id": "f", "message": "thing", "file": "a.py" }])),
        ]),
    )
}

#[test]
fn clean_cases_count_in_micro_averages_only() {
    let project = project_with_clean_case();
    for profile in ["karat", "crb"] {
        let report = project.json(&format!("score . --json --submission s.jsonl --profile {profile}"));
        near(&report, "/tools/0/metrics/precision/value", 1.0);
        near(&report, "/tools/0/metrics/precision/n", 1.0);
        near(&report, "/tools/0/micro/precision/value", 0.5);
        near(&report, "/tools/0/metrics/clean_pass/value", 0.0);
        assert_eq!(report["tools"][0]["cases"][1]["metrics"]["precision"]["undefined"], "no required golden");
    }
}

#[test]
fn undefined_is_a_dash_in_karat_and_zero_in_crb() {
    let case = json!({ "id": "c", "issues": [{ "id": "g", "title": "A thing is wrong", "file": "a.py" }] });
    let karat = score_one(case.clone(), json!([]), "");
    assert_eq!(karat["tools"][0]["metrics"]["precision"]["value"], Value::Null);
    assert_eq!(karat["tools"][0]["metrics"]["precision"]["undefined"], "no countable findings");
    near(&karat, "/tools/0/metrics/recall/value", 0.0);
    let crb = score_one(case.clone(), json!([]), "--profile crb");
    near(&crb, "/tools/0/metrics/precision/value", 0.0);
    let project = suite(&[case]).with("s.jsonl", lines(&[trial("c", "t", 1, json!([]))]));
    let table = project.ok("score . --submission s.jsonl");
    let row: Vec<&str> =
        table.lines().find(|line| line.trim_start().starts_with("t ")).unwrap().split_whitespace().collect();
    assert_eq!(row[..4], ["t", "0.000", "–", "0.000"], "F1, precision, recall: {table}");
    let markdown = project.ok("score . --submission s.jsonl --format markdown");
    assert!(markdown.contains("| t | – | 0.000 ("), "{markdown}");
}

#[test]
fn exact_assignment_finds_more_than_greedy() {
    // f1 matches both goldens, a better than b; f2 matches only a.
    let case = json!({ "id": "c", "issues": [
        { "id": "a", "title": "x", "file": "m.py", "line_start": 10, "keywords": ["alpha", "beta"] },
        { "id": "b", "title": "x", "file": "m.py", "line_start": 20, "keywords": ["alpha", "gamma"] },
    ] });
    let findings = json!([
        { "id": "f1", "message": "alpha beta", "file": "m.py", "line_start": 10 },
        { "id": "f2", "message": "alpha beta", "file": "m.py", "line_start": 11 },
    ]);
    let flags = "--judge none --set threshold=0.55 --set assignment=";
    assert_eq!(counts(&score_one(case.clone(), findings.clone(), &format!("{flags}greedy"))), [2, 0, 0]);
    let findings = json!([
        { "id": "f1", "message": "alpha beta", "file": "m.py", "line_start": 15 },
        { "id": "f2", "message": "beta", "file": "m.py", "line_start": 10 },
    ]);
    // Greedy assigns a to f1; f2 matches nothing else, and b is missed.
    let greedy = score_one(case.clone(), findings.clone(), &format!("{flags}greedy"));
    let exact = score_one(case, findings, &format!("{flags}exact"));
    assert_eq!(
        (counts(&greedy), counts(&exact)),
        ([1, 0, 1], [2, 0, 0]),
        "{}\n\n{}",
        outcomes(&greedy),
        outcomes(&exact)
    );
}

/// The change touches line 2 of three; one finding is on line 3.
#[test]
fn findings_outside_the_change_are_flagged() {
    let issues = "id: c\nissues:\n  - id: g\n    title: Line two is wrong\n    file: a.py\n    line_start: 2\n    keywords: [two]\n";
    let project = Project::new()
        .with("karat.toml", "[suite]\nname = \"s\"\n")
        .with("cases/c/case.yaml", issues)
        .with("cases/c/before/a.py", "one\nwas\nthree\n")
        .with("cases/c/after/a.py", "one\ntwo\nthree\n");
    let outside = json!({ "id": "f2", "message": "elsewhere", "file": "zz.py", "line_start": 3 });
    let inside = json!({ "id": "f1", "message": "two", "file": "a.py", "line_start": 2 });
    project.write("s.jsonl", lines(&[trial("c", "t", 1, json!([inside, outside]))]));
    for flags in ["--count-untouched", "--set outside_change=count", "--set outside_change=keep", "--profile crb"] {
        let report = project.json(&format!("score . --json --submission s.jsonl {flags}"));
        assert_eq!(first_trial(&report)["extras"][0]["flags"], json!(["outside_change"]));
        assert_eq!(first_trial(&report)["matches"][0]["flags"], json!([]));
        assert_eq!(counts(&report), [1, 1, 0], "{flags}");
        assert_eq!(report["tools"][0]["untouched_extras"], Value::Null);
    }
    let report = project.json("score . --json --submission s.jsonl");
    assert_eq!(first_trial(&report)["extras"][0]["flags"], json!(["outside_change"]));
    assert_eq!(first_trial(&report)["extras"][0]["left_out"], json!(true));
    assert_eq!(counts(&report), [1, 0, 0]);
    let tool = &report["tools"][0];
    assert_eq!((&tool["extras"], &tool["untouched_extras"]), (&json!(1), &json!(1)));
    assert_eq!(tool["cases"][0]["untouched_extras"], 1);
    assert_eq!(first_trial(&report)["untouched_extras"], 1);
    let said = "1 of 1 extras of t are on lines the change did not touch";
    for format in ["table", "markdown", "html"] {
        let text = project.ok(&format!("score . --submission s.jsonl --format {format} -v"));
        assert!(text.contains(said), "{format}:\n{text}");
        let text = project.ok(&format!("score . --submission s.jsonl --format {format} -v --count-untouched"));
        assert!(!text.contains(said), "{format}:\n{text}");
    }
    let explained = project.ok("explain c --suite . --submission s.jsonl");
    assert!(explained.contains("on lines the change did not touch; not counted"), "{explained}");
    assert!(explained.contains("0 false, 1 not counted"), "{explained}");
    let explained = project.ok("explain c --suite . --submission s.jsonl --count-untouched");
    assert!(explained.contains("on lines the change did not touch\n"), "{explained}");
}

/// Which of the findings of a case on a clean change are counted, as `file:line` or `file`.
#[test]
fn touched_lines_follow_removals_renames_and_new_files() {
    let project = Project::new()
        .with("karat.toml", "[suite]\nname = \"s\"\n")
        .with("cases/c/case.yaml", "id: c\nissues: []\n")
        .with("cases/c/before/cut.py", "a\nb\nc\nd\ne\n")
        .with("cases/c/after/cut.py", "a\nb\nd\ne\n")
        .with("cases/c/before/old/name.py", "one\ntwo\nthree\nfour\n")
        .with("cases/c/after/new/name.py", "one\ntwo\n3\nfour\n")
        .with("cases/c/before/moved.py", "x\ny\n")
        .with("cases/c/after/sub/moved.py", "x\ny\n")
        .with("cases/c/before/gone.py", "alone\n")
        .with("cases/c/before/emptied.py", "something\n")
        .with("cases/c/after/emptied.py", "")
        .with("cases/c/after/added.py", "p\nq\n")
        .with("cases/c/before/same.py", "k\n")
        .with("cases/c/after/same.py", "k\n");
    let places = [
        ("cut.py", Some(1), false),
        ("cut.py", Some(2), true),
        ("cut.py", Some(3), true),
        ("cut.py", Some(4), false),
        ("cut.py", None, true),
        ("new/name.py", Some(2), false),
        ("new/name.py", Some(3), true),
        ("sub/moved.py", Some(1), false),
        ("gone.py", Some(1), true),
        ("emptied.py", Some(1), true),
        ("added.py", Some(2), true),
        ("same.py", Some(1), false),
        ("same.py", None, false),
        ("elsewhere.py", Some(1), false),
    ];
    let findings = places.iter().enumerate().map(|(at, (file, line, _))| {
        let mut finding = json!({ "id": format!("f{at}"), "message": format!("remark {at}"), "file": file });
        if let Some(line) = line {
            finding["line_start"] = json!(line);
        }
        finding
    });
    project.write("s.jsonl", lines(&[trial("c", "t", 1, findings.collect())]));
    let report = project.json("score . --json --submission s.jsonl");
    let extras = first_trial(&report)["extras"].as_array().unwrap();
    let counted = |id: &str| extras.iter().any(|extra| extra["finding"] == id && extra["left_out"] != true);
    for (at, (file, line, expect)) in places.iter().enumerate() {
        assert_eq!(counted(&format!("f{at}")), *expect, "{file}:{line:?}");
    }
    let expected = places.iter().filter(|(.., counts)| *counts).count() as u64;
    assert_eq!(counts(&report), [0, expected, 0]);
}
