//! People as judges: what they said of pairs counts, and what they have not seen is not guessed.

use super::{of_judge, project, report, sure, warnings};
use crate::project::{Project, Ran};
use serde_json::{Value, json};

const LINE: &str = "score suite --submission it.jsonl --judge human --json";

/// Somebody labels the pair that comes next.
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
fn labels_decide_and_what_has_none_is_unjudged() {
    let project = project(3, 1);
    // Nobody has said anything: people are told what to do.
    let ran = Ran::start(project.command().args(LINE.split_whitespace()));
    ran.says(5, &["the judge human answered none of 3 questions", "karat label next"]);
    label(&project, "anna", "yes");
    label(&project, "anna", "no");
    let told = project.json(LINE);
    // Of the golden and of the finding that nobody has held together.
    assert_eq!(tally(&told), (1, 2, 2), "{told:#}");
    let judge = of_judge(&told, "human");
    assert_eq!((&judge["asked"], &judge["unjudged"]), (&json!(3), &json!(1)), "{judge}");
    let warned = warnings(&told);
    assert!(warned.contains("human: 1 of 3 questions are unjudged") && warned.contains("karat label next"), "{warned}");
    assert!(told["tools"].to_string().contains("\"judge\":\"human:anna\""));
    label(&project, "anna", "partial");
    let told = project.json(LINE);
    assert_eq!((tally(&told), &of_judge(&told, "human")["unjudged"]), ((1, 2, 0), &json!(0)));
}

/// A label holds wherever the same pair turns up, with a run as with a submission, and needs neither network nor key.
#[test]
fn labels_hold_for_a_run() {
    let project = project(3, 1);
    for answer in ["yes", "yes", "no"] {
        label(&project, "anna", answer);
    }
    let told = project.json("run suite --tool replay:it.jsonl --trials 1 --judge human --json -q");
    assert_eq!(tally(&told), (2, 1, 0));
    assert_eq!(project.json("score latest --json")["tools"], told["tools"]);
    assert!(project.ok("explain c1 --run latest").contains("human:anna"));
}

/// People and a model on one panel: the model is asked about all pairs, people are heard where they spoke.
#[test]
fn people_sit_on_panels() {
    let project = project(2, 1);
    label(&project, "anna", "yes");
    let server = sure(true);
    let told = report(&project, &server, &LINE.replace("human", "human,sonnet,local"));
    assert_eq!(server.requests(), 2);
    assert_eq!(of_judge(&told, "human")["unjudged"], 1);
    assert_eq!(of_judge(&told, "human,sonnet,local")["unjudged"], 0);
    assert_eq!(tally(&told).0, 2);
}
