//! Suites and submissions that no person wrote: one as large as benchmarks get, one as hostile as input gets.

pub(crate) mod draw;
pub(crate) mod faults;
pub(crate) mod hostile;
pub(crate) mod large;

use super::{address, browser};
use crate::project::Project;
use karat_report::page::{Page, text};
use large::Large;

#[test]
fn a_large_suite_is_the_same_each_time_and_holds_what_it_promises() {
    let (one, two) = (Project::new(), Project::new());
    let small = Large { cases: 120, tools: 4, with_code: 20 };
    small.write(&one.path("s"));
    small.write(&two.path("s"));
    for file in ["cases.jsonl", "karat.toml", "submissions/harbour.jsonl", "cases/case-0000/after/src/search.py"] {
        assert_eq!(one.read(&format!("s/{file}")), two.read(&format!("s/{file}")), "{file}");
    }
    let report = one.json("score s --resamples 100 --json");
    assert_eq!(report["tools"].as_array().unwrap().len(), 4);
    assert_eq!(report["suite"]["cases"], 120);
    // It is no suite that everybody passes, and none that nobody does.
    let f1 = |tool: usize| report["tools"][tool]["metrics"]["f1"]["value"].as_f64().unwrap();
    assert!((0.1..0.95).contains(&f1(0)) && (0.1..0.95).contains(&f1(3)) && f1(0) != f1(3), "{} {}", f1(0), f1(3));
    // Static analysis costs nothing that it could state.
    assert_eq!(report["measured"]["cost"].as_object().unwrap().len(), 3);
}

#[test]
fn lines_of_goldens_are_those_of_the_fault() {
    let project = Project::new();
    Large { cases: 60, tools: 1, with_code: 60 }.write(&project.path("s"));
    let mut looked = 0;
    for line in project.read("s/cases.jsonl").lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        for issue in case["issues"].as_array().into_iter().flatten() {
            let file = format!("s/cases/{}/after/{}", case["id"].as_str().unwrap(), issue["file"].as_str().unwrap());
            let at = issue["line_start"].as_u64().unwrap() as usize - 1;
            let shown = project.read(&file).lines().nth(at).unwrap_or_default().to_owned();
            let rule = issue["rule_id"].as_str().unwrap();
            let fault = faults::FAULTS.iter().find(|fault| fault.rule == rule).unwrap();
            let begins = fault.wrong[0].trim().split('{').next().unwrap();
            assert!(shown.trim().starts_with(begins), "{file}: {shown:?} is not {begins:?}");
            looked += 1;
        }
    }
    assert!(looked > 40, "only {looked} goldens");
}

#[test]
fn hostile_input_is_scored_like_any_other() {
    let project = Project::new();
    hostile::write(&project.path("s"));
    project.run("check s").expect(0);
    let report = project.json("score s --judgements s/judgements.jsonl --resamples 100 --json");
    let text = report.to_string();
    for part in ["<script>", "onerror=", "javascript:", "__proto__", "constructor", "\\u0000", "\u{202e}", "<!--"] {
        assert!(text.contains(part), "{part:?} does not reach the report");
    }
}

#[test]
fn a_crowd_of_tools_is_ranked() {
    let project = Project::new();
    Large::CROWD.write(&project.path("s"));
    let report = project.json("score s --resamples 100 --json");
    let mut names: Vec<&str> =
        report["tools"].as_array().unwrap().iter().map(|t| t["tool"].as_str().unwrap()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 50);
}

/// What is hostile must bite where nobody takes care, or it tests nothing.
#[test]
fn hostile_text_runs_where_nothing_is_escaped() {
    let Some(browser) = browser() else { return };
    let hostile = hostile::payload("here");
    // Without what leads away from the page before anybody can look at it.
    let raw = hostile.replace("<meta", "<nothing");
    let project = Project::new().with("raw.html", format!("<!doctype html><title>raw</title>{raw}"));
    let raw = browser.page(&address(&project.path("raw.html")));
    raw.until(&format!("({}) !== null", hostile::CANARY));
    assert!(!raw.complaints().is_empty());
    let body = format!("<h1>{0}</h1><input title=\"{0}\">", text(&hostile));
    let page =
        Page { title: &hostile, nav: "", body: &body, styles: &[], scripts: &[], connects: false, ..Page::default() };
    project.write("shell.html", page.draw());
    let shell = browser.page(&address(&project.path("shell.html")));
    shell.hover("input");
    assert_eq!(shell.eval(hostile::CANARY), serde_json::Value::Null);
    assert!(shell.text("h1").contains("<script>") && shell.text("h1").contains("\\u{202e}"));
    shell.quiet();
}
