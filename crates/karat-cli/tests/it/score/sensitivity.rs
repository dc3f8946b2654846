//! What of a ranking rests on the judge is stated in one line, with the command that shows the pairs.

use crate::project::{Project, lines, suite, trial};
use serde_json::{Value, json};

/// By the rules alone `plain` finds the golden and `vague` does not; the recorded judge says the opposite.
fn project() -> Project {
    let golden = json!({ "id": "g", "title": "SQL injection", "file": "a.py", "line_start": 3, "line_end": 4, "keywords": ["sql"] });
    let plain =
        json!([{ "id": "f", "message": "sql is built from input", "file": "a.py", "line_start": 4, "rule_id": "S1" }]);
    let vague = json!([{ "id": "f", "message": "check what comes in", "file": "b.py", "line_start": 90 }]);
    let judged = |tool: &str, matched: bool| {
        json!({ "kind": "pair", "case": "c", "tool": tool, "trial": 1, "judge": "m", "golden": "g", "finding": "f",
                "match": matched, "confidence": 0.95, "explanation": "so it is" })
    };
    suite(&[json!({ "id": "c", "issues": [golden] })])
        .with("s.jsonl", lines(&[trial("c", "plain", 1, plain), trial("c", "vague", 1, vague)]))
        .with("opposite.jsonl", lines(&[judged("plain", false), judged("vague", true)]))
        .with("same.jsonl", lines(&[judged("plain", true), judged("vague", false)]))
}

#[test]
fn a_leader_that_the_judge_makes_is_stated() {
    let project = project();
    let line = "score . --submission s.jsonl --judge m --judgements opposite.jsonl";
    let report = project.json(&format!("{line} --json"));
    let found = &report["sensitivity"];
    assert_eq!(found["without_judge"], json!({ "leader": "plain", "moved": ["vague", "plain"] }));
    assert_eq!(
        (&found["disputed"], &found["refused"], &found["refused_on_same_lines"]),
        (&json!(2), &json!(1), &json!(1))
    );
    assert_eq!((&found["unsure"], &found["judges"]), (&json!(0), &json!(["m"])));
    let said = "disagree on 2 pairs (1 refused, 1 of them on the same lines); without it plain would lead";
    for format in ["markdown", "html"] {
        assert!(project.ok(&format!("{line} --format {format}")).contains("without it plain would lead"), "{format}");
    }
    let table = project.ok(line).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(table.contains(said), "{table}");
}

#[test]
fn nothing_is_stated_where_nothing_changes() {
    let report = project().json("score . --submission s.jsonl --judge m --judgements same.jsonl --json");
    assert_eq!(report["sensitivity"], Value::Null);
    let report = project().json("score . --submission s.jsonl --judge none --json");
    assert_eq!(report["sensitivity"], Value::Null);
}

#[test]
fn an_unsure_judge_is_stated() {
    let unsure = |tool: &str, matched: bool| {
        json!({ "kind": "pair", "case": "c", "tool": tool, "trial": 1, "judge": "m", "golden": "g", "finding": "f",
                "match": matched, "confidence": 0.55 })
    };
    let project = project().with("unsure.jsonl", lines(&[unsure("plain", true), unsure("vague", false)]));
    let report = project.json("score . --submission s.jsonl --judge m --judgements unsure.jsonl --json");
    let found = &report["sensitivity"];
    assert_eq!(found["if_unsure_flip"], json!({ "leader": "vague" }));
    assert_eq!((&found["unsure"], &found["without_judge"]), (&json!(2), &Value::Null));
}

#[test]
fn the_stated_command_shows_exactly_these_pairs() {
    let project = project();
    let submission = project.read("s.jsonl");
    for (name, line) in ["plain.jsonl", "vague.jsonl"].iter().zip(submission.lines()) {
        project.write(name, line);
    }
    project.run("run . --tool replay:plain.jsonl replay:vague.jsonl --trials 1 -q").expect(0);
    let mut store = karat_store::Store::open(project.path(".karat")).unwrap();
    let run = store.find("latest").unwrap().id;
    let judgements =
        project.read("opposite.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<_>>();
    store.set_judgements(&run, &judgements).unwrap();
    drop(store);
    let pairs = |flag: &str| project.json(&format!("label next latest {flag} --as ann --json"))["pairs"].clone();
    assert_eq!(pairs("--disputed"), json!(2));
    assert_eq!(pairs("--unsure"), json!(0));
}

#[test]
fn the_judge_is_named_with_its_measured_agreement() {
    let report = project().json("score . --submission s.jsonl --json");
    let agreement = &report["judges"][0]["measured_agreement"];
    assert!(agreement["kappa"].as_f64().is_some_and(|kappa| kappa > 0.0), "{agreement}");
    // One of the two findings names a rule, which is no majority.
    assert_eq!(agreement["most_findings"], "review_comments");
    assert!(project().ok("score . --submission s.jsonl -v").contains("local (κ "));
}
