//! Judging as people see it: the command is run, models are on this machine, and what comes out is looked at.

mod audits;
mod ledger;
mod panels;
mod people;
mod phases;
mod refusals;
mod runs;
mod secrecy;
mod sturdy;

use crate::judge_engine::server::{Behaviour, Fault, Server};
use crate::project::{Project, Ran, lines, trial};
use assert_cmd::Command;
use serde_json::{Value, json};

/// What must be seen by nobody but the server.
const KEY: &str = "sk-test-5ecret0fTheHouse";

/// A judge of each wire format. Their addresses come from variables, so that every test may have a server of its own.
const JUDGES: &str = "\
[judges.sonnet]
provider = \"anthropic\"
model = \"claude-test\"
[judges.gpt]
provider = \"openai\"
model = \"gpt-test\"
";

/// A suite of so many cases, each with one golden, and what a tool called `it` reported: as many findings as named, all of
/// them near the golden, no two alike.
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

/// The command in an environment in which both providers are this server.
fn command(project: &Project, server: &Server) -> Command {
    let mut command = unkeyed(project, server.port);
    command.envs([("ANTHROPIC_API_KEY", KEY), ("OPENAI_API_KEY", KEY)]);
    command
}

/// The same at any port, and without a key.
fn unkeyed(project: &Project, port: u16) -> Command {
    let mut command = project.command();
    command.env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{port}"));
    command.env("OPENAI_BASE_URL", format!("http://127.0.0.1:{port}/v1"));
    command
}

/// Runs a line with a server to ask.
fn run(project: &Project, server: &Server, line: &str) -> Ran {
    Ran::start(command(project, server).args(line.split_whitespace()))
}

/// The report of a line that must end well.
#[track_caller]
fn report(project: &Project, server: &Server, line: &str) -> Value {
    let ran = run(project, server, line).expect(0);
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}:\n{}", ran.out))
}

/// A server that says the same of every pair.
fn sure(matched: bool) -> Server {
    Server::saying(Behaviour::GOOD, Some(pair(matched, 0.9)))
}

/// A server that goes by the words of what it is asked.
fn by_words(think: impl Fn(&str) -> Result<Value, Fault> + Send + Sync + 'static) -> Server {
    Server::weighing(Behaviour::GOOD, move |body| think(&user(body)))
}

/// What the user's part of a request says.
fn user(body: &Value) -> String {
    let messages = body["messages"].as_array().unwrap();
    messages.iter().find(|message| message["role"] == "user").unwrap()["content"].as_str().unwrap().to_owned()
}

/// An answer about a pair.
fn pair(matched: bool, confidence: f64) -> Value {
    json!({ "match": matched, "confidence": confidence, "partial": false, "explanation": "Because." })
}

/// A port that nobody listens at.
fn nobody() -> u16 {
    std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

/// A report byte by byte as it was printed, without what may differ between two executions of the same work.
#[track_caller]
fn lasting(printed: &str) -> String {
    let (before, rest) = printed.split_once("\n  \"measured\": {").expect("nothing was measured");
    let (_, after) = rest.split_once("\n  }").expect("`measured` has no end");
    format!("{before}{after}")
}

/// What the report says of a judge.
#[track_caller]
fn of_judge<'r>(report: &'r Value, judge: &str) -> &'r Value {
    let judges = report["judges"].as_array().unwrap();
    judges.iter().find(|entry| entry["judge"] == judge).unwrap_or_else(|| panic!("no {judge} among {judges:#?}"))
}

/// All warnings of a report, one a line.
fn warnings(report: &Value) -> String {
    report["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|warning| format!("{}\n", warning.as_str().unwrap_or_default()))
        .collect()
}
