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
    assert_eq!(
        (&anna["kind"], &anna["judge"], &anna["said_vulnerable"]),
        (&json!("audit"), &json!("human:anna"), &json!(true))
    );
    assert_eq!((&anna["target"]["found"], &anna["target"]["finding"]), (&json!(true), &json!("f1")));
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
