//! Row hashes: every change of a row from outside is detected.

use super::*;
use crate::label::Answer;
use crate::tables::{REMOVED_OBJECTS, SETTINGS, TABLES};
use crate::{OnConflict, OnExisting, RunState, SessionDocument, StoreError};
use karat_core::judgement::Classification;
use karat_format::run::ToolFactsV1;
use karat_format::session::IngestedV1;
use karat_llm::judge_id::JudgeId;
use serde_json::json;
use std::path::Path;

on_each_engine!(reading_a_damaged_row_is_an_error, damaged_run_does_not_affect_others, deleted_rows_are_detected,);

fn judge() -> JudgeId {
    JudgeId { provider: "openai".into(), model: Some("m".into()), parameters: json!({}), prompt: None }
}

/// A store with rows in every table: a finished run with judgements, labels of all kinds, a ledger, a probe and a session.
pub(super) fn fill(dir: &StoreDir) -> RunId {
    let mut store = dir.store();
    let run = store.begin(&NewRun { name: Some("nightly".to_owned()), ..new_run(&["b", "a"]) }).unwrap();
    store.set_scratch(&run, Some(&dir.folder.path().join("scratch"))).unwrap();
    for tool in ["alpha", "zeta"] {
        store.set_tool(&run, &ToolName::new(tool), &ToolFactsV1::default()).unwrap();
    }
    store.save(&run, &all_records()).unwrap();
    store.set_judgements(&run, &[judgement("f1", 0.5), judgement("f2", 0.75)]).unwrap();
    store.finish(&run, RunState::Complete, Some(&b"{\"report\":1} ".repeat(100))).unwrap();
    for (title, name) in [("t", "anna"), ("u", "anna"), ("t", "bo")] {
        let labels = [
            super::labels::pair(title, name, Answer::YES),
            super::labels::extra(title, name, true),
            super::labels::audit(title, name, Classification::TargetMatch),
        ];
        store.add_labels(&labels, OnExisting::Refuse).unwrap();
    }
    let exchanges = ["a", "b", "c"].map(|name| super::ledger::exchange(name, true));
    store.ledger_put(&exchanges.iter().collect::<Vec<_>>()).unwrap();
    let sent = super::ledger::exchange("d", true).key;
    store.note_sent(&[&sent]).unwrap();
    let rate = json!({ "n": 10, "wrong": 1, "rate": 0.1, "ci": [0.0, 0.3], "unjudged": 0 });
    let probe = json!({ "suite": "s", "pairs": 10, "kinds": { "padding": rate }, "fooled": rate });
    store.add_probe(&judge(), &serde_json::from_value(probe).unwrap()).unwrap();
    let document = IngestedV1 { format: "markdown".to_owned(), sections: Vec::new(), notes: Vec::new() };
    let document = SessionDocument { name: "a.md".to_owned(), hash: "h1".to_owned(), reader: 1, document };
    store.save_documents("s", &[document]).unwrap();
    let rows =
        [(&SETTINGS, vec!["example".into(), "value".into()]), (&REMOVED_OBJECTS, vec!["ab12".into(), 5_i64.into()])];
    for (table, row) in rows {
        store.database.insert(table, vec![row], OnConflict::Fail).unwrap();
    }
    run
}

/// All readable data of a store, or the first error.
fn read_everything(folder: &Path) -> Result<String, StoreError> {
    let mut store = Store::read_only(folder)?;
    let mut text = String::new();
    for run in store.runs()? {
        let mut whole = Vec::new();
        store.export_run(&run.id, &mut whole)?;
        store.export(&run.id, &mut whole)?;
        text.push_str(&format!("{run:?}\n{}\n", String::from_utf8_lossy(&whole)));
        text.push_str(&format!("{:?}\n{:?}\n", store.finished_trials(&run.id)?, store.trials(&run.id)?));
        for record in all_records() {
            let key = crate::record::TrialKey::from_trial(&record.trial);
            text.push_str(&format!("{:?}\n", store.artifacts(&run.id, &key)?));
        }
    }
    text.push_str(&format!("{:?}\n{:?}\n", store.ledger_newest(100)?, store.label_history()?));
    text.push_str(&format!("{:?}\n{:?}\n", store.labelled_subjects("")?, store.latest_probe(&judge().key())?));
    text.push_str(&format!("{:?}\n{:?}\n", store.sessions()?, store.session_document("s", "a.md", "h1", 1)?));
    text.push_str(&format!("{:?}\n", store.scratch_folders()?));
    Ok(text)
}

fn verify_folder(folder: &Path) -> Result<Vec<String>, StoreError> {
    Ok(Store::read_only(folder)?.verify()?.into_iter().map(|problem| problem.message).collect())
}

#[test]
fn flipped_bits_are_detected_or_harmless() {
    let dir = StoreDir::new();
    fill(&dir);
    let intact = read_everything(&dir.folder()).unwrap();
    assert_eq!(verify_folder(&dir.folder()).unwrap(), [""; 0]);
    let whole = std::fs::read(dir.file()).unwrap();
    // Most bytes of a small file are unused.
    let used: Vec<usize> = (0..whole.len()).filter(|at| whole[*at] != 0).collect();
    let bits = used.len() as u64 * 8;
    let mut detected = 0;
    const FLIPS: u64 = 400;
    for flip in 0..FLIPS {
        let random = blake3::hash(&flip.to_le_bytes());
        let bit = u64::from_le_bytes(random.as_bytes()[..8].try_into().unwrap()) % bits;
        let mut bytes = whole.clone();
        bytes[used[usize::try_from(bit / 8).unwrap()]] ^= 1 << (bit % 8);
        std::fs::write(dir.file(), &bytes).unwrap();
        if verify_folder(&dir.folder()).is_ok_and(|problems| problems.is_empty()) {
            let content = read_everything(&dir.folder());
            assert!(content.as_ref().is_ok_and(|content| *content == intact), "bit {bit} went undetected: {content:?}");
        } else {
            detected += 1;
        }
    }
    assert!(detected > FLIPS / 4, "{detected} of {FLIPS}");
}

/// Changes each column of each table in turn.
#[test]
fn changed_rows_are_reported_with_their_table() {
    let dir = StoreDir::new();
    fill(&dir);
    let whole = std::fs::read(dir.file()).unwrap();
    for table in TABLES {
        for column in table.columns() {
            std::fs::write(dir.file(), &whole).unwrap();
            let mut store = dir.store();
            store.database.ignore_foreign_keys();
            for name in ["labels", "probes"] {
                store.database.drop_trigger(name, "are_never_overwritten");
            }
            let change = format!(
                "UPDATE {} SET {column} = CASE typeof({column}) WHEN 'integer' THEN {column} + 1000 \
                 WHEN 'real' THEN {column} / 2 ELSE COALESCE({column}, '') || 'x' END \
                 WHERE rowid = (SELECT MIN(rowid) FROM {})",
                table.name, table.name
            );
            store.database.script_sql(change);
            let problems: Vec<String> = store.verify().unwrap().into_iter().map(|problem| problem.message).collect();
            let expect = format!("1 row is not what was stored in the table `{}`", table.name);
            assert!(problems.iter().any(|problem| problem.contains(&expect)), "{} {column}: {problems:?}", table.name);
        }
    }
}

fn reading_a_damaged_row_is_an_error() {
    let check = |sql: &'static str, table: &str, read: &dyn Fn(&mut Store, &RunId) -> Option<StoreError>| {
        let dir = StoreDir::new();
        let run = fill(&dir);
        let mut store = dir.store();
        store.database.script(sql).unwrap();
        let error = read(&mut store, &run).unwrap();
        assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
        let error = error.to_string();
        assert!(error.contains(&format!("of the table `{table}` is not what was stored")), "{error}");
        assert!(error.contains("karat store verify"), "{error}");
    };
    let sql = "UPDATE trials SET line = replace(line, 'a flaw', 'a claw') WHERE position = 3";
    check(sql, "trials", &|store, run| store.trials(run).err());
    check(sql, "trials", &|store, run| store.finished_trials(run).err());
    check(sql, "trials", &|store, run| store.export_run(run, &mut Vec::new()).err());
    let sql = "UPDATE judgements SET line = replace(line, '0.5', '0.6')";
    check(sql, "judgements", &|store, run| store.judgements(run).err());
    let sql = "UPDATE ledger SET exchange = replace(exchange, '0.25', '0.35')";
    check(sql, "ledger", &|store, _| store.ledger_newest(10).err());
    let sql = "UPDATE runs SET planned = planned";
    let dir = StoreDir::new();
    fill(&dir);
    let mut store = dir.store();
    store.database.script(sql).unwrap();
    assert_eq!(store.verify().unwrap(), [], "an update to the same value is not damage");
    check("UPDATE runs SET created_ms = created_ms - 1", "runs", &|store, run| store.find(run.as_str()).err());
    check("UPDATE runs SET created_ms = created_ms - 1", "runs", &|store, _| store.runs().err());
    // Writing to a damaged row would hide the damage.
    check("UPDATE runs SET created_ms = created_ms - 1", "runs", &|store, run| store.reopen(run).err());
}

/// Other runs are still found by id and name.
fn damaged_run_does_not_affect_others() {
    let dir = StoreDir::new();
    let run = fill(&dir);
    let mut store = dir.store();
    let other = begin(&mut store);
    store.database.script("UPDATE runs SET planned = 9 WHERE name IS NULL").unwrap();
    assert_eq!(store.resolve_run("nightly").unwrap(), run);
    assert_eq!(store.find(run.as_str()).unwrap().id, run);
    for reference in ["latest", other.as_str()] {
        assert!(matches!(store.resolve_run(reference), Err(StoreError::Damaged { .. })), "{reference}");
    }
}

fn deleted_rows_are_detected() {
    let check = |sql: &'static str, expect: &str| {
        let dir = StoreDir::new();
        fill(&dir);
        let mut store = dir.store();
        store.database.ignore_foreign_keys();
        for name in ["labels", "probes"] {
            store.database.drop_trigger(name, "are_never_removed");
        }
        store.database.script(sql).unwrap();
        let problems: Vec<String> = store.verify().unwrap().into_iter().map(|problem| problem.message).collect();
        assert!(problems.iter().any(|problem| problem.contains(expect)), "{sql}: {problems:?}");
    };
    check("DELETE FROM trials WHERE position = 8", "is complete with 7 of 8 planned trials");
    check("DELETE FROM trials WHERE position = 2", "the table `trials` has 7 rows");
    check("DELETE FROM judgements WHERE position = 1", "the table `judgements` has 1 row");
    check("DELETE FROM labels WHERE sequence = 2", "the table `labels` has 8 rows");
}
