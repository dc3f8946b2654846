//! Recorded judgements decide; people go before models; `recorded` takes them as they stand.

use super::{counts, first, outcomes};
use crate::project::{Project, lines, near, suite, trial};
use serde_json::{Value, json};

/// Two goldens, two findings; the words say f1 reports a, and f2 nothing.
fn project() -> Project {
    let golden =
        |id: &str| json!({ "id": id, "title": format!("Issue {id}"), "file": format!("{id}.py"), "keywords": [id] });
    let finding = |id: &str, word: &str| json!({ "id": id, "message": word, "file": format!("{word}.py") });
    let findings = json!([finding("f1", "aa"), finding("f2", "zz")]);
    suite(&[json!({ "id": "c", "issues": [golden("aa"), golden("bb")] })])
        .with("s.jsonl", lines(&[trial("c", "t", 1, findings)]))
}

fn said(judge: &str, golden: impl Into<Value>, finding: &str, matched: bool) -> Value {
    json!({ "case": "c", "tool": "t", "trial": 1, "judge": judge, "kind": "pair",
            "golden": golden.into(), "finding": finding, "match": matched, "confidence": 0.8, "explanation": "because" })
}

fn scored(judgements: &[Value], flags: &str) -> Value {
    let project = project().with("j.jsonl", lines(judgements));
    let nobody = if flags.contains("--judge") { "" } else { "--judge none" };
    project.json(&format!("score . --json --submission s.jsonl --judgements j.jsonl {nobody} {flags}"))
}

#[track_caller]
fn check(judgements: &[Value], flags: &str, expected: &str) {
    assert_eq!(outcomes(&scored(judgements, flags)), expected);
}

const AA_BY_WORDS: &str = "match aa f1\nmiss bb: no finding is similar to it\nextra f2: no golden is similar to it";

#[test]
fn the_judge_decides() {
    check(&[], "", AA_BY_WORDS);
    let both = [said("m", "aa", "f1", true), said("m", "bb", "f2", true)];
    check(&both, "", "match aa f1\nmatch bb f2");
    check(
        &[said("m", "aa", "f1", false)],
        "",
        "miss aa: the best candidate, f1, was rejected by m\nmiss bb: no finding is similar to it\n\
         extra f1: its best golden, aa, was rejected by m\nextra f2: no golden is similar to it",
    );
    let nothing = [said("m", Value::Null, "f1", false)];
    assert_eq!(counts(&scored(&nothing, "")), [0, 2, 2], "judged to match nothing");
    let report = scored(&both, "");
    let by = &first(&report)["matches"][1];
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
fn people_go_before_models_and_the_majority_decides() {
    let found = || said("m", "aa", "f1", true);
    let no_then_human_yes =
        [found(), said("m", "bb", "f2", false), said("n", "bb", "f2", false), said("human:ann", "bb", "f2", true)];
    check(&no_then_human_yes, "", "match aa f1\nmatch bb f2");
    let human_no = [said("human:ann", "aa", "f1", false), said("m", "aa", "f1", true), said("n", "aa", "f1", true)];
    assert_eq!(counts(&scored(&human_no, "")), [0, 2, 2]);
    let split = [found(), said("m", "bb", "f2", true), said("n", "bb", "f2", false)];
    assert_eq!(counts(&scored(&split, "")), [1, 1, 1], "an even split is no match");
    let two_of_three =
        [found(), said("m", "bb", "f2", true), said("n", "bb", "f2", false), said("o", "bb", "f2", true)];
    assert_eq!(counts(&scored(&two_of_three, "")), [2, 0, 0]);
}

#[test]
fn one_judge_may_be_heard_alone() {
    let both = [said("m", "aa", "f1", true), said("m", "bb", "f2", true), said("human:ann", "bb", "f2", false)];
    assert_eq!(counts(&scored(&both, "")), [1, 1, 1]);
    assert_eq!(counts(&scored(&both, "--judge m")), [2, 0, 0]);
    assert_eq!(counts(&scored(&both, "--judge human:ann")), [0, 2, 2], "nobody asked ann about aa");
    assert_eq!(counts(&scored(&both, "--judge none")), [1, 1, 1], "what is given is heard, and nobody is asked");
    let project = project().with("j.jsonl", lines(&both));
    project
        .run("score . --submission s.jsonl --judgements j.jsonl --judge x")
        .says(2, &["unknown judge `x`", "human:ann, m", "PROVIDER/MODEL"]);
    project
        .run("score . --submission s.jsonl --judge locl")
        .says(2, &["unknown judge `locl`", "did you mean `local`?"]);
}

/// A judge who was given decided one pair of the trial and cannot be asked about another, which its score would match.
#[test]
fn what_a_given_judge_leaves_open_is_unjudged() {
    let open = "match bb f2\nmiss aa: no judge answered about f1\nextra f1: no judge answered about aa";
    for flags in ["--judge m", "--judge none", "--judge m --profile crb", "--judge none --profile crb"] {
        let report = scored(&[said("m", "bb", "f2", true)], flags);
        assert_eq!(outcomes(&report), open, "{flags}");
        let trial = first(&report);
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
        let warned = report["warnings"].to_string();
        assert!(warned.contains("m: 1 pair that the score alone would match is unjudged"), "{warned}");
    }
    // Labels of people are samples and corrections; where a person is the judge that was named, they are all there is.
    let label = [said("human:ann", "bb", "f2", true)];
    check(&label, "--judge none", "match aa f1\nmatch bb f2");
    check(&label, "--judge human:ann", open);
    // Who can be asked is asked.
    let asked = scored(&[said("m", "bb", "f2", true)], "--judge local");
    assert_eq!(asked["judges"][0]["judge"], "local", "{asked}");
    assert_eq!(asked["judges"][0]["unjudged"], 0);
    // A line that says so in a file counts as one, whoever else decided.
    let failed = json!({ "case": "c", "tool": "t", "trial": 1, "judge": "n", "kind": "unjudged", "golden": "aa",
                         "finding": "f1", "why": "it was busy" });
    check(
        std::slice::from_ref(&failed),
        "--judge none",
        "miss aa: no judge answered about f1\nmiss bb: no finding is similar to it\n\
         extra f1: no judge answered about aa\nextra f2: no golden is similar to it",
    );
    check(&[failed, said("m", "aa", "f1", true)], "--judge none", AA_BY_WORDS);
}

/// In a trial that no judge decided anything of, the score decides.
#[test]
fn trials_that_nobody_judged_are_decided_by_their_score() {
    let project = project().with("j.jsonl", lines(&[said("m", "bb", "f2", true)]));
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
fn faulty_judgements_are_refused_and_strangers_counted() {
    let project = project();
    let mut faulty = said("m", "cc", "f1", true);
    project.write("j.jsonl", lines(&[said("m", "aa", "f1", true), faulty.clone()]));
    let line = "score . --submission s.jsonl --judgements j.jsonl";
    project.run(line).says(4, &["j.jsonl:2:", "the case `c` has no golden `cc`"]);
    faulty["case"] = "d".into();
    faulty["confidence"] = 7.into();
    project.write("j.jsonl", lines(&[faulty]));
    project.run(line).says(4, &["j.jsonl:1:"]);
    project.write("j.jsonl", lines(&[said("m", "aa", "f9", true)]));
    let report = project.json(&format!("{line} --json"));
    let warning = "t: 1 judgements name a golden or finding that its trials do not have; ignored";
    assert_eq!(report["warnings"], json!([warning]));
}

#[test]
fn recorded_takes_matches_many_to_one() {
    let shared = [said("m", "aa", "f2", true), said("m", "bb", "f2", true)];
    let report = scored(&shared, "--profile recorded");
    assert_eq!(counts(&report), [2, 1, 0]);
    assert_eq!(report["tools"][0]["one_to_one"], json!({ "tp": 1, "fp": 1, "fn": 1 }));
    assert!(
        report["warnings"][0].as_str().unwrap().contains("goldens that share their finding with another: 1;"),
        "{}",
        report["warnings"]
    );
    // The same in one-to-one assignment by score and judge.
    assert_eq!(counts(&scored(&shared, "")), [1, 1, 1], "nobody was asked about f1");
    let both_report_one = [said("m", "aa", "f1", true), said("m", "aa", "f2", true)];
    let report = scored(&both_report_one, "--profile recorded");
    assert_eq!(counts(&report), [1, 0, 1], "a golden is found once, and neither finding is false");
    let unnamed = [said("m", Value::Null, "f1", true), said("m", Value::Null, "f2", false)];
    let report = scored(&unnamed, "--profile recorded");
    assert_eq!(counts(&report), [0, 1, 2]);
    let table = project()
        .with("j.jsonl", lines(&shared))
        .ok("score . --submission s.jsonl --judgements j.jsonl --profile recorded");
    assert!(table.contains("If every finding could match only one golden"), "{table}");
    assert!(table.contains("2 → 1"), "{table}");
}
