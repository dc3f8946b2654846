//! Pipes, sockets and devices where files should be: nobody waits for them, and who put them there is told.

use crate::project::Project;
use crate::run::with_cases;

fn put_pipe(project: &Project, path: &str) {
    let full = project.path(path);
    std::fs::create_dir_all(full.parent().unwrap()).unwrap();
    let _ = std::fs::remove_file(&full);
    assert!(std::process::Command::new("mkfifo").arg(full).status().unwrap().success());
}

/// Puts a pipe somewhere, runs a command, and sees that it ends and names the pipe.
#[track_caller]
fn refused(project: &Project, path: &str, line: &str) {
    put_pipe(project, path);
    let ran = project.typed(&format!("timeout 100 karat {line}"));
    assert!(![Some(124), Some(0)].contains(&ran.code), "{path}, {line}: {:?} {}", ran.code, ran.out);
    assert!(ran.out.contains("is a named pipe, not a regular file"), "{path}, {line}: {}", ran.out);
    std::fs::remove_file(project.path(path)).unwrap();
}

#[test]
fn a_pipe_anywhere_in_a_suite_is_refused() {
    for path in ["suite/karat.toml", "suite/cases/case-1/case.yaml"] {
        refused(&with_cases(1), path, "check suite");
    }
    let project = with_cases(1);
    for path in ["after/pipe", "before/pipe", "after/deep/pipe"] {
        refused(&project, &format!("suite/cases/case-1/{path}"), "check suite");
    }
    refused(&project, "suite/submissions/it.jsonl", "score suite");
    for (key, kind) in [("rule_map", "command = [\"true\"]\nformat = \"sarif\""), ("rules", "kind = \"patterns\"")] {
        let tool = format!("[suite]\nname = \"s\"\n[tools.it]\n{kind}\n{key} = \"named\"\n");
        project.write("suite/karat.toml", tool);
        refused(&project, "suite/named", "run suite --tool it --trials 1");
    }
    project.write("suite/karat.toml", "[suite]\nname = \"s\"\n[tools.it]\nkind = \"replay\"\nsubmission = \"named\"\n");
    refused(&project, "suite/named", "run suite --tool it --trials 1");
}

#[test]
fn sockets_and_devices_are_refused_too() {
    let project = with_cases(1);
    let _socket = std::os::unix::net::UnixListener::bind(project.path("suite/cases/case-1/after/s")).unwrap();
    let said = project.typed("timeout 100 karat check suite").expect(4).out;
    assert!(said.contains("is a socket, not a regular file"), "{said}");
    std::fs::remove_file(project.path("suite/cases/case-1/after/s")).unwrap();
    // A link out of the suite is refused whatever it leads to.
    std::os::unix::fs::symlink("/dev/zero", project.path("suite/cases/case-1/after/d")).unwrap();
    project.typed("timeout 100 karat check suite").expect(4);
}

/// What is near a suite is looked at, too.
#[test]
fn a_pipe_beside_a_suite_holds_nobody_up() {
    let project = with_cases(1);
    put_pipe(&project, ".git");
    put_pipe(&project, "suite/.git");
    project.typed("timeout 100 karat run suite --tool patterns --trials 1 -q").expect(0);
}

#[test]
fn documents_and_records_that_are_pipes_are_refused() {
    let project = Project::new();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites/agreements");
    project.typed(&format!("cp -r {} agreements", folder.display())).expect(0);
    let mut records: Vec<String> = Vec::new();
    let found = project.typed("cd agreements && find . -name '*.md' -o -name '*.yaml' -o -name '*.docx' | sort").out;
    records.extend(found.lines().map(|line| format!("agreements/{}", line.trim_start_matches("./"))));
    let inside = |name: &&String| !name.contains("/sources/") && !name.ends_with("README.md");
    let mut some = 0;
    for path in records.iter().filter(inside).step_by(5) {
        let before = std::fs::read(project.path(path)).unwrap();
        put_pipe(&project, path);
        let ran = project.typed("timeout 100 karat check agreements");
        assert_ne!(ran.code, Some(124), "{path} was waited for");
        some += usize::from(ran.out.contains("is a named pipe"));
        std::fs::remove_file(project.path(path)).unwrap();
        project.write(path, before);
    }
    assert!(some > 0, "no pipe was named: {records:?}");
}

/// What a user types is opened as it is.
#[test]
fn what_a_shell_hands_over_is_read() {
    let project = with_cases(1);
    let line = r#"{"case":"case-1","tool":"t","trial":1,"outcome":"reported","findings":[]}"#;
    project.write("it.jsonl", format!("{line}\n"));
    project.typed("timeout 100 karat score suite --submission /dev/stdin < it.jsonl").expect(0);
    project.typed("timeout 100 bash -c 'karat score suite --submission <(cat it.jsonl)'").expect(0);
    project.typed("mkfifo own; cat it.jsonl > own & timeout 100 karat score suite --submission own").expect(0);
}
