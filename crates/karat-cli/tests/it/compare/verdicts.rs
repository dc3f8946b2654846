//! Verdicts on differences: better, worse, equivalent, identical, inconclusive; and ranks.

use super::{good, graded_suite, middling, noisy, run_at_80_columns, score_to_file};
use crate::project::{near, number};

#[test]
fn better_tool_is_better_and_reversed_is_worse() {
    let project = graded_suite(40, 1, &[("old", middling), ("new", good)]);
    score_to_file(&project, "r.json", "");
    insta::assert_snapshot!("better", run_at_80_columns(&project, "compare r.json").expect(0).out);
    let json = project.json("compare r.json --json --metric f1");
    near(&json, "/comparisons/0/cases", 40.0);
    assert_eq!(json["comparisons"][0]["metrics"][0]["verdict"], "better");
    // With the sides swapped it is worse.
    let reversed = project.json("compare r.json --tools new,old --json --metric f1");
    assert_eq!(reversed["comparisons"][0]["metrics"][0]["verdict"], "worse");
    assert_eq!(number(&reversed, "/comparisons/0/metrics/0/p"), number(&json, "/comparisons/0/metrics/0/p"));
}

#[test]
fn run_compared_with_itself_is_never_better() {
    for cases in [5, 40] {
        let project = graded_suite(cases, 2, &[("t", middling)]);
        score_to_file(&project, "r.json", "");
        let json = project.json("compare r.json r.json --json");
        for metric in json["comparisons"][0]["metrics"].as_array().unwrap() {
            // Nothing varies, so that nothing is known to be equivalent.
            let expected = if metric["n"].as_u64() > Some(0) { "identical" } else { "inconclusive" };
            assert_eq!(metric["verdict"], expected, "{metric}");
        }
        assert!(json["warnings"].to_string().contains("compared with itself"), "{json}");
    }
}

#[test]
fn lower_is_better_for_false_positive_rate() {
    let project = graded_suite(60, 1, &[("loud", noisy), ("calm", good)]);
    score_to_file(&project, "r.json", "--set verdict_from=any");
    let json = project.json("compare r.json --json --metric fpr --metric accuracy --metric f1");
    let metrics = &json["comparisons"][0]["metrics"];
    assert_eq!(metrics[0]["direction"], "down");
    // A ratio over the verdicts of the six clean cases.
    near(metrics, "/0/n", 6.0);
    assert!(number(metrics, "/0/difference") < 0.0);
    near(metrics, "/1/n", 60.0);
    assert_eq!(metrics[2]["verdict"], "better");
}

#[test]
fn cluster_flag_makes_repositories_the_units() {
    let project = graded_suite(40, 1, &[("old", middling), ("new", good)]);
    score_to_file(&project, "r.json", "");
    let json = project.json("compare r.json --json --metric f1 --cluster repo");
    near(&json, "/comparisons/0/metrics/0/units", 8.0);
    near(&json, "/comparisons/0/metrics/0/n", 36.0);
    assert_eq!(json["comparisons"][0]["metrics"][0]["unreliable"], true);
    assert_eq!(json["comparisons"][0]["metrics"][0]["method"], "cluster-bootstrap-bca");
    project.run("compare r.json --cluster team").expect_error(2, &["no case has the field `team`", "language, repo"]);
}

#[test]
fn ranks_follow_from_pairwise_tests() {
    let project = graded_suite(40, 1, &[("noisy", noisy), ("good", good), ("twin", good), ("middling", middling)]);
    score_to_file(&project, "r.json", "");
    insta::assert_snapshot!("ranks", run_at_80_columns(&project, "compare r.json --ranks").expect(0).out);
    let json = project.json("compare r.json --ranks --json");
    let tools = json["ranks"]["tools"].as_array().unwrap();
    let sets: Vec<(&str, u64, u64)> = tools
        .iter()
        .map(|t| (t["tool"].as_str().unwrap(), t["rank_low"].as_u64().unwrap(), t["rank_high"].as_u64().unwrap()))
        .collect();
    assert_eq!(sets, [("good", 1, 2), ("twin", 1, 2), ("middling", 3, 3), ("noisy", 4, 4)]);
    assert_eq!(json["ranks"]["statement"], "By F1, good and twin are tied for the lead.");
    assert_eq!(json["ranks"]["pairs"].as_array().unwrap().len(), 6);
    // The report has the same ranking.
    let report: serde_json::Value = serde_json::from_str(&project.read("r.json")).unwrap();
    assert_eq!(report["ranking"], json["ranks"]);
    // Fewer tools have fewer ranks.
    let two = project.json("compare r.json --ranks --tools noisy,middling --metric recall --json");
    assert_eq!(two["ranks"]["metric"], "recall");
    assert!(two["ranks"]["tools"].as_array().unwrap().iter().all(|t| t["rank_high"].as_u64().unwrap() <= 2));
    // A metric over verdicts is not a mean over cases.
    let verdicts = project.json("compare r.json --ranks --metric fpr --json");
    assert_eq!(verdicts["ranks"]["direction"], "down");
    let worst = verdicts["ranks"]["tools"].as_array().unwrap().last().unwrap();
    assert_eq!((worst["tool"].as_str(), worst["rank_high"].as_u64()), (Some("noisy"), Some(4)), "{worst}");
    project.run("compare r.json --ranks -o ranks.md").expect(0);
    insta::assert_snapshot!("ranks_markdown", project.read("ranks.md"));
    project.run("compare r.json --ranks --metric f1 --metric recall").expect_error(2, &["one metric"]);
}

#[test]
fn p_values_of_several_tools_are_corrected_together() {
    let project = graded_suite(40, 1, &[("a", middling), ("b", good), ("c", noisy)]);
    score_to_file(&project, "r.json", "");
    let first = project.json("compare r.json --json --metric f1");
    let all = project.json("compare r.json --all-pairs --json --metric f1");
    assert_eq!(first["comparisons"].as_array().unwrap().len(), 2);
    assert_eq!(all["comparisons"].as_array().unwrap().len(), 3);
    let p = "/comparisons/0/metrics/0/p";
    assert_eq!(number(&first, p), number(&all, p));
    assert!(number(&first, "/comparisons/0/metrics/0/p_holm") >= number(&first, p));
}

#[test]
fn golden_counts_once_by_the_majority_of_trials() {
    let project = graded_suite(40, 3, &[("a", |_| (0, 0)), ("b", |at| (usize::from(at.is_multiple_of(2)), 0))]);
    // The last trial of b finds nothing: two of three are still the majority.
    let drop_third_trial = |line: &str| match serde_json::from_str::<serde_json::Value>(line).unwrap() {
        mut trial if trial["tool"] == "b" && trial["trial"] == 3 => {
            trial["findings"] = serde_json::json!([]);
            format!("{trial}\n")
        }
        trial => format!("{trial}\n"),
    };
    let text: String = project.read("submissions/all.jsonl").lines().map(drop_third_trial).collect();
    project.write("submissions/all.jsonl", text);
    score_to_file(&project, "r.json", "");
    let json = project.json("compare r.json --json");
    let goldens = &json["comparisons"][0]["goldens"];
    assert_eq!(goldens["gained"].as_array().unwrap().len(), 20);
    assert_eq!((&goldens["lost"], &goldens["both"]), (&serde_json::json!([]), &serde_json::json!(0)));
    near(goldens, "/neither", 52.0);
    near(goldens, "/flaky", 20.0);
    assert_eq!(goldens["gained"][0]["b"], serde_json::json!([2, 3]));
    // 2 · 0.5^20.
    assert!((number(goldens, "/p") - 2.0 * 0.5_f64.powi(20)).abs() < 1e-12);
}

/// With a profile whose headline is a mean over categories, comparisons use that mean.
#[test]
fn macro_averaged_headlines_are_compared() {
    let cases: Vec<serde_json::Value> = (0..60)
        .map(|at| {
            let verdict = if at % 2 == 0 { "vulnerable" } else { "safe" };
            let category = if at < 10 { "small" } else { "large" };
            serde_json::json!({ "id": super::case_id(at), "verdict": verdict, "categories": [category], "cwe": [89], "issues": [] })
        })
        .collect();
    let project = crate::project::suite(&cases);
    let mut trials = Vec::new();
    for (tool, wrong) in [("a", 3), ("b", 7)] {
        for at in 0..60 {
            let says_vulnerable = (at % 2 == 0) != (at % wrong == 0);
            let mut trial = crate::project::trial(&super::case_id(at), tool, 1, serde_json::json!([]));
            trial["verdict"] = if says_vulnerable { "vulnerable".into() } else { "safe".into() };
            trials.push(trial);
        }
    }
    project.write("submissions/all.jsonl", crate::project::lines(&trials));
    score_to_file(&project, "r.json", "--profile owasp");
    let report: serde_json::Value = serde_json::from_str(&project.read("r.json")).unwrap();
    let json = project.json("compare r.json --json --metric youden");
    let (a, b) = ("/tools/0/macro_by/category/youden/value", "/tools/1/macro_by/category/youden/value");
    assert!((number(&json, "/comparisons/0/metrics/0/a") - number(&report, a)).abs() < 1e-12);
    assert!((number(&json, "/comparisons/0/metrics/0/b") - number(&report, b)).abs() < 1e-12);
    assert!(
        number(&report, a) != number(&report, "/tools/0/metrics/youden/value"),
        "macro and micro values must differ for this test"
    );
    assert!(json["comparisons"][0]["metrics"][0]["ci"].is_array(), "{json}");
    assert_eq!(json["comparisons"][0]["moved"], serde_json::json!([]));
}
