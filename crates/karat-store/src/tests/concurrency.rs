//! Concurrent processes, and processes that are killed.

use super::*;
use crate::event::RunEvent;
use crate::{GcOptions, RunState, StoreError, StoreLocation};
use std::sync::Barrier;
use std::time::{Duration, Instant};

on_each_engine!(
    concurrent_creation_gives_one_store,
    concurrent_saves_are_all_stored,
    store_is_send,
    run_lock_is_exclusive,
    saved_trials_survive_killing_the_process,
    gc_dry_run_does_not_wait_for_writers,
);

fn concurrent_creation_gives_one_store() {
    for _ in 0..5 {
        let dir = StoreDir::new();
        let start = Barrier::new(6);
        std::thread::scope(|scope| {
            let open = || {
                start.wait();
                let mut store = dir.store();
                begin(&mut store);
            };
            let threads: Vec<_> = (0..6).map(|_| scope.spawn(open)).collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        });
        assert_eq!(dir.store().runs().unwrap().len(), 6);
    }
}

fn concurrent_saves_are_all_stored() {
    let dir = StoreDir::new();
    let cases: Vec<String> = (0..60).map(|n| format!("case-{n}")).collect();
    let names: Vec<&str> = cases.iter().map(String::as_str).collect();
    let run = dir.store().begin(&new_run(&names)).unwrap();
    std::thread::scope(|scope| {
        for tool in ["zeta", "alpha"] {
            let (dir, names, run) = (&dir, &names, &run);
            scope.spawn(move || {
                let mut store = Store::open(dir.location()).unwrap();
                for case in names {
                    store.save(run, &[record(tool, case, 1), record(tool, case, 2)]).unwrap();
                }
            });
        }
    });
    let mut store = dir.store();
    assert_eq!(store.trials(&run).unwrap().len(), 240);
    assert_eq!(store.verify().unwrap(), []);
}

/// A separate thread may save trials.
fn store_is_send() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    std::thread::spawn(move || begin(&mut store)).join().unwrap();
}

fn run_lock_is_exclusive() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    let run = begin(&mut store);
    let other = Store::open(dir.location()).unwrap();
    let lock = store.lock(&run).unwrap();
    assert!(other.is_locked(&run));
    let error = other.lock(&run).unwrap_err();
    let process = format!("process {}", std::process::id());
    assert!(matches!(&error, StoreError::Busy { holder, .. } if holder.ends_with(&process)), "{error}");
    drop(lock);
    assert!(!other.is_locked(&run));
    other.lock(&run).unwrap();
}

/// Saves trials until killed, and prints each number. Run by the test below in a child process.
#[test]
#[ignore = "child process of saved_trials_survive_killing_the_process"]
#[expect(clippy::print_stdout, reason = "read by the parent process")]
fn save_until_killed() {
    let Some(location) = std::env::var_os("KARAT_TEST_STORE") else { return };
    let mut store = Store::open(StoreLocation::parse(location).unwrap()).unwrap();
    let run = store.resolve_run("latest").unwrap();
    let _lock = store.lock(&run).unwrap();
    for number in 1.. {
        store.save(&run, &[record("zeta", "a", number)]).unwrap();
        println!("\nsaved {number}");
    }
}

fn saved_trials_survive_killing_the_process() {
    use std::io::BufRead;
    let dir = StoreDir::new();
    let mut store = dir.store();
    let run = begin(&mut store);
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", "tests::concurrency::save_until_killed"])
        .env("KARAT_TEST_STORE", dir.location_text())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut numbers = lines.filter_map(|line| line.strip_prefix("saved ")?.parse().ok());
    // A child that cannot print would end by itself.
    let saved: Vec<u32> = numbers.by_ref().take(30).collect();
    let was_locked = store.is_locked(&run);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(was_locked);
    assert_eq!(saved, (1..=30).collect::<Vec<_>>());
    if store.database.is_server() {
        // Half a minute later.
        store.database.script("UPDATE run_locks SET until_ms = until_ms - 30000").unwrap();
    }
    store.lock(&run).unwrap();
    let done: Vec<u32> = store.finished_trials(&run).unwrap().keys().map(|key| key.number).collect();
    assert_eq!(done, (1..=done.len() as u32).collect::<Vec<_>>());
    assert!(done.len() >= 30, "{} of 30 are left", done.len());
    assert_eq!(store.database.check().unwrap(), [""; 0]);
}

/// Copies the database and its log as a killed process would leave them.
#[test]
fn unfinished_transaction_of_a_killed_process_is_rolled_back() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    let run = begin(&mut store);
    store.save(&run, &[record("zeta", "a", 1)]).unwrap();
    // A transaction that is never committed.
    store.database.begin_without_end();
    store.database.execute("UPDATE runs SET state = 'stopped'", Vec::new()).unwrap();
    let killed = StoreDir::new();
    std::fs::create_dir_all(killed.folder()).unwrap();
    for entry in std::fs::read_dir(dir.folder()).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), killed.folder().join(entry.file_name())).unwrap();
        }
    }
    let mut survived = Store::open(killed.folder()).unwrap();
    assert_eq!(trial_lines(&mut survived, &run), ["zeta a 1 1 reported"]);
    assert_eq!(survived.find("latest").unwrap().state, RunState::Running);
    assert_eq!(survived.verify().unwrap(), []);
    survived.save(&run, &[record("zeta", "b", 1)]).unwrap();
}

fn lock_database(dir: &StoreDir) -> Store {
    let mut other = dir.store();
    other.database.begin_without_end();
    other
}

#[test]
fn storing_an_event_waits_for_the_database_up_to_its_timeout() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    let run = begin(&mut store);
    let other = lock_database(&dir);
    store.database.set_busy_timeouts(Duration::from_millis(10), Duration::from_millis(200));
    let records = [record("zeta", "a", 1)];
    let started = Instant::now();
    let error = store.store_event(&run, &RunEvent::TrialsDone(&records)).unwrap_err();
    assert!(error.to_string().contains("in use by another process"), "{error}");
    assert!(started.elapsed() >= Duration::from_millis(200));

    store.database.set_busy_timeouts(Duration::from_millis(10), Duration::from_secs(60));
    let release = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        drop(other);
    });
    store.store_event(&run, &RunEvent::TrialsDone(&records)).unwrap();
    release.join().unwrap();
    assert_eq!(trial_lines(&mut store, &run), ["zeta a 1 1 reported"]);
}

fn gc_dry_run_does_not_wait_for_writers() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    let run = begin(&mut store);
    store.save(&run, &all_records()).unwrap();
    let scratch = dir.folder.path().join("scratch");
    store.set_scratch(&run, Some(&scratch)).unwrap();
    let _other = lock_database(&dir);
    store.database.set_busy_timeouts(Duration::from_millis(10), Duration::from_millis(10));
    let report = store.gc(&GcOptions { keep: Some(0), dry_run: true, ..GcOptions::default() }).unwrap();
    assert_eq!((report.runs.len(), report.artifacts, report.scratch.len()), (1, 10, 1));
    assert!(scratch.exists());
    assert_eq!(store.runs().unwrap().len(), 1);
}
