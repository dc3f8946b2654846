//! `karat compare`, `karat gate`, `karat baseline` and `karat power`.

mod clusters;
mod compatibility;
mod every_metric;
mod gates;
mod power;
mod verdicts;

pub(crate) use crate::project::Project;
use crate::project::{CommandOutput, lines, suite, trial};
use serde_json::{Value, json};

/// For a case number: how many of its two goldens a tool finds, and how many false positives it reports.
pub(crate) type Skill = fn(usize) -> (usize, usize);

/// A suite with two goldens in each case, none in every tenth, and five cases per repository, with the tools' submissions.
pub(crate) fn graded_suite(cases: usize, trials: u32, tools: &[(&str, Skill)]) -> Project {
    let project = suite(&(0..cases).map(case).collect::<Vec<_>>()).with_verdicts_of_findings();
    submit(&project, cases, trials, tools, "submissions/all.jsonl");
    project
}

pub(crate) fn submit(project: &Project, cases: usize, trials: u32, tools: &[(&str, Skill)], file: &str) {
    let mut all = Vec::new();
    for (tool, skill) in tools {
        for at in 0..cases {
            for number in 1..=trials {
                all.push(trial(&case_id(at), tool, number, findings(at, skill(at))));
            }
        }
    }
    project.write(file, lines(&all));
}

pub(crate) fn case_id(at: usize) -> String {
    format!("case-{at:03}")
}

pub(crate) fn is_clean(at: usize) -> bool {
    at % 10 == 9
}

fn case(at: usize) -> Value {
    let golden = |id: &str, line: usize, title: &str| json!({ "id": id, "title": title, "file": "app.py", "line_start": line, "line_end": line, "keywords": [title] });
    let goldens = if is_clean(at) {
        json!([])
    } else {
        json!([golden("leak", 10, "connection leak"), golden("race", 50, "lost update")])
    };
    json!({ "id": case_id(at), "language": "python", "repo": format!("repo-{}", at / 5), "issues": goldens })
}

fn findings(at: usize, (found, false_positives): (usize, usize)) -> Value {
    let mut all = Vec::new();
    for (id, line, message) in [("a", 10, "connection leak"), ("b", 50, "lost update")].into_iter().take(found) {
        if !is_clean(at) {
            all.push(json!({ "id": id, "message": message, "file": "app.py", "line_start": line }));
        }
    }
    for number in 0..false_positives {
        all.push(json!({ "id": format!("x{number}"), "message": "name is too short", "file": "z.py", "line_start": 900 + number }));
    }
    json!(all)
}

/// Finds one or both goldens, with some false positives.
pub(crate) fn middling(at: usize) -> (usize, usize) {
    (1 + usize::from(at.is_multiple_of(3)), usize::from(at.is_multiple_of(4)))
}

/// Finds both goldens in most cases.
pub(crate) fn good(at: usize) -> (usize, usize) {
    (2 - usize::from(at.is_multiple_of(8)), usize::from(at.is_multiple_of(7)))
}

/// Finds at most one golden, with two false positives in every case.
pub(crate) fn noisy(at: usize) -> (usize, usize) {
    (usize::from(!at.is_multiple_of(5)), 2)
}

pub(crate) fn score_to_file(project: &Project, file: &str, flags: &str) {
    project.ok(&format!("score . --judge none -o {file} {flags}"));
}

/// Runs the command with an 80-column terminal.
pub(crate) fn run_at_80_columns(project: &Project, line: &str) -> CommandOutput {
    CommandOutput::start(project.command().env("COLUMNS", "80").args(line.split_whitespace()))
}
