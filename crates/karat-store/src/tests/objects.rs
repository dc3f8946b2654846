//! Large artifacts in object storage: a shared folder, and a real server of the S3 protocol.

use super::*;
use crate::artifacts::{Packed, insert_artifacts};
use crate::{GcOptions, GcReport, ObjectLocation, StoreError};
use karat_test_servers::{Moment, S3, or_skip, wait_for};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Bytes that cannot be compressed.
fn noise(seed: u32, bytes: usize) -> Vec<u8> {
    let mut noise = vec![0; bytes];
    blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof().fill(&mut noise);
    noise
}

/// Text that is large even when it is packed.
fn text(seed: u32, bytes: usize) -> Vec<u8> {
    noise(seed, bytes).iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect()
}

fn large_record(case: &str, number: u32, bytes: &[u8]) -> TrialRecord {
    let mut large = record("zeta", case, number);
    large.artifacts[0].bytes = bytes.to_vec();
    large
}

impl StoreDir {
    /// The store, opened by a process that has credentials.
    fn with_credentials(&self) -> Store {
        let mut store = self.store();
        store.objects.variable = |name| (name != "AWS_SESSION_TOKEN").then(|| "test".to_owned());
        store
    }

    fn objects(&self) -> PathBuf {
        self.folder.path().join("objects of the team")
    }

    fn store_with_folder(&self) -> Store {
        let mut store = self.store();
        store.set_object_storage(Some(&folder_location(&self.objects()))).unwrap();
        store
    }
}

fn folder_location(folder: &Path) -> ObjectLocation {
    ObjectLocation::parse(&format!("file://{}", folder.display())).unwrap()
}

fn bucket_location(server: &S3, prefix: &str) -> ObjectLocation {
    let bucket = server.new_bucket().unwrap();
    ObjectLocation::parse(&format!("s3://{bucket}{prefix}?endpoint={}", server.endpoint())).unwrap()
}

fn object_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(groups) = std::fs::read_dir(folder.join("objects")) else { return Vec::new() };
    let files = groups.flat_map(|group| std::fs::read_dir(group.unwrap().path()).into_iter().flatten());
    let mut files: Vec<PathBuf> = files.filter_map(|file| file.ok().map(|file| file.path())).collect();
    files.sort();
    files
}

/// Sets the time of all objects back. Others may be deleting them.
fn age_objects(folder: &Path, age: Duration) {
    for file in object_files(folder) {
        if let Ok(file) = std::fs::File::options().append(true).open(file) {
            let _ = file.set_modified(SystemTime::now() - age);
        }
    }
}

fn codings(store: &mut Store) -> Vec<String> {
    let rows = store.database.query("SELECT coding, LENGTH(content) FROM artifacts ORDER BY size DESC", Vec::new());
    rows.unwrap().iter().map(|row| format!("{} {}", row.get::<String>(0).unwrap(), row.count(1).unwrap())).collect()
}

fn collect(store: &mut Store) -> GcReport {
    let report = store.gc(&GcOptions::default()).unwrap();
    assert_eq!(report.notes, [""; 0]);
    report
}

#[track_caller]
fn check_round_trip(location: &ObjectLocation) {
    let (dir, there) = (StoreDir::new(), StoreDir::new());
    let mut store = dir.with_credentials();
    store.set_object_storage(Some(location)).unwrap();
    let (binary, words) = (noise(1, 2 << 20), text(2, 2 << 20));
    let run = begin(&mut store);
    store.save(&run, &[large_record("a", 1, &binary), large_record("b", 1, &words)]).unwrap();
    // The same content again, from another trial.
    store.save(&run, &[large_record("a", 2, &binary)]).unwrap();
    assert_eq!(store.object_count().unwrap(), 2);
    let stored = codings(&mut store);
    assert_eq!(stored[..2], ["object-deflate 0", "object-plain 0"]);
    assert!(stored[2..].iter().all(|coding| !coding.starts_with("object")), "{stored:?}");

    // Another process finds the place in the store.
    let mut reader = dir.with_credentials();
    assert_eq!(reader.object_storage().unwrap().as_ref(), Some(location));
    for (case, bytes) in [("a", &binary), ("b", &words)] {
        let infos =
            reader.artifacts(&run, &crate::record::TrialKey::from_trial(&record("zeta", case, 1).trial)).unwrap();
        let stdout = infos.iter().find(|info| info.name == "stdout").unwrap();
        assert_eq!(stdout.size, bytes.len() as u64);
        assert!(reader.artifact(&stdout.hash).unwrap() == *bytes);
    }
    assert_eq!(reader.verify().unwrap(), []);
    assert_eq!(collect(&mut reader).objects, 0);

    // A file of the run holds the content, so a store without object storage can take it.
    let file = there.folder.path().join("run.jsonl.gz");
    reader.export_run_file(&run, &file).unwrap();
    let mut other = there.store();
    other.import(&file, None).unwrap();
    assert_eq!(other.object_count().unwrap(), 0);
    assert!(other.artifact(&crate::artifacts::hash(&words)).unwrap() == words);
    assert_eq!(other.verify().unwrap(), []);
}

fn large_artifacts_are_kept_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    check_round_trip(&folder_location(&folder.path().join("deep/objects")));
}

#[test]
fn large_artifacts_are_kept_in_a_bucket() {
    let Some(server) = or_skip(S3::shared()) else { return };
    check_round_trip(&bucket_location(server, "/team/a"));
    check_round_trip(&bucket_location(server, ""));
}

#[test]
fn changed_and_missing_objects_are_reported() {
    let dir = StoreDir::new();
    let mut store = dir.store_with_folder();
    let run = begin(&mut store);
    store.save(&run, &[large_record("a", 1, &noise(1, 2 << 20)), large_record("b", 1, &noise(2, 2 << 20))]).unwrap();
    let files = object_files(&dir.objects());
    let hash = |file: &Path| file.file_name().unwrap().to_str().unwrap().to_owned();
    let mut bytes = std::fs::read(&files[0]).unwrap();
    bytes[77] ^= 1;
    std::fs::write(&files[0], &bytes).unwrap();
    std::fs::remove_file(&files[1]).unwrap();
    let changed = store.artifact(&hash(&files[0])).unwrap_err();
    assert!(matches!(changed, StoreError::DamagedObject { .. }), "{changed}");
    assert!(changed.to_string().contains("is not what was stored"), "{changed}");
    let missing = store.artifact(&hash(&files[1])).unwrap_err().to_string();
    assert!(missing.contains("is missing from file:///"), "{missing}");
    assert!(missing.ends_with("restore it or remove the run"), "{missing}");
    bytes.push(0);
    std::fs::write(&files[0], &bytes).unwrap();
    assert!(store.artifact(&hash(&files[0])).unwrap_err().to_string().contains("it is longer"));
    let problems = store.verify().unwrap();
    assert_eq!(problems.iter().map(|problem| problem.code).collect::<Vec<_>>(), ["artifact"; 2]);
}

/// A save waits for a server that is down, and gives up with nothing stored.
#[test]
fn saves_wait_for_storage_that_is_down() {
    let Some(server) = or_skip(S3::start()) else { return };
    let dir = StoreDir::new();
    let mut store = dir.with_credentials();
    store.set_object_storage(Some(&bucket_location(&server, "/team"))).unwrap();
    let run = begin(&mut store);
    server.stop();
    store.objects.patience = Duration::ZERO;
    let error = store.save(&run, &[large_record("a", 1, &noise(1, 2 << 20))]).unwrap_err();
    assert!(matches!(error, StoreError::NoObjectStorage { .. }), "{error}");
    assert_eq!((store.object_count().unwrap(), store.finished_trials(&run).unwrap().len()), (0, 0));
    // What fits into the database is saved all the same.
    store.save(&run, &[record("alpha", "a", 1)]).unwrap();
    assert!(store.gc(&GcOptions::default()).unwrap().notes[0].contains("not all unused objects were removed"));

    store.objects.patience = Duration::from_secs(600);
    server.proxy().cut_when(b"HEAD ", Moment::Before, usize::MAX);
    server.restart();
    std::thread::scope(|scope| {
        let saved = scope.spawn(|| store.save(&run, &[large_record("a", 1, &noise(1, 2 << 20))]));
        // The client alone tries five times.
        wait_for("the save tries again", || (server.proxy().triggered() > 5).then_some(())).unwrap();
        assert!(!saved.is_finished());
        // The object is stored, and the answer lost.
        server.proxy().cut_when(b"PUT ", Moment::After, 1);
        saved.join().unwrap().unwrap();
    });
    assert_eq!(store.object_count().unwrap(), 1);
    assert_eq!(store.verify().unwrap(), []);
    server.stop();
    let problems = store.verify().unwrap();
    assert!(problems[0].message.starts_with("1 object could not be checked"), "{problems:?}");
}

#[test]
fn misconfigured_storage_is_refused_at_once() {
    let Some(server) = or_skip(S3::shared()) else { return };
    let dir = StoreDir::new();
    let mut store = dir.store();
    store.objects.variable = |_| None;
    let location = bucket_location(server, "");
    let error = store.set_object_storage(Some(&location)).unwrap_err().to_string();
    assert!(error.contains("the variable AWS_ACCESS_KEY_ID is not set"), "{error}");
    let mut store = dir.with_credentials();
    let nowhere = ObjectLocation::parse(&format!("s3://nowhere?endpoint={}", server.endpoint())).unwrap();
    let error = store.set_object_storage(Some(&nowhere)).unwrap_err();
    assert!(matches!(error, StoreError::ObjectStorage { .. }), "{error}");
    assert_eq!(store.object_storage().unwrap(), None);
}

fn place_of_another_store_is_refused() {
    let (one, two) = (StoreDir::new(), StoreDir::new());
    let mut store = one.store_with_folder();
    let location = folder_location(&one.objects());
    let error = two.store().set_object_storage(Some(&location)).unwrap_err();
    assert!(matches!(error, StoreError::ForeignObjects { .. }), "{error}");
    // Setting the same again changes nothing.
    store.set_object_storage(Some(&location)).unwrap();
    store.set_object_storage(None).unwrap();
    assert_eq!(store.object_storage().unwrap(), None);
    store.set_object_storage(Some(&location)).unwrap();
}

fn storage_changes_only_if_all_objects_come_along() {
    let dir = StoreDir::new();
    let mut store = dir.store_with_folder();
    let run = begin(&mut store);
    store.save(&run, &[large_record("a", 1, &noise(1, 2 << 20))]).unwrap();
    let new = folder_location(&dir.folder.path().join("new"));
    for location in [None, Some(&new)] {
        let error = store.set_object_storage(location).unwrap_err();
        assert!(matches!(error, StoreError::ObjectsElsewhere { objects: 1, .. }), "{error}");
        assert_eq!(store.verify().unwrap(), []);
    }
    let file = object_files(&dir.objects()).remove(0);
    let target = dir.folder.path().join("new").join(file.strip_prefix(dir.objects()).unwrap());
    std::fs::create_dir_all(target.parent().unwrap()).unwrap();
    std::fs::copy(&file, target).unwrap();
    store.set_object_storage(Some(&new)).unwrap();
    std::fs::remove_dir_all(dir.objects()).unwrap();
    assert_eq!(store.verify().unwrap(), []);
}

#[test]
fn unmounted_folder_is_not_written() {
    let dir = StoreDir::new();
    let mut store = dir.store_with_folder();
    let run = begin(&mut store);
    std::fs::rename(dir.objects(), dir.folder.path().join("away")).unwrap();
    std::fs::create_dir(dir.objects()).unwrap();
    for mut store in [store, dir.store()] {
        store.objects.patience = Duration::ZERO;
        let error = store.save(&run, &[large_record("a", 1, &noise(1, 2 << 20))]).unwrap_err().to_string();
        assert!(error.contains("is the folder mounted?"), "{error}");
    }
    assert_eq!(std::fs::read_dir(dir.objects()).unwrap().count(), 0);
}

#[test]
fn unused_objects_are_removed_after_the_grace_period() {
    let dir = StoreDir::new();
    let mut store = dir.store_with_folder();
    let run = begin(&mut store);
    store.save(&run, &[large_record("a", 1, &noise(1, 2 << 20))]).unwrap();
    // A full disk leaves an object without a row.
    let row = store.database.query_one("PRAGMA page_count", Vec::new()).unwrap().unwrap();
    store.database.limit_pages(row.count(0).unwrap());
    let mut full = large_record("b", 1, &noise(2, 2 << 20));
    full.artifacts[1].bytes = noise(3, 1 << 19);
    let error = store.save(&run, &[full]).unwrap_err();
    assert!(matches!(error, StoreError::Full { .. }), "{error}");
    store.database.limit_pages(1_000_000);
    let count = || object_files(&dir.objects()).len();
    assert_eq!((count(), collect(&mut store).objects), (2, 0));
    // What Karat did not write is left alone, but for what its writers began.
    let group = object_files(&dir.objects())[0].parent().unwrap().to_owned();
    std::fs::write(group.join("notes.txt"), "of a person").unwrap();
    std::fs::write(group.join("0011#1"), "begun by a killed process").unwrap();
    age_objects(&dir.objects(), DAY + Duration::from_secs(60));
    let dry = store.gc(&GcOptions { dry_run: true, ..GcOptions::default() }).unwrap();
    assert_eq!((dry.objects, dry.object_bytes, count()), (1, 2 << 20, 4));
    let two_days = store.gc(&GcOptions { grace: Some(DAY * 2), ..GcOptions::default() }).unwrap();
    assert_eq!((two_days.objects, count()), (0, 4));
    let report = collect(&mut store);
    assert_eq!((report.objects, report.object_bytes, count()), (1, 2 << 20, 2));
    assert_eq!(store.verify().unwrap(), []);

    // The object of a removed run stays for the grace period, however old it is.
    let removal = GcOptions { runs: vec![run.clone()], ..GcOptions::default() };
    let dry = store.gc(&GcOptions { dry_run: true, ..removal.clone() }).unwrap();
    assert_eq!((dry.objects, dry.waiting_objects), (0, 1));
    let report = store.gc(&removal).unwrap();
    assert_eq!((report.objects, report.waiting_objects, count()), (0, 1, 2));
    assert_eq!(collect(&mut store).waiting_objects, 1);
    store.database.script("UPDATE removed_objects SET removed_ms = removed_ms - 86500000").unwrap();
    store.database.rehash();
    let report = collect(&mut store);
    assert_eq!((report.objects, report.waiting_objects, count()), (1, 0, 1));
    let error = store.gc(&GcOptions { grace: Some(Duration::from_secs(60)), ..GcOptions::default() }).unwrap_err();
    assert!(matches!(error, StoreError::ShortGrace), "{error}");
}

#[test]
fn unused_objects_are_removed_from_a_bucket_by_its_clock() {
    let Some(server) = or_skip(S3::shared()) else { return };
    let dir = StoreDir::new();
    let mut store = dir.with_credentials();
    store.set_object_storage(Some(&bucket_location(server, "/team"))).unwrap();
    store.upload(&mut [Packed::new(&noise(1, 2 << 20))]).unwrap();
    // The clock of a bucket's objects cannot be set back, so this shows that a new object is not taken.
    let report =
        store.gc(&GcOptions { grace: Some(crate::object_storage::MIN_GRACE), ..GcOptions::default() }).unwrap();
    assert_eq!((report.objects, report.notes), (0, Vec::new()));
    store.delete_all_objects();
    assert_eq!(store.listed_objects(), 0);
}

/// Another collection deleted an object that this one has listed, and a writer has put it there again.
#[test]
fn object_that_was_written_again_after_it_was_listed_stays() {
    let dir = StoreDir::new();
    let mut store = dir.store_with_folder();
    let packed = || Packed::new(&noise(1, 2 << 20));
    store.upload(&mut [packed()]).unwrap();
    age_objects(&dir.objects(), DAY * 2);
    let listed = store.list_objects();
    store.delete_all_objects();
    store.upload(&mut [packed()]).unwrap();
    assert_eq!(store.delete_listed(&listed, DAY), 0);
    age_objects(&dir.objects(), DAY * 2);
    assert_eq!(store.delete_listed(&listed, DAY), 1);
}

/// Garbage collection takes an old object after a writer has found it, and before the writer has stored its row.
fn object_that_is_removed_before_its_row_is_written_again() {
    let dir = StoreDir::new();
    let mut store = dir.store_with_folder();
    store.upload(&mut [Packed::new(&noise(1, 2 << 20))]).unwrap();
    age_objects(&dir.objects(), DAY * 2);
    let mut packed = vec![Packed::new(&noise(1, 2 << 20))];
    store.upload(&mut packed).unwrap();
    let file = object_files(&dir.objects()).remove(0);
    let age = file.metadata().unwrap().modified().unwrap().elapsed().unwrap_or_default();
    assert!(age < DAY, "the object was not written again");
    std::fs::remove_file(&file).unwrap();
    let hash = packed[0].hash.clone();
    store.database.write(|database| insert_artifacts(database, database.consume(&mut packed))).unwrap();
    assert!(store.artifact(&hash).unwrap() == noise(1, 2 << 20));
}

/// Writers of equal and of different contents, all of which are there as old objects without a row, while garbage collection
/// runs all the time.
fn concurrent_writers_and_garbage_collection() {
    const WRITERS: u32 = 3;
    const SAVES: u32 = 8;
    let dir = StoreDir::new();
    let mut store = dir.store_with_folder();
    let cases: Vec<String> = (0..SAVES).map(|n| format!("case-{n}")).collect();
    let names: Vec<&str> = cases.iter().map(String::as_str).collect();
    let runs: Vec<RunId> = (0..WRITERS).map(|_| store.begin(&new_run(&names)).unwrap()).collect();
    let own = |writer: u32, save: u32| 1000 * (writer + 1) + save;
    for save in 0..SAVES {
        let seeds = [save].into_iter().chain((0..WRITERS).map(|writer| own(writer, save)));
        store.upload(&mut seeds.map(|seed| Packed::new(&noise(seed, 1_100_000))).collect::<Vec<_>>()).unwrap();
    }
    age_objects(&dir.objects(), DAY * 2);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let collector = scope.spawn(|| {
            let mut collector = dir.store();
            while !done.load(Ordering::Relaxed) {
                collector.gc(&GcOptions::default()).unwrap();
            }
        });
        let writers: Vec<_> = (0_u32..)
            .zip(&runs)
            .map(|(writer, run)| {
                let (dir, cases) = (&dir, &cases);
                scope.spawn(move || {
                    let mut store = dir.store();
                    for (save, case) in (0..).zip(cases) {
                        let shared = large_record(case, 1, &noise(save, 1_100_000));
                        let own = large_record(case, 2, &noise(own(writer, save), 1_100_000));
                        store.save(run, &[shared, own]).unwrap();
                    }
                })
            })
            .collect();
        let ended: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        done.store(true, Ordering::Relaxed);
        collector.join().unwrap();
        ended.into_iter().for_each(|writer| writer.unwrap());
    });
    assert_eq!(store.object_count().unwrap(), SAVES * (WRITERS + 1));
    assert_eq!(store.verify().unwrap(), []);
}

/// From object storage into a database, from there into other object storage, and between two object storages.
fn copied_artifacts_are_where_their_store_keeps_them() {
    let dirs = [StoreDir::new(), StoreDir::in_folder(), StoreDir::new(), StoreDir::new()];
    let mut from = dirs[0].store_with_folder();
    let bytes = text(1, 2 << 20);
    let run = begin(&mut from);
    from.save(&run, &[large_record("a", 1, &bytes), record("zeta", "b", 1)]).unwrap();
    for (dir, objects) in [(&dirs[1], 0), (&dirs[2], 1), (&dirs[3], 1)] {
        let mut to = if objects > 0 { dir.store_with_folder() } else { dir.store() };
        let copied = from.copy_to(&mut to, &mut |_| {}).unwrap();
        assert_eq!((copied.runs, copied.were_here), (1, 0));
        assert_eq!(from.copy_to(&mut to, &mut |_| {}).unwrap().were_here, copied.added);
        assert_eq!((to.object_count().unwrap(), object_files(&dir.objects()).len()), (objects, objects as usize));
        assert!(to.artifact(&crate::artifacts::hash(&bytes)).unwrap() == bytes);
        assert_eq!(to.verify().unwrap(), []);
        from = Store::open(dir.location()).unwrap();
    }
    // A row that is there does not hide that its object is gone.
    let mut to = dirs[2].store();
    to.delete_all_objects();
    let error = from.copy_to(&mut to, &mut |_| {}).unwrap_err();
    assert!(matches!(error, StoreError::DamagedObject { .. }), "{error}");
}

#[test]
fn suites_for_workers_are_kept_until_their_run_is_removed() {
    on_postgres(|| {
        let dir = StoreDir::new();
        let mut store = dir.store_with_folder();
        let run = begin(&mut store);
        let parts = [noise(1, 2 << 20), b"small".to_vec()];
        store.set_suite_parts(&run, &parts).unwrap();
        assert_eq!((store.object_count().unwrap(), collect(&mut store).artifacts), (1, 0));
        let mut read = Vec::new();
        store
            .suite_parts(&run, &mut |part| {
                read.push(part);
                Ok(())
            })
            .unwrap();
        assert!(read == parts);
        let report = store.gc(&GcOptions { runs: vec![run], ..GcOptions::default() }).unwrap();
        assert_eq!((report.artifacts, report.waiting_objects), (3, 1));
    });
}

on_each_engine!(
    large_artifacts_are_kept_in_a_folder,
    place_of_another_store_is_refused,
    storage_changes_only_if_all_objects_come_along,
    object_that_is_removed_before_its_row_is_written_again,
    concurrent_writers_and_garbage_collection,
    copied_artifacts_are_where_their_store_keeps_them,
);
