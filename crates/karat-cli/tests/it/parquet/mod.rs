//! Tables in Parquet: written by every command that can, and read by DuckDB and Polars.

use crate::project::{Project, lines, report_skipped, root, suite, trial};
use karat_tables::{TABLES, Table};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Python with DuckDB and Polars, as `scripts/test-tools` installs them.
fn python() -> Option<PathBuf> {
    let tools = std::env::var_os("KARAT_TEST_TOOLS").filter(|folder| !folder.is_empty());
    let python = tools.map(|folder| PathBuf::from(folder).join("python3")).filter(|python| python.exists());
    let has_readers = |python: &PathBuf| {
        let import = Command::new(python).args(["-c", "import duckdb, polars"]).output();
        import.is_ok_and(|output| output.status.success())
    };
    let found = python.filter(has_readers);
    if found.is_none() {
        report_skipped("DuckDB and Polars are not installed; scripts/test-tools fetches them");
    }
    found
}

/// What DuckDB and Polars read of a folder in the project, and their answers to queries.
fn read_tables(python: &PathBuf, project: &Project, folder: &str, queries: &Value) -> Value {
    let script = root().join("crates/karat-cli/tests/it/parquet/read_tables.py").canonicalize().unwrap();
    let mut child = Command::new(python)
        .arg(script)
        .arg(folder)
        .current_dir(project.path("."))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(queries.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn page() -> String {
    std::fs::read_to_string(root().join("docs/tables.md")).unwrap()
}

/// The bodies of the page's blocks of a kind.
fn blocks(page: &str, kind: &str) -> Vec<String> {
    let open = format!("```{kind}\n");
    page.split(&open).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

fn no_queries() -> Value {
    json!({ "sql": [], "python": [] })
}

fn tools(report: &Value) -> BTreeMap<&str, &Value> {
    report["tools"].as_array().unwrap().iter().map(|tool| (tool["tool"].as_str().unwrap(), tool)).collect()
}

/// All trials of a tool in a report.
fn trials(tool: &Value) -> Vec<&Value> {
    tool["cases"].as_array().unwrap().iter().flat_map(|case| case["trials"].as_array().unwrap()).collect()
}

fn len(value: &Value, list: &str) -> u64 {
    value[list].as_array().map_or(0, Vec::len) as u64
}

#[test]
fn tables_say_what_the_report_says() {
    let Some(python) = python() else { return };
    let project = Project::new();
    project.run("run starter -q -o report.parquet/ -o report.json").expect(0);
    let report: Value = serde_json::from_str(&project.read("report.json")).unwrap();
    let page = page();
    let queries = json!({ "sql": blocks(&page, "sql"), "python": blocks(&page, "python") });
    assert_eq!((len(&queries, "sql"), len(&queries, "python")), (2, 1), "the page has three queries");
    let read = read_tables(&python, &project, "report.parquet", &queries);

    let tools = tools(&report);
    let all: Vec<&Value> = tools.values().flat_map(|tool| trials(tool)).collect();
    let sum = |list: &str| all.iter().map(|trial| len(trial, list)).sum::<u64>();
    for reader in ["duckdb", "polars"] {
        let rows = &read[reader]["rows"];
        assert_eq!(rows["trials"], all.len(), "{reader}");
        assert_eq!(rows["findings"], sum("findings"), "{reader}");
        let pairs = sum("matches") + sum("misses") + sum("acceptable") + sum("duplicates");
        assert!(rows["pairs"].as_u64().unwrap() >= pairs, "{reader}: {rows}, {pairs}");
        assert!(
            rows["judgements"].as_u64().unwrap() > 0 && rows["figures"].as_u64().unwrap() > 100,
            "{reader}: {rows}"
        );
        for (name, tool) in &tools {
            let sums = read[reader]["tools"][name].as_array().unwrap();
            let own = trials(tool);
            for (at, key) in ["tp", "fp", "fn"].iter().enumerate() {
                let expected: u64 = own.iter().map(|trial| trial[key].as_u64().unwrap()).sum();
                assert_eq!(sums[at].as_f64().unwrap(), expected as f64, "{reader} {name} {key}");
            }
            let findings: u64 = own.iter().map(|trial| len(trial, "findings")).sum();
            assert_eq!(sums[3].as_f64().unwrap(), findings as f64, "{reader} {name}");
            let cost = &report["measured"]["cost"][name]["usd"];
            close(&sums[4], cost.as_f64().unwrap_or_default());
            let latency = &report["measured"]["latency"][name];
            let whole = latency["mean_ms"].as_f64().unwrap_or_default() * latency["n"].as_f64().unwrap_or_default();
            close(&sums[5], whole);
        }
    }
    let kinds = |reader: &str, column: &str| read[reader]["types"][column].as_str().unwrap().to_owned();
    assert_eq!(kinds("duckdb", "started_at"), "TIMESTAMP WITH TIME ZONE");
    assert_eq!((kinds("duckdb", "tool"), kinds("duckdb", "counted")), ("VARCHAR".to_owned(), "BOOLEAN".to_owned()));
    assert_eq!(kinds("polars", "started_at"), "Datetime(time_unit='ms', time_zone='UTC')");
    assert_eq!((kinds("polars", "trial"), kinds("polars", "cost_usd")), ("Int64".to_owned(), "Float64".to_owned()));
    check_answers(&read["answers"], &report);
}

#[track_caller]
fn close(value: &Value, expected: f64) {
    let value = value.as_f64().unwrap_or_default();
    assert!((value - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{value} instead of {expected}");
}

/// The answers of the page's queries against the report: recall by severity, false alarms by reason, cost and time.
fn check_answers(answers: &Value, report: &Value) {
    let tools = tools(report);
    let severities: BTreeMap<(&str, &str), &Value> = report["cases"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|case| {
            let goldens = case["issues"].as_array().unwrap();
            goldens
                .iter()
                .map(|golden| ((case["case"].as_str().unwrap(), golden["id"].as_str().unwrap()), &golden["severity"]))
        })
        .collect();
    let mut goldens: BTreeMap<(String, String), [u64; 2]> = BTreeMap::new();
    let mut alarms: BTreeMap<String, u64> = BTreeMap::new();
    for (name, tool) in &tools {
        for case in tool["cases"].as_array().unwrap() {
            for trial in case["trials"].as_array().unwrap().iter().filter(|trial| trial["counted"] != false) {
                *alarms.entry((*name).to_owned()).or_default() += trial["fp"].as_u64().unwrap();
                for (list, is_found) in [("matches", 1), ("misses", 0)] {
                    for pair in trial[list].as_array().unwrap() {
                        let key = (case["case"].as_str().unwrap(), pair["golden"].as_str().unwrap());
                        let own = goldens.entry(((*name).to_owned(), severities[&key].to_string())).or_default();
                        *own = [own[0] + 1, own[1] + is_found];
                    }
                }
            }
        }
    }
    let recall = &answers[0];
    assert_eq!(recall["columns"], json!(["tool", "golden_severity", "goldens", "recall"]));
    assert_eq!(recall["rows"].as_array().unwrap().len(), goldens.len());
    for row in recall["rows"].as_array().unwrap() {
        let [all, found] = goldens[&(row[0].as_str().unwrap().to_owned(), row[1].to_string())];
        assert_eq!(row[2], all, "{row}");
        close(&row[3], found as f64 / all as f64);
    }
    let mut counted: BTreeMap<String, u64> = tools.keys().map(|tool| ((*tool).to_owned(), 0)).collect();
    for row in answers[1]["rows"].as_array().unwrap() {
        *counted.entry(row[0].as_str().unwrap().to_owned()).or_default() += row[2].as_u64().unwrap();
        assert!(row[1].is_string() && row[3].is_string(), "{row}");
    }
    assert_eq!(counted, alarms);
    let costs = answers[2]["rows"].as_array().unwrap();
    assert_eq!(costs.len(), tools.len());
    for row in costs {
        let name = row[0].as_str().unwrap();
        assert_eq!(row[1], trials(tools[name]).len(), "{name}");
        // What is unknown is null and not 0.
        let (usd, ms) =
            (&report["measured"]["cost"][name]["usd_per_case"], &report["measured"]["latency"][name]["mean_ms"]);
        for (value, stated) in [(&row[2], usd), (&row[3], ms)] {
            assert_eq!(value.is_null(), stated.is_null(), "{name}: {row}");
            close(value, stated.as_f64().unwrap_or_default());
        }
    }
}

/// A folder by any way has the same tables; only single voices are not stored.
#[test]
fn every_command_writes_the_same_tables() {
    let Some(python) = python() else { return };
    let project = Project::new();
    project.run("run starter -q -o run.parquet -o report.json").expect(0);
    project.run("report latest -q -o report.parquet").expect(0);
    project.run("score latest -q -o score.parquet").expect(0);
    project.run("score latest -q --detail none -o none.parquet").expect(0);
    let exported = project.json("store export latest --parquet export.parquet --json");
    let read = |folder: &str| read_tables(&python, &project, folder, &no_queries());
    let first = read("run.parquet");
    for folder in ["report.parquet", "score.parquet", "none.parquet", "export.parquet"] {
        assert_eq!(read(folder)["duckdb"], first["duckdb"], "{folder}");
    }
    // A run that keeps a small report has the same tables, but for the times of its own trials.
    project.run("run starter -q --detail none -o small.parquet").expect(0);
    assert_eq!(read("small.parquet")["duckdb"]["rows"], first["duckdb"]["rows"]);
    assert_eq!(exported["rows"], first["duckdb"]["rows"]);
    // Without its suite and submissions, a report file has neither costs nor judgements.
    project.run("report report.json -q -o file.parquet").expect(0);
    let file = read("file.parquet");
    assert_eq!(
        (&file["polars"]["rows"]["judgements"], &file["polars"]["rows"]["findings"]),
        (&json!(0), &first["polars"]["rows"]["findings"])
    );
}

#[test]
fn hostile_names_and_texts_are_read_back() {
    let Some(python) = python() else { return };
    // `../x` is refused as a name already where submissions are read.
    let names = ["a/b", "..a", "tool=b", "%2e%2e", "007", "é 🦀"];
    let findings = json!([{ "id": "f", "message": "a\u{0}b", "file": "a.py", "line_start": 1 }]);
    let submitted: Vec<Value> = names.iter().map(|name| trial("c", name, 1, findings.clone())).collect();
    let project = suite(&[json!({ "id": "c", "issues": [] })]).with("s.jsonl", lines(&submitted));
    project.run("score . --submission s.jsonl -q -o t.parquet").expect(0);
    assert!(project.path("t.parquet/trials/tool=a%2Fb/part-0.parquet").is_file());
    let read = read_tables(&python, &project, "t.parquet", &no_queries());
    for reader in ["duckdb", "polars"] {
        let tools = read[reader]["tools"].as_object().unwrap();
        assert_eq!(BTreeSet::from_iter(tools.keys().map(String::as_str)), BTreeSet::from(names), "{reader}");
        assert_eq!(read[reader]["rows"]["findings"], names.len(), "{reader}");
        assert_eq!(read[reader]["rows"]["judgements"], 0, "{reader}");
    }
}

#[test]
fn only_older_tables_are_replaced() {
    let project = Project::new();
    project.run("score starter -q -o t.parquet").expect(0);
    project.run("score starter -q -o t.parquet/").expect(0);
    project.write("t.parquet/notes.txt", "mine");
    let refused =
        &["t.parquet exists and holds more than Karat's tables (notes.txt); choose another name, or move it away"];
    project.run("score starter -q -o t.parquet").expect_error(2, refused);
    project.run("run starter -q -o t.parquet").expect_error(2, refused);
    // Nothing was run for a folder that cannot be written.
    assert!(!project.path(".karat").exists());
    assert_eq!(project.read("t.parquet/notes.txt"), "mine");
    project.run("score starter -q -o none/t.parquet").expect_error(5, &["none/t.parquet", "its folder does not exist"]);
    project.write("f.parquet", "mine");
    project.run("score starter -q -o f.parquet").expect_error(2, &["f.parquet exists", "it is no folder"]);
    let left: Vec<_> = std::fs::read_dir(project.path(".")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn columns_are_documented() {
    let page = page();
    let first = page.find("### trials").expect("the page has a section for each table");
    let expected: Vec<String> = TABLES.iter().map(|table| section(table)).collect();
    let expected = expected.join("\n");
    if page[first..] == expected {
        return;
    }
    assert!(
        std::env::var_os("KARAT_UPDATE").is_some(),
        "docs/tables.md does not list exactly these columns:\n{expected}"
    );
    std::fs::write(root().join("docs/tables.md"), format!("{}{expected}", &page[..first])).unwrap();
}

fn section(table: &Table) -> String {
    let mut text =
        format!("### {}\n\n{}\n\n| column | type | content |\n|---|---|---|\n", table.name, table.description);
    for column in table.columns {
        let null = if column.nullable { "?" } else { "" };
        text += &format!("| `{}` | {}{null} | {} |\n", column.name, column.kind.as_str(), column.description);
    }
    text
}
