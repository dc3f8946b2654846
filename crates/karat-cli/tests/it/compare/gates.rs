//! Outcomes and exit codes of `karat gate`.

use super::{good, graded_suite, middling, noisy, run_at_80_columns, score_to_file, submit};
use crate::project::{CommandOutput, near, number};
use karat::profile::SHIPPED;
use karat_core::stats::random::Random;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

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

/// Whatever the number of cases, a tool whose results did not change passes, and the gate says what it cannot exclude.
#[test]
fn equal_results_are_identical_and_pass_at_any_n() {
    for (cases, unseen) in [(1, "95.0 %"), (5, "45.1 %"), (40, "52.7 %")] {
        let project = graded_suite(cases, 1, &[("t", middling)]);
        score_to_file(&project, "r.json", "");
        project.ok("baseline write r.json -o base.json --metric f1 --metric recall --metric clean_pass");
        let ran = project.run("gate r.json --no-worse-than base.json").expect(0);
        let metrics = if cases == 40 { 3 } else { 2 };
        assert!(ran.out.contains(&format!("The gate passes: {metrics} demands passed")), "{}", ran.out);
        // Nothing is demanded of a metric that no case has.
        assert_eq!(ran.out.contains("left out      t  clean: n = 0"), cases < 10, "{}", ran.out);
        let gate = project.json("gate r.json --no-worse-than base.json --json");
        // The line of the tool is about all of its metrics, and each has its own n.
        let passed = gate["demands"].as_array().unwrap().iter().filter(|demand| demand["outcome"] == "holds");
        let n: BTreeSet<u64> = passed.map(|demand| demand["n"].as_u64().unwrap()).collect();
        let n = match (n.first().unwrap(), n.last().unwrap()) {
            (least, most) if least < most => format!("n = {least} to {most}"),
            (n, _) => format!("n = {n}"),
        };
        let line = format!("  identical     t  {metrics} metrics: {n}, up to {unseen} could differ\n");
        assert!(ran.out.contains(&line) && n.contains("to") == (cases == 40), "{line}{}", ran.out);
        // Metrics come by id: clean_pass, f1, recall.
        let share = 1.0 - 0.05_f64.powf(1.0 / number(&gate, "/demands/1/n"));
        near(&gate, "/demands/1/unseen", share);
        assert_eq!(gate["demands"][1]["unchanged"], true);
        // Comparing says the same.
        let json = project.json("compare base.json r.json --json --metric f1");
        assert_eq!(json["comparisons"][0]["metrics"][0]["verdict"], "identical");
        assert!(project.ok("compare base.json r.json").contains("F1, recall: identical, n = "));
    }
}

/// Every metric of every profile: what a tool does not change keeps no gate from passing.
#[test]
fn unchanged_tool_passes_whatever_the_profile() {
    let project = graded_suite(7, 2, &[("t", middling), ("silent", |_| (0, 0))]);
    let mut compared = 0;
    for profile in SHIPPED.iter().map(|profile| profile.name) {
        project.run(&format!("score . --judge none --profile {profile} -o r.json"));
        if !project.path("r.json").exists() {
            continue;
        }
        project.ok("baseline write r.json -o base.json");
        let report: Value = serde_json::from_str(&project.read("r.json")).unwrap();
        let headline = report["profile"]["headline"].as_array().unwrap();
        let has_value = |id: &Value| report["tools"][0]["metrics"][id.as_str().unwrap()]["value"].is_number();
        // Without audits, a profile that rests on them has no figure to compare.
        compared += usize::from(headline.iter().any(has_value));
        let (code, text) = if headline.iter().any(has_value) { (0, "identical") } else { (3, "no metric has a value") };
        let ran = project.run("gate r.json --no-worse-than base.json --tools t -v").expect(code);
        assert!(ran.out.contains(text), "{profile}: {}", ran.out);
        std::fs::remove_file(project.path("r.json")).unwrap();
    }
    assert!(compared >= 4, "{compared} profiles have figures");
}

/// A regression on a few cases, as `(found, false positives)`: too little to tell it from chance.
fn lost_one_of_four(at: usize) -> (usize, usize) {
    (2 * usize::from(at != 2), 0)
}

#[test]
fn few_cases_neither_fail_nor_pass_what_comparing_cannot_decide() {
    let project = graded_suite(4, 1, &[("t", |_| (2, 0))]);
    score_to_file(&project, "old.json", "");
    project.ok("baseline write old.json -o base.json");
    submit(&project, 4, 1, &[("t", lost_one_of_four)], "submissions/all.jsonl");
    score_to_file(&project, "new.json", "");
    let compared = project.json("compare base.json new.json --json --metric recall");
    assert_eq!(compared["comparisons"][0]["metrics"][0]["verdict"], "inconclusive");
    let ran = project.run("gate new.json --no-worse-than base.json").expect(3);
    assert!(ran.out.contains("F1: n = 4, "), "{}", ran.out);
    assert!(ran.out.contains("no metric that changed has 30 cases or more"), "{}", ran.out);
    // A metric that is demanded by name is decided or inconclusive, and is named with its own n.
    let ran = project.run("gate new.json --no-worse-than base.json --metric recall -v").expect(3);
    assert!(
        ran.out.contains("inconclusive  recall no worse than base.json") && ran.out.contains("n = 4"),
        "{}",
        ran.out
    );
    // Where every case is lost, few are enough.
    submit(&project, 4, 1, &[("t", |_| (0, 0))], "submissions/all.jsonl");
    score_to_file(&project, "lost.json", "");
    let certain = |file: &str| {
        project.json(&format!("compare base.json {file} --json --metric recall"))["comparisons"][0]["metrics"][0]["verdict"].clone()
    };
    assert_eq!(certain("lost.json"), "inconclusive");
    project.run("gate lost.json --no-worse-than base.json").expect(3);
}

/// Precision is known of two cases only: it is left out of a verdict on forty, with its own n.
#[test]
fn metric_of_few_cases_is_left_out_unless_it_is_named() {
    let silent_but = |at: usize, falses: usize| if at < 2 { (0, falses) } else { (0, 0) };
    let project = graded_suite(40, 1, &[]);
    let write = |falses: fn(usize) -> usize, file: &str| {
        let trials: Vec<Value> = (0..40)
            .map(|at| {
                let (_, wrong) = silent_but(at, falses(at));
                let mut findings = super::findings(at, (0, wrong));
                if at < 2 {
                    let found = super::findings(at, (1, 0));
                    findings.as_array_mut().unwrap().extend(found.as_array().unwrap().iter().cloned());
                }
                crate::project::trial(&super::case_id(at), "t", 1, findings)
            })
            .collect();
        project.write("submissions/all.jsonl", crate::project::lines(&trials));
        score_to_file(&project, file, "");
    };
    write(|_| 1, "old.json");
    write(|at| 2usize.saturating_sub(at), "new.json");
    project.ok("baseline write old.json -o base.json --metric precision --metric recall");
    let ran = project.run("gate new.json --no-worse-than base.json").expect(0);
    assert!(ran.out.contains("left out      t  precision: n = 2"), "{}", ran.out);
    assert!(ran.out.contains("1 demand passed, 1 demand left out"), "{}", ran.out);
    for named in ["--metric precision --metric recall", "--min precision=0"] {
        let ran = project.run(&format!("gate new.json --no-worse-than base.json {named} -v")).expect(3);
        assert!(ran.out.contains("inconclusive  precision no worse than") && ran.out.contains("n = 2"), "{}", ran.out);
        assert!(!ran.out.contains("40 cases are too few"), "{}", ran.out);
    }
    let ran = project.run("gate new.json --no-worse-than base.json -o gate.xml -o gate.md").expect(0);
    assert!(!ran.out.contains("inconclusive"), "{}", ran.out);
    assert!(project.read("gate.xml").contains("skipped=\"1\""), "{}", project.read("gate.xml"));
    assert!(project.read("gate.md").contains("➖ left out"), "{}", project.read("gate.md"));
}

/// A demand on a metric, by tool and metric.
fn metric_of(demand: &Value) -> Option<([&str; 2], &Value)> {
    Some(([demand["tool"].as_str()?, demand["metric"].as_str()?], demand))
}

/// What `karat gate` concludes from each metric follows from what `karat compare` says of it.
#[test]
fn gate_never_contradicts_compare() {
    let mut random = Random::new(7, 0);
    let (mut seen, below) =
        (BTreeSet::new(), |most: usize, random: &mut Random| (random.unit() * most as f64) as usize);
    for round in 0..14 {
        let cases = [1, 2, 4, 6, 9, 14, 33, 40, 60][below(9, &mut random)];
        let tools = ["t", "u"];
        let skill = |random: &mut Random| (below(3, random), below(2, random));
        let old: Vec<Vec<(usize, usize)>> =
            tools.iter().map(|_| (0..cases).map(|_| skill(&mut random)).collect()).collect();
        // A tool may be as before, noisy, much better or much worse.
        let change = |way: usize, before: (usize, usize), random: &mut Random| match way {
            0 => before,
            1 if random.unit() < 0.2 => skill(random),
            2 => (2, 0),
            3 => (0, 2),
            4 if random.unit() < 0.05 => skill(random),
            _ => before,
        };
        let mut new = old.clone();
        for own in &mut new {
            let way = below(5, &mut random);
            own.iter_mut().for_each(|case| *case = change(way, *case, &mut random));
        }
        let project = graded_suite(cases, 1, &[]);
        let write = |results: &[Vec<(usize, usize)>], file: &str| {
            let own = |(tool, own): (&&str, &Vec<(usize, usize)>)| {
                let trial =
                    |at: usize| crate::project::trial(&super::case_id(at), tool, 1, super::findings(at, own[at]));
                (0..cases).map(trial).collect::<Vec<Value>>()
            };
            let trials: Vec<Value> = tools.iter().zip(results).flat_map(own).collect();
            project.write("submissions/all.jsonl", crate::project::lines(&trials));
            let flags = ["", "--cluster repo", "--cluster none"][round % 3];
            score_to_file(&project, file, flags);
        };
        write(&old, "old.json");
        write(&new, "new.json");
        project.ok("baseline write old.json -o base.json");
        let earlier = ["base.json", "old.json"][round % 2];
        let named = ["", "--metric f1 --metric precision --metric accuracy"][round / 2 % 2];
        let compared = project.json(&format!("compare {earlier} new.json --json {named}"));
        let ran = project.run(&format!("gate new.json --no-worse-than {earlier} --json {named}"));
        let gate: Value = serde_json::from_str(&ran.out).unwrap();
        // Each metric of each tool has a demand, and each demand on a metric is compared.
        let demands: BTreeMap<[&str; 2], &Value> =
            gate["demands"].as_array().unwrap().iter().filter_map(metric_of).collect();
        let mut compared_metrics = BTreeSet::new();
        for pair in compared["comparisons"].as_array().unwrap() {
            for row in pair["metrics"].as_array().unwrap() {
                let name = [pair["b"]["tool"].as_str().unwrap(), row["metric"].as_str().unwrap()];
                compared_metrics.insert(name);
                let demand = demands.get(&name).unwrap_or_else(|| panic!("no demand on {name:?}: {}", ran.out));
                assert_eq!(
                    (&demand["value"], &demand["ci"], &demand["n"]),
                    (&row["difference"], &row["ci"], &row["units"])
                );
                let (verdict, outcome) = (row["verdict"].as_str().unwrap(), demand["outcome"].as_str().unwrap());
                let low = row["ci"][0].as_f64().filter(|_| row["unreliable"] == false);
                let is_right = match verdict {
                    "better" | "equivalent" | "identical" => outcome == "holds",
                    "worse" => outcome == "fails" || outcome == "inconclusive" && row["ci"][1].as_f64() >= Some(-0.02),
                    _ => match outcome {
                        "holds" => low > Some(-0.02),
                        "left_out" => row["unreliable"] == true && named.is_empty(),
                        outcome => outcome == "inconclusive",
                    },
                };
                assert!(is_right, "{verdict} and {outcome}: {row} {demand}");
                seen.insert(format!("{verdict} {outcome}"));
            }
        }
        assert_eq!(demands.keys().copied().collect::<BTreeSet<_>>(), compared_metrics);
        let outcomes: Vec<&str> =
            gate["demands"].as_array().unwrap().iter().map(|demand| demand["outcome"].as_str().unwrap()).collect();
        let code = if outcomes.contains(&"fails") {
            1
        } else if outcomes.contains(&"inconclusive") {
            3
        } else {
            0
        };
        assert_eq!(ran.code, Some(code), "{}", ran.out);
    }
    for expected in
        ["better holds", "worse fails", "identical holds", "inconclusive left_out", "inconclusive inconclusive"]
    {
        assert!(seen.contains(expected), "never seen: {expected}: {seen:?}");
    }
}

/// Two tools are two tests, for a gate as for a comparison; and clusters are those that the reports were scored with.
#[test]
fn one_name_selects_the_same_tools_for_gates_and_comparisons() {
    let project = graded_suite(40, 1, &[("old", middling), ("other", good)]);
    score_to_file(&project, "old.json", "");
    submit(&project, 40, 1, &[("new", noisy), ("other", good)], "submissions/all.jsonl");
    score_to_file(&project, "new.json", "");
    for flag in ["--tools", "--tool"] {
        assert!(project.ok(&format!("compare old.json new.json {flag} other")).starts_with("other (old.json) → other"));
        project.run(&format!("gate new.json --no-worse-than old.json {flag} other")).expect(0);
        assert!(project.ok(&format!("compare old.json new.json {flag} old,new")).starts_with("old (old.json) → new"));
        let ran = project.run(&format!("gate new.json --no-worse-than old.json {flag} old,new")).expect(1);
        assert!(ran.out.contains("fail          new  "), "{}", ran.out);
        let baseline = project.ok(&format!("baseline write old.json {flag} old,other"));
        assert_eq!(baseline.matches("\"tool\": ").count(), 2, "{baseline}");
    }
    project.run("gate new.json --no-worse-than old.json --tools best").expect_error(2, &["has no tool `best`"]);
    // A tool without an earlier result is not decided.
    let ran = project.run("gate new.json --no-worse-than old.json --tools new").expect(3);
    assert!(ran.out.contains("old.json has no such tool; available: old, other"), "{}", ran.out);
    // The report may have the first of two names as well.
    assert!(project.ok("compare old.json new.json --tools other,new").starts_with("other (old.json) → new"));
    let ran = project.run("gate new.json --no-worse-than old.json --tools other,new").expect(1);
    assert!(ran.out.contains("fail          new  ") && !ran.out.contains(" other  "), "{}", ran.out);
    // A single tool on both sides is the same under two names only where no name is given.
    submit(&project, 40, 1, &[("new", noisy)], "submissions/all.jsonl");
    score_to_file(&project, "one.json", "");
    project.ok("baseline write old.json --tools old -o base.json");
    project.run("compare base.json one.json --tools new").expect_error(2, &["base.json has no tool `new`"]);
    let ran = project.run("gate one.json --no-worse-than base.json --tools new").expect(3);
    assert!(ran.out.contains("base.json has no such tool; available: old"), "{}", ran.out);
    let ran = project.run("gate one.json --no-worse-than base.json").expect(1);
    assert!(ran.out.contains("fail          new  "), "{}", ran.out);
}

#[test]
fn first_gate_writes_the_baseline_that_is_missing() {
    let project = graded_suite(5, 1, &[("t", middling)]);
    score_to_file(&project, "r.json", "");
    let line = "gate r.json --no-worse-than base.json";
    let failed = project.run(line).expect_error(4, &["base.json is missing", "--baseline-missing=write"]);
    assert!(failed.err.contains("karat baseline write r.json -o base.json"), "{}", failed.err);
    assert!(!project.path("base.json").exists());
    // What fails on its own is no baseline.
    project.run(&format!("{line} --baseline-missing=write --min f1=1 --allow-small-n")).expect(1);
    assert!(!project.path("base.json").exists());
    let ran = project.run(&format!("{line} --baseline-missing=write -o g.md")).expect(0);
    assert!(ran.out.contains("The gate passes: there was no baseline, base.json was written."), "{}", ran.out);
    assert!(project.read("g.md").contains("base.json was written"), "{}", project.read("g.md"));
    assert_eq!(project.read("base.json"), project.ok("baseline write r.json"));
    // A name without an ending may be a run that was mistyped.
    let line_of_run = "gate r.json --no-worse-than nightli --baseline-missing=write";
    project.run(line_of_run).expect_error(4, &["nightli is missing", "such as karat-baseline.json"]);
    // From then on it is compared with.
    let ran = project.run(&format!("{line} --baseline-missing=write")).expect(0);
    assert!(ran.out.contains("identical"), "{}", ran.out);
    // The path in a file of rules is relative to it.
    project.write("ci/gate.toml", "no_worse_than = \"nightly.json\"\nmetrics = [\"f1\"]\n");
    project.run("gate r.json --rules ci/gate.toml").expect_error(4, &["ci/nightly.json is missing"]);
    let gate = project.json("gate r.json --rules ci/gate.toml --baseline-missing=write --json");
    assert_eq!((&gate["baseline_written"], &gate["outcome"]), (&json!("ci/nightly.json"), &json!("holds")));
    assert_eq!(project.read("ci/nightly.json"), project.ok("baseline write r.json --metric f1"));
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
        .expect_error(4, &["gone.json is missing", "karat baseline write r.json -o gone.json"]);
    project.write("b.json", text.replace("\"digest\":\"blake3:", "\"digest\":\"blake3:0"));
    project.run("gate r.json --no-worse-than b.json").expect_error(4, &["different suites"]);
    project.run("gate r.json --no-worse-than b.json --intersection").expect(0);
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

/// Cases without a report may be the harder ones, so no gate passes without them.
#[test]
fn gates_do_not_pass_on_a_part_of_the_cases() {
    let project = graded_suite(40, 1, &[("t", good)]);
    let without_report = |(at, line): (usize, &str)| {
        let mut trial: Value = serde_json::from_str(line).unwrap();
        if at < 5 {
            (trial["outcome"], trial["findings"]) = (json!("unavailable"), json!([]));
        }
        trial
    };
    let lines: Vec<Value> = project.read("submissions/all.jsonl").lines().enumerate().map(without_report).collect();
    project.write("submissions/all.jsonl", crate::project::lines(&lines));
    score_to_file(&project, "r.json", "");
    let ran = project.run("gate r.json --min f1=0.1 -v").expect(3);
    assert!(ran.out.contains("coverage ≥ 0.9") && ran.out.contains("35 of 40 cases have a report"), "{}", ran.out);
    project.run("gate r.json --min f1=0.1 --min-coverage 0.8").expect(0);
    project.write("gate.toml", "min_coverage = 0.8\n[[rule]]\nmetric = \"f1\"\nmin = 0.1\n");
    project.run("gate r.json --rules gate.toml").expect(0);
    // A demand that fails on what is there fails all the same.
    project.run("gate r.json --max f1=0.1").expect(1);
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
