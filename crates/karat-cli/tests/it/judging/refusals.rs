//! Models and servers that reject a parameter: the request is repeated without it, and the report says so.

use super::{command, find_judge, project, run, warnings, without_measurements};
use crate::judge_engine::server::{Behaviour, Fault, Server};
use crate::project::CommandOutput;
use serde_json::{Value, json};

/// The errors of Anthropic and OpenAI for models without `temperature`.
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

fn server_rejecting_temperature(words: &'static str) -> Server {
    Server::deciding_by_request(Behaviour::GOOD, move |body| match body.get("temperature") {
        Some(_) => Err(Fault::Says(400, words)),
        None => Ok(super::pair_answer(true, 0.9)),
    })
}

#[test]
fn report_states_refused_sampling_parameters() {
    for (judge, words) in REFUSALS {
        let project = project(30, 1);
        let server = server_rejecting_temperature(words);
        let line = format!("score suite --submission it.jsonl --judge {judge} --json");
        let ran = run(&project, &server, &line).expect(0);
        assert_eq!((server.requests(), server.faults()), (31, 1), "{judge}");
        let report: Value = serde_json::from_str(&ran.out).unwrap();
        let entry = find_judge(&report, judge);
        assert_eq!(
            (&entry["sampling"], &entry["refused_parameters"], entry.get("answer_format")),
            (&json!("provider_default"), &json!(["temperature"]), None)
        );
        let warned = format!("{judge}: the model refuses `temperature`, and gave 30 answers without");
        assert!(warnings(&report).contains(&warned), "{}", warnings(&report));
        let table = run(&project, &server, &format!("score suite --submission it.jsonl --judge {judge} -v")).expect(0);
        assert!(table.out.split_whitespace().collect::<Vec<_>>().join(" ").contains("sampling: provider default"));
        // The ledger gives the same report without requests.
        let again = run(&project, &server, &format!("{line} --judge-cache only")).expect(0);
        assert_eq!((without_measurements(&again.out), server.requests()), (without_measurements(&ran.out), 31));
        project.ok("store verify");
    }
    // Accepted parameters are not mentioned.
    let report = super::report(
        &project(1, 1),
        &super::server_answering(true),
        "score suite --submission it.jsonl --judge gpt --json",
    );
    let entry = find_judge(&report, "gpt");
    assert!(entry.get("sampling").is_none() && entry.get("refused_parameters").is_none(), "{entry}");
}

#[test]
fn model_tools_adapt_to_refused_parameters() {
    let server = Server::deciding_by_request(Behaviour::GOOD, |body| match body.get("temperature") {
        Some(_) => Err(Fault::Says(400, REFUSALS[1].1)),
        None => Ok(json!({ "findings": [] })),
    });
    let project = crate::run::with_cases(3);
    let mut command = project.command();
    command.env("OPENAI_BASE_URL", format!("http://127.0.0.1:{}/v1", server.port));
    command.args(["run", "suite", "--tool", "llm:openai/m", "--trials", "2", "-j", "4", "-q", "--json"]);
    let report: Value = serde_json::from_str(&CommandOutput::start(&mut command).expect(0).out).unwrap();
    assert_eq!(crate::run::outcomes(&report), "reported 6");
    assert_eq!((server.requests(), server.faults()), (7, 1));
    assert!(warnings(&report).contains("the model refuses `temperature`"), "{}", warnings(&report));
}

/// Placeholder keys, as used with servers that need none, are not redacted from answers.
#[test]
fn short_keys_are_not_redacted() {
    let project = project(3, 1);
    let answer = json!({ "match": true, "confidence": 0.9, "partial": false, "explanation": "An explicit example." });
    let server = Server::saying(Behaviour::GOOD, Some(answer));
    for judge in ["sonnet", "gpt"] {
        let line = format!("score suite --submission it.jsonl --judge {judge} --json");
        let mut command = command(&project, &server);
        command.envs([("ANTHROPIC_API_KEY", "x"), ("OPENAI_API_KEY", "x")]).args(line.split_whitespace());
        let ran = CommandOutput::start(&mut command).expect(0);
        let report: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(find_judge(&report, judge)["unjudged"], 0);
        assert!(ran.out.contains("An explicit example."), "{}", ran.out);
    }
}
