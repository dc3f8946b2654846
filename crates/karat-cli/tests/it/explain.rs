//! `karat explain`: the scoring of one case.

use crate::project::{CommandOutput, Project, near};
use serde_json::json;

fn explain(line: &str) -> CommandOutput {
    let project = Project::new();
    CommandOutput::start(project.command().env("COLUMNS", "80").args(line.split_whitespace()))
}

#[test]
fn starter_cases_are_explained() {
    let check = |name: &str, line: &str| insta::assert_snapshot!(name, explain(line).expect(0).out);
    check("found", "explain py-order-search-sqli --suite starter --tool careful-reviewer");
    check("missed", "explain rust-quote-cache-lock --suite starter --tool noisy-scanner --trial 2");
    check("clean", "explain c-header-parser-refactor --suite starter --tool noisy-scanner");
}

#[test]
fn explanations_fit_80_columns() {
    for case in ["py-order-search-sqli", "rust-quote-cache-lock", "ts-stock-reservation-race"] {
        for tool in ["careful-reviewer", "noisy-scanner"] {
            for line in explain(&format!("explain {case} --suite starter --tool {tool}")).expect(0).out.lines() {
                assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
            }
        }
    }
}

#[test]
fn failed_trial_is_explained() {
    let report = Project::new().json("score starter --json");
    let tool = report["tools"].as_array().unwrap().iter().find(|tool| tool["tool"] == "careful-reviewer").unwrap();
    let failed =
        |case: &&serde_json::Value| case["trials"].as_array().unwrap().iter().any(|t| t["outcome"] == "timed_out");
    let case = tool["cases"].as_array().unwrap().iter().find(failed).unwrap();
    let number = case["trials"].as_array().unwrap().iter().position(|t| t["outcome"] == "timed_out").unwrap() + 1;
    let line =
        format!("explain {} --suite starter --tool careful-reviewer --trial {number}", case["case"].as_str().unwrap());
    let out = explain(&line).expect(0).out;
    assert!(out.contains("timed out:"), "{out}");
}

#[test]
fn explanation_as_json() {
    let value =
        Project::new().json("explain py-order-search-sqli --suite starter --tool careful-reviewer --trial 2 --json");
    assert_eq!((&value["tool"], &value["trial"]), (&json!("careful-reviewer"), &json!(2)));
    assert_eq!(value["case"]["case"], "py-order-search-sqli");
    let golden = "search-term-injection";
    let chosen = &value["result"]["trials"][1]["matches"][0];
    assert_eq!(chosen["golden"], golden);
    let best = &value["candidates"][golden][0];
    assert_eq!(best["finding"], chosen["finding"]);
    near(best, "/score", chosen["score"].as_f64().unwrap());
    let parts = ["file", "line", "keyword"].map(|part| best["parts"][part].as_f64().unwrap());
    let judge = best["parts"]["judge"].as_f64().unwrap();
    near(best, "/score", 0.4 * (0.4 * parts[0] + 0.2 * parts[1] + 0.4 * parts[2]) + 0.6 * judge);
}

#[test]
fn refusals_state_reasons_on_one_scale() {
    let line = "explain rust-quote-cache-lock --suite starter --tool noisy-scanner --trial 2";
    let value = Project::new().json(&format!("{line} --json"));
    let refused = &value["refused"]["cache-never-shrinks"][0];
    assert_eq!((&refused["finding"], &refused["judge"]), (&json!("f3"), &json!("local")));
    let figure = |key: &str| refused[key].as_f64().unwrap_or_else(|| panic!("no {key}: {refused}"));
    assert!(figure("probability") < figure("threshold"), "{refused}");
    let reasons = refused["reasons"].as_array().unwrap();
    assert!(reasons.iter().any(|reason| reason["name"] == "same_lines" && reason["log_odds"].as_f64() > Some(0.0)));
    assert!(reasons.iter().any(|reason| reason["log_odds"].as_f64() < Some(0.0)), "{refused}");
    let misses = value["result"]["trials"][1]["misses"].as_array().unwrap();
    let miss = misses.iter().find(|miss| miss["golden"] == "cache-never-shrinks").unwrap();
    assert_eq!(&miss["refused"][0], refused);
    let out = explain(line).expect(0).out;
    assert!(out.contains("refused candidates: probability of a match") && out.contains("for      same_lines"), "{out}");
    // Without a judge, the parts of the score are the reasons.
    let value = Project::new().json(&format!("{line} --judge none --json"));
    let refused = &value["refused"]["cache-never-shrinks"][0];
    assert_eq!(refused["judge"], "score");
    assert!(refused["reasons"].as_array().is_some_and(|reasons| !reasons.is_empty()), "{refused}");
}

#[test]
fn unknown_names_get_suggestions() {
    explain("explain py-order-search-sql --suite starter --tool careful-reviewer")
        .expect_error(2, &["has no case `py-order-search-sql`", "did you mean `py-order-search-sqli`?"]);
    explain("explain py-order-search-sqli --suite starter --tool carefull-reviewer")
        .expect_error(2, &["no trials of `carefull-reviewer`", "did you mean `careful-reviewer`?"]);
    explain("explain py-order-search-sqli --suite starter")
        .expect_error(2, &["--tool", "careful-reviewer, noisy-scanner"]);
    explain("explain py-order-search-sqli --suite starter --tool noisy-scanner --trial 9")
        .expect_error(2, &["available: 1, 2, 3"]);
}
