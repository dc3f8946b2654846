//! The output formats of `karat score`.

use super::tiny;
use crate::project::{Project, lines, suite};
use karat_format::report::ReportV1;
use karat_report::table::draw;
use karat_report::{FORMATS, TerminalStyle};
use serde_json::{Value, json};

#[test]
fn table_fits_80_columns() {
    let project = Project::new();
    let out = crate::project::CommandOutput::start(project.command().env("COLUMNS", "80").args(["score", "starter"]))
        .expect(0)
        .out;
    for line in out.lines() {
        assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
    }
    insta::assert_snapshot!("starter_80", out);
}

#[test]
fn table_fits_every_width() {
    let project = Project::new();
    project.ok("score starter -o report.json");
    let report: ReportV1 = serde_json::from_str(&project.read("report.json")).unwrap();
    let mut long = report.clone();
    for tool in &mut long.tools {
        tool.tool = format!("{}-of-the-department-for-very-long-names", tool.tool);
        tool.cases.iter_mut().for_each(|case| case.case = format!("{}-and-then-some-more-words", case.case));
    }
    long.cases.iter_mut().for_each(|case| case.case = format!("{}-and-then-some-more-words", case.case));
    for (name, report) in [("starter", &report), ("long names", &long)] {
        for width in 40..=200 {
            let drawn = draw(report, &TerminalStyle::complete(width));
            // 60 columns is the least width.
            let most = width.max(60);
            for line in drawn.lines() {
                assert!(
                    line.chars().count() <= most,
                    "{name} at {width}: {} columns\n{line}\n{drawn}",
                    line.chars().count()
                );
            }
            assert!(
                drawn.lines().any(|line| line.contains("tool") && line.contains("F1")),
                "{name} at {width}:\n{drawn}"
            );
        }
    }
    let heads = |width| {
        let drawn = draw(&report, &TerminalStyle::complete(width));
        let head = drawn.lines().find(|line| line.trim_start().starts_with("tool")).unwrap();
        head.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(heads(60), "tool rank F1 ▾ precision recall USD");
    assert_eq!(heads(80), "tool rank F1 ▾ precision recall clean accuracy failed");
    assert!(heads(140).starts_with("tool rank F1 ▾ 0.4 0.9 precision recall"), "{}", heads(140));
    assert!(heads(200).contains("consistency"), "{}", heads(200));
}

#[test]
fn table_uses_200_columns() {
    let project = Project::new();
    let out = crate::project::CommandOutput::start(project.command().env("COLUMNS", "200").args(["score", "starter"]))
        .expect(0)
        .out;
    insta::assert_snapshot!("starter_200", out);
}

#[test]
fn json_format_snapshot() {
    insta::assert_snapshot!("tiny_json", tiny().ok("score . --json"));
}

#[test]
fn other_format_snapshots() {
    let project = tiny();
    for format in ["table", "markdown", "csv", "junit", "sarif"] {
        insta::assert_snapshot!(format!("tiny_{format}"), project.ok(&format!("score . --format {format}")));
    }
}

#[test]
fn csv_fields_are_never_formulas() {
    let project = crate::project::suite(&[serde_json::json!({ "id": "=1+2", "language": "@x", "categories": ["-y"] })]);
    project
        .write("s.jsonl", crate::project::lines(&[crate::project::trial("=1+2", "+evil", 1, serde_json::json!([]))]));
    let csv = project.ok("score . --submission s.jsonl --format csv");
    for line in csv.lines() {
        for field in line.split(',') {
            assert!(!field.trim_matches('"').starts_with(['=', '+', '-', '@']), "{line}");
        }
    }
    assert!(csv.contains("'+evil") && csv.contains("'=1+2") && csv.contains("'@x"), "{csv}");
}

#[test]
fn sarif_output_can_be_imported() {
    let project = tiny();
    project.run("score . -o out.sarif").expect(0);
    let ran = project.run("import --from sarif --case sqli out.sarif").expect(0);
    let trials: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut rules: Vec<(String, String, u64)> = Vec::new();
    for trial in &trials {
        for finding in trial["findings"].as_array().unwrap() {
            let text = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
            rules.push((text("rule_id"), text("file"), finding["line_start"].as_u64().unwrap_or_default()));
        }
    }
    rules.sort();
    let count = |rule: &str| rules.iter().filter(|(r, ..)| r == rule).count();
    assert_eq!(trials.len(), 2, "one run for each tool");
    // A match has kind `pass`, which the importer skips with a note.
    assert_eq!((count("karat/match"), count("karat/extra"), count("karat/miss")), (0, 2, 3), "{rules:?}");
    assert!(ran.err.contains("3 results"), "{}", ran.err);
    assert!(rules.contains(&("karat/miss".to_owned(), "app/pool.py".to_owned(), 40)), "{rules:?}");
}

#[test]
fn sarif_of_a_tool_that_never_reported_has_no_misses() {
    let project =
        suite(&[json!({ "id": "sqli", "issues": [{ "id": "g", "title": "SQL injection", "file": "a.py" }] })]);
    let ended = |tool: &str, outcome: &str, number: u32| json!({ "case": "sqli", "tool": tool, "trial": number, "outcome": outcome, "findings": [] });
    let trials = [ended("gone", "crashed", 1), ended("gone", "timed_out", 2), ended("silent", "reported", 1)];
    project.write("s.jsonl", lines(&trials));
    project.run("score . --submission s.jsonl -o out.sarif").expect(0);
    let sarif: Value = serde_json::from_str(&project.read("out.sarif")).unwrap();
    let run = |tool: &str| {
        let name = json!(format!("karat: {tool}"));
        sarif["runs"].as_array().unwrap().iter().find(|run| run["tool"]["driver"]["name"] == name).unwrap()
    };
    assert_eq!(run("gone")["results"], json!([]));
    let failed = &run("gone")["invocations"][0];
    assert_eq!(failed["executionSuccessful"], false);
    let text = failed["toolExecutionNotifications"][0]["message"]["text"].as_str().unwrap();
    assert!(text.starts_with("None of 2 trials came to a report: 1 crashed"), "{text}");
    assert_eq!(run("silent")["results"][0]["ruleId"], "karat/miss");
    assert_eq!(run("silent").get("invocations"), None);
}

#[test]
fn files_are_written_by_extension() {
    let project = tiny();
    project.write("out/README", "");
    let mut line = "score .".to_owned();
    for format in FORMATS {
        line.push_str(&format!(" -o out/report.{}", format.extension));
    }
    let ran = project.run(&line).expect(0);
    for format in FORMATS {
        let file = project.read(&format!("out/report.{}", format.extension));
        // A file is complete, whatever is printed.
        assert_eq!(file, project.ok(&format!("score . --format {} -v", format.name)), "{}", format.name);
        assert!(ran.err.contains(&format!("wrote out/report.{}", format.extension)), "{}", ran.err);
    }
    assert_eq!(ran.out, project.ok("score ."), "the table is printed as well");
}

#[test]
fn unknown_extension_is_refused_first() {
    tiny()
        .run("score nowhere -o report.docx")
        .expect_error(2, &["report.docx", ".json", ".md", ".csv", ".xml", ".sarif"]);
    tiny().run("score . -o report").expect_error(2, &["unknown extension"]);
    tiny().run("score . --format pdf").expect_error(2, &["unknown format `pdf`", "junit"]);
}

#[test]
fn report_renders_as_score_did() {
    let project = tiny();
    project.run("score . -o report.json").expect(0);
    for format in FORMATS {
        // The HTML page shows texts that are not in the report, so suite and submission are given.
        let sources = if format.name == "html" { "--suite . --submission submissions/all.jsonl" } else { "" };
        let again = project.ok(&format!("report report.json --format {} {sources}", format.name));
        assert_eq!(again, project.ok(&format!("score . --format {}", format.name)), "{}", format.name);
    }
    let text = project.read("report.json");
    project.write("old.json", text.replace("karat.report/1", "karat.report/9"));
    project.run("report old.json").expect_error(4, &["karat.report/9", "karat.report/1"]);
    project.write("cut.json", &text[..text.len() / 2]);
    project.run("report cut.json").expect_error(4, &["cut.json:"]);
    project.run("report absent.json").expect_error(4, &["absent.json"]);
}
