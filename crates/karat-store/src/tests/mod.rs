//! Tests of the store as a whole: durability, concurrency, damage, transfer, garbage collection.

/// Makes a test of each function on each engine.
macro_rules! on_each_engine {
    ($($test:ident),+ $(,)?) => {
        mod on_sqlite {
            $(#[test]
            fn $test() {
                crate::tests::on_sqlite(super::$test);
            })+
        }

        mod on_postgres {
            $(#[test]
            fn $test() {
                crate::tests::on_postgres(super::$test);
            })+
        }
    };
}

pub(crate) use on_each_engine;

mod concurrency;
mod copy;
mod faults;
mod gc;
mod hashes;
mod imports;
mod labels;
mod ledger;
mod objects;
mod queue;
mod runs;
mod server;
mod transfer;

use super::{NewRun, RunId, Store, StoreLocation};
use crate::record::{Artifact, TrialRecord};
use karat_core::finding::Finding;
use karat_core::ids::{CaseId, ToolName};
use karat_core::trial::{Outcome, Trial};
use karat_format::judgement::JudgementV1;
use karat_format::run::{PlanV1, TrialDetailV1};
use karat_test_servers::Postgres;
use std::cell::Cell;
use std::ffi::OsString;
use std::path::PathBuf;
use tempfile::TempDir;

std::thread_local! {
    static SERVER: Cell<Option<&'static Postgres>> = const { Cell::new(None) };
}

pub(crate) fn on_sqlite(test: fn()) {
    test();
}

/// Runs a test on new databases of a real server.
pub(crate) fn on_postgres(test: fn()) {
    match Postgres::shared() {
        Err(why) => skipped(&why),
        Ok(server) => {
            SERVER.set(Some(server));
            test();
        }
    }
}

/// A place for a store: a temporary folder, or a new database if the test runs on a server.
pub(crate) struct StoreDir {
    folder: TempDir,
    url: Option<String>,
}

impl StoreDir {
    pub(crate) fn new() -> Self {
        let url = SERVER.get().map(|server| server.new_database().unwrap());
        Self { folder: tempfile::tempdir().unwrap(), url }
    }

    /// A folder, also if the test runs on a server.
    fn in_folder() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), url: None }
    }

    pub(crate) fn location(&self) -> StoreLocation {
        StoreLocation::parse(self.location_text()).unwrap()
    }

    /// With the password.
    fn location_text(&self) -> OsString {
        self.url.as_ref().map_or_else(|| self.folder().into(), Into::into)
    }

    fn folder(&self) -> PathBuf {
        self.folder.path().join(".karat")
    }

    fn file(&self) -> PathBuf {
        self.folder().join("karat.db")
    }

    pub(crate) fn store(&self) -> Store {
        Store::create(self.location()).unwrap()
    }
}

/// A plan of two tools with two trials on each of these cases.
fn plan(cases: &[&str]) -> PlanV1 {
    let tool = |name: &str| {
        serde_json::json!({
            "name": name, "kind": "command", "trials": 2, "isolation": "none",
            "manifest": { "command": ["scan", "{checkout}"] },
        })
    };
    serde_json::from_value(serde_json::json!({
        "schema": "karat.plan/1",
        "suite": { "name": "tiny", "place": "tiny", "digest": "d1", "cases": cases.len() },
        "profile": { "name": "karat", "method": "score", "expect_pass": false, "headline": ["f1"] },
        "seed": 1,
        "tools": [tool("zeta"), tool("alpha")],
        "cases": cases,
    }))
    .unwrap()
}

fn new_run(cases: &[&str]) -> NewRun {
    NewRun { name: None, plan: plan(cases), suite_snapshot: b"{\"cases\":[]}".to_vec(), scratch: None }
}

/// Begins a run over the cases `a` and `b`.
pub(crate) fn begin(store: &mut Store) -> RunId {
    store.begin(&new_run(&["b", "a"])).unwrap()
}

/// A trial with one finding and some output.
pub(crate) fn record(tool: &str, case: &str, number: u32) -> TrialRecord {
    let finding = Finding { title: Some("a flaw".to_owned()), ..Finding::new("f1") };
    let trial = Trial { findings: vec![finding], ..Trial::reported(CaseId::new(case), ToolName::new(tool), number) };
    let printed = format!("{tool} looks at {case}, {number}\n").repeat(40);
    let artifact = |name: &str, bytes: &[u8]| Artifact { name: name.to_owned(), bytes: bytes.to_vec() };
    TrialRecord {
        trial,
        attempt: 1,
        detail: TrialDetailV1 { started_ms: 5, exit: Some(0), ..TrialDetailV1::default() },
        artifacts: vec![artifact("stdout", printed.as_bytes()), artifact("stderr", b"")],
    }
}

fn judgement(finding: &str, confidence: f64) -> JudgementV1 {
    serde_json::from_value(serde_json::json!({
        "kind": "pair", "case": "a", "tool": "zeta", "trial": 1, "judge": "human:ada", "golden": "g1",
        "finding": finding, "match": true, "confidence": confidence,
    }))
    .unwrap()
}

fn failed(record: TrialRecord, attempt: u32, reason: &str) -> TrialRecord {
    let trial = Trial { outcome: Outcome::Crashed, findings: Vec::new(), ..record.trial };
    let detail = TrialDetailV1 { reason: Some(reason.to_owned()), exit: Some(3), ..record.detail };
    TrialRecord { trial, attempt, detail, artifacts: record.artifacts }
}

/// All trials of a run over `a` and `b`.
fn all_records() -> Vec<TrialRecord> {
    let mut records = Vec::new();
    for tool in ["alpha", "zeta"] {
        for case in ["a", "b"] {
            records.extend([1, 2].map(|number| record(tool, case, number)));
        }
    }
    records
}

/// The trials of a run as short texts, in the order of completion.
fn trial_lines(store: &mut Store, run: &RunId) -> Vec<String> {
    let line = |stored: &super::StoredTrial| {
        let trial = &stored.trial;
        format!("{} {} {} {} {}", trial.tool, trial.case, trial.number, stored.attempt, trial.outcome.as_str())
    };
    store.trials(run).unwrap().iter().map(line).collect()
}

#[expect(clippy::print_stderr, reason = "a skipped test must not pass silently")]
fn skipped(why: &str) {
    eprintln!("skipped: {why}");
}
