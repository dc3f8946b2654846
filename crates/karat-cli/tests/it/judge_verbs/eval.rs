//! `karat judge eval` with the suite's own calibration set, and with any judge.

use super::{decided, honest, suite, with_script, with_server};
use crate::judge_engine::server::Server;
use crate::project::{Project, lines, near, trial};
use serde_json::{Value, json};

/// The suite with a calibration set of five labelled pairs.
fn calibrated() -> Project {
    let said =
        |id: &str, title: &str| json!({ "id": id, "title": title, "message": "m", "file": "app.py", "line_start": 2 });
    let found = [
        trial("orders", "ada", 1, json!([said("f1", "SQL injection in search"), said("f2", "Rename term")])),
        trial(
            "bank",
            "ada",
            1,
            json!([said("f1", "Balance read and written apart"), said("f2", "Token never expires")]),
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
fn a_suite_brings_its_own_labels() {
    let project = calibrated();
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
    let told = ["the suite small has no calibration set", "calibration/judgements.jsonl", "--judgements"];
    project.run("judge eval .").says(2, &told);
    project.run("judge eval . --submission calibration/submission.jsonl").says(2, &["--judgements"]);
}

#[test]
fn any_judge_is_measured_on_the_same_pairs() {
    let project = calibrated();
    let server = Server::thinking(honest);
    with_server(&project, "model", &server);
    let figures = project.json("judge eval . --judge model --group-by case --json");
    assert_eq!(server.requests(), 5, "the labelled pairs and no others");
    near(&figures, "/golden_found/kappa", 1.0);
    near(&figures, "/pairs/f1", 1.0);
    near(&figures, "/pairs/ece", 0.1);
    near(&figures, "/agreement/percent/value", 1.0);
    near(&figures, "/agreement/kappa/value", 1.0);
    assert_eq!((&figures["pairs"]["n"], &figures["unjudged"]), (&json!(5), &json!(0)));
    // Both goldens of orders, the one of bank, and those of orders again, where nothing was said.
    assert_eq!((&figures["golden_found"]["n"], &figures["judge"]), (&json!(5), &json!("model")));
    assert_eq!(figures["groups"]["orders"]["pairs"]["n"], 3);
    assert!(figures.get("params").is_none());
    let told = project.ok("judge eval . --judge model");
    assert_eq!(server.requests(), 5);
    for part in ["the judge model, against human:eve", "word overlap", "by pair: agree 1.000 ["] {
        assert!(told.contains(part), "no {part:?} in\n{told}");
    }
}

#[test]
fn what_has_no_answer_is_named_and_no_no() {
    let project = calibrated();
    let answer = |question: &str, matched: bool| json!({ "question": question, "answer": decided(matched, "") });
    let script = [
        answer("orders/sqli/ada/1/f2", false),
        answer("orders/leak/ada/1/f1", false),
        answer("bank/race/ada/1/f1", true),
        answer("bank/race/ada/1/f2", true),
    ];
    with_script(&project, "terse", &script);
    let ran = project.run("judge eval . --judge terse --json").says(
        0,
        &[
            "1 of 5 labelled pairs have no answer and are excluded from the figures",
            "orders/sqli/ada/1/f1: the script has no answer",
        ],
    );
    let figures: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&figures["pairs"]["n"], &figures["unjudged"]), (&json!(4), &json!(1)));
    assert_eq!(figures["unjudged_pairs"][0]["golden"], "sqli");
    // Whether it would have found sqli is not known: leak and race are left, and both goldens that bob missed.
    assert_eq!(figures["golden_found"]["n"], 4);
    near(&figures, "/golden_found/recall", 1.0);
    near(&figures, "/agreement/percent/value", 0.75);
    with_script(&project, "mute", &[]);
    project.run("judge eval . --judge mute").says(5, &["the judge mute answered none of 5 questions"]);
}

#[test]
fn parameters_belong_to_the_local_judge() {
    let project = calibrated();
    with_server(&project, "model", &Server::thinking(honest));
    project.run("judge eval . --judge model --params p.toml").says(2, &["--params applies to the local judge"]);
    let panel = project.json("judge eval . --judge local,model --json");
    assert_eq!(panel["judge"], "local,model");
    assert!(panel["agreement"]["percent"]["ci"].is_array(), "{panel}");
}

/// The built-in suite brings labels by hand for every judge to be measured on.
#[test]
fn the_built_in_suite_is_calibrated() {
    let project = Project::new();
    let figures = project.json("judge eval starter --json");
    assert!(figures["pairs"]["n"].as_u64().unwrap() >= 200, "{figures}");
    project.run("check starter").expect(0);
}
