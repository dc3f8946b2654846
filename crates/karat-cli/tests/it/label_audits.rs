//! `karat label audits` and `karat label undo`.

use crate::project::{Project, lines, trial};
use serde_json::{Value, json};

const FROM: &str = "--suite . --submission a.jsonl";

fn project() -> Project {
    let case = "id: vault\nverdict: vulnerable\nissues:\n  - id: reentrancy\n    title: Withdraw calls before it writes\n    \
                file: v.sol\n    line_start: 3\n    target: true\n";
    let findings = json!([
        { "id": "f1", "title": "Reentrancy in withdraw", "file": "v.sol", "line_start": 3 },
        { "id": "f2", "title": "Floating pragma", "file": "v.sol", "line_start": 1 },
    ]);
    Project::new()
        .with("karat.toml", "[suite]\nname = \"vaults\"\n")
        .with("cases/vault/case.yaml", case)
        .with("cases/vault/before/v.sol", "pragma\n")
        .with("cases/vault/after/v.sol", "pragma\n\nfunction withdraw() {}\n")
        .with("a.jsonl", lines(&[trial("vault", "marktool", 1, findings)]))
}

fn next(project: &Project, name: &str) -> Value {
    project.json(&format!("label audits --as {name} {FROM} --json"))["next"].clone()
}

/// Labels all findings: those with `target` in their title as the target, others as `rest`.
fn label_all(project: &Project, name: &str, target: &str, rest: &str) {
    loop {
        let question = next(project, name);
        let Some(id) = question["id"].as_str() else { return };
        let is_target = question["finding"]["title"].as_str().unwrap().contains(target);
        let class = if is_target { "TARGET_MATCH" } else { rest };
        project.run(&format!("label add {id} {class} --as {name} --note seen {FROM}")).expect(0);
    }
}

#[test]
fn finding_is_shown_with_the_target_and_classified() {
    let project = project();
    let ran = project.run(&format!("label audits --as anna {FROM}")).expect(0);
    for part in ["Target", "Withdraw calls before it writes", "Report", "case vault"] {
        assert!(ran.out.contains(part), "no {part}: {}", ran.out);
    }
    assert!(!ran.out.contains("marktool") && !ran.err.contains("marktool"));
    assert!(ran.err.contains("0 of 2 findings labelled by anna") && ran.err.contains("HALLUCINATED"), "{}", ran.err);
    let id = next(&project, "anna")["id"].as_str().unwrap().to_owned();
    let wrong = project.run(&format!("label add {id} yes --as anna {FROM}"));
    wrong.expect_error(2, &["invalid answer for an audited finding", "SECURITY_THEATER"]);
    project
        .run(&format!("label add {id} BONUS_VALID --as anna {FROM}"))
        .expect_error(0, &["anna labelled the audited finding"]);
    project
        .run(&format!("label add {id} HALLUCINATED --as anna {FROM}"))
        .expect_error(2, &["anna said BONUS_VALID", "--change"]);
    project.run(&format!("label add {id} HALLUCINATED --as anna --change")).expect(0);
    assert_ne!(next(&project, "anna")["id"], id.as_str());
    assert!(project.ok("label list").contains("HALLUCINATED"));
}

#[test]
fn audit_labels_are_exported_imported_and_scored() {
    let project = project();
    label_all(&project, "anna", "Reentrancy", "INFORMATIONAL");
    label_all(&project, "ben", "Reentrancy", "SECURITY_THEATER");
    project.run(&format!("label export {FROM} -o labels.jsonl")).expect_error(0, &["2 judgements from 4 labels"]);
    let lines: Vec<Value> =
        project.read("labels.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let anna = &lines[0];
    assert_eq!((&anna["kind"], &anna["judge"]), (&json!("audit"), &json!("human:anna")));
    // A class says nothing of what was not asked.
    assert!(anna.get("said_vulnerable").is_none_or(Value::is_null), "{anna}");
    assert!(anna.get("target").is_none_or(Value::is_null), "{anna}");
    assert_eq!(anna["findings"].as_array().unwrap().len(), 2);
    let agreement = project.json("judge agree labels.jsonl --on classification --json");
    assert_eq!(agreement["percent"]["value"], 0.5, "{agreement}");
    // Imported into another store, labels and notes are the same.
    let other = self::project().with("labels.jsonl", project.read("labels.jsonl"));
    other.run(&format!("label import labels.jsonl {FROM}")).expect_error(0, &["4 labels added"]);
    other.run(&format!("label import labels.jsonl {FROM}")).expect_error(0, &["0 labels added, 4 already present"]);
    let notes = |project: &Project| -> Vec<Value> {
        let listed = project.json("label list --all --json");
        let mut notes: Vec<Value> = listed.as_array().unwrap().iter().map(|label| label["note"].clone()).collect();
        notes.sort_by_key(ToString::to_string);
        notes
    };
    assert_eq!(notes(&other), notes(&project));
    let report =
        project.json("score . --submission a.jsonl --judgements labels.jsonl --profile audit --judge none --json");
    assert_eq!(
        report["tools"][0]["metrics"]["target_detection_rate"]["value"], 1.0,
        "{}",
        report["tools"][0]["metrics"]
    );
}

#[test]
fn undo_withdraws_the_last_label() {
    let project = project();
    project.run("label undo --as anna").expect(5);
    let first = next(&project, "anna")["id"].as_str().unwrap().to_owned();
    project.run(&format!("label add {first} TARGET_MATCH --as anna {FROM}")).expect(0);
    let second = next(&project, "anna")["id"].as_str().unwrap().to_owned();
    project.run(&format!("label add {second} INFORMATIONAL --as anna {FROM}")).expect(0);
    project.run("label undo --as ben").expect_error(0, &["ben has no label to undo"]);
    project.run("label undo --as anna").expect_error(0, &["undid the label INFORMATIONAL by anna", &second]);
    assert_eq!(next(&project, "anna")["id"], second.as_str());
    let undone = project.json("label undo --as anna --json");
    assert_eq!((&undone["kind"], &undone["said"]), (&json!("audit"), &json!("TARGET_MATCH")));
    assert_eq!(project.json("label list --all --json"), json!([]));
    let history = project.ok("label list --all --history");
    assert_eq!(history.matches("withdrawn").count(), 2, "{history}");
    project.run("store verify").expect(0);
    project.run(&format!("label add {first} BONUS_VALID --as anna {FROM}")).expect(0);
}

/// The answer to each decision, with its name for `--on`, and where it is in a judgement.
const ANSWERS: [(&str, &str, &str, Value); 10] = [
    ("verdict", "no", "/said_vulnerable", Value::Bool(false)),
    ("confidence", "none", "/confidence_expressed", Value::Null),
    ("found", "yes", "/target/found", Value::Bool(true)),
    ("type_match", "semantic", "/target/type_match", Value::Null),
    ("rcir", "0.75", "/target/rcir", Value::Null),
    ("ava", "0.5", "/target/ava", Value::Null),
    ("fsv", "0.25", "/target/fsv", Value::Null),
    ("classification", "BONUS_VALID", "/findings/0/classification", Value::Null),
    ("matches_target", "no", "/findings/0/matches_target", Value::Bool(false)),
    ("is_valid_concern", "yes", "/findings/0/is_valid_concern", Value::Bool(true)),
];

/// The value that a judgement has for an answer.
fn expected(answer: &str, value: &Value) -> Value {
    match (value, answer.parse::<f64>()) {
        (Value::Null, Ok(number)) => json!(number),
        (Value::Null, Err(_)) => json!(answer),
        (value, _) => value.clone(),
    }
}

/// Each of the ten decisions can be asked alone, and then nothing else is stated.
#[test]
fn any_decision_of_an_audit_can_be_asked() {
    for (on, answer, pointer, value) in ANSWERS {
        let project = project();
        let next = project.json(&format!("label audits --as anna {FROM} --on {on} --json"));
        let question = &next["next"];
        assert!(
            question["ask"]["question"].is_string() && question["command"].as_str().unwrap().contains("label add"),
            "{next}"
        );
        let shown = project.ok(&format!("label audits --as anna {FROM} --on {on}"));
        assert!(shown.contains("v.sol:1") && !shown.contains("marktool"), "{shown}");
        let id = question["id"].as_str().unwrap();
        // An answer to another question.
        let other = if on == "classification" { "0.5" } else { "INFORMATIONAL" };
        project
            .run(&format!("label add {id} {other} --as anna {FROM}"))
            .expect_error(2, &["invalid answer for an audited"]);
        project.run(&format!("label add {id} {answer} --as anna --note seen {FROM}")).expect(0);
        assert_ne!(project.json(&format!("label audits --as anna {FROM} --on {on} --json"))["next"]["id"], id);
        project.run(&format!("label export {FROM} -o labels.jsonl")).expect(0);
        let exported: Value = serde_json::from_str(project.read("labels.jsonl").trim()).unwrap();
        assert_eq!(exported.pointer(pointer), Some(&expected(answer, &value)), "{exported}");
        for (_, _, other, _) in ANSWERS.iter().filter(|(_, _, other, _)| *other != pointer) {
            assert!(exported.pointer(other).is_none_or(Value::is_null), "{other} in {exported}");
        }
        // Read back into another store, it is the same label.
        let other = self::project().with("labels.jsonl", project.read("labels.jsonl"));
        other.run(&format!("label import labels.jsonl {FROM}")).expect_error(0, &["1 label added"]);
        other.run(&format!("label export {FROM} -o again.jsonl")).expect(0);
        assert_eq!(other.read("again.jsonl"), project.read("labels.jsonl"));
        project.run("store verify").expect(0);
        project.run("label undo --as anna").expect_error(0, &["undid the label"]);
    }
    project()
        .run(&format!("label audits --as anna {FROM} --on mood"))
        .expect_error(2, &["unknown decision `mood`", "rcir"]);
}

/// All ten together: responses first; what was not found is not rated; one judgement for each person and trial.
#[test]
fn all_decisions_are_asked_one_after_another() {
    let project = project();
    let mut asked = Vec::new();
    loop {
        let next = project.json(&format!("label audits --as anna {FROM} --on all --json"))["next"].clone();
        let Some(id) = next["id"].as_str() else { break };
        let field = next["field"].as_str().unwrap().to_owned();
        let answer = match field.as_str() {
            "target.found" => "no",
            "confidence_expressed" => "85%",
            "classification" => "INFORMATIONAL",
            _ => "no",
        };
        project.run(&format!("label add {id} {answer} --as anna {FROM}")).expect(0);
        asked.push(field);
    }
    let findings = ["classification", "matches_target", "is_valid_concern"];
    let expected =
        ["said_vulnerable", "confidence_expressed", "target.found"].into_iter().chain(findings).chain(findings);
    assert_eq!(asked, expected.collect::<Vec<_>>());
    project.run(&format!("label export {FROM} -o labels.jsonl")).expect_error(0, &["1 judgement from 9 labels"]);
    let report =
        project.json("score . --submission a.jsonl --judgements labels.jsonl --profile audit --judge none --json");
    let trial = &report["tools"][0]["cases"][0]["trials"][0];
    assert_eq!((&trial["verdict"], &trial["confidence"]), (&json!("safe"), &json!(0.85)), "{trial}");
    assert_eq!(trial["audit"]["target_found"], false);
}
