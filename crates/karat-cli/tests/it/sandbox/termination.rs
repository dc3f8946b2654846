//! Cancelling, signals and killed processes: no process of a run is left.

use super::*;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Instant;

/// A tool of several processes that ignore signals.
fn tool_ignoring_signals(isolation: Isolation, mark: &str) -> Trial {
    let script = format!(
        "trap '' TERM INT; sleep {mark} & setsid sleep {mark} & (setsid sleep {mark} &); touch up; while :; do sleep {mark}; done"
    );
    Trial::new(isolation, &script)
}

fn wait_for(what: impl Fn() -> bool) -> bool {
    let started = Instant::now();
    while started.elapsed() < crate::run::STOP_LIMIT {
        if what() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

#[test]
fn cancel_ends_all_processes() {
    for_each_isolation(|isolation| {
        let mark = marker();
        let mut trial = tool_ignoring_signals(isolation, &mark);
        trial.job.limits.time = Duration::from_secs(600);
        let cancel = Cancel::default();
        let finished = std::thread::scope(|scope| {
            let running = scope.spawn(|| run(&trial.job, &supervisor(), &cancel).unwrap());
            assert!(wait_for(|| trial.path("checkout/up").exists()));
            cancel.cancel();
            running.join().unwrap()
        });
        assert_eq!(finished.exit, ExitReason::Cancelled, "{isolation:?}");
        assert!(finished.wall < Duration::from_secs(120), "{isolation:?}: {:?}", finished.wall);
        assert_eq!(survivors(&mark), Vec::<String>::new(), "{isolation:?}");
        assert_next_trial_works(isolation);
    });
}

#[test]
fn job_cancelled_before_start_does_not_run() {
    for_each_isolation(|isolation| {
        let trial = Trial::new(isolation, "sleep 20");
        let cancel = Cancel::default();
        cancel.cancel();
        assert_eq!(run(&trial.job, &supervisor(), &cancel).unwrap().exit, ExitReason::Cancelled, "{isolation:?}");
    });
}

/// A supervisor that does not speak the protocol is an error, unless the job was cancelled.
#[test]
fn broken_supervisor_is_an_error_unless_cancelled() {
    for_each_isolation(|isolation| {
        let trial = Trial::new(isolation, "true");
        for program in ["/bin/true", "/bin/false"] {
            let broken = Supervisor { program: program.into(), args: Vec::new() };
            let error = run(&trial.job, &broken, &Cancel::default()).unwrap_err();
            assert!(error.to_string().contains("supervisor of the tool"), "{error}");
            let cancel = Cancel::default();
            cancel.cancel();
            assert_eq!(run(&trial.job, &broken, &cancel).unwrap().exit, ExitReason::Cancelled, "{isolation:?}");
        }
    });
}

/// A terminal signals its whole foreground process group: only Karat must react.
#[test]
fn group_signal_is_handled_by_karat_alone() {
    for_each_isolation(|isolation| {
        let up = tempfile::tempdir().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "sandbox::termination::interrupted_child", "--nocapture"]).stdout(Stdio::piped());
        child.env(CALLER, format!("{} {}", isolation.as_str(), up.path().display())).process_group(0);
        let child = child.spawn().unwrap();
        assert!(wait_for(|| up.path().join("up").exists()), "{isolation:?}");
        let group = format!("-{}", child.id());
        assert!(Command::new("kill").args(["-INT", "--", &group]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert!(text(&output.stdout).contains("ended: Cancelled."), "{isolation:?}: {}", text(&output.stdout));
    });
}

/// Not a test: the process that the test above starts and signals. Its supervisor starts slowly and is signalled
/// meanwhile.
#[test]
#[expect(clippy::print_stdout, reason = "read by the parent test")]
fn interrupted_child() {
    let Ok(order) = std::env::var(CALLER) else { return };
    let [name, up] = order.split(' ').collect::<Vec<_>>().try_into().unwrap();
    let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGINT, flag.clone()).unwrap();
    let script = format!("touch {up}/up; sleep 1; exec {} __supervise", env!("CARGO_BIN_EXE_karat"));
    let slow = Supervisor { program: "/bin/sh".into(), args: vec!["-c".into(), script.into()] };
    let trial = Trial::new(isolation_named(name), "sleep 60");
    let ended = run(&trial.job, &slow, &Cancel::from(flag)).map(|finished| finished.exit);
    println!("ended: {}.", ended.map_or_else(|error| error.to_string(), |ended| format!("{ended:?}")));
}

const CALLER: &str = "KARAT_TEST_CALLER";

fn isolation_named(name: &str) -> Isolation {
    Isolation::ALL.into_iter().find(|isolation| isolation.as_str() == name).unwrap()
}

/// Not a test: the process that the test below starts and kills.
#[test]
fn killed_child() {
    let Ok(order) = std::env::var(CALLER) else { return };
    let [name, mark, up] = order.split(' ').collect::<Vec<_>>().try_into().unwrap();
    let mut trial = tool_ignoring_signals(isolation_named(name), mark);
    trial.job.access.writable.push(up.into());
    trial.job.command[2] = trial.job.command[2].to_str().unwrap().replace("touch up", &format!("touch {up}/up")).into();
    trial.run();
}

#[test]
fn killing_karat_ends_all_processes() {
    for_each_isolation(|isolation| {
        let (mark, up) = (marker(), tempfile::tempdir().unwrap());
        let mut child = Command::new(std::env::current_exe().unwrap());
        child
            .args(["--exact", "sandbox::termination::killed_child", "--nocapture"])
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        child.env(CALLER, format!("{} {mark} {}", isolation.as_str(), up.path().display()));
        let mut child = child.spawn().unwrap();
        assert!(wait_for(|| up.path().join("up").exists()), "{isolation:?}");
        assert!(survivors(&mark).len() >= 4, "{isolation:?}: {:#?}", survivors(&mark));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(wait_for(|| survivors(&mark).is_empty()), "{isolation:?}: {:#?}", survivors(&mark));
    });
}

/// The tool ends with its supervisor. Under bubblewrap it cannot have killed it, so the tool is not at fault.
#[test]
fn killing_the_supervisor_ends_the_tool() {
    for_each_isolation(|isolation| {
        let mark = marker();
        let trial =
            Trial::new(isolation, &format!("touch up; sleep {mark} & sh -c 'sleep {mark} & wait' & exec sleep {mark}"));
        let lost = std::thread::scope(|scope| {
            let running = scope.spawn(|| run(&trial.job, &supervisor(), &Cancel::default()));
            assert!(wait_for(|| trial.path("checkout/up").exists() && !survivors(&mark).is_empty()));
            let tool = survivors(&mark).pop().unwrap();
            let mut pid = tool.split(['/', ':']).nth(2).unwrap().to_owned();
            // Walk up from the tool to its supervisor.
            loop {
                let words = text(&std::fs::read(format!("/proc/{pid}/cmdline")).unwrap());
                if words.contains("__supervise") {
                    break;
                }
                let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
                pid = stat.rsplit_once(") ").unwrap().1.split(' ').nth(1).unwrap().to_owned();
            }
            assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
            running.join().unwrap()
        });
        match lost {
            Ok(finished) => {
                assert_eq!(finished.exit, ExitReason::LostSupervisor, "{isolation:?}");
                assert!(isolation < Isolation::Bubblewrap);
            }
            Err(error) => {
                assert!(error.to_string().contains("ended from outside"), "{error}");
                assert_eq!(isolation, Isolation::Bubblewrap);
            }
        }
        assert!(wait_for(|| survivors(&mark).is_empty()), "{isolation:?}: {:#?}", survivors(&mark));
    });
}

#[test]
fn parallel_jobs_leak_no_processes_or_descriptors() {
    for_each_isolation(|isolation| {
        let count = |folder: &str| std::fs::read_dir(folder).unwrap().count();
        let mark = marker();
        let trial = Trial::new(isolation, &format!("sleep {mark} & echo out; exit 7"));
        assert_next_trial_works(isolation);
        let before = count("/proc/self/fd");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..25 {
                        let finished = trial.run();
                        assert_eq!(
                            (finished.exit, text(&finished.stdout.bytes)),
                            (ExitReason::Exited(7), "out\n".into())
                        );
                    }
                });
            }
        });
        assert_eq!(survivors(&mark), Vec::<String>::new(), "{isolation:?}");
        // Other tests run in this process and hold a few descriptors. A leak of one per trial would make 200.
        let after = count("/proc/self/fd");
        assert!(after < before + 100, "open descriptors grew from {before} to {after}");
    });
}
