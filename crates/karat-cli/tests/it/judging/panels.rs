//! Several judges: what they come to, how far they agree, and what each of them said.

use super::{lasting, of_judge, pair, project, report, run, user};
use crate::judge_engine::server::{Behaviour, Fault, Server};
use crate::project::{Project, Ran};
use serde_json::{Value, json};

/// Three judges of one server, told apart by their models.
const THREE: &str = "\
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

/// A suite of so many cases with one finding each, and the three judges.
fn with_three(cases: usize) -> Project {
    let project = project(cases, 1);
    project.write("suite/karat.toml", format!("[suite]\nname = \"readers\"\n{THREE}"));
    project
}

/// A server that asks a table: the judge and the number of the case, to what is said.
fn table(says: impl Fn(char, usize) -> Result<bool, Fault> + Send + Sync + 'static) -> Server {
    Server::weighing(Behaviour::GOOD, move |body| {
        let judge = body["model"].as_str().unwrap().chars().next_back().unwrap();
        let text = user(body);
        let number = text.split("in reader ").nth(1).unwrap();
        let number = number.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap();
        says(judge, number).map(|matched| pair(matched, 0.9))
    })
}

/// Whether each case has its golden found: yes, no, or nobody can tell.
fn found(report: &Value) -> String {
    let told = |case: &Value| {
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
    report["tools"][0]["cases"].as_array().unwrap().iter().map(told).collect()
}

const LINE: &str = "score suite --submission it.jsonl --json";

#[test]
fn the_majority_decides() {
    let project = with_three(4);
    let server = table(|judge, case| Ok(matches!((judge, case), (_, 1) | ('a' | 'c', 2) | ('b', 3))));
    for judge in ["a,b,c", "all"] {
        let told = report(&project, &server, &format!("{LINE} --judge {judge}"));
        assert_eq!(found(&told), "yynn");
        let panel = of_judge(&told, judge);
        assert_eq!((&panel["asked"], &panel["unjudged"]), (&json!(4), &json!(0)), "{panel}");
        let agreement = &panel["agreement"];
        assert_eq!((&agreement["judges"], &agreement["n"]), (&json!(["a", "b", "c"]), &json!(4)), "{agreement}");
        // Of three pairs of judges, two cases have three that agree and two have one.
        assert!((agreement["percent"].as_f64().unwrap() - (3.0 + 1.0 + 1.0 + 3.0) / 12.0).abs() < 1e-12, "{agreement}");
        for member in ["a", "b", "c"] {
            assert_eq!(of_judge(&told, member)["asked"], 4, "{member}");
        }
        let found = &told["tools"][0]["cases"][1]["trials"][0]["matches"][0];
        assert_eq!((&found["decided_by"], &found["judgement"]["judge"]), (&json!("judge"), &json!(judge)));
        assert!(told.to_string().contains("a: yes, b: no, c: yes"), "{found}");
    }
    assert_eq!(server.requests(), 12, "the second panel found everything in the ledger");
}

/// An even split is nobody's decision: it is unjudged, counted and warned of.
#[test]
fn a_tie_is_no_decision() {
    let project = with_three(3);
    let server =
        table(|judge, case| if case == 3 && judge == 'b' { Err(Fault::Broken) } else { Ok(case == 1 || judge == 'a') });
    let told = report(&project, &server, &format!("{LINE} --judge a,b"));
    // Of the third, one voice is all there is.
    assert_eq!(found(&told), "y?y");
    let panel = of_judge(&told, "a,b");
    assert_eq!((&panel["asked"], &panel["unjudged"]), (&json!(3), &json!(1)), "{panel}");
    assert!(super::warnings(&told).contains("a,b: 1 of 3 questions are unjudged"), "{}", super::warnings(&told));
    assert!(super::warnings(&told).contains("b: 1 of 3 questions are unjudged"), "{}", super::warnings(&told));
    // Nobody agrees on anything: no panel at all.
    let torn = table(|judge, _| Ok(judge == 'a'));
    let other = with_three(2);
    run(&other, &torn, &format!("{LINE} --judge a,b"))
        .says(5, &["the judge a,b answered none of 2 questions", "no decision"]);
}

/// One judge who is right, one who is mostly, and one who always says the opposite: counting voices is wrong wherever the
/// second errs, and weighing them by how their judges err is not.
fn erring(judge: char, case: usize) -> bool {
    let truth = case.is_multiple_of(3);
    match judge {
        'a' => truth,
        'b' => truth != case.is_multiple_of(11),
        _ => !truth,
    }
}

#[test]
fn voices_may_be_weighed() {
    let project = with_three(60);
    let server = table(|judge, case| Ok(erring(judge, case)));
    let counted = report(&project, &server, &format!("{LINE} --judge a,b,c"));
    let weighed = report(&project, &server, &format!("{LINE} --judge a,b,c --consensus dawid-skene"));
    let truth: String = (1..=60).map(|case| if case % 3 == 0 { 'y' } else { 'n' }).collect();
    assert_eq!(found(&weighed), truth);
    assert_ne!(found(&counted), truth);
    assert_eq!(server.requests(), 180);
    // The same of a run, which remembers how its judges decide: resumed, scored again or told.
    let begun =
        run(&project, &server, "run suite --tool replay:it.jsonl --judge a,b,c --consensus dawid-skene --json -q");
    let begun: Value = serde_json::from_str(&begun.expect(0).out).unwrap();
    assert_eq!(found(&begun), truth);
    assert_eq!(found(&report(&project, &server, "score latest --json")), truth);
    let mut stories = String::new();
    for case in 1..=60 {
        let told = report(&project, &server, &format!("explain c{case} --run latest --json"));
        stories.push(if told["result"]["trials"][0]["tp"] == 1 { 'y' } else { 'n' });
    }
    assert_eq!(stories, truth, "a case alone tells nothing of how judges err");
    assert_eq!(server.requests(), 180);
    assert_eq!(found(&report(&project, &server, "score latest --consensus majority --json")), found(&counted));
}

/// What each judge said is kept for itself, and `karat judge agree` finds the same figures in it.
#[test]
fn what_was_said_can_be_measured_again() {
    let project = with_three(30);
    let server = table(|judge, case| Ok(erring(judge, case)));
    let ran = run(&project, &server, &format!("{LINE} --judge a,b,c --save-judgements said.jsonl")).expect(0);
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    let said = project.read("said.jsonl");
    assert_eq!(said.lines().count(), 90);
    for judge in ["a", "b", "c"] {
        assert_eq!(said.lines().filter(|line| line.contains(&format!("\"judge\":\"{judge}\""))).count(), 30);
    }
    let agreed = project.json("judge agree said.jsonl --json");
    let agreement = &of_judge(&told, "a,b,c")["agreement"];
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
    // They are judgements like any others: with one judge named, only it is heard, and nobody is asked.
    let line = format!("{LINE} --judgements said.jsonl --judge b --judge-cache off");
    let heard = Ran::start(project.command().args(line.split_whitespace())).expect(0);
    let alone = report(&project, &server, &format!("{LINE} --judge b"));
    assert_eq!(found(&serde_json::from_str(&heard.out).unwrap()), found(&alone));
}

/// The local judge sits beside models, without a network of its own.
#[test]
fn anybody_may_sit_on_a_panel() {
    let project = with_three(3);
    let server = table(|_, _| Ok(true));
    let line = format!("{LINE} --judge local,a,b");
    let told = run(&project, &server, &line).expect(0);
    let again = Ran::start(project.command().args(format!("{line} --judge-cache only").split_whitespace())).expect(0);
    assert_eq!(lasting(&told.out), lasting(&again.out));
    let told: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!(found(&told), "yyy");
    assert_eq!(of_judge(&told, "local")["asked"], 3);
    run(&project, &server, &format!("{LINE} --judge a,a")).says(4, &["votes once"]);
    run(&project, &server, &format!("{LINE} --judge a,nobody")).says(2, &["unknown judge `nobody`"]);
}
