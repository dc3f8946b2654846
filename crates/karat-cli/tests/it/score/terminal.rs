//! Pipes, colours, environment variables, and deterministic output.

use super::tiny;
use crate::project::{CommandOutput, Project};
use std::io::Read;
use std::process::Stdio;

const ESCAPE: char = '\u{1b}';

#[test]
fn closed_pipe_is_not_an_error() {
    let project = Project::new();
    let program = project.command().get_program().to_owned();
    let mut child = std::process::Command::new(program)
        .current_dir(project.path("."))
        .args(["score", "starter", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The report exceeds the pipe's buffer, so the command is still writing when the reader closes it.
    let mut stdout = child.stdout.take().unwrap();
    let mut first = [0; 16];
    stdout.read_exact(&mut first).unwrap();
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap().as_str()), (Some(0), ""));
}

#[test]
fn colour_only_on_terminals_or_when_forced() {
    let project = tiny();
    let coloured = |name: &str, value: &str| {
        let ran = CommandOutput::start(project.command().env(name, value).args(["score", "."])).expect(0);
        assert!(!ran.err.contains(ESCAPE), "standard error: {:?}", ran.err);
        ran.out.contains(ESCAPE)
    };
    assert!(!coloured("COLUMNS", "200"), "standard output is not a terminal here");
    assert!(!coloured("NO_COLOR", "1"));
    assert!(coloured("CLICOLOR_FORCE", "1"));
    let strip = |text: &str| {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(ESCAPE) {
            out.push_str(&rest[..at]);
            rest = rest[at..].split_once('m').unwrap().1;
        }
        out + rest
    };
    let forced = CommandOutput::start(project.command().env("CLICOLOR_FORCE", "1").args(["score", "."])).expect(0).out;
    assert_eq!(strip(&forced), project.ok("score ."), "colour changes nothing else");
}

#[test]
fn control_characters_of_tools_are_not_printed() {
    let evil = "\u{1b}[31mred\u{7}\u{9b}2J\u{202e}";
    let project = crate::project::suite(&[serde_json::json!({
        "id": "a", "name": evil, "issues": [{ "id": "g", "title": format!("golden {evil}"), "file": "x.py" }]
    })]);
    let tool = "t\u{202e}";
    let finding = serde_json::json!([{ "id": "f", "message": evil, "file": format!("x{evil}.py") }]);
    project.write("s.jsonl", crate::project::lines(&[crate::project::trial("a", tool, 1, finding)]));
    for line in ["score . --submission s.jsonl", "explain a --submission s.jsonl", "check .", "key s.jsonl"] {
        let ran = project.run(line).expect(0);
        for text in [&ran.out, &ran.err] {
            let bad = text.chars().find(|c| (c.is_control() && !"\n\t".contains(*c)) || *c == '\u{202e}');
            assert_eq!(bad, None, "{line}: {text:?}");
        }
    }
}

#[test]
fn step_summary_is_appended_to() {
    let project = tiny().with("summary.md", "before\n");
    CommandOutput::start(project.command().env("GITHUB_STEP_SUMMARY", "summary.md").args(["score", "."])).expect(0);
    let expected = format!("before\n{}", project.ok("score . --format markdown"));
    assert_eq!(project.read("summary.md"), expected);
}

#[test]
fn output_does_not_depend_on_threads_or_hash_seeds() {
    let project = Project::new();
    let first = project.ok("score starter --json -j 1");
    for threads in ["1", "2", "7"] {
        assert!(project.ok(&format!("score starter --json -j {threads}")) == first, "-j {threads} differs");
    }
    // Hash seeds differ between processes.
    for _ in 0..4 {
        assert!(project.ok("score starter --json") == first, "another process differs");
    }
    for format in ["table", "csv", "junit", "sarif", "markdown"] {
        let line = format!("score starter --format {format}");
        assert!(project.ok(&format!("{line} -j 1")) == project.ok(&format!("{line} -j 3")), "{format} differs");
    }
    project.run("score starter -j 0").expect_error(2, &["from 1 to 1024"]);
}

#[test]
fn submission_is_read_from_standard_input() {
    let project = tiny();
    let text = project.read("submissions/all.jsonl");
    let ran =
        CommandOutput::start(project.command().args(["score", ".", "--submission", "-", "--json"]).write_stdin(text));
    assert_eq!(ran.expect(0).out, project.ok("score . --json"));
    let ran = CommandOutput::start(
        project.command().args(["score", ".", "--submission", "-"]).write_stdin("{\"case\": 1}\n"),
    );
    ran.expect_error(4, &["<stdin>:1:"]);
}
