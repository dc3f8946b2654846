//! Regressions that must not happen: lost or duplicated numbers, files read outside the suite, suites broken by our
//! own commands.

use crate::project::{Project, fixture, lines, suite, trial};
use serde_json::{Value, json};

fn case(id: &str, issues: Value) -> Value {
    json!({ "id": id, "issues": issues })
}

#[test]
fn suite_cannot_read_a_profile_outside_itself() {
    let project = Project::new()
        .with("secret.toml", "threshold = 0.9\n")
        .with("inner/karat.toml", "[suite]\nname = \"s\"\n[scoring]\nprofile = \"../secret.toml\"\n")
        .with("inner/cases.jsonl", lines(&[case("a", json!([]))]));
    let ran = project.run("check inner").expect(4);
    let expected = ["unknown profile `../secret.toml`", "inner/karat.toml:4:11"];
    assert!(expected.iter().all(|text| ran.out.contains(text)), "{}", ran.out);
    // The user may name any file, and a suite may name its own.
    project.run("check inner --profile secret.toml").expect(0);
    project.write("inner/own.toml", "threshold = 0.9\n");
    project.write("inner/karat.toml", "[suite]\nname = \"s\"\n[scoring]\nprofile = \"own.toml\"\n");
    assert!(project.ok("check inner").contains("profile own"));
}

#[test]
fn profile_faults_are_reported_with_all_others() {
    let project = Project::new()
        .with("karat.toml", "[suite]\nname = \"s\"\nkidn = \"findings\"\n[scoring.override]\ntreshold = 0.5\n")
        .with("cases.jsonl", lines(&[case("../a", json!([]))]));
    let faults = project.run("check . --json").expect(4).out;
    let faults: Vec<Value> = serde_json::from_str(&faults).unwrap();
    let codes: Vec<String> =
        faults.iter().map(|f| format!("{} {}:{}", f["code"].as_str().unwrap(), f["line"], f["column"])).collect();
    assert_eq!(codes, ["bad-id 1:7", "unknown-key 3:1", "bad-profile 5:12"]);
}

#[test]
fn unwritable_output_file_does_not_lose_the_result() {
    let project = Project::new();
    let ran = project
        .run("score starter -o /proc/no/such/r.json")
        .expect_error(5, &["/proc/no/such/r.json cannot be written"]);
    assert!(ran.out.contains("careful-reviewer"), "{}", ran.out);
}

#[test]
fn standard_input_is_read_once() {
    let project = Project::new();
    project
        .run("score starter --submission - --submission -")
        .expect_error(2, &["standard input can be read only once"]);
    project.write("empty.jsonl", "");
    project.run("score starter --submission empty.jsonl").expect_error(4, &["contain no trials"]);
}

#[test]
fn import_errors_are_reported_when_scoring_the_submission() {
    let project = suite(&[case("a", json!([{ "id": "g", "title": "x y z" }]))]);
    let scan = r#"{"errors":[{"filename":"broken.py","reason":"syntax error while parsing AST"}],"results":[]}"#;
    project.write("bandit.json", scan);
    project.run("import --from bandit --case a bandit.json -o s.jsonl").expect_error(0, &["incomplete: broken.py"]);
    let report = project.json("score . --submission s.jsonl --json");
    let expected = [
        "bandit: 1 trial is incomplete, according to the tool",
        "bandit: a trial 1: incomplete: broken.py: syntax error while parsing AST",
    ];
    assert_eq!(report["warnings"], json!(expected));
    assert_eq!(report["tools"][0]["incomplete"], json!(1));
}

#[test]
fn scan_without_results_is_not_an_empty_report() {
    let project = suite(&[case("a", json!([{ "id": "g", "title": "x y z" }]))]);
    project.write("s.sarif", r#"{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"solo"}},"results":null}]}"#);
    let report = project.json("score . --submission s.sarif --json");
    assert_eq!(report["tools"][0]["outcomes"]["unparsable"], json!(1));
}

#[test]
fn audits_are_decided_by_majority_and_ties_are_reported() {
    let project = suite(&[json!({ "id": "a", "verdict": "vulnerable" })]);
    project.write("s.jsonl", lines(&[trial("a", "t", 1, json!([]))]));
    let audit = |judge: &str, vulnerable: bool| json!({ "case": "a", "tool": "t", "trial": 1, "judge": judge, "kind": "audit", "said_vulnerable": vulnerable });
    let accuracy = |audits: &[Value]| {
        project.write("j.jsonl", lines(audits));
        let report = project.json("score . --submission s.jsonl --judgements j.jsonl --json");
        (report["tools"][0]["metrics"]["accuracy"]["value"].clone(), report["warnings"].to_string())
    };
    assert_eq!(accuracy(&[audit("m", false), audit("n", true), audit("o", true)]).0, json!(1.0));
    assert_eq!(accuracy(&[audit("m", true), audit("n", true), audit("human:ann", false)]).0, json!(0.0));
    let (_, warnings) = accuracy(&[audit("m", true), audit("n", false)]);
    assert!(warnings.contains("are evenly split"), "{warnings}");
}

#[test]
fn each_judge_votes_once() {
    let project = suite(&[case("a", json!([{ "id": "g", "title": "x y z" }]))]);
    let finding = json!([{ "id": "f", "title": "q" }]);
    project.write("s.jsonl", lines(&[trial("a", "t", 1, finding)]));
    let vote = json!({ "case": "a", "tool": "t", "trial": 1, "judge": "m", "kind": "pair", "golden": "g", "finding": "f", "match": true });
    project.write("j.jsonl", lines(&[vote.clone(), vote]));
    project
        .run("score . --submission s.jsonl --judgements j.jsonl")
        .expect_error(4, &["duplicate-judgement", "j.jsonl:2", "j.jsonl:1"]);
}

#[test]
fn duplicate_trial_in_two_files_is_refused() {
    let project = suite(&[case("a", json!([{ "id": "g", "title": "x y z", "file": "a.py" }]))]);
    let bandit = fixture("bandit/report.json");
    let ran = project.run_list(&["score", ".", "--from", "bandit", "--case", "a", "--submission", &bandit, &bandit]);
    assert!(matches!(ran.code, Some(0)), "an import of two files is one trial: {}", ran.err);
    let own = lines(&[trial("a", "solo", 1, json!([]))]);
    project.write("s.jsonl", own);
    let sarif = r#"{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"solo"}},"results":[]}]}"#;
    project.write("s.sarif", sarif);
    project.run("score . --submission s.jsonl s.sarif").expect_error(4, &["trial 1 of solo on a appears twice"]);
}

#[test]
fn inconsistent_report_is_refused() {
    let project = Project::new();
    let mut report = project.json("score starter --json");
    report["tools"][0]["cases"].as_array_mut().unwrap().pop();
    project.write("r.json", report.to_string());
    project.run("report r.json").expect_error(4, &["are not those of the report"]);
    // Every reader of reports refuses values that scoring cannot produce, with their location.
    project.ok("score starter --json -o good.json");
    let check = |pointer: &str, value: serde_json::Value, expect: &[&str]| {
        let mut report = project.json("score starter --json");
        *report.pointer_mut(pointer).unwrap() = value;
        project.write("r.json", report.to_string());
        let all: Vec<&str> = [&["r.json has", "help: make the file again"][..], expect].concat();
        for line in
            ["report r.json", "compare good.json r.json", "gate r.json --min f1=0.1", "baseline write r.json -o b.json"]
        {
            project.run(line).expect_error(4, &all);
        }
    };
    check(
        "/tools/0/metrics/f1/value",
        json!(7.5),
        &["tools[0].metrics.f1.value: it is 7.5, and must lie between 0 and 1"],
    );
    check(
        "/tools/0/metrics/f1/value",
        json!(0.987),
        &["tools[0].metrics.f1.value", "the cases of the file come to", "a difference of"],
    );
    check(
        "/tools/0/metrics/f1/ci",
        json!([0.9, 0.1]),
        &["tools[0].metrics.f1.ci: the interval 0.9 … 0.1 is upside down"],
    );
    check("/tools/0/metrics/f1/n", json!(9999), &["tools[0].metrics.f1.n: it is 9999, and there are"]);
    check("/tools/0/counts/tp", json!(9999), &["tools[0].counts.tp: it is 9999, and the trials come to"]);
    check("/tools/0/cases/0/trials/0/tp", json!(77), &["tools[0].cases[0].trials[0].tp: it is 77", "required golden"]);
    check(
        "/tools/1/tool",
        project.json("score starter --json")["tools"][0]["tool"].clone(),
        &["tools[1]", "stands twice"],
    );
    check("/suite/cases", json!(1), &["suite.cases: it is 1"]);
    project.run("gate good.json --min f1=0.99 --digest blake3:12").expect_error(2, &["64 hexadecimal digits"]);
    let gate = project.run("gate good.json --max f1=1 --allow-small-n --json");
    let digest = serde_json::from_str::<serde_json::Value>(&gate.out).unwrap()["digest"].as_str().unwrap().to_owned();
    assert_eq!(
        digest,
        format!("blake3:{}", karat_io::content_hash(&std::fs::read(project.path("good.json")).unwrap()))
    );
    let pinned = project.run(&format!("gate good.json --max f1=1 --allow-small-n --digest {digest}"));
    assert_eq!(pinned.code, gate.code, "{}", pinned.err);
    project.write("good.json", project.read("good.json") + "\n");
    let line = format!("gate good.json --max f1=1 --allow-small-n --digest {digest}");
    project.run(&line).expect_error(4, &["good.json has the digest blake3:", "it is not the pinned file"]);
    // An unknown profile value is no reason to refuse a report.
    let mut report = project.json("score starter --json");
    report["profile"]["a_later_value"] = json!(7);
    project.write("r.json", report.to_string());
    project.run("report r.json").expect(0);
}

#[test]
fn overflowing_sums_stay_finite() {
    let project = suite(&[case("a", json!([]))]);
    let expensive = |number: u32| {
        let mut line = trial("a", "t", number, json!([]));
        line["tokens_in"] = json!(u64::MAX);
        line["cost_usd"] = json!(1e308);
        line
    };
    project.write("s.jsonl", lines(&[expensive(1), expensive(2)]));
    let report = project.json("score . --submission s.jsonl --json");
    assert_eq!(report["measured"]["cost"]["t"]["tokens_in"], json!(u64::MAX));
    assert_eq!(report["measured"]["cost"]["t"]["usd"], json!(f64::MAX));
}

#[test]
fn imported_tool_can_be_renamed_and_explained() {
    let project = suite(&[case("a", json!([{ "id": "g", "title": "x y z", "file": "a.py" }]))]);
    let scan = fixture("bandit/report.json");
    let with = |verb: &'static [&'static str]| {
        let mut all: Vec<&str> = verb.to_vec();
        all.extend(["--submission", &scan, "--from", "bandit", "--case", "a", "--tool", "mine"]);
        project.run_list(&all).expect(0).out
    };
    assert!(with(&["score", "."]).contains("mine"));
    assert!(with(&["explain", "a"]).contains("a · mine · trial 1"));
}

#[test]
fn expectations_are_matched_like_in_scoring() {
    let issues = json!([
        { "id": "glob", "title": "anywhere", "identity_key": "v2|src/**|r|lines:3-3" },
        { "id": "by-rule", "title": "by file and rule", "file": "src/b.py", "rule_id": "q" },
        { "id": "no-alarm", "title": "known false alarm", "file": "src/a.py", "rule_id": "t", "line_start": 9, "acceptance": "trap" },
        { "id": "gone", "title": "was there once", "file": "src/a.py", "rule_id": "r", "line_start": 70 },
    ]);
    let project = suite(&[case("a", issues)]);
    let at = |id: &str, file: &str, rule: &str, line: u32| json!({ "id": id, "file": file, "rule_id": rule, "line_start": line });
    let found = json!([at("f1", "src/x/a.py", "r", 3), at("f2", "src/b.py", "q", 5), at("f3", "src/a.py", "---", 8)]);
    project.write("s.jsonl", lines(&[trial("a", "t", 1, found)]));
    let summary = project.json("expect --from s.jsonl --suite . --prune -o new.jsonl --json");
    assert_eq!(summary["kept"], json!(2));
    assert_eq!(summary["not_met"], json!(["a: v2|src/a.py|r|lines:70-70"]));
    assert_eq!(summary["added"], json!(["a: v2|src/a.py|---|lines:8-8"]));
    let case: Value = serde_json::from_str(&project.read("new.jsonl")).unwrap();
    let ids: Vec<&str> = case["issues"].as_array().unwrap().iter().map(|i| i["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["glob", "by-rule", "no-alarm", "finding-8"]);
}

#[test]
fn expectations_are_updated_by_the_rules_of_the_suite() {
    let key = |k: &str| json!({ "id": "g", "title": "x y z", "identity_key": k });
    let at = |id: &str, line: u32| json!({ "id": id, "file": "a.py", "rule_id": "r", "line_start": line });
    let project = Project::new()
        .with("karat.toml", "[suite]\nname = \"s\"\n[scoring]\nprofile = \"identity\"\n[scoring.override.identity]\nchunk_anchors = true\n")
        .with("cases/sym/case.yaml", json!({ "id": "sym", "issues": [key("v3|a.py|r|symbol:f#1")] }).to_string())
        .with("cases/sym/after/a.py", "def f():\n    return 1\n")
        .with("cases/chunk/case.yaml", json!({ "id": "chunk", "issues": [key("v2|a.py|r|chunk:2")] }).to_string())
        .with("cases/trap/case.yaml", json!({ "id": "trap", "issues": [{ "id": "g", "title": "x y z", "file": "a.py", "rule_id": "r", "line_start": 3, "acceptance": "trap" }] }).to_string());
    let chunk = json!([{ "id": "f", "file": "a.py", "rule_id": "r", "chunk": 2 }]);
    let scan = [
        trial("sym", "t", 1, json!([at("f", 2)])),
        trial("chunk", "t", 1, chunk),
        trial("trap", "t", 1, json!([at("f1", 3), at("f2", 3)])),
    ];
    project.write("s.jsonl", lines(&scan));
    let summary = project.json("expect --from s.jsonl --suite . -o new.jsonl --json");
    assert_eq!((&summary["added"], &summary["not_met"], &summary["kept"]), (&json!([]), &json!([]), &json!(3)));
}

#[test]
fn invalid_cases_are_not_written() {
    let project = Project::new();
    let spec =
        json!([{ "id": "a", "expected": [{ "filepath": "../../etc/passwd", "expectation": "x y z", "ruleId": "r" }] }]);
    project.write("spec.json", spec.to_string());
    project
        .run("import --from eval-spec spec.json -o out")
        .expect_error(4, &["invalid cases", "leaves the case folder"]);
    assert!(!project.path("out").exists());
}
