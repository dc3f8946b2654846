//! `karat judge ask`: one question.

use super::{judge_by_title, make_decision, run_narrow, suite, with_script, with_server};
use crate::judge_engine::server::Server;
use crate::project::Project;
use serde_json::{Value, json};

fn ask(project: &Project, arguments: &[&str]) -> Value {
    let all: Vec<&str> = ["judge", "ask", "--json"].iter().chain(arguments).copied().collect();
    serde_json::from_str(&project.run_list(&all).expect(0).out).unwrap()
}

#[test]
fn two_texts_are_compared_without_a_suite() {
    let project = Project::new();
    let answer = ask(&project, &["The token never expires", "The token never expires"]);
    assert_eq!(
        (&answer["judge"], &answer["match"], &answer["exchange"]),
        (&json!("local"), &json!(true), &Value::Null)
    );
    let answer = ask(&project, &["The token never expires", "Rename x to total"]);
    assert_eq!(answer["match"], false);
    assert!(!project.path(".karat").exists(), "the local judge created a store");
}

#[test]
fn golden_is_asked_with_its_code() {
    let project = suite();
    let server = Server::saying(
        super::super::judge_engine::server::Behaviour::GOOD,
        Some(make_decision(true, "the same query")),
    );
    with_server(&project, "model", &server);
    let ask =
        ["judge", "ask", "--judge", "model", "--case", "orders", "--golden", "sqli", "Injection\u{1b}[2J via term"];
    let ran = run_narrow(&project, &ask).expect(0);
    insta::assert_snapshot!(ran.out);
    let user = server.bodies()[0]["messages"][1]["content"].as_str().unwrap().to_owned();
    for part in ["SQL injection in search", "Injection", "    2 |     return db.run("] {
        assert!(user.contains(part), "no {part:?} in\n{user}");
    }
    // The same question is answered from the ledger, and `--finding-at` is another question.
    run_narrow(&project, &ask).expect(0);
    assert_eq!(server.requests(), 1);
    let with_place: Vec<&str> = ask.iter().copied().chain(["--finding-at", "app.py:2-3"]).collect();
    run_narrow(&project, &with_place).expect(0);
    let user = server.bodies()[1]["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(user.contains("\"lines\": \"2-3\""), "{user}");
}

#[test]
fn locations_of_free_texts_include_code() {
    let project = suite();
    let server = Server::saying(super::super::judge_engine::server::Behaviour::GOOD, Some(make_decision(false, "no")));
    with_server(&project, "model", &server);
    let answer = ask(
        &project,
        &["known", "said", "--judge", "model", "--case", "bank", "--golden-at", "app.py:2", "--judge-cache", "off"],
    );
    assert_eq!((&answer["match"], &answer["confidence"]), (&json!(false), &json!(0.9)));
    let user = server.bodies()[0]["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(user.contains("\"lines\": \"2\"") && user.contains("    2 |     return db.run("), "{user}");
    assert!(!project.path(".karat").exists());
}

#[test]
fn panel_lists_each_judges_answer() {
    let project = suite();
    with_server(&project, "model", &Server::deciding_by_prompt(judge_by_title));
    let answer = ask(&project, &["--judge", "local,model", "--case", "auth", "--golden", "token", "It rains"]);
    assert_eq!((&answer["match"], &answer["voices"][0]["judge"]), (&json!(false), &json!("local")));
    assert!(answer["voices"][1]["exchange"].as_str().is_some_and(|key| key.len() == 64), "{answer}");
}

#[test]
fn missing_answer_is_not_a_no() {
    let project = suite();
    with_script(&project, "mute", &[]);
    let ran = run_narrow(&project, &["judge", "ask", "--judge", "mute", "a", "b"]).expect(5);
    assert!(ran.out.starts_with("unjudged  (mute)\n") && ran.out.contains("no answer to the question"), "{}", ran.out);
    let ran = project.run("judge ask --judge mute a b --json").expect(5);
    let answer: Value = serde_json::from_str(&ran.out).unwrap();
    assert!(answer["match"].is_null() && answer["unjudged"].is_string(), "{answer}");
    project.run("judge ask --judge human a b").expect(5);
    with_server(&project, "model", &Server::deciding_by_prompt(judge_by_title));
    project.run("judge ask --judge model --judge-cache only a b").expect_error(5, &["the ledger holds no answer"]);
}

#[test]
fn incomplete_questions_are_explained() {
    let project = suite();
    let check = |line: &str, text: &str| drop(project.run(line).expect_error(2, &[text]));
    check("judge ask one", "give the known problem and the report");
    check("judge ask a b c", "TEXT");
    check("judge ask --case orders --golden sqli a b", "give only the report");
    check("judge ask --case order --golden sqli a", "did you mean `orders`?");
    check("judge ask --case orders --golden sql a", "did you mean `sqli`?");
    check("judge ask --golden sqli a", "--case");
    for place in ["app.py:0", "app.py:3-2", "../app.py:1", "app.py:1-x"] {
        check(&format!("judge ask a b --golden-at {place}"), "FILE:FIRST-LAST");
    }
    check("judge ask a b --judge none", "name a judge");
}
