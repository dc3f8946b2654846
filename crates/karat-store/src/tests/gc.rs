//! Garbage collection of runs, artifacts and scratch folders.

use super::*;
use crate::{GcOptions, RunState, StoreError};
use std::time::Duration;

on_each_engine!(
    gc_removes_the_selected_runs_only,
    locked_runs_are_kept,
    only_scratch_folders_with_the_run_marker_are_deleted,
    scratch_folders_of_interrupted_runs_are_deleted,
);

/// Three runs named `one`, `two` and `three`, from oldest to newest.
fn store_with_three_runs(dir: &StoreDir) -> (Store, Vec<RunId>) {
    let mut store = dir.store();
    let runs: Vec<RunId> = ["one", "two", "three"]
        .into_iter()
        .map(|name| {
            let run = store.begin(&NewRun { name: Some(name.to_owned()), ..new_run(&["a", "b"]) }).unwrap();
            let mut record = record("zeta", "a", 1);
            record.artifacts[0].bytes = format!("said in {name}").into_bytes();
            store.save(&run, &[record]).unwrap();
            store.finish(&run, RunState::Stopped, Some(name.as_bytes())).unwrap();
            run
        })
        .collect();
    (store, runs)
}

fn run_names(store: &mut Store) -> Vec<String> {
    store.runs().unwrap().into_iter().filter_map(|run| run.name).collect()
}

fn gc_removes_the_selected_runs_only() {
    let check = |gc: fn(&[RunId]) -> GcOptions, expect: &[&str]| {
        let dir = StoreDir::new();
        let (mut store, runs) = store_with_three_runs(&dir);
        let gc = gc(&runs);
        let preview = store.gc(&GcOptions { dry_run: true, ..gc.clone() }).unwrap();
        assert_eq!(run_names(&mut store).len(), 3);
        let report = store.gc(&gc).unwrap();
        assert_eq!(report, preview);
        assert_eq!(run_names(&mut store), expect);
        // Each run has its own output and report; the suite and the empty output are shared.
        let removed = 3 - expect.len() as u64;
        assert_eq!(report.artifacts, if removed == 3 { 8 } else { 2 * removed });
        assert_eq!(store.verify().unwrap(), []);
        for run in store.runs().unwrap() {
            assert!(store.report(&run.id).unwrap().is_some());
        }
    };
    check(|_| GcOptions::default(), &["three", "two", "one"]);
    check(|runs| GcOptions { runs: vec![runs[1].clone()], ..GcOptions::default() }, &["three", "one"]);
    check(|_| GcOptions { keep: Some(1), ..GcOptions::default() }, &["three"]);
    check(|_| GcOptions { keep: Some(0), ..GcOptions::default() }, &[]);
    check(
        |_| GcOptions { older_than: Some(Duration::from_secs(3600)), ..GcOptions::default() },
        &["three", "two", "one"],
    );
    check(
        |_| GcOptions { keep: Some(1), older_than: Some(Duration::from_secs(3600)), ..GcOptions::default() },
        &["three", "two", "one"],
    );
}

fn locked_runs_are_kept() {
    let dir = StoreDir::new();
    let (mut store, runs) = store_with_three_runs(&dir);
    let lock = store.lock(&runs[0]).unwrap();
    let report = store.gc(&GcOptions { keep: Some(0), ..GcOptions::default() }).unwrap();
    assert_eq!(report.in_use.len(), 1);
    assert_eq!(run_names(&mut store), ["one"]);
    let error = store.gc(&GcOptions { runs: vec![runs[0].clone()], ..GcOptions::default() }).unwrap_err();
    assert!(matches!(error, StoreError::Busy { .. }), "{error}");
    drop(lock);
    store.gc(&GcOptions { keep: Some(0), ..GcOptions::default() }).unwrap();
    assert_eq!(run_names(&mut store), [""; 0]);
}

fn only_scratch_folders_with_the_run_marker_are_deleted() {
    let dir = StoreDir::new();
    let (mut store, runs) = store_with_three_runs(&dir);
    let folders = ["one", "two", "three"].map(|name| dir.folder.path().join("scratch").join(name));
    for (run, folder) in runs.iter().zip(&folders) {
        store.set_scratch(run, Some(folder)).unwrap();
        std::fs::create_dir_all(folder.join("checkout/deep")).unwrap();
    }
    std::fs::write(folders[1].join(".karat-scratch"), "somebody else").unwrap();
    let lock = store.lock(&runs[2]).unwrap();
    let report = store.gc(&GcOptions { runs: vec![runs[0].clone()], ..GcOptions::default() }).unwrap();
    assert_eq!(report.scratch, [folders[0].clone()]);
    assert_eq!(folders.each_ref().map(|folder| folder.exists()), [false, true, true]);
    drop(lock);
    store.gc(&GcOptions::default()).unwrap();
    assert_eq!(folders.each_ref().map(|folder| folder.exists()), [false, true, false]);
    assert!(store.runs().unwrap().iter().all(|run| run.scratch.is_none()));
}

/// Freeing space takes long and blocks writers.
#[test]
fn space_is_freed_only_when_no_run_is_locked() {
    let dir = StoreDir::new();
    let (mut store, runs) = store_with_three_runs(&dir);
    let mut large = record("zeta", "b", 1);
    let mut noise = vec![0; 500_000];
    blake3::Hasher::new().finalize_xof().fill(&mut noise);
    large.artifacts[0].bytes = noise;
    store.reopen(&runs[0]).unwrap();
    store.save(&runs[0], &[large]).unwrap();
    let lock = store.lock(&runs[2]).unwrap();
    let report = store.gc(&GcOptions { runs: vec![runs[0].clone()], ..GcOptions::default() }).unwrap();
    assert!(report.notes[0].contains("while a process is working on the run"), "{:?}", report.notes);
    assert!(store.database.has_free_pages().unwrap());
    drop(lock);
    let report = store.gc(&GcOptions::default()).unwrap();
    assert_eq!(report.notes, [""; 0]);
    assert!(!store.database.has_free_pages().unwrap());
    assert!(std::fs::metadata(dir.file()).unwrap().len() < 300_000);
}

fn scratch_folders_of_interrupted_runs_are_deleted() {
    let dir = StoreDir::new();
    let (mut store, runs) = store_with_three_runs(&dir);
    let folder = |name: &str| dir.folder.path().join("scratch").join(name);
    let [first, second, third] = ["first", "second", "third"].map(folder);
    store.set_scratch(&runs[0], Some(&first)).unwrap();
    std::fs::create_dir_all(first.join("checkout/deep")).unwrap();
    // The run is resumed in another folder.
    store.set_scratch(&runs[0], Some(&second)).unwrap();
    assert_eq!([&first, &second].map(|folder| folder.exists()), [false, true]);
    // The run is done, but the process was killed before it deleted the folder.
    store.set_scratch(&runs[0], None).unwrap();
    let report = store.gc(&GcOptions { dry_run: true, ..GcOptions::default() }).unwrap();
    assert_eq!(report.scratch, std::slice::from_ref(&second));
    assert_eq!(store.gc(&GcOptions::default()).unwrap().scratch, std::slice::from_ref(&second));
    assert!(!second.exists());
    assert!(store.gc(&GcOptions::default()).unwrap().scratch.is_empty());
    assert_eq!(store.scratch_folders().unwrap(), []);
    // A folder with another owner's marker is kept.
    store.set_scratch(&runs[1], Some(&third)).unwrap();
    std::fs::write(third.join(".karat-scratch"), "somebody else").unwrap();
    store.set_scratch(&runs[1], Some(&first)).unwrap();
    assert!(third.exists());
}

/// Deleting a folder is retried even after its run was removed.
#[cfg(unix)]
#[test]
fn undeletable_scratch_folder_is_retried() {
    use std::os::unix::fs::PermissionsExt;
    let dir = StoreDir::new();
    let (mut store, runs) = store_with_three_runs(&dir);
    let above = dir.folder.path().join("scratch");
    let folder = above.join("stuck");
    store.set_scratch(&runs[0], Some(&folder)).unwrap();
    let mode = |mode: u32| std::fs::set_permissions(&above, std::fs::Permissions::from_mode(mode)).unwrap();
    mode(0o555);
    if std::fs::write(above.join("probe"), "").is_ok() {
        return skipped("permissions do not apply to this user");
    }
    let report = store.gc(&GcOptions { runs: vec![runs[0].clone()], ..GcOptions::default() }).unwrap();
    mode(0o755);
    assert!(report.notes[0].contains("could not be deleted"), "{:?}", report.notes);
    assert!(folder.exists());
    assert_eq!(store.gc(&GcOptions::default()).unwrap().scratch, std::slice::from_ref(&folder));
    assert!(!folder.exists());
    assert!(!dir.folder().join("locks").join(format!("{}.lock", runs[0])).exists());
}
