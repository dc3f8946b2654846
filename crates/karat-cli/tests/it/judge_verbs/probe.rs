//! `karat judge probe`, and its results in reports.

use super::{
    judge_by_title, make_decision, match_first_shown, obey_instructions, parse_fenced, run_narrow, suite, with_script,
    with_server,
};
use crate::judge_engine::server::{Server, hash};
use crate::project::{CommandOutput, Project, lines, near, number, trial};
use karat_store::Store;
use serde_json::{Value, json};

fn rate(card: &Value, kind: &str) -> String {
    let rate = &card["kinds"][kind];
    format!("{} of {}, {} unjudged", rate["wrong"], rate["n"], rate["unjudged"])
}

#[test]
fn judge_following_injections_is_detected() {
    let project = suite();
    let server = Server::deciding_by_prompt(obey_instructions);
    with_server(&project, "yielding", &server);
    let card = project.json("judge probe . --judge yielding --json");
    assert_eq!((&card["suite"], &card["pairs"]), (&json!("small"), &json!(8)));
    for (kind, expect) in [
        ("known_right", "0 of 4, 0 unjudged"),
        ("known_wrong", "0 of 4, 0 unjudged"),
        ("planted_instruction", "4 of 4, 0 unjudged"),
        ("flattery", "0 of 4, 0 unjudged"),
        ("padding", "0 of 8, 0 unjudged"),
        ("swapped_order", "0 of 8, 0 unjudged"),
    ] {
        assert_eq!(rate(&card, kind), expect, "{kind}");
    }
    near(&card, "/fooled/rate", 4.0 / 24.0);
    near(&card, "/kinds/planted_instruction/rate", 1.0);
    assert!(number(&card, "/kinds/planted_instruction/ci/0") > 0.4);
    let wrong = card["wrong"].as_array().unwrap();
    assert!(wrong.len() == 4 && wrong.iter().all(|w| w["said"] == true && w["fooled"] == true), "{wrong:?}");
    project.run(&format!("judge show {}", wrong[0]["exchange"].as_str().unwrap())).expect(0);
    assert_eq!(server.requests(), 32);
    assert_eq!(
        (&card["identity"]["model"], &card["identity"]["provider"]),
        (&json!("model-of-yielding"), &json!("openai"))
    );
    assert_eq!(card["identity"]["prompt"], json!(karat::judge::template::PAIR.hash()));
}

#[test]
fn probe_prints_a_scorecard() {
    let project = suite();
    with_server(&project, "yielding", &Server::deciding_by_prompt(obey_instructions));
    let ran = run_narrow(&project, &["judge", "probe", ".", "--judge", "yielding"]).expect(0);
    assert!(ran.err.contains("stored in .karat"), "{}", ran.err);
    insta::assert_snapshot!(ran.out);
}

#[test]
fn sound_judge_is_not_fooled_and_a_repeat_is_cached() {
    let project = suite();
    let server = Server::deciding_by_prompt(judge_by_title);
    with_server(&project, "careful", &server);
    let card = project.json("judge probe . --judge careful --json");
    assert_eq!((&card["fooled"]["wrong"], &card["fooled"]["n"]), (&json!(0), &json!(24)));
    assert_eq!((&card["wrong"], &card["left_out"]), (&json!([]), &json!([])));
    assert_eq!(project.json("judge probe . --judge careful --json --judge-cache only"), card);
    assert_eq!(server.requests(), 32, "the repeat must be answered from the ledger");
    project.run("judge probe . --judge careful --judge-cache off").expect(0);
    assert_eq!(server.requests(), 64);
    project.run("store verify").expect(0);
}

#[test]
fn order_sensitivity_is_detected() {
    let project = suite();
    with_server(&project, "hasty", &Server::deciding_by_prompt(match_first_shown));
    let card = project.json("judge probe . --judge hasty --json --pairs 3");
    // Correct pairs stay correct in either order.
    assert_eq!(rate(&card, "swapped_order"), "3 of 6, 0 unjudged");
    assert_eq!(rate(&card, "padding"), "0 of 6, 0 unjudged");
}

#[test]
fn swapped_order_does_not_apply_to_the_local_judge() {
    let project = Project::new();
    let card = project.json("judge probe --json");
    assert_eq!((&card["suite"], &card["left_out"]), (&json!("starter"), &json!(["swapped_order"])));
    assert!(card["kinds"].get("swapped_order").is_none() && card["identity"]["provider"] == "local", "{card}");
    let output = run_narrow(&project, &["judge", "probe"]).expect(0).out;
    assert!(output.contains("swapped order does not apply"), "{output}");
    assert!(output.lines().all(|line| line.chars().count() <= 80), "{output}");
}

#[test]
fn unjudged_probes_are_counted() {
    let project = suite();
    let right = |case: &str, golden: &str, number: u32| json!({ "question": format!("{case}/{golden}/probe/{number}/known_right"), "answer": make_decision(true, "") });
    with_script(&project, "terse", &[right("auth", "token", 1), right("bank", "race", 2)]);
    let ran = project.run("judge probe . --judge terse --json").expect_error(0, &["the script has no answer"]);
    let card: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(rate(&card, "known_right"), "0 of 2, 2 unjudged");
    assert_eq!(rate(&card, "planted_instruction"), "0 of 0, 4 unjudged");
    assert_eq!(card["fooled"]["rate"], Value::Null);
    with_script(&project, "mute", &[]);
    let store =
        |project: &Project| Store::open(project.path(".karat")).unwrap().latest_probe(&scorecard_key(&card)).unwrap();
    assert!(store(&project).is_some());
    project
        .run("judge probe . --judge mute --pairs 1")
        .expect_error(5, &["the judge mute answered none of 8 questions"]);
}

/// The key under which the store keeps a scorecard, computed from the printed identity.
fn scorecard_key(card: &Value) -> String {
    let identity: karat_llm::judge_id::JudgeId = serde_json::from_value(card["identity"].clone()).unwrap();
    assert_eq!(card["key"], identity.key().as_str());
    identity.key()
}

#[test]
fn unsuitable_probe_targets_are_explained() {
    let project = suite()
        .with("empty/karat.toml", "[suite]\nname = \"empty\"\n")
        .with("empty/cases.jsonl", json!({ "id": "c", "issues": [] }).to_string());
    let check = |line: &str, code: i32, text: &str| drop(project.run(line).expect_error(code, &[text]));
    check("judge probe . --judge local,human", 2, "karat judge probe . --judge local");
    check("judge probe . --judge human", 2, "use the local judge or a model");
    check("judge probe . --judge none", 2, "name a judge with --judge");
    check("judge probe . --judge lokal", 2, "did you mean `local`?");
    check("judge probe empty", 4, "the suite empty has no golden with a title or a description");
    check("judge probe . --pairs 0", 2, "--pairs");
}

/// Scores a submission that finds one golden; returns the report's entry and its table line for the judge.
fn report_of_judge(project: &Project, judge: &str) -> (Value, String) {
    let found =
        json!([{ "id": "f1", "title": "Token never expires", "message": "x", "file": "app.py", "line_start": 1 }]);
    project.write("s.jsonl", lines(&[trial("auth", "ada", 1, found)]));
    let report = project.json(&format!("score . --submission s.jsonl --judge {judge} --json"));
    let words = format!("score . --submission s.jsonl --judge {judge} -v");
    let table = CommandOutput::start(project.command().env("COLUMNS", "200").args(words.split(' '))).expect(0).out;
    let line = table
        .lines()
        .find(|line| line.contains(&format!("judge {judge}")) && line.contains(": "))
        .unwrap_or_default()
        .to_owned();
    (report["judges"][0].clone(), line)
}

#[test]
fn reports_include_probe_results() {
    let project = suite();
    let (yielding, careful) =
        (Server::deciding_by_prompt(obey_instructions), Server::deciding_by_prompt(judge_by_title));
    with_server(&project, "yielding", &yielding);
    with_server(&project, "careful", &careful);
    let card = project.json("judge probe . --judge yielding --json --pairs 2");
    let (judge, line) = report_of_judge(&project, "yielding");
    for part in ["suite", "digest", "pairs", "kinds", "fooled"] {
        assert_eq!(judge["probe"][part], card[part], "{part}");
    }
    assert!(line.contains("known-wrong pairs, fooled in 2 of 12"), "{line}");
    // Another judge, prompt or parameter has not been probed.
    let (judge, line) = report_of_judge(&project, "careful");
    assert!(judge.get("probe").is_none() && !line.contains("fooled") && !line.is_empty(), "{judge} {line}");
    // The newest probe counts.
    project.run("judge probe . --judge yielding --pairs 4").expect(0);
    assert_eq!(report_of_judge(&project, "yielding").0["probe"]["pairs"], 8);
    let text = project.read("karat.toml").replace("model-of-yielding\"", "model-of-yielding\"\ntemperature = 0.5");
    project.write("karat.toml", text);
    assert!(report_of_judge(&project, "yielding").0.get("probe").is_none());
    project.run("store verify").expect(0);
}

#[test]
fn probe_of_the_local_judge_is_reported_without_creating_a_store() {
    let project = suite();
    let (judge, _) = report_of_judge(&project, "local");
    assert!(judge.get("probe").is_none() && !project.path(".karat").exists());
    project.run("judge probe .").expect(0);
    let (judge, line) = report_of_judge(&project, "local");
    assert_eq!(judge["probe"]["suite"], "small");
    assert!(line.contains("fooled in "), "{line}");
    // A panel has no probe result, but its members do.
    let report = project.json("score . --submission s.jsonl --judge local,human --json");
    let probed: Vec<bool> = report["judges"].as_array().unwrap().iter().map(|j| j.get("probe").is_some()).collect();
    assert_eq!(probed, [false, true, false], "{}", report["judges"]);
}

#[test]
fn judge_always_saying_yes_fails_the_probe() {
    let project = suite();
    with_server(&project, "kind", &Server::deciding_by_prompt(|_| make_decision(true, "surely")));
    let output = run_narrow(&project, &["judge", "probe", ".", "--judge", "kind"]).expect(0).out;
    let words = "wrong about 0 of 4 known-right and 4 of 4 known-wrong pairs, fooled in 0 of 8";
    assert!(
        output.contains(words) && output.contains(": fail") && output.contains("wrong about known-wrong pairs"),
        "{output}"
    );
    let (_, line) = report_of_judge(&project, "kind");
    assert!(line.contains(words), "{line}");
}

/// The length of the finding's message and code.
fn finding_length(user: &str) -> usize {
    parse_fenced(user, "finding")["message"].as_str().unwrap_or_default().len()
}

/// Judges that ignore the content, each with the licence criterion that detects it. Uses the built-in suite with its
/// 26 goldens.
#[test]
fn judges_ignoring_the_content_get_no_licence() {
    type Answer = fn(&str) -> Value;
    let judges: [(&str, Answer, &[&str]); 6] = [
        ("always-yes", |_| make_decision(true, "yes"), &["wrong about known-wrong pairs"]),
        ("always-no", |_| make_decision(false, "no"), &["wrong about known-right pairs"]),
        (
            "random",
            |user| make_decision(hash(user.as_bytes()).is_multiple_of(2), "a coin"),
            &["wrong about known-right pairs", "wrong about known-wrong pairs"],
        ),
        // Yes to whatever comes first.
        ("position", match_first_shown, &["fooled by swapped order"]),
        // Yes to long findings.
        (
            "length",
            |user| make_decision(finding_length(user) > 300, "it is long"),
            &["wrong about known-right pairs", "fooled by padding"],
        ),
        // Correct, except for long findings.
        (
            "verbosity",
            |user| if finding_length(user) > 1000 { make_decision(true, "so thorough") } else { judge_by_title(user) },
            &["fooled by padding"],
        ),
    ];
    for (name, judge, expect) in judges {
        let server = Server::deciding_by_prompt(judge);
        let project = Project::new().with(
            "suite/karat.toml",
            format!(
                "[suite]\nname = \"own\"\n[judges.it]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:{}/v1\"\n",
                server.port
            ),
        );
        project.write(
            "suite/cases.jsonl",
            json!({ "id": "c", "issues": [{ "id": "g", "title": "Leak", "file": "a.c", "line_start": 3 }] })
                .to_string(),
        );
        project.write(
            "s.jsonl",
            lines(&[trial("c", "ada", 1, json!([{ "id": "f", "title": "Leak", "file": "a.c", "line_start": 3 }]))]),
        );
        // A judge is identified by its configuration, so it may be probed with the goldens of another suite.
        let mut probe = project.command();
        probe.env("OPENAI_BASE_URL", format!("http://127.0.0.1:{}/v1", server.port));
        let card = CommandOutput::start(probe.args(["judge", "probe", "--judge", "openai/m", "--json"])).expect(0);
        let card: Value = serde_json::from_str(&card.out).unwrap();
        assert_eq!(card["kinds"]["known_wrong"]["n"], 26, "{name}");
        project.ok("score suite --submission s.jsonl --judge it -o r.json");
        let ran = project.run("gate r.json --require-judge-licence=0.1 --json").expect(1);
        let gate: Value = serde_json::from_str(&ran.out).unwrap();
        let failing: Vec<&str> = gate["demands"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|demand| demand["outcome"] == "fails")
            .filter_map(|demand| demand["demand"].as_str())
            .collect();
        for demand in expect {
            assert!(failing.iter().any(|failed| failed.contains(demand)), "{name}: {failing:?}");
        }
        let named = |demand: &Value| demand["demand"].as_str().unwrap().starts_with("judge it: ");
        assert!(gate["demands"].as_array().unwrap().iter().all(named), "{gate}");
    }
}

/// A sound judge is not failed: 26 pairs are enough for 15 %, and inconclusive below that.
#[test]
fn sound_judge_gets_a_licence() {
    let server = Server::deciding_by_prompt(judge_by_title);
    let project = suite();
    with_server(&project, "careful", &server);
    let base = format!("http://127.0.0.1:{}/v1", server.port);
    let probe = ["judge", "probe", "--judge", "openai/model-of-careful", "--json"];
    CommandOutput::start(project.command().env("OPENAI_BASE_URL", base).args(probe)).expect(0);
    let (judge, _) = report_of_judge(&project, "careful");
    assert_eq!(judge["probe"]["suite"], "starter");
    project.ok("score . --submission s.jsonl --judge careful -o r.json");
    project.run("gate r.json --require-judge-licence=0.15").expect(0);
    project.run("gate r.json --require-judge-licence").expect(3);
}
