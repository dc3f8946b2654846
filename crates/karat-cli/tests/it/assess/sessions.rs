//! What is stored between assessments: parsed documents of a session, and logs.

use super::{AGREEMENT, RECORD_FILE, project};
use crate::project::number;
use serde_json::{Value, json};

const FAST: &str = "--no-rerank --resamples 200";

#[test]
fn session_caches_parsed_documents() {
    let project = project("");
    let run = || project.json(&format!("assess {RECORD_FILE} {FAST} --session may --json -q"));
    let first = run();
    assert_eq!((number(&first, "/measured/documents_reused"), &first["measured"]["session_id"]), (0.0, &json!("may")));
    let second = run();
    assert_eq!(number(&second, "/measured/documents_reused"), 1.0);
    assert_eq!((&first["assessments"], &first["retrieval"]), (&second["assessments"], &second["retrieval"]));
    // Changed documents are parsed again.
    project.write("docs/services.md", format!("{AGREEMENT}\n## 6.1 Notices\n\nNotices are sent by post.\n"));
    let third = run();
    assert_eq!(number(&third, "/measured/documents_reused"), 0.0);
    assert_eq!(number(&third, "/bundles/0/documents/0/sections"), 8.0);
    assert!(project.ok("store verify").contains("1 session"));
    project.run("store gc --session june").expect_error(2, &["unknown session `june`; available: may"]);
    project.ok("store gc --session may --dry-run");
    project.ok("store gc --session may");
    assert_eq!(number(&run(), "/measured/documents_reused"), 0.0);
}

#[test]
fn logs_record_identity_and_totals() {
    let project = project("");
    project.ok(&format!("assess {RECORD_FILE} {FAST} --session may -q"));
    let summary: Value = project.json("logs summarize --run latest --json");
    assert_eq!((&summary["session_id"], &summary["assessment_mode"]), (&json!("may"), &json!("full")));
    assert_eq!((&summary["bundles"], &summary["requirements"]), (&json!(1), &json!(4)));
    assert_eq!(summary["templates"], json!(["security"]));
    let stages: Vec<&str> =
        summary["stages"].as_array().unwrap().iter().map(|s| s["stage"].as_str().unwrap()).collect();
    assert_eq!(stages, ["ingest", "search"]);
    assert!(summary["ended"].is_string());
    let id = project.ok("logs list").trim().to_owned();
    let log = project.read(&format!(".karat/logs/{id}.jsonl"));
    for line in log.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        for (key, expect) in [("batch_run_id", id.as_str()), ("session_id", "may"), ("assessment_mode", "full")] {
            assert_eq!(line[key], expect, "{line}");
        }
        if line["event"] == "assessed" {
            assert_eq!((&line["template_id"], &line["evaluation_model"]), (&json!("security"), &json!("baseline")));
            assert!(line["requirement_id"].is_string(), "{line}");
        }
    }
    assert_eq!(log.lines().filter(|line| line.contains("\"assessed\"")).count(), 4);
    let drawn = project.ok(&format!("logs summarize --run {}", &id[..10]));
    assert!(drawn.contains("ingest") && drawn.contains("p99"), "{drawn}");
    project.run("logs summarize --run nothing").expect_error(2, &["there is no log `nothing`"]);
}

#[test]
fn unwritable_log_does_not_fail_the_assessment() {
    let project = project("");
    project.write(".karat/logs", "a file is in the way");
    let ran =
        project.run(&format!("assess {RECORD_FILE} {FAST} --json -q")).expect_error(0, &["the log is incomplete"]);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert!(report["assessments"]["baseline"].is_object());
}

/// A log cut off by a killed process is read as far as possible.
#[test]
fn truncated_log_line_is_counted() {
    let project = project("");
    project.ok(&format!("assess {RECORD_FILE} {FAST} -q"));
    let id = project.ok("logs list").trim().to_owned();
    let path = format!(".karat/logs/{id}.jsonl");
    let log = project.read(&path);
    let cut = log.trim_end().rfind('\n').unwrap();
    project.write(&path, &log[..cut + 30]);
    let summary: Value = project.json("logs summarize --run latest --json");
    assert_eq!((&summary["unreadable_lines"], &summary["ended"]), (&json!(1), &Value::Null));
}
