//! The built-in suite assessed without a model, and the files written from a report.

use super::{RECORD_FILE, project};
use crate::project::{Project, number};
use karat_format::assessment::{AssessmentReportV1, NoSoleAssessment};
use serde_json::Value;
use std::collections::BTreeMap;

#[test]
fn built_in_suite_is_assessed_without_configuration() {
    let project = Project::new();
    let report = project.json("assess agreements --resamples 200 --json -q --no-rerank --bm25-weight 1");
    assert_eq!(report["bundles"].as_array().unwrap().len(), 4);
    assert_eq!(report["assessments"]["baseline"]["requirements"].as_array().unwrap().len(), 60);
    let languages: Vec<&str> =
        report["bundles"].as_array().unwrap().iter().map(|b| b["language"].as_str().unwrap()).collect();
    assert_eq!(languages, ["en", "sv", "en", "en"]);
    let lost = &report["assessments"]["baseline"]["lost"];
    assert!(lost.get("not_ingested").is_none(), "{lost}");
    // Neither the search nor the rules are trivially perfect or useless, which would measure nothing.
    for (pointer, low, high) in [
        ("/retrieval/metrics/retrieval_recall/value", 0.6, 1.0),
        ("/assessments/baseline/metrics/assessment_accuracy/value", 0.3, 0.95),
        ("/assessments/baseline/metrics/mean_evidence_score/value", 0.2, 0.95),
    ] {
        let value = number(&report, pointer);
        assert!(value > low && value < high, "{pointer} = {value}");
    }
}

#[test]
fn stages_can_be_run_separately() {
    let project = project("");
    let of = |stage: &str| {
        project.json(&format!("assess {RECORD_FILE} --stage {stage} --no-rerank --resamples 200 --json -q"))
    };
    let retrieve = of("retrieve");
    assert!(retrieve["retrieval"].is_object() && retrieve["assessments"].as_object().unwrap().is_empty());
    let assess = of("assess");
    assert!(assess.get("retrieval").is_none() && assess["assessments"]["baseline"].is_object());
    let full = of("full");
    assert_eq!((&full["retrieval"], &full["assessments"]), (&retrieve["retrieval"], &assess["assessments"]));
    // The library has the sole assessment, if there is one.
    let typed = |report: &Value| serde_json::from_value::<AssessmentReportV1>(report.clone()).unwrap();
    let (retrieve, full) = (typed(&retrieve), typed(&full));
    assert_eq!(retrieve.assessment(), Err(NoSoleAssessment::NoAssessor));
    assert_eq!(full.assessment().unwrap(), full.assessments.get("baseline").unwrap());
}

#[test]
fn single_requirement_can_be_selected() {
    let project = project("");
    let report =
        project.json(&format!("assess {RECORD_FILE} --requirement audits --no-rerank --resamples 200 --json -q"));
    let all = report["assessments"]["baseline"]["requirements"].as_array().unwrap();
    assert_eq!(all.iter().map(|one| one["requirement_id"].as_str().unwrap()).collect::<Vec<_>>(), ["audits"]);
}

/// Exported TREC files give the figures of the report.
#[test]
fn trec_exports_reproduce_the_report() {
    let project = Project::new();
    let report = project
        .json("assess agreements --stage retrieve --bm25-weight 1 --no-rerank --resamples 200 --json -q --trec trec");
    let lines =
        project.ok("trec trec/qrels.txt trec/run.txt -m recall.10 -m recip_rank -m ndcg_cut.10 -m map --complete");
    let measured: BTreeMap<&str, f64> = lines
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((words.next()?, words.nth(1)?.parse().ok()?))
        })
        .collect();
    for (ours, theirs) in
        [("recall_at_k", "recall_10"), ("mrr", "recip_rank"), ("ndcg_at_k", "ndcg_cut_10"), ("map", "map")]
    {
        let value = number(&report, &format!("/retrieval/metrics/{ours}/value"));
        assert!((value - measured[theirs]).abs() <= 0.000_05 + 1e-9, "{ours} {value} is not {}", measured[theirs]);
    }
}

#[test]
fn reports_are_written_in_each_format() {
    let project = project("");
    project.ok(&format!("assess {RECORD_FILE} --no-rerank --resamples 200 -q -o a.json -o a.md -o a.csv"));
    let report: Value = serde_json::from_str(&project.read("a.json")).unwrap();
    assert_eq!(report["schema"], "karat.assessment/1");
    insta::assert_snapshot!(project.read("a.md"));
    let csv = project.read("a.csv");
    assert!(
        csv.starts_with("assessor,scope,template,bundle,requirement,golden,said,metric,value,ci_low,ci_high\n"),
        "{csv}"
    );
    assert!(csv.contains("baseline,requirement,security,services,audits,yes,"), "{csv}");
    // A saved report renders the same again.
    project.ok("report a.json -o b.md -o b.csv -o b.html");
    assert_eq!((project.read("b.md"), project.read("b.csv")), (project.read("a.md"), csv));
    project.run("report a.json --format sarif").expect_error(2, &["unsupported format `sarif` of an assessment"]);
    project.write("c.json", project.read("a.json").replace("\"stage\": \"full\"", "\"stage\": \"whole\""));
    project.run("report c.json").expect_error(4, &["c.json:3"]);
    project.run(&format!("assess {RECORD_FILE} -o a.pdf")).expect_error(2, &["expected .json, .md, .csv, .html"]);
}

#[test]
fn verbose_output_shows_every_part() {
    let project = project("");
    insta::assert_snapshot!(project.ok(&format!("assess {RECORD_FILE} --no-rerank --resamples 200 -q -v")));
}

/// Hostile text is escaped, and the page loads nothing from elsewhere.
#[test]
fn pages_escape_hostile_text() {
    let project = project("");
    let hostile = "<script>alert(1)</script> <img src=x onerror=alert(2)> [a](javascript:alert(3)) \u{202e}";
    let template = project.read("templates/security/config.yml");
    let template = template.replace("title: Backups", &format!("title: {}", serde_json::Value::from(hostile)));
    project.write("templates/security/config.yml", template);
    let agreement = project.read("docs/services.md").replace("## 5.1 Law", &format!("## 5.1 Law {hostile}"));
    project.write("docs/services.md", agreement);
    project.ok(&format!("assess {RECORD_FILE} --no-rerank --resamples 200 -q -o a.html"));
    let page = project.read("a.html");
    assert!(page.contains("alert(1)"), "the text is missing");
    // Its own script, and links within the page.
    let page = page.replacen("<a class=\"skip\" href=\"#main\">", "", 1).replacen("<script>", "", 1);
    let page = page.replace("<a href=\"#", "");
    for mark in ["<script", "<img", "<a ", "http:", "https:", "\u{202e}"] {
        assert!(!page.contains(mark), "{mark}");
    }
    assert!(page.contains("default-src 'none'"));
}
