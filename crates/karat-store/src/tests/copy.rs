//! Copying whole stores between engines.

use super::hashes::fill;
use super::*;
use crate::{CopiedStore, StoreError};

fn copy(from: &mut Store, to: &mut Store) -> Result<CopiedStore, StoreError> {
    from.copy_to(to, &mut |_| {})
}

/// Everything that a run file and a ledger file have of a store.
fn exported(store: &mut Store) -> String {
    let mut out = Vec::new();
    for run in store.overview().unwrap() {
        store.export_run(&run.id, &mut out).unwrap();
    }
    store.export_ledger(None, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// From a folder to the engine of the test, from there to another one of its kind, and back into a folder.
fn store_is_the_same_after_copying_there_and_back() {
    let first = StoreDir::in_folder();
    fill(&first);
    let mut from = first.store();
    let (text, labels) = (exported(&mut from), from.label_history().unwrap());
    let rows = from.copy_to(&mut StoreDir::in_folder().store(), &mut |_| {}).unwrap().added;
    let places = [StoreDir::new(), StoreDir::new(), StoreDir::in_folder()];
    for dir in &places {
        let mut to = dir.store();
        assert_eq!(copy(&mut from, &mut to).unwrap(), CopiedStore { runs: 1, added: rows, were_here: 0 });
        assert_eq!(exported(&mut to), text);
        assert_eq!(to.label_history().unwrap(), labels);
        assert_eq!(to.verify().unwrap(), []);
        // Copying again adds nothing.
        assert_eq!(copy(&mut from, &mut to).unwrap(), CopiedStore { runs: 1, added: 0, were_here: rows });
        from = Store::open(dir.location()).unwrap();
    }
}

fn interrupted_copy_is_continued() {
    let (here, there) = (StoreDir::in_folder(), StoreDir::new());
    let run = fill(&here);
    let mut from = here.store();
    // Garbage collection would remove the folder and change the run.
    from.gc(&Default::default()).unwrap();
    let second = begin(&mut from);
    let mut to = there.store();
    // As left by a copy that ended after the first run and a part of the ledger.
    let rows = copy(&mut from, &mut to).unwrap().added;
    to.gc(&crate::GcOptions {
        runs: vec![second],
        exchanges_older_than: Some(Default::default()),
        ..Default::default()
    })
    .unwrap();
    assert_eq!(to.runs().unwrap().len(), 1);
    let again = copy(&mut from, &mut to).unwrap();
    assert!(again.added > 0 && again.added + again.were_here == rows, "{again:?}");
    assert_eq!((exported(&mut to), to.verify().unwrap()), (exported(&mut from), Vec::new()));
    assert_eq!(to.find("nightly").unwrap().id, run);
}

fn different_rows_are_not_overwritten() {
    let (here, there) = (StoreDir::in_folder(), StoreDir::new());
    let run = fill(&here);
    let (mut from, mut to) = (here.store(), there.store());
    copy(&mut from, &mut to).unwrap();
    to.reopen(&run).unwrap();
    let error = copy(&mut from, &mut to).unwrap_err();
    assert!(matches!(&error, StoreError::CopyDiffers { table: "runs", .. }), "{error}");
    assert!(error.to_string().contains(run.as_str()), "{error}");
    assert!(to.find("nightly").unwrap().ended_ms.is_none(), "the copy changed the run");
    // A name that another run has excludes the row.
    let other = StoreDir::new();
    let mut other = other.store();
    other.begin(&NewRun { name: Some("nightly".to_owned()), ..new_run(&["a"]) }).unwrap();
    let error = copy(&mut from, &mut other).unwrap_err();
    assert!(matches!(&error, StoreError::CopyDiffers { table: "runs", .. }), "{error}");
    assert_eq!(other.runs().unwrap().len(), 1);
}

fn run_in_use_is_not_copied() {
    let (here, there) = (StoreDir::new(), StoreDir::in_folder());
    let (mut from, mut to) = (here.store(), there.store());
    let run = begin(&mut from);
    let lock = from.lock(&run).unwrap();
    assert!(matches!(copy(&mut from, &mut to), Err(StoreError::Busy { .. })));
    assert_eq!(to.runs().unwrap(), []);
    drop(lock);
    assert_eq!(copy(&mut from, &mut to).unwrap().runs, 1);
    let mut same = Store::open(here.location()).unwrap();
    assert!(matches!(copy(&mut from, &mut same), Err(StoreError::CopyToItself { .. })));
}

on_each_engine!(
    store_is_the_same_after_copying_there_and_back,
    interrupted_copy_is_continued,
    different_rows_are_not_overwritten,
    run_in_use_is_not_copied,
);
