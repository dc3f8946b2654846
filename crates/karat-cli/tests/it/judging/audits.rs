//! Audits by a model: its assessment of a whole response becomes part of the report.

use super::{find_judge, report, run, server_deciding, warnings};
use crate::judge_engine::server::Server;
use crate::project::{Project, lines, near};
use serde_json::{Value, json};

/// Three cases: one with a target, one safe, and one answered in prose.
fn make_project() -> Project {
    let target = |id: &str| {
        json!({ "id": id, "title": "Reentrancy in withdraw", "category": "reentrancy", "target": true,
            "root_cause": "The balance is set after the call.", "file": "Bank.sol", "line_start": 10 })
    };
    let cases = [
        json!({ "id": "bank", "description": "Bank contract", "issues": [target("re")] }),
        json!({ "id": "safe", "description": "Sound contract", "verdict": "safe" }),
        json!({ "id": "prose", "description": "Prose contract", "issues": [target("re")] }),
    ];
    let trial = |case: &str, findings: Value, response: Value| json!({ "case": case, "tool": "it", "trial": 1, "outcome": "reported", "findings": findings, "response": response });
    let finding = |id: &str, title: &str| json!({ "id": id, "title": title, "file": "Bank.sol", "line_start": 10 });
    let trials = [
        trial(
            "bank",
            json!([finding("x9", "Floating pragma"), finding("x7", "Reentrancy"), finding("x8", "Ghost call")]),
            Value::Null,
        ),
        trial("safe", json!([finding("y1", "Centralised owner")]), Value::Null),
        trial(
            "prose",
            json!([]),
            json!("I looked closely. The balance is written too late, so a caller can come back."),
        ),
    ];
    Project::new()
        .with("suite/karat.toml", format!("[suite]\nname = \"contracts\"\n{}", super::JUDGES))
        .with("suite/cases.jsonl", lines(&cases))
        .with("it.jsonl", lines(&trials))
}

fn entry(name: &str, class: &str, quote: Option<&str>) -> Value {
    let about = ["TARGET_MATCH", "PARTIAL_MATCH"].contains(&class);
    let mut entry = json!({ "finding": name, "reason": null, "classification": class, "matches_target": about,
        "is_valid_concern": about || class == "BONUS_VALID" });
    if let Some(quote) = quote {
        entry["quote"] = json!(quote);
    }
    entry
}

fn audit(vulnerable: Value, entries: Vec<Value>, target: Option<Value>) -> Value {
    let mut audit = json!({ "findings": entries, "said_vulnerable": vulnerable, "confidence_expressed": 0.8,
        "explanation": "As the code shows." });
    if let Some(target) = target {
        audit["target"] = target;
    }
    audit
}

fn target(finding: Option<&str>) -> Value {
    match finding {
        Some(finding) => {
            json!({ "found": true, "finding": finding, "type_match": "semantic", "rcir": 0.75, "ava": 0.5, "fsv": 1 })
        }
        None => json!({ "found": false, "finding": null, "type_match": null, "rcir": null, "ava": null, "fsv": null }),
    }
}

/// A correct audit of each of the three.
fn correct_audit(words: &str) -> Value {
    match () {
        () if words.contains("Sound contract") => audit(json!(true), vec![entry("f1", "DESIGN_CHOICE", None)], None),
        () if words.contains("Prose contract") => {
            let claim = entry("f1", "TARGET_MATCH", Some("The balance is written too late"));
            audit(json!(true), vec![claim], Some(target(Some("f1"))))
        }
        () => {
            let entries = vec![
                entry("f1", "INFORMATIONAL", None),
                entry("f2", "TARGET_MATCH", None),
                entry("f3", "HALLUCINATED", None),
            ];
            audit(json!(true), entries, Some(target(Some("f2"))))
        }
    }
}

const LINE: &str = "score suite --submission it.jsonl --profile audit --judge sonnet --json";

fn trial(report: &Value, case: usize) -> &Value {
    &report["tools"][0]["cases"][case]["trials"][0]
}

#[test]
fn audit_results_are_in_the_report() {
    for judge in ["sonnet", "gpt"] {
        let project = make_project();
        let server = server_deciding(|words| Ok(correct_audit(words)));
        let scorecard = report(&project, &server, &LINE.replace("sonnet", judge));
        assert_eq!(server.requests(), 3, "one question per trial");
        // The target is matched by the finding that the audit names, under the id the tool gave it.
        let bank = trial(&scorecard, 0);
        assert_eq!(
            (&bank["matches"][0]["golden"], &bank["matches"][0]["finding"]),
            (&json!("re"), &json!("x7")),
            "{bank:#}"
        );
        assert_eq!(bank["matches"][0]["judgement"]["judge"], judge);
        assert_eq!((&bank["verdict"], &bank["verdict_correct"]), (&json!("vulnerable"), &json!(true)));
        let extras = bank["extras"].to_string();
        assert!(
            extras.contains("x9") && extras.contains("x8") && bank["extras"].as_array().unwrap().len() == 2,
            "{extras}"
        );
        for class in ["the audit classifies it as informational", "the audit classifies it as hallucinated"] {
            assert!(extras.contains(class), "{extras}");
        }
        // "Vulnerable" is wrong for safe code and right for the case in prose.
        assert_eq!(
            (&trial(&scorecard, 1)["verdict_correct"], &trial(&scorecard, 2)["verdict_correct"]),
            (&json!(false), &json!(true))
        );
        near(&scorecard, "/tools/0/metrics/accuracy/value", 2.0 / 3.0);
        let summary = find_judge(&scorecard, judge);
        assert_eq!((&summary["asked"], &summary["unjudged"]), (&json!(3), &json!(0)), "{summary}");
    }
}

/// An audit that names an unknown finding is returned with the reason once, and the second answer counts.
#[test]
fn invalid_audit_is_asked_again_once() {
    let project = make_project();
    let invented = |words: &str| {
        let again = words.contains("your answer could not be used");
        if words.contains("Bank contract") && !again {
            return audit(
                json!(true),
                vec![
                    entry("f1", "INFORMATIONAL", None),
                    entry("f2", "TARGET_MATCH", None),
                    entry("f9", "HALLUCINATED", None),
                ],
                Some(target(Some("f2"))),
            );
        }
        correct_audit(words)
    };
    let server = server_deciding(move |words| Ok(invented(words)));
    let scorecard = report(&project, &server, LINE);
    assert_eq!(server.requests(), 4);
    assert_eq!(trial(&scorecard, 0)["matches"][0]["finding"], "x7");
    assert!(
        super::user_message(
            &server.bodies().into_iter().find(|body| super::user_message(body).contains("could not be used")).unwrap()
        )
        .contains("f9")
    );
    // The report equals that of a correct first answer except for the cost.
    let correct_server = server_deciding(|words| Ok(correct_audit(words)));
    let expect = run(&make_project(), &correct_server, LINE).expect(0);
    let ran = run(&make_project(), &server_deciding(move |words| Ok(invented(words))), LINE).expect(0);
    let without_cost = |out: &str| {
        let mut report: Value = serde_json::from_str(out).unwrap();
        report.as_object_mut().unwrap().remove("measured");
        for judge in report["judges"].as_array_mut().unwrap() {
            judge.as_object_mut().unwrap().retain(|key, _| key != "tokens" && key != "usd");
        }
        report
    };
    assert_eq!(without_cost(&ran.out), without_cost(&expect.out));
}

/// An audit that stays invalid leaves the trial unjudged, without a verdict.
#[test]
fn audit_invalid_twice_is_unjudged() {
    let wrong: [fn() -> Value; 4] = [
        || audit(json!(true), vec![entry("f9", "HALLUCINATED", None)], Some(target(None))),
        || audit(json!(true), vec![entry("f1", "TARGET_MATCH", None)], Some(target(None))),
        || json!({ "match": true, "confidence": 1, "partial": false, "explanation": "x" }),
        || json!("It is fine."),
    ];
    for answer in wrong {
        let project = make_project();
        let server = server_deciding(move |words| {
            Ok(if words.contains("Bank contract") { answer() } else { correct_audit(words) })
        });
        let scorecard = report(&project, &server, LINE);
        assert_eq!(server.requests(), 4, "asked again exactly once");
        let bank = trial(&scorecard, 0);
        assert_eq!(
            (&bank["misses"][0]["flags"], &bank["extras"][0]["flags"]),
            (&json!(["unjudged"]), &json!(["unjudged"])),
            "{bank:#}"
        );
        assert_eq!(find_judge(&scorecard, "sonnet")["unjudged"], 1);
        assert!(warnings(&scorecard).contains("sonnet: 1 of 3 questions are unjudged"), "{}", warnings(&scorecard));
        // Only what could not be read is asked again.
        report(&project, &server, LINE);
        assert_eq!(server.requests(), 6);
    }
}

/// Trials that reported nothing or failed need no model.
#[test]
fn empty_and_failed_trials_are_not_audited() {
    let project = make_project();
    let silent = json!({ "case": "bank", "tool": "it", "trial": 1, "outcome": "reported", "findings": [] });
    let failed = json!({ "case": "safe", "tool": "it", "trial": 1, "outcome": "crashed" });
    project.write("it.jsonl", lines(&[silent, failed]));
    let server = server_deciding(|words| Ok(correct_audit(words)));
    let scorecard = report(&project, &server, LINE);
    assert_eq!(server.requests(), 0);
    let bank = trial(&scorecard, 0);
    assert_eq!(
        (&bank["verdict"], &bank["verdict_correct"], &bank["misses"][0]["flags"]),
        (&json!("safe"), &json!(false), &json!([])),
        "{bank:#}"
    );
}

/// A judge that can only compare pairs is refused for audits.
#[test]
fn pair_judges_cannot_audit() {
    let project = make_project();
    let server = server_deciding(|words| Ok(correct_audit(words)));
    for judge in ["local", "human", "local,sonnet", "sonnet,local"] {
        let line = LINE.replace("sonnet", judge);
        run(&project, &server, &line).expect_error(5, &["decides about pairs alone", "name a model with --judge"]);
    }
    // A run refuses before it starts.
    let begun = "run suite --tool replay:it.jsonl --profile audit --store begun --judge";
    run(&project, &server, &format!("{begun} local,sonnet"))
        .expect_error(2, &["the judge local decides about pairs alone"]);
    assert!(!project.path("begun").exists(), "a run was started");
    // Without `--judge`, the profile uses none.
    run(&project, &server, &LINE.replace("--judge sonnet ", "")).expect(0);
    assert_eq!(server.requests(), 0);
}

/// Several auditors: the majority decides each point, and a trial that none of them could audit is counted.
#[test]
fn panel_of_auditors_decides_by_majority() {
    let project = make_project();
    let server = server_deciding(|words| {
        Ok(if words.contains("Sound contract") { json!("no idea") } else { correct_audit(words) })
    });
    let scorecard = report(&project, &server, &LINE.replace("sonnet", "sonnet,gpt"));
    assert_eq!(trial(&scorecard, 0)["matches"][0]["finding"], "x7");
    let panel = find_judge(&scorecard, "sonnet,gpt");
    assert_eq!(
        (&panel["asked"], &panel["unjudged"], &panel["agreement"]["n"]),
        (&json!(3), &json!(1), &json!(2)),
        "{panel}"
    );
    assert_eq!(trial(&scorecard, 1)["extras"][0]["flags"], json!(["unjudged"]));
    let none: Server = server_deciding(|_| Ok(json!("no idea")));
    run(&make_project(), &none, &LINE.replace("sonnet", "sonnet,gpt"))
        .expect_error(5, &["answered none of 3 questions"]);
}

/// Audits that could not be read are asked for again, as pairs are.
#[test]
fn unreadable_audits_do_not_stick() {
    use crate::judge_engine::server::{Behaviour, Fault};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    let project = make_project();
    let broken = Arc::new(AtomicBool::new(true));
    let state = Arc::clone(&broken);
    let server = Server::deciding_by_request(Behaviour::GOOD, move |body| match state.load(Ordering::Relaxed) {
        true => Err(Fault::Prose),
        false => Ok(correct_audit(&body.to_string())),
    });
    run(&project, &server, LINE).expect_error(5, &["could not be read", "in the ledger of"]);
    broken.store(false, Ordering::Relaxed);
    let before = server.requests();
    run(&project, &server, LINE).expect(0);
    assert_eq!(server.requests() - before, 3);
}
