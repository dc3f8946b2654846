//! The ledger of judge answers: replayed without a server, bypassed, or refreshed.

use super::{KEY, command, command_without_key, project, run, server_answering, unused_port, without_measurements};
use crate::judge_engine::server::{Behaviour, Fault, Server, decision};
use crate::project::{CommandOutput, Project};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const LINE: &str = "score suite --submission it.jsonl --judge sonnet --json";

/// Runs a command without a server and without a key.
fn run_offline(project: &Project, line: &str) -> CommandOutput {
    CommandOutput::start(command_without_key(project, unused_port()).args(line.split_whitespace()))
}

/// Another machine needs only the exported ledger.
#[test]
fn exported_ledger_replaces_the_server() {
    let original = project(50, 3);
    let server = Server::start(Behaviour::GOOD);
    let first = run(&original, &server, LINE).expect(0);
    original.ok("store export --ledger -o ledger.jsonl.gz");
    let copy = project(50, 3).with("ledger.jsonl.gz", std::fs::read(original.path("ledger.jsonl.gz")).unwrap());
    copy.ok("store import ledger.jsonl.gz");
    let again = run_offline(&copy, &format!("{LINE} --judge-cache only")).expect(0);
    assert_eq!(without_measurements(&again.out), without_measurements(&first.out));
    // Neither a key nor a server is needed when every answer is in the ledger.
    let plain = CommandOutput::start(copy.command().args(LINE.split_whitespace())).expect(0);
    assert_eq!(without_measurements(&plain.out), without_measurements(&first.out));
    let report: serde_json::Value = serde_json::from_str(&again.out).unwrap();
    let spent = &report["measured"]["judges"]["sonnet"];
    assert_eq!((&spent["requests"], &spent["from_ledger"]), (&0.into(), &150.into()), "{spent}");
    assert_eq!(server.requests(), 150);
}

/// A missing answer is reported with its question and its key.
#[test]
fn missing_ledger_entry_is_an_error() {
    let original = project(3, 1);
    let server = server_answering(true);
    let first = run(&original, &server, LINE).expect(0);
    original.ok("store export --ledger -o ledger.jsonl");
    let ledger = original.read("ledger.jsonl");
    let (removed, remaining): (Vec<&str>, Vec<&str>) = ledger.lines().partition(|line| line.contains("Reader 2 "));
    assert_eq!((removed.len(), remaining.len()), (1, 2));
    let key = serde_json::from_str::<serde_json::Value>(removed[0]).unwrap()["key"].as_str().unwrap().to_owned();
    let copy = project(3, 1).with("ledger.jsonl", remaining.join("\n") + "\n");
    copy.ok("store import ledger.jsonl");
    run_offline(&copy, &format!("{LINE} --judge-cache only"))
        .expect_error(5, &["the question c2/g/it/1/f1", &key, "--judge-cache"]);
    // With a server only that question is asked, and the report is the same.
    let other = server_answering(true);
    let mended = run(&copy, &other, LINE).expect(0);
    assert_eq!((without_measurements(&mended.out), other.requests()), (without_measurements(&first.out), 1));
    run_offline(&copy, &format!("{LINE} --judge-cache only")).expect(0);
    // An empty ledger, and no store at all.
    let nowhere = project(3, 1);
    run_offline(&nowhere, &format!("{LINE} --judge-cache only"))
        .expect_error(5, &["the ledger holds no answer", "c1/g/it/1/f1"]);
    assert!(!nowhere.path(".karat").exists(), "a lookup created a store");
}

/// For each cache mode: requests of the first and the second execution, and whether a store is created.
#[test]
fn cache_modes_read_and_write_as_documented() {
    let check = |mode: &str, first: u64, second: u64, is_stored: bool| {
        let project = project(4, 1);
        let server = server_answering(true);
        let line = format!("{LINE} --judge-cache {mode}");
        let once = run(&project, &server, &line).expect(0);
        assert_eq!(server.requests(), first, "{mode}, the first time");
        let twice = run(&project, &server, &line).expect(0);
        assert_eq!(server.requests(), first + second, "{mode}, the second time");
        assert_eq!(without_measurements(&once.out), without_measurements(&twice.out), "{mode}");
        assert_eq!(project.path(".karat").exists(), is_stored, "{mode}");
    };
    check("read-write", 4, 0, true);
    check("read", 4, 4, false);
    check("off", 4, 4, false);
}

/// `read` uses the ledger without writing to it; `off` does not use it at all.
#[test]
fn cache_modes_apply_to_an_existing_ledger() {
    let project = project(4, 1);
    let server = server_answering(true);
    let two: String = project.read("it.jsonl").lines().take(2).map(|line| format!("{line}\n")).collect();
    project.write("two.jsonl", two);
    run(&project, &server, &LINE.replace("it.jsonl", "two.jsonl")).expect(0);
    let count_entries = || project.ok("store export --ledger").lines().count();
    assert_eq!((server.requests(), count_entries()), (2, 2));
    run(&project, &server, &format!("{LINE} --judge-cache read")).expect(0);
    assert_eq!((server.requests(), count_entries()), (4, 2));
    run(&project, &server, &format!("{LINE} --judge-cache off")).expect(0);
    assert_eq!((server.requests(), count_entries()), (8, 2));
    run(&project, &server, LINE).expect(0);
    assert_eq!((server.requests(), count_entries()), (10, 4));
}

/// Without a key, the error names the variable.
#[test]
fn missing_key_error_names_the_variable() {
    let project = project(1, 1);
    let ran = CommandOutput::start(project.command().args(LINE.split_whitespace()));
    ran.expect_error(5, &["ANTHROPIC_API_KEY holds no key", "key_env"]);
    let mut command = command(&project, &server_answering(true));
    let ran = CommandOutput::start(command.env("ANTHROPIC_API_KEY", "a\nb").args(LINE.split_whitespace()));
    assert!(!ran.expect_error(4, &["has invalid characters"]).err.contains(KEY));
}

/// A recorded ledger can act as a judge under the name of its model.
#[test]
fn recorded_ledger_can_be_a_judge() {
    let original = project(5, 2);
    let server = Server::start(Behaviour::GOOD);
    let first = run(&original, &server, LINE).expect(0);
    original.ok("store export --ledger --model claude-test -o suite/recorded.jsonl");
    let config = original.read("suite/karat.toml").replace(
        "provider = \"anthropic\"\nmodel = \"claude-test\"",
        "provider = \"replay\"\nfile = \"recorded.jsonl\"",
    );
    original.write("suite/karat.toml", config);
    let ran = run_offline(&original, &format!("{LINE} --judge-cache off")).expect(0);
    assert_eq!(without_measurements(&ran.out), without_measurements(&first.out));
}

/// The reported cost is the sum over the ledger, including repeated questions.
#[test]
fn reported_cost_is_the_sum_of_the_ledger() {
    let project = project(20, 1);
    let config = project.read("suite/karat.toml").replace("-test\"", "-test\"\nprice_in = 2.5\nprice_out = 10");
    project.write("suite/karat.toml", config);
    let behaviour = Behaviour { faults: 400, kinds: &[Fault::Prose, Fault::CutAnswer], seed: 3, ..Behaviour::GOOD };
    let server = Server::start(behaviour);
    for _ in 0..2 {
        let scorecard = super::report(&project, &server, LINE);
        project.ok("store export --ledger -o ledger.jsonl");
        let ledger: Vec<serde_json::Value> =
            project.read("ledger.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(
            ledger.iter().any(|exchange| exchange["replies"].as_array().unwrap().len() > 1),
            "no question was repeated"
        );
        let usd: f64 = ledger.iter().map(|exchange| exchange["usd"].as_f64().unwrap()).sum();
        let judge = super::find_judge(&scorecard, "sonnet");
        assert_eq!(judge["usd"].as_f64(), Some(usd), "{judge}");
        let tokens = |key: &str| ledger.iter().map(|exchange| exchange[key].as_u64().unwrap()).sum::<u64>();
        assert_eq!(judge["tokens"].as_u64(), Some(tokens("tokens_in") + tokens("tokens_out")));
    }
}

/// A question in flight when Karat was killed may have been paid for without its answer being stored.
#[test]
fn questions_in_flight_at_a_kill_are_reported() {
    let project = project(4, 1);
    let silent = Server::start(Behaviour::always(&[Fault::Silent]));
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_karat"))
        .args(LINE.split_whitespace())
        .current_dir(project.path(""))
        .env("XDG_CONFIG_HOME", project.path(".user"))
        .env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{}", silent.port))
        .env("ANTHROPIC_API_KEY", KEY)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let started = std::time::Instant::now();
    while silent.requests() == 0 {
        assert!(started.elapsed() < crate::run::STOP_LIMIT, "no request arrived");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let sent = silent.requests();
    let server = server_answering(true);
    let warnings = super::warnings(&super::report(&project, &server, LINE));
    let (_, after) = warnings.split_once("sonnet: ").unwrap_or_else(|| panic!("{warnings}"));
    let number: u64 = after.split_whitespace().next().unwrap().parse().unwrap();
    assert!(number >= sent && number <= 4, "{sent} requests were sent: {warnings}");
    assert!(warnings.contains("in flight when the last run stopped and may have been paid twice"), "{warnings}");
    // All are answered now, so there is no warning.
    let warnings = super::warnings(&super::report(&project, &server, LINE));
    assert!(!warnings.contains("in flight"), "{warnings}");
    project.ok("store verify");
}

/// A server whose answers cannot be read until it is repaired.
fn repairable_server() -> (Server, Arc<AtomicBool>) {
    let broken = Arc::new(AtomicBool::new(true));
    let state = Arc::clone(&broken);
    let server = Server::deciding_by_request(Behaviour::GOOD, move |_| match state.load(Ordering::Relaxed) {
        true => Err(Fault::Prose),
        false => Ok(decision(7)),
    });
    (server, broken)
}

/// Answers that could not be read are kept and named, asked for again by the same command, and replaced.
#[test]
fn unreadable_answers_do_not_stick() {
    // With few questions each ends for itself; with many the judge gives up.
    for cases in [3, 30] {
        let project = project(cases, 1);
        let (server, broken) = repairable_server();
        let place = "the ledger of ";
        run(&project, &server, LINE).expect_error(5, &["could not be read", place]);
        let asked = server.requests();
        assert!(asked > 0 && project.ok("store export --ledger").contains("I believe they are"));
        run(&project, &server, LINE).expect_error(5, &["could not be read", place]);
        assert!(server.requests() > asked, "the second time");
        broken.store(false, Ordering::Relaxed);
        let before = server.requests();
        let mended = run(&project, &server, LINE).expect(0);
        assert_eq!(server.requests() - before, cases as u64);
        assert!(!project.ok("store export --ledger").contains("I believe they are"), "the entries were not replaced");
        project.ok("store verify");
        let again = run_offline(&project, &format!("{LINE} --judge-cache only")).expect(0);
        // A judge that gave up left requests in flight, which the next run that asks warns of.
        let figures = |out: &str| serde_json::from_str::<Value>(out).unwrap()["tools"].clone();
        assert_eq!(figures(&again.out), figures(&mended.out));
    }
}

/// An exported ledger with better answers replaces what could not be read, and never the other way round.
#[test]
fn imported_answers_replace_unreadable_ones() {
    let (server, broken) = repairable_server();
    let (first, second) = (project(3, 1), project(3, 1));
    run(&first, &server, LINE).expect(5);
    broken.store(false, Ordering::Relaxed);
    run(&second, &server, LINE).expect(0);
    let bad = first.ok("store export --ledger");
    let good = second.ok("store export --ledger");
    first.write("good.jsonl", &good);
    second.write("bad.jsonl", &bad);
    first.ok("store import good.jsonl");
    second.ok("store import bad.jsonl");
    assert_eq!((first.ok("store export --ledger"), second.ok("store export --ledger")), (good.clone(), good));
}
