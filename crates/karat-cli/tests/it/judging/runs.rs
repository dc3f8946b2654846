//! Judging at the end of a run: what is said before it begins, and what is left when the judge fails.

use super::{
    JUDGES, KEY, by_words, command, lasting, nobody, of_judge, pair, project, report, run, sure, unkeyed, warnings,
};
use crate::judge_engine::server::{Behaviour, Fault, Server};
use crate::project::{Project, Ran};
use crate::run::{FINDS_IT, with_cases, with_tool};
use serde_json::{Value, json};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A suite with code, a tool that finds what there is, and judges.
fn tooled(cases: usize) -> Project {
    let project = with_cases(cases);
    with_tool(&project, "finder", FINDS_IT, "");
    project.write("suite/karat.toml", format!("[suite]\nname = \"small\"\n{JUDGES}"));
    project
}

const LINE: &str = "run suite --tool tools/finder.toml --trials 1 --judge sonnet -q --json";

/// What is missing is said before anybody works in vain.
#[test]
fn a_missing_key_is_told_before_the_first_trial() {
    let project = tooled(1);
    let ran = Ran::start(project.command().args(LINE.split_whitespace()));
    ran.says(2, &["the judge `sonnet` cannot be asked", "ANTHROPIC_API_KEY holds no key"]);
    let panel = LINE.replace("sonnet", "local,sonnet");
    Ran::start(project.command().args(panel.split_whitespace())).says(2, &["ANTHROPIC_API_KEY holds no key"]);
    assert!(!project.path(".karat").exists(), "something was begun");
    project.run(&LINE.replace("sonnet", "sonet")).says(2, &["did you mean `sonnet`?"]);
    // Where nobody will be asked, nothing is missing.
    project.run(&format!("{} --trials 1", LINE.replace("sonnet", "none").replace(" --trials 1", ""))).expect(0);
}

/// A judge that fails costs no trial: they are kept, and judged when somebody answers.
#[test]
fn trials_are_kept_when_the_judge_fails() {
    let project = tooled(3);
    let closed = Server::start(Behaviour::always(&[Fault::Unauthorized]));
    let failed = run(&project, &closed, LINE);
    let failed =
        failed.says(5, &["the key was rejected", "all trials are stored", "karat run --resume", "--judge none"]);
    assert_eq!(failed.out, "");
    assert_eq!(project.ok("store export latest").lines().count(), 3);
    assert_eq!(project.json("store list --json")[0]["state"], "stopped");
    let programs = project.path("tools/finder.sh");
    std::fs::remove_file(programs).unwrap();
    let server = sure(true);
    let told = run(&project, &server, "run --resume latest -q --json").expect(0);
    let told: Value = serde_json::from_str(&told.out).unwrap();
    // Three cases alike: one question, asked once.
    let judge = of_judge(&told, "sonnet");
    assert_eq!((&judge["asked"], &judge["cached"], server.requests()), (&json!(3), &json!(2), 1), "{judge}");
    assert_eq!(told["tools"][0]["metrics"]["recall"]["value"], 1.0);
    assert_eq!(project.json("store list --json")[0]["state"], "complete");
    // Without the judge, as was told.
    run(&project, &closed, "score latest --judge none --json").expect(0);
}

/// A judged run is told, drawn and scored again with nobody to ask.
#[test]
fn a_judged_run_needs_nobody_any_more() {
    let project = tooled(2);
    let server = sure(true);
    let first = run(&project, &server, LINE).expect(0);
    let alone = |line: &str| Ran::start(unkeyed(&project, nobody()).args(line.split_whitespace())).expect(0);
    assert!(alone("explain case-1 --run latest").out.contains("sonnet"));
    assert_eq!(lasting(&alone("score latest --json").out), lasting(&first.out));
    assert_eq!(alone("report latest --json").out, first.out);
    // What was decided is told also where nothing is kept of how: no ledger, and a suite that is gone.
    let forgetful = tooled(1);
    run(&forgetful, &server, &format!("{LINE} --judge-cache off")).expect(0);
    std::fs::remove_dir_all(forgetful.path("suite")).unwrap();
    let told = Ran::start(unkeyed(&forgetful, nobody()).args(["explain", "case-1", "--run", "latest"])).expect(0);
    assert!(told.out.contains("sonnet"), "{}", told.out);
}

/// A run from elsewhere could name a judge whose address is a trap for keys; only judges of this machine's own files are asked.
#[test]
fn the_judges_of_an_imported_run_are_not_asked() {
    let project = tooled(1);
    let server = sure(true);
    let config = project.read("suite/karat.toml");
    let trap = format!("[judges.sonnet]\nbase_url = \"http://127.0.0.1:{}\"", server.port);
    project.write("suite/karat.toml", config.replace("[judges.sonnet]", &trap));
    run(&project, &server, &format!("{LINE} --judge-cache off")).expect(0);
    project.ok("store export latest --whole -o run.jsonl");
    project.ok("store import run.jsonl --store other");
    std::fs::rename(project.path("suite"), project.path("gone")).unwrap();
    let requests = server.requests();
    for line in ["score latest", "score latest --judge sonnet", "score latest --profile crb --judge sonnet"] {
        let mut command = unkeyed(&project, nobody());
        let line = format!("{line} --store other --json");
        let ran = Ran::start(command.env("ANTHROPIC_API_KEY", KEY).args(line.split_whitespace()));
        ran.says(2, &["unknown judge `sonnet`"]);
    }
    assert_eq!(server.requests(), requests, "a key was sent to where a file said");
    // What it came with is told, and so is what needs no judge of its.
    run(&project, &server, "report latest --store other --json").expect(0);
    run(&project, &server, "score latest --store other --judge local --json").expect(0);
    assert_eq!(server.requests(), requests);
}

/// A judge may favour its own kind, and readers are told where it could.
#[test]
fn judge_and_tool_of_one_house_are_told_of() {
    let server = sure(true);
    let check = |model: &str, judge: &str, warned: bool| {
        let project = tooled(1);
        let told = report(&project, &server, &format!("{} --model {model}", LINE.replace("sonnet", judge)));
        let warnings = warnings(&told);
        assert_eq!(warnings.contains("a judge may favour its own kind"), warned, "{model} {judge}: {warnings}");
        if warned {
            assert!(
                warnings.contains(&format!("the judge {judge} is a model of")) && warnings.contains("finder uses"),
                "{warnings}"
            );
        }
    };
    let manifest = |project: &Project| project.read("tools/finder.toml");
    assert!(manifest(&tooled(1)).contains("command"));
    check("claude-opus-4", "sonnet", true);
    check("gpt-4o", "gpt", true);
    check("gpt-4o", "sonnet", false);
    check("claude-opus-4", "local", false);
    check("claude-opus-4", "local,sonnet", true);
}

/// Starts a command, and waits until the server has got so many requests.
fn begin(project: &Project, server: &Server, line: &str, requests: u64) -> Child {
    let child = Command::new(env!("CARGO_BIN_EXE_karat"))
        .args(line.split_whitespace())
        .env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{}", server.port))
        .env("ANTHROPIC_API_KEY", KEY)
        .current_dir(project.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let patience = Instant::now();
    while server.requests() < requests && patience.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(server.requests(), requests);
    child
}

/// Sends Ctrl-C, and gives what was said by the time it ended.
fn interrupt(child: Child) -> String {
    // What came back is on its way into the ledger.
    std::thread::sleep(Duration::from_millis(300));
    let soon = crate::run::soon();
    let began = Instant::now();
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(began.elapsed() < soon, "{:?}", began.elapsed());
    assert_eq!(output.status.code(), Some(5));
    String::from_utf8(output.stderr).unwrap()
}

/// Ctrl-C while a model thinks: it ends at once, what was answered is kept, and only the rest is asked another time.
#[test]
fn judging_can_be_stopped_and_goes_on() {
    let project = project(12, 1);
    let slow =
        || by_words(|words| if words.contains("in reader 1") { Err(Fault::Silent) } else { Ok(pair(true, 1.0)) });
    // Readers 1 and 10 to 12 are never answered.
    let line = "score suite --submission it.jsonl --judge sonnet --json";
    let server = slow();
    let said = interrupt(begin(&project, &server, line, 12));
    assert!(said.contains("stopped: what was answered is kept in the ledger"), "{said}");
    let other = sure(true);
    let told = report(&project, &other, line);
    assert_eq!((other.requests(), &of_judge(&told, "sonnet")["asked"]), (4, &json!(12)));

    // The same at the end of a run, where a wish to stop has been listened for all along.
    let project = super::project(12, 1);
    let server = slow();
    let line = "run suite --tool replay:it.jsonl --trials 1 --judge sonnet";
    let said = interrupt(begin(&project, &server, line, 12));
    assert!(said.contains("all trials are stored; ask the judge again with: karat run --resume"), "{said}");
    let other = sure(true);
    let mut command = command(&project, &other);
    let told = Ran::start(command.args("run --resume latest --json -q".split_whitespace())).expect(0);
    let told: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!((other.requests(), &of_judge(&told, "sonnet")["asked"]), (4, &json!(12)));
}
