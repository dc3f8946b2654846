//! Runs that are killed, stopped or fail: nothing is lost, nothing is done twice, and they can be resumed.

use super::{FINDS_IT, STOP_LIMIT, parsed, with_cases, with_tool};
use crate::project::Project;
use karat_sandbox::Isolation;
use serde_json::Value;
use std::collections::BTreeSet;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A project for runs of two commands, a recording and the baseline: 4 tools, 6 cases, 3 trials.
fn project_with_mixed_tools() -> Project {
    let project = with_cases(6);
    with_tool(&project, "it", FINDS_IT, "");
    with_tool(&project, "odd", "[ $(($KARAT_TRIAL % 2)) = 1 ] && exit 3; echo '{\"findings\":[]}' > \"$2\"", "");
    let line = |case: usize, trial: usize| {
        format!(
            "{{\"case\":\"case-{case}\",\"tool\":\"told\",\"trial\":{trial},\"outcome\":\"reported\",\"findings\":[{{\"id\":\"f\",\"title\":\"SQL\",\"file\":\"app.py\",\"line_start\":2}}]}}\n"
        )
    };
    project
        .write("told.jsonl", (1..=6).flat_map(|case| (1..=3).map(move |trial| line(case, trial))).collect::<String>());
    project
}

const RUN: &[&str] = &[
    "run",
    "suite",
    "--tool",
    "tools/it.toml",
    "tools/odd.toml",
    "replay:told.jsonl",
    "patterns",
    "--trials",
    "3",
    "-q",
    "--json",
];

fn start(project: &Project, arguments: &[&str]) -> std::process::Child {
    Command::new(env!("CARGO_BIN_EXE_karat"))
        .args(arguments)
        .current_dir(project.path(""))
        .env("XDG_CONFIG_HOME", project.path(".user"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap()
}

/// The report without what may differ between two executions.
fn normalize(mut report: Value) -> Value {
    report.as_object_mut().unwrap().remove("measured");
    report
}

/// Kills a run at the given moments (thousandths of the duration of an uninterrupted run), resumes it, and compares
/// the report with that of the uninterrupted run.
fn kill_at(moments: impl Iterator<Item = u64>) {
    let whole = project_with_mixed_tools();
    let began = Instant::now();
    let expected = normalize(parsed(&whole.run_list(RUN)));
    let mut takes = began.elapsed();
    let project = project_with_mixed_tools();
    let mut resumed = 0;
    for moment in moments {
        let _ = std::fs::remove_dir_all(project.path(".karat"));
        let began = Instant::now();
        let mut child = start(&project, RUN);
        while began.elapsed() < takes.mul_f64(moment as f64 / 1_000.0) {
            if child.try_wait().unwrap().is_some() {
                // The machine has become faster since the last measurement.
                takes = began.elapsed();
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let clean = |when: &str| {
            let ran = project.run("store verify --json");
            assert_eq!(ran.code, Some(0), "{when}, killed at {moment}: {}{}", ran.out, ran.err);
        };
        // If it was killed before its tables were created, there is no store yet.
        let listed = project.run("store list --json");
        assert!(
            listed.code == Some(0) || listed.err.contains("there is no store"),
            "killed at {moment}: {}",
            listed.err
        );
        let began = listed.code == Some(0) && parsed(&listed).as_array().is_some_and(|runs| !runs.is_empty());
        let report = if began {
            clean("after the kill");
            resumed += 1;
            parsed(&project.run("run --resume latest -q --json"))
        } else {
            parsed(&project.run_list(RUN))
        };
        clean("after resuming");
        assert_eq!(normalize(report), expected, "killed at {moment}");
        let exported = project.ok("store export latest");
        let trials: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let keys: BTreeSet<String> =
            trials.iter().map(|t| format!("{} {} {}", t["tool"], t["case"], t["trial"])).collect();
        assert_eq!((trials.len(), keys.len()), (4 * 6 * 3, 4 * 6 * 3), "killed at {moment}");
        let attempts = project.json("store show latest --json")["attempts"].as_u64();
        assert_eq!(attempts, Some(4 * 6 * 3), "killed at {moment}: a trial was stored twice");
    }
    assert!(resumed > 0, "every kill came before the run had started");
}

/// Sixteen moments, in an order scattered by a multiplier coprime to 1000.
#[test]
fn run_killed_at_any_moment_can_be_resumed() {
    kill_at((1..=16).map(|n| n * 619 % 1_000));
}

/// Every moment: `cargo test -p karat-cli --test it run_killed_at_every_moment -- --ignored`.
#[test]
#[ignore = "a thousand kills, on demand; run_killed_at_any_moment_can_be_resumed does sixteen"]
fn run_killed_at_every_moment_can_be_resumed() {
    kill_at((0..1_000).map(|n| n * 619 % 1_000));
}

/// Polls until `find` returns a value.
#[track_caller]
pub(super) fn wait_for<T>(what: &str, mut find: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(started.elapsed() < Duration::from_secs(120), "{what} did not appear");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Sends a signal, asserts that the run stops in time with exit code 5, and returns its stderr.
#[track_caller]
fn signal_and_wait(child: std::process::Child, signal: &str, to: &str) -> String {
    let asked = Instant::now();
    assert!(Command::new("kill").args([signal, "--", to]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let took = asked.elapsed();
    assert!(took < STOP_LIMIT, "stopping took {took:?}");
    assert_eq!(output.status.code(), Some(5));
    String::from_utf8(output.stderr).unwrap()
}

/// Signals a run while its tools are running and returns its stderr.
#[track_caller]
fn signal_running_tools(project: &Project, signal: &str, whole_group: bool) -> String {
    let child = start(project, &["run", "suite", "--tool", "tools/slow.toml", "--trials", "1", "-j", "2"]);
    let to = if whole_group { format!("-{}", child.id()) } else { child.id().to_string() };
    let mark = project.path("tools/slow.sh").display().to_string();
    let running = || !Command::new("pgrep").args(["-f", &mark]).output().unwrap().stdout.is_empty();
    wait_for("the tool", || running().then_some(()));
    std::thread::sleep(Duration::from_millis(200));
    let output = signal_and_wait(child, signal, &to);
    assert!(!running(), "a tool survived");
    output
}

/// The process that imports a tool's output: the only child of Karat with a limit on CPU time.
fn find_import_process(run: u32) -> Option<u32> {
    let text = |path: String| std::fs::read_to_string(path).unwrap_or_default();
    let threads = std::fs::read_dir(format!("/proc/{run}/task")).ok()?.flatten();
    let children = threads.map(|thread| text(thread.path().join("children").display().to_string()));
    let children: Vec<u32> = children.collect::<String>().split_whitespace().flat_map(str::parse).collect();
    let limited = |pid: &u32| {
        let limits = text(format!("/proc/{pid}/limits"));
        limits.lines().any(|line| line.starts_with("Max cpu time") && !line.contains("unlimited"))
    };
    children.into_iter().find(limited)
}

/// A project with a tool `large`, whose output takes a while to import.
#[cfg(target_os = "linux")]
fn with_large_output(cases: usize) -> Project {
    let project = with_cases(cases);
    let finding = "{\"title\":\"SQL\",\"file\":\"app.py\"},";
    project.write("many", format!("{{\"findings\":[{}{{\"title\":\"x\"}}]}}", finding.repeat(300_000)));
    let command = format!("command = [\"/bin/cat\", \"{}\"]\nformat = \"karat\"\n", project.path("many").display());
    project.write("tools/large.toml", command);
    project
}

/// A suspended import ends with its run.
#[test]
#[cfg(target_os = "linux")]
fn interrupt_ends_a_suspended_import() {
    let project = with_large_output(3);
    let child = start(&project, &["run", "suite", "--tool", "tools/large.toml", "--trials", "1", "-j", "1"]);
    let run = child.id();
    let import = wait_for("an import", || find_import_process(run));
    assert!(Command::new("kill").args(["-STOP", &import.to_string()]).status().unwrap().success());
    let output = signal_and_wait(child, "-INT", &run.to_string());
    assert!(output.contains("0 of 3 trials are stored") && output.contains("karat run --resume"), "{output}");
    assert!(!std::path::Path::new(&format!("/proc/{import}")).exists(), "the import survived");
}

#[test]
#[cfg(target_os = "linux")]
fn killing_a_run_ends_its_import() {
    let project = with_large_output(1);
    let mut child = start(&project, &["run", "suite", "--tool", "tools/large.toml", "--trials", "1", "-j", "1"]);
    let import = wait_for("an import", || find_import_process(child.id()));
    child.kill().unwrap();
    child.wait().unwrap();
    let state = || std::fs::read_to_string(format!("/proc/{import}/stat")).unwrap_or_default();
    wait_for("the end of the import", || (state().is_empty() || state().contains(") Z ")).then_some(()));
}

#[test]
fn interrupt_is_quick_and_ends_all_processes() {
    let project = with_cases(3);
    // Neither the tool nor its children react to SIGTERM.
    with_tool(
        &project,
        "slow",
        &format!(
            "[ -e {0} ] && {{ {FINDS_IT}; exit 0; }}; trap '' TERM INT; (trap '' TERM INT; sleep 600) & sleep 600; wait",
            project.path("go").display()
        ),
        &format!("expose = [\"{}\"]", project.path("go").display()),
    );
    for signal in ["-INT", "-TERM"] {
        let output = signal_running_tools(&project, signal, false);
        assert!(output.contains("0 of 3 trials are stored") && output.contains("karat run --resume"), "{output}");
    }
    // As a terminal does: the signal goes to the whole foreground process group.
    for _ in 0..5 {
        let output = signal_running_tools(&project, "-INT", true);
        assert!(output.contains("0 of 3 trials are stored"), "{output}");
    }
    project.write("go", "");
    let report = parsed(&project.run("run --resume latest --json -q"));
    assert_eq!(super::outcomes(&report), "reported 3");
}

/// A trial made under a weaker isolation does not satisfy a resumed run that requires a stronger one.
#[test]
fn resumed_run_rejects_trials_of_weaker_isolation() {
    let project = with_cases(1);
    with_tool(&project, "it", FINDS_IT, "");
    let available = karat_sandbox::available();
    let all: Vec<Isolation> = [Isolation::Process, Isolation::Landlock, Isolation::Bubblewrap]
        .into_iter()
        .filter(|isolation| available.unavailable_reason(*isolation).is_none())
        .collect();
    for used in &all {
        project.ok(&format!("run suite --tool tools/it.toml --trials 1 -q --isolation {}", used.as_str()));
        for required in &all {
            let ran = project.run(&format!("run --resume latest -q --require-isolation={}", required.as_str()));
            let context = format!("{} where {} is required: {}", used.as_str(), required.as_str(), ran.err);
            assert_eq!(ran.code, Some(if used >= required { 0 } else { 5 }), "{context}");
        }
    }
}

#[test]
fn report_lists_every_isolation_of_a_resumed_run() {
    if !super::sandboxed() {
        return crate::project::report_skipped("only one isolation is available");
    }
    let project = with_cases(4);
    let script = format!("[ -e {0} ] || [ \"$KARAT_TRIAL\" = 1 ] || exit 9; {FINDS_IT}", project.path("go").display());
    with_tool(&project, "it", &script, &format!("expose = [\"{}\"]", project.path("go").display()));
    project.run("run suite --tool tools/it.toml --trials 2 --isolation process -j 1 --fail-fast").expect(5);
    project.write("go", "");
    project.run("run --resume latest --require-isolation").expect_error(5, &["with less isolation than landlock"]);
    project.run("compare latest latest").expect_error(4, &["is not finished"]);
    let report = parsed(&project.run("run --resume latest --json"));
    let words = report["measured"]["isolation"]["it"].as_str().unwrap().to_owned();
    assert!(words.contains("process") && words.contains("trials)") && words.contains("; "), "{words}");
}

#[test]
fn run_is_locked_while_in_progress() {
    let project = with_cases(2);
    with_tool(&project, "slow", "sleep 600", "");
    let mut child = start(&project, &["run", "suite", "--tool", "tools/slow.toml"]);
    wait_for("a running run", || {
        let listed = project.run("store list --json");
        (listed.code == Some(0) && listed.out.contains("running")).then_some(())
    });
    project.run("run --resume latest").expect_error(5, &["is being worked on"]);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn concurrent_runs_share_a_store() {
    let project = project_with_mixed_tools();
    let children: Vec<_> = (0..3).map(|_| start(&project, RUN)).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let runs = project.json("store list --json");
    assert_eq!(runs.as_array().unwrap().len(), 3);
    assert!(runs.as_array().unwrap().iter().all(|run| run["state"] == "complete"), "{runs}");
    project.run("store verify").expect(0);
}

#[test]
fn damaged_store_is_not_modified() {
    let project = Project::new();
    project.ok("run starter -q");
    let file = std::fs::read_dir(project.path(".karat")).unwrap().flatten().map(|entry| entry.path());
    let file = file.into_iter().find(|path| path.extension().is_some_and(|e| e == "db" || e == "sqlite")).unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    for page in 1..bytes.len() / 4096 {
        bytes[page * 4096..page * 4096 + 64].fill(0xa5);
    }
    std::fs::write(&file, &bytes).unwrap();
    for line in ["run starter -q", "report latest", "store list"] {
        project.run(line).expect_error(5, &["damaged"]);
        assert!(std::fs::read(&file).unwrap() == bytes, "{line} modified the store");
    }
}

/// Runs a shell script in which these folders of the project are small file systems of their own, and returns its
/// stdout. `None`, with a note, where that is not possible.
fn run_on_small_disks(project: &Project, folders: &[(&str, u32)], script: &str) -> Option<String> {
    let mut command = Command::new("bwrap");
    command.args(["--dev-bind", "/", "/"]);
    for (folder, bytes) in folders {
        std::fs::create_dir_all(project.path(folder)).unwrap();
        command.args(["--size", &bytes.to_string(), "--tmpfs"]).arg(project.path(folder));
    }
    command.args(["--", "sh", "-c", script]).env("karat", env!("CARGO_BIN_EXE_karat")).current_dir(project.path(""));
    let output = command.output();
    match output {
        Ok(output) if karat_sandbox::available().bubblewrap.is_ok() => {
            let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            Some(format!("{out}{err}"))
        }
        _ => {
            crate::project::report_skipped("bubblewrap is not there, so no small disk can be made");
            None
        }
    }
}

/// The store's disk fills up during a run. No trial reported as stored is lost, and the run can be resumed once there
/// is room.
#[test]
fn full_store_disk_ends_a_run_without_data_loss() {
    let project = with_cases(10);
    // Incompressible output.
    with_tool(&project, "it", &format!("head -c 60000 /dev/urandom; {FINDS_IT}"), "");
    let script = r#"head -c 7000000 /dev/zero > .karat/ballast
"$karat" run suite --tool tools/it.toml -q --isolation process; echo "run: $?"
"$karat" store verify >/dev/null; echo "verify: $?"
"$karat" store list --json | grep -c reported
rm .karat/ballast
"$karat" run --resume latest -q --isolation process >/dev/null; echo "resume: $?"
"$karat" store verify >/dev/null; echo "verify: $?"
"$karat" store export latest | wc -l"#;
    let Some(output) = run_on_small_disks(&project, &[(".karat", 8_000_000)], script) else { return };
    for line in ["run: 5", "the disk is full", "--resume", "resume: 0", "verify: 0"] {
        assert!(output.contains(line), "{line}:\n{output}");
    }
    assert!(!output.contains("verify: 5") && output.lines().any(|line| line.trim() == "20"), "{output}");
}

/// A full disk for checkouts is not recorded as a failure of the tool.
#[test]
fn full_checkout_disk_is_not_a_tool_failure() {
    let project = with_cases(2);
    with_tool(&project, "it", FINDS_IT, "");
    project.write("suite/cases/case-2/after/large.bin", vec![7; 3_000_000]);
    let script = r#"TMPDIR=$PWD/small "$karat" run suite --tool tools/it.toml -q -j 1 --isolation process; echo "run: $?"
"$karat" store list --json"#;
    let Some(output) = run_on_small_disks(&project, &[("small", 2_000_000)], script) else { return };
    assert!(output.contains("run: 5") && output.contains("No space left") && output.contains("--resume"), "{output}");
    assert!(output.contains("\"reported\": 2") && !output.contains("\"crashed\": "), "{output}");
}

/// A tool that fills the disk shared by all trials has crashed; the other tools and the store continue.
#[test]
fn tool_that_fills_the_disk_crashes_and_others_continue() {
    let project = with_cases(3);
    let full =
        "while head -c 1000000 /dev/zero >> \"$TMPDIR/large\"; do :; done 2>/dev/null; while :; do sleep 1; done";
    with_tool(&project, "greedy", full, "");
    // The honest tool cannot work while the other one is running.
    with_tool(&project, "it", &format!("sleep 1; head -c 3000000 /dev/zero > \"$TMPDIR/x\" || exit 3; {FINDS_IT}"), "");
    let script = r#"export TMPDIR=$PWD/small
"$karat" run suite --tool tools/greedy.toml tools/it.toml --trials 1 -q -j 2 --isolation process --store small/store --json > report.json
echo "run: $?"
"$karat" store verify --store small/store > /dev/null; echo "verify: $?"
"$karat" store show latest --json --store small/store"#;
    let Some(output) = run_on_small_disks(&project, &[("small", 16_000_000)], script) else { return };
    assert!(output.contains("run: 0") && output.contains("verify: 0"), "{output}");
    let report: Value = serde_json::from_str(&std::fs::read_to_string(project.path("report.json")).unwrap()).unwrap();
    assert_eq!(report["tools"][0]["outcomes"]["crashed"], 3, "{output}");
    assert_eq!(report["tools"][1]["outcomes"]["reported"], 3, "{output}");
    assert!(output.contains("its files filled the disk"), "{output}");
}

#[test]
fn read_only_store_can_be_read() {
    let project = Project::new();
    project.ok("run starter -q");
    let script = r#"bwrap --dev-bind / / --ro-bind $PWD/.karat $PWD/.karat -- sh -c '"$karat" run starter -q; echo "run: $?"; "$karat" report latest | head -3; "$karat" store verify; echo "verify: $?"'"#;
    let Some(output) = run_on_small_disks(&project, &[], script) else { return };
    assert!(output.contains("run: 5") && output.contains("cannot be written"), "{output}");
    assert!(output.contains("careful-reviewer") || output.contains("26 goldens"), "{output}");
    assert!(output.contains("verify: 0"), "{output}");
}
