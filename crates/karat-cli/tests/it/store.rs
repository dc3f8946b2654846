//! `karat store`.

use crate::project::{CommandOutput, Project};
use karat_core::ids::ToolName;
use karat_format::run::{ToolFactsV1, TrialDetailV1};
use karat_format::submission::TrialV1;
use karat_llm::ledger::Exchange;
use karat_store::record::{Artifact, TrialRecord};
use karat_store::{NewRun, RunId, RunState, Store};
use serde_json::json;

/// A project with a suite of one case.
fn project() -> Project {
    let cases = [json!({ "id": "sqli", "issues": [{ "id": "g1", "title": "SQL injection", "file": "a.py" }] })];
    crate::project::suite(&cases)
}

/// Stores a run of two tools on one case; the second tool crashed.
fn store_run(project: &Project, name: Option<&str>) -> RunId {
    let mut store = Store::create(project.path(".karat")).unwrap();
    let tool =
        |name: &str| json!({ "name": name, "kind": "command", "trials": 1, "isolation": "full", "manifest": {} });
    let plan = json!({
        "schema": "karat.plan/1",
        "suite": { "name": "tiny", "place": ".", "digest": "d1", "cases": 1 },
        "profile": { "name": "karat", "method": "score", "expect_pass": false, "headline": ["f1"] },
        "seed": 7, "tools": [tool("bandit"), tool("loud")], "cases": ["sqli"],
    });
    let run = store
        .begin(&NewRun {
            name: name.map(str::to_owned),
            plan: serde_json::from_value(plan).unwrap(),
            suite_snapshot: b"{}".to_vec(),
            scratch: None,
        })
        .unwrap();
    let facts =
        ToolFactsV1 { version: Some("1.8.0".to_owned()), isolation: "full".to_owned(), ..ToolFactsV1::default() };
    store.set_tool(&run, &ToolName::new("bandit"), &facts).unwrap();
    let record = |line: serde_json::Value, reason: Option<&str>, stderr: &str| {
        let (trial, faults) = serde_json::from_value::<TrialV1>(line).unwrap().into_trial();
        assert_eq!(faults, []);
        TrialRecord {
            trial,
            attempt: 1,
            detail: TrialDetailV1 { reason: reason.map(str::to_owned), started_ms: 1000, ..TrialDetailV1::default() },
            artifacts: vec![Artifact { name: "stderr".to_owned(), bytes: stderr.as_bytes().to_vec() }],
        }
    };
    let found = json!([{ "id": "f1", "title": "SQL injection", "file": "a.py" }]);
    let good = json!({ "case": "sqli", "tool": "bandit", "trial": 1, "outcome": "reported", "findings": found });
    let bad = json!({ "case": "sqli", "tool": "loud", "trial": 1, "outcome": "crashed" });
    let reason = "exit code 3: \u{1b}[31mno key\u{1b}[0m";
    store.save(&run, &[record(good, None, "fine\n"), record(bad, Some(reason), "\u{1b}[31mno key\n")]).unwrap();
    store.finish(&run, RunState::Complete, None).unwrap();
    run
}

#[test]
fn runs_are_listed_and_shown() {
    let project = project();
    let run = store_run(&project, Some("nightly"));
    let list = project.ok("store list");
    for text in ["nightly", "tiny", "complete", "2/2", &run.as_str()[..8]] {
        assert!(list.contains(text), "no {text}:\n{list}");
    }
    let show = project.ok("store show nightly");
    for text in [run.as_str(), "2 of 2: 1 reported, 1 crashed", "1.8.0", "full", "seed 7", "exit code 3"] {
        assert!(show.contains(text), "no {text}:\n{show}");
    }
    assert!(!show.contains('\u{1b}'), "a tool's escapes reached the terminal:\n{show}");
    let json = project.json("store show latest --json");
    assert_eq!(json["id"], run.as_str());
    assert_eq!(json["outcomes"], json!({ "reported": 1, "crashed": 1 }));
    assert_eq!(json["failures"][0]["tool"], "loud");
    assert_eq!(json["in_use"], false);
    assert_eq!(project.json("store list --json")[0]["name"], "nightly");
}

#[test]
fn tables_fit_80_columns_without_truncation() {
    let project = project();
    store_run(&project, Some("the-nightly-run-of-the-main-branch-with-a-name-of-its-own"));
    project.ok("score starter -o a-report-with-a-rather-long-name.json");
    project.ok("score starter -o another-report-with-a-longer-name.json");
    let compare = "compare a-report-with-a-rather-long-name.json another-report-with-a-longer-name.json";
    for line in
        ["store list", "store show latest", "metrics list", "metrics explain sui", "tools list", "plot --list", compare]
    {
        let ran =
            crate::project::CommandOutput::start(project.command().env("COLUMNS", "80").args(line.split_whitespace()))
                .expect(0);
        for shown in ran.out.lines() {
            assert!(shown.chars().count() <= 80, "{line}: {} columns\n{shown}\n{}", shown.chars().count(), ran.out);
        }
        assert!(!ran.out.contains('…') || line == compare, "{line} is cut:\n{}", ran.out);
        assert!(line != "store list" || !ran.out.contains("\n\n"), "{line} is split:\n{}", ran.out);
    }
}

#[test]
fn trials_and_their_artifacts_are_shown() {
    let project = project();
    store_run(&project, None);
    let trial = project.ok("store show latest --trial loud sqli 1");
    assert!(trial.contains("stderr") && trial.contains("12 B") && !trial.contains('\u{1b}'), "{trial}");
    assert!(trial.contains("  crashed\n"), "a failed trial shows a number of findings:\n{trial}");
    assert!(project.ok("store show latest --trial bandit sqli 1").contains("reported, 1 finding"));
    // Without a terminal the bytes are printed unchanged.
    assert_eq!(project.ok("store show latest --trial loud sqli 1 --artifact stderr"), "\u{1b}[31mno key\n");
    let json = project.json("store show latest --trial bandit sqli 1 --json");
    assert_eq!(json["artifacts"][0]["size"], 5);
    assert_eq!(json["trial"]["findings"][0]["id"], "f1");
    let check = |line: &str, text: &str| project.run(line).expect_error(2, &[text]);
    check("store show latest --trial bandti sqli 1", "did you mean `bandit`");
    check("store show latest --trial bandit sqil 1", "did you mean `sqli`");
    check("store show latest --trial bandit sqli 2", "no trial 2 of bandit on sqli");
    check("store show latest --trial bandit sqli x", "expected a number from 1");
    check("store show latest --trial bandit sqli 1 --artifact stdout", "available: stderr");
}

#[test]
fn skipped_trials_are_not_failures() {
    let project = project();
    let run = store_run(&project, Some("nightly"));
    let mut store = Store::open(project.path(".karat")).unwrap();
    store.reopen(&run).unwrap();
    let line = json!({ "case": "sqli", "tool": "loud", "trial": 1, "outcome": "skipped" });
    let (trial, _) = serde_json::from_value::<TrialV1>(line).unwrap().into_trial();
    let remarks = vec!["`stdout` was cut".to_owned()];
    let detail = TrialDetailV1 { started_ms: 1000, remarks, ..TrialDetailV1::default() };
    store.save(&run, &[TrialRecord { trial, attempt: 2, detail, artifacts: Vec::new() }]).unwrap();
    drop(store);
    let list = project.ok("store list");
    assert!(list.lines().last().unwrap().trim_end().ends_with(" 0"), "{list}");
    let show = project.ok("store show nightly");
    assert!(show.contains("1 reported, 1 skipped") && !show.contains("reason"), "{show}");
    assert_eq!(project.json("store show nightly --json")["failures"], json!([]));
    assert!(project.ok("store show nightly --trial loud sqli 1").contains("note: `stdout` was cut"));
}

#[test]
fn tool_changed_during_the_run_is_shown_with_both_versions() {
    let project = project();
    let run = store_run(&project, None);
    assert!(!project.ok("store show").contains("changed during"));
    let mut store = Store::open(project.path(".karat")).unwrap();
    let facts =
        ToolFactsV1 { version: Some("1.9.2".to_owned()), isolation: "none".to_owned(), ..ToolFactsV1::default() };
    store.set_tool(&run, &ToolName::new("bandit"), &facts).unwrap();
    let judgement = json!({
        "kind": "pair", "case": "sqli", "tool": "bandit", "trial": 1, "judge": "human:ada",
        "golden": "g1", "finding": "f1", "match": true,
    });
    store.set_judgements(&run, &[serde_json::from_value(judgement).unwrap()]).unwrap();
    drop(store);
    let show = project.ok("store show");
    let expected = "bandit changed during the run: version 1.8.0, isolation full; then version 1.9.2, isolation none";
    assert!(show.contains(expected), "{show}");
    assert!(show.contains("judged   1 judgement"), "{show}");
    let json = project.json("store show --json");
    assert_eq!(json["tools"]["bandit"]["version"], "1.9.2");
    assert_eq!(json["tool_history"]["bandit"][0]["version"], "1.8.0");
    assert_eq!(json["judgements"], 1);
}

#[test]
fn exported_run_is_a_submission() {
    let project = project();
    store_run(&project, None);
    let out = project.ok("store export latest");
    assert_eq!(out.lines().count(), 2);
    project.run("store export -o sub.jsonl").expect_error(0, &["wrote sub.jsonl, 2 trials"]);
    assert_eq!(project.read("sub.jsonl"), out);
    let report = project.json("score . --submission sub.jsonl --json");
    assert_eq!(report["tools"].as_array().unwrap().len(), 2);
}

#[test]
fn run_is_exported_and_imported() {
    let (here, there) = (project(), project());
    let run = store_run(&here, Some("nightly"));
    let file = there.path("run.jsonl.gz").display().to_string();
    here.run(&format!("store export nightly --whole -o {file}")).expect_error(0, &["the whole run"]);
    there.run("store import run.jsonl.gz").expect_error(0, &["was imported: 2 trials"]);
    there.run("store import run.jsonl.gz").expect_error(0, &["is already present"]);
    assert_eq!(there.json("store show nightly --json")["id"], run.as_str());
    assert_eq!(there.ok("store export nightly"), here.ok("store export nightly"));
    there.ok("store verify");
    there.write("bad.jsonl", "{}\n");
    there.run("store import bad.jsonl").expect_error(4, &["bad.jsonl, line 1", "Nothing was loaded"]);
    there.run("store import nowhere.jsonl").expect_error(4, &["nowhere.jsonl"]);
}

/// Stores exchanges with a model in the ledger.
fn store_exchanges(project: &Project, model: &str, names: &[&str]) {
    let exchange = |name: &&str| -> Exchange {
        let key = name.repeat(64);
        serde_json::from_value(json!({
            "key": key, "provider": "p", "model": model, "parameters": {}, "template": "pair/v1", "system": "s", "user": name,
            "replies": [], "tokens_in": 1, "tokens_out": 1, "attempts": 1, "outcome": {"decided": {"match": true}},
        }))
        .unwrap()
    };
    let exchanges: Vec<Exchange> = names.iter().map(exchange).collect();
    let mut store = Store::create(project.path(".karat")).unwrap();
    store.ledger_put(&exchanges.iter().collect::<Vec<_>>()).unwrap();
}

#[test]
fn ledger_is_exported_and_imported() {
    let (here, there) = (project(), project());
    store_run(&here, None);
    store_exchanges(&here, "m", &["a", "b"]);
    store_exchanges(&here, "n", &["c"]);
    let file = |name: &str| there.path(name).display().to_string();
    here.run(&format!("store export --ledger -o {}", file("all.jsonl.gz"))).expect_error(0, &["3 exchanges"]);
    here.run(&format!("store export --ledger --model m -o {}", file("m.jsonl"))).expect_error(0, &["2 exchanges"]);
    assert_eq!(there.read("m.jsonl").lines().count(), 2);
    there.run("store import m.jsonl").expect_error(0, &["2 exchanges added, 0 already present"]);
    assert_eq!(there.json("store import all.jsonl.gz --json"), json!({ "added": 1, "were_here": 2 }));
    assert_eq!(there.ok("store export --ledger"), here.ok("store export --ledger"));
    assert!(there.ok("store verify").contains("0 runs, 3 exchanges, no problems"));
    here.run("store list").expect_error(0, &["and 3 exchanges"]);

    // The same key with another answer: nothing is overwritten, and nothing is imported.
    let other = there.read("m.jsonl").replacen("true", "false", 1);
    let fresh = other.lines().next().unwrap().replace(&"a".repeat(64), &"d".repeat(64));
    there.write("other.jsonl", format!("{fresh}\n{other}"));
    there.run("store import other.jsonl").expect_error(4, &["other content", &"a".repeat(64), "Nothing was loaded"]);
    assert_eq!(there.ok("store export --ledger").lines().count(), 3);
    there.write("torn.jsonl", &other[..other.len() - 30]);
    there.run("store import torn.jsonl").expect_error(4, &["torn.jsonl, line 2", "no recorded exchange"]);
    there.run("store import m.jsonl --name x").expect_error(2, &["have no name"]);
    there.run("store export --ledger latest").expect_error(2, &["cannot be used with"]);
}

#[test]
fn ledger_is_removed_only_by_gc_ledger() {
    let project = project();
    store_run(&project, None);
    store_exchanges(&project, "m", &["a", "b"]);
    project.run("store gc --ledger").expect_error(2, &["--older-than"]);
    project.run("store gc --ledger --older-than 1w --keep 1").expect_error(2, &["cannot be used with"]);
    assert!(project.ok("store gc --ledger --older-than 1w").contains("removed 0 exchanges with models"));
    std::thread::sleep(std::time::Duration::from_millis(5));
    let removed = project.json("store gc --ledger --older-than 0s --dry-run --json");
    assert_eq!((&removed["exchanges"], &removed["runs"]), (&json!(2), &json!([])));
    project.ok("store gc --keep 0");
    assert_eq!(project.ok("store export --ledger").lines().count(), 2);
    assert!(project.ok("store gc --ledger --older-than 0s").contains("removed 2 exchanges with models"));
    assert_eq!(project.ok("store export --ledger"), "");
}

#[test]
fn concurrent_imports_create_one_store() {
    let target = project();
    let sources: Vec<Project> = (0..4).map(|_| project()).collect();
    for (n, source) in sources.iter().enumerate() {
        store_run(source, None);
        let file = target.path(&format!("{n}.jsonl")).display().to_string();
        source.run(&format!("store export --whole -o {file}")).expect(0);
    }
    // The store does not exist yet, so all processes try to create it.
    std::thread::scope(|scope| {
        let import = |n: usize| target.run(&format!("store import {n}.jsonl --store .karat")).expect(0).code;
        let processes: Vec<_> = (0..4).map(|n| scope.spawn(move || import(n))).collect();
        processes.into_iter().for_each(|process| assert_eq!(process.join().unwrap(), Some(0)));
    });
    assert_eq!(target.json("store list --json").as_array().unwrap().len(), 4);
    target.ok("store verify");
}

#[test]
fn gc_removes_old_runs() {
    let project = project();
    let first = store_run(&project, Some("first"));
    store_run(&project, Some("second"));
    let preview = project.ok("store gc --keep 1 --dry-run");
    assert!(preview.contains("would remove 1 run"), "{preview}");
    assert!(project.ok("store gc --older-than 1w").contains("removed 0 runs"));
    let json = project.json("store gc --keep 1 --json");
    assert_eq!(json["runs"][0]["id"], first.as_str());
    project.run("store show first").expect_error(2, &["there is no run `first`"]);
    project.run("report first").expect_error(2, &["there is no run `first`"]);
    // An argument that looks like a file is a file; a missing one is invalid input.
    project.run("report nosuch.json").expect_error(4, &["nosuch.json: No such file"]);
    project.run("compare nosuch.json latest").expect_error(4, &["nosuch.json: No such file"]);
    project.ok("store gc second");
    project.run("store list").expect_error(0, &["no runs in"]);
    project.run("store gc --older-than soon").expect_error(2, &["30d"]);
}

#[test]
fn place_of_large_artifacts_is_shown_and_set() {
    let project = project();
    project.run("store artifacts").expect_error(5, &["there is no store"]);
    store_run(&project, None);
    assert_eq!(project.ok("store artifacts"), "all artifacts are kept in the database\n");
    let url = format!("file://{}", project.path("objects").display());
    let json = project.json(&format!("store artifacts {url} --json"));
    assert_eq!(json, json!({ "object_storage": url, "objects": 0 }));
    assert_eq!(project.ok("store artifacts"), format!("artifacts of more than 1 MiB are kept in {url}: 0 objects\n"));
    let json = project.json("store gc --grace 2d --json");
    assert_eq!((&json["objects"], &json["notes"]), (&json!(0), &json!([])));
    project.run("store gc --grace 5m").expect_error(2, &["at least 1h"]);
    project.run("store artifacts s3://anna:hunter2@runs").expect_error(2, &["AWS_SECRET_ACCESS_KEY"]);
    project.run("store artifacts s3://runs?region=eu-central-1").expect_error(5, &["AWS_ACCESS_KEY_ID is not set"]);
    project.ok("store artifacts none");
    assert_eq!(project.ok("store artifacts"), "all artifacts are kept in the database\n");
}

#[test]
fn store_is_found_by_flag_variable_or_parent_folder() {
    let project = project();
    store_run(&project, Some("nightly"));
    std::fs::create_dir_all(project.path("deep/down")).unwrap();
    let from = |folder: &str, arguments: &[&str], variable: Option<&str>| {
        let mut command = project.command();
        command.current_dir(project.path(folder)).args(arguments);
        variable.map(|value| command.env("KARAT_STORE", value));
        CommandOutput::start(&mut command)
    };
    assert!(from("deep/down", &["store", "list"], None).expect(0).out.contains("nightly"));
    assert!(from("deep", &["store", "list"], Some("../.karat")).expect(0).out.contains("nightly"));
    assert!(from("deep", &["store", "list", "--store", ".."], Some("nowhere")).expect(0).out.contains("nightly"));
    from("deep", &["store", "list"], Some("nowhere")).expect_error(5, &["there is no store in nowhere"]);
    Project::new().run("store list").expect_error(5, &["there is no store in .karat"]);
}

#[test]
fn damaged_store_is_reported_and_not_changed() {
    let project = project();
    store_run(&project, None);
    let file = project.path(".karat/karat.db");
    let whole = std::fs::read(&file).unwrap();
    let damage = |range: std::ops::Range<usize>| {
        let mut bytes = whole.clone();
        bytes[range].fill(0x5a);
        std::fs::write(&file, &bytes).unwrap();
        bytes
    };
    let bytes = damage(0..100);
    for line in ["store list", "store verify", "store export", "store gc"] {
        project.run(line).expect_error(5, &["is damaged", "Nothing was changed"]);
    }
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
    // Which table a page belongs to is up to SQLite: damage to some pages makes the file unreadable, most is found by `verify`.
    let pages = whole.len() / 4096;
    let mut found = 0;
    for page in 1..pages {
        let bytes = damage(page * 4096..(page + 1) * 4096);
        let ran = project.run("store verify --json").expect(5);
        found += usize::from(ran.out.contains("\"sound\": false"));
        let unreadable = ran.err.contains("is damaged") && ran.err.contains("Nothing was changed");
        assert!(ran.out.contains("\"sound\": false") || unreadable, "page {page}: {}{}", ran.out, ran.err);
        assert_eq!(std::fs::read(&file).unwrap(), bytes, "page {page}");
    }
    assert!(found > 0, "no damage was found by verify");
}

#[test]
fn url_is_not_accepted_as_a_path() {
    let project = project();
    for line in ["score starter -o s3://bucket/report.json", "init postgres://db/karat"] {
        project.run(line).expect_error(2, &["URL is not a path on this machine", "name a local file or folder"]);
    }
    for made in ["postgres:", "s3:", ".karat"] {
        assert!(!project.path(made).exists(), "{made} was created");
    }
}

/// Another project's store above this folder is easily taken for one's own; that of the suite around it is meant.
#[test]
fn a_note_says_that_the_store_of_a_parent_folder_is_used() {
    let project = project();
    store_run(&project, Some("nightly"));
    let inner = project.path("inner/deep");
    std::fs::create_dir_all(&inner).unwrap();
    let list = |place: &[&str]| {
        let mut command = project.command();
        CommandOutput::start(command.current_dir(&inner).args(["store", "list"]).args(place)).expect(0)
    };
    let below_the_suite = list(&[]);
    assert!(below_the_suite.out.contains("nightly") && below_the_suite.err.is_empty(), "{}", below_the_suite.err);

    std::fs::remove_file(project.path("karat.toml")).unwrap();
    std::fs::remove_file(project.path("cases.jsonl")).unwrap();
    let elsewhere = list(&[]);
    let note = format!("note: using the store of a parent folder, {}", project.path(".karat").display());
    assert!(elsewhere.out.contains("nightly") && elsewhere.err.contains(&note), "{}", elsewhere.err);
    assert!(elsewhere.err.contains("--store DIR or KARAT_STORE"), "{}", elsewhere.err);
    assert_eq!(elsewhere.err.matches("parent folder").count(), 1, "{}", elsewhere.err);
    // Nothing is said where it lies, or where it is named.
    assert_eq!(list(&["--store", "../../.karat"]).err, "");
    assert_eq!(project.run("store list").expect(0).err, "");
}
