//! Recorded judgements: people override models, majorities decide, and the profile `recorded` uses them as they are.

use super::{counts, first_trial, outcomes};
use crate::project::{Project, lines, near, suite, trial};
use serde_json::{Value, json};

/// Two goldens and two findings; by text f1 matches `aa`, and f2 nothing.
fn project() -> Project {
    let golden =
        |id: &str| json!({ "id": id, "title": format!("Issue {id}"), "file": format!("{id}.py"), "keywords": [id] });
    let finding = |id: &str, word: &str| json!({ "id": id, "message": word, "file": format!("{word}.py") });
    let findings = json!([finding("f1", "aa"), finding("f2", "zz")]);
    suite(&[json!({ "id": "c", "issues": [golden("aa"), golden("bb")] })])
        .with("s.jsonl", lines(&[trial("c", "t", 1, findings)]))
}

fn judgement(judge: &str, golden: impl Into<Value>, finding: &str, matched: bool) -> Value {
    json!({ "case": "c", "tool": "t", "trial": 1, "judge": judge, "kind": "pair",
            "golden": golden.into(), "finding": finding, "match": matched, "confidence": 0.8, "explanation": "because" })
}

fn score_with(judgements: &[Value], flags: &str) -> Value {
    let project = project().with("j.jsonl", lines(judgements));
    let default_judge = if flags.contains("--judge") { "" } else { "--judge none" };
    project.json(&format!("score . --json --submission s.jsonl --judgements j.jsonl {default_judge} {flags}"))
}

#[track_caller]
fn check(judgements: &[Value], flags: &str, expected: &str) {
    assert_eq!(outcomes(&score_with(judgements, flags)), expected);
}

const AA_BY_TEXT: &str = "match aa f1\nmiss bb: no finding is similar to it\nextra f2: no golden is similar to it";

#[test]
fn judgements_decide_pairs() {
    check(&[], "", AA_BY_TEXT);
    let both = [judgement("m", "aa", "f1", true), judgement("m", "bb", "f2", true)];
    check(&both, "", "match aa f1\nmatch bb f2");
    check(
        &[judgement("m", "aa", "f1", false)],
        "",
        "miss aa: f1 was rejected by m\nmiss bb: no finding is similar to it\n\
         extra f1: as a report of aa it was rejected by m\nextra f2: no golden is similar to it",
    );
    let nothing = [judgement("m", Value::Null, "f1", false)];
    assert_eq!(counts(&score_with(&nothing, "")), [0, 2, 2], "judged to match nothing");
    let report = score_with(&both, "");
    let by = &first_trial(&report)["matches"][1];
    assert_eq!((by["decided_by"].as_str(), by["judgement"]["judge"].as_str()), (Some("judge"), Some("m")));
    near(by, "/parts/judge", 0.8);
    near(by, "/score", 0.4 * 0.0 + 0.6 * 0.8);
    assert_eq!(
        report["judges"],
        json!([{ "judge": "m", "asked": 0, "cached": 2, "saved": 0, "unjudged": 0, "refused": 0,
        "beyond": 1, "tokens": 0, "usd": null, "agreement": null }])
    );
}

#[test]
fn people_override_models_and_the_majority_decides() {
    let found = || judgement("m", "aa", "f1", true);
    let no_then_human_yes = [
        found(),
        judgement("m", "bb", "f2", false),
        judgement("n", "bb", "f2", false),
        judgement("human:ann", "bb", "f2", true),
    ];
    check(&no_then_human_yes, "", "match aa f1\nmatch bb f2");
    let human_no =
        [judgement("human:ann", "aa", "f1", false), judgement("m", "aa", "f1", true), judgement("n", "aa", "f1", true)];
    assert_eq!(counts(&score_with(&human_no, "")), [0, 2, 2]);
    let split = [found(), judgement("m", "bb", "f2", true), judgement("n", "bb", "f2", false)];
    assert_eq!(counts(&score_with(&split, "")), [1, 1, 1], "a tie is not a match");
    let two_of_three = [
        found(),
        judgement("m", "bb", "f2", true),
        judgement("n", "bb", "f2", false),
        judgement("o", "bb", "f2", true),
    ];
    assert_eq!(counts(&score_with(&two_of_three, "")), [2, 0, 0]);
}

#[test]
fn judge_flag_selects_one_judge() {
    let both =
        [judgement("m", "aa", "f1", true), judgement("m", "bb", "f2", true), judgement("human:ann", "bb", "f2", false)];
    assert_eq!(counts(&score_with(&both, "")), [1, 1, 1]);
    assert_eq!(counts(&score_with(&both, "--judge m")), [2, 0, 0]);
    assert_eq!(counts(&score_with(&both, "--judge human:ann")), [0, 2, 2], "ann did not judge aa");
    assert_eq!(counts(&score_with(&both, "--judge none")), [1, 1, 1], "--judge none keeps given judgements");
    let project = project().with("j.jsonl", lines(&both));
    project
        .run("score . --submission s.jsonl --judgements j.jsonl --judge x")
        .expect_error(2, &["unknown judge `x`", "human:ann, m", "PROVIDER/MODEL"]);
    project
        .run("score . --submission s.jsonl --judge locl")
        .expect_error(2, &["unknown judge `locl`", "did you mean `local`?"]);
}

/// A recorded judge decided one pair of the trial and cannot be asked about another that the score would match.
#[test]
fn pairs_that_a_recorded_judge_did_not_decide_are_unjudged() {
    let open = "match bb f2\nmiss aa: no judge answered about f1\nextra f1: no judge answered about aa";
    for flags in ["--judge m", "--judge none", "--judge m --profile crb", "--judge none --profile crb"] {
        let report = score_with(&[judgement("m", "bb", "f2", true)], flags);
        assert_eq!(outcomes(&report), open, "{flags}");
        let trial = first_trial(&report);
        assert_eq!(
            (&trial["misses"][0]["flags"], &trial["extras"][0]["flags"]),
            (&json!(["unjudged"]), &json!(["unjudged"])),
            "{flags}"
        );
        let judge = &report["judges"][0];
        assert_eq!(
            (&judge["cached"], &judge["unjudged"], &judge["asked"]),
            (&json!(1), &json!(1), &json!(0)),
            "{flags}"
        );
        let warnings = report["warnings"].to_string();
        assert!(warnings.contains("m: 1 pair that the score alone would match is unjudged"), "{warnings}");
    }
    // Labels of people do not leave other pairs unjudged, unless a person is the judge given by name.
    let label = [judgement("human:ann", "bb", "f2", true)];
    check(&label, "--judge none", "match aa f1\nmatch bb f2");
    check(&label, "--judge human:ann", open);
    // A judge that can be asked is asked.
    let asked = score_with(&[judgement("m", "bb", "f2", true)], "--judge local");
    assert_eq!(asked["judges"][0]["judge"], "local", "{asked}");
    assert_eq!(asked["judges"][0]["unjudged"], 0);
    // An `unjudged` line counts unless another judge decided the pair.
    let failed = json!({ "case": "c", "tool": "t", "trial": 1, "judge": "n", "kind": "unjudged", "golden": "aa",
                         "finding": "f1", "why": "it was busy" });
    check(
        std::slice::from_ref(&failed),
        "--judge none",
        "miss aa: no judge answered about f1\nmiss bb: no finding is similar to it\n\
         extra f1: no judge answered about aa\nextra f2: no golden is similar to it",
    );
    check(&[failed, judgement("m", "aa", "f1", true)], "--judge none", AA_BY_TEXT);
}

/// The second trial has no judgement.
#[test]
fn trials_without_judgements_are_decided_by_score() {
    let project = project().with("j.jsonl", lines(&[judgement("m", "bb", "f2", true)]));
    let own = project.read("s.jsonl");
    project.write("s.jsonl", format!("{own}{}", own.replace("\"trial\":1", "\"trial\":2")));
    for judge in ["m", "none"] {
        let report = project.json(&format!("score . --json --submission s.jsonl --judgements j.jsonl --judge {judge}"));
        let trials = report["tools"][0]["cases"][0]["trials"].as_array().unwrap();
        let found: Vec<&Value> = trials.iter().map(|trial| &trial["matches"][0]["golden"]).collect();
        assert_eq!(found, [&json!("bb"), &json!("aa")], "{judge}");
    }
}

#[test]
fn invalid_judgements_are_refused_and_unknown_findings_counted() {
    let project = project();
    let mut faulty = judgement("m", "cc", "f1", true);
    project.write("j.jsonl", lines(&[judgement("m", "aa", "f1", true), faulty.clone()]));
    let line = "score . --submission s.jsonl --judgements j.jsonl";
    project.run(line).expect_error(4, &["j.jsonl:2:", "the case `c` has no golden `cc`"]);
    faulty["case"] = "d".into();
    faulty["confidence"] = 7.into();
    project.write("j.jsonl", lines(&[faulty]));
    project.run(line).expect_error(4, &["j.jsonl:1:"]);
    project.write("j.jsonl", lines(&[judgement("m", "aa", "f9", true)]));
    let report = project.json(&format!("{line} --json"));
    let warning = "t: 1 judgements name a golden or finding that its trials do not have; ignored";
    assert_eq!(report["warnings"], json!([warning]));
}

#[test]
fn recorded_profile_matches_many_to_one() {
    let shared = [judgement("m", "aa", "f2", true), judgement("m", "bb", "f2", true)];
    let report = score_with(&shared, "--profile recorded");
    assert_eq!(counts(&report), [2, 1, 0]);
    assert_eq!(report["tools"][0]["one_to_one"], json!({ "tp": 1, "fp": 1, "fn": 1 }));
    assert!(
        report["warnings"][0].as_str().unwrap().contains("goldens that share their finding with another: 1;"),
        "{}",
        report["warnings"]
    );
    // The same judgements with one-to-one assignment.
    assert_eq!(counts(&score_with(&shared, "")), [1, 1, 1], "f1 was not judged");
    let both_report_one = [judgement("m", "aa", "f1", true), judgement("m", "aa", "f2", true)];
    let report = score_with(&both_report_one, "--profile recorded");
    assert_eq!(counts(&report), [1, 0, 1], "the golden counts once, and neither finding is a false positive");
    let unnamed = [judgement("m", Value::Null, "f1", true), judgement("m", Value::Null, "f2", false)];
    let report = score_with(&unnamed, "--profile recorded");
    assert_eq!(counts(&report), [0, 1, 2]);
    let table = project()
        .with("j.jsonl", lines(&shared))
        .ok("score . --submission s.jsonl --judgements j.jsonl --profile recorded -v");
    assert!(table.contains("If every finding could match only one golden"), "{table}");
    assert!(table.contains("2 → 1"), "{table}");
}
