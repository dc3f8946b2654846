//! Judging from the command line, with model servers on this machine.

mod audit_votes;
mod audits;
mod faults;
mod ledger;
mod models;
mod panels;
mod people;
mod phases;
mod refusals;
mod runs;
mod secrets;

use crate::judge_engine::server::{Behaviour, Fault, Server};
use crate::project::{CommandOutput, Project, lines, trial};
use assert_cmd::Command;
use serde_json::{Value, json};

/// A key that only the server may see.
const KEY: &str = "sk-test-5ecret0fTheHouse";

/// A judge of each wire format. Base URLs come from variables, so that each test can have its own server.
const JUDGES: &str = "\
[judges.sonnet]
provider = \"anthropic\"
model = \"claude-test\"
[judges.gpt]
provider = \"openai\"
model = \"gpt-test\"
";

/// A suite of `cases` cases with one golden each, and a submission of the tool `it` with `findings` different
/// findings per case, all near the golden.
fn project(cases: usize, findings: usize) -> Project {
    let case = |n: usize| {
        json!({ "id": format!("c{n}"), "issues": [{ "id": "g", "title": format!("Unchecked length in reader {n}"),
            "description": "The length is taken from the wire.", "file": "src/read.c", "line_start": 10 }] })
    };
    let finding = |n: usize, f: usize| {
        json!({ "id": format!("f{f}"), "message": format!("Reader {n} trusts a length, says remark {f}."),
            "file": "src/read.c", "line_start": 10 + f })
    };
    let reported = |n: usize| (1..=findings).map(|f| finding(n, f)).collect::<Value>();
    let trials: Vec<Value> = (1..=cases).map(|n| trial(&format!("c{n}"), "it", 1, reported(n))).collect();
    Project::new()
        .with("suite/karat.toml", format!("[suite]\nname = \"readers\"\n{JUDGES}"))
        .with("suite/cases.jsonl", lines(&(1..=cases).map(case).collect::<Vec<_>>()))
        .with("it.jsonl", lines(&trials))
}

/// The command with both providers pointing to this server.
fn command(project: &Project, server: &Server) -> Command {
    let mut command = command_without_key(project, server.port);
    command.envs([("ANTHROPIC_API_KEY", KEY), ("OPENAI_API_KEY", KEY)]);
    command
}

/// The same for any port, without a key.
fn command_without_key(project: &Project, port: u16) -> Command {
    let mut command = project.command();
    command.env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{port}"));
    command.env("OPENAI_BASE_URL", format!("http://127.0.0.1:{port}/v1"));
    command
}

/// Runs a command line with this server.
fn run(project: &Project, server: &Server, line: &str) -> CommandOutput {
    CommandOutput::start(command(project, server).args(line.split_whitespace()))
}

/// The JSON report of a command that must succeed.
#[track_caller]
fn report(project: &Project, server: &Server, line: &str) -> Value {
    let ran = run(project, server, line).expect(0);
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}:\n{}", ran.out))
}

/// A server that gives the same answer for every pair.
fn server_answering(matched: bool) -> Server {
    Server::saying(Behaviour::GOOD, Some(pair_answer(matched, 0.9)))
}

/// A server that decides by the text of the question.
fn server_deciding(decide: impl Fn(&str) -> Result<Value, Fault> + Send + Sync + 'static) -> Server {
    Server::deciding_by_request(Behaviour::GOOD, move |body| decide(&user_message(body)))
}

/// The user message of a request.
fn user_message(body: &Value) -> String {
    let messages = body["messages"].as_array().unwrap();
    messages.iter().find(|message| message["role"] == "user").unwrap()["content"].as_str().unwrap().to_owned()
}

fn pair_answer(matched: bool, confidence: f64) -> Value {
    json!({ "match": matched, "confidence": confidence, "partial": false, "explanation": "Because." })
}

/// A port without a listener.
fn unused_port() -> u16 {
    std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

/// A printed report without what may differ between two executions of the same work.
#[track_caller]
fn without_measurements(printed: &str) -> String {
    let (before, rest) = printed.split_once("\n  \"measured\": {").expect("the report has no `measured`");
    let (_, after) = rest.split_once("\n  }").expect("`measured` has no end");
    format!("{before}{after}")
}

/// The report's entry for a judge.
#[track_caller]
fn find_judge<'r>(report: &'r Value, judge: &str) -> &'r Value {
    let judges = report["judges"].as_array().unwrap();
    judges.iter().find(|entry| entry["judge"] == judge).unwrap_or_else(|| panic!("no {judge} among {judges:#?}"))
}

/// All warnings of a report, one per line.
fn warnings(report: &Value) -> String {
    report["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|warning| format!("{}\n", warning.as_str().unwrap_or_default()))
        .collect()
}
