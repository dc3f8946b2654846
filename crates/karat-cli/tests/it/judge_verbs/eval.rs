//! `karat judge eval` with the suite's own calibration set, for any judge.

use super::{judge_by_title, make_decision, suite, with_script, with_server};
use crate::judge_engine::server::Server;
use crate::project::{Project, lines, near, trial};
use serde_json::{Value, json};

/// The suite with a calibration set of five labelled pairs.
fn calibrated_suite() -> Project {
    let finding =
        |id: &str, title: &str| json!({ "id": id, "title": title, "message": "m", "file": "app.py", "line_start": 2 });
    let found = [
        trial("orders", "ada", 1, json!([finding("f1", "SQL injection in search"), finding("f2", "Rename term")])),
        trial(
            "bank",
            "ada",
            1,
            json!([finding("f1", "Balance read and written apart"), finding("f2", "Token never expires")]),
        ),
        trial("orders", "bob", 1, json!([])),
    ];
    let label = |case: &str, golden: &str, finding: &str, matched: bool| {
        json!({ "kind": "pair", "case": case, "tool": "ada", "trial": 1, "judge": "human:eve", "golden": golden,
                "finding": finding, "match": matched, "explanation": "a line of reason" })
    };
    let judgements = [
        label("orders", "sqli", "f1", true),
        label("orders", "sqli", "f2", false),
        label("orders", "leak", "f1", false),
        label("bank", "race", "f1", true),
        label("bank", "race", "f2", false),
    ];
    suite().with("calibration/submission.jsonl", lines(&found)).with("calibration/judgements.jsonl", lines(&judgements))
}

#[test]
fn calibration_set_of_the_suite_is_the_default() {
    let project = calibrated_suite();
    project.run("check .").expect(0);
    let own = project.json("judge eval . --json");
    assert_eq!(
        (&own["judge"], &own["params"], &own["judges"]),
        (&json!("local"), &json!("shipped"), &json!(["human:eve"]))
    );
    assert_eq!((&own["pairs"]["n"], &own["golden_found"]["n"]), (&json!(5), &json!(5)));
    let files = "--submission calibration/submission.jsonl --judgements calibration/judgements.jsonl";
    assert_eq!(project.json(&format!("judge eval . {files} --json")), own);
    assert!(own.get("unjudged").is_none(), "{own}");
    std::fs::remove_file(project.path("calibration/judgements.jsonl")).unwrap();
    let parts = ["the suite small has no calibration set", "calibration/judgements.jsonl", "--judgements"];
    project.run("judge eval .").expect_error(2, &parts);
    project.run("judge eval . --submission calibration/submission.jsonl").expect_error(2, &["--judgements"]);
}

#[test]
fn any_judge_is_evaluated_on_the_labelled_pairs() {
    let project = calibrated_suite();
    let server = Server::deciding_by_prompt(judge_by_title);
    with_server(&project, "model", &server);
    let figures = project.json("judge eval . --judge model --group-by case --json");
    assert_eq!(server.requests(), 5, "exactly the labelled pairs are asked");
    near(&figures, "/golden_found/kappa", 1.0);
    near(&figures, "/pairs/f1", 1.0);
    near(&figures, "/pairs/ece", 0.1);
    near(&figures, "/agreement/percent/value", 1.0);
    near(&figures, "/agreement/kappa/value", 1.0);
    assert_eq!((&figures["pairs"]["n"], &figures["unjudged"]), (&json!(5), &json!(0)));
    // Both goldens of orders, the one of bank, and those of orders again for the empty trial.
    assert_eq!((&figures["golden_found"]["n"], &figures["judge"]), (&json!(5), &json!("model")));
    assert_eq!(figures["groups"]["orders"]["pairs"]["n"], 3);
    assert!(figures.get("params").is_none());
    let table = project.ok("judge eval . --judge model");
    assert_eq!(server.requests(), 5);
    for part in ["the judge model, against human:eve", "word overlap", "by pair: agree 1.000 ["] {
        assert!(table.contains(part), "no {part:?} in\n{table}");
    }
}

#[test]
fn unjudged_pairs_are_listed_and_not_counted_as_no() {
    let project = calibrated_suite();
    let answer = |question: &str, matched: bool| json!({ "question": question, "answer": make_decision(matched, "") });
    let script = [
        answer("orders/sqli/ada/1/f2", false),
        answer("orders/leak/ada/1/f1", false),
        answer("bank/race/ada/1/f1", true),
        answer("bank/race/ada/1/f2", true),
    ];
    with_script(&project, "terse", &script);
    let ran = project.run("judge eval . --judge terse --json").expect_error(
        0,
        &[
            "1 of 5 labelled pairs have no answer and are excluded from the figures",
            "orders/sqli/ada/1/f1: the script has no answer",
        ],
    );
    let figures: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&figures["pairs"]["n"], &figures["unjudged"]), (&json!(4), &json!(1)));
    assert_eq!(figures["unjudged_pairs"][0]["golden"], "sqli");
    // Whether it would have found sqli is unknown: leak and race remain, and both goldens that bob missed.
    assert_eq!(figures["golden_found"]["n"], 4);
    near(&figures, "/golden_found/recall", 1.0);
    near(&figures, "/agreement/percent/value", 0.75);
    with_script(&project, "mute", &[]);
    project.run("judge eval . --judge mute").expect_error(5, &["the judge mute answered none of 5 questions"]);
}

#[test]
fn matching_parameters_apply_to_the_local_judge_only() {
    let project = calibrated_suite();
    with_server(&project, "model", &Server::deciding_by_prompt(judge_by_title));
    project.run("judge eval . --judge model --params p.toml").expect_error(2, &["--params applies to the local judge"]);
    let panel = project.json("judge eval . --judge local,model --json");
    assert_eq!(panel["judge"], "local,model");
    assert!(panel["agreement"]["percent"]["ci"].is_array(), "{panel}");
}

/// The built-in suite has human labels to evaluate any judge on.
#[test]
fn built_in_suite_has_a_calibration_set() {
    let project = Project::new();
    let figures = project.json("judge eval starter --json");
    assert!(figures["pairs"]["n"].as_u64().unwrap() >= 200, "{figures}");
    project.run("check starter").expect(0);
}
