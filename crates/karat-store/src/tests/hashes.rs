//! Every row has a hash, and whatever changes a row afterwards is noticed.

use super::*;
use crate::database::{Access, Database};
use crate::label::Answer;
use crate::tables::TABLES;
use crate::{NewDocument, OnExisting, RunState, StoreError, schema};
use karat_core::judgement::Classification;
use karat_format::run::ToolFactsV1;
use karat_format::session::IngestedV1;
use karat_llm::judge_id::JudgeId;
use karat_llm::ledger::Ledger;
use serde_json::json;
use std::path::Path;

fn judge() -> JudgeId {
    JudgeId { provider: "openai".into(), model: Some("m".into()), parameters: json!({}), prompt: None }
}

/// A store with rows in every table: a finished run with judgements, labels of all kinds, a ledger, a probe and a session.
fn fill(place: &Place) -> RunId {
    let mut store = place.store();
    let run = store.begin(&NewRun { name: Some("nightly".to_owned()), ..new_run(&["b", "a"]) }).unwrap();
    store.set_scratch(&run, Some(&place.folder.path().join("scratch"))).unwrap();
    for tool in ["alpha", "zeta"] {
        store.set_tool(&run, &ToolName::new(tool), &ToolFactsV1::default()).unwrap();
    }
    store.save(&run, &all_records()).unwrap();
    store.set_judgements(&run, &[judgement("f1", 0.5), judgement("f2", 0.75)]).unwrap();
    store.finish(&run, RunState::Complete, Some(&b"{\"report\":1} ".repeat(100))).unwrap();
    for (title, name) in [("t", "anna"), ("u", "anna"), ("t", "bo")] {
        store.add_label(&super::labels::new_label(title, name, Answer::YES), OnExisting::Refuse).unwrap();
        let extra = super::extra_labels::new_label(title, name, true);
        store.add_extra_labels(&[extra], OnExisting::Refuse).unwrap();
        let audit = super::audit_labels::new_label(title, name, Classification::TargetMatch);
        store.add_audit_labels(&[audit], OnExisting::Refuse).unwrap();
    }
    let exchanges = ["a", "b", "c"].map(|name| super::ledger::exchange(name, true));
    store.ledger_put(&exchanges.iter().collect::<Vec<_>>()).unwrap();
    store.mark_sent(&[&super::ledger::exchange("d", true).key]).unwrap();
    let rate = json!({ "n": 10, "wrong": 1, "rate": 0.1, "ci": [0.0, 0.3], "unjudged": 0 });
    let probe = json!({ "suite": "s", "pairs": 10, "kinds": { "padding": rate }, "fooled": rate });
    store.add_probe(&judge(), &serde_json::from_value(probe).unwrap()).unwrap();
    let document = IngestedV1 { format: "markdown".to_owned(), sections: Vec::new(), notes: Vec::new() };
    let document = NewDocument { name: "a.md".to_owned(), hash: "h1".to_owned(), reader: 1, document };
    store.save_documents("s", &[document]).unwrap();
    run
}

/// All that any reader can see of a store, or the first thing that cannot be read.
fn content(folder: &Path) -> Result<String, StoreError> {
    let mut store = Store::read_only(folder)?;
    let mut seen = String::new();
    for run in store.runs()? {
        let mut whole = Vec::new();
        store.export_run(&run.id, &mut whole)?;
        store.export(&run.id, &mut whole)?;
        seen.push_str(&format!("{run:?}\n{}\n", String::from_utf8_lossy(&whole)));
        seen.push_str(&format!("{:?}\n{:?}\n", store.done(&run.id)?, store.trials(&run.id)?));
        for record in all_records() {
            let key = crate::record::TrialKey::from_trial(&record.trial);
            seen.push_str(&format!("{:?}\n", store.artifacts(&run.id, &key)?));
        }
    }
    seen.push_str(&format!("{:?}\n{:?}\n", store.ledger_newest(100)?, store.label_history()?));
    seen.push_str(&format!("{:?}\n{:?}\n", store.extra_label_history()?, store.audit_label_history()?));
    seen.push_str(&format!("{:?}\n{:?}\n", store.labelled_pairs("")?, store.labelled_extras("")?));
    seen.push_str(&format!("{:?}\n{:?}\n", store.labelled_audits("")?, store.latest_probe(&judge().key())?));
    seen.push_str(&format!("{:?}\n{:?}\n", store.sessions()?, store.session_document("s", "a.md", "h1", 1)?));
    seen.push_str(&format!("{:?}\n", store.scratch_folders()?));
    Ok(seen)
}

fn verified(folder: &Path) -> Result<Vec<String>, StoreError> {
    Ok(Store::read_only(folder)?.verify()?.into_iter().map(|problem| problem.message).collect())
}

#[test]
fn every_flipped_bit_is_noticed_or_changes_nothing() {
    let place = Place::new();
    fill(&place);
    let intact = content(&place.folder()).unwrap();
    assert_eq!(verified(&place.folder()).unwrap(), [""; 0]);
    let whole = std::fs::read(place.file()).unwrap();
    // Most of a small file is room that nothing uses.
    let used: Vec<usize> = (0..whole.len()).filter(|at| whole[*at] != 0).collect();
    let bits = used.len() as u64 * 8;
    let mut noticed = 0;
    const FLIPS: u64 = 400;
    for flip in 0..FLIPS {
        let random = blake3::hash(&flip.to_le_bytes());
        let bit = u64::from_le_bytes(random.as_bytes()[..8].try_into().unwrap()) % bits;
        let mut bytes = whole.clone();
        bytes[used[usize::try_from(bit / 8).unwrap()]] ^= 1 << (bit % 8);
        std::fs::write(place.file(), &bytes).unwrap();
        if verified(&place.folder()).is_ok_and(|problems| problems.is_empty()) {
            let seen = content(&place.folder());
            assert!(seen.as_ref().is_ok_and(|seen| *seen == intact), "bit {bit} went unnoticed: {seen:?}");
        } else {
            noticed += 1;
        }
    }
    assert!(noticed > FLIPS / 4, "{noticed} of {FLIPS}");
}

/// Each column of each row of each table is changed in turn.
#[test]
fn a_changed_row_of_any_table_is_named() {
    let place = Place::new();
    fill(&place);
    let whole = std::fs::read(place.file()).unwrap();
    for table in TABLES {
        for column in table.columns {
            std::fs::write(place.file(), &whole).unwrap();
            let mut store = place.store();
            store.database.script("PRAGMA foreign_keys = OFF").unwrap();
            for name in ["labels", "extra_labels", "audit_labels", "probes"] {
                store.database.script_sql(format!("DROP TRIGGER {name}_are_never_overwritten"));
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

#[test]
fn a_damaged_row_is_refused_wherever_it_is_read() {
    let check = |sql: &'static str, table: &str, read: &dyn Fn(&mut Store, &RunId) -> Option<StoreError>| {
        let place = Place::new();
        let run = fill(&place);
        let mut store = place.store();
        store.database.script(sql).unwrap();
        let error = read(&mut store, &run).unwrap();
        assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
        let error = error.to_string();
        assert!(error.contains(&format!("of the table `{table}` is not what was stored")), "{error}");
        assert!(error.contains("karat store verify"), "{error}");
    };
    let sql = "UPDATE trials SET line = replace(line, 'a flaw', 'a claw') WHERE position = 3";
    check(sql, "trials", &|store, run| store.trials(run).err());
    check(sql, "trials", &|store, run| store.done(run).err());
    check(sql, "trials", &|store, run| store.export_run(run, &mut Vec::new()).err());
    let sql = "UPDATE judgements SET line = replace(line, '0.5', '0.6')";
    check(sql, "judgements", &|store, run| store.judgements(run).err());
    let sql = "UPDATE ledger SET exchange = replace(exchange, '0.25', '0.35')";
    check(sql, "ledger", &|store, _| store.ledger_newest(10).err());
    let sql = "UPDATE runs SET planned = planned";
    let place = Place::new();
    fill(&place);
    let mut store = place.store();
    store.database.script(sql).unwrap();
    assert_eq!(store.verify().unwrap(), [], "an equal value is no damage");
    check("UPDATE runs SET created_ms = created_ms - 1", "runs", &|store, run| store.find(run.as_str()).err());
    check("UPDATE runs SET created_ms = created_ms - 1", "runs", &|store, _| store.runs().err());
    // A change on top of damage would hide it.
    check("UPDATE runs SET created_ms = created_ms - 1", "runs", &|store, run| store.reopen(run).err());
}

/// Where the row of one run is damaged, the others are found by their ids and names.
#[test]
fn a_damaged_run_costs_no_other() {
    let place = Place::new();
    let run = fill(&place);
    let mut store = place.store();
    let other = begin(&mut store);
    store.database.script("UPDATE runs SET planned = 9 WHERE name IS NULL").unwrap();
    assert_eq!(store.resolve_run("nightly").unwrap(), run);
    assert_eq!(store.find(run.as_str()).unwrap().id, run);
    for reference in ["latest", other.as_str()] {
        assert!(matches!(store.resolve_run(reference), Err(StoreError::Damaged { .. })), "{reference}");
    }
}

#[test]
fn rows_that_are_gone_are_noticed() {
    let check = |sql: &'static str, expect: &str| {
        let place = Place::new();
        fill(&place);
        let mut store = place.store();
        store.database.script("PRAGMA foreign_keys = OFF").unwrap();
        for name in ["labels", "extra_labels", "audit_labels", "probes"] {
            store.database.script_sql(format!("DROP TRIGGER {name}_are_never_removed"));
        }
        store.database.script(sql).unwrap();
        let problems: Vec<String> = store.verify().unwrap().into_iter().map(|problem| problem.message).collect();
        assert!(problems.iter().any(|problem| problem.contains(expect)), "{sql}: {problems:?}");
    };
    check("DELETE FROM trials WHERE position = 8", "is complete with 7 of 8 planned trials");
    check("DELETE FROM trials WHERE position = 2", "the table `trials` has 7 rows");
    check("DELETE FROM judgements WHERE position = 1", "the table `judgements` has 1 row");
    check("DELETE FROM labels WHERE sequence = 2", "the table `labels` has 2 rows");
    check("DELETE FROM extra_labels WHERE sequence = 1", "the table `extra_labels` has 2 rows");
    check("DELETE FROM audit_labels WHERE sequence = 1", "the table `audit_labels` has 2 rows");
    check("DELETE FROM karat_schema WHERE version = 1", "the table `karat_schema`");
}

/// What a store of any earlier version kept is there afterwards, and every row has its hash.
#[test]
fn a_store_of_every_version_is_brought_up_to_date() {
    let full = Place::new();
    let run = fill(&full);
    for version in 1..schema::latest_version() {
        let place = Place::new();
        std::fs::create_dir_all(place.folder()).unwrap();
        let mut database = Database::connect(&place.file(), Access::Write).unwrap();
        schema::migrate_to(&mut database, version).unwrap();
        database.script("PRAGMA foreign_keys = OFF").unwrap();
        database.script_sql(format!("ATTACH '{}' AS full_store", full.file().display()));
        let tables = database.tables().unwrap();
        for table in
            TABLES.iter().filter(|table| table.name != "karat_schema" && tables.contains(&table.name.to_owned()))
        {
            let there = database.columns(table.name);
            let columns: Vec<&str> =
                table.columns.iter().copied().filter(|column| there.iter().any(|own| own == column)).collect();
            let columns = columns.join(", ");
            database.script_sql(format!(
                "INSERT INTO main.{0} ({columns}) SELECT {columns} FROM full_store.{0}",
                table.name
            ));
        }
        if version == 1 {
            database.script("INSERT INTO run_tools SELECT id, 'zeta', '{\"isolation\":\"full\"}' FROM runs").unwrap();
        }
        drop(database);
        let mut store = place.store();
        assert_eq!(store.verify().unwrap(), [], "version {version}");
        assert_eq!(schema::version(&mut store.database).unwrap(), schema::latest_version());
        assert_eq!(store.done(&run).unwrap().len(), 8, "version {version}");
        if version == 1 {
            assert_eq!(store.tools(&run).unwrap()["zeta"].isolation, "full");
            assert_eq!(store.scratch_folders().unwrap().len(), 1);
        }
        if version >= 8 {
            drop(store);
            assert_eq!(content(&place.folder()).unwrap(), content(&full.folder()).unwrap());
        }
    }
}
