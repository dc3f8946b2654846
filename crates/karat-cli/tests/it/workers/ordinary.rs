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
    let _special = site.worker("--needs special-hardware");
    planner.wait().expect(0);
    site.check_records(8);
    assert_eq!(site.json("store list --json")[0]["state"], "complete");
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
