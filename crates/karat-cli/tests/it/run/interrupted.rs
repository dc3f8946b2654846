//! Runs that are killed, stopped or refused: nothing is lost, nothing is done twice, and it goes on.

use super::{FINDS_IT, parsed, with_cases, with_tool};
use crate::project::Project;
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A project whose runs have a program, a recording and the baseline to do: 3 tools, 6 cases, 3 trials.
fn mixed() -> Project {
    let project = with_cases(6);
    with_tool(&project, "it", FINDS_IT, "");
    with_tool(&project, "odd", "[ $(($KARAT_TRIAL % 2)) = 1 ] && exit 3; echo '{\"findings\":[]}' > \"$2\"", "");
    let line = |case: usize, trial: usize| {
        format!(
            "{{\"case\":\"case-{case}\",\"tool\":\"told\",\"trial\":{trial},\"outcome\":\"reported\",\"findings\":[{{\"id\":\"f\",\"title\":\"SQL\",\"file\":\"app.py\",\"line_start\":2}}]}}\n"
        )
    };
    project
        .write("told.jsonl", (1..=6).flat_map(|case| (1..=3).map(move |trial| line(case, trial))).collect::<String>());
    project
}

const RUN: &[&str] = &[
    "run",
    "suite",
    "--tool",
    "tools/it.toml",
    "tools/odd.toml",
    "replay:told.jsonl",
    "patterns",
    "--trials",
    "3",
    "-q",
    "--json",
];

fn start(project: &Project, arguments: &[&str]) -> std::process::Child {
    Command::new(env!("CARGO_BIN_EXE_karat"))
        .args(arguments)
        .current_dir(project.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The report without what may differ between two executions.
fn steady(mut report: Value) -> Value {
    report.as_object_mut().unwrap().remove("measured");
    report
}

/// Kills a run at the moments given as thousandths of the time that an undisturbed one takes, resumes it, and holds it
/// against that one.
fn kill_at(moments: impl Iterator<Item = u64>) {
    let whole = mixed();
    let began = Instant::now();
    let undisturbed = steady(parsed(&whole.run_list(RUN)));
    let takes = began.elapsed();
    let project = mixed();
    let mut resumed = 0;
    for moment in moments {
        let _ = std::fs::remove_dir_all(project.path(".karat"));
        let mut child = start(&project, RUN);
        std::thread::sleep(takes.mul_f64(moment as f64 / 1_000.0));
        child.kill().unwrap();
        child.wait().unwrap();
        let clean = |when: &str| {
            let ran = project.run("store verify --json");
            assert_eq!(ran.code, Some(0), "{when}, killed at {moment}: {}{}", ran.out, ran.err);
        };
        let began = project.path(".karat").exists()
            && project.json("store list --json").as_array().is_some_and(|runs| !runs.is_empty());
        let report = if began {
            clean("after the kill");
            resumed += 1;
            parsed(&project.run("run --resume latest -q --json"))
        } else {
            parsed(&project.run_list(RUN))
        };
        clean("after going on");
        assert_eq!(steady(report), undisturbed, "killed at {moment}");
        let exported = project.ok("store export latest");
        let trials: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let keys: BTreeSet<String> =
            trials.iter().map(|t| format!("{} {} {}", t["tool"], t["case"], t["trial"])).collect();
        assert_eq!((trials.len(), keys.len()), (4 * 6 * 3, 4 * 6 * 3), "killed at {moment}");
        let attempts = project.json("store show latest --json")["attempts"].as_u64();
        assert_eq!(attempts, Some(4 * 6 * 3), "killed at {moment}: a trial was kept twice");
    }
    assert!(resumed > 0, "no kill came after the run had begun");
}

/// Fifty moments, spread by a multiplier that visits the thousand in no order.
#[test]
fn killed_at_any_moment_it_goes_on() {
    kill_at((1..=50).map(|n| n * 619 % 1_000));
}

/// The same for longer: `cargo test -p karat-cli --test it killed_for_longer -- --ignored`.
#[test]
#[ignore = "takes many minutes"]
fn killed_for_longer() {
    kill_at((0..1_000).map(|n| n * 619 % 1_000));
}

/// Ends a run with Ctrl-C while its tools are at work, and gives what it said.
#[track_caller]
fn stop(project: &Project, signal: &str) -> String {
    let child = start(project, &["run", "suite", "--tool", "tools/slow.toml", "--trials", "1", "-j", "2"]);
    let pid = child.id().to_string();
    let mark = project.path("tools/slow.sh").display().to_string();
    let running = || !Command::new("pgrep").args(["-f", &mark]).output().unwrap().stdout.is_empty();
    let patience = Instant::now();
    while !running() {
        assert!(patience.elapsed() < Duration::from_secs(20), "the tool never started");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(200));
    let asked = Instant::now();
    assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert!(asked.elapsed() < Duration::from_secs(2), "it took {:?} to stop", asked.elapsed());
    assert!(!running(), "a tool survived");
    assert_eq!(output.status.code(), Some(5));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn stopping_is_quick_and_leaves_nobody_behind() {
    let project = with_cases(3);
    // It neither ends when asked to, nor do its children.
    with_tool(
        &project,
        "slow",
        &format!(
            "[ -e {0} ] && {{ {FINDS_IT}; exit 0; }}; trap '' TERM INT; (trap '' TERM INT; sleep 600) & sleep 600; wait",
            project.path("go").display()
        ),
        &format!("expose = [\"{}\"]", project.path("go").display()),
    );
    for signal in ["-INT", "-TERM"] {
        let said = stop(&project, signal);
        assert!(said.contains("0 of 3 trials are kept") && said.contains("karat run --resume"), "{said}");
    }
    project.write("go", "");
    let report = parsed(&project.run("run --resume latest --json -q"));
    assert_eq!(super::outcomes(&report), "reported 3");
}

#[test]
fn a_run_is_worked_on_by_one_at_a_time() {
    let project = with_cases(2);
    with_tool(&project, "slow", "sleep 600", "");
    let mut child = start(&project, &["run", "suite", "--tool", "tools/slow.toml"]);
    let patience = Instant::now();
    loop {
        let listed = project.run("store list --json");
        if listed.code == Some(0) && listed.out.contains("running") {
            break;
        }
        assert!(patience.elapsed() < Duration::from_secs(20), "it never began");
        std::thread::sleep(Duration::from_millis(50));
    }
    project.run("run --resume latest").says(5, &["is being worked on"]);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Two processes, one store: both runs are whole.
#[test]
fn two_runs_share_a_store() {
    let project = mixed();
    let children: Vec<_> = (0..3).map(|_| start(&project, RUN)).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let runs = project.json("store list --json");
    assert_eq!(runs.as_array().unwrap().len(), 3);
    assert!(runs.as_array().unwrap().iter().all(|run| run["state"] == "complete"), "{runs}");
    project.run("store verify").expect(0);
}

#[test]
fn a_damaged_store_is_left_alone() {
    let project = Project::new();
    project.ok("run starter -q");
    let file = std::fs::read_dir(project.path(".karat")).unwrap().flatten().map(|entry| entry.path());
    let file = file.into_iter().find(|path| path.extension().is_some_and(|e| e == "db" || e == "sqlite")).unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    for page in 1..bytes.len() / 4096 {
        bytes[page * 4096..page * 4096 + 64].fill(0xa5);
    }
    std::fs::write(&file, &bytes).unwrap();
    for line in ["run starter -q", "report latest", "store list"] {
        project.run(line).says(5, &["damaged"]);
        assert!(std::fs::read(&file).unwrap() == bytes, "{line} changed it");
    }
}
