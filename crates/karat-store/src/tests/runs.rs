//! Storing and reading runs, trials, judgements and artifacts.

use super::*;
use crate::record::TrialKey;
use crate::{RunState, StoreError};
use karat_format::run::ToolFactsV1;
use std::path::Path;

on_each_engine!(
    run_round_trips,
    latest_attempt_counts,
    every_outcome_is_stored_and_a_run_without_a_report_is_failed,
    trials_are_never_overwritten,
    invalid_trials_are_refused,
    trials_are_accepted_only_while_running,
    runs_are_found_by_id_prefix_and_name,
    equal_artifacts_are_stored_once,
    exported_submission_is_in_the_order_of_the_plan,
    judgements_are_replaced_as_a_whole_or_not_at_all,
    large_output_is_truncated,
);

fn run_round_trips() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    let new = NewRun { name: Some("nightly".to_owned()), ..new_run(&["b", "a"]) };
    let run = store.begin(&new).unwrap();
    let facts = ToolFactsV1 { version: Some("1.2".to_owned()), isolation: "full".to_owned(), ..ToolFactsV1::default() };
    store.set_tool(&run, &ToolName::new("zeta"), &ToolFactsV1::default()).unwrap();
    store.set_tool(&run, &ToolName::new("zeta"), &facts).unwrap();
    store.set_tool(&run, &ToolName::new("zeta"), &facts).unwrap();
    store.save(&run, &[record("zeta", "a", 2), record("alpha", "b", 1)]).unwrap();
    store.save(&run, &[failed(record("zeta", "b", 1), 1, "out of memory")]).unwrap();
    store.finish(&run, RunState::Stopped, Some(b"{\"report\":1}")).unwrap();
    drop(store);

    let mut store = Store::open(dir.location()).unwrap();
    assert_eq!(store.plan(&run).unwrap(), new.plan);
    assert_eq!(store.suite_snapshot(&run).unwrap(), new.suite_snapshot);
    assert_eq!(store.report(&run).unwrap().unwrap(), b"{\"report\":1}");
    assert_eq!(store.tools(&run).unwrap(), [(ToolName::new("zeta"), facts.clone())].into());
    let history = vec![ToolFactsV1::default(), facts];
    assert_eq!(store.tool_history(&run).unwrap(), [(ToolName::new("zeta"), history)].into());
    assert_eq!(trial_lines(&mut store, &run), ["zeta a 2 1 reported", "alpha b 1 1 reported", "zeta b 1 1 crashed"]);
    let stored = store.trials(&run).unwrap();
    assert_eq!(stored[0].trial, record("zeta", "a", 2).trial);
    assert_eq!(stored[2].detail.reason.as_deref(), Some("out of memory"));

    let key = TrialKey::from_trial(&stored[0].trial);
    let artifacts = store.artifacts(&run, &key).unwrap();
    let names: Vec<(&str, u64)> = artifacts.iter().map(|a| (a.name.as_str(), a.size)).collect();
    assert_eq!(names, [("stderr", 0), ("stdout", 760)]);
    let wanted = &record("zeta", "a", 2).artifacts[0].bytes;
    assert_eq!(&store.artifact(&artifacts[1].hash).unwrap(), wanted);

    let info = store.find("nightly").unwrap();
    assert_eq!((info.state, info.planned, info.has_report), (RunState::Stopped, 8, true));
    assert_eq!(info.outcomes, [(Outcome::Reported, 2), (Outcome::Crashed, 1)].into());
    assert!(info.ended_ms.unwrap() >= info.created_ms);
    assert_eq!(store.verify().unwrap(), []);
}

#[test]
fn every_commit_is_synced() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    let mut setting = |sql| store.database.query_one(sql, Vec::new()).unwrap().unwrap();
    assert_eq!(setting("PRAGMA journal_mode").get::<String>(0).unwrap(), "wal");
    assert_eq!(setting("PRAGMA synchronous").get::<i64>(0).unwrap(), 2);
    assert_eq!(setting("PRAGMA foreign_keys").get::<i64>(0).unwrap(), 1);
}

fn latest_attempt_counts() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    let run = begin(&mut store);
    store.save(&run, &[failed(record("zeta", "a", 1), 1, "no network"), record("zeta", "b", 1)]).unwrap();
    let on_existing = TrialRecord { attempt: 2, ..record("zeta", "a", 1) };
    store.save(&run, std::slice::from_ref(&on_existing)).unwrap();
    assert_eq!(trial_lines(&mut store, &run), ["zeta b 1 1 reported", "zeta a 1 2 reported"]);
    let done = store.finished_trials(&run).unwrap();
    assert_eq!(done[&TrialKey::from_trial(&on_existing.trial)], (2, Outcome::Reported));
    assert_eq!(done.len(), 2);
    assert_eq!(store.runs().unwrap()[0].outcomes, [(Outcome::Reported, 2)].into());
}

fn every_outcome_is_stored_and_a_run_without_a_report_is_failed() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    let run = begin(&mut store);
    for (attempt, outcome) in (1..).zip(Outcome::ALL.into_iter().rev()) {
        let mut own = TrialRecord { attempt, ..record("zeta", "a", 1) };
        own.trial.outcome = outcome;
        if outcome != Outcome::Reported {
            own.trial.findings.clear();
        }
        store.save(&run, &[own]).unwrap();
        assert_eq!(store.outcomes(&run).unwrap(), [(outcome, 1)].into());
        assert_eq!(store.trials(&run).unwrap()[0].trial.outcome, outcome);
        store.finish(&run, RunState::Complete, None).unwrap();
        let info = store.find(run.as_str()).unwrap();
        assert_eq!(info.is_failed(), outcome != Outcome::Reported);
        assert_eq!(store.state_word(&info), if info.is_failed() { "failed" } else { "complete" });
        store.reopen(&run).unwrap();
    }
    assert_eq!(store.verify().unwrap(), []);
}

fn trials_are_never_overwritten() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    let run = begin(&mut store);
    store.save(&run, &[record("zeta", "a", 1)]).unwrap();
    let changed = failed(record("zeta", "a", 1), 1, "changed");
    let error = store.save(&run, &[record("zeta", "b", 1), changed.clone()]).unwrap_err();
    assert_eq!(error.to_string(), "trial 1 of zeta on a, attempt 1, is already stored and is not overwritten");
    // A batch is saved as a whole or not at all.
    assert_eq!(trial_lines(&mut store, &run), ["zeta a 1 1 reported"]);
    let twice = [record("zeta", "b", 1), record("zeta", "b", 1)];
    assert!(matches!(store.save(&run, &twice), Err(StoreError::Twice { .. })));
    assert_eq!(trial_lines(&mut store, &run), ["zeta a 1 1 reported"]);
    assert_eq!(store.verify().unwrap(), []);
}

fn invalid_trials_are_refused() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    let run = begin(&mut store);
    let mut check = |change: fn(&mut TrialRecord), expect: &str| {
        let mut bad = record("zeta", "a", 1);
        change(&mut bad);
        let error = store.save(&run, &[bad]).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    };
    check(|r| r.trial.outcome = Outcome::Crashed, "cannot have findings");
    check(|r| r.trial.number = 0, "from 1");
    check(|r| r.attempt = 0, "from 1");
    check(|r| r.trial.confidence = Some(f64::NAN), "from 0 to 1");
    check(|r| r.artifacts[0].name = "stderr".to_owned(), "two artifacts called `stderr`");
    assert_eq!(trial_lines(&mut store, &run), [""; 0]);
}

fn trials_are_accepted_only_while_running() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    let run = begin(&mut store);
    store.save(&run, &[record("zeta", "a", 1)]).unwrap();
    store.finish(&run, RunState::Stopped, Some(b"{}")).unwrap();
    let error = store.save(&run, &[record("zeta", "b", 1)]).unwrap_err();
    assert!(matches!(error, StoreError::Ended { state: "stopped", .. }), "{error}");
    store.reopen(&run).unwrap();
    assert_eq!(store.report(&run).unwrap(), None);
    store.save(&run, &[record("zeta", "b", 1)]).unwrap();
    assert_eq!(store.finished_trials(&run).unwrap().len(), 2);
}

fn runs_are_found_by_id_prefix_and_name() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    let error = store.find("latest").unwrap_err().to_string();
    assert!(error.contains("none is stored yet"), "{error}");
    let first = store.begin(&NewRun { name: Some("before".to_owned()), ..new_run(&["a"]) }).unwrap();
    let second = begin(&mut store);
    let short = store.runs().unwrap().iter().map(|run| run.short_id.clone()).collect::<Vec<_>>();
    let find = |store: &mut Store, reference: &str| store.find(reference).map(|info| info.id);
    assert_eq!(find(&mut store, "latest").unwrap(), second);
    assert_eq!(find(&mut store, "before").unwrap(), first);
    assert_eq!(find(&mut store, first.as_str()).unwrap(), first);
    assert_eq!(find(&mut store, &short[0]).unwrap(), second);
    assert_eq!(find(&mut store, &short[1].to_uppercase()).unwrap(), first);

    let check = |store: &mut Store, reference: &str, expect: &str| {
        let error = store.find(reference).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    };
    check(&mut store, &first.as_str()[..4], "(before)");
    check(&mut store, "befroe", "did you mean `before`");
    check(&mut store, "ffffffff", "there is no run `ffffffff`");
    check(&mut store, "", "there is no run ``");

    let taken = NewRun { name: Some("before".to_owned()), ..new_run(&["a"]) };
    let error = store.begin(&taken).unwrap_err().to_string();
    assert!(error.contains(first.as_str()), "{error}");
    let bad = NewRun { name: Some("latest".to_owned()), ..new_run(&["a"]) };
    assert!(matches!(store.begin(&bad), Err(StoreError::BadName { .. })));
    assert_eq!(store.runs().unwrap().len(), 2);
}

fn equal_artifacts_are_stored_once() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    let run = begin(&mut store);
    store.save(&run, &all_records()[..4]).unwrap();
    store.save(&run, &all_records()[4..]).unwrap();
    let row = store.database.query_one("SELECT COUNT(*) FROM artifacts", Vec::new()).unwrap().unwrap();
    // Eight different outputs, one empty output, and the suite.
    assert_eq!(row.get::<i64>(0).unwrap(), 10);
}

#[test]
fn store_is_found_from_subfolders() {
    let dir = StoreDir::new();
    let deep = dir.folder.path().join("suite/cases/one");
    std::fs::create_dir_all(&deep).unwrap();
    std::fs::create_dir_all(deep.join(".karat")).unwrap();
    assert_eq!(Store::locate(&deep), None);
    drop(dir.store());
    assert_eq!(Store::locate(&deep), Some(dir.folder().into()));
    assert_eq!(std::fs::read_to_string(dir.folder().join(".gitignore")).unwrap(), "*\n");
    let nowhere = Store::open(Path::new("nowhere")).err().unwrap();
    assert!(nowhere.to_string().contains("there is no store in nowhere"), "{nowhere}");
}

fn exported_submission_is_in_the_order_of_the_plan() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    let run = begin(&mut store);
    store.save(&run, &[failed(record("zeta", "b", 1), 1, "flaky")]).unwrap();
    store.save(&run, &all_records().into_iter().filter(|r| r.trial.number == 2).collect::<Vec<_>>()).unwrap();
    store.save(&run, &[TrialRecord { attempt: 2, ..record("zeta", "b", 1) }]).unwrap();
    let mut out = Vec::new();
    let exported = store.export(&run, &mut out).unwrap();
    assert_eq!((exported.trials, exported.unreadable.len()), (5, 0));
    let input = karat_format::recorded::NamedLines { file: "x.jsonl".to_owned(), reader: Box::new(out.as_slice()) };
    let trials = karat_format::recorded::read_trials(vec![input], None).unwrap();
    let order: Vec<String> = trials.iter().map(|t| format!("{} {} {}", t.tool, t.case, t.number)).collect();
    assert_eq!(order, ["zeta b 1", "zeta b 2", "zeta a 2", "alpha b 2", "alpha a 2"]);
    assert_eq!(trials[0], record("zeta", "b", 1).trial);
}

fn judgements_are_replaced_as_a_whole_or_not_at_all() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    let run = begin(&mut store);
    assert_eq!(store.judgements(&run).unwrap(), []);
    let many: Vec<_> = (0..300).map(|n| judgement(&format!("f{n}"), 0.25)).collect();
    store.set_judgements(&run, &many).unwrap();
    assert_eq!(store.judgements(&run).unwrap(), many);
    let error = store.set_judgements(&run, &[judgement("f1", 1.0), judgement("f2", 2.0)]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "judgement 2 cannot be stored: confidence: expected a number from 0 to 1; nothing was changed"
    );
    assert_eq!(store.judgements(&run).unwrap(), many);
    // Judgements can be set after a run has ended.
    store.finish(&run, RunState::Stopped, None).unwrap();
    store.set_judgements(&run, &[judgement("f9", 1.0)]).unwrap();
    assert_eq!(store.judgements(&run).unwrap(), [judgement("f9", 1.0)]);
    assert_eq!(store.verify().unwrap(), []);
    store.gc(&crate::GcOptions { keep: Some(0), ..Default::default() }).unwrap();
    assert!(matches!(store.set_judgements(&run, &many), Err(StoreError::NoRun { .. })));
}

fn large_output_is_truncated() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    let run = begin(&mut store);
    let mut printed = record("zeta", "a", 1);
    printed.artifacts[0].bytes = b"abc".repeat(1000);
    let mut reported = record("zeta", "b", 1);
    reported.trial.response = Some("x".repeat(2000));
    reported.trial.cost_usd = Some(0.25);
    let explained = failed(record("alpha", "a", 1), 1, &"y".repeat(2000));
    store.save_within(&run, &[printed.clone(), reported, explained, record("alpha", "b", 1)], 1000).unwrap();
    let outcomes = ["zeta a 1 1 reported", "zeta b 1 1 unparsable", "alpha a 1 1 crashed", "alpha b 1 1 reported"];
    assert_eq!(trial_lines(&mut store, &run), outcomes);
    let stored = store.trials(&run).unwrap();
    assert_eq!(stored[0].detail.remarks, ["`stdout` was cut: the first 1000 of its 3000 bytes are kept"]);
    let reason = stored[1].detail.reason.as_deref().unwrap();
    assert!(reason.starts_with("what it reported takes up 2"), "{reason}");
    assert_eq!(stored[1].trial.cost_usd, Some(0.25));
    assert!(stored[2].detail.remarks[0].contains("were dropped"), "{:?}", stored[2].detail);
    assert_eq!(stored[2].detail.exit, Some(3));
    assert_eq!(stored[3].detail.remarks, [""; 0]);
    let artifacts = store.artifacts(&run, &TrialKey::from_trial(&printed.trial)).unwrap();
    assert_eq!(store.artifact(&artifacts[1].hash).unwrap(), printed.artifacts[0].bytes[..1000]);
    assert_eq!(store.verify().unwrap(), []);
}
