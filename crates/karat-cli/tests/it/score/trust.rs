//! Intervals, clusters, ranks, and correction for the judge's errors by labels.

use crate::project::{Project, lines, number, suite, trial};
use serde_json::{Value, json};

/// Sixty cases in ten groups with one golden each. The tools find four, three and one of five goldens.
fn sixty_cases() -> Project {
    let golden = json!([{ "id": "g", "title": "The query is built from input", "file": "a.py", "line_start": 3,
                          "keywords": ["sql"] }]);
    let case =
        |n: usize| json!({ "id": format!("c{n:02}"), "meta": { "group": format!("r{}", n % 10) }, "issues": golden });
    let finding = json!([{ "id": "f", "message": "sql built from input", "file": "a.py", "line_start": 3 }]);
    let elsewhere = json!([{ "id": "f", "message": "a long line", "file": "z.py", "line_start": 90 }]);
    let mut trials = Vec::new();
    for n in 0..60 {
        for (tool, found) in [("four", n % 5 > 0), ("three", n % 5 > 1), ("one", n % 5 > 3)] {
            trials.push(trial(&format!("c{n:02}"), tool, 1, if found { finding.clone() } else { elsewhere.clone() }));
        }
    }
    suite(&(0..60).map(case).collect::<Vec<_>>()).with("s.jsonl", lines(&trials))
}

#[test]
fn every_headline_metric_has_an_interval_with_method_level_and_n() {
    let report = sixty_cases().json("score . --submission s.jsonl --judge none --set verdict_from=any --json");
    for id in ["precision", "recall", "f1", "accuracy"] {
        let estimate = &report["tools"][0]["metrics"][id];
        let (low, high) = (number(estimate, "/ci/0"), number(estimate, "/ci/1"));
        let value = number(estimate, "/value");
        assert!(low <= value && value <= high && low < high, "{id}: {estimate}");
        assert_eq!((estimate["level"].as_f64(), estimate["n"].as_u64()), (Some(0.95), Some(60)), "{id}");
        assert!(estimate["method"].is_string(), "{id}");
    }
    // SciPy 1.17.1: binomtest(48, 60).proportion_ci(method="wilson") is 0.6821819 to 0.8817149.
    let pooled = &report["tools"][0]["micro"]["recall"];
    assert!((number(pooled, "/ci/0") - 0.682_181_9).abs() < 1e-6, "{pooled}");
    assert!((number(pooled, "/ci/1") - 0.881_714_9).abs() < 1e-6, "{pooled}");
    assert_eq!(pooled["method"], "wilson over pooled items");
}

#[test]
fn ranks_follow_from_pairwise_tests() {
    let project = sixty_cases();
    let table = project.ok("score . --submission s.jsonl --judge none");
    insta::assert_snapshot!(table.lines().take(12).collect::<Vec<_>>().join("\n"));
    let ranking = &project.json("score . --submission s.jsonl --judge none --json")["ranking"];
    let order: Vec<&str> = ranking["tools"].as_array().unwrap().iter().filter_map(|t| t["tool"].as_str()).collect();
    assert_eq!(order, ["four", "three", "one"]);
    // Two tools that never differ.
    let same = |tool: &str| trial("c", tool, 1, json!([]));
    let case = json!({ "id": "c", "issues": [{ "id": "g", "title": "x", "file": "a.py" }] });
    let equal = suite(&[case]).with("s.jsonl", lines(&[same("a"), same("b")]));
    let report = equal.json("score . --submission s.jsonl --json");
    let ranking = &report["ranking"];
    assert_eq!(ranking["statement"], "By F1, a and b are tied.");
    for tool in ranking["tools"].as_array().unwrap() {
        assert_eq!((&tool["rank_low"], &tool["rank_high"]), (&json!(1), &json!(2)), "{tool}");
    }
    assert_eq!(
        ranking["pairs"],
        json!([{ "a": "a", "b": "b", "difference": 0.0, "p": 1.0, "p_holm": 1.0, "n": 1, "differing": 0 }])
    );
}

#[test]
fn tool_without_a_value_has_no_rank() {
    let crashed = |n: usize| json!({ "case": format!("c{n:02}"), "tool": "absent", "trial": 1, "outcome": "crashed" });
    let project = sixty_cases().with("t.jsonl", lines(&(0..60).map(crashed).collect::<Vec<_>>()));
    let flags = "--judge none --set failed_trials=exclude --json";
    let report = project.json(&format!("score . --submission s.jsonl --submission t.jsonl {flags}"));
    let tools = report["ranking"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 4);
    let last = &tools[3];
    assert_eq!((last["tool"].as_str(), last.get("rank"), last.get("rank_low")), (Some("absent"), None, None));
    assert!(tools[..3].iter().all(|tool| tool["rank_high"].as_u64().unwrap() <= 3), "{tools:?}");
    assert_eq!(report["ranking"]["pairs"].as_array().unwrap().len(), 3);
    let four: String = project
        .read("s.jsonl")
        .lines()
        .filter(|line| line.contains("\"four\""))
        .map(|line| format!("{line}\n"))
        .collect();
    let project = project.with("four.jsonl", four);
    let report = project.json(&format!("score . --submission four.jsonl --submission t.jsonl {flags}"));
    assert_eq!(report["ranking"]["statement"], "Only four has a value of F1.");
    assert_eq!(report["ranking"]["tools"][0]["rank_high"], 1);
}

#[test]
fn cluster_bootstrap_and_proportion_flags() {
    let project = sixty_cases();
    let flags = "--cluster meta.group --bootstrap percentile --resamples 2000";
    let report = project.json(&format!("score . --submission s.jsonl --judge none --json {flags}"));
    let intervals = &report["intervals"];
    assert_eq!((&intervals["bootstrap"], &intervals["resamples"]), (&json!("percentile"), &json!(2000)));
    assert_eq!((&intervals["cluster"], &intervals["clusters"]["used"]), (&json!("meta.group"), &json!(true)));
    let recall = &report["tools"][0]["metrics"]["recall"];
    assert_eq!(recall["method"], "hierarchical-cluster-bootstrap-percentile");
    let exact = project.json("score . --submission s.jsonl --judge none --json --proportions clopper-pearson");
    // SciPy 1.17.1: binomtest(48, 60).proportion_ci(method="exact") is 0.6766996 to 0.8921589.
    let ci = &exact["tools"][0]["micro"]["recall"];
    assert!((number(ci, "/ci/0") - 0.676_699_6).abs() < 1e-6, "{ci}");
    assert!((number(ci, "/ci/1") - 0.892_158_9).abs() < 1e-6, "{ci}");
    project
        .run("score . --submission s.jsonl --cluster team")
        .expect_error(2, &["--cluster team: no case has this field", "meta.group"]);
    project.run("score . --submission s.jsonl --resamples 5").expect(2);
    let seeded = |seed: u32| {
        let report =
            project.json(&format!("score . --submission s.jsonl --judge none --json --resamples 100 --seed {seed}"));
        report["tools"].clone()
    };
    assert_eq!(seeded(1), seeded(1));
    assert_ne!(seeded(1), seeded(2));
}

/// A person's label of the pair of a case.
fn label(case: usize, tool: &str, matched: bool, probability: Option<f64>) -> Value {
    let mut line = json!({ "kind": "pair", "case": format!("c{case:02}"), "tool": tool, "trial": 1,
        "judge": "human:anna", "golden": "g", "finding": "f", "match": matched });
    if let Some(probability) = probability {
        line["probability"] = json!(probability);
    }
    line
}

#[test]
fn labels_correct_metrics_for_judge_errors() {
    // According to the labels, every second miss of "four" is a match.
    let truth = |n: usize| !n.is_multiple_of(5) || n.is_multiple_of(2);
    let labels: Vec<Value> = (0..60).map(|n| label(n, "four", truth(n), Some(1.0))).collect();
    let project = sixty_cases().with("labels.jsonl", lines(&labels));
    let command = "score . --submission s.jsonl --judge none --labels labels.jsonl";
    let report = project.json(&format!("{command} --json"));
    let four = &report["tools"][0];
    assert_eq!(four["metrics"]["recall"]["value"], 0.8, "labels do not change the raw value");
    let recall = &four["corrected"]["recall"];
    assert_eq!((recall["raw"].as_f64(), four["corrected"]["labelled_goldens"].as_u64()), (Some(0.8), Some(60)));
    // 48 of 60, and 6 of the 12 misses.
    assert!((number(recall, "/ppi/value") - 0.9).abs() < 1e-6, "{recall}");
    // Below, Wilson's distances of the judge's recall, of 0 wrong in 48 and of 6 in 12: √(0.059² + 0.059² + 0.051²). Above, the
    // spread between cases is wider: t₅₉ · 0.0391.
    assert!((number(recall, "/ppi/ci/0") - 0.8018).abs() < 1e-3, "{recall}");
    assert!((number(recall, "/ppi/ci/1") - 0.9782).abs() < 1e-3, "{recall}");
    // The misses are not candidates.
    assert!(recall["rogan_gladen"]["refused"].as_str().unwrap().contains("was not asked about"), "{recall}");
    assert_eq!(report["tools"][1]["corrected"], Value::Null);
    let table = project.ok(command);
    let from = table.find("Corrected for judge errors").unwrap();
    insta::assert_snapshot!(table[from..].lines().take(8).collect::<Vec<_>>().join("\n"));
    // Labels without a sampling probability.
    let unknown: Vec<Value> = (0..60).map(|n| label(n, "four", truth(n), None)).collect();
    project.write("labels.jsonl", lines(&unknown));
    assert!(project.ok(command).contains("do not give the probability of picking their pairs"));
    project.write("labels.jsonl", lines(&[label(0, "four", true, Some(1.5))]));
    project.run(command).expect_error(4, &["labels.jsonl:1", "probability"]);
}
