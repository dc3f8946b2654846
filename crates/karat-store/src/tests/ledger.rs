//! The ledger of exchanges: export, import, verification, removal.

use super::*;
use crate::{GcOptions, ImportedExchanges, StoreError};
use karat_llm::ledger::{Answer, Exchange};
use serde_json::json;
use std::path::Path;
use std::time::Duration;

on_each_engine!(
    ledger_round_trips_through_a_file,
    contradicting_import_is_refused_as_a_whole,
    damaged_exchange_is_reported_and_the_rest_is_read,
    exchanges_are_removed_only_on_request,
    exported_ledger_can_be_replayed,
);

pub(super) fn exchange(name: &str, matched: bool) -> Exchange {
    let key = blake3::hash(name.as_bytes()).to_hex().to_string();
    serde_json::from_value(json!({
        "key": key, "provider": "p", "model": "m", "parameters": {"temperature": 0.1}, "template": "pair/v1",
        "system": "s", "user": name, "replies": [], "tokens_in": 1, "tokens_out": 2, "usd": 0.25, "attempts": 1,
        "outcome": {"decided": {"match": matched}},
    }))
    .unwrap()
}

fn put(store: &mut Store, exchanges: &[Exchange]) {
    store.ledger_put(&exchanges.iter().collect::<Vec<_>>()).unwrap();
}

fn import(store: &mut Store, folder: &Path, text: &str) -> Result<ImportedExchanges, StoreError> {
    let file = folder.join("ledger.jsonl");
    std::fs::write(&file, text).unwrap();
    store.import_ledger(&file)
}

fn export_text(store: &mut Store) -> String {
    let mut out = Vec::new();
    store.export_ledger(None, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn ledger_round_trips_through_a_file() {
    let (here, there) = (StoreDir::new(), StoreDir::new());
    let (mut store, mut other) = (here.store(), there.store());
    let all: Vec<Exchange> = (0..600).map(|n| exchange(&n.to_string(), n % 2 == 0)).collect();
    put(&mut store, &all);
    put(&mut other, &all[..100]);
    for name in ["ledger.jsonl", "ledger.jsonl.gz"] {
        let file = here.folder.path().join(name);
        assert_eq!(store.export_ledger_file(None, &file).unwrap(), 600);
        assert!(Store::is_ledger_file(&file).unwrap());
    }
    let packed = here.folder.path().join("ledger.jsonl.gz");
    assert_eq!(other.import_ledger(&packed).unwrap(), ImportedExchanges { added: 500, were_here: 100 });
    assert_eq!(other.import_ledger(&packed).unwrap(), ImportedExchanges { added: 0, were_here: 600 });
    assert_eq!(export_text(&mut other), export_text(&mut store));
    assert_eq!((other.ledger_len().unwrap(), other.verify().unwrap()), (600, vec![]));
    let run = begin(&mut store);
    let whole = here.folder.path().join("run.jsonl.gz");
    store.export_run_file(&run, &whole).unwrap();
    assert!(!Store::is_ledger_file(&whole).unwrap());
}

fn contradicting_import_is_refused_as_a_whole() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    put(&mut store, &[exchange("a", true)]);
    let text = |exchanges: &[Exchange]| -> String {
        exchanges.iter().map(|exchange| format!("{}\n", serde_json::to_string(exchange).unwrap())).collect()
    };
    let before = export_text(&mut store);
    let folder = dir.folder.path().to_owned();
    let mut check = |text: &str, expect: &[&str]| {
        let error = import(&mut store, &folder, text).unwrap_err().to_string();
        for part in expect {
            assert!(error.contains(part), "{error}");
        }
        assert_eq!(export_text(&mut store), before);
    };
    let other = exchange("a", false);
    check(&text(&[exchange("b", true), other.clone()]), &[other.key.as_str(), "other content", "Nothing was loaded"]);
    check(&text(&[exchange("b", true), exchange("b", false)]), &["line 2", "stands on line 1"]);
    check("{\"key\":\"k\"}\n", &["line 1", "no recorded exchange"]);
    check(&format!("{}\n{{", text(&[exchange("b", true)])), &["line 3", "no recorded exchange"]);
    check(&text(&[exchange("b", true)]).replace(exchange("b", true).key.as_str(), "k"), &["no hash"]);
    let vain = Exchange {
        answer: Answer::Missing { reason: karat_llm::ledger::FailureReason::Budget, why: String::new() },
        ..exchange("b", true)
    };
    check(&text(&[vain]), &["came to nothing"]);
    let twice = text(&[exchange("b", true), exchange("b", true)]);
    assert_eq!(import(&mut store, &folder, &twice).unwrap().added, 1);
}

fn damaged_exchange_is_reported_and_the_rest_is_read() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    put(&mut store, &[exchange("a", true), exchange("b", true), exchange("c", true)]);
    let sql = "INSERT INTO ledger (key, exchange, created_ms, row_hash) SELECT 'x', exchange, 0, '' FROM ledger LIMIT 1; \
               INSERT INTO ledger (key, exchange, created_ms, row_hash) VALUES ('y', '{', 0, '')";
    store.database.script(sql).unwrap();
    store.database.rehash();
    let found: Vec<String> = store.verify().unwrap().into_iter().map(|p| p.message).collect();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("lies under x") && found[1].contains("the exchange y"), "{found:?}");
}

fn exchanges_are_removed_only_on_request() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    put(&mut store, &[exchange("a", true), exchange("b", true)]);
    let sql = "UPDATE ledger SET created_ms = 5 WHERE key = (SELECT MIN(key) FROM ledger)";
    store.database.script(sql).unwrap();
    let mut gc = |gc: GcOptions| {
        let report = store.gc(&gc).unwrap();
        (report.exchanges, store.ledger_len().unwrap())
    };
    let week = Some(Duration::from_secs(604_800));
    assert_eq!(gc(GcOptions { keep: Some(0), older_than: week, ..GcOptions::default() }), (0, 2));
    assert_eq!(gc(GcOptions { exchanges_older_than: week, dry_run: true, ..GcOptions::default() }), (1, 2));
    assert_eq!(gc(GcOptions { exchanges_older_than: week, ..GcOptions::default() }), (1, 1));
}

/// A replay judge answers from an exported ledger.
fn exported_ledger_can_be_replayed() {
    use karat_format::judge::JudgeConfigV1;
    use karat_llm::provider::ProviderEnv;
    use karat_llm::providers::open;
    let dir = StoreDir::new();
    let mut store = dir.store();
    let other = |name: &str| {
        let mut other = exchange(name, true);
        other.provider.model = "n".to_owned();
        other
    };
    put(&mut store, &[exchange("a", true), other("b"), exchange("c", false)]);
    let file = dir.folder.path().join("m.jsonl");
    assert_eq!(store.export_ledger_file(Some("m"), &file).unwrap(), 2);
    let config = JudgeConfigV1 {
        provider: "replay".to_owned(),
        file: Some(file.display().to_string()),
        ..JudgeConfigV1::default()
    };
    let replay = open(&config, &ProviderEnv { variable: &|_| None, folder: dir.folder.path() }).unwrap();
    assert_eq!(replay.id(), &exchange("a", true).provider);
    store.export_ledger_file(None, &file).unwrap();
    let mixed = open(&config, &ProviderEnv { variable: &|_| None, folder: dir.folder.path() });
    assert!(mixed.is_err(), "a replay of several models must be refused");
}
