//! Contents of the pages, for intact and damaged stores.

use super::{HOSTILE, Server, run_ids, two_runs};
use crate::project::Project;
use karat_format::run::TrialDetailV1;
use karat_format::submission::TrialV1;
use karat_store::record::TrialRecord;
use karat_store::{NewRun, RunState, Store};
use serde_json::{Value, json};

#[test]
fn pages_escape_hostile_names() {
    let project = two_runs();
    let runs = run_ids(&project);
    let server = Server::start(&project, &[]);
    let (second, first) = (&runs[0], &runs[1]);
    let pages = [
        "/".to_owned(),
        format!("/runs/{first}"),
        format!("/runs/{second}"),
        "/runs/latest".to_owned(),
        format!("/runs/{first}/live"),
        format!("/compare?a={first}&b={second}"),
        format!("/compare?a={second}&b={first}"),
    ];
    for page in &pages {
        let body = server.page(page);
        assert!(body.starts_with("<!DOCTYPE html>"), "{page}");
        assert!(!body.contains("<script>alert") && !body.contains("<b title"), "{page} does not escape a name");
    }
    let list = server.page("/");
    for text in ["second", "alert(1)", "complete", "2 of 2", &format!("/runs/{first}"), "Compare two runs"] {
        assert!(list.contains(text), "no {text}:\n{list}");
    }
    let comparison = server.page(&pages[5]);
    assert!(
        comparison.contains("Lost") && comparison.contains(&format!("/runs/{second}#/case/two?tool=")),
        "{comparison}"
    );
    assert!(server.page(&pages[6]).contains("Gained"));
    project
        .run_list(&[
            "run",
            ".",
            "--tool",
            "replay:good.jsonl",
            "--trials",
            "1",
            "--only",
            "one",
            "--name",
            "part",
            "-q",
        ])
        .expect(0);
    let refused = server.get("/compare?a=second&b=part");
    assert!(refused.status == 409 && refused.body.contains("different cases"), "{}", refused.body);
    assert!(refused.body.contains("intersection=1") && !refused.body.contains("--intersection"), "{}", refused.body);
    assert!(server.page("/compare?a=second&b=part&intersection=1").contains("1 case left out"));
    let report = server.json(&format!("/runs/{first}/report.json"));
    assert_eq!(report["schema"], "karat.report/1");
    let progress = server.json("/runs/second/progress.json");
    assert_eq!(
        (&progress["state"], &progress["done"], &progress["planned"]),
        (&json!("complete"), &json!(2), &json!(2))
    );
    assert_eq!(progress["tools"][0]["tool"], HOSTILE);
    assert_eq!(server.page("/healthz"), "ok\n");
}

#[test]
fn missing_pages_say_what_to_do() {
    let project = two_runs();
    let runs = run_ids(&project);
    let server = Server::start(&project, &[]);
    let check = |path: &str, status: u16, text: &str| {
        let answer = server.get(path);
        assert_eq!(answer.status, status, "{path}: {}", answer.body);
        assert!(answer.body.contains(text), "{path} does not contain {text:?}: {}", answer.body);
    };
    check("/nothing", 404, "Page not found");
    check("/runs/nightly", 404, "There is no run <code>nightly</code>");
    check("/runs/secnod", 404, "did you mean <code>second</code>");
    check("/runs/nightly/report.json", 404, "\"error\"");
    check("/runs/0", 300, "type more of the id");
    check("/compare", 400, "A comparison needs two runs");
    check("/compare?a=second&b=nightly", 404, "no run");
    check("/?page=999", 200, "Runs");
    check("/?page=x", 400, "page");
    check("/?suite=%3Cscript%3E", 200, "No runs of this suite");
    check(&format!("/runs/{}?x=%00", runs[0]), 200, "<!DOCTYPE html>");
    check("/runs/%FF", 400, "");
    let head = server.ask("HEAD", "/", &[], "");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    assert!(head.header("content-length").unwrap().parse::<usize>().unwrap() > 500);
    assert_eq!(server.ask("POST", "/", &[], "").status, 405);
}

#[test]
fn missing_empty_and_damaged_stores_are_explained() {
    let project = Project::new();
    let server = Server::start(&project, &[]);
    let missing = server.get("/");
    assert!(missing.status == 503 && missing.body.contains("karat run"), "{}", missing.body);
    drop(Store::create(&project.path(".karat")).unwrap());
    assert!(server.page("/").contains("karat run starter"), "the page of an empty store says how to start");
    std::fs::remove_dir_all(project.path(".karat")).unwrap();
    assert_eq!(server.get("/").status, 503);
    std::fs::create_dir(project.path(".karat")).unwrap();
    std::fs::write(project.path(".karat/karat.db"), "this is no database, and it is long enough to be looked at")
        .unwrap();
    let damaged = server.get("/");
    assert!(damaged.status == 500 && damaged.body.contains("karat store verify"), "{}", damaged.body);
}

pub(super) fn begin_run(store: &mut Store, name: &str) -> karat_store::RunId {
    let tool = json!({ "name": "slow", "kind": "command", "trials": 2, "isolation": "full", "manifest": {} });
    let plan = json!({
        "schema": "karat.plan/1", "suite": { "name": "tiny", "place": "nowhere", "digest": "d1", "cases": 2 },
        "profile": { "name": "karat", "method": "score", "expect_pass": false, "headline": ["f1"] },
        "seed": 7, "tools": [tool], "cases": ["one", "two"],
    });
    let plan = serde_json::from_value(plan).unwrap();
    let new = NewRun { name: Some(name.to_owned()), plan, suite_snapshot: b"{}".to_vec(), scratch: None };
    store.begin(&new).unwrap()
}

pub(super) fn record(case: &str, attempt: u32, outcome: &str, reason: Option<&str>) -> TrialRecord {
    let mut line = json!({ "case": case, "tool": "slow", "trial": 1, "outcome": outcome });
    line["cost_usd"] = json!(0.25);
    line["tokens_in"] = json!(1000);
    let (trial, faults) = serde_json::from_value::<TrialV1>(line).unwrap().into_trial();
    assert_eq!(faults, []);
    let detail = TrialDetailV1 { reason: reason.map(str::to_owned), started_ms: 1_000, ..TrialDetailV1::default() };
    TrialRecord { trial, attempt, detail, artifacts: Vec::new() }
}

#[test]
fn run_started_while_serving_is_followed_to_its_end() {
    let project = two_runs();
    let server = Server::start(&project, &[]);
    assert!(!server.page("/").contains("going-on"));
    let mut store = Store::open(&project.path(".karat")).unwrap();
    let run = begin_run(&mut store, "going-on");
    let lock = store.lock(&run).unwrap();
    let list = server.page("/");
    assert!(list.contains("going-on") && list.contains("running") && list.contains("0 of 4"), "{list}");
    let progress = |expect: &[(&str, Value)]| {
        let progress = server.json("/runs/going-on/progress.json");
        for (key, value) in expect {
            assert_eq!(progress.pointer(key), Some(value), "{key} of {progress}");
        }
    };
    progress(&[("/state", json!("running")), ("/done", json!(0)), ("/planned", json!(4))]);
    store.save(&run, &[record("one", 1, "crashed", Some("<i>no key</i>"))]).unwrap();
    progress(&[("/done", json!(1)), ("/failed", json!(1)), ("/failures/0/reason", json!("<i>no key</i>"))]);
    // A second attempt replaces the first, but the cost of both counts.
    store.save(&run, &[record("one", 2, "reported", None), record("two", 1, "reported", None)]).unwrap();
    progress(&[
        ("/done", json!(2)),
        ("/failed", json!(0)),
        ("/spent/usd", json!(0.75)),
        ("/spent/tokens_in", json!(3000)),
    ]);
    progress(&[("/tools/0/done", json!(2)), ("/tools/0/planned", json!(4)), ("/last/0/case", json!("two"))]);
    assert!(server.page("/runs/going-on/live").contains("progress.json"));
    let compared = server.get("/compare?a=second&b=going-on");
    assert!(compared.status == 409 && compared.body.contains("2 of 4 trials are done"), "{}", compared.body);
    drop(lock);
    progress(&[("/state", json!("interrupted"))]);
    store.finish(&run, RunState::Stopped, None).unwrap();
    progress(&[("/state", json!("stopped")), ("/left_ms", Value::Null)]);
}

#[test]
fn failed_run_has_a_badge_and_no_best_tool() {
    let project = two_runs();
    let lines =
        ["one", "two"].map(|case| json!({ "case": case, "tool": "down", "trial": 1, "outcome": "unavailable" }));
    project.write("down.jsonl", crate::project::lines(&lines));
    project.run("run . --tool replay:down.jsonl --trials 1 --name outage -q").expect(5);
    let server = Server::start(&project, &[]);
    let list = server.page("/");
    let row = list.split("<tr>").find(|row| row.contains(">outage<")).unwrap();
    for text in ["<span class=\"state failed\">failed</span>", "no trial came to a report", "2 unavailable"] {
        assert!(row.contains(text), "no {text}:\n{row}");
    }
    let page = server.page("/runs/outage");
    for text in ["<span class=\"badge failed\">failed</span>", "state failed", "None of 2 trials came to a report"] {
        assert!(page.contains(text), "no {text}:\n{page}");
    }
    let progress = server.json("/runs/outage/progress.json");
    assert_eq!(
        (&progress["state"], &progress["failed"], &progress["unavailable"]),
        (&json!("failed"), &json!(0), &json!(2))
    );
    assert_eq!(server.json("/runs/outage/report.json")["status"], "failed");
}

#[test]
fn unfinished_run_shows_partial_results() {
    let project = two_runs();
    let server = Server::start(&project, &[]);
    let run = run_ids(&project)[0].clone();
    Store::open(&project.path(".karat")).unwrap().reopen(&resolve_run(&project, &run)).unwrap();
    let page = server.page(&format!("/runs/{run}"));
    assert!(page.contains("This run was interrupted") && page.contains("karat run --resume"), "{page}");
    assert_eq!(server.get(&format!("/runs/{run}/report.json")).status, 404);
}

#[test]
fn trials_not_yet_run_are_no_misses() {
    let project = two_runs();
    let mut store = Store::open(&project.path(".karat")).unwrap();
    let other = resolve_run(&project, &run_ids(&project)[0]);
    let (mut plan, suite_snapshot) = (store.plan(&other).unwrap(), store.suite_snapshot(&other).unwrap());
    plan.tools.truncate(1);
    (plan.tools[0].name, plan.tools[0].trials) = ("slow".to_owned(), 2);
    plan.cases.truncate(2);
    let [done, half] = plan.cases.as_slice() else { panic!("two cases are needed") };
    let (done, half) = (done.clone(), half.clone());
    let new = NewRun { name: Some("half-way".to_owned()), plan, suite_snapshot, scratch: None };
    let run = store.begin(&new).unwrap();
    let _lock = store.lock(&run).unwrap();
    let record_of_trial = |case: &str, number: u32| {
        let mut record = record(case, 1, "reported", None);
        record.trial.number = number;
        record
    };
    store.save(&run, &[record_of_trial(&half, 1)]).unwrap();
    let server = Server::start(&project, &[]);
    // No case is complete, so there is no score yet.
    let early = server.get("/runs/half-way");
    assert_eq!((early.status, early.header("location")), (303, Some(format!("/runs/{run}/live").as_str())));
    store.save(&run, &[record_of_trial(&done, 1), record_of_trial(&done, 2)]).unwrap();
    drop(server);
    let page = Server::start(&project, &[]).page("/runs/half-way");
    assert!(page.contains("1 of 2 cases are finished by every tool that has started"), "{page}");
    assert!(page.contains("3 of 4 trials are done"), "{page}");
    assert!(page.contains("1 case, ") && !page.contains("count as skipped"), "{page}");
}

fn resolve_run(project: &Project, run: &str) -> karat_store::RunId {
    Store::read_only(&project.path(".karat")).unwrap().resolve_run(run).unwrap()
}

#[test]
fn damaged_report_does_not_hide_other_runs() {
    let project = two_runs();
    let mut store = Store::open(&project.path(".karat")).unwrap();
    let run = begin_run(&mut store, "broken");
    store.finish(&run, RunState::Complete, Some(b"{\"schema\":")).unwrap();
    drop(store);
    let server = Server::start(&project, &[]);
    let page = server.get("/runs/broken");
    assert!(page.status == 500 && page.body.contains("could not be read"), "{}", page.body);
    let list = server.page("/");
    assert!(list.contains("not readable by this version") && list.contains("second"), "{list}");
}
