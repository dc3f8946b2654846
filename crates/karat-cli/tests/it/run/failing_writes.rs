//! Failing disk writes: each write of a run fails in turn and is reported, and the run can be resumed once writing
//! works.

use super::{parsed, with_cases};
use crate::project::{CommandOutput, Project, report_skipped};
use serde_json::Value;
use std::process::Command;

const RUN: &[&str] = &[
    "run",
    "suite",
    "--tool",
    "replay:told.jsonl",
    "patterns",
    "--trials",
    "1",
    "--judge",
    "local",
    "-j",
    "1",
    "-q",
    "--json",
];

fn project() -> Project {
    let project = with_cases(3);
    let line = |case: usize| {
        format!(
            "{{\"case\":\"case-{case}\",\"tool\":\"told\",\"trial\":1,\"outcome\":\"reported\",\"findings\":[{{\"id\":\"f\",\"title\":\"SQL\",\"file\":\"app.py\",\"line_start\":2}}]}}\n"
        )
    };
    project.write("told.jsonl", (1..=3).map(line).collect::<String>());
    project
}

/// Runs the command with a file size limit of `blocks` × 512 bytes: every write beyond fails, in every process.
fn run_with_file_limit(project: &Project, blocks: u64, arguments: &[&str]) -> CommandOutput {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_karat")]).args(arguments).current_dir(project.path(""));
    command.env("XDG_CONFIG_HOME", project.path(".user"));
    for name in ["KARAT_STORE", "GITHUB_STEP_SUMMARY", "KARAT_JUDGE"] {
        command.env_remove(name);
    }
    let output = command.output().unwrap();
    CommandOutput {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// The report without what may differ between two executions.
fn normalize(mut report: Value) -> String {
    report.as_object_mut().unwrap().remove("measured");
    report.to_string()
}

/// Raises the limit by `step` blocks until the run succeeds. After each failure, a run without a limit must give the
/// complete report.
fn fail_writes_in_turn(step: u64) {
    let expected = normalize(parsed(&project().run_list(RUN)));
    let project = project();
    let (mut failed, mut resumed) = (0, 0);
    for blocks in (0..).step_by(usize::try_from(step).unwrap()) {
        let _ = std::fs::remove_dir_all(project.path(".karat"));
        let ran = run_with_file_limit(&project, blocks, RUN);
        let context = format!("{blocks} blocks: {:?} {}", ran.code, ran.err);
        if ran.code == Some(0) {
            assert_eq!(normalize(parsed(&ran)), expected, "{context}");
            break;
        }
        failed += 1;
        assert_eq!(ran.code, Some(5), "{context}");
        assert!(!ran.err.contains("panicked") && !ran.err.contains("damaged"), "{context}");
        assert!(
            ran.err.contains("cannot be") || ran.err.contains("full") || ran.err.contains("too large"),
            "{context}"
        );
        let listed = project.run("store list --json");
        let began = listed.code == Some(0) && parsed(&listed).as_array().is_some_and(|runs| !runs.is_empty());
        resumed += usize::from(began);
        let again = if began { project.run("run --resume latest -q --json") } else { project.run_list(RUN) };
        assert_eq!(again.code, Some(0), "{context}\n{}", again.err);
        assert_eq!(normalize(parsed(&again)), expected, "{context}");
        project.run("store verify").expect(0);
    }
    assert!(failed > 10 && resumed > 0, "{failed} writes failed, {resumed} runs were resumed");
}

/// Steps of a few pages, small enough to fail both creating the store and running.
#[test]
fn run_is_resumable_after_a_failed_write() {
    fail_writes_in_turn(40);
}

/// Every page: `cargo test -p karat-cli --test it every_single_write -- --ignored`.
#[test]
#[ignore = "minutes, on demand; run_is_resumable_after_a_failed_write takes larger steps"]
fn run_is_resumable_after_every_single_write_failure() {
    fail_writes_in_turn(4);
}

/// Runs in a mount namespace with the store on a disk of the given size in KiB, then enlarges the disk and resumes.
const FULL_DISK: &str = r#"
size=$1; shift
mkdir -p .karat && mount -t tmpfs -o "size=${size}k" none .karat || exit 99
"$0" "$@" >first.json 2>first.err
echo $? >first.code
mount -o remount,size=64m .karat || exit 99
"$0" store list --json >list.json 2>/dev/null
if grep -q '"id"' list.json; then set -- run --resume latest -q --json; fi
"$0" "$@" >second.json 2>second.err || exit 1
"$0" store verify >verify.out 2>&1 || exit 2
"#;

#[test]
fn full_disk_is_reported_and_the_run_resumes_with_more_room() {
    let unshare = |script: &str, arguments: &[&str], project: &Project| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, env!("CARGO_BIN_EXE_karat")]);
        command.args(arguments).current_dir(project.path("")).env_remove("KARAT_STORE").env_remove("KARAT_JUDGE");
        command.output()
    };
    let project = project();
    if !unshare("mkdir -p .karat && mount -t tmpfs none .karat", &[], &project)
        .is_ok_and(|tried| tried.status.success())
    {
        return report_skipped("there are no user name spaces to mount a small disk in");
    }
    let read = |name: &str| std::fs::read_to_string(project.path(name)).unwrap();
    let expected = normalize(parsed(&self::project().run_list(RUN)));
    let (mut failed, mut resumed) = (0, 0);
    for size in (8..).step_by(20) {
        let size = size.to_string();
        let arguments: Vec<&str> = std::iter::once(size.as_str()).chain(RUN.iter().copied()).collect();
        let ran = unshare(FULL_DISK, &arguments, &project).unwrap();
        let context = format!("{size} KiB: {} {}", read("first.err"), read("second.err"));
        assert!(ran.status.success(), "{context}");
        let again: Value = serde_json::from_str(&read("second.json")).unwrap();
        assert_eq!(normalize(again), expected, "{context}");
        if read("first.code").trim() == "0" {
            break;
        }
        assert_eq!(read("first.code").trim(), "5", "{context}");
        // With no room for its own index, SQLite reports only a disk I/O error.
        let error = read("first.err");
        assert!(error.contains("the disk is full") || error.contains("check the disk"), "{context}");
        failed += 1;
        resumed += usize::from(read("first.err").contains("--resume"));
    }
    assert!(failed > 3 && resumed > 0, "{failed} disks were full, {resumed} runs were resumed");
}
