//! Identity keys, the identity profile, `karat expect` and `karat drift`.

mod drift;
mod expect;
mod shipped_suite;

use crate::project::{CommandOutput, Project, fixture, lines, suite, trial};
use serde_json::{Value, json};

#[test]
fn key_normalizes_path_and_rule() {
    let finding = json!([{ "id": "f1", "rule_id": " ANON_KEY_BEARER ", "line_start": 26, "line_end": 33,
                           "file": "./cases\\supabase-baseline/frontend//utils/api.ts" }]);
    let project = Project::new().with("s.jsonl", lines(&[trial("c", "t", 1, finding)]));
    assert_eq!(
        project.ok("key s.jsonl"),
        "c\tt\t1\tf1\tv2|cases/supabase-baseline/frontend/utils/api.ts|anon_key_bearer|lines:26-33\n"
    );
}

/// The key that `karat key` prints for one finding.
fn print_key(finding: Value, flags: &[&str]) -> String {
    let mut finding = finding;
    finding["id"] = "f".into();
    finding["title"] = "x".into();
    let project = Project::new().with("s.jsonl", lines(&[trial("c", "t", 1, json!([finding]))]));
    let ran = project.run_list(&[&["key", "s.jsonl"], flags].concat()).expect(0);
    let fields: Vec<&str> = ran.out.strip_suffix('\n').unwrap().split('\t').collect();
    assert_eq!(fields.len(), 5, "{}", ran.out);
    fields[4].to_owned()
}

#[test]
fn key_parts() {
    let check = |finding: Value, expected: &str| assert_eq!(print_key(finding.clone(), &[]), expected, "{finding}");
    check(json!({ "file": "a", "rule_id": "R", "line_start": 3 }), "v2|a|r|lines:3-3");
    check(json!({ "file": "a", "rule_id": "R", "line_end": 3 }), "v2|a|r|lines:3-3");
    check(json!({ "file": "a", "rule_id": "R", "line_start": 3, "line_end": 1 }), "v2|a|r|lines:3-3");
    check(json!({ "file": "a", "rule_id": "R", "line_start": 3, "anchor": "n:1" }), "v2|a|r|anchor:n:1");
    check(json!({ "file": "a|b", "rule_id": "R|S", "anchor": "x|y" }), "v2|a/b|r/s|anchor:x/y");
    check(json!({ "file": "a", "rule_id": "R", "chunk": 0 }), "v2|a|r|chunk:0");
    check(json!({ "file": "a", "rule_id": "R", "chunk_start": 1, "chunk_end": 9 }), "v2|a|r|chunklines:1-9");
    check(json!({ "file": "/./a", "rule_id": "R", "line_start": 1 }), "v2|a|r|lines:1-1");
    check(json!({ "file": "A.ts", "rule_id": "R", "line_start": 1 }), "v2|A.ts|r|lines:1-1");
    check(json!({ "file": "a", "rule_id": "R", "line_start": 1, "identity_key": "v2|own" }), "v2|own");
    // A missing part means no key.
    check(json!({ "file": "a", "rule_id": " ", "line_start": 1 }), "");
    check(json!({ "file": "a", "line_start": 1 }), "");
    check(json!({ "rule_id": "R", "line_start": 1 }), "");
    check(json!({ "file": "a", "rule_id": "R" }), "");
    let with_source = json!({ "file": "a", "rule_id": "R", "line_start": 1, "source": "llm" });
    assert_eq!(print_key(with_source, &["--set", "identity.include_source=true"]), "v2|a|r|lines:1-1|source:llm");
}

#[test]
fn findings_without_key_are_counted() {
    let findings = json!([{ "id": "a\tb", "rule_id": "r" }, { "id": "f2", "rule_id": "r", "file": "x", "line_start": 1, "identity_key": "v2|own" }]);
    let project = Project::new().with("s.jsonl", lines(&[trial("c", "t", 1, findings.clone())]));
    project.run("key s.jsonl").expect_error(4, &["bad-id"]);
    let findings = json!([{ "id": "f1", "rule_id": "r" }, findings[1]]);
    project.write("s.jsonl", lines(&[trial("c", "t", 1, findings)]));
    let ran = project.run("key s.jsonl").expect_error(0, &["1 finding has no key", "1 finding has a key that differs"]);
    assert_eq!(ran.out, "c\tt\t1\tf1\t\nc\tt\t1\tf2\tv2|own\n");
    let lines: Vec<Value> =
        project.ok("key s.jsonl --json").lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(lines[1], json!({ "case": "c", "tool": "t", "trial": 1, "finding": "f2", "v2": "v2|own", "v3": null }));
}

const PYTHON: &str = "import os\n\nclass Orders:\n    def find(self, q):\n        return run(q)\n\n    def count(self):\n        return 0\n";

#[test]
fn symbol_keys_survive_moved_lines() {
    let finding = |line: u32| json!([{ "id": "f", "rule_id": "SQLI", "file": "shop/orders.py", "line_start": line }]);
    let project =
        Project::new().with("s.jsonl", lines(&[trial("c", "t", 1, finding(5))])).with("code/shop/orders.py", PYTHON);
    let before = project.ok("key s.jsonl --v3 --source code");
    assert_eq!(before, "c\tt\t1\tf\tv3|shop/orders.py|sqli|symbol:Orders.find#1\n");
    project.write("code/shop/orders.py", format!("# one more\n# and another\n{PYTHON}"));
    project.write("s.jsonl", lines(&[trial("c", "t", 1, finding(7))]));
    assert_eq!(project.ok("key s.jsonl --v3 --source code"), before);
    assert_ne!(project.ok("key s.jsonl"), "c\tt\t1\tf\tv2|shop/orders.py|sqli|lines:5-5\n");
    // `--source` accepts a suite.
    project.write("suite/cases/c/after/shop/orders.py", PYTHON);
    project.write("s.jsonl", lines(&[trial("c", "t", 1, finding(8))]));
    assert_eq!(
        project.ok("key s.jsonl --v3 --source suite"),
        "c\tt\t1\tf\tv3|shop/orders.py|sqli|symbol:Orders.count#1\n"
    );
    project.run("key s.jsonl --v3").expect_error(2, &["--source DIR"]);
    project.run("key s.jsonl --v3 --source nowhere").expect_error(4, &["nowhere"]);
}

#[test]
fn keys_are_written_to_and_read_from_sarif() {
    let project = Project::new();
    let full = fixture("sarif/full.sarif");
    project.run_list(&["key", "--sarif", &full, "-o", "keyed.sarif"]).expect_error(0, &["wrote keyed.sarif"]);
    let import = |file: &str| {
        let ran = project.run_list(&["import", "--from", "sarif", "--case", "c", file]).expect(0);
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    };
    let (plain, keyed) = (import(&full), import("keyed.sarif"));
    let findings =
        |trials: &[Value]| trials.iter().flat_map(|t| t["findings"].as_array().unwrap().clone()).collect::<Vec<_>>();
    let imported: Vec<String> =
        findings(&keyed).iter().map(|f| f["identity_key"].as_str().unwrap_or_default().to_owned()).collect();
    assert_eq!(imported.len(), findings(&plain).len());
    let shown = project.run("key keyed.sarif").expect(0).out;
    let mut shown: Vec<&str> = shown.lines().map(|line| line.rsplit('\t').next().unwrap()).collect();
    let mut sorted = imported.clone();
    sorted.sort();
    shown.sort_unstable();
    assert_eq!(sorted, shown);
    assert_eq!(imported[0], "v2|app/db layer.py|py/sql|lines:12-14");
    assert!(imported.iter().filter(|key| !key.is_empty()).count() >= 3, "{imported:?}");
    // Adding keys twice changes nothing, and a truncated file leaves no output.
    project.run("key --sarif keyed.sarif -o again.sarif").expect(0);
    assert_eq!(project.read("again.sarif"), project.read("keyed.sarif"));
    let cut = project.read("keyed.sarif");
    project.write("cut.sarif", &cut[..cut.len() / 2]);
    project.run("key --sarif cut.sarif -o none.sarif").expect_error(4, &["cut.sarif:"]);
    assert!(!project.path("none.sarif").exists());
}

/// The importer reads what was written, nothing else of the file changes, and what cannot be written to is left alone.
#[test]
fn keys_are_written_back_into_scans() {
    let project = Project::new();
    let scan = std::fs::read_to_string(fixture("scan-findings/scan.json")).unwrap();
    let stale = scan.replace("anchor:node:4:8", "lines:1-1");
    project.write("a.json", &stale);
    let finding = json!({ "summary": "Quota", "location": { "filepath": "b.ts", "startLine": 3 }, "details": { "ruleId": "Q" }, "x": 1.0 });
    let pretty = serde_json::to_string_pretty(&json!([finding])).unwrap();
    project.write("b.json", &pretty);
    let ran = project.run("key --write a.json b.json").expect(0);
    assert_eq!(ran.out, "");
    for text in ["wrote a.json (1 replaced, 4 without a key)", "wrote b.json (1 added)", "4 findings have no key"] {
        assert!(ran.err.contains(text), "{text}: {}", ran.err);
    }
    assert_eq!(project.read("a.json"), scan);
    let written = pretty.replace("\"Q\"\n", "\"Q\",\n      \"identityKeyV2\": \"v2|b.ts|q|lines:3-3\"\n");
    assert_eq!(project.read("b.json"), written);
    let imported = project.ok("import --from scan-findings --case c --tool t b.json");
    assert!(imported.contains(r#""identity_key":"v2|b.ts|q|lines:3-3""#), "{imported}");
    let again = project.json("key --write a.json b.json --json");
    assert_eq!(again[1], json!({ "file": "b.json", "added": 0, "replaced": 0, "kept": 1, "keyless": 0 }));
    assert_eq!(project.read("b.json"), written);

    // Printing and writing take the same files for scans.
    for scan in [pretty.clone(), json!([finding]).to_string(), json!({ "findings": [finding] }).to_string()] {
        project.write("d.json", &scan);
        assert_eq!(project.ok("key d.json"), "\t\t1\tf1\tv2|b.ts|q|lines:3-3\n", "{scan}");
        project.run("key --write d.json").expect_error(0, &["wrote d.json (1 added)"]);
    }
    let own = trial("c", "t", 1, json!([{ "id": "f", "file": "b.ts", "line_start": 3, "rule_id": "Q", "title": "x" }]));
    project.write("d.json", format!("\n{own}\n{}\n", trial("d", "t", 1, json!([]))));
    assert_eq!(project.ok("key d.json"), "c\tt\t1\tf\tv2|b.ts|q|lines:3-3\n");
    project.run("key --write missing.json").expect_error(4, &["missing.json"]);

    // One file that cannot be written to, and none is.
    project.write("c.json", &pretty);
    project.write("s.jsonl", lines(&[trial("c", "t", 1, json!([]))]));
    project.write("s.json", trial("c", "t", 1, json!([])).to_string());
    project.write("half.json", &pretty[..40]);
    project.write("scan.sarif", std::fs::read_to_string(fixture("sarif/full.sarif")).unwrap());
    for (file, code) in [("s.jsonl", 2), ("s.json", 2), ("scan.sarif", 2)] {
        let refused = project.run(&format!("key --write c.json {file}"));
        refused.expect_error(code, &[file, "keys are written into scan-findings", "karat key --sarif"]);
    }
    project.run("key --write c.json half.json").expect_error(4, &["half.json:"]);
    project.run("key --write c.json --from semgrep").expect_error(2, &["c.json: is semgrep"]);
    project.run("key --write c.json --v3").expect(2);
    assert_eq!(project.read("c.json"), pretty);
}

/// Scores one golden and one finding with the identity profile; returns the exit code and what decided the match.
fn score_identity(golden: Value, finding: Value, flags: &[&str]) -> (Option<i32>, String) {
    let (mut golden, mut finding) = (golden, finding);
    golden["id"] = "g".into();
    golden["title"] = "x".into();
    finding["id"] = "f".into();
    finding["title"] = "x".into();
    let project = suite(&[json!({ "id": "c", "issues": [golden] })])
        .with("s.jsonl", lines(&[trial("c", "t", 1, json!([finding]))]));
    let arguments = [&["score", ".", "--profile", "identity", "--json", "--submission", "s.jsonl"], flags].concat();
    let CommandOutput { code, out, err } = project.run_list(&arguments);
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{err}"));
    let by = &report["tools"][0]["cases"][0]["trials"][0]["matches"][0]["decided_by"];
    (code, by.as_str().unwrap_or("nothing").to_owned())
}

#[test]
fn identity_profile_matches_by_key_only() {
    let check = |golden: Value, finding: Value, expected: &str| {
        let (code, by) = score_identity(golden.clone(), finding.clone(), &[]);
        assert_eq!((by.as_str(), code), (expected, Some(i32::from(expected == "nothing"))), "{golden} {finding}");
    };
    let at = |file: &str, rule: &str, line: u32| json!({ "file": file, "rule_id": rule, "line_start": line });
    check(at("a.py", "R", 3), at("./a.py", " r", 3), "key");
    check(at("a.py", "R", 3), at("a.py", "R", 4), "nothing");
    check(at("src/**/*.py", "R", 3), at("src/x/y.py", "R", 3), "glob_key");
    check(at("src/*.py", "R", 3), at("src/x/y.py", "R", 3), "nothing");
    check(json!({ "file": "a.py", "rule_id": "R" }), at("a.py", "R", 9), "file_and_rule");
    check(json!({ "file": "a.py", "rule_id": "R", "rule_aliases": ["S"] }), at("a.py", "s", 9), "file_and_rule");
    check(json!({ "identity_key": "v2|a.py|r|lines:3-3" }), at("a.py", "R", 3), "key");
    let merged = json!({ "file": "a.py", "rule_id": "Q", "line_start": 1, "merged": [{ "rule_id": "R", "line_start": 3, "line_end": 3 }] });
    check(at("a.py", "R", 3), merged, "key");
    let chunk = json!({ "file": "a.py", "rule_id": "R", "chunk": 2 });
    let expected = json!({ "identity_key": "v2|a.py|r|chunk:2" });
    check(expected.clone(), chunk.clone(), "nothing");
    assert_eq!(score_identity(expected, chunk, &["--set", "identity.chunk_anchors=true"]), (Some(0), "key".to_owned()));
    let fallback = ["--set", "identity.rule_fallback=false"];
    assert_eq!(score_identity(json!({ "file": "a.py", "rule_id": "R" }), at("a.py", "R", 9), &fallback).1, "nothing");
    assert_eq!(
        score_identity(at("a.py", "R", 3), at("a.py", "R", 3), &["--set", "identity.require_anchor=true"]).1,
        "nothing"
    );
}

#[test]
fn symbol_keys_of_goldens_are_resolved_in_the_source() {
    let golden =
        "id: c\nissues:\n  - id: g\n    title: x\n    identity_key: v3|shop/orders.py|sqli|symbol:Orders.find#1\n";
    let project = Project::new()
        .with("karat.toml", "[suite]\nname = \"s\"\n[scoring]\nprofile = \"identity\"\n")
        .with("cases/c/case.yaml", golden)
        .with("cases/c/after/shop/orders.py", PYTHON);
    let finding = |line: u32| {
        lines(&[trial(
            "c",
            "t",
            1,
            json!([{ "id": "f", "rule_id": "sqli", "file": "shop/orders.py", "line_start": line }]),
        )])
    };
    project.write("s.jsonl", finding(5));
    project.run("score . --submission s.jsonl").expect(0);
    project.write("cases/c/after/shop/orders.py", format!("#\n#\n#\n{PYTHON}"));
    project.run("score . --submission s.jsonl").expect(1);
    project.write("s.jsonl", finding(8));
    project.run("score . --submission s.jsonl").expect(0);
}

/// Scores one case with the identity profile; returns the reasons of misses, and the warnings.
fn score_misses(goldens: Value, findings: Value) -> (Vec<String>, Value) {
    let project =
        suite(&[json!({ "id": "c", "issues": goldens })]).with("s.jsonl", lines(&[trial("c", "t", 1, findings)]));
    let out = project.run("score . --profile identity --json --submission s.jsonl").out;
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"));
    let misses = report["tools"][0]["cases"][0]["trials"][0]["misses"].as_array().unwrap().clone();
    let reasons = misses
        .iter()
        .map(|miss| format!("{} {}", miss["reason"]["kind"].as_str().unwrap(), miss["why"].as_str().unwrap()));
    (reasons.collect(), report["warnings"].clone())
}

#[test]
fn misses_state_why_the_key_did_not_match() {
    let golden = |id: &str| json!({ "id": id, "title": "x", "file": "a.py", "rule_id": "R", "line_start": 3 });
    let finding = json!([{ "id": "f1", "title": "x", "file": "a.py", "rule_id": "r", "line_start": 3 }]);
    let (reasons, warnings) = score_misses(json!([golden("g1"), golden("g2")]), finding.clone());
    assert_eq!(reasons, ["key_used f1, which has its key, is matched to g1"]);
    assert_eq!(warnings, json!([]));
    let chunk = json!({ "id": "g", "title": "x", "identity_key": "v2|a.py|r|chunk:2" });
    let (reasons, _) = score_misses(json!([chunk]), finding.clone());
    assert_eq!(reasons, ["key_refused its key names a chunk, but identity.chunk_anchors is off"]);
    let (reasons, _) = score_misses(json!([{ "id": "g", "title": "x", "file": "a.py" }]), finding.clone());
    assert_eq!(reasons, ["no_key no key can be built for it: it has no rule_id or line_start"]);
    let (reasons, _) = score_misses(json!([{ "id": "g", "title": "x", "file": "b.py", "rule_id": "R" }]), finding);
    assert_eq!(reasons, ["key_absent no finding has its file and rule"]);
}

#[test]
fn given_keys_that_differ_from_computed_keys_give_warnings() {
    let golden = json!({ "id": "g", "title": "x", "file": "a.py", "rule_id": "R", "line_start": 3, "identity_key": "v2|a.py|r|lines:4-4" });
    let finding = json!([{ "id": "f", "title": "x", "file": "a.py", "rule_id": "r", "line_start": 3, "identity_key": "v2|a.py|r|lines:4-4" }]);
    let (reasons, warnings) = score_misses(json!([golden]), finding);
    assert_eq!(reasons, Vec::<String>::new());
    let differ = "an identity key that differs from the computed key; the given key was used:";
    assert_eq!(
        warnings,
        json!([
            format!("1 golden has {differ} c g has v2|a.py|r|lines:4-4, computed v2|a.py|r|lines:3-3"),
            format!("t: 1 finding has {differ} c f has v2|a.py|r|lines:4-4, computed v2|a.py|r|lines:3-3"),
        ])
    );
    // A golden whose file is a glob may give the key of one file.
    let golden = json!({ "id": "g", "title": "x", "file": "*.py", "rule_id": "R", "line_start": 3, "identity_key": "v2|a.py|r|lines:3-3" });
    assert_eq!(score_misses(json!([golden]), json!([])).1, json!([]));
}
