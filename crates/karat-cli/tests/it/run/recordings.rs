//! Recorded trials are told from those of a tool that is run, wherever a tool is named.

use super::with_cases;
use crate::project::{CommandOutput, Project, lines, near};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

/// A suite with a recording of Bandit, which found nothing, and in `bin` a Bandit that finds the golden.
fn recorded_project() -> Project {
    let project = with_cases(2);
    let found = r#"{"errors":[],"results":[{"filename":"app.py","line_number":2,"line_range":[2],"test_id":"B608","test_name":"sql","issue_text":"SQL query built from input","issue_severity":"MEDIUM","issue_confidence":"LOW","code":""}]}"#;
    let script =
        format!("#!/bin/sh\n[ \"$1\" = --version ] && echo 'bandit 9.9' && exit 0\ncat > \"$6\" <<'X'\n{found}\nX\n");
    project.write("bin/bandit", script);
    std::fs::set_permissions(project.path("bin/bandit"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let trial = |n: usize, tool: &str| json!({ "case": format!("case-{n}"), "tool": tool, "trial": 1, "outcome": "reported", "findings": [] });
    project.write("suite/submissions/bandit.jsonl", lines(&[trial(1, "bandit"), trial(2, "bandit")]));
    project.write("suite/submissions/old.jsonl", lines(&[trial(1, "old"), trial(2, "old")]));
    let config = project.read("suite/karat.toml");
    let tool =
        "[tools.bandit]\nkind = \"replay\"\nsubmission = \"submissions/bandit.jsonl\"\nrecorded = \"2026-11-05\"\n";
    project.write("suite/karat.toml", format!("{config}{tool}"));
    project
}

/// Runs a command where Bandit is installed.
fn run(project: &Project, line: &str) -> CommandOutput {
    let mut command = project.command();
    let path = format!("{}:{}", project.path("bin").display(), std::env::var("PATH").unwrap_or_default());
    CommandOutput::start(command.env("PATH", path).args(line.split_whitespace()))
}

#[test]
fn recordings_are_told_from_what_is_run() {
    let project = recorded_project();
    let ran = run(&project, "run suite --tool bandit --trials 1").expect(0);
    for said in [
        "not run: bandit · recorded 2026-11-05",
        "bandit is recorded 2026-11-05; bandit 9.9 is installed, and --tool bandit@live runs it",
    ] {
        assert!(ran.err.contains(said), "{said}: {}", ran.err);
    }
    assert!(ran.out.contains("recorded, not run: bandit 2026-11-05"), "{}", ran.out);
    let ran = run(&project, "run suite --tool bandit@recorded --trials 1 --json").expect(0);
    assert!(!ran.err.contains("is installed"), "{}", ran.err);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        (&report["tools"][0]["tool"], &report["tools"][0]["recorded"]["on"]),
        (&json!("bandit"), &json!("2026-11-05"))
    );
    // Where it is not installed, nothing can be advised.
    let ran = project.run("run suite --tool old@recorded --trials 1 --json").expect(0);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        (&report["tools"][0]["tool"], &report["tools"][0]["recorded"]),
        (&json!("old@recorded"), &json!({ "on": null }))
    );
    project.run("run suite --tool old@live").expect_error(2, &["`old@live` names a tool which is unknown"]);
    project.run("run suite --tool gone@recorded").expect_error(2, &["the suite has no recording of `gone`"]);
    let config = project.read("suite/karat.toml").replace("2026-11-05", "last week");
    project.write("suite/karat.toml", config);
    let checked = project.run("check suite").expect(4).out;
    assert!(checked.contains("invalid date `last week`"), "{checked}");
}

#[test]
fn live_tool_and_its_recording_are_two_tools() {
    let project = recorded_project();
    let line = "run suite --tool bandit@live bandit@recorded --trials 1 --json -q -o r.html -o r.md";
    let report: Value = serde_json::from_str(&run(&project, line).expect(0).out).unwrap();
    assert_eq!((&report["tools"][0]["tool"], &report["tools"][1]["tool"]), (&json!("bandit@live"), &json!("bandit")));
    near(&report, "/tools/0/metrics/recall/value", 1.0);
    near(&report, "/tools/1/metrics/recall/value", 0.0);
    assert_eq!(
        (report["tools"][0].get("recorded"), &report["tools"][1]["recorded"]["on"]),
        (None, &json!("2026-11-05"))
    );
    assert!(project.read("r.md").contains("| bandit (recorded 2026-11-05) |"), "{}", project.read("r.md"));
    assert!(project.read("r.html").contains("recorded 2026-11-05"));
    // Wherever the run is shown again, it is said again.
    for line in ["report latest", "score latest", "score suite --run latest"] {
        let shown = project.ok(line);
        assert!(shown.contains("recorded, not run: bandit 2026-11-05"), "{line}: {shown}");
    }
    let compared = project.run("compare latest");
    assert!(
        compared.out.contains("bandit@live was run, and bandit is recorded 2026-11-05"),
        "{}{}",
        compared.out,
        compared.err
    );
}

/// How many of the recorded trials of a case are repeated is said wherever there are several.
#[test]
fn replayed_trials_are_counted() {
    let project = with_cases(1);
    let trial = |n: usize| json!({ "case": "case-1", "tool": "it", "trial": n, "outcome": "reported", "findings": [] });
    project.write("five.jsonl", lines(&(1..=5).map(trial).collect::<Vec<_>>()));
    let check = |trials: &str, said: &str| {
        let ran = project.run(&format!("run suite --tool replay:five.jsonl {trials}")).expect(0);
        assert!(ran.err.contains(said), "{trials}: {}", ran.err);
    };
    check("", "it: replays 2 of the 5 recorded trials of a case; --trials 5 replays all");
    check("--trials 5", "it: replays the 5 recorded trials of a case");
    check("--trials 7", "it: only 5 of 7 trials were recorded");
    let ran = project.run("replay latest --speed 1000").expect(0);
    assert!(ran.err.contains(": 5 recorded trials"), "{}", ran.err);
}
