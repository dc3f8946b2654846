//! `karat drift` and `karat suite add` over a real repository.

use crate::project::{Project, lines, trial};
use serde_json::{Value, json};
use std::process::Command;

/// Runs git in the project's `repo`, with fixed authors and dates.
pub(super) fn git(project: &Project, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(project.path("repo"));
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "A").env(format!("GIT_{who}_EMAIL"), "a@example.com");
        command.env(format!("GIT_{who}_DATE"), "2001-02-03T04:05:06Z");
    }
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(name);
    }
    let output = command.output().expect("git");
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

pub(super) fn commit(project: &Project, message: &str, tag: &str) {
    git(project, &["add", "-A"]);
    git(project, &["commit", "-q", "-m", message]);
    git(project, &["tag", tag]);
}

fn numbered_lines(prefix: &str, count: usize) -> String {
    (1..=count).map(|n| format!("{prefix} {n} {}\n", "words to tell it by ".repeat(n % 3))).collect()
}

const CASE: &str = "\
# The first golden moves, and this comment stays.
id: app
issues:
  - id: moves          # down by two lines
    title: This one moves with its lines
    file: src/app.py
    line_start: 10     # from here
    line_end: 12
    rule_id: R1
    identity_key: 'v2|src/app.py|r1|lines:10-12'
  - { id: stays, title: This one stays, file: src/still.py, line_start: 2 }
  - id: renamed
    title: This one's file is renamed
    file: src/old_name.py
    line_start: 5
  - id: lost
    title: This one's lines are deleted
    file: src/app.py
    line_start: 20
    line_end: 21
  - id: edited
    title: One of its lines is changed
    file: src/app.py
    line_start: 25
    line_end: 27
";

fn project() -> Project {
    let app = numbered_lines("app", 30);
    let project = Project::new()
        .with("suite/karat.toml", "[suite]\nname = \"s\"\n")
        .with("suite/cases/app/case.yaml", CASE)
        .with("repo/src/app.py", &app)
        .with("repo/src/still.py", numbered_lines("still", 6))
        .with("repo/src/old_name.py", numbered_lines("old", 20));
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project, "First", "v1");
    let mut rows: Vec<String> = app.lines().map(str::to_owned).collect();
    rows[25] = "another line altogether".to_owned();
    rows.drain(19..21);
    let changed = format!("one\nmore\n{}\n", rows.join("\n"));
    project.write("repo/src/app.py", changed);
    std::fs::rename(project.path("repo/src/old_name.py"), project.path("repo/src/new_name.py")).unwrap();
    commit(&project, "Second: move things about", "v2");
    project
}

#[test]
fn line_end_moves_with_line_start() {
    let project = Project::new();
    std::fs::create_dir_all(project.path("repo")).unwrap();
    git(&project, &["init", "-q", "-b", "main"]);
    project.write("repo/a.py", numbered_lines("line", 30));
    commit(&project, "one", "v1");
    project.write("repo/a.py", format!("new\nnew\n{}", numbered_lines("line", 30)));
    commit(&project, "two", "v2");
    project.write("suite/karat.toml", "[suite]\nname = \"s\"\n");
    let issue =
        |id: &str, end: u32| json!({ "id": id, "title": "t t t", "file": "a.py", "line_start": 10, "line_end": end });
    project.write("suite/cases.jsonl", lines(&[json!({ "id": "c", "issues": [issue("one", 10), issue("more", 12)] })]));
    project.ok("drift suite --repo repo --from v1 --to v2 --write");
    let case: Value = serde_json::from_str(&project.read("suite/cases.jsonl")).unwrap();
    let lines_of = |i: usize| (case["issues"][i]["line_start"].clone(), case["issues"][i]["line_end"].clone());
    assert_eq!((lines_of(0), lines_of(1)), ((json!(12), json!(12)), (json!(12), json!(14))));
    project.ok("check suite");
}

#[test]
fn moved_goldens_are_listed() {
    let project = project();
    let list = project.json("drift suite --repo repo --from v1 --to v2 --json");
    let line = |o: &Value| {
        let place = |p: &Value| format!("{}:{}-{}", p["file"].as_str().unwrap(), p["line_start"], p["line_end"]);
        let to = if o["to"].is_null() { o["reason"].as_str().unwrap().to_owned() } else { place(&o["to"]) };
        format!("{} {} {to}\n", o["golden"].as_str().unwrap(), o["status"].as_str().unwrap())
    };
    let summary: String = list.as_array().unwrap().iter().map(line).collect();
    insta::assert_snapshot!("drift", summary);
    let table = project
        .run("drift suite --repo repo --from v1 --to v2")
        .expect_error(0, &["write the new locations to the suite's files with --write"])
        .out;
    assert!(table.ends_with("5 goldens: 1 unchanged, 2 moved, 1 edited, 1 lost\n"), "{table}");
    assert_eq!(project.read("suite/cases/app/case.yaml"), CASE, "written without --write");
}

#[test]
fn write_updates_locations_and_keeps_comments() {
    let project = project();
    project
        .run("drift suite --repo repo --from v1 --to v2 --write")
        .expect_error(0, &["wrote suite/cases/app/case.yaml"]);
    insta::assert_snapshot!("drift_written", project.read("suite/cases/app/case.yaml"));
    // The suite passes the check, and a second run has nothing to do.
    project.run("check suite").expect(0);
    let again = project.json("drift suite --repo repo --from v2 --to v2 --json");
    let unchanged = again.as_array().unwrap().iter().filter(|o| o["status"] == "unchanged").count();
    assert_eq!(unchanged, 5);
}

#[test]
fn write_updates_jsonl_cases() {
    let project = project();
    std::fs::remove_dir_all(project.path("suite/cases")).unwrap();
    let case = json!({ "id": "app", "issues": [{ "id": "g", "title": "This one moves", "file": "app.py", "line_start": 10 }] });
    project.write("suite/cases.jsonl", format!("{{\"id\": \"other\"}}\n{case}\n"));
    project.run("drift suite --repo repo --prefix src --from v1 --to v2 --write").expect(0);
    let expected = project.read("suite/cases.jsonl");
    assert_eq!(
        expected,
        format!("{{\"id\": \"other\"}}\n{}\n", case.to_string().replace("\"line_start\":10", "\"line_start\":12"))
    );
}

#[test]
fn git_errors_are_reported_and_revisions_are_not_options() {
    let project = project();
    project.run("drift suite --repo repo --from v1 --to nowhere").expect_error(4, &["nowhere"]);
    project.run("drift suite --repo repo --from --help --to v2").expect(2);
    project.run("drift suite --repo repo --from=--output=x --to v2").expect(4);
    assert!(!project.path("repo/x").exists() && !project.path("x").exists());
    project.run("drift suite --repo absent --from v1 --to v2").expect_error(4, &["absent"]);
    project.run("drift starter --repo repo --from v1 --to v2 --write").expect(2);
}

#[test]
fn suite_add_creates_a_case_from_a_commit() {
    let project = project();
    let ran =
        project.run("suite add --from-commit v2 --repo repo --suite suite").expect_error(0, &["karat check suite"]);
    assert_eq!(ran.out, "suite/cases/second-move-things-about\n");
    let folder = "suite/cases/second-move-things-about";
    let yaml = project.read(&format!("{folder}/case.yaml"));
    assert!(yaml.contains("title: \"Second: move things about\""), "{yaml}");
    assert!(project.read(&format!("{folder}/before/src/app.py")).starts_with("app 1"));
    assert!(project.read(&format!("{folder}/after/src/app.py")).starts_with("one\nmore\napp 1"));
    assert!(!project.path(&format!("{folder}/before/src/new_name.py")).exists());
    // Until somebody says what is wrong, the case is not taken for one where nothing is.
    let unfilled = project.run("check suite").expect(4).out;
    assert!(unfilled.contains("error[unfilled-case]") && unfilled.contains("case.yaml:"), "{unfilled}");
    project.write("s.jsonl", lines(&[trial("second-move-things-about", "t", 1, json!([]))]));
    project.run("score suite --submission s.jsonl").expect_error(4, &["unfilled-case", "replace the title"]);
    project.run("run suite --tool patterns").expect_error(4, &["unfilled-case"]);
    // One edit is enough, whichever it is.
    let filled = yaml.replace("TODO: say what is wrong, in a few words", "Lines one and more are not wanted here");
    project.write(&format!("{folder}/case.yaml"), filled);
    let checked = project.ok("check suite");
    assert!(checked.contains("s: 2 cases, 6 goldens"), "{checked}");
    let (clean, _) = yaml.split_once("issues:\n").unwrap();
    project.write(&format!("{folder}/case.yaml"), format!("{clean}issues: []\n"));
    let checked = project.ok("check suite");
    assert!(checked.contains("s: 2 cases, 5 goldens"), "{checked}");
    // The new case can be scored: findings outside the change are flagged.
    let finding = |id: &str, line: u32| json!({ "id": id, "message": "x", "file": "src/app.py", "line_start": line });
    project.write(
        "s.jsonl",
        lines(&[trial("second-move-things-about", "t", 1, json!([finding("f1", 1), finding("f2", 9)]))]),
    );
    let report = project.json("score suite --json --submission s.jsonl");
    let extras = &report["tools"][0]["cases"][1]["trials"][0]["extras"];
    assert_eq!((&extras[0]["flags"], &extras[1]["flags"]), (&json!([]), &json!(["outside_change"])));
    project.run("suite add --from-commit v2 --repo repo --suite suite").expect_error(4, &["second-move-things-about"]);
    project.run("suite add --from-commit v2 --repo repo --suite suite --id ../out").expect(4);
    assert!(!project.path("suite/out").exists() && !project.path("out").exists());
}
