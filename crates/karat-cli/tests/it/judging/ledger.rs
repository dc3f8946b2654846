//! What was answered once: told again elsewhere without a server, left alone, or asked for anew.

use super::{KEY, command, lasting, nobody, project, run, sure, unkeyed};
use crate::judge_engine::server::{Behaviour, Fault, Server};
use crate::project::{Project, Ran};

const LINE: &str = "score suite --submission it.jsonl --judge sonnet --json";

/// Runs a line where nobody can be asked: no server, and no key.
fn alone(project: &Project, line: &str) -> Ran {
    Ran::start(unkeyed(project, nobody()).args(line.split_whitespace()))
}

/// The same work on another machine, with nothing but the exported ledger.
#[test]
fn an_exported_ledger_is_enough() {
    let here = project(50, 3);
    let server = Server::start(Behaviour::GOOD);
    let first = run(&here, &server, LINE).expect(0);
    here.ok("store export --ledger -o ledger.jsonl.gz");
    let there = project(50, 3).with("ledger.jsonl.gz", std::fs::read(here.path("ledger.jsonl.gz")).unwrap());
    there.ok("store import ledger.jsonl.gz");
    let again = alone(&there, &format!("{LINE} --judge-cache only")).expect(0);
    assert_eq!(lasting(&again.out), lasting(&first.out));
    // Neither is a key missed where everything is known, nor any server.
    let plain = Ran::start(there.command().args(LINE.split_whitespace())).expect(0);
    assert_eq!(lasting(&plain.out), lasting(&first.out));
    let report: serde_json::Value = serde_json::from_str(&again.out).unwrap();
    let spent = &report["measured"]["judges"]["sonnet"];
    assert_eq!((&spent["requests"], &spent["from_ledger"]), (&0.into(), &150.into()), "{spent}");
    assert_eq!(server.requests(), 150);
}

/// What is not recorded is named: the question, so that a person knows what it is about, and what it would be kept under.
#[test]
fn a_hole_in_the_ledger_is_an_error() {
    let here = project(3, 1);
    let server = sure(true);
    let first = run(&here, &server, LINE).expect(0);
    here.ok("store export --ledger -o ledger.jsonl");
    let ledger = here.read("ledger.jsonl");
    let (gone, kept): (Vec<&str>, Vec<&str>) = ledger.lines().partition(|line| line.contains("Reader 2 "));
    assert_eq!((gone.len(), kept.len()), (1, 2));
    let key = serde_json::from_str::<serde_json::Value>(gone[0]).unwrap()["key"].as_str().unwrap().to_owned();
    let there = project(3, 1).with("ledger.jsonl", kept.join("\n") + "\n");
    there.ok("store import ledger.jsonl");
    alone(&there, &format!("{LINE} --judge-cache only")).says(5, &["the question c2/g/it/1/f1", &key, "--judge-cache"]);
    // With a server that one question is asked, and the report is the same.
    let other = sure(true);
    let mended = run(&there, &other, LINE).expect(0);
    assert_eq!((lasting(&mended.out), other.requests()), (lasting(&first.out), 1));
    alone(&there, &format!("{LINE} --judge-cache only")).expect(0);
    // An empty ledger, and no store at all.
    let nowhere = project(3, 1);
    alone(&nowhere, &format!("{LINE} --judge-cache only")).says(5, &["the ledger holds no answer", "c1/g/it/1/f1"]);
    assert!(!nowhere.path(".karat").exists(), "looking for answers made a store");
}

/// Every mode, with a server that counts: what is asked of it the first time and the second, and what is left behind.
#[test]
fn every_mode_does_what_it_says() {
    let check = |mode: &str, first: u64, second: u64, kept: bool| {
        let project = project(4, 1);
        let server = sure(true);
        let line = format!("{LINE} --judge-cache {mode}");
        let once = run(&project, &server, &line).expect(0);
        assert_eq!(server.requests(), first, "{mode}, the first time");
        let twice = run(&project, &server, &line).expect(0);
        assert_eq!(server.requests(), first + second, "{mode}, the second time");
        assert_eq!(lasting(&once.out), lasting(&twice.out), "{mode}");
        assert_eq!(project.path(".karat").exists(), kept, "{mode}");
    };
    check("read-write", 4, 0, true);
    check("read", 4, 4, false);
    check("off", 4, 4, false);
}

/// Reading takes what is there and keeps nothing; off does not even look.
#[test]
fn what_is_kept_is_taken_or_left() {
    let project = project(4, 1);
    let server = sure(true);
    let two: String = project.read("it.jsonl").lines().take(2).map(|line| format!("{line}\n")).collect();
    project.write("two.jsonl", two);
    run(&project, &server, &LINE.replace("it.jsonl", "two.jsonl")).expect(0);
    let kept = || project.ok("store export --ledger").lines().count();
    assert_eq!((server.requests(), kept()), (2, 2));
    run(&project, &server, &format!("{LINE} --judge-cache read")).expect(0);
    assert_eq!((server.requests(), kept()), (4, 2));
    run(&project, &server, &format!("{LINE} --judge-cache off")).expect(0);
    assert_eq!((server.requests(), kept()), (8, 2));
    run(&project, &server, LINE).expect(0);
    assert_eq!((server.requests(), kept()), (10, 4));
}

/// Without a key nobody can be asked, and it is said which variable is empty.
#[test]
fn a_missing_key_is_told() {
    let project = project(1, 1);
    let ran = Ran::start(project.command().args(LINE.split_whitespace()));
    ran.says(5, &["ANTHROPIC_API_KEY holds no key", "key_env"]);
    let mut command = command(&project, &sure(true));
    let ran = Ran::start(command.env("ANTHROPIC_API_KEY", "a\nb").args(LINE.split_whitespace()));
    assert!(!ran.says(4, &["has invalid characters"]).err.contains(KEY));
}

/// A recorded ledger is a judge by itself, under the name of the model that it is of.
#[test]
fn a_recording_is_a_judge() {
    let here = project(5, 2);
    let server = Server::start(Behaviour::GOOD);
    let first = run(&here, &server, LINE).expect(0);
    here.ok("store export --ledger --model claude-test -o suite/recorded.jsonl");
    let config = here.read("suite/karat.toml").replace(
        "provider = \"anthropic\"\nmodel = \"claude-test\"",
        "provider = \"replay\"\nfile = \"recorded.jsonl\"",
    );
    here.write("suite/karat.toml", config);
    let told = alone(&here, &format!("{LINE} --judge-cache off")).expect(0);
    assert_eq!(lasting(&told.out), lasting(&first.out));
}

/// The cost in the report is the sum of what the ledger says, answers that had to be asked for twice included.
#[test]
fn the_cost_in_the_report_is_that_of_the_ledger() {
    let project = project(20, 1);
    let config = project.read("suite/karat.toml").replace("-test\"", "-test\"\nprice_in = 2.5\nprice_out = 10");
    project.write("suite/karat.toml", config);
    let behaviour = Behaviour { faults: 400, kinds: &[Fault::Prose, Fault::CutAnswer], seed: 3, ..Behaviour::GOOD };
    let server = Server::start(behaviour);
    for _ in 0..2 {
        let told = super::report(&project, &server, LINE);
        project.ok("store export --ledger -o ledger.jsonl");
        let ledger: Vec<serde_json::Value> =
            project.read("ledger.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(
            ledger.iter().any(|exchange| exchange["replies"].as_array().unwrap().len() > 1),
            "no answer was asked for twice"
        );
        let usd: f64 = ledger.iter().map(|exchange| exchange["usd"].as_f64().unwrap()).sum();
        let judge = super::of_judge(&told, "sonnet");
        assert_eq!(judge["usd"].as_f64(), Some(usd), "{judge}");
        let tokens = |key: &str| ledger.iter().map(|exchange| exchange[key].as_u64().unwrap()).sum::<u64>();
        assert_eq!(judge["tokens"].as_u64(), Some(tokens("tokens_in") + tokens("tokens_out")));
    }
}

/// A question that was on its way when Karat was killed may have been answered and paid for, and nobody has seen it.
#[test]
fn what_was_in_flight_at_a_kill_is_told() {
    let project = project(4, 1);
    let silent = Server::start(Behaviour::always(&[Fault::Silent]));
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_karat"))
        .args(LINE.split_whitespace())
        .current_dir(project.path(""))
        .env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{}", silent.port))
        .env("ANTHROPIC_API_KEY", KEY)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let patience = std::time::Instant::now();
    while silent.requests() == 0 {
        assert!(patience.elapsed().as_secs() < 60, "nothing was asked");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let sent = silent.requests();
    let server = sure(true);
    let told = super::warnings(&super::report(&project, &server, LINE));
    let (_, after) = told.split_once("sonnet: ").unwrap_or_else(|| panic!("{told}"));
    let number: u64 = after.split_whitespace().next().unwrap().parse().unwrap();
    assert!(number >= sent && number <= 4, "{sent} were sent: {told}");
    assert!(told.contains("in flight when the last run stopped and may have been paid twice"), "{told}");
    // Everything is answered now, and nothing is told any more.
    let told = super::warnings(&super::report(&project, &server, LINE));
    assert!(!told.contains("in flight"), "{told}");
    project.ok("store verify");
}
