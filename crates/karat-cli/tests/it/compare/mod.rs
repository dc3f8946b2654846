//! `karat compare`, `karat gate`, `karat baseline` and `karat power`: what may be said of numbers, and what not.

mod alike;
mod every_metric;
mod gates;
mod powers;
mod sides;
mod verdicts;

pub(crate) use crate::project::Project;
use crate::project::{Ran, lines, suite, trial};
use serde_json::{Value, json};

/// How well a tool does on a case: how many of its two goldens it finds, and how many false alarms it raises.
pub(crate) type Skill = fn(usize) -> (usize, usize);

/// A suite of so many cases with two goldens each, in repositories of five, and every tenth without any.
pub(crate) fn graded(cases: usize, trials: u32, tools: &[(&str, Skill)]) -> Project {
    let project = suite(&(0..cases).map(case).collect::<Vec<_>>());
    submit(&project, cases, trials, tools, "submissions/all.jsonl");
    project
}

pub(crate) fn submit(project: &Project, cases: usize, trials: u32, tools: &[(&str, Skill)], file: &str) {
    let mut all = Vec::new();
    for (tool, skill) in tools {
        for at in 0..cases {
            for number in 1..=trials {
                all.push(trial(&name(at), tool, number, findings(at, skill(at))));
            }
        }
    }
    project.write(file, lines(&all));
}

pub(crate) fn name(at: usize) -> String {
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
    json!({ "id": name(at), "language": "python", "repo": format!("repo-{}", at / 5), "issues": goldens })
}

fn findings(at: usize, (found, false_alarms): (usize, usize)) -> Value {
    let mut all = Vec::new();
    for (id, line, message) in [("a", 10, "connection leak"), ("b", 50, "lost update")].into_iter().take(found) {
        if !is_clean(at) {
            all.push(json!({ "id": id, "message": message, "file": "app.py", "line_start": line }));
        }
    }
    for number in 0..false_alarms {
        all.push(json!({ "id": format!("x{number}"), "message": "name is too short", "file": "z.py", "line_start": 900 + number }));
    }
    json!(all)
}

/// Finds one of two, with a false alarm now and then.
pub(crate) fn middling(at: usize) -> (usize, usize) {
    (1 + usize::from(at.is_multiple_of(3)), usize::from(at.is_multiple_of(4)))
}

/// Mostly finds both.
pub(crate) fn good(at: usize) -> (usize, usize) {
    (2 - usize::from(at.is_multiple_of(8)), usize::from(at.is_multiple_of(7)))
}

/// Cries a lot.
pub(crate) fn noisy(at: usize) -> (usize, usize) {
    (usize::from(!at.is_multiple_of(5)), 2)
}

/// The report of what is submitted, in a file.
pub(crate) fn scored(project: &Project, file: &str, flags: &str) {
    project.ok(&format!("score . --judge none -o {file} {flags}"));
}

/// What a person sees at 80 columns.
pub(crate) fn seen(project: &Project, line: &str) -> Ran {
    Ran::start(project.command().env("COLUMNS", "80").args(line.split_whitespace()))
}
