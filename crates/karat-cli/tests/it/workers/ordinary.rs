//! Workers without failures.

use super::{HELD, SHORT, Site, wait_for, without_seconds};
use std::io::{Read, Write};
use std::net::TcpStream;

#[test]
fn two_workers_complete_a_run_that_another_process_plans() {
    let Some(site) = Site::new(6, SHORT) else { return };
    let expected = site.run_on_one_machine("");
    let mut planner = site.plan("");
    let _workers = [site.worker("-j 2"), site.worker("-j 2")];
    let ran = planner.wait().expect(0);
    site.check(&expected);
    assert_eq!(without_seconds(&ran.out), expected.table);
    assert!(!ran.err.contains("karat:karat@"), "{}", ran.err);
}

#[test]
fn planner_works_itself_unless_told_not_to() {
    let Some(site) = Site::new(3, SHORT) else { return };
    let expected = site.run_on_one_machine("");
    let ran = site.run(super::run_line()).expect(0);
    site.check(&expected);
    assert_eq!(without_seconds(&ran.out), expected.table);
}

#[test]
fn worker_of_one_run_ends_with_it() {
    let Some(site) = Site::new(2, SHORT) else { return };
    let mut planner = site.plan("");
    let ran = site.worker("latest").wait().expect(0);
    assert!(ran.err.contains("4 trials recorded, 1 run scored"), "{}", ran.err);
    planner.wait().expect(0);
    let ran = site.worker("--idle exit").wait().expect(0);
    assert!(ran.err.contains("0 trials recorded"), "{}", ran.err);
}

#[test]
fn tool_is_executed_where_its_needs_are_offered() {
    let Some(site) = Site::new(2, SHORT) else { return };
    site.add_tool("special", crate::run::FINDS_IT, "needs = [\"special-hardware\"]");
    let tools = "--tool tools/special.toml";
    let mut planner = site.plan(tools);
    let mut ordinary = site.worker("");
    site.wait_for_count("the ordinary tool is done", "SELECT COUNT(*) FROM trials WHERE tool = 'it'", |n| n == 4);
    let waiting = "SELECT COUNT(*) FROM queue_units WHERE tool = 'special' AND state = 'waiting' AND fence = 0";
    assert_eq!(site.count(waiting), Some(4));
    assert!(planner.is_running() && ordinary.is_running());
    planner.wait_for_error("its tools need special-hardware");
    let shown = site.run("store show latest").expect(0).out;
    assert!(shown.contains("queue    4 done, 4 waiting; workers need special-hardware"), "{shown}");
    assert_eq!(site.json("store show latest --json")["queue"]["waiting"], 4);
    let _special = site.worker("--needs special-hardware");
    planner.wait().expect(0);
    site.check_records(8);
    assert_eq!(site.json("store list --json")[0]["state"], "complete");
}

#[test]
fn tool_without_its_key_is_unavailable_as_on_one_machine() {
    let Some(site) = Site::new(2, SHORT) else { return };
    let with_model = "--tool llm:anthropic/claude-test";
    let expected = site.run_on_one_machine_to(with_model, 5);
    assert!(expected.report.contains("ANTHROPIC_API_KEY"), "{}", expected.report);
    let mut planner = site.plan(with_model);
    planner.wait_for_error("its trials are unavailable");
    let _worker = site.worker("-j 1");
    let cannot = "the tool `claude-test` cannot be run";
    planner.wait().expect_error(5, &[cannot]);
    site.check(&expected);
    site.run(&format!("{} {with_model}", super::run_line())).expect_error(5, &[cannot]);
    site.check(&expected);
}

#[test]
fn isolation_of_the_plan_binds_every_worker() {
    let Some(site) = Site::new(2, SHORT) else { return };
    let mut planner = site.plan("");
    let mut other = site.start("worker --isolation landlock");
    other.wait_for_error("was planned with --isolation process, and this worker has landlock");
    assert_eq!(site.count("SELECT COUNT(*) FROM trials"), Some(0));
    let _worker = site.start("worker");
    planner.wait().expect(0);
    site.check_records(4);
    let as_planned = "SELECT COUNT(*) FROM trials WHERE detail LIKE '%\"isolation_kind\":\"process\"%'";
    assert_eq!(site.count(as_planned), Some(4));
    assert!(other.is_running(), "{}", other.everything());
    site.run("run --resume latest --no-work --require-isolation=landlock").expect_error(2, &["start a new run"]);
}

#[test]
fn suite_is_unpacked_once_for_all_runs() {
    let Some(site) = Site::new(2, SHORT) else { return };
    let expected = site.run_on_one_machine("");
    for _ in 0..2 {
        let ran = site.run(super::run_line()).expect(0);
        assert!(ran.err.contains("workers need this folder at the same path"), "{}", ran.err);
        site.check(&expected);
    }
    let kept = std::fs::read_dir(site.project.path(".cache/karat/suites")).unwrap().flatten();
    assert_eq!(kept.filter(|entry| entry.path().is_dir()).count(), 1);
}

#[test]
fn metrics_are_served_while_a_worker_runs() {
    let Some(site) = Site::new(2, HELD) else { return };
    site.write("hold");
    let mut planner = site.plan("");
    let worker = site.worker("-j 1 --metrics 127.0.0.1:0");
    site.wait_for_file("started");
    let address = wait_for("the address", || {
        let errors = worker.errors();
        let (_, rest) = errors.split_once("metrics are at http://")?;
        Some(rest.split_once("/metrics")?.0.to_owned())
    });
    let get = |path: &str| {
        let mut stream = TcpStream::connect(&address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let metrics = get("/metrics");
    assert!(metrics.starts_with("HTTP/1.1 200"), "{metrics}");
    assert!(metrics.to_lowercase().contains("content-type: text/plain; version=0.0.4"), "{metrics}");
    assert!(metrics.contains("\n# TYPE karat_worker_running gauge\nkarat_worker_running 1\n"), "{metrics}");
    assert!(get("/").starts_with("HTTP/1.1 404"), "{}", get("/"));
    site.write("go");
    planner.wait().expect(0);
    wait_for("the trials are counted", || {
        get("/metrics").contains("\nkarat_worker_trials_recorded_total 4\n").then_some(())
    });
}
