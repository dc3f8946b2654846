//! However a run is ended, nothing of it is left.

use super::*;
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
    while begun.elapsed() < Duration::from_secs(10) {
        if what() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

#[test]
fn a_cancel_ends_everything_within_two_seconds() {
    each(|isolation| {
        let mark = marker();
        let trial = stubborn(isolation, &mark);
        let cancel = Cancel::default();
        let (finished, took) = std::thread::scope(|scope| {
            let running = scope.spawn(|| run(&trial.job, &supervisor(), &cancel).unwrap());
            assert!(wait_for(|| trial.path("checkout/up").exists()));
            let begun = Instant::now();
            cancel.cancel();
            (running.join().unwrap(), begun.elapsed())
        });
        assert_eq!(finished.ended, Ended::Cancelled, "{isolation:?}");
        assert!(took < Duration::from_secs(2), "{isolation:?}: {took:?}");
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
        let begun = Instant::now();
        assert_eq!(run(&trial.job, &supervisor(), &cancel).unwrap().ended, Ended::Cancelled, "{isolation:?}");
        assert!(begun.elapsed() < Duration::from_secs(2));
    });
}

const CALLER: &str = "KARAT_TEST_CALLER";

/// Not a test: what the test below starts and kills.
#[test]
fn caller() {
    let Ok(order) = std::env::var(CALLER) else { return };
    let [name, mark, up] = order.split(' ').collect::<Vec<_>>().try_into().unwrap();
    let mut trial = stubborn(Isolation::from_name(name).unwrap(), mark);
    trial.job.view.writable.push(up.into());
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
        let begun = Instant::now();
        assert!(wait_for(|| survivors(&mark).is_empty()), "{isolation:?}: {:#?}", survivors(&mark));
        assert!(begun.elapsed() < Duration::from_secs(2), "{isolation:?}");
    });
}

/// Bubblewrap and Landlock end the tool with its supervisor.
#[test]
fn a_lost_supervisor_is_an_error() {
    each(|isolation| {
        let mark = marker();
        let trial = Trial::new(isolation, &format!("touch up; exec sleep {mark}"));
        let error = std::thread::scope(|scope| {
            let running = scope.spawn(|| run(&trial.job, &supervisor(), &Cancel::default()).unwrap_err());
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
        assert!(error.to_string().contains("ended from outside"), "{error}");
        if isolation > Isolation::Process {
            assert!(wait_for(|| survivors(&mark).is_empty()), "{isolation:?}");
        } else {
            for line in survivors(&mark) {
                let pid = line.split(['/', ':']).nth(2).unwrap().to_owned();
                Command::new("kill").args(["-9", &pid]).status().unwrap();
            }
        }
    });
}

#[test]
fn many_at_once_leave_nothing_behind() {
    each(|isolation| {
        let count = |folder: &str| std::fs::read_dir(folder).unwrap().count();
        let mark = marker();
        let trial = Trial::new(isolation, &format!("sleep {mark} & echo out; exit 7"));
        next_is_fine(isolation);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..25 {
                        let finished = trial.run();
                        assert_eq!((finished.ended, text(&finished.stdout.bytes)), (Ended::Exited(7), "out\n".into()));
                    }
                });
            }
        });
        assert_eq!(survivors(&mark), Vec::<String>::new(), "{isolation:?}");
        // Other tests run in this process at the same time and hold a few.
        assert!(count("/proc/self/fd") < 200, "{}", count("/proc/self/fd"));
    });
}
