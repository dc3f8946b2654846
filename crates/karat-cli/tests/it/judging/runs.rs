//! Judging at the end of a run: checks before it starts, and what is kept if the judge fails.

use super::{
    JUDGES, KEY, command, command_without_key, find_judge, pair_answer, project, report, run, server_answering,
    server_deciding, unused_port, warnings, without_measurements,
};
use crate::judge_engine::server::{Behaviour, Fault, Server};
use crate::project::{CommandOutput, Project};
use crate::run::{FINDS_IT, with_cases, with_tool};
use serde_json::{Value, json};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A suite with code, a tool that reports every golden, and judges.
fn project_with_tool(cases: usize) -> Project {
    let project = with_cases(cases);
    with_tool(&project, "finder", FINDS_IT, "");
    project.write("suite/karat.toml", format!("[suite]\nname = \"small\"\n{JUDGES}"));
    project
}

const LINE: &str = "run suite --tool tools/finder.toml --trials 1 --judge sonnet -q --json";

#[test]
fn missing_key_is_reported_before_the_first_trial() {
    let project = project_with_tool(1);
    let ran = CommandOutput::start(project.command().args(LINE.split_whitespace()));
    ran.expect_error(5, &["the judge `sonnet` cannot be asked", "ANTHROPIC_API_KEY holds no key"]);
    let panel = LINE.replace("sonnet", "local,sonnet");
    CommandOutput::start(project.command().args(panel.split_whitespace()))
        .expect_error(5, &["ANTHROPIC_API_KEY holds no key"]);
    assert!(!project.path(".karat").exists(), "a run was started");
    project.run(&LINE.replace("sonnet", "sonet")).expect_error(2, &["did you mean `sonnet`?"]);
    // Without a judge, no key is needed.
    project.run(&format!("{} --trials 1", LINE.replace("sonnet", "none").replace(" --trials 1", ""))).expect(0);
}

/// A failing judge loses no trial: they are stored, and judged on resume.
#[test]
fn trials_are_stored_when_the_judge_fails() {
    let project = project_with_tool(3);
    let closed = Server::start(Behaviour::always(&[Fault::Unauthorized]));
    let failed = run(&project, &closed, LINE);
    let failed = failed
        .expect_error(5, &["the key was rejected", "all trials are stored", "karat run --resume", "--judge none"]);
    assert_eq!(failed.out, "");
    assert_eq!(project.ok("store export latest").lines().count(), 3);
    assert_eq!(project.json("store list --json")[0]["state"], "stopped");
    let programs = project.path("tools/finder.sh");
    std::fs::remove_file(programs).unwrap();
    let server = server_answering(true);
    let ran = run(&project, &server, "run --resume latest -q --json").expect(0);
    let scorecard: Value = serde_json::from_str(&ran.out).unwrap();
    // The three cases are equal, so there is one question.
    let judge = find_judge(&scorecard, "sonnet");
    assert_eq!((&judge["asked"], &judge["cached"], server.requests()), (&json!(3), &json!(2), 1), "{judge}");
    assert_eq!(scorecard["tools"][0]["metrics"]["recall"]["value"], 1.0);
    assert_eq!(project.json("store list --json")[0]["state"], "complete");
    // Without the judge, as suggested in the message.
    run(&project, &closed, "score latest --judge none --json").expect(0);
}

/// A judged run can be explained, reported and scored again without a judge.
#[test]
fn judged_run_is_reported_without_a_server() {
    let project = project_with_tool(2);
    let server = server_answering(true);
    let first = run(&project, &server, LINE).expect(0);
    let run_without_key = |line: &str| {
        CommandOutput::start(command_without_key(&project, unused_port()).args(line.split_whitespace())).expect(0)
    };
    assert!(run_without_key("explain case-1 --run latest").out.contains("sonnet"));
    assert_eq!(without_measurements(&run_without_key("score latest --json").out), without_measurements(&first.out));
    assert_eq!(run_without_key("report latest --json").out, first.out);
    // Decisions are shown even without the ledger and the suite.
    let forgetful = project_with_tool(1);
    run(&forgetful, &server, &format!("{LINE} --judge-cache off")).expect(0);
    std::fs::remove_dir_all(forgetful.path("suite")).unwrap();
    let ran = CommandOutput::start(
        command_without_key(&forgetful, unused_port()).args(["explain", "case-1", "--run", "latest"]),
    )
    .expect(0);
    assert!(ran.out.contains("sonnet"), "{}", ran.out);
}

/// With the present goldens, answers about unchanged ones are reused, and a changed one is asked about.
#[test]
fn only_changed_goldens_are_judged_again() {
    let project = project_with_tool(2);
    let server = server_answering(true);
    run(&project, &server, LINE).expect(0);
    let asked = server.requests();
    let line = "score suite --run latest --json";
    run(&project, &server, line).expect(0);
    assert_eq!(server.requests(), asked, "unchanged goldens were judged again");
    let file = "suite/cases/case-1/case.yaml";
    project.write(file, project.read(file).replace("SQL query built from input", "Query joins a name of the user"));
    let scored: Value = serde_json::from_str(&run(&project, &server, line).expect(0).out).unwrap();
    assert_eq!(server.requests(), asked + 1, "{scored}");
    assert_eq!(scored["tools"][0]["metrics"]["recall"]["value"], 1.0);
}

/// An imported run could name a judge whose URL collects keys; only judges of local files are asked.
#[test]
fn judges_of_an_imported_run_are_not_asked() {
    let project = project_with_tool(1);
    let server = server_answering(true);
    let config = project.read("suite/karat.toml");
    let trap = format!("[judges.sonnet]\nbase_url = \"http://127.0.0.1:{}\"", server.port);
    project.write("suite/karat.toml", config.replace("[judges.sonnet]", &trap));
    run(&project, &server, &format!("{LINE} --judge-cache off")).expect(0);
    project.ok("store export latest --whole -o run.jsonl");
    project.ok("store import run.jsonl --store other");
    std::fs::rename(project.path("suite"), project.path("gone")).unwrap();
    let requests = server.requests();
    for line in ["score latest", "score latest --judge sonnet", "score latest --profile crb --judge sonnet"] {
        let mut command = command_without_key(&project, unused_port());
        let line = format!("{line} --store other --json");
        let ran = CommandOutput::start(command.env("ANTHROPIC_API_KEY", KEY).args(line.split_whitespace()));
        ran.expect_error(2, &["unknown judge `sonnet`"]);
    }
    assert_eq!(server.requests(), requests, "a key was sent to the URL of an imported file");
    // Its stored results, and whatever needs no judge, are available.
    run(&project, &server, "report latest --store other --json").expect(0);
    run(&project, &server, "score latest --store other --judge local --json").expect(0);
    assert_eq!(server.requests(), requests);
}

/// A judge may favour models of its own provider, which is reported as a warning.
#[test]
fn judge_and_tool_of_one_provider_give_a_warning() {
    let server = server_answering(true);
    let check = |model: &str, judge: &str, warned: bool| {
        let project = project_with_tool(1);
        let scorecard = report(&project, &server, &format!("{} --model {model}", LINE.replace("sonnet", judge)));
        let warnings = warnings(&scorecard);
        assert_eq!(warnings.contains("a judge may favour its own kind"), warned, "{model} {judge}: {warnings}");
        if warned {
            assert!(
                warnings.contains(&format!("the judge {judge} is a model of")) && warnings.contains("finder uses"),
                "{warnings}"
            );
        }
    };
    let manifest = |project: &Project| project.read("tools/finder.toml");
    assert!(manifest(&project_with_tool(1)).contains("command"));
    check("claude-opus-4", "sonnet", true);
    check("gpt-4o", "gpt", true);
    check("gpt-4o", "sonnet", false);
    check("claude-opus-4", "local", false);
    check("claude-opus-4", "local,sonnet", true);
}

/// Starts a command and waits until the server has received this many requests.
fn start_and_wait_for_requests(project: &Project, server: &Server, line: &str, requests: u64) -> Child {
    let child = Command::new(env!("CARGO_BIN_EXE_karat"))
        .args(line.split_whitespace())
        .env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{}", server.port))
        .env("ANTHROPIC_API_KEY", KEY)
        .env("XDG_CONFIG_HOME", project.path(".user"))
        .current_dir(project.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while server.requests() < requests && started.elapsed() < crate::run::STOP_LIMIT {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(server.requests(), requests);
    child
}

/// Sends SIGINT once eight answers are stored and returns stderr.
fn interrupt(project: &Project, child: Child) -> String {
    // All but four were answered.
    let started = Instant::now();
    while project.run("store export --ledger").out.lines().count() < 8 {
        assert!(started.elapsed() < Duration::from_secs(120), "the answers are not in the ledger");
        std::thread::sleep(Duration::from_millis(20));
    }
    let began = Instant::now();
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(began.elapsed() < crate::run::STOP_LIMIT, "{:?}", began.elapsed());
    assert_eq!(output.status.code(), Some(5));
    String::from_utf8(output.stderr).unwrap()
}

/// SIGINT while a model is answering: it stops at once, answers are stored, and only the rest is asked later.
#[test]
fn interrupted_judging_can_be_resumed() {
    let project = project(12, 1);
    let slow = || {
        server_deciding(
            |words| if words.contains("in reader 1") { Err(Fault::Silent) } else { Ok(pair_answer(true, 1.0)) },
        )
    };
    // Readers 1 and 10 to 12 are never answered.
    let line = "score suite --submission it.jsonl --judge sonnet --json";
    let server = slow();
    let stderr = interrupt(&project, start_and_wait_for_requests(&project, &server, line, 12));
    assert!(stderr.contains("stopped: what was answered is kept in the ledger"), "{stderr}");
    let other = server_answering(true);
    let scorecard = report(&project, &other, line);
    assert_eq!((other.requests(), &find_judge(&scorecard, "sonnet")["asked"]), (4, &json!(12)));

    // The same at the end of a run, where the signal handler is already installed.
    let project = super::project(12, 1);
    let server = slow();
    let line = "run suite --tool replay:it.jsonl --trials 1 --judge sonnet";
    let stderr = interrupt(&project, start_and_wait_for_requests(&project, &server, line, 12));
    assert!(stderr.contains("all trials are stored; ask the judge again with: karat run --resume"), "{stderr}");
    let other = server_answering(true);
    let mut command = command(&project, &other);
    let ran = CommandOutput::start(command.args("run --resume latest --json -q".split_whitespace())).expect(0);
    let scorecard: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((other.requests(), &find_judge(&scorecard, "sonnet")["asked"]), (4, &json!(12)));
}
