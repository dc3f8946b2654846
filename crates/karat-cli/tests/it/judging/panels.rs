//! Panels of judges: consensus, agreement and the individual answers.

use super::{find_judge, pair_answer, project, report, run, user_message, without_measurements};
use crate::judge_engine::server::{Behaviour, Fault, Server};
use crate::project::{CommandOutput, Project};
use serde_json::{Value, json};

/// Three judges on one server, distinguished by their models.
const THREE_JUDGES: &str = "\
[judges.a]
provider = \"anthropic\"
model = \"model-a\"
retries = 0
[judges.b]
provider = \"anthropic\"
model = \"model-b\"
retries = 0
[judges.c]
provider = \"openai\"
model = \"model-c\"
retries = 0
[judges.all]
provider = \"panel\"
members = [\"a\", \"b\", \"c\"]
";

/// A suite of `cases` cases with one finding each, and the three judges.
fn project_with_three_judges(cases: usize) -> Project {
    let project = project(cases, 1);
    project.write("suite/karat.toml", format!("[suite]\nname = \"readers\"\n{THREE_JUDGES}"));
    project
}

/// A server that answers by judge and case number.
fn server_from_table(decide: impl Fn(char, usize) -> Result<bool, Fault> + Send + Sync + 'static) -> Server {
    Server::deciding_by_request(Behaviour::GOOD, move |body| {
        let judge = body["model"].as_str().unwrap().chars().next_back().unwrap();
        let text = user_message(body);
        let number = text.split("in reader ").nth(1).unwrap();
        let number = number.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap();
        decide(judge, number).map(|matched| pair_answer(matched, 0.9))
    })
}

/// For each case whether its golden was found: `y`, `n`, or `?` if unjudged.
fn found_goldens(report: &Value) -> String {
    let mark = |case: &Value| {
        let trial = &case["trials"][0];
        let unjudged = trial["misses"].to_string().contains("unjudged");
        if trial["tp"] == 1 {
            'y'
        } else if unjudged {
            '?'
        } else {
            'n'
        }
    };
    report["tools"][0]["cases"].as_array().unwrap().iter().map(mark).collect()
}

const LINE: &str = "score suite --submission it.jsonl --json";

#[test]
fn panel_decides_by_majority() {
    let project = project_with_three_judges(4);
    let server = server_from_table(|judge, case| Ok(matches!((judge, case), (_, 1) | ('a' | 'c', 2) | ('b', 3))));
    for judge in ["a,b,c", "all"] {
        let scorecard = report(&project, &server, &format!("{LINE} --judge {judge}"));
        assert_eq!(found_goldens(&scorecard), "yynn");
        let panel = find_judge(&scorecard, judge);
        assert_eq!((&panel["asked"], &panel["unjudged"]), (&json!(4), &json!(0)), "{panel}");
        let agreement = &panel["agreement"];
        assert_eq!((&agreement["judges"], &agreement["n"]), (&json!(["a", "b", "c"]), &json!(4)), "{agreement}");
        // Of the three pairs of judges, all agree on two cases and one agrees on the other two.
        assert!((agreement["percent"].as_f64().unwrap() - (3.0 + 1.0 + 1.0 + 3.0) / 12.0).abs() < 1e-12, "{agreement}");
        for member in ["a", "b", "c"] {
            assert_eq!(find_judge(&scorecard, member)["asked"], 4, "{member}");
        }
        let found = &scorecard["tools"][0]["cases"][1]["trials"][0]["matches"][0];
        assert_eq!((&found["decided_by"], &found["judgement"]["judge"]), (&json!("judge"), &json!("a, b, c")));
        assert!(scorecard.to_string().contains("a: yes, b: no, c: yes"), "{found}");
    }
    assert_eq!(server.requests(), 12, "the second panel must be answered from the ledger");
}

/// A tie is unjudged, counted and reported as a warning.
#[test]
fn tie_is_unjudged() {
    let project = project_with_three_judges(3);
    let server =
        server_from_table(
            |judge, case| if case == 3 && judge == 'b' { Err(Fault::Broken) } else { Ok(case == 1 || judge == 'a') },
        );
    let scorecard = report(&project, &server, &format!("{LINE} --judge a,b"));
    // For the third case only one judge answered.
    assert_eq!(found_goldens(&scorecard), "y?y");
    let panel = find_judge(&scorecard, "a,b");
    assert_eq!((&panel["asked"], &panel["unjudged"]), (&json!(3), &json!(1)), "{panel}");
    assert!(
        super::warnings(&scorecard).contains("a,b: 1 of 3 questions are unjudged"),
        "{}",
        super::warnings(&scorecard)
    );
    assert!(
        super::warnings(&scorecard).contains("b: 1 of 3 questions are unjudged"),
        "{}",
        super::warnings(&scorecard)
    );
    // No case is decided: an error.
    let torn = server_from_table(|judge, _| Ok(judge == 'a'));
    let other = project_with_three_judges(2);
    run(&other, &torn, &format!("{LINE} --judge a,b"))
        .expect_error(5, &["the judge a,b answered none of 2 questions", "no decision"]);
}

/// One judge is always right, one mostly, and one always says the opposite. The majority is wrong wherever the second
/// errs; weighting by estimated error rates is not.
fn answer_of_unreliable_judge(judge: char, case: usize) -> bool {
    let truth = case.is_multiple_of(3);
    match judge {
        'a' => truth,
        'b' => truth != case.is_multiple_of(11),
        _ => !truth,
    }
}

#[test]
fn dawid_skene_weights_judges_by_error_rate() {
    let project = project_with_three_judges(60);
    let server = server_from_table(|judge, case| Ok(answer_of_unreliable_judge(judge, case)));
    let counted = report(&project, &server, &format!("{LINE} --judge a,b,c"));
    let weighed = report(&project, &server, &format!("{LINE} --judge a,b,c --consensus dawid-skene"));
    let truth: String = (1..=60).map(|case| if case % 3 == 0 { 'y' } else { 'n' }).collect();
    assert_eq!(found_goldens(&weighed), truth);
    assert_ne!(found_goldens(&counted), truth);
    assert_eq!(server.requests(), 180);
    // A run stores its consensus method, for resuming, scoring and explaining it.
    let begun =
        run(&project, &server, "run suite --tool replay:it.jsonl --judge a,b,c --consensus dawid-skene --json -q");
    let begun: Value = serde_json::from_str(&begun.expect(0).out).unwrap();
    assert_eq!(found_goldens(&begun), truth);
    assert_eq!(found_goldens(&report(&project, &server, "score latest --json")), truth);
    let mut explained = String::new();
    for case in 1..=60 {
        let scorecard = report(&project, &server, &format!("explain c{case} --run latest --json"));
        explained.push(if scorecard["result"]["trials"][0]["tp"] == 1 { 'y' } else { 'n' });
    }
    assert_eq!(explained, truth, "error rates must be estimated over the whole run");
    assert_eq!(server.requests(), 180);
    assert_eq!(
        found_goldens(&report(&project, &server, "score latest --consensus majority --json")),
        found_goldens(&counted)
    );
}

/// Individual answers are saved, and `karat judge agree` computes the same figures from them.
#[test]
fn saved_judgements_reproduce_the_agreement() {
    let project = project_with_three_judges(30);
    let server = server_from_table(|judge, case| Ok(answer_of_unreliable_judge(judge, case)));
    let ran = run(&project, &server, &format!("{LINE} --judge a,b,c --save-judgements said.jsonl")).expect(0);
    let scorecard: Value = serde_json::from_str(&ran.out).unwrap();
    let saved = project.read("said.jsonl");
    assert_eq!(saved.lines().count(), 90);
    for judge in ["a", "b", "c"] {
        assert_eq!(saved.lines().filter(|line| line.contains(&format!("\"judge\":\"{judge}\""))).count(), 30);
    }
    let agreed = project.json("judge agree said.jsonl --json");
    let agreement = &find_judge(&scorecard, "a,b,c")["agreement"];
    let value =
        |name: &str| agreed.pointer(name).and_then(Value::as_f64).unwrap_or_else(|| panic!("{name}: {agreed:#}"));
    let close = |field: &str, expect: f64| {
        let is = agreement[field].as_f64().unwrap();
        assert!((is - expect).abs() < 1e-12, "{field}: {is} {expect}");
    };
    close("percent", value("/percent/value"));
    close("fleiss", value("/fleiss/value"));
    close("krippendorff", value("/krippendorff/nominal/value"));
    close("ac1", value("/ac1/value"));
    // Saved judgements can be given like any others: with one judge named, only its answers count, and no request is
    // made.
    let line = format!("{LINE} --judgements said.jsonl --judge b --judge-cache off");
    let ran = CommandOutput::start(project.command().args(line.split_whitespace())).expect(0);
    let alone = report(&project, &server, &format!("{LINE} --judge b"));
    assert_eq!(found_goldens(&serde_json::from_str(&ran.out).unwrap()), found_goldens(&alone));
}

/// The local judge can be a member beside models.
#[test]
fn local_judge_can_join_a_panel() {
    let project = project_with_three_judges(3);
    let server = server_from_table(|_, _| Ok(true));
    let line = format!("{LINE} --judge local,a,b");
    let first = run(&project, &server, &line).expect(0);
    let again =
        CommandOutput::start(project.command().args(format!("{line} --judge-cache only").split_whitespace())).expect(0);
    assert_eq!(without_measurements(&first.out), without_measurements(&again.out));
    let scorecard: Value = serde_json::from_str(&first.out).unwrap();
    assert_eq!(found_goldens(&scorecard), "yyy");
    assert_eq!(find_judge(&scorecard, "local")["asked"], 3);
    run(&project, &server, &format!("{LINE} --judge a,a")).expect_error(4, &["votes once"]);
    run(&project, &server, &format!("{LINE} --judge a,nobody")).expect_error(2, &["unknown judge `nobody`"]);
}
