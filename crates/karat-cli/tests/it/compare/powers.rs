//! How many cases a difference needs.

use super::{good, graded, middling, scored, seen};
use crate::project::{lines, near, number};
use serde_json::Value;

#[test]
fn from_a_stated_spread() {
    let project = graded(1, 1, &[("t", middling)]);
    // The example of docs/statistics.md: (2.80 · 6)² = 282.6.
    let json = project.json("power --effect 0.05 --std 0.3 --json");
    near(&json, "/cases", 283.0);
    assert!(project.ok("power --effect 0.05 --std 0.3").contains("(4 times out of 5): 283 cases."));
    let more = project.json("power --effect 0.05 --std 0.3 --power 0.9 --json");
    assert!(number(&more, "/cases") > 283.0);
    project.run("power --effect 0.05").says(2, &["--std 0.3"]);
    for wrong in ["--effect 0 --std 1", "--effect x --std 1", "--effect 0.1 --std 0", "--effect 0.1 --std 1 --power 1"]
    {
        project.run(&format!("power {wrong}")).expect(2);
    }
    project.run("power --effect 0.1 gone.json").says(4, &["gone.json"]);
}

/// Trials that find the first golden or not, by chance, and cases that are hard or not.
fn wavering(judge: &str) -> crate::project::Project {
    let project = graded(40, 3, &[("old", middling), ("new", good)]);
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
fn from_two_tools_with_what_to_buy_next() {
    let project = wavering("none");
    insta::assert_snapshot!("power", seen(&project, "power --effect 0.05 r.json").expect(0).out);
    let json = project.json("power --effect 0.05 r.json --json");
    let shares = number(&json, "/variance/cases") + number(&json, "/variance/trials");
    assert!((shares - 1.0).abs() < 1e-9, "{json}");
    // What the answer asks for and what is there are two sides of one formula: both go with the root of n.
    let (cases, present) = (number(&json, "/cases"), number(&json, "/present/cases"));
    let expected = present * (number(&json, "/present/detectable") / 0.05).powi(2);
    assert!((cases - expected).abs() <= 1.0, "{cases} {expected}");
}

#[test]
fn one_tool_is_taken_for_two_that_have_nothing_in_common() {
    let project = wavering("none");
    let json = project.json("power --effect 0.05 r.json --tool old --metric recall --json");
    let report: Value = serde_json::from_str(&project.read("r.json")).unwrap();
    let std = number(&report, "/tools/0/metrics/recall/std_cases");
    assert!((number(&json, "/spread") - std * 2.0_f64.sqrt()).abs() < 1e-9);
    let clustered = project.json("power --effect 0.05 r.json --tool old --cluster repo --json");
    near(&clustered, "/present/clusters", 8.0);
    let factor = number(&clustered, "/design_effect");
    let plain = project.json("power --effect 0.05 r.json --tool old --json");
    assert!((number(&clustered, "/cases") / number(&plain, "/cases") / factor - 1.0).abs() < 0.05);
    // A ratio over verdicts has a spread too.
    assert!(number(&project.json("power --effect 0.05 r.json --tool old --metric accuracy --json"), "/cases") > 2.0);
    project.run("power --effect 0.05 r.json --tool none").says(2, &["has no tool `none`"]);
    project.run("power --effect 0.05 r.json --tool old --cluster team").says(2, &["no case has the field `team`"]);
}

#[test]
fn judges_are_told_apart_where_several_judged() {
    let project = wavering("none");
    project.ok("score . --judge local -o local.json");
    let json = project.json("power --effect 0.05 r.json local.json --tool new --json");
    assert!(json["variance"]["judges"].is_number(), "{json}");
    near(&json, "/variance/judges_per_trial", 2.0);
    project.run("power --effect 0.05 r.json r.json --tool new").says(4, &["has the same judge"]);
    project.run("power --effect 0.05 r.json local.json").says(2, &["--tool"]);
}

#[test]
fn one_trial_says_nothing_of_trials() {
    let project = graded(40, 1, &[("old", middling), ("new", good)]);
    scored(&project, "r.json", "");
    let json = project.json("power --effect 0.05 r.json --json");
    assert!(json.get("variance").is_none());
    assert!(json["notes"].to_string().contains("one trial of each case"), "{json}");
}
