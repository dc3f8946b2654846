//! Workers and runs that are asked to end.

use super::{HELD, Site, wait_for, without_seconds};
use rustix::process::Signal;

/// Nobody has these units, and nothing counts against them.
const UNTOUCHED: &str =
    "SELECT COUNT(*) FROM queue_units WHERE state = 'waiting' AND tries = 0 AND worker IS NULL AND kind = 'trial'";

#[test]
fn sigterm_lets_a_running_trial_end_and_gives_the_others_back() {
    let Some(site) = Site::new(40, HELD) else { return };
    let expected = site.run_on_one_machine("");
    let mut planner = site.plan("");
    let mut worker = site.worker("-j 1");
    // Short trials are claimed ahead, so that there are some that were not begun; on a very slow machine there may be none.
    let claimed = "SELECT COUNT(*) FROM queue_units WHERE state = 'claimed'";
    let are_ahead = || site.count(claimed) > Some(1);
    let is_slow = || site.count("SELECT COUNT(*) FROM trials") >= Some(20);
    wait_for("trials are claimed ahead", || (are_ahead() || is_slow()).then_some(()));
    site.write("hold");
    site.wait_for_file("started");
    let before = site.count("SELECT COUNT(*) FROM trials").unwrap();
    worker.signal(Signal::TERM);
    site.write("go");
    let ran = worker.wait().expect(0);
    let after = site.count("SELECT COUNT(*) FROM trials").unwrap();
    assert!(before < after && after < 80, "{before}, {after}: {}", ran.err);
    assert_eq!(site.count(UNTOUCHED), Some(80 - after));
    assert!(ran.err.contains(&format!("worker ended: {after} trials recorded")), "{}", ran.err);
    assert!(planner.is_running());
    let _other = site.worker("-j 2");
    planner.wait().expect(0);
    site.check(&expected);
}

#[test]
fn sigterm_without_grace_ends_a_long_trial() {
    let Some(site) = Site::new(2, HELD) else { return };
    site.write("hold");
    let mut planner = site.plan("");
    let mut worker = site.worker("-j 1 --grace 0s");
    site.wait_for_file("started");
    assert!(site.has_tool_process());
    worker.signal(Signal::TERM);
    worker.wait().expect(0);
    assert!(!site.has_tool_process(), "a tool survived");
    assert_eq!(site.count(UNTOUCHED), Some(4));
    assert_eq!(site.count("SELECT COUNT(*) FROM trials"), Some(0));
    site.write("go");
    let _other = site.worker("-j 1");
    planner.wait().expect(0);
    site.check_records(4);
}

#[test]
fn stop_ends_running_trials_and_a_stopped_run_can_be_resumed() {
    let Some(site) = Site::new(3, HELD) else { return };
    let expected = site.run_on_one_machine("");
    site.write("hold");
    let mut planner = site.plan("");
    let mut worker = site.worker("-j 2");
    site.wait_for_file("started");
    let stopped = site.run("stop latest").expect(0);
    assert!(stopped.out.contains("karat run --resume") || stopped.err.contains("karat run --resume"));
    planner.wait().expect_error(5, &["stopped: 0 of 6 trials are stored", "--resume"]);
    wait_for("the tools' end", || (!site.has_tool_process()).then_some(()));
    assert!(worker.is_running(), "{}", worker.everything());
    assert_eq!(site.json("store list --json")[0]["state"], "stopped");
    assert_eq!(site.count(UNTOUCHED), Some(6));
    site.run("stop latest").expect_error(5, &["stopped"]);

    site.write("go");
    let mut resumed = site.start("run --resume latest --no-work");
    let ran = resumed.wait().expect(0);
    assert_eq!(without_seconds(&ran.out), expected.table);
    site.check(&expected);
}

#[test]
fn interrupted_planner_leaves_the_run_to_workers() {
    let Some(site) = Site::new(3, HELD) else { return };
    let expected = site.run_on_one_machine("");
    site.write("hold");
    let mut planner = site.plan("");
    let _worker = site.worker("-j 1");
    site.wait_for_file("started");
    planner.signal(Signal::INT);
    planner.wait().expect_error(5, &["is left to its workers: 0 of 6 trials", "karat stop", "karat run --resume"]);
    assert_eq!(site.json("store list --json")[0]["state"], "running");
    // Somebody follows it again, and changes nothing.
    let mut follower = site.start("run --resume latest --no-work");
    site.write("go");
    assert_eq!(without_seconds(&follower.wait().expect(0).out), expected.table);
    site.check(&expected);
}
