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

/// What a session has is enough for an assessment, however it came there.
#[test]
fn session_needs_no_source_files() {
    for by_ingest in [true, false] {
        let project = project("").with("docs/annex.md", "# Annex\n\nNothing of the security of audits.\n");
        let run = |flags: &str| project.run(&format!("assess {RECORD_FILE} {FAST} --json {flags}"));
        let parse = |out: &str| serde_json::from_str::<Value>(out).unwrap();
        let fresh = parse(&run("").expect(0).out);
        if by_ingest {
            let out = project.run("ingest docs/services.md docs/annex.md --session may").expect(0);
            assert!(out.err.contains("session may: 2 documents read and cached, 0 known"), "{}", out.err);
        } else {
            run("--session may").expect(0);
        }
        let same = |found: &Value| {
            for key in ["bundles", "retrieval", "assessments"] {
                assert_eq!(found[key], fresh[key], "{key}");
            }
        };
        // One file is gone, and a golden part refers to it.
        std::fs::remove_file(project.path("docs/services.md")).unwrap();
        let ran = run("--session may").expect(0);
        assert!(ran.err.contains("services.md: taken from the session"), "{}", ran.err);
        same(&parse(&ran.out));
        std::fs::remove_file(project.path("docs/annex.md")).unwrap();
        let report = parse(&run("--session may").expect(0).out);
        same(&report);
        assert_eq!(number(&report, "/measured/documents_reused"), 2.0);
        // Another session, or none, does not have them.
        run("").expect_error(4, &["there is no document beside the record"]);
        run("--session june").expect_error(4, &["there is no document beside the record"]);
    }
}

/// Bundles of one session do not get each other's documents, even if these have the same names.
#[test]
fn session_keeps_bundles_apart() {
    let other = AGREEMENT.replace("five days", "nine days");
    let record = project("").read(RECORD_FILE).replace("bundle_id: services", "bundle_id: other");
    let project = project("")
        .with("other/services.md", other)
        .with("other/other.golden-assessment.yml", record.replace("five days", "nine days"));
    let run = || project.json(&format!("assess docs other -r {FAST} --session may --json -q"));
    let before = run();
    for folder in ["docs", "other"] {
        std::fs::remove_file(project.path(&format!("{folder}/services.md"))).unwrap();
    }
    let after = run();
    assert_eq!((&after["bundles"], &after["assessments"]), (&before["bundles"], &before["assessments"]));
    assert_ne!(after["bundles"][0]["documents"][0]["hash"], after["bundles"][1]["documents"][0]["hash"]);
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
