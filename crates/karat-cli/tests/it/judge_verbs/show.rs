//! `karat judge show`, and the ways that lead to it.

use super::{honest, narrow, suite, with_script, with_server};
use crate::judge_engine::server::Server;
use crate::project::{Project, lines, trial};
use serde_json::{Value, json};

/// A suite with two exchanges: one with a server, then one with a script that answers badly at first.
fn asked() -> Project {
    let project = suite();
    with_server(&project, "model", &Server::thinking(honest));
    let bad = json!({ "answer": "I \u{1b}[31mthink\u{202e} so." });
    let good = json!({ "answer": { "match": true, "confidence": 1, "partial": null, "explanation": "same" } });
    with_script(&project, "script", &[bad, good]);
    project.run("judge ask --judge model --case auth --golden token Rename").expect(0);
    project.run("judge ask --judge script --case orders --golden leak Leak").expect(0);
    project
}

fn keys(project: &Project) -> Vec<String> {
    let list = project.json("judge show --json");
    list["newest"].as_array().unwrap().iter().map(|e| e["key"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_newest_come_first_and_models_are_added_up() {
    let project = asked();
    let ran = narrow(&project, &["judge", "show"]).expect(0);
    assert!(ran.err.contains("2 exchanges in the ledger"), "{}", ran.err);
    insta::assert_snapshot!(ran.out);
    let list = project.json("judge show --json");
    let totals: Vec<&Value> = list["models"].as_array().unwrap().iter().map(|m| &m["tokens_in"]).collect();
    assert_eq!(totals, [&json!(800), &json!(0)]);
    assert_eq!(list["newest"][1]["model"], "model-of-model");
}

#[test]
fn an_exchange_is_shown_whole_and_harmless() {
    let project = asked();
    let key = &keys(&project)[0];
    let ran = narrow(&project, &["judge", "show", &key[..8]]).expect(0);
    assert!(!ran.out.contains('\u{1b}') && !ran.out.contains('\u{202e}'), "{}", ran.out);
    let told: Vec<&str> = ran.out.lines().filter(|line| !line.starts_with("made ")).collect();
    insta::assert_snapshot!(told.join("\n"));
    let whole = project.json(&format!("judge show {key} --json"));
    assert_eq!((&whole["key"], &whole["template"]), (&json!(key), &json!("pair/v1")));
    assert_eq!(whole["replies"][0]["text"], "I \u{1b}[31mthink\u{202e} so.");
    assert_eq!(whole["template_hash"], json!(karat::judge::template::PAIR.hash()));
}

#[test]
fn a_key_must_name_one() {
    let project = asked();
    let both = keys(&project);
    // Exchanges with every first digit, so that each of them is begun by several.
    let line = project.ok("store export --ledger").lines().next().unwrap().to_owned();
    let exchange: Value = serde_json::from_str(&line).unwrap();
    let more = (0..8).map(|n| {
        let mut exchange = exchange.clone();
        exchange["key"] = json!(format!("abc{n}{}", "0".repeat(60)));
        exchange
    });
    project.write("more.jsonl", lines(&more.collect::<Vec<_>>()));
    project.run("store import more.jsonl").expect(0);
    project.run("judge show abc").says(2, &["matches abc000000000, abc100000000", "or others; use a longer prefix"]);
    project.run("judge show ABC3").expect(0);
    project.run("judge show xyz").says(2, &["invalid exchange key `xyz`"]);
    project.run(&format!("judge show {}0", both[0])).says(2, &["the ledger has no exchange"]);
    Project::new().run("judge show").says(5, &["there is no store"]);
}

#[test]
fn a_match_leads_to_its_exchange() {
    let project = suite();
    with_server(&project, "model", &Server::thinking(honest));
    let found =
        json!([{ "id": "f1", "title": "Token never expires", "message": "x", "file": "app.py", "line_start": 1 }]);
    project.write("s.jsonl", lines(&[trial("auth", "ada", 1, found)]));
    let report = project.json("score . --submission s.jsonl --judge model --json");
    let cases = report["tools"][0]["cases"].as_array().unwrap();
    let case = cases.iter().find(|case| case["case"] == "auth").unwrap();
    let key = case["trials"][0]["matches"][0]["judgement"]["exchange"].as_str().unwrap();
    assert_eq!(key.len(), 64);
    let told = project.ok("explain auth --submission s.jsonl --judge model");
    let line = told.lines().find(|line| line.contains("exchange ")).unwrap_or_else(|| panic!("{told}"));
    let (short, command) = line.trim().strip_prefix("exchange ").unwrap().split_once(": karat ").unwrap();
    assert!(key.starts_with(short), "{line}");
    let shown = project.ok(command);
    assert!(shown.contains(key) && shown.contains("by title"), "{shown}");
    // A match that nobody was asked about has no exchange.
    let told = project.ok("explain auth --submission s.jsonl --judge local");
    assert!(!told.contains("exchange"), "{told}");
}
