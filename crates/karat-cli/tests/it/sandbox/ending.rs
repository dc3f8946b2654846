//! However a run is ended, nothing of it is left.

use super::*;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Instant;

/// A tool that nobody can persuade, in several processes.
fn stubborn(isolation: Isolation, mark: &str) -> Trial {
    let script = format!(
        "trap '' TERM INT; sleep {mark} & setsid sleep {mark} & (setsid sleep {mark} &); touch up; while :; do sleep {mark}; done"
    );
    Trial::new(isolation, &script)
}

fn wait_for(what: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(60) {
        if what() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

#[test]
fn a_cancel_ends_everything() {
    each(|isolation| {
        let mark = marker();
        let mut trial = stubborn(isolation, &mark);
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
        next_is_fine(isolation);
    });
}

#[test]
fn what_is_cancelled_beforehand_does_nothing() {
    each(|isolation| {
        let trial = Trial::new(isolation, "sleep 20");
        let cancel = Cancel::default();
        cancel.cancel();
        assert_eq!(run(&trial.job, &supervisor(), &cancel).unwrap().exit, ExitReason::Cancelled, "{isolation:?}");
    });
}

/// A supervisor that cannot be talked to is a failure, unless that is what comes of a cancel.
#[test]
fn a_dumb_supervisor_is_a_failure_unless_it_was_to_stop() {
    each(|isolation| {
        let trial = Trial::new(isolation, "true");
        for program in ["/bin/true", "/bin/false"] {
            let dumb = Supervisor { program: program.into(), args: Vec::new() };
            let error = run(&trial.job, &dumb, &Cancel::default()).unwrap_err();
            assert!(error.to_string().contains("supervisor of the tool"), "{error}");
            let cancel = Cancel::default();
            cancel.cancel();
            assert_eq!(run(&trial.job, &dumb, &cancel).unwrap().exit, ExitReason::Cancelled, "{isolation:?}");
        }
    });
}

/// A terminal signals the whole group in its foreground: Karat is to hear of it, and nobody below.
#[test]
fn a_signal_to_the_group_is_for_karat_alone() {
    each(|isolation| {
        let up = tempfile::tempdir().unwrap();
        let mut caller = Command::new(std::env::current_exe().unwrap());
        caller.args(["--exact", "sandbox::ending::interrupted", "--nocapture"]).stdout(Stdio::piped());
        caller.env(CALLER, format!("{} {}", isolation.as_str(), up.path().display())).process_group(0);
        let caller = caller.spawn().unwrap();
        assert!(wait_for(|| up.path().join("up").exists()), "{isolation:?}");
        let group = format!("-{}", caller.id());
        assert!(Command::new("kill").args(["-INT", "--", &group]).status().unwrap().success());
        let output = caller.wait_with_output().unwrap();
        assert!(text(&output.stdout).contains("ended: Cancelled."), "{isolation:?}: {}", text(&output.stdout));
    });
}

/// Not a test: what the test above starts and signals. Its supervisor takes a while to come up, and is signalled meanwhile.
#[test]
#[expect(clippy::print_stdout, reason = "it is how the test hears of it")]
fn interrupted() {
    let Ok(order) = std::env::var(CALLER) else { return };
    let [name, up] = order.split(' ').collect::<Vec<_>>().try_into().unwrap();
    let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGINT, flag.clone()).unwrap();
    let script = format!("touch {up}/up; sleep 1; exec {} __supervise", env!("CARGO_BIN_EXE_karat"));
    let slow = Supervisor { program: "/bin/sh".into(), args: vec!["-c".into(), script.into()] };
    let trial = Trial::new(Isolation::from_name(name).unwrap(), "sleep 60");
    let ended = run(&trial.job, &slow, &Cancel::from(flag)).map(|finished| finished.exit);
    println!("ended: {}.", ended.map_or_else(|error| error.to_string(), |ended| format!("{ended:?}")));
}

const CALLER: &str = "KARAT_TEST_CALLER";

/// Not a test: what the test below starts and kills.
#[test]
fn caller() {
    let Ok(order) = std::env::var(CALLER) else { return };
    let [name, mark, up] = order.split(' ').collect::<Vec<_>>().try_into().unwrap();
    let mut trial = stubborn(Isolation::from_name(name).unwrap(), mark);
    trial.job.access.writable.push(up.into());
    trial.job.command[2] = trial.job.command[2].to_str().unwrap().replace("touch up", &format!("touch {up}/up")).into();
    trial.run();
}

#[test]
fn nothing_is_left_when_karat_itself_is_killed() {
    each(|isolation| {
        let (mark, up) = (marker(), tempfile::tempdir().unwrap());
        let mut caller = Command::new(std::env::current_exe().unwrap());
        caller.args(["--exact", "sandbox::ending::caller", "--nocapture"]).stdout(Stdio::null()).stderr(Stdio::null());
        caller.env(CALLER, format!("{} {mark} {}", isolation.as_str(), up.path().display()));
        let mut caller = caller.spawn().unwrap();
        assert!(wait_for(|| up.path().join("up").exists()), "{isolation:?}");
        assert!(survivors(&mark).len() >= 4, "{isolation:?}: {:#?}", survivors(&mark));
        caller.kill().unwrap();
        caller.wait().unwrap();
        assert!(wait_for(|| survivors(&mark).is_empty()), "{isolation:?}: {:#?}", survivors(&mark));
    });
}

/// The tool goes with its supervisor. Where it cannot have ended that itself, it is not its fault.
#[test]
fn a_lost_supervisor_takes_the_tool_with_it() {
    each(|isolation| {
        let mark = marker();
        let trial =
            Trial::new(isolation, &format!("touch up; sleep {mark} & sh -c 'sleep {mark} & wait' & exec sleep {mark}"));
        let lost = std::thread::scope(|scope| {
            let running = scope.spawn(|| run(&trial.job, &supervisor(), &Cancel::default()));
            assert!(wait_for(|| trial.path("checkout/up").exists() && !survivors(&mark).is_empty()));
            let tool = survivors(&mark).pop().unwrap();
            let mut pid = tool.split(['/', ':']).nth(2).unwrap().to_owned();
            // Up from the tool to whoever was started as a supervisor.
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
fn many_at_once_leave_nothing_behind() {
    each(|isolation| {
        let count = |folder: &str| std::fs::read_dir(folder).unwrap().count();
        let mark = marker();
        let trial = Trial::new(isolation, &format!("sleep {mark} & echo out; exit 7"));
        next_is_fine(isolation);
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
        // Other tests run in this process at the same time and hold a few. One that each trial left would make 200.
        let after = count("/proc/self/fd");
        assert!(after < before + 100, "{before} files were open, and {after} are");
    });
}
