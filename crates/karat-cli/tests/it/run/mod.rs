//! `karat run`: plans, outcomes, what a tool sees, interrupted runs.

mod deletions;
mod failing_writes;
mod grants;
mod hostile;
mod interrupted;
mod outcomes;
mod own_tools;
mod plans;
mod present_goldens;
mod real_tools;
mod recordings;
mod tool_view;
mod watch;

use crate::project::{CommandOutput, Project};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

/// A suite on disk with `count` small cases that differ only in their names, beside a folder for tools.
pub(crate) fn with_cases(count: usize) -> Project {
    let project = Project::new().with("suite/karat.toml", "[suite]\nname = \"small\"\n[scoring]\ntrials = 2\n");
    for n in 1..=count {
        let folder = format!("suite/cases/case-{n}");
        let yaml = format!(
            "id: case-{n}\nlanguage: python\npr:\n  title: Search by name\n  description: |\n    Adds a search.\nissues:\n  - id: query\n    title: SQL query built from input\n    file: app.py\n    line_start: 2\n    keywords: [sql]\n    category: sql-injection\n"
        );
        project.write(&format!("{folder}/case.yaml"), yaml);
        project.write(&format!("{folder}/before/app.py"), "def find(db, name):\n    return None\n");
        project.write(
            &format!("{folder}/after/app.py"),
            "def find(db, name):\n    return db.execute(\"SELECT * FROM t WHERE n = '\" + name + \"'\")\n",
        );
    }
    project
}

/// Adds a tool implemented as a shell script, called with the checkout and the path for its result.
pub(crate) fn with_tool(project: &Project, name: &str, script: &str, more: &str) {
    let program = format!("tools/{name}.sh");
    project.write(&program, format!("#!/bin/sh\n{script}\n"));
    let path = project.path(&program);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let manifest =
        format!("command = [\"./{name}.sh\", \"{{checkout}}\", \"{{output}}\"]\nformat = \"karat\"\n{more}\n");
    project.write(&format!("tools/{name}.toml"), manifest);
}

/// Whether a sandbox that hides files and blocks the network is available.
pub(crate) fn sandboxed() -> bool {
    karat_sandbox::available().strongest() > karat_sandbox::Isolation::Process
}

/// A script that reports the only golden.
pub(crate) const FINDS_IT: &str =
    r#"echo '{"findings":[{"title":"SQL injection","file":"app.py","line_start":2}]}' > "$2""#;

/// The time limit for a stop: far more than it takes on a busy machine, and far less than the tools that are stopped would run.
pub(crate) const STOP_LIMIT: Duration = Duration::from_secs(120);

/// Runs one tool and returns the report.
#[track_caller]
pub(crate) fn report(project: &Project, tool: &str, more: &str) -> Value {
    let ran = project.run(&format!("run suite --tool tools/{tool}.toml --json -q {more}"));
    parsed(&ran)
}

#[track_caller]
pub(crate) fn parsed(ran: &CommandOutput) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}:\n{}\n{}", ran.out, ran.err))
}

/// The outcomes of the first tool's trials, as `outcome count` pairs.
pub(crate) fn outcomes(report: &Value) -> String {
    let outcomes = report.pointer("/tools/0/outcomes").and_then(Value::as_object).unwrap();
    let some = outcomes.iter().filter(|(_, n)| n.as_u64() != Some(0));
    some.map(|(outcome, n)| format!("{outcome} {n}")).collect::<Vec<_>>().join(", ")
}

/// The distinct failure reasons of a run's trials.
pub(crate) fn reasons(project: &Project) -> Vec<String> {
    let shown = project.json("store show latest --json");
    let mut reasons: Vec<String> = shown["failures"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|failure| failure["detail"]["reason"].as_str().map(str::to_owned))
        .collect();
    reasons.sort();
    reasons.dedup();
    reasons
}
