//! `karat judge show`, and the commands that refer to it.

use super::{judge_by_title, run_narrow, suite, with_script, with_server};
use crate::judge_engine::server::Server;
use crate::project::{Project, lines, trial};
use serde_json::{Value, json};

/// A suite with two exchanges: one with a server, then one with a script whose first answer is invalid.
fn suite_with_exchanges() -> Project {
    let project = suite();
    with_server(&project, "model", &Server::deciding_by_prompt(judge_by_title));
    let bad = json!({ "answer": "I \u{1b}[31mthink\u{202e} so." });
    let good = json!({ "answer": { "match": true, "confidence": 1, "partial": null, "explanation": "same" } });
    with_script(&project, "script", &[bad, good]);
    project.run("judge ask --judge model --case auth --golden token Rename").expect(0);
    project.run("judge ask --judge script --case orders --golden leak Leak").expect(0);
    project
}

fn exchange_keys(project: &Project) -> Vec<String> {
    let list = project.json("judge show --json");
    list["newest"].as_array().unwrap().iter().map(|e| e["key"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn exchanges_are_listed_newest_first_with_totals_per_model() {
    let project = suite_with_exchanges();
    let ran = run_narrow(&project, &["judge", "show"]).expect(0);
    assert!(ran.err.contains("2 exchanges in the ledger"), "{}", ran.err);
    insta::assert_snapshot!(ran.out);
    let list = project.json("judge show --json");
    let totals: Vec<&Value> = list["models"].as_array().unwrap().iter().map(|m| &m["tokens_in"]).collect();
    assert_eq!(totals, [&json!(800), &json!(0)]);
    assert_eq!(list["newest"][1]["model"], "model-of-model");
}

#[test]
fn exchange_is_shown_in_full_without_control_characters() {
    let project = suite_with_exchanges();
    let key = &exchange_keys(&project)[0];
    let ran = run_narrow(&project, &["judge", "show", &key[..8]]).expect(0);
    assert!(!ran.out.contains('\u{1b}') && !ran.out.contains('\u{202e}'), "{}", ran.out);
    let output: Vec<&str> = ran.out.lines().filter(|line| !line.starts_with("made ")).collect();
    insta::assert_snapshot!(output.join("\n"));
    let whole = project.json(&format!("judge show {key} --json"));
    assert_eq!((&whole["key"], &whole["template"]), (&json!(key), &json!("pair/v1")));
    assert_eq!(whole["replies"][0]["text"], "I \u{1b}[31mthink\u{202e} so.");
    assert_eq!(whole["template_hash"], json!(karat::judge::template::PAIR.hash()));
}

#[test]
fn ambiguous_key_is_refused() {
    let project = suite_with_exchanges();
    let both = exchange_keys(&project);
    // Enough exchanges that each first digit is ambiguous.
    let line = project.ok("store export --ledger").lines().next().unwrap().to_owned();
    let exchange: Value = serde_json::from_str(&line).unwrap();
    let more = (0..8).map(|n| {
        let mut exchange = exchange.clone();
        exchange["key"] = json!(format!("abc{n}{}", "0".repeat(60)));
        exchange
    });
    project.write("more.jsonl", lines(&more.collect::<Vec<_>>()));
    project.run("store import more.jsonl").expect(0);
    project
        .run("judge show abc")
        .expect_error(2, &["matches abc000000000, abc100000000", "or others; use a longer prefix"]);
    project.run("judge show ABC3").expect(0);
    project.run("judge show xyz").expect_error(2, &["invalid exchange key `xyz`"]);
    project.run(&format!("judge show {}0", both[0])).expect_error(2, &["the ledger has no exchange"]);
    Project::new().run("judge show").expect_error(5, &["there is no store"]);
}

#[test]
fn explain_names_the_exchange_of_a_match() {
    let project = suite();
    with_server(&project, "model", &Server::deciding_by_prompt(judge_by_title));
    let found =
        json!([{ "id": "f1", "title": "Token never expires", "message": "x", "file": "app.py", "line_start": 1 }]);
    project.write("s.jsonl", lines(&[trial("auth", "ada", 1, found)]));
    let report = project.json("score . --submission s.jsonl --judge model --json");
    let cases = report["tools"][0]["cases"].as_array().unwrap();
    let case = cases.iter().find(|case| case["case"] == "auth").unwrap();
    let key = case["trials"][0]["matches"][0]["judgement"]["exchange"].as_str().unwrap();
    assert_eq!(key.len(), 64);
    let output = project.ok("explain auth --submission s.jsonl --judge model");
    let line = output.lines().find(|line| line.contains("exchange ")).unwrap_or_else(|| panic!("{output}"));
    let (short, command) = line.trim().strip_prefix("exchange ").unwrap().split_once(": karat ").unwrap();
    assert!(key.starts_with(short), "{line}");
    let exchange = project.ok(command);
    assert!(exchange.contains(key) && exchange.contains("by title"), "{exchange}");
    // A match without a judge question has no exchange.
    let output = project.ok("explain auth --submission s.jsonl --judge local");
    assert!(!output.contains("exchange"), "{output}");
}
