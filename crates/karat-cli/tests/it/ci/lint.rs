//! Shell and workflows are linted by the tools that people use for that, where they are installed.

use crate::project::{CommandOutput, Project, report_skipped, root};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A program that `scripts/test-tools` installed, or that is on the path.
pub(crate) fn linter(name: &str) -> Option<PathBuf> {
    let own = std::env::var_os("KARAT_TEST_TOOLS").map(|folder| PathBuf::from(folder).join(name));
    let found = own.filter(|path| path.is_file()).unwrap_or_else(|| PathBuf::from(name));
    let runs =
        Command::new(&found).arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success());
    if !runs {
        report_skipped(&format!("{name} is not installed; scripts/test-tools installs it"));
    }
    runs.then_some(found)
}

fn document(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// The commands of the action's steps.
pub(super) fn action_commands() -> Vec<String> {
    let text = document("action.yml");
    let found: Vec<String> =
        text.lines().filter_map(|line| line.trim().strip_prefix("run: ").map(str::to_owned)).collect();
    assert_eq!(found.len(), text.matches("shell: bash").count(), "a command takes more than one line");
    assert!(found.len() > 4);
    found
}

/// The names that a section of a YAML file declares, two spaces deep.
fn names(text: &str, section: &str) -> BTreeSet<String> {
    let body = text.split(&format!("\n{section}:\n")).nth(1).unwrap();
    let own = body.lines().take_while(|line| line.is_empty() || line.starts_with(' '));
    own.filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with([' ', '#']))?.strip_suffix(':'))
        .map(str::to_owned)
        .collect()
}

#[test]
fn inputs_never_become_code() {
    for command in action_commands() {
        assert!(!command.contains("${{"), "an expression becomes a part of the shell: {command}");
    }
    let template = document("ci/gitlab.yml");
    let script = template.split("  script:\n").nth(1).unwrap().split("  artifacts:").next().unwrap();
    assert!(script.contains("karat-ci all") && !script.contains("$[["), "{script}");
}

#[test]
fn other_actions_are_pinned_to_commits() {
    let text = document("action.yml");
    let uses: Vec<&str> =
        text.lines().filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix("uses: ")).collect();
    assert!(uses.len() >= 4);
    for line in uses {
        let commit = line.split('@').nth(1).and_then(|rest| rest.split(' ').next()).unwrap_or_default();
        assert!(commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()), "{line}");
    }
}

#[test]
fn inputs_and_outputs_are_documented() {
    let (action, page) = (document("action.yml"), document("docs/ci.md"));
    let inputs = names(&action, "inputs");
    for name in inputs.iter().chain(&names(&action, "outputs")) {
        assert!(page.contains(&format!("| `{name}` |")), "docs/ci.md does not have {name}");
    }
    // Every input of the template is one of the action, but for where GitLab finds Karat.
    let template = document("ci/gitlab.yml");
    let spec = template.split("\nspec:\n  inputs:\n").nth(1).unwrap().split("\n---\n").next().unwrap();
    let own: BTreeSet<String> = spec
        .lines()
        .filter_map(|line| line.strip_prefix("    ").filter(|rest| !rest.starts_with(' '))?.strip_suffix(':'))
        .map(str::to_owned)
        .collect();
    let others: Vec<&String> = own.difference(&inputs).collect();
    assert_eq!(others, ["image", "repository", "revision", "stage"]);
}

#[test]
fn shell_scripts_pass_shellcheck() {
    let Some(shellcheck) = linter("shellcheck") else { return };
    let folders =
        ["scripts", ".ci", "deploy/slurm", "deploy/ssh"].map(|folder| std::fs::read_dir(root().join(folder)).unwrap());
    let files = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
    let is_shell =
        |path: &PathBuf| std::fs::read_to_string(path).is_ok_and(|text| text.starts_with("#!/usr/bin/env bash"));
    let scripts: Vec<PathBuf> = files.filter(is_shell).collect();
    assert!(scripts.len() > 5, "{scripts:?}");
    let output = Command::new(&shellcheck).args(&scripts).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));

    let project = Project::new();
    project.write("steps.sh", format!("#!/usr/bin/env bash\n{}\n", action_commands().join("\n")));
    let output = Command::new(&shellcheck).arg(project.path("steps.sh")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// The blocks of a page that are files below this folder, by their names.
fn files_of_page(page: &str, folder: &str) -> Vec<(String, String)> {
    let text = document(page);
    let blocks = text.split("\n```yaml ").skip(1).filter_map(|block| block.split_once('\n'));
    let named = blocks.filter(|(name, _)| name.starts_with(folder));
    named.map(|(name, rest)| (name.to_owned(), rest.split("\n```").next().unwrap().to_owned() + "\n")).collect()
}

#[test]
fn workflows_of_the_documentation_pass_actionlint() {
    let Some(actionlint) = linter("actionlint") else { return };
    let workflows = files_of_page("docs/ci.md", ".github/workflows/");
    assert!(workflows.len() > 1, "docs/ci.md shows no workflows");
    let project = Project::new().with(".git/HEAD", "ref: refs/heads/main\n");
    // The inputs of the action are checked where it is found in the repository.
    project.write(".karat-action/action.yml", document("action.yml"));
    for (name, text) in &workflows {
        project.write(name, text);
    }
    let lint = |project: &Project| {
        let mut command = assert_cmd::Command::new(&actionlint);
        CommandOutput::start(command.arg("-no-color").current_dir(project.path("")))
    };
    // Shell in workflows is linted where shellcheck is on the path of actionlint.
    let ran = lint(&project);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    // It is the linter that passes them, not one that passes anything.
    let (name, text) = &workflows[0];
    project.write(name, text.replacen("runs-on: ubuntu-latest", "runs-on: ubuntu-lates", 1));
    let ran = lint(&project);
    assert!(ran.code == Some(1) && ran.out.contains("ubuntu-lates"), "{}{}", ran.out, ran.err);
}
