//! Several processes, and processes that die.

use super::*;
use crate::event::{Consumer, RunEvent};
use crate::{GcOptions, RunState, StoreError};
use std::sync::Barrier;
use std::time::{Duration, Instant};

#[test]
fn many_may_create_a_store_at_once() {
    for _ in 0..5 {
        let place = Place::new();
        let start = Barrier::new(6);
        std::thread::scope(|scope| {
            let open = || {
                start.wait();
                let mut store = place.store();
                begin(&mut store);
            };
            let threads: Vec<_> = (0..6).map(|_| scope.spawn(open)).collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        });
        assert_eq!(place.store().runs().unwrap().len(), 6);
    }
}

#[test]
fn two_may_save_at_once_and_nothing_is_lost() {
    let place = Place::new();
    let cases: Vec<String> = (0..60).map(|n| format!("case-{n}")).collect();
    let names: Vec<&str> = cases.iter().map(String::as_str).collect();
    let run = place.store().begin(&new_run(&names)).unwrap();
    std::thread::scope(|scope| {
        for tool in ["zeta", "alpha"] {
            let (place, names, run) = (&place, &names, &run);
            scope.spawn(move || {
                let mut store = Store::open(&place.folder()).unwrap();
                for case in names {
                    store.save(run, &[record(tool, case, 1), record(tool, case, 2)]).unwrap();
                }
            });
        }
    });
    let mut store = place.store();
    assert_eq!(store.trials(&run).unwrap().len(), 240);
    assert_eq!(store.verify().unwrap(), []);
}

/// A thread of its own may do the saving.
#[test]
fn a_store_goes_from_thread_to_thread() {
    let place = Place::new();
    let mut store = place.store();
    std::thread::spawn(move || begin(&mut store)).join().unwrap();
}

#[test]
fn one_at_a_time_works_on_a_run() {
    let place = Place::new();
    let mut store = place.store();
    let run = begin(&mut store);
    let other = Store::open(&place.folder()).unwrap();
    let lock = store.lock(&run).unwrap();
    assert!(other.is_locked(&run));
    let error = other.lock(&run).unwrap_err();
    let process = format!("process {}", std::process::id());
    assert!(matches!(&error, StoreError::Busy { holder, .. } if *holder == process), "{error}");
    drop(lock);
    assert!(!other.is_locked(&run));
    other.lock(&run).unwrap();
}

/// Saves until it is killed, and says what is saved. Run by the test below in a process of its own.
#[test]
#[ignore = "the process that what_is_reported_done_survives_the_process starts and kills"]
#[expect(clippy::print_stdout, reason = "the other process listens")]
fn saves_until_it_is_killed() {
    let Some(folder) = std::env::var_os("KARAT_TEST_STORE") else { return };
    let mut store = Store::open(folder.as_ref()).unwrap();
    let run = store.resolve_run("latest").unwrap();
    let _lock = store.lock(&run).unwrap();
    for number in 1.. {
        store.save(&run, &[record("zeta", "a", number)]).unwrap();
        println!("\nsaved {number}");
    }
}

#[test]
fn what_is_reported_done_survives_the_process() {
    use std::io::BufRead;
    let place = Place::new();
    let mut store = place.store();
    let run = begin(&mut store);
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", "tests::sharing::saves_until_it_is_killed"])
        .env("KARAT_TEST_STORE", place.folder())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let saved: Vec<u32> = lines.filter_map(|line| line.strip_prefix("saved ")?.parse().ok()).take(30).collect();
    let was_locked = store.is_locked(&run);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(was_locked);
    assert_eq!(saved, (1..=30).collect::<Vec<_>>());
    store.lock(&run).unwrap();
    let done: Vec<u32> = store.done(&run).unwrap().keys().map(|key| key.number).collect();
    assert_eq!(done, (1..=done.len() as u32).collect::<Vec<_>>());
    assert!(done.len() >= 30, "{} of 30 are left", done.len());
    assert_eq!(store.database.check().unwrap(), [""; 0]);
}

/// A process that is killed leaves the log of the database as it was at that moment.
#[test]
fn what_was_saved_survives_a_kill() {
    let place = Place::new();
    let mut store = place.store();
    let run = begin(&mut store);
    store.save(&run, &[record("zeta", "a", 1)]).unwrap();
    // Half of another save: begun, never ended.
    store.database.execute("BEGIN IMMEDIATE", Vec::new()).unwrap();
    store.database.execute("UPDATE runs SET state = 'stopped'", Vec::new()).unwrap();
    let killed = Place::new();
    std::fs::create_dir_all(killed.folder()).unwrap();
    for entry in std::fs::read_dir(place.folder()).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), killed.folder().join(entry.file_name())).unwrap();
        }
    }
    let mut survived = Store::open(&killed.folder()).unwrap();
    assert_eq!(trial_lines(&mut survived, &run), ["zeta a 1 1 reported"]);
    assert_eq!(survived.find("latest").unwrap().state, RunState::Running);
    assert_eq!(survived.verify().unwrap(), []);
    survived.save(&run, &[record("zeta", "b", 1)]).unwrap();
}

fn holder(place: &Place) -> Store {
    let mut other = place.store();
    other.database.execute("BEGIN IMMEDIATE", Vec::new()).unwrap();
    other
}

#[test]
fn a_run_waits_for_whoever_has_the_store_and_not_for_ever() {
    let place = Place::new();
    let mut store = place.store();
    let run = begin(&mut store);
    let other = holder(&place);
    store.database.set_busy_timeouts(Duration::from_millis(10), Duration::from_millis(200));
    let records = [record("zeta", "a", 1)];
    let begun = Instant::now();
    let error = store.sink(&run).consume(&RunEvent::TrialsDone(&records)).unwrap_err();
    assert!(error.to_string().contains("in use by another process"), "{error}");
    assert!(begun.elapsed() >= Duration::from_millis(200));

    store.database.set_busy_timeouts(Duration::from_millis(10), Duration::from_secs(60));
    let release = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        drop(other);
    });
    store.sink(&run).consume(&RunEvent::TrialsDone(&records)).unwrap();
    release.join().unwrap();
    assert_eq!(trial_lines(&mut store, &run), ["zeta a 1 1 reported"]);
}

#[test]
fn a_dry_run_waits_for_nobody() {
    let place = Place::new();
    let mut store = place.store();
    let run = begin(&mut store);
    store.save(&run, &all_records()).unwrap();
    let scratch = place.folder.path().join("scratch");
    store.set_scratch(&run, Some(&scratch)).unwrap();
    let _other = holder(&place);
    store.database.set_busy_timeouts(Duration::from_millis(10), Duration::from_millis(10));
    let report = store.gc(&GcOptions { keep: Some(0), dry_run: true, ..GcOptions::default() }).unwrap();
    assert_eq!((report.runs.len(), report.artifacts, report.scratch.len()), (1, 10, 1));
    assert!(scratch.exists());
    assert_eq!(store.runs().unwrap().len(), 1);
}
