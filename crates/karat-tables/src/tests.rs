//! Tables are written and read back with the reader of the Parquet library.

use crate::column::ColumnType;
use crate::{ScoredCase, TABLES, TablesError, TablesHead, TablesWriter, TrialRecord};
use karat_core::finding::Finding;
use karat_core::ids::{CaseId, FindingId, GoldenId, JudgeName, ToolName};
use karat_core::judgement::{Decision, Judgement, UnjudgedPair};
use karat_core::trial::Trial;
use karat_format::report::{CaseInfoV1, CaseResultV1, ReportV1};
use karat_format::run::TrialDetailV1;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

fn report(tools: &[&str]) -> ReportV1 {
    let tool = |name: &&str| {
        let estimate = json!({ "value": 0.5, "ci": [0.25, 0.75], "n": 4, "direction": "up" });
        let undefined = json!({ "value": null, "undefined": "no audit", "n": 0, "direction": "down" });
        json!({
            "tool": name, "trials": 1, "outcomes": {}, "pass": false, "counts": { "tp": 1, "fp": 1, "fn": 1 },
            "verdicts": { "tp": 0.0, "fp": 0.0, "tn": 0.0, "fn": 0.0 }, "micro": {}, "macro_by": {}, "cases": [],
            "metrics": { "f1": estimate, "sui": undefined },
            "by": { "severity": { "high": { "metrics": { "recall": estimate }, "cases": 3 } } },
        })
    };
    let value = json!({
        "schema": "karat.report/1", "status": "ok", "seed": 1, "cases": [], "judges": [], "warnings": [],
        "suite": { "name": "tiny", "digest": "d", "cases": 1, "issues": 2 },
        "profile": { "name": "karat", "method": "score", "expect_pass": false, "headline": ["f1"] },
        "intervals": { "level": 0.95, "resamples": 1, "bootstrap": "bca", "proportions": "wilson" },
        "tools": tools.iter().map(tool).collect::<Vec<_>>(),
        "measured": { "latency": {}, "cost": {} },
    });
    serde_json::from_value(value).unwrap()
}

fn create(folder: &Path, tools: &[&str]) -> crate::Result<TablesWriter> {
    TablesWriter::create(folder, &TablesHead::of_report(&report(tools), None))
}

fn case() -> CaseInfoV1 {
    let value = json!({
        "case": "c", "verdict": "vulnerable", "fields": { "language": "rust" },
        "issues": [
            { "id": "g1", "title": "one", "severity": "high", "acceptance": "required" },
            { "id": "g2", "title": "two", "acceptance": "required" },
        ],
    });
    serde_json::from_value(value).unwrap()
}

/// A trial that found one golden, missed another, and reported one thing too much.
fn result() -> CaseResultV1 {
    let parts = json!({ "file": 1.0 });
    let value = json!({
        "case": "c", "pass": false, "metrics": {}, "trials": [{
            "trial": 1, "outcome": "reported", "verdict": null, "verdict_correct": false, "lucky_guess": null, "confidence": null,
            "tp": 1, "fp": 1, "fn": 1, "findings": [], "duplicates": [], "acceptable": [],
            "matches": [{ "golden": "g1", "finding": "a", "parts": parts, "decided_by": "score", "score": 0.9, "flags": ["ambiguous"] }],
            "misses": [{ "golden": "g2", "why": "none is near", "reason": { "kind": "no_candidate" }, "best": null, "flags": [],
                "refused": [{ "finding": "b", "judge": "local", "probability": 0.2, "threshold": 0.5 }] }],
            "extras": [{ "finding": "b", "why": "nothing is near", "reason": { "kind": "nothing_near" }, "flags": [],
                "refused": [{ "golden": "g2", "judge": "local", "probability": 0.2, "threshold": 0.5 }] }],
        }],
    });
    serde_json::from_value(value).unwrap()
}

fn trial(tool: &str) -> Trial {
    let finding = |id: &str, message: &str| Finding { message: Some(message.to_owned()), ..Finding::new(id) };
    Trial {
        cost_usd: Some(0.0125),
        findings: vec![finding("a", "a\0b \u{1f980}"), finding("b", "")],
        ..Trial::reported(CaseId::new("c"), ToolName::new(tool), 1)
    }
}

fn write(folder: &Path, tool: &str) -> crate::Result<crate::TableCounts> {
    let (case, result, trial) = (case(), result(), trial(tool));
    let detail = TrialDetailV1 { started_ms: 1_700_000_000_123, ..TrialDetailV1::default() };
    let head = report(&[tool]);
    let mut tables = TablesWriter::create(folder, &TablesHead::of_report(&head, Some("run-1")))?;
    let trials = [TrialRecord { trial: &trial, stored: Some((2, &detail)) }];
    tables.add_case(&ScoredCase { case: &case, tool, facts: None, model: None, result: &result, trials: &trials })?;
    tables.add_figures(&head)?;
    let unjudged =
        UnjudgedPair { golden: GoldenId::new("g2"), finding: FindingId::new("b"), why: "no answer".to_owned() };
    let judgement = Judgement {
        case: CaseId::new("c"),
        tool: ToolName::new(tool),
        trial: 1,
        judge: JudgeName::new("human:anna"),
        decision: Decision::Unjudged(unjudged),
        exchange: None,
    };
    tables.add_judgement(&judgement, true)?;
    tables.finish()
}

/// All files of a table, by path.
fn parts(folder: &Path, table: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.join(table)];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { open.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// The rows of a table, each with its values by column.
fn rows(folder: &Path, table: &str) -> Vec<BTreeMap<String, Value>> {
    let value = |field: &Field| match field {
        Field::Null => Value::Null,
        Field::Bool(value) => json!(value),
        Field::Long(value) | Field::TimestampMillis(value) => json!(value),
        Field::Double(value) => json!(value),
        Field::Str(value) => json!(value),
        other => panic!("{other:?}"),
    };
    let mut found = Vec::new();
    for part in parts(folder, table) {
        let reader = SerializedFileReader::new(File::open(part).unwrap()).unwrap();
        for row in reader.get_row_iter(None).unwrap() {
            let row = row.unwrap();
            found.push(row.get_column_iter().map(|(name, field)| (name.clone(), value(field))).collect());
        }
    }
    found
}

#[test]
fn one_case_becomes_rows_of_every_table() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("t.parquet");
    let counts = write(&folder, "scan").unwrap();
    assert_eq!(
        Vec::from_iter(counts),
        [("figures", 3), ("findings", 2), ("judgements", 1), ("pairs", 3), ("trials", 1)]
    );

    let trials = rows(&folder, "trials");
    let expect = |row: &BTreeMap<String, Value>, values: Value| {
        for (column, value) in values.as_object().unwrap() {
            assert_eq!(&row[column], value, "{column}");
        }
    };
    expect(
        &trials[0],
        json!({ "tool": "scan", "run_id": "run-1", "suite": "tiny", "case_id": "c", "language": "rust", "attempt": 2,
            "started_at": 1_700_000_000_123_i64, "cost_usd": 0.0125, "cost_micro_usd": 12_500, "latency_ms": null,
            "true_positives": 1, "findings": 2, "verdict": null, "true_verdict": "vulnerable", "notes": null }),
    );
    let findings = rows(&folder, "findings");
    expect(
        &findings[0],
        json!({ "finding_id": "a", "message": "a\0b \u{1f980}", "outcome": "match", "false_positive": false, "golden_id": "g1",
            "golden_severity": "high", "flags": "ambiguous", "why": null, "severity": null }),
    );
    // An empty text is a text.
    expect(
        &findings[1],
        json!({ "message": "", "outcome": "extra", "false_positive": true, "reason": "nothing_near", "why": "nothing is near" }),
    );
    let pairs = rows(&folder, "pairs");
    expect(
        &pairs[0],
        json!({ "outcome": "match", "score": 0.9, "score_file": 1.0, "decided_by": "score", "judge": null }),
    );
    expect(&pairs[1], json!({ "outcome": "miss", "golden_id": "g2", "finding_id": null, "reason": "no_candidate" }));
    // It is refused for the golden and for the finding, and is one pair.
    expect(
        &pairs[2],
        json!({ "outcome": "refused", "finding_id": "b", "judge": "local", "probability": 0.2, "score": null }),
    );
    let judgements = rows(&folder, "judgements");
    expect(
        &judgements[0],
        json!({ "decision": "unjudged", "is_person": true, "explanation": "no answer", "decides": true }),
    );
    let figures = rows(&folder, "figures");
    expect(
        &figures[0],
        json!({ "scope": "suite", "metric": "f1", "value": 0.5, "ci_low": 0.25, "higher_is_better": true }),
    );
    expect(&figures[1], json!({ "metric": "sui", "value": null, "undefined": "no audit", "higher_is_better": false }));
    expect(&figures[2], json!({ "scope": "slice", "dimension": "severity", "slice": "high" }));
}

#[test]
fn without_its_trial_a_row_has_what_the_report_says() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("t.parquet");
    let (case, mut result) = (case(), result());
    result.trials[0].findings =
        serde_json::from_value(json!([{ "id": "a", "title": "overflow", "file": "a.c", "line_start": 3 }])).unwrap();
    let mut tables = create(&folder, &["scan"]).unwrap();
    let scored = ScoredCase { case: &case, tool: "scan", facts: None, model: None, result: &result, trials: &[] };
    tables.add_case(&scored).unwrap();
    tables.finish().unwrap();
    let (trials, findings) = (rows(&folder, "trials"), rows(&folder, "findings"));
    assert_eq!(
        (&trials[0]["findings"], &trials[0]["cost_usd"], &trials[0]["run_id"]),
        (&json!(1), &Value::Null, &Value::Null)
    );
    assert_eq!((&findings[0]["title"], &findings[0]["message"]), (&json!("overflow"), &Value::Null));
}

#[test]
fn table_without_rows_has_its_columns() {
    let root = tempfile::tempdir().unwrap();
    for tools in [&["scan", "../x"][..], &[]] {
        let folder = root.path().join(format!("{}.parquet", tools.len()));
        create(&folder, tools).unwrap().finish().unwrap();
        for table in TABLES {
            let parts = parts(&folder, table.name);
            assert_eq!(parts.len(), tools.len().max(1), "{parts:?}");
            let reader = SerializedFileReader::new(File::open(&parts[0]).unwrap()).unwrap();
            let metadata = reader.metadata().file_metadata();
            assert_eq!(metadata.num_rows(), 0);
            let names: Vec<&str> = metadata.schema().get_fields().iter().map(|field| field.name()).collect();
            assert_eq!(names, table.columns.iter().map(|column| column.name).collect::<Vec<_>>());
        }
    }
    assert!(root.path().join("2.parquet/trials/tool=..%2Fx/part-0.parquet").is_file());
}

#[test]
fn hostile_names_stay_in_the_folder_and_in_the_column() {
    let root = tempfile::tempdir().unwrap();
    let long = "x/".repeat(200);
    for tool in ["../x", "a/b", "..", "", "a\0b", "tool=b", "é 🦀", &long] {
        let folder = root.path().join("t.parquet");
        write(&folder, tool).unwrap();
        assert_eq!(rows(&folder, "trials")[0]["tool"], tool);
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1, "{tool}");
    }
}

#[test]
fn very_long_text_is_kept() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("t.parquet");
    let (case, result, mut trial) = (case(), result(), trial("scan"));
    let text = "é".repeat(20 << 20);
    trial.findings[0].message = Some(text.clone());
    trial.findings[1].message = Some(text.clone());
    let mut tables = create(&folder, &["scan"]).unwrap();
    let trials = [TrialRecord { trial: &trial, stored: None }];
    tables
        .add_case(&ScoredCase { case: &case, tool: "scan", facts: None, model: None, result: &result, trials: &trials })
        .unwrap();
    tables.finish().unwrap();
    // Each is larger than a part.
    assert_eq!(parts(&folder, "findings").len(), 2);
    assert!(rows(&folder, "findings").iter().all(|row| row["message"] == text));
}

/// More findings than a part holds are written in several parts, in order, and never all in memory.
#[test]
fn many_findings_are_written_in_parts() {
    const FINDINGS: usize = 150_000;
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("t.parquet");
    let (case, result) = (case(), result());
    let mut tables = create(&folder, &["scan"]).unwrap();
    let mut most = 0;
    for batch in 0..FINDINGS / 1_000 {
        let findings = (0..1_000).map(|at| Finding::new(format!("f{}", batch * 1_000 + at))).collect();
        let trial = Trial { findings, ..trial("scan") };
        let trials = [TrialRecord { trial: &trial, stored: None }];
        let scored =
            ScoredCase { case: &case, tool: "scan", facts: None, model: None, result: &result, trials: &trials };
        tables.add_case(&scored).unwrap();
        most = most.max(tables.bytes_in_memory());
    }
    let counts = tables.finish().unwrap();
    assert_eq!(counts["findings"], FINDINGS as u64);
    assert!(most < 20 << 20, "{most} bytes in memory");
    assert_eq!(parts(&folder, "findings").len(), FINDINGS.div_ceil(1 << 16));
    let ids = rows(&folder, "findings").into_iter().map(|row| row["finding_id"].as_str().unwrap().to_owned());
    assert!(ids.eq((0..FINDINGS).map(|at| format!("f{at}"))));
}

/// A writer that fails leaves nothing, keeps the old tables and names the file.
#[cfg(unix)]
#[test]
fn failure_names_the_file_and_leaves_the_old_tables() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("t.parquet");
    write(&folder, "old").unwrap();
    let tables = create(&folder, &["new"]).unwrap();
    let unfinished = fs::read_dir(root.path()).unwrap().map(|entry| entry.unwrap().path());
    let unfinished = unfinished.into_iter().find(|path| *path != folder).unwrap();
    // A file that cannot be made stands for a full disk.
    fs::create_dir_all(unfinished.join("findings/tool=new")).unwrap();
    fs::write(unfinished.join("findings/tool=new/part-0.parquet"), "").unwrap();
    let error = tables.finish().unwrap_err();
    assert!(matches!(error, TablesError::Unwritten { .. }), "{error}");
    let file = folder.canonicalize().unwrap().join("findings/tool=new/part-0.parquet");
    assert!(error.to_string().starts_with(&format!("{} cannot be written", file.display())), "{error}");
    assert_eq!(rows(&folder, "trials")[0]["tool"], "old");
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
}

#[test]
fn columns_are_described_once_each() {
    for table in TABLES {
        let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        let distinct: std::collections::BTreeSet<&&str> = names.iter().collect();
        assert_eq!(distinct.len(), names.len(), "{}", table.name);
        assert_eq!((names[0], names[1]), ("tool", "run_id"));
        assert!(table.columns.iter().all(|column| !column.description.contains(['|', '\n'])));
        assert!(table.columns.iter().any(|column| column.kind == ColumnType::Text));
    }
}
