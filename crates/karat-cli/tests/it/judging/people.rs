//! Human judges: labels of pairs count, and pairs without a label are unjudged.

use super::{find_judge, project, report, server_answering, warnings};
use crate::project::{CommandOutput, Project};
use serde_json::{Value, json};

const LINE: &str = "score suite --submission it.jsonl --judge human --json";

/// Labels the next pair.
fn label(project: &Project, name: &str, answer: &str) {
    let from = "--suite suite --submission it.jsonl";
    let next = project.json(&format!("label next --as {name} {from} --json"));
    let id = next["next"]["id"].as_str().unwrap_or_else(|| panic!("nothing is left: {next}"));
    project.run(&format!("label add {id} {answer} --as {name} {from}")).expect(0);
}

fn tally(report: &Value) -> (u64, u64, usize) {
    let sum = |field: &str| -> u64 {
        let cases = report["tools"][0]["cases"].as_array().unwrap();
        cases.iter().filter_map(|case| case["trials"][0][field].as_u64()).sum()
    };
    (sum("tp"), sum("fn"), report["tools"].to_string().matches("\"flags\":[\"unjudged\"]").count())
}

#[test]
fn labels_decide_and_unlabelled_pairs_are_unjudged() {
    let project = project(3, 1);
    // Without any label, the error says what to do.
    let ran = CommandOutput::start(project.command().args(LINE.split_whitespace()));
    ran.expect_error(5, &["the judge human answered none of 3 questions", "karat label next"]);
    label(&project, "anna", "yes");
    label(&project, "anna", "no");
    let scorecard = project.json(LINE);
    // The golden and the finding of the unlabelled pair.
    assert_eq!(tally(&scorecard), (1, 2, 2), "{scorecard:#}");
    let judge = find_judge(&scorecard, "human");
    assert_eq!((&judge["asked"], &judge["unjudged"]), (&json!(3), &json!(1)), "{judge}");
    let warned = warnings(&scorecard);
    assert!(warned.contains("human: 1 of 3 questions are unjudged") && warned.contains("karat label next"), "{warned}");
    assert!(scorecard["tools"].to_string().contains("\"judge\":\"human:anna\""));
    label(&project, "anna", "partial");
    let scorecard = project.json(LINE);
    assert_eq!((tally(&scorecard), &find_judge(&scorecard, "human")["unjudged"]), ((1, 2, 0), &json!(0)));
}

/// A label applies to the same pair in runs and submissions, without network or key.
#[test]
fn labels_apply_to_runs() {
    let project = project(3, 1);
    for answer in ["yes", "yes", "no"] {
        label(&project, "anna", answer);
    }
    let scorecard = project.json("run suite --tool replay:it.jsonl --trials 1 --judge human --json -q");
    assert_eq!(tally(&scorecard), (2, 1, 0));
    assert_eq!(project.json("score latest --json")["tools"], scorecard["tools"]);
    assert!(project.ok("explain c1 --run latest").contains("human:anna"));
}

/// Humans and a model on one panel: the model is asked about all pairs, humans count where they labelled.
#[test]
fn humans_can_join_a_panel() {
    let project = project(2, 1);
    label(&project, "anna", "yes");
    let server = server_answering(true);
    let scorecard = report(&project, &server, &LINE.replace("human", "human,sonnet,local"));
    assert_eq!(server.requests(), 2);
    assert_eq!(find_judge(&scorecard, "human")["unjudged"], 1);
    assert_eq!(find_judge(&scorecard, "human,sonnet,local")["unjudged"], 0);
    assert_eq!(tally(&scorecard).0, 2);
}
