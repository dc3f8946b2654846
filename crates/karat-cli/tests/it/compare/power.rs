//! `karat power`: how many cases are needed to detect a difference.

use super::{good, graded_suite, middling, run_at_80_columns, score_to_file};
use crate::project::{lines, near, number};
use serde_json::Value;

#[test]
fn cases_from_a_given_standard_deviation() {
    let project = graded_suite(1, 1, &[("t", middling)]);
    // The example of docs/statistics.md: (2.80 · 6)² = 282.6.
    let json = project.json("power --effect 0.05 --std 0.3 --json");
    near(&json, "/cases", 283.0);
    assert!(project.ok("power --effect 0.05 --std 0.3").contains("(4 times out of 5): 283 cases."));
    let more = project.json("power --effect 0.05 --std 0.3 --power 0.9 --json");
    assert!(number(&more, "/cases") > 283.0);
    project.run("power --effect 0.05").expect_error(2, &["--std 0.3"]);
    for wrong in ["--effect 0 --std 1", "--effect x --std 1", "--effect 0.1 --std 0", "--effect 0.1 --std 1 --power 1"]
    {
        project.run(&format!("power {wrong}")).expect(2);
    }
    project.run("power --effect 0.1 gone.json").expect_error(4, &["gone.json"]);
}

/// A scored suite whose values vary between cases and between trials of a case.
fn varying_project(judge: &str) -> crate::project::Project {
    let project = graded_suite(40, 3, &[("old", middling), ("new", good)]);
    let mut all = Vec::new();
    for (at, line) in project.read("submissions/all.jsonl").lines().enumerate() {
        let mut trial: Value = serde_json::from_str(line).unwrap();
        if at % 4 == 0 {
            trial["findings"] = serde_json::json!([]);
        }
        all.push(trial);
    }
    project.write("submissions/all.jsonl", lines(&all));
    project.ok(&format!("score . --judge {judge} -o r.json"));
    project
}

#[test]
fn cases_from_two_tools_with_variance_components() {
    let project = varying_project("none");
    insta::assert_snapshot!("power", run_at_80_columns(&project, "power --effect 0.05 r.json").expect(0).out);
    let json = project.json("power --effect 0.05 r.json --json");
    let shares = number(&json, "/variance/cases") + number(&json, "/variance/trials");
    assert!((shares - 1.0).abs() < 1e-9, "{json}");
    // The required cases and the detectable difference follow from one formula: both scale with the root of n.
    let (cases, present) = (number(&json, "/cases"), number(&json, "/present/cases"));
    let expected = present * (number(&json, "/present/detectable") / 0.05).powi(2);
    assert!((cases - expected).abs() <= 1.0, "{cases} {expected}");
}

#[test]
fn one_tool_is_treated_as_two_independent_ones() {
    let project = varying_project("none");
    let json = project.json("power --effect 0.05 r.json --tool old --metric recall --json");
    let report: Value = serde_json::from_str(&project.read("r.json")).unwrap();
    let std = number(&report, "/tools/0/metrics/recall/std_cases");
    assert!((number(&json, "/spread") - std * 2.0_f64.sqrt()).abs() < 1e-9);
    let clustered = project.json("power --effect 0.05 r.json --tool old --cluster repo --json");
    near(&clustered, "/present/clusters", 8.0);
    let factor = number(&clustered, "/design_effect");
    let plain = project.json("power --effect 0.05 r.json --tool old --json");
    assert!((number(&clustered, "/cases") / number(&plain, "/cases") / factor - 1.0).abs() < 0.05);
    // A ratio over verdicts has a spread as well.
    assert!(number(&project.json("power --effect 0.05 r.json --tool old --metric accuracy --json"), "/cases") > 2.0);
    project.run("power --effect 0.05 r.json --tool none").expect_error(2, &["has no tool `none`"]);
    project
        .run("power --effect 0.05 r.json --tool old --cluster team")
        .expect_error(2, &["no case has the field `team`"]);
}

#[test]
fn variance_between_judges_needs_reports_of_different_judges() {
    let project = varying_project("none");
    project.ok("score . --judge local -o local.json");
    let json = project.json("power --effect 0.05 r.json local.json --tool new --json");
    assert!(json["variance"]["judges"].is_number(), "{json}");
    near(&json, "/variance/judges_per_trial", 2.0);
    project.run("power --effect 0.05 r.json r.json --tool new").expect_error(4, &["has the same judge"]);
    project.run("power --effect 0.05 r.json local.json").expect_error(2, &["--tool"]);
}

#[test]
fn one_trial_per_case_gives_no_variance_components() {
    let project = graded_suite(40, 1, &[("old", middling), ("new", good)]);
    score_to_file(&project, "r.json", "");
    let json = project.json("power --effect 0.05 r.json --json");
    assert!(json.get("variance").is_none());
    assert!(json["notes"].to_string().contains("one trial of each case"), "{json}");
}
