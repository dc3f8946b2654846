//! Outcomes and exit codes of `karat gate`.

use super::{good, graded_suite, middling, noisy, run_at_80_columns, score_to_file, submit};
use crate::project::{CommandOutput, near};
use serde_json::{Value, json};

#[test]
fn five_cases_are_inconclusive_and_state_the_sample_size() {
    let project = graded_suite(5, 1, &[("t", middling)]);
    score_to_file(&project, "r.json", "");
    let ran = run_at_80_columns(&project, "gate r.json --min f1=0.6 --min recall=0.9 -v").expect(3);
    insta::assert_snapshot!("gate_of_five", ran.out);
    assert!(ran.out.contains("n = 5"), "{}", ran.out);
}

#[test]
fn gate_prints_one_line_per_tool() {
    let project = graded_suite(40, 1, &[("good", good), ("middling", middling), ("noisy", noisy)]);
    score_to_file(&project, "r.json", "");
    let ran = run_at_80_columns(&project, "gate r.json --min f1=0.7 --min recall=0.1").expect(1);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines.len(), 5, "{}", ran.out);
    assert_eq!(lines[0], "tiny  40 cases · profile karat");
    assert!(lines[1].starts_with("  pass          good      F1 ≥ 0.7 and 1 more: "), "{}", ran.out);
    assert!(lines[2].starts_with("  inconclusive  middling  F1 ≥ 0.7: 0.728, interval "), "{}", ran.out);
    assert!(lines[3].starts_with("  fail          noisy     F1 ≥ 0.7: 0.311, interval "), "{}", ran.out);
    assert!(lines[4].starts_with("The gate fails: 1 demand failed, 1 demand inconclusive, 4 demands passed."));
    assert!(lines[..4].iter().all(|line| line.chars().count() <= 80), "{}", ran.out);
}

#[test]
fn equal_results_are_unchanged() {
    let project = graded_suite(5, 1, &[("t", middling)]);
    score_to_file(&project, "r.json", "");
    project.ok("baseline write r.json -o base.json --metric f1 --metric recall");
    let expected = "tiny  5 cases · profile karat\n  unchanged     t  2 metrics as before\n";
    let few = "The gate is inconclusive: unchanged, but 5 cases are too few (--allow-small-n).";
    let ran = project.run("gate r.json --no-worse-than base.json").expect(3);
    assert!(ran.out.starts_with(&format!("{expected}{few}")), "{}", ran.out);
    let ran = project.run("gate r.json --no-worse-than base.json --allow-small-n").expect(0);
    assert!(ran.out.starts_with(&format!("{expected}The gate passes: 2 demands passed.")), "{}", ran.out);
    let gate: Value = project.json("gate r.json --no-worse-than base.json --allow-small-n --json");
    assert_eq!(gate["demands"][0]["unchanged"], true);
    assert!(gate["demands"][0]["why"].as_str().unwrap().contains(", unchanged, n = "), "{gate}");
}

#[test]
fn bounds_outside_the_range_of_a_metric_are_refused() {
    let project = graded_suite(5, 1, &[("t", middling)]);
    score_to_file(&project, "r.json", "");
    for metric in karat_core::metric::table::METRICS {
        let (least, most) = metric.range();
        let line = |bound: f64| format!("gate r.json --min {}={bound}", metric.id);
        project.run(&line(least - 1.0)).expect_error(2, &[metric.title, "the demand is"]);
        if most < f64::MAX {
            project.run(&line(most + 1.0)).expect_error(2, &[&format!("lies between {least} and {most}")]);
        }
    }
    project.run("gate r.json --min f1=50").expect_error(2, &["F1 lies between 0 and 1", "did you mean 0.5?"]);
    project.write("gate.toml", "[[rule]]\nmetric = \"f1\"\nmin = 50\n");
    project.run("gate r.json --rules gate.toml").expect_error(4, &["gate.toml:3:7", "F1 lies between 0 and 1"]);
}

#[test]
fn demands_hold_fail_or_are_inconclusive() {
    let project = graded_suite(40, 1, &[("t", middling)]);
    score_to_file(&project, "r.json", "");
    let check = |flags: &str, code: i32, expect: &[&str]| {
        let ran = project.run(&format!("gate r.json --json {flags}")).expect(code);
        let gate: Value = serde_json::from_str(&ran.out).unwrap();
        let found: Vec<&str> =
            gate["demands"].as_array().unwrap().iter().map(|d| d["outcome"].as_str().unwrap()).collect();
        assert_eq!(found, expect, "{flags}: {}", ran.out);
    };
    // F1 is 0.728 within 0.676 and 0.785.
    check("--min f1=0.6", 0, &["holds"]);
    check("--min f1=0.7", 3, &["inconclusive"]);
    check("--min f1=0.9", 1, &["fails"]);
    check("--max f1=0.9", 0, &["holds"]);
    check("--max f1=0.7", 3, &["inconclusive"]);
    check("--max f1=0.6", 1, &["fails"]);
    check("--min f1=0.6 --min f1=0.7 --min f1=0.9", 1, &["holds", "inconclusive", "fails"]);
    // No verdict has a confidence.
    check("--max ece=0.1", 3, &["inconclusive"]);
    // Four clean cases, all without findings: enough only with --allow-small-n.
    check("--min clean_pass=0.4", 3, &["inconclusive"]);
    check("--min clean_pass=0.4 --allow-small-n", 0, &["holds"]);
}

#[test]
fn closer_bounds_need_more_cases() {
    let project = graded_suite(40, 1, &[("t", middling)]);
    score_to_file(&project, "r.json", "");
    let cases_wanted_for = |bound: &str| {
        let ran = project.run(&format!("gate r.json --json --min f1={bound}")).expect(3);
        serde_json::from_str::<Value>(&ran.out).unwrap()["demands"][0]["cases_wanted"].as_u64().unwrap()
    };
    let (near, nearer) = (cases_wanted_for("0.69"), cases_wanted_for("0.71"));
    assert!(36 < near && near < nearer, "{near} {nearer}");
}

#[test]
fn gate_against_a_baseline() {
    let project = graded_suite(40, 1, &[("t", middling)]);
    score_to_file(&project, "old.json", "");
    let made = project.json("baseline write old.json -o base.json --json --metric f1 --metric accuracy");
    assert_eq!((&made["written"], &made["metrics"]), (&json!("base.json"), &json!(["accuracy", "f1"])));
    for old in ["base.json", "old.json --metric f1 --metric accuracy"] {
        let ran = project.run(&format!("gate old.json --no-worse-than {old}")).expect(0);
        assert!(ran.out.contains("The gate passes: 2 demands passed."), "{}", ran.out);
    }
    project.run("gate old.json --no-worse-than base.json --margin 0").expect(0);
    submit(&project, 40, 1, &[("t", noisy)], "submissions/all.jsonl");
    score_to_file(&project, "worse.json", "");
    let ran = run_at_80_columns(&project, "gate worse.json --no-worse-than base.json --metric f1 -v").expect(1);
    insta::assert_snapshot!("gate_fails", ran.out);
    submit(&project, 40, 1, &[("t", good)], "submissions/all.jsonl");
    score_to_file(&project, "better.json", "");
    project.run("gate better.json --no-worse-than base.json --metric f1").expect(0);
    // Better in some cases and worse in others, so the comparison is inconclusive.
    let wavering = |at: usize| match at % 3 {
        0 => (1, 0),
        1 => (2, 0),
        _ => middling(at),
    };
    submit(&project, 40, 1, &[("t", wavering)], "submissions/all.jsonl");
    score_to_file(&project, "open.json", "");
    let open =
        project.run("gate open.json --no-worse-than base.json --metric recall --metric f1 --margin 0 --json").expect(3);
    let open: Value = serde_json::from_str(&open.out).unwrap();
    // The baseline has no recall.
    assert!(
        open["demands"][0]["why"].to_string().contains("does not contain it: write it again with --metric recall"),
        "{open}"
    );
    // A report and its baseline agree to six digits.
    let (json, whole) = (
        project.json("compare base.json better.json --json --metric f1"),
        project.json("compare old.json better.json --json --metric f1"),
    );
    let difference = |value: &Value| value["comparisons"][0]["metrics"][0]["difference"].as_f64().unwrap();
    assert!((difference(&json) - difference(&whole)).abs() < 1e-6);
    assert_eq!(json["comparisons"][0]["goldens"]["gained"], whole["comparisons"][0]["goldens"]["gained"]);
}

#[test]
fn baseline_has_one_case_per_line_and_is_validated() {
    let project = graded_suite(5, 3, &[("t", middling)]);
    score_to_file(&project, "r.json", "");
    let text = project.ok("baseline write r.json --metric f1");
    insta::assert_snapshot!("baseline", text);
    let file: Value = serde_json::from_str(&text).unwrap();
    near(&file, "/tools/0/cases/0/values/f1", 0.8);
    project.write("twice.json", text.replace("case-001", "case-000"));
    project.run("gate r.json --no-worse-than twice.json").expect_error(4, &["stands twice"]);
    project.write("other.json", text.replace("karat.baseline/1", "karat.baseline/9"));
    project.run("gate r.json --no-worse-than other.json").expect_error(4, &["karat.baseline/9"]);
    project.write("cut.json", &text[..text.len() / 2]);
    project.run("gate r.json --no-worse-than cut.json").expect_error(4, &["cut.json"]);
    project
        .run("gate r.json --no-worse-than gone.json")
        .expect_error(4, &["gone.json is missing", "karat baseline write"]);
    project.write("b.json", text.replace("\"digest\":\"blake3:", "\"digest\":\"blake3:0"));
    project.run("gate r.json --no-worse-than b.json").expect_error(4, &["different suites"]);
    project.run("gate r.json --no-worse-than b.json --intersection").expect(3);
    project.run("gate b.json --min f1=0.5").expect_error(4, &["is a baseline"]);
}

#[test]
fn every_tool_must_pass_unless_tool_is_given() {
    let project = graded_suite(40, 1, &[("good", good), ("noisy", noisy)]);
    score_to_file(&project, "r.json", "");
    project.run("gate r.json --min f1=0.6").expect(1);
    project.run("gate r.json --min f1=0.6 --tool good").expect(0);
    project.run("gate r.json --min f1=0.6 --tool best").expect_error(2, &["has no tool `best`"]);
}

#[test]
fn demands_are_read_from_rule_files() {
    let project = graded_suite(40, 1, &[("good", good), ("noisy", noisy)]);
    score_to_file(&project, "r.json", "");
    project.run("baseline write r.json -o ci/base.json").expect_error(5, &["ci/base.json", "folder does not exist"]);
    project.write("ci/README", "kept beside the suite");
    project.ok("baseline write r.json -o ci/base.json");
    project.write(
        "ci/gate.toml",
        "no_worse_than = \"base.json\"\nmetrics = [\"f1\"]\nmargin = 0.05\n\n[[rule]]\nmetric = \"f1\"\nmin = 0.6\ntool = \"good\"\n",
    );
    let ran = project.run("gate r.json --rules ci/gate.toml").expect(0);
    assert!(ran.out.contains("The gate passes: 3 demands passed."), "{}", ran.out);
    project.write("bad.toml", "margn = 0.1\n[[rule]]\nmetric = \"f11\"\nmin = 0.6\n[[rule]]\nmetric = \"recall\"\n");
    project.run("gate r.json --rules bad.toml").expect_error(4, &["bad.toml:1", "margin"]);
    project.write("bad.toml", "[[rule]]\nmetric = \"f11\"\nmin = 0.6\n[[rule]]\nmetric = \"recall\"\n[[rule]]\nmetric = \"f1\"\nmin = 0.9\nmax = 0.1\n");
    project
        .run("gate r.json --rules bad.toml")
        .expect_error(4, &["bad.toml:2", "did you mean `f1`", "give `min` or `max`", "at least 0.9 and at most 0.1"]);
    project.write("who.toml", "[[rule]]\nmetric = \"f1\"\nmin = 0.6\ntool = \"best\"\n");
    project.run("gate r.json --rules who.toml").expect_error(4, &["has no tool `best`"]);
    project.write("empty.toml", "");
    project.run("gate r.json --rules empty.toml").expect_error(2, &["no demands"]);
    project.run("gate r.json --rules gone.toml").expect_error(4, &["gone.toml"]);
}

#[test]
fn invalid_arguments_are_reported() {
    let project = graded_suite(5, 1, &[("t", middling)]);
    score_to_file(&project, "r.json", "");
    project.run("gate r.json").expect_error(2, &["no demands"]);
    project.run("gate r.json --min f11=0.5").expect_error(2, &["f11"]);
    project.run("gate r.json --min f1").expect_error(2, &["such as f1=0.6"]);
    project.run("gate r.json --min f1=NaN").expect_error(2, &["such as f1=0.6"]);
    project.run("gate r.json --min f1=0.5 -o gate.html").expect_error(2, &["gate.html", ".xml"]);
    project.run("gate nowhere.json --min f1=0.5").expect_error(4, &["nowhere.json"]);
}

#[test]
fn unknown_cost_is_inconclusive() {
    let project = graded_suite(3, 1, &[("t", middling)]);
    score_to_file(&project, "r.json", "");
    let why = |code: i32, flags: &str| {
        let ran = project.run(&format!("gate r.json --json {flags}")).expect(code);
        serde_json::from_str::<Value>(&ran.out).unwrap()["demands"][0]["why"].to_string()
    };
    assert!(why(3, "--max-cost 1").contains("not all trials of t report their cost"));
    let mut priced = Vec::new();
    for line in project.read("submissions/all.jsonl").lines() {
        let mut trial: Value = serde_json::from_str(line).unwrap();
        trial["cost_usd"] = json!(0.5);
        priced.push(trial);
    }
    project.write("submissions/all.jsonl", crate::project::lines(&priced));
    score_to_file(&project, "r.json", "");
    assert!(why(0, "--max-cost 1.5").contains("1.50 USD"));
    assert!(why(1, "--max-cost 1.4").contains("1.50 USD"));
    // An outage is no trial of the tool, but what it cost was spent.
    let earlier: Value = serde_json::from_str(&project.read("r.json")).unwrap();
    let mut outage =
        json!({ "case": super::case_id(0), "tool": "t", "trial": 2, "outcome": "unavailable", "findings": [] });
    outage["cost_usd"] = json!(0.25);
    priced.push(outage);
    project.write("submissions/all.jsonl", crate::project::lines(&priced));
    score_to_file(&project, "r.json", "");
    let report: Value = serde_json::from_str(&project.read("r.json")).unwrap();
    assert_eq!(report["measured"]["cost"], earlier["measured"]["cost"]);
    assert_eq!(report["measured"]["outages_usd"], json!({ "t": 0.25 }));
    assert!(why(0, "--max-cost 1.75").contains("1.75 USD"));
    assert!(why(1, "--max-cost 1.7").contains("1.75 USD"));
}

#[test]
fn require_judge_licence_checks_probe_error_rates() {
    let project = graded_suite(3, 1, &[("t", middling)]);
    score_to_file(&project, "none.json", "");
    let output = project.run("gate none.json --require-judge-licence -v").expect(0).out;
    assert!(output.contains("no judge decided a pair"), "{output}");
    project.ok("score . --judge local -o local.json");
    let output = project.run("gate local.json --require-judge-licence -v").expect(3).out;
    assert!(output.contains("never probed") && output.contains("karat judge probe"), "{output}");
    // A probe result with these error rates.
    let rate = |wrong: usize, n: usize| {
        let ci = karat_core::stats::interval::wilson(wrong, n, 0.95).unwrap();
        json!({ "n": n, "wrong": wrong, "rate": wrong as f64 / n as f64, "ci": [ci.low, ci.high], "unjudged": 0 })
    };
    let gate = |kinds: Value, fooled: Value, share: &str, code: i32| {
        let mut report: Value = serde_json::from_str(&project.read("local.json")).unwrap();
        report["judges"][0]["probe"] = json!({ "suite": "tiny", "pairs": 10, "kinds": kinds, "fooled": fooled });
        project.write("probed.json", report.to_string());
        let ran = project.run(&format!("gate probed.json --require-judge-licence={share} --json")).expect(code);
        let output: Value = serde_json::from_str(&ran.out).unwrap();
        let demands = output["demands"].as_array().unwrap().iter();
        let demand = |demand: &Value| {
            let what = demand["demand"].as_str().unwrap();
            (what.split_once(": ").unwrap().1.to_owned(), demand["outcome"].as_str().unwrap().to_owned())
        };
        (demands.map(demand).collect::<Vec<_>>(), ran.out)
    };
    let all = |right: Value, wrong: Value, padding: Value| json!({ "known_right": right, "known_wrong": wrong, "padding": padding });
    // The interval of the rate is compared with the limit.
    let good = all(rate(0, 60), rate(1, 60), rate(0, 120));
    let (demands, _) = gate(good.clone(), rate(0, 120), "0.1", 0);
    let names: Vec<&str> = demands.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "wrong about known-right pairs in ≤ 10 %",
            "wrong about known-wrong pairs in ≤ 10 %",
            "fooled by padding in ≤ 10 %",
            "fooled by any of these in ≤ 10 %"
        ]
    );
    // 26 pairs without an error are too few for 10 %, and enough for 15 %.
    let few = all(rate(0, 26), rate(0, 26), rate(0, 52));
    let (_, output) = gate(few.clone(), rate(0, 52), "0.1", 3);
    assert!(output.contains("n = 26 is too small to decide; about 35 such pairs would be enough"), "{output}");
    gate(few, rate(0, 52), "0.15", 0);
    // Each demand fails on its own and is named.
    for (kinds, fooled, failed) in [
        (all(rate(60, 60), rate(0, 60), rate(0, 60)), rate(0, 60), "wrong about known-right pairs in ≤ 10 %"),
        (all(rate(0, 60), rate(60, 60), rate(0, 60)), rate(0, 60), "wrong about known-wrong pairs in ≤ 10 %"),
        (all(rate(0, 60), rate(0, 60), rate(60, 120)), rate(60, 1200), "fooled by padding in ≤ 10 %"),
    ] {
        let (demands, _) = gate(kinds, fooled, "0.1", 1);
        let failing: Vec<&str> =
            demands.iter().filter(|(_, outcome)| outcome == "fails").map(|(name, _)| name.as_str()).collect();
        assert_eq!(failing, [failed]);
    }
    // A probe without known-right and known-wrong pairs is inconclusive.
    let (demands, output) = gate(json!({}), rate(0, 120), "0.1", 3);
    assert_eq!(demands.iter().filter(|(_, outcome)| outcome == "inconclusive").count(), 2);
    assert!(output.contains("run `karat judge probe --judge local` again"), "{output}");
}

#[test]
fn gate_writes_junit_markdown_and_step_summary() {
    let project = graded_suite(40, 1, &[("t", middling)]);
    score_to_file(&project, "r.json", "");
    let summary = project.path("summary.md");
    let line = "gate r.json --min f1=0.6 --min f1=0.7 --min f1=0.9 -o g.xml -o g.md -o g.json";
    CommandOutput::start(project.command().env("GITHUB_STEP_SUMMARY", &summary).args(line.split_whitespace()))
        .expect(1);
    insta::assert_snapshot!("gate_junit", project.read("g.xml"));
    assert_eq!(project.read("summary.md"), project.read("g.md"));
    insta::assert_snapshot!("gate_markdown", project.read("g.md"));
}
