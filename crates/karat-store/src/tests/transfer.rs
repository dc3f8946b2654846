//! Export of runs and import into another store.

use super::*;
use crate::record::PLAN_LOOKUPS;
use crate::{RunState, StoreError};
use karat_format::run::ToolFactsV1;
use std::sync::atomic::{AtomicBool, Ordering};

on_each_engine!(
    run_round_trips_through_a_file,
    import_of_a_run_that_has_changed_is_refused,
    import_under_another_name,
    incomplete_or_changed_run_files_are_refused,
    export_of_a_running_run_is_a_snapshot,
    import_reads_the_plan_once,
);

/// A store with one run that uses every feature.
fn store_with_full_run(dir: &StoreDir) -> (Store, RunId) {
    let mut store = dir.store();
    let run = store.begin(&NewRun { name: Some("nightly".to_owned()), ..new_run(&["b", "a"]) }).unwrap();
    store.set_tool(&run, &ToolName::new("zeta"), &ToolFactsV1::default()).unwrap();
    let updated = ToolFactsV1 { version: Some("2".to_owned()), ..ToolFactsV1::default() };
    store.set_tool(&run, &ToolName::new("zeta"), &updated).unwrap();
    store.save(&run, &[failed(record("zeta", "a", 1), 1, "flaky")]).unwrap();
    let mut binary = record("alpha", "b", 2);
    binary.artifacts[0].bytes = vec![0, 159, 146, 150, 255];
    store.save(&run, &[TrialRecord { attempt: 2, ..record("zeta", "a", 1) }, binary]).unwrap();
    store.set_judgements(&run, &[judgement("f1", 0.5), judgement("f2", 1.0)]).unwrap();
    store.finish(&run, RunState::Stopped, Some(b"report")).unwrap();
    (store, run)
}

fn export_text(store: &mut Store, run: &RunId) -> String {
    let mut out = Vec::new();
    store.export_run(run, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn import(store: &mut Store, text: &[u8], name: Option<&str>) -> Result<bool, StoreError> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    std::fs::write(&file, text).unwrap();
    store.import(&file, name).map(|imported| imported.was_here)
}

fn run_round_trips_through_a_file() {
    let (here, there) = (StoreDir::new(), StoreDir::new());
    let (mut store, run) = store_with_full_run(&here);
    let text = export_text(&mut store, &run);
    let mut other = there.store();
    assert!(!import(&mut other, text.as_bytes(), None).unwrap());
    assert_eq!(export_text(&mut other, &run), text);
    assert_eq!(other.trials(&run).unwrap(), store.trials(&run).unwrap());
    assert_eq!(other.judgements(&run).unwrap(), [judgement("f1", 0.5), judgement("f2", 1.0)]);
    assert_eq!(other.tool_history(&run).unwrap(), store.tool_history(&run).unwrap());
    assert_eq!(other.tool_history(&run).unwrap()["zeta"].len(), 2);
    assert_eq!(other.find("nightly").unwrap().state, RunState::Stopped);
    assert_eq!(other.report(&run).unwrap().unwrap(), b"report");
    assert_eq!(other.verify().unwrap(), []);
    // Importing again changes nothing, in both stores.
    assert!(import(&mut other, text.as_bytes(), None).unwrap());
    assert!(import(&mut store, text.as_bytes(), None).unwrap());

    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, text.as_bytes()).unwrap();
    assert!(import(&mut store, &packed.finish().unwrap(), None).unwrap());
}

fn import_of_a_run_that_has_changed_is_refused() {
    let (here, there) = (StoreDir::new(), StoreDir::new());
    let (mut store, run) = store_with_full_run(&here);
    let text = export_text(&mut store, &run);
    let mut other = there.store();
    import(&mut other, text.as_bytes(), None).unwrap();
    other.reopen(&run).unwrap();
    other.save(&run, &[record("zeta", "b", 1)]).unwrap();
    let error = import(&mut other, text.as_bytes(), None).unwrap_err();
    assert!(matches!(error, StoreError::Differs { .. }), "{error}");
    assert_eq!(other.finished_trials(&run).unwrap().len(), 3);
}

fn import_under_another_name() {
    let (here, there) = (StoreDir::new(), StoreDir::new());
    let (mut store, run) = store_with_full_run(&here);
    let text = export_text(&mut store, &run);
    let (mut other, _) = store_with_full_run(&there);
    let error = import(&mut other, text.as_bytes(), None).unwrap_err();
    assert!(matches!(error, StoreError::NameTaken { .. }), "{error}");
    assert_eq!(other.runs().unwrap().len(), 1);
    import(&mut other, text.as_bytes(), Some("theirs")).unwrap();
    assert_eq!(other.find("theirs").unwrap().id, run);
    assert!(import(&mut other, text.as_bytes(), None).unwrap());
}

fn incomplete_or_changed_run_files_are_refused() {
    let dir = StoreDir::new();
    let (mut store, run) = store_with_full_run(&dir);
    let text = export_text(&mut store, &run);
    let lines: Vec<&str> = text.lines().collect();
    let check = |bytes: &[u8], expect: &str| {
        let dir = StoreDir::new();
        let mut store = dir.store();
        let error = import(&mut store, bytes, None).unwrap_err();
        assert!(matches!(error, StoreError::BadExport { .. }), "{error}");
        assert!(error.to_string().contains(expect), "{error}");
        assert_eq!(store.runs().unwrap(), []);
        let row = store.database.query_one("SELECT COUNT(*) FROM artifacts", Vec::new()).unwrap().unwrap();
        assert_eq!(row.get::<i64>(0).unwrap(), 0);
    };
    check(b"", "ends before the run does");
    check(b"\n", "no line of a run");
    check(b"{\"case\":\"a\"}\n", "no line of a run");
    check(&text.as_bytes()[..text.len() - 1], "too early");
    check(&text.as_bytes()[..text.len() / 2], "too early");
    check(b"\x1f\x8b\x08\x00garbage", "cannot be read");
    let joined = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    check(joined(&lines[1..]).as_bytes(), "first line must be the header");
    check(joined(&lines[..lines.len() - 1]).as_bytes(), "ends before the run does");
    for omitted in 1..lines.len() - 1 {
        let mut fewer = lines.clone();
        fewer.remove(omitted);
        check(joined(&fewer).as_bytes(), "");
    }
    check(text.replace("\"a flaw\"", "\"a lie\"").as_bytes(), "changed, lost or added");
    check(text.replace("\"f2\"", "\"f3\"").as_bytes(), "changed, lost or added");
    check(text.replace("0.5", "1.5").as_bytes(), "confidence: expected a number from 0 to 1");
    let other_id = run.as_str().chars().rev().map(|c| if c == '0' { '1' } else { c }).collect::<String>();
    let other_id = format!("{}{}", &run.as_str()[..24], &other_id.replace('-', "")[..12]);
    check(text.replacen(run.as_str(), &other_id, 1).as_bytes(), "changed, lost or added");
    check(text.replace("looks at", "looks in").as_bytes(), "not those of the hash");
    check(text.replace("karat.run/1", "karat.run/2").as_bytes(), "`karat.run/2`");
    check(text.replace("\"stopped\"", "\"running\"").as_bytes(), "state `running`");
    check(
        text.replace("\\\"trial\\\":2", "\\\"trial\\\":9").replace("\"trial\":2,", "\"trial\":9,").as_bytes(),
        "no trial 9",
    );
    check(format!("{text}{}\n", lines[1]).as_bytes(), "follows the end");
}

/// While another thread saves trials, each export is consistent.
fn export_of_a_running_run_is_a_snapshot() {
    let (here, there) = (StoreDir::new(), StoreDir::new());
    let cases: Vec<String> = (0..3000).map(|n| format!("case-{n}")).collect();
    let names: Vec<&str> = cases.iter().map(String::as_str).collect();
    let mut store = here.store();
    let run = store.begin(&new_run(&names)).unwrap();
    store.save(&run, &names[..300].iter().map(|case| record("zeta", case, 1)).collect::<Vec<_>>()).unwrap();
    let stop = AtomicBool::new(false);
    let (mut sizes, mut target) = (Vec::new(), there.store());
    std::thread::scope(|scope| {
        let (here, stop, names, run) = (&here, &stop, &names, &run);
        scope.spawn(move || {
            let mut writer = here.store();
            for case in &names[300..] {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                writer.save(run, &[record("zeta", case, 1)]).unwrap();
            }
        });
        let exports: Vec<String> = (0..8).map(|_| export_text(&mut store, run)).collect();
        stop.store(true, Ordering::Relaxed);
        for text in exports {
            sizes.push(text.len());
            import(&mut target, text.as_bytes(), None).unwrap();
            target.gc(&crate::GcOptions { keep: Some(0), ..Default::default() }).unwrap();
        }
    });
    assert!(sizes.first() < sizes.last(), "nothing was saved during the exports: {sizes:?}");
}

fn import_reads_the_plan_once() {
    let (here, there) = (StoreDir::new(), StoreDir::new());
    let mut store = here.store();
    let run = begin(&mut store);
    store.save(&run, &all_records()).unwrap();
    let text = export_text(&mut store, &run);
    let mut other = there.store();
    let before = PLAN_LOOKUPS.get();
    import(&mut other, text.as_bytes(), None).unwrap();
    assert_eq!(PLAN_LOOKUPS.get() - before, 1);
}
