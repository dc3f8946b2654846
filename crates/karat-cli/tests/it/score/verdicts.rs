//! Verdicts on whole cases.

use crate::project::{Project, lines, near, suite, trial};
use serde_json::{Value, json};

/// OWASP tests in two categories, and a tool's findings.
fn owasp() -> Project {
    let project = Project::new().with(
        "expectedresults-1.csv",
        "# test name, category, real vulnerability, cwe, Tiny version: 1.0, 2020-01-01\n\
         T1,sqli,true,89\nT2,sqli,false,89\nT3,sqli,true,89\nT4,weakrand,true,330\nT5,weakrand,false,330\n",
    );
    project.run("import --from owasp expectedresults-1.csv -o bench").expect_error(0, &["5 cases"]);
    let finding = |cwe: u32| json!([{ "id": "f", "rule_id": "r", "cwe": [cwe] }]);
    // sqli: one of two is found, and the safe one is flagged; T3 has an unrelated finding. weakrand: all correct.
    project.write(
        "s.jsonl",
        lines(&[
            trial("T1", "t", 1, finding(89)),
            trial("T2", "t", 1, finding(89)),
            trial("T3", "t", 1, finding(22)),
            trial("T4", "t", 1, finding(330)),
            trial("T5", "t", 1, finding(89)),
        ]),
    );
    project
}

#[test]
fn rates_by_category_equal_hand_computed_values() {
    let report = owasp().json("score bench --json --submission s.jsonl --profile owasp");
    let tool = &report["tools"][0];
    near(tool, "/by/category/sqli/metrics/tpr/value", 0.5);
    near(tool, "/by/category/sqli/metrics/fpr/value", 1.0);
    near(tool, "/by/category/sqli/metrics/youden/value", -0.5);
    near(tool, "/by/category/weakrand/metrics/tpr/value", 1.0);
    near(tool, "/by/category/weakrand/metrics/fpr/value", 0.0);
    near(tool, "/by/category/weakrand/metrics/youden/value", 1.0);
    near(tool, "/macro_by/category/youden/value", 0.25);
    near(tool, "/macro_by/category/tpr/value", 0.75);
    near(tool, "/macro_by/category/fpr/value", 0.5);
    near(tool, "/macro_by/category/accuracy/value", (1.0 / 3.0 + 1.0) / 2.0);
    // Pooled over all five: 2 of 3 found, 1 of 2 flagged.
    near(tool, "/metrics/tpr/value", 2.0 / 3.0);
    near(tool, "/metrics/fpr/value", 0.5);
    near(tool, "/metrics/accuracy/value", 0.6);
    assert_eq!(tool["verdicts"], json!({ "tp": 2.0, "fp": 1.0, "tn": 1.0, "fn": 1.0 }));
    assert_eq!(tool["metrics"]["precision"]["undefined"], "the profile compares only verdicts");
    let table = owasp().ok("score bench --submission s.jsonl --profile owasp");
    let row = table.lines().find(|line| line.trim_start().starts_with("t ")).unwrap();
    // Intervals are beside the values.
    let values: Vec<&str> = row.split_whitespace().filter(|cell| cell.starts_with("0.")).collect();
    assert_eq!(values, ["0.250", "0.750", "0.500", "0.667"], "{table}");
}

/// A category without safe cases has a true positive rate alone, so that the means do not have the difference that Youden J states.
#[test]
fn means_over_different_categories_say_so() {
    let each = "each is the mean over the values of category that have it";
    let project = owasp();
    let line = "score bench --submission s.jsonl --profile owasp";
    assert!(!project.ok(line).contains(each));
    let cases = project.read("bench/cases.jsonl");
    project.write(
        "bench/cases.jsonl",
        cases.lines().filter(|case| !case.contains("\"T5\"")).collect::<Vec<_>>().join("\n"),
    );
    project.write("s.jsonl", project.read("s.jsonl").lines().take(4).collect::<Vec<_>>().join("\n"));
    let report = project.json(&format!("{line} --json"));
    let value = |id: &str| report["tools"][0]["macro_by"]["category"][id]["value"].as_f64().unwrap();
    assert_eq!((value("youden"), value("tpr"), value("fpr")), (-0.5, 0.75, 1.0));
    for text in [
        project.ok(line),
        project.ok(&format!("{line} --format markdown")),
        project.ok(&format!("{line} --format html")),
    ] {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&format!("{each}: Youden J 1, TPR 2, FPR 1, accuracy 2")), "{text}");
    }
}

/// The verdict and whether it is right, of a vulnerable case without `cwe`, where any finding is an alarm.
fn verdict(line: Value, judgements: &[Value]) -> (Value, Value) {
    let issues = json!([{ "id": "g", "title": "A thing is wrong", "file": "a.py" }]);
    let project = suite(&[json!({ "id": "c", "issues": issues })])
        .with("s.jsonl", lines(&[line]))
        .with("j.jsonl", lines(judgements));
    let report = project.json("score . --json --submission s.jsonl --judgements j.jsonl --set verdict_from=any");
    let trial = &report["tools"][0]["cases"][0]["trials"][0];
    (trial["verdict"].clone(), trial["verdict_correct"].clone())
}

#[test]
fn verdict_comes_from_audit_then_trial_then_findings() {
    let finding = json!([{ "id": "f", "message": "far off", "file": "z.py" }]);
    let with_verdict = |verdict: &str, findings: &Value| {
        let mut line = trial("c", "t", 1, findings.clone());
        line["verdict"] = verdict.into();
        line
    };
    let audit = |judge: &str, answer: Value| json!({ "case": "c", "tool": "t", "trial": 1, "judge": judge, "kind": "audit", "said_vulnerable": answer });
    assert_eq!(verdict(trial("c", "t", 1, json!([])), &[]), ("safe".into(), false.into()));
    assert_eq!(verdict(trial("c", "t", 1, finding.clone()), &[]), ("vulnerable".into(), true.into()));
    assert_eq!(verdict(with_verdict("safe", &finding), &[]), ("safe".into(), false.into()));
    assert_eq!(verdict(with_verdict("safe", &finding), &[audit("m", true.into())]), ("vulnerable".into(), true.into()));
    // An audit that found no verdict counts as wrong, whatever the trial's verdict.
    assert_eq!(verdict(with_verdict("vulnerable", &finding), &[audit("m", Value::Null)]), (Value::Null, false.into()));
    assert_eq!(
        verdict(with_verdict("vulnerable", &finding), &[audit("m", Value::Null), audit("human:a", true.into())]),
        ("vulnerable".into(), true.into())
    );
}

#[test]
fn right_verdict_without_the_target_is_a_lucky_guess() {
    let issues = json!([
        { "id": "g", "title": "The target", "file": "a.py", "keywords": ["target"], "target": true },
        { "id": "h", "title": "Another", "file": "b.py", "keywords": ["another"] },
    ]);
    let lucky = |word: &str| {
        let finding = json!([{ "id": "f", "message": word, "file": "q/q" }]);
        let project =
            suite(&[json!({ "id": "c", "issues": issues })]).with("s.jsonl", lines(&[trial("c", "t", 1, finding)]));
        let report = project.json("score . --json --submission s.jsonl --set verdict_from=any");
        report["tools"][0]["cases"][0]["trials"][0]["lucky_guess"].clone()
    };
    assert_eq!((lucky("target"), lucky("another")), (false.into(), true.into()));
}
