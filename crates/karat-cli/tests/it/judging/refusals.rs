//! Models and servers that do not take what they are sent: they are asked without it, and the report says so.

use super::{command, lasting, of_judge, project, run, warnings};
use crate::judge_engine::server::{Behaviour, Fault, Server};
use crate::project::Ran;
use serde_json::{Value, json};

/// What Anthropic and OpenAI say of `temperature` to models that sample as they like.
const REFUSALS: [(&str, &str); 2] = [
    (
        "sonnet",
        r#"{"type": "error", "error": {"type": "invalid_request_error", "message": "`temperature` is deprecated for this model."}}"#,
    ),
    (
        "gpt",
        r#"{"error": {"message": "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.", "type": "invalid_request_error", "param": "temperature", "code": "unsupported_value"}}"#,
    ),
];

fn without_temperature(words: &'static str) -> Server {
    Server::weighing(Behaviour::GOOD, move |body| match body.get("temperature") {
        Some(_) => Err(Fault::Says(400, words)),
        None => Ok(super::pair(true, 0.9)),
    })
}

#[test]
fn a_report_says_that_sampling_was_the_providers() {
    for (judge, words) in REFUSALS {
        let project = project(30, 1);
        let server = without_temperature(words);
        let line = format!("score suite --submission it.jsonl --judge {judge} --json");
        let ran = run(&project, &server, &line).expect(0);
        assert_eq!((server.requests(), server.faults()), (31, 1), "{judge}");
        let report: Value = serde_json::from_str(&ran.out).unwrap();
        let told = of_judge(&report, judge);
        assert_eq!(
            (&told["sampling"], &told["refused_parameters"], told.get("answer_format")),
            (&json!("provider_default"), &json!(["temperature"]), None)
        );
        let warned = format!("{judge}: the provider refused `temperature`, and gave 30 answers without");
        assert!(warnings(&report).contains(&warned), "{}", warnings(&report));
        let table = run(&project, &server, &format!("score suite --submission it.jsonl --judge {judge}")).expect(0);
        assert!(table.out.split_whitespace().collect::<Vec<_>>().join(" ").contains("sampling: provider default"));
        // The same bytes from the ledger, and nobody is asked.
        let again = run(&project, &server, &format!("{line} --judge-cache only")).expect(0);
        assert_eq!((lasting(&again.out), server.requests()), (lasting(&ran.out), 31));
        project.ok("store verify");
    }
    // What is sent as configured is not worth a word.
    let report =
        super::report(&project(1, 1), &super::sure(true), "score suite --submission it.jsonl --judge gpt --json");
    let told = of_judge(&report, "gpt");
    assert!(told.get("sampling").is_none() && told.get("refused_parameters").is_none(), "{told}");
}

#[test]
fn a_tool_that_is_a_model_is_adapted_to_in_the_same_way() {
    let server = Server::weighing(Behaviour::GOOD, |body| match body.get("temperature") {
        Some(_) => Err(Fault::Says(400, REFUSALS[1].1)),
        None => Ok(json!({ "findings": [] })),
    });
    let project = crate::run::with_cases(3);
    let mut command = project.command();
    command.env("OPENAI_BASE_URL", format!("http://127.0.0.1:{}/v1", server.port));
    command.args(["run", "suite", "--tool", "llm:openai/m", "--trials", "2", "-j", "4", "-q", "--json"]);
    let report: Value = serde_json::from_str(&Ran::start(&mut command).expect(0).out).unwrap();
    assert_eq!(crate::run::outcomes(&report), "reported 6");
    assert_eq!((server.requests(), server.faults()), (7, 1));
    assert!(warnings(&report).contains("the provider refused `temperature`"), "{}", warnings(&report));
}

/// With a key as people give it to a server that needs none, answers stay what they are.
#[test]
fn a_short_key_strikes_nothing() {
    let project = project(3, 1);
    let said = json!({ "match": true, "confidence": 0.9, "partial": false, "explanation": "An explicit example." });
    let server = Server::saying(Behaviour::GOOD, Some(said));
    for judge in ["sonnet", "gpt"] {
        let line = format!("score suite --submission it.jsonl --judge {judge} --json");
        let mut command = command(&project, &server);
        command.envs([("ANTHROPIC_API_KEY", "x"), ("OPENAI_API_KEY", "x")]).args(line.split_whitespace());
        let ran = Ran::start(&mut command).expect(0);
        let report: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(of_judge(&report, judge)["unjudged"], 0);
        assert!(ran.out.contains("An explicit example."), "{}", ran.out);
    }
}
