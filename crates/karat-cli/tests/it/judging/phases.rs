//! Two phases: candidate pairs are scored by file, lines and words, then a judge decides those worth asking about.

use super::{
    command, find_judge, pair_answer, project, report, run, server_answering, server_deciding, user_message, warnings,
};
use crate::judge_engine::server::Fault;
use crate::project::{CommandOutput, Project, lines, near, trial};
use serde_json::{Value, json};

/// A case of four goldens and findings with hand-computed scores: `a` and `b` have a full match each, `c` shares only
/// a folder with one, `d` shares nothing; `again` is a second candidate for `a`.
fn four_goldens() -> Project {
    let golden = |id: &str, file: &str, line: u32, word: &str| json!({ "id": id, "title": format!("Golden {id}"), "file": file, "line_start": line, "keywords": [word] });
    let finding = |id: &str, file: &str, line: u32, text: &str| json!({ "id": id, "message": text, "file": file, "line_start": line });
    let case = json!({ "id": "c", "issues": [golden("a", "src/a.c", 10, "overflow"), golden("b", "src/b.c", 20, "race"),
        golden("c", "lib/deep/c.c", 30, "leak"), golden("d", "d.c", 40, "deadlock")] });
    let findings = json!([
        finding("fa", "src/a.c", 10, "an overflow"),
        finding("again", "src/a.c", 90, "odd code"),
        finding("fb", "src/b.c", 20, "a race"),
        finding("fc", "lib/other.c", 1, "something odd")
    ]);
    Project::new()
        .with("suite/karat.toml", format!("[suite]\nname = \"four\"\n{}", super::JUDGES))
        .with("suite/cases.jsonl", lines(&[case]))
        .with("it.jsonl", lines(&[trial("c", "it", 1, findings)]))
}

const CRB: &str = "score suite --submission it.jsonl --profile crb --json";

/// The only trial of a report.
fn only_trial(report: &Value) -> &Value {
    &report["tools"][0]["cases"][0]["trials"][0]
}

/// As in the published benchmark: one question per golden, about its greedy candidate if it scores at least 0.1, and
/// the answer decides regardless of file, lines and words.
#[test]
fn crb_asks_about_one_candidate_per_golden() {
    for variable in ["KARAT_JUDGE_MODEL", "CRB_JUDGE_MODEL"] {
        let project = four_goldens();
        let server = server_deciding(|words| {
            Ok(if words.contains("Golden b") { pair_answer(false, 0.8) } else { pair_answer(true, 0.7) })
        });
        let mut command = command(&project, &server);
        let ran = CommandOutput::start(command.env(variable, "claude-of-mine").args(CRB.split_whitespace())).expect(0);
        let report: Value = serde_json::from_str(&ran.out).unwrap();
        let questions: Vec<String> = server.bodies().iter().map(user_message).collect();
        let about = |golden: &str, finding: &str| {
            questions.iter().filter(|text| text.contains(golden) && text.contains(finding)).count()
        };
        assert_eq!(
            (about("Golden a", "an overflow"), about("Golden b", "a race"), about("Golden c", "something odd")),
            (1, 1, 1)
        );
        assert_eq!(questions.len(), 3, "{questions:#?}");
        assert!(server.bodies().iter().all(|body| body["model"] == "claude-of-mine" && body["temperature"] == 0.0));
        let trial = only_trial(&report);
        let matched: Vec<&Value> = trial["matches"].as_array().unwrap().iter().map(|m| &m["golden"]).collect();
        assert_eq!(matched, ["a", "c"], "{trial:#}");
        near(trial, "/matches/0/score", 0.4 * 1.0 + 0.6 * 0.7);
        near(trial, "/matches/1/score", 0.4 * 0.12 + 0.6 * 0.7);
        assert_eq!(trial["matches"][1]["judgement"]["judge"], "anthropic/claude-of-mine");
        // Precision is over all four findings, recall over all four goldens.
        assert_eq!((&trial["tp"], &trial["fp"], &trial["fn"]), (&json!(2), &json!(2), &json!(2)));
        let judge = find_judge(&report, "anthropic/claude-of-mine");
        assert_eq!((&judge["asked"], &judge["unjudged"]), (&json!(3), &json!(0)), "{judge}");
        assert_eq!(judge["beyond"], 1, "{judge}");
    }
}

/// Without the variable no judge is asked, and the threshold decides.
#[test]
fn crb_uses_no_judge_by_default() {
    let project = four_goldens();
    let server = server_answering(true);
    for line in [CRB.to_owned(), format!("{CRB} --judge none")] {
        let mut command = command(&project, &server);
        if line.contains("none") {
            command.env("KARAT_JUDGE_MODEL", "claude-of-mine");
        }
        let report: Value =
            serde_json::from_str(&CommandOutput::start(command.args(line.split_whitespace())).expect(0).out).unwrap();
        let matched: Vec<&Value> =
            only_trial(&report)["matches"].as_array().unwrap().iter().map(|m| &m["golden"]).collect();
        assert_eq!(matched, ["a", "b"]);
        assert_eq!((server.requests(), &report["judges"]), (0, &json!([])));
    }
    // An empty variable names no judge, and a model of another provider is asked at that provider.
    let mut empty = command(&project, &server);
    CommandOutput::start(empty.env("KARAT_JUDGE_MODEL", " ").args(CRB.split_whitespace())).expect(0);
    assert_eq!(server.requests(), 0);
    let mut other = command(&project, &server);
    CommandOutput::start(other.env("KARAT_JUDGE_MODEL", "gpt-4o").args(CRB.split_whitespace())).expect(0);
    assert!(server.bodies().iter().all(|body| body["messages"][0]["role"] == "system" && body["model"] == "gpt-4o"));
    assert_eq!(server.requests(), 3);
}

/// At most `top_k` candidates of a golden are asked about, and only while the answer can change anything.
#[test]
fn questions_without_effect_are_saved() {
    let check = |findings: usize, top_k: usize, matched: bool, questions: u64, saved: u64| {
        let project = project(2, findings);
        let server = server_answering(matched);
        let line = format!("score suite --submission it.jsonl --judge sonnet --set top_k={top_k} --json");
        let report = report(&project, &server, &line);
        let judge = find_judge(&report, "sonnet");
        assert_eq!(
            (&judge["asked"], &judge["saved"]),
            (&json!(questions), &json!(saved)),
            "{findings} {top_k} {matched}"
        );
        assert_eq!(server.requests(), questions, "{findings} {top_k} {matched}");
    };
    // A rejected candidate is followed by the next best, up to three.
    check(5, 3, false, 6, 0);
    check(5, 1, false, 2, 0);
    // An accepted candidate settles its golden; the others may still be duplicates, which are no false positives.
    check(1, 3, true, 2, 0);
    check(3, 3, true, 6, 0);
    // If duplicates count as false positives anyway, the rest is saved.
    let project = project(2, 3);
    let server = server_deciding(|_| Ok(pair_answer(true, 1.0)));
    let line = "score suite --submission it.jsonl --judge sonnet --set duplicates_are_false=true --json";
    let report = report(&project, &server, line);
    let judge = find_judge(&report, "sonnet");
    assert_eq!((&judge["asked"], &judge["saved"], server.requests()), (&json!(2), &json!(4), 2), "{judge}");
}

/// Given judgements are not asked about again.
#[test]
fn given_judgements_are_not_asked_again() {
    let project = project(4, 1);
    let judgement = |n: u32, matched: bool| {
        json!({ "kind": "pair", "case": format!("c{n}"), "tool": "it", "trial": 1, "judge": "human:anna", "golden": "g",
            "finding": "f1", "match": matched })
    };
    project.write("anna.jsonl", lines(&[judgement(1, false), judgement(2, true), judgement(3, false)]));
    let server = server_answering(true);
    let line = "score suite --submission it.jsonl --judgements anna.jsonl --judge sonnet --json";
    let scored = report(&project, &server, line);
    let questions: Vec<String> = server.bodies().iter().map(user_message).collect();
    assert!(questions.len() == 1 && questions[0].contains("Reader 4 "), "{questions:#?}");
    let found: Vec<&Value> =
        scored["tools"][0]["cases"].as_array().unwrap().iter().map(|case| &case["trials"][0]["tp"]).collect();
    assert_eq!(found, [0, 1, 0, 1]);
    assert_eq!(find_judge(&scored, "human:anna")["cached"], 3);
    assert_eq!(find_judge(&scored, "sonnet")["asked"], 1);
    // If all are given, neither a server nor a key is needed.
    let mut all = project.read("anna.jsonl");
    all.push_str(&lines(&[judgement(4, true)]));
    project.write("all.jsonl", all);
    let quiet = "score suite --submission it.jsonl --judgements all.jsonl --judge sonnet --json --judge-cache off";
    let ran = CommandOutput::start(project.command().args(quiet.split_whitespace())).expect(0);
    assert_eq!((server.requests(), ran.code), (1, Some(0)));
    // Without a judge, given judgements still count.
    let none = report(&project, &server, &line.replace("sonnet", "none"));
    assert_eq!(
        (server.requests(), &none["tools"][0]["cases"][1]["trials"][0]["matches"][0]["judgement"]["judge"]),
        (1, &json!("human:anna"))
    );
}

/// An unjudged pair is a miss marked as such, counted and reported as a warning; refusals are counted separately.
#[test]
fn unjudged_pairs_are_counted_and_warned_of() {
    let project = project(4, 1);
    project.write("suite/karat.toml", project.read("suite/karat.toml").replace("-test\"", "-test\"\nretries = 0"));
    let server = server_deciding(|words| match () {
        () if words.contains("Reader 1 ") => Err(Fault::Broken),
        () if words.contains("Reader 2 ") => Err(Fault::Refusal),
        () if words.contains("Reader 3 ") => Err(Fault::Prose),
        () => Ok(pair_answer(true, 1.0)),
    });
    let line = "score suite --submission it.jsonl --judge sonnet --allow-incomplete-judging";
    let scorecard = report(&project, &server, &format!("{line} --json"));
    let judge = find_judge(&scorecard, "sonnet");
    assert_eq!((&judge["asked"], &judge["unjudged"], &judge["refused"]), (&json!(4), &json!(3), &json!(1)), "{judge}");
    for case in 0..3 {
        let trial = &scorecard["tools"][0]["cases"][case]["trials"][0];
        assert_eq!(
            (&trial["misses"][0]["flags"], &trial["extras"][0]["flags"]),
            (&json!(["unjudged"]), &json!(["unjudged"])),
            "{trial:#}"
        );
    }
    assert_eq!(scorecard["tools"][0]["cases"][3]["trials"][0]["tp"], 1);
    let warned = warnings(&scorecard);
    for why in ["answered 500", "it refused to answer: I cannot help with that.", "the answer could not be read"] {
        assert!(
            warned.contains("sonnet: 1 of 4 questions are unjudged and count as no match: ") && warned.contains(why),
            "{warned}"
        );
    }
    // Also in the table and in `explain`.
    let table = run(&project, &server, &format!("{line} -v")).expect(0);
    assert!(table.out.contains("sonnet: 4 questions") && table.out.contains("3 unjudged"), "{}", table.out);
    let story = run(&project, &server, "explain c1 --suite suite --submission it.jsonl --judge sonnet");
    story.expect_error(5, &["the judge sonnet answered none of 1 questions"]);
    let story = run(&project, &server, "explain c4 --suite suite --submission it.jsonl --judge sonnet").expect(0);
    assert!(story.out.contains("sonnet"), "{}", story.out);
}

/// A budget is for a run, however many rounds of questions it has.
#[test]
fn budget_covers_all_rounds() {
    let project = project(4, 3);
    project.write("suite/karat.toml", project.read("suite/karat.toml").replace("-test\"", "-test\"\nbudget_calls = 6"));
    let server = server_answering(false);
    let line = "score suite --submission it.jsonl --judge sonnet --json";
    let scorecard = report(&project, &server, &format!("{line} --allow-incomplete-judging"));
    assert_eq!(server.requests(), 6);
    assert!(warnings(&scorecard).contains("the budget is spent"), "{}", warnings(&scorecard));
    assert_eq!(scorecard["measured"]["judges"]["sonnet"]["requests"], 6);
    // Stored answers are paid for, so a second run gets further.
    report(&project, &server, line);
    assert_eq!(server.requests(), 12);
}

/// Prices turn tokens into cost: of all answers in the report, and of this execution in `measured`.
#[test]
fn report_states_costs() {
    let project = project(3, 1);
    let config = project.read("suite/karat.toml").replace("-test\"", "-test\"\nprice_in = 2.5\nprice_out = 10");
    project.write("suite/karat.toml", config);
    let server = server_answering(true);
    let line = "score suite --submission it.jsonl --judge sonnet --json";
    let usd = 3.0 * (800.0 * 2.5 + 60.0 * 10.0) / 1e6;
    for now in [usd, 0.0] {
        let scorecard = report(&project, &server, line);
        let judge = find_judge(&scorecard, "sonnet");
        near(judge, "/usd", usd);
        assert_eq!(judge["tokens"], 3 * 860);
        let spent = scorecard["measured"]["judges"]["sonnet"]["usd"].as_f64().unwrap_or(0.0);
        assert!((spent - now).abs() < 1e-12, "{spent} {now}");
    }
}

/// Unjudged pairs count as no match, so a report that is mostly unjudged is an error. It is still written.
#[test]
fn mostly_unjudged_report_is_an_error() {
    let project = project(8, 1);
    project.write("suite/karat.toml", project.read("suite/karat.toml").replace("-test\"", "-test\"\nbudget_calls = 3"));
    let server = server_answering(true);
    let line = "score suite --submission it.jsonl --judge sonnet -o r.json";
    run(&project, &server, line)
        .expect_error(5, &["answered 3 of 8 questions", "--allow-incomplete-judging", "raise its budget"]);
    let scorecard: serde_json::Value = serde_json::from_str(&project.read("r.json")).unwrap();
    assert_eq!(find_judge(&scorecard, "sonnet")["unjudged"], 5);
    // Three more are answered now, which is a majority.
    run(&project, &server, line).expect(0);
    let other = super::project(8, 1);
    other.write("suite/karat.toml", project.read("suite/karat.toml"));
    run(&other, &server, &format!("{line} --allow-incomplete-judging")).expect(0);
    let third = super::project(8, 1);
    third.write("suite/karat.toml", project.read("suite/karat.toml"));
    run(&third, &server, "run suite --tool replay:it.jsonl --judge sonnet --trials 1 -q")
        .expect_error(5, &["answered 3 of 8"]);
}
