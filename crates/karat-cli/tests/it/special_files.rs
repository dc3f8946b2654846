//! Named pipes, sockets and devices in place of regular files: commands do not block, and report them.

use crate::project::Project;
use crate::run::with_cases;

fn make_pipe(project: &Project, path: &str) {
    let full = project.path(path);
    std::fs::create_dir_all(full.parent().unwrap()).unwrap();
    let _ = std::fs::remove_file(&full);
    assert!(std::process::Command::new("mkfifo").arg(full).status().unwrap().success());
}

/// Creates a pipe, runs a command, and asserts that it ends and reports the pipe.
#[track_caller]
fn assert_pipe_refused(project: &Project, path: &str, line: &str) {
    make_pipe(project, path);
    let ran = project.run_shell(&format!("timeout 100 karat {line}"));
    assert!(![Some(124), Some(0)].contains(&ran.code), "{path}, {line}: {:?} {}", ran.code, ran.out);
    assert!(ran.out.contains("is a named pipe, not a regular file"), "{path}, {line}: {}", ran.out);
    std::fs::remove_file(project.path(path)).unwrap();
}

#[test]
fn pipes_in_a_suite_are_refused() {
    for path in ["suite/karat.toml", "suite/cases/case-1/case.yaml"] {
        assert_pipe_refused(&with_cases(1), path, "check suite");
    }
    let project = with_cases(1);
    for path in ["after/pipe", "before/pipe", "after/deep/pipe"] {
        assert_pipe_refused(&project, &format!("suite/cases/case-1/{path}"), "check suite");
    }
    assert_pipe_refused(&project, "suite/submissions/it.jsonl", "score suite");
    for (key, kind) in [("rule_map", "command = [\"true\"]\nformat = \"sarif\""), ("rules", "kind = \"patterns\"")] {
        let tool = format!("[suite]\nname = \"s\"\n[tools.it]\n{kind}\n{key} = \"named\"\n");
        project.write("suite/karat.toml", tool);
        assert_pipe_refused(&project, "suite/named", "run suite --tool it --trials 1");
    }
    project.write("suite/karat.toml", "[suite]\nname = \"s\"\n[tools.it]\nkind = \"replay\"\nsubmission = \"named\"\n");
    assert_pipe_refused(&project, "suite/named", "run suite --tool it --trials 1");
}

#[test]
fn sockets_and_links_to_devices_are_refused() {
    let project = with_cases(1);
    let _socket = std::os::unix::net::UnixListener::bind(project.path("suite/cases/case-1/after/s")).unwrap();
    let output = project.run_shell("timeout 100 karat check suite").expect(4).out;
    assert!(output.contains("is a socket, not a regular file"), "{output}");
    std::fs::remove_file(project.path("suite/cases/case-1/after/s")).unwrap();
    // A link out of the suite is refused whatever its target.
    std::os::unix::fs::symlink("/dev/zero", project.path("suite/cases/case-1/after/d")).unwrap();
    project.run_shell("timeout 100 karat check suite").expect(4);
}

/// `.git` beside a suite is read to find the repository.
#[test]
fn pipe_named_git_does_not_block() {
    let project = with_cases(1);
    make_pipe(&project, ".git");
    make_pipe(&project, "suite/.git");
    project.run_shell("timeout 100 karat run suite --tool patterns --trials 1 -q").expect(0);
}

#[test]
fn pipes_in_place_of_documents_do_not_block() {
    let project = Project::new();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites/agreements");
    project.run_shell(&format!("cp -r {} agreements", folder.display())).expect(0);
    let mut records: Vec<String> = Vec::new();
    let found = project.run_shell("cd agreements && find . -name '*.md' -o -name '*.yml' -o -name '*.docx' | sort").out;
    records.extend(found.lines().map(|line| format!("agreements/{}", line.trim_start_matches("./"))));
    let inside = |name: &&String| !name.contains("/sources/") && !name.ends_with("README.md");
    let mut reported = 0;
    for path in records.iter().filter(inside).step_by(3) {
        let before = std::fs::read(project.path(path)).unwrap();
        make_pipe(&project, path);
        let ran = project.run_shell("timeout 100 karat check agreements");
        assert_ne!(ran.code, Some(124), "{path} blocked the command");
        let is_reported = ran.out.contains("is a named pipe");
        assert!(is_reported || !path.ends_with(".yml"), "{path}: {}", ran.out);
        reported += usize::from(is_reported);
        std::fs::remove_file(project.path(path)).unwrap();
        project.write(path, before);
    }
    assert!(reported > 0, "no pipe was reported: {records:?}");
}

/// A file given on the command line may be a pipe.
#[test]
fn pipes_given_as_arguments_are_read() {
    let project = with_cases(1);
    let line = r#"{"case":"case-1","tool":"t","trial":1,"outcome":"reported","findings":[]}"#;
    project.write("it.jsonl", format!("{line}\n"));
    project.run_shell("timeout 100 karat score suite --submission /dev/stdin < it.jsonl").expect(0);
    project.run_shell("timeout 100 bash -c 'karat score suite --submission <(cat it.jsonl)'").expect(0);
    project.run_shell("mkfifo own; cat it.jsonl > own & timeout 100 karat score suite --submission own").expect(0);
}
