//! `karat explain`: the scoring of one case.

use crate::project::{CommandOutput, Project, lines, near, suite, trial};
use serde_json::{Value, json};

/// The lines of a screen where there is no terminal.
const SCREEN: usize = 40;

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
    let out = explain(&format!("{line} -v")).expect(0).out;
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

/// A case with many goldens and three trials: the first finds all of them, the second misses most of them, the third crashed.
fn crowded() -> Project {
    let golden = |n: usize| {
        let severity = if n == 41 { "critical" } else { "low" };
        json!({
            "id": format!("g{n}"), "title": format!("Quota of tenant{n} is not checked"), "file": "src/quota.py",
            "line_start": n * 10, "severity": severity, "rule_id": format!("R{n}"), "keywords": [format!("tenant{n}")],
        })
    };
    let goldens: Vec<Value> = (1..=60).map(golden).collect();
    let finding = |n: usize, line: usize| {
        let message = format!("tenant{n} has no checked quota");
        json!({ "id": format!("f{n}"), "message": message, "rule_id": format!("R{n}"), "file": "src/quota.py", "line_start": line })
    };
    let found = |goldens: std::ops::RangeInclusive<usize>| goldens.map(|n| finding(n, n * 10));
    let noise = (200..600).map(|n| {
        json!({ "id": format!("f{n}"), "message": format!("Unused import number {n}"), "rule_id": "imports", "file": format!("lib/m{n}.py"), "line_start": n })
    });
    let project = suite(&[json!({ "id": "quotas", "verdict": "vulnerable", "cwe": [770], "issues": goldens })]);
    let missed = (1..=20).map(|n| finding(n, n * 10)).chain(noise).collect::<Vec<_>>();
    let mut crashed = trial("quotas", "t", 3, json!([]));
    crashed["outcome"] = json!("crashed");
    project.with(
        "s.jsonl",
        lines(&[
            trial("quotas", "t", 1, json!(found(1..=60).collect::<Vec<_>>())),
            trial("quotas", "t", 2, json!(missed)),
            crashed,
        ]),
    )
}

/// Whatever the profile, at most a screen is shown, with what counts first, of the trial that missed.
#[test]
fn explanations_fit_a_screen() {
    let project = crowded();
    for profile in ["karat", "crb", "identity", "audit", "owasp", "recorded"] {
        let line = format!("explain quotas --suite . --submission s.jsonl --profile {profile} --judge none");
        let out = project.run(&line).expect(0).out;
        assert!(out.lines().count() <= SCREEN, "{profile}: {} lines:\n{out}", out.lines().count());
        assert!(out.contains("Shortened to a screen: -v shows everything"), "{profile}:\n{out}");
        let value = project.json(&format!("{line} --json"));
        let trial = &value["result"]["trials"][1];
        let listed = ["extras", "matches", "duplicates"].map(|list| trial[list].as_array().map_or(0, Vec::len));
        assert_eq!(listed.iter().sum::<usize>(), 420, "{profile}: {listed:?}");
        let full = project.run(&format!("{line} -v")).expect(0).out;
        assert!(full.lines().count() > 100 && !full.contains("Shortened"), "{profile}: {full}");
        if ["karat", "crb", "identity"].contains(&profile) {
            assert!(out.starts_with("quotas · t · trial 2 "), "{profile}:\n{out}");
            assert_eq!((&value["trial"], &value["trial_choice"]), (&json!(2), &json!("missed_most")), "{profile}");
            let at = |text: &str| out.find(text).unwrap_or_else(|| panic!("{profile}: no {text}:\n{out}"));
            assert!(at("Missed (40 of 60 required goldens)") < at("✗ g41"), "{profile}:\n{out}");
            assert!(at("✗ g41") < at("False alarms (400 findings)"), "{profile}:\n{out}");
            assert!(!out[..at("✗ g41")].contains("✗ g"), "the most severe first:\n{out}");
            assert!(at("False alarms (400 findings)") < at("Found (20 goldens)"), "{profile}:\n{out}");
            assert!(out.contains("more missed goldens\n") && out.contains("more false alarms\n"), "{profile}:\n{out}");
        }
        let named = project.run(&format!("{line} --trial 1")).expect(0).out;
        assert!(named.starts_with("quotas · t · trial 1 ") && !named.contains("Chosen of"), "{profile}:\n{named}");
        assert!(named.contains("trial 3: crashed"), "{profile}:\n{named}");
    }
}

#[test]
fn every_finding_that_reports_a_trap_is_shown() {
    let trap = json!({
        "id": "local-day", "title": "The day is that of the server", "file": "src/day.py", "line_start": 10,
        "keywords": ["timezone"], "acceptance": "trap",
    });
    let finding = |id: &str, message: &str, file: &str, line: u32| json!({ "id": id, "message": message, "file": file, "line_start": line });
    let findings = json!([
        finding("f1", "No timezone in today", "src/day.py", 14),
        finding("f2", "The timezone is not stated", "src/day.py", 10),
        finding("f3", "Date without timezone", "src/day.py", 12),
        finding("f4", "Unused import", "lib/m.py", 1),
    ]);
    let explain = |allow: bool| {
        let project = suite(&[json!({ "id": "dates", "allow_unexpected": allow, "issues": [trap.clone()] })])
            .with("s.jsonl", lines(&[trial("dates", "t", 1, findings.clone())]));
        project.run("explain dates --suite . --submission s.jsonl --judge none").expect(0).out
    };
    insta::assert_snapshot!(explain(false), @r"
    dates · t · trial 1  4 findings: 0 found, 0 missed, 4 false

    False alarms (4 findings)
    ✗ local-day  a trap, reported · src/day.py:10
      The day is that of the server
        reported by f2 src/day.py:10  1.000 = 0.4·file 1.00 + 0.2·line 1.00 + 0.4·keyword 1.00
          The timezone is not stated
        reported by f3 src/day.py:12  0.940 = 0.4·file 1.00 + 0.2·line 0.70 + 0.4·keyword 1.00
          Date without timezone
        reported by f1 src/day.py:14  0.880 = 0.4·file 1.00 + 0.2·line 0.40 + 0.4·keyword 1.00
          No timezone in today
        extra f4 lib/m.py:1
          Unused import
          no golden is similar to it
    ");
    let out = explain(true);
    assert!(out.contains("4 extras allowed") && out.contains("Allowed extras (4 findings)"), "{out}");
    assert!(!out.contains("False alarms"), "{out}");
}

/// What a trial shows decides, and not its number; one that did not report comes after one that missed something.
#[test]
fn the_trial_that_shows_the_problem_is_explained() {
    let case = json!({
        "id": "c", "issues": [{ "id": "g", "title": "Quota is not checked", "file": "a.py", "line_start": 5 }],
    });
    let hit = json!([{ "id": "f", "message": "Quota is not checked", "file": "a.py", "line_start": 5 }]);
    let false_alarm =
        json!([hit[0], { "id": "x", "message": "Unused import of json", "file": "b.py", "line_start": 900 }]);
    let reported = |number: u32, findings: &Value| trial("c", "t", number, findings.clone());
    let ended = |number: u32, outcome: &str| {
        let mut failed = trial("c", "t", number, json!([]));
        failed["outcome"] = json!(outcome);
        failed
    };
    let none = json!([]);
    for (trials, number, choice) in [
        (vec![reported(1, &hit), reported(2, &hit)], 1, "no_problem"),
        (vec![reported(1, &hit), reported(2, &false_alarm)], 2, "most_false"),
        (vec![reported(1, &false_alarm), ended(2, "timed_out")], 2, "failed"),
        (vec![ended(1, "crashed"), reported(2, &hit), reported(3, &none)], 3, "missed_most"),
        (vec![ended(1, "unavailable"), reported(2, &hit)], 2, "no_problem"),
        (vec![reported(7, &none)], 7, "only"),
    ] {
        let project = suite(std::slice::from_ref(&case)).with("s.jsonl", lines(&trials));
        let value = project.json("explain c --suite . --submission s.jsonl --judge none --json");
        assert_eq!((&value["trial"], &value["trial_choice"]), (&json!(number), &json!(choice)), "{trials:?}");
        let out = project.ok("explain c --suite . --submission s.jsonl --judge none");
        assert_eq!(out.contains("Chosen of"), choice != "only", "{out}");
    }
}

#[test]
fn requirements_of_an_assessment_are_explained() {
    let project = Project::new();
    let ran = project.run("assess agreements --name first").expect(0);
    let step = ran.err.lines().find_map(|line| line.trim().strip_prefix("karat explain ")).unwrap().to_owned();
    let report = project.json("report first --json");
    let assessed = report["assessments"]["baseline"]["requirements"].as_array().unwrap();
    let worst =
        assessed.iter().min_by(|a, b| a["combined"].as_f64().unwrap().total_cmp(&b["combined"].as_f64().unwrap()));
    let worst = worst.unwrap();
    let (bundle, requirement) = (worst["bundle_id"].as_str().unwrap(), worst["requirement_id"].as_str().unwrap());
    assert_eq!(step, format!("{bundle}/{requirement} --run first"));
    for line in [format!("explain {step}"), format!("explain {bundle}/{requirement} --run latest")] {
        let out = project.ok(&line);
        assert!(out.starts_with("Wrong, or in part (1 requirement)\n") && out.contains("baseline: "), "{out}");
        assert!(out.contains(&format!("{bundle} / {requirement}")) && out.lines().count() <= SCREEN, "{out}");
    }
    let whole = project.ok(&format!("explain {bundle} --run first --tool baseline"));
    assert!(whole.lines().count() <= SCREEN && whole.contains("Shortened to a screen"), "{whole}");
    let wrong = whole.find("Wrong, or in part").unwrap();
    assert!(wrong < whole.find("Right (").unwrap(), "{whole}");
    let all = project.json(&format!("explain {bundle} --run first --json"));
    let own = assessed.iter().filter(|one| one["bundle_id"] == bundle).count();
    assert_eq!(all["requirements"].as_array().map(Vec::len), Some(own));
    assert_eq!(all["requirements"][0]["assessed"]["baseline"]["bundle_id"], bundle);
    project.run("explain audit --run first").expect_error(2, &["has no requirement or bundle `audit`"]);
    project.run(&format!("explain {bundle} --run first --tool base")).expect_error(2, &["available: baseline"]);
    let flags = "--trial 1|--judge local|--consensus majority|--judge-cache off|--profile karat|--set method=key|--count-untouched|\
                 --suite starter|--submission a.jsonl|--judgements a.jsonl|--from sarif|--case a|--case-from a|--rule-map a.csv|\
                 --trial-number 2";
    for flag in flags.split('|') {
        let name = flag.split(' ').next().unwrap();
        let expect = format!("{name} has no effect on an assessment");
        project.run(&format!("explain {bundle} --run first {flag}")).expect_error(2, &[&expect]);
    }
    for flag in ["--suite starter", "--detail none"] {
        project.run(&format!("report first {flag}")).expect_error(2, &["has no effect on an assessment"]);
    }
}
