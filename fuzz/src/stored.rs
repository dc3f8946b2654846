//! Files that `karat store import` takes: whole runs, and exchanges with models.

use super::records::scene_trials;
use karat_format::run::TrialDetailV1;
use karat_store::record::{Artifact, TrialRecord};
use karat_store::{NewRun, RunState, Store};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;

/// A file is imported or refused whole. The run of one that is imported is found by `verify`, can be read in all its parts,
/// and is exported with the same lines. The end of a file of a run is made to fit it, since a fuzzer finds no hash.
pub fn check(bytes: &[u8]) {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    let Ok(folder) = folder else { return };
    let file = folder.path().join("in.jsonl");
    if std::fs::write(&file, sealed(bytes)).is_err() {
        return;
    }
    let Ok(holds_exchanges) = Store::is_ledger_file(&file) else { return };
    let mut store = match Store::create(folder.path().join("store")) {
        Ok(store) => store,
        Err(error) => panic!("no store can be made: {error}"),
    };
    if holds_exchanges {
        let _ = store.import_ledger(&file).map_err(|error| error.to_string());
        let _ = store.ledger_newest(10).map(|all| all.len());
        return;
    }
    let imported = match store.import(&file, None) {
        Err(error) => return assert!(!error.to_string().is_empty(), "refused without a reason"),
        Ok(imported) => imported,
    };
    let run = &imported.run;
    let problems = store.verify();
    // Whose clock was wrong cannot be told from a file.
    let sound = problems.as_ref().is_ok_and(|all| all.iter().all(|problem| problem.code == "clock"));
    assert!(sound, "{problems:?}");
    let read = [
        store.plan(run).map(drop),
        store.trials(run).map(drop),
        store.judgements(run).map(drop),
        store.tool_history(run).map(drop),
        store.suite_snapshot(run).map(drop),
        store.report(run).map(drop),
        store.runs().map(drop),
        store.export(run, &mut std::io::sink()).map(drop),
    ];
    for result in read {
        assert!(result.is_ok(), "{result:?}");
    }
    let again = folder.path().join("again.jsonl");
    let exported = store.export_run_file(run, &again).and_then(|()| store.import(&again, None));
    assert!(exported.as_ref().is_ok_and(|again| again.was_here), "{exported:?}");
}

/// The text with an end that has the right number of lines and the right hash; as it is where it is no run.
fn sealed(bytes: &[u8]) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let header = lines.first().and_then(|line| serde_json::from_slice::<Value>(line).ok());
    let id = header.as_ref().and_then(|header| header.pointer("/header/id")).and_then(Value::as_str);
    let end = lines.iter().rposition(|line| line.starts_with(b"{\"end\":"));
    let (Some(id), Some(end)) = (id, end.filter(|end| *end > 0)) else { return bytes.to_vec() };
    lines.truncate(end);
    let mut hasher = blake3::Hasher::new();
    hasher.update(id.as_bytes()).update(b"\n");
    for line in &lines[1..] {
        hasher.update(line).update(b"\n");
    }
    let end = json!({ "end": { "lines": lines.len() - 1, "hash": hasher.finalize().to_hex().to_string() } });
    [lines.join(&b'\n'), format!("\n{end}\n").into_bytes()].concat()
}

/// A run with a trial of each kind, as it is exported.
pub fn seed() -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().ok()?;
    let mut store = Store::create(folder.path()).ok()?;
    let tool = json!({ "name": "t", "kind": "command", "trials": 2, "isolation": "full", "manifest": {} });
    let plan = json!({
        "schema": "karat.plan/1", "suite": { "name": "tiny", "place": "nowhere", "digest": "d1", "cases": 2 },
        "profile": { "name": "karat", "method": "score", "expect_pass": false, "headline": ["f1"] },
        "seed": 7, "tools": [tool], "cases": ["case", "clean"],
    });
    let plan = serde_json::from_value(plan).ok()?;
    let new = NewRun { name: Some("seed".to_owned()), plan, suite_snapshot: b"{}".to_vec(), scratch: None };
    let run = store.begin(&new).ok()?;
    let record = |trial: &karat_core::trial::Trial| TrialRecord {
        trial: trial.clone(),
        attempt: 1,
        detail: TrialDetailV1::default(),
        artifacts: vec![Artifact { name: "stdout".to_owned(), bytes: vec![0, 159, b'a'] }],
    };
    store.save(&run, &scene_trials().iter().map(record).collect::<Vec<_>>()).ok()?;
    store.finish(&run, RunState::Stopped, Some(b"{}")).ok()?;
    let mut text = Vec::new();
    store.export_run(&run, &mut text).ok()?;
    text.flush().ok()?;
    Some(text)
}
