//! Full, read-only, older, newer, foreign and damaged stores: a clear error, and no loss of data.

use super::*;
use crate::database::Access;
use crate::{StoreError, schema};

on_each_engine!(
    read_only_store_can_be_read_but_not_written,
    readers_see_the_write_ahead_log,
    verify_finds_contradictions,
    export_omits_and_names_damaged_trials,
);

#[test]
fn full_disk_loses_no_data() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    let run = begin(&mut store);
    store.save(&run, &[record("zeta", "a", 1)]).unwrap();
    let row = store.database.query_one("PRAGMA page_count", Vec::new()).unwrap().unwrap();
    store.database.limit_pages(row.count(0).unwrap() + 2);
    let mut big = record("zeta", "b", 1);
    big.artifacts[0].bytes =
        (0..200_000u32).flat_map(|n| blake3::hash(&n.to_le_bytes()).as_bytes()[..4].to_vec()).collect();
    let error = store.save(&run, std::slice::from_ref(&big)).unwrap_err();
    assert!(matches!(error, StoreError::Full { .. }), "{error}");
    assert!(error.to_string().contains("free some space"), "{error}");
    assert_eq!(trial_lines(&mut store, &run), ["zeta a 1 1 reported"]);
    assert_eq!(store.verify().unwrap(), []);
    store.database.limit_pages(1_000_000);
    store.save(&run, std::slice::from_ref(&big)).unwrap();
    assert_eq!(store.finished_trials(&run).unwrap().len(), 2);
}

#[test]
fn older_store_is_refused_unchanged() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    store.database.script("DELETE FROM karat_schema WHERE version > 11; UPDATE karat_schema SET version = 10").unwrap();
    drop(store);
    let before = std::fs::read(dir.file()).unwrap();
    for error in [Store::open(dir.folder()).err(), Store::read_only(dir.folder()).err()] {
        let error = error.unwrap();
        assert!(matches!(error, StoreError::Older { found: 10, oldest: 11, .. }), "{error}");
        assert!(error.to_string().contains("import it into a new store"), "{error}");
    }
    assert_eq!(std::fs::read(dir.file()).unwrap(), before);
}

#[test]
fn newer_store_is_refused_unchanged() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    begin(&mut store);
    let values = vec![99_i64.into(), 0_i64.into()];
    store
        .database
        .execute("INSERT INTO karat_schema (version, applied_ms, row_hash) VALUES ($1, $2, '')", values)
        .unwrap();
    // The write-ahead log still has data, which opening must not checkpoint.
    let with_log = StoreDir::new();
    std::fs::create_dir_all(with_log.folder()).unwrap();
    for name in ["karat.db", "karat.db-wal"] {
        std::fs::copy(dir.folder().join(name), with_log.folder().join(name)).unwrap();
    }
    drop(store);
    for dir in [dir, with_log] {
        let content = || {
            let mut files: Vec<_> = std::fs::read_dir(dir.folder())
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .filter(|path| path.is_file() && !path.to_string_lossy().ends_with("-shm"))
                .map(|path| (path.clone(), std::fs::read(path).unwrap()))
                .collect();
            files.sort();
            files
        };
        let before = content();
        for error in [Store::open(dir.folder()).err(), Store::read_only(dir.folder()).err()] {
            let error = error.unwrap();
            assert!(matches!(error, StoreError::Newer { found: 99, .. }), "{error}");
            assert!(error.to_string().contains("use a newer Karat"), "{error}");
        }
        assert!(content() == before, "opening a newer store changed it");
    }
}

fn read_only_store_can_be_read_but_not_written() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    let run = begin(&mut store);
    store.save(&run, &[record("zeta", "a", 1)]).unwrap();
    drop(store);
    let mut store = Store::read_only(dir.location()).unwrap();
    assert!(store.database.access != Access::Write);
    assert_eq!(trial_lines(&mut store, &run), ["zeta a 1 1 reported"]);
    assert_eq!(store.verify().unwrap(), []);
    let error = store.save(&run, &[record("zeta", "b", 1)]).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
    // No log or shared-memory file is created.
    assert!(!dir.folder().join("karat.db-wal").exists());
    assert!(!dir.folder().join("karat.db-shm").exists());
}

fn readers_see_the_write_ahead_log() {
    let dir = StoreDir::new();
    let mut writer = dir.store();
    let run = begin(&mut writer);
    let mut reader = Store::read_only(dir.location()).unwrap();
    writer.save(&run, &[record("zeta", "a", 1)]).unwrap();
    assert_eq!(trial_lines(&mut reader, &run), ["zeta a 1 1 reported"]);
}

#[cfg(unix)]
#[test]
fn store_in_a_read_only_folder_can_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let dir = StoreDir::new();
    let mut store = dir.store();
    let run = begin(&mut store);
    drop(store);
    let mode = |mode: u32| {
        std::fs::set_permissions(dir.folder(), std::fs::Permissions::from_mode(mode)).unwrap();
        std::fs::set_permissions(dir.folder().join("locks"), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(0o555);
    if std::fs::write(dir.folder().join("probe"), "").is_ok() {
        mode(0o755);
        return skipped("permissions do not apply to this user");
    }
    let opened = Store::open(dir.folder());
    mode(0o755);
    let mut store = opened.unwrap();
    assert!(store.database.access != Access::Write);
    assert_eq!(store.find("latest").unwrap().id, run);
}

#[test]
fn foreign_database_is_refused_unchanged() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    store.database.script("DROP TABLE karat_schema").unwrap();
    drop(store);
    let before = std::fs::read(dir.file()).unwrap();
    let error = Store::open(dir.folder()).err().unwrap();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
    assert_eq!(std::fs::read(dir.file()).unwrap(), before);
}

#[test]
fn file_that_is_not_a_database_is_reported_as_damaged() {
    let dir = StoreDir::new();
    drop(dir.store());
    std::fs::write(dir.file(), "these are not the bytes of a database").unwrap();
    let error = Store::open(dir.folder()).err().unwrap();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("Nothing was changed"), "{error}");
}

/// As left by a process that was killed while creating the store.
#[test]
fn empty_file_becomes_a_store() {
    let dir = StoreDir::new();
    std::fs::create_dir_all(dir.folder()).unwrap();
    std::fs::write(dir.file(), "").unwrap();
    let mut store = Store::open(dir.folder()).unwrap();
    assert_eq!(schema::check_version(&mut store.database).unwrap(), schema::latest_version());
}

/// Damages every page of a store in several ways. Reading reports the damage or returns correct data; it never panics and
/// changes nothing.
#[test]
fn damaged_pages_are_detected_and_not_changed() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    let run = begin(&mut store);
    store.save(&run, &all_records()).unwrap();
    let intact = trial_lines(&mut store, &run);
    drop(store);
    let whole = std::fs::read(dir.file()).unwrap();
    let (mut detected, mut tried) = (0, 0);
    for page in whole.chunks(4096).enumerate().map(|(page, _)| page * 4096) {
        for (offset, length, with) in [(0, 16, 0xff_u8), (100, 40, 0x00), (2048, 2048, 0x5a), (4000, 90, 0xff)] {
            let mut bytes = whole.clone();
            let damaged = &mut bytes[page + offset..page + offset + length];
            if damaged.iter().all(|byte| *byte == with) {
                continue;
            }
            damaged.fill(with);
            std::fs::write(dir.file(), &bytes).unwrap();
            tried += 1;
            let found = match Store::open(dir.folder()) {
                Err(error) => vec![error.to_string()],
                Ok(mut store) => {
                    let problems = store.verify();
                    let read = store.trials(&run).map(|_| trial_lines(&mut store, &run));
                    let _ = (store.runs(), store.export(&run, &mut Vec::new()), store.report(&run));
                    match (problems, read) {
                        (Ok(problems), Ok(read)) if problems.is_empty() => {
                            assert_eq!(read, intact, "page {page}, offset {offset}: wrong data without an error");
                            Vec::new()
                        }
                        (Ok(problems), _) => problems.into_iter().map(|p| p.message).collect(),
                        (Err(error), _) => vec![error.to_string()],
                    }
                }
            };
            detected += usize::from(!found.is_empty());
            assert!(
                std::fs::read(dir.file()).unwrap() == bytes,
                "page {page}, offset {offset}: reading changed the file"
            );
        }
    }
    // Damage to unused bytes is not detected.
    assert!(tried > 40 && detected * 2 > tried, "{detected} of {tried} damages were detected");
}

fn verify_finds_contradictions() {
    let check = |sql: &'static str, expect: &str| {
        let dir = StoreDir::new();
        let mut store = dir.store();
        let run = begin(&mut store);
        store.save(&run, &all_records()).unwrap();
        store.set_judgements(&run, &[judgement("f1", 0.5)]).unwrap();
        store.database.ignore_foreign_keys();
        store.database.script(sql).unwrap();
        store.database.rehash();
        let found: Vec<String> = store.verify().unwrap().into_iter().map(|p| p.message).collect();
        assert!(found.iter().any(|message| message.contains(expect)), "{sql}: {found:?}");
    };
    check("UPDATE artifacts SET content = 'x' || content", "artifact");
    check("UPDATE artifacts SET size = size + 1", "bytes");
    check("DELETE FROM artifacts", "refers to one of `artifacts`");
    check("UPDATE runs SET plan = '{'", "the plan of the run");
    check("UPDATE runs SET planned = 3", "says of its plan");
    check("UPDATE runs SET state = 'asleep'", "`asleep`");
    check("UPDATE runs SET state = 'complete'", "has not ended");
    check("UPDATE runs SET state = 'complete', ended_ms = 9e15; DELETE FROM trials WHERE tool = 'zeta'", "with 4 of 8");
    check("UPDATE runs SET ended_ms = 1", "is running and has ended");
    check("UPDATE trials SET line = 'no json' WHERE number = 2", "cannot be read");
    check("UPDATE trials SET number = 7 WHERE number = 2", "another's key");
    check("UPDATE trials SET number = 7 WHERE number = 2", "has no trial 7");
    check("UPDATE trials SET outcome = 'skipped' WHERE number = 2", "another outcome");
    check("DELETE FROM trials WHERE number = 2", "refers to one of `trials`");
    check(
        "INSERT INTO tool_facts (run_id, tool, position, facts, row_hash) SELECT id, 'omega', 1, '{\"isolation\":\"none\"}', '' FROM runs",
        "tool omega",
    );
    check(
        "INSERT INTO tool_facts (run_id, tool, position, facts, row_hash) SELECT id, 'zeta', 1, '{', '' FROM runs",
        "knows of the tool zeta cannot be read",
    );
    check("DELETE FROM trials WHERE position = 3", "has 7 rows of");
    check("UPDATE judgements SET line = '{'", "judgement 1 of the run");
    check("UPDATE judgements SET line = replace(line, '0.5', '1.5')", "expected a number from 0 to 1");
    check("UPDATE judgements SET run_id = 'nobody'", "a row of `judgements`");
}

fn export_omits_and_names_damaged_trials() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    let run = begin(&mut store);
    store.save(&run, &all_records()).unwrap();
    store.database.script("UPDATE trials SET line = '{' WHERE tool = 'zeta' AND case_id = 'a'").unwrap();
    store.database.rehash();
    let mut out = Vec::new();
    let exported = store.export(&run, &mut out).unwrap();
    assert_eq!((exported.trials, exported.unreadable.len()), (6, 2));
    assert!(exported.unreadable[0].contains("trial 1 of zeta on a"), "{:?}", exported.unreadable);
    assert_eq!(out.iter().filter(|byte| **byte == b'\n').count(), 6);
}

#[test]
fn damaged_page_affects_only_its_trials() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    let cases: Vec<String> = (0..100).map(|n| format!("case-{n}")).collect();
    let run = store.begin(&new_run(&cases.iter().map(String::as_str).collect::<Vec<_>>())).unwrap();
    store.save(&run, &cases.iter().map(|case| record("zeta", case, 1)).collect::<Vec<_>>()).unwrap();
    drop(store);
    let mut bytes = std::fs::read(dir.file()).unwrap();
    let wanted = b"{\"case\":\"case-50\"";
    let page = bytes.windows(wanted.len()).position(|window| window == wanted).unwrap() / 4096 * 4096;
    bytes[page..page + 16].fill(0xff);
    std::fs::write(dir.file(), &bytes).unwrap();

    let mut store = Store::open(dir.folder()).unwrap();
    assert!(store.find("latest").is_err());
    assert_eq!(store.resolve_run("latest").unwrap(), run);
    let mut out = Vec::new();
    let exported = store.export(&run, &mut out).unwrap();
    assert_eq!(exported.trials + exported.unreadable.len(), 100);
    assert!(exported.trials > 50, "{exported:?}");
    assert!(exported.unreadable.iter().any(|message| message.contains("zeta on case-50,")), "{exported:?}");
}
