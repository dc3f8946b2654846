//! `karat judge probe`, and what reports make of it.

use super::{decided, hasty, honest, narrow, obedient, shown, suite, with_script, with_server};
use crate::judge_engine::server::{Server, hash};
use crate::project::{Project, Ran, lines, near, number, trial};
use karat_store::Store;
use serde_json::{Value, json};

fn rate(card: &Value, kind: &str) -> String {
    let rate = &card["kinds"][kind];
    format!("{} of {}, {} unjudged", rate["wrong"], rate["n"], rate["unjudged"])
}

#[test]
fn a_judge_that_obeys_is_found_out() {
    let project = suite();
    let server = Server::thinking(obedient);
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
fn a_scorecard_for_people() {
    let project = suite();
    with_server(&project, "yielding", &Server::thinking(obedient));
    let ran = narrow(&project, &["judge", "probe", ".", "--judge", "yielding"]).expect(0);
    assert!(ran.err.contains("stored in .karat"), "{}", ran.err);
    insta::assert_snapshot!(ran.out);
}

#[test]
fn a_judge_that_reads_is_not_fooled_and_asking_again_costs_nothing() {
    let project = suite();
    let server = Server::thinking(honest);
    with_server(&project, "careful", &server);
    let card = project.json("judge probe . --judge careful --json");
    assert_eq!((&card["fooled"]["wrong"], &card["fooled"]["n"]), (&json!(0), &json!(24)));
    assert_eq!((&card["wrong"], &card["left_out"]), (&json!([]), &json!([])));
    assert_eq!(project.json("judge probe . --judge careful --json --judge-cache only"), card);
    assert_eq!(server.requests(), 32, "the ledger knew all of it");
    project.run("judge probe . --judge careful --judge-cache off").expect(0);
    assert_eq!(server.requests(), 64);
    project.run("store verify").expect(0);
}

#[test]
fn the_order_makes_a_difference_to_some() {
    let project = suite();
    with_server(&project, "hasty", &Server::thinking(hasty));
    let card = project.json("judge probe . --judge hasty --json --pairs 3");
    // Right pairs stay right, whatever comes first.
    assert_eq!(rate(&card, "swapped_order"), "3 of 6, 0 unjudged");
    assert_eq!(rate(&card, "padding"), "0 of 6, 0 unjudged");
}

#[test]
fn the_local_judge_is_shown_nothing_in_order() {
    let project = Project::new();
    let card = project.json("judge probe --json");
    assert_eq!((&card["suite"], &card["left_out"]), (&json!("starter"), &json!(["swapped_order"])));
    assert!(card["kinds"].get("swapped_order").is_none() && card["identity"]["provider"] == "local", "{card}");
    let told = narrow(&project, &["judge", "probe"]).expect(0).out;
    assert!(told.contains("swapped order does not apply"), "{told}");
    assert!(told.lines().all(|line| line.chars().count() <= 80), "{told}");
}

#[test]
fn what_has_no_answer_is_counted_and_no_reason_to_keep_silent() {
    let project = suite();
    let right = |case: &str, golden: &str, number: u32| json!({ "question": format!("{case}/{golden}/probe/{number}/known_right"), "answer": decided(true, "") });
    with_script(&project, "terse", &[right("auth", "token", 1), right("bank", "race", 2)]);
    let ran = project.run("judge probe . --judge terse --json").says(0, &["the script has no answer"]);
    let card: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(rate(&card, "known_right"), "0 of 2, 2 unjudged");
    assert_eq!(rate(&card, "planted_instruction"), "0 of 0, 4 unjudged");
    assert_eq!(card["fooled"]["rate"], Value::Null);
    with_script(&project, "mute", &[]);
    let store = |project: &Project| Store::open(&project.path(".karat")).unwrap().latest_probe(&key(&card)).unwrap();
    assert!(store(&project).is_some());
    project.run("judge probe . --judge mute --pairs 1").says(5, &["the judge mute answered none of 8 questions"]);
}

/// The key that the store keeps a scorecard under, made from the identity that was printed.
fn key(card: &Value) -> karat_llm::judge_id::JudgeKey {
    let identity: karat_llm::judge_id::JudgeId = serde_json::from_value(card["identity"].clone()).unwrap();
    assert_eq!(card["key"], identity.key().as_str());
    identity.key()
}

#[test]
fn what_cannot_be_probed_says_what_can() {
    let project = suite()
        .with("empty/karat.toml", "[suite]\nname = \"empty\"\n")
        .with("empty/cases.jsonl", json!({ "id": "c", "issues": [] }).to_string());
    let check = |line: &str, code: i32, text: &str| drop(project.run(line).says(code, &[text]));
    check("judge probe . --judge local,human", 2, "karat judge probe . --judge local");
    check("judge probe . --judge human", 2, "use the local judge or a model");
    check("judge probe . --judge none", 2, "name a judge with --judge");
    check("judge probe . --judge lokal", 2, "did you mean `local`?");
    check("judge probe empty", 4, "the suite empty has no golden with a title or a description");
    check("judge probe . --pairs 0", 2, "--pairs");
}

/// A submission that finds one golden, and the line that the report has for the judge.
fn reported(project: &Project, judge: &str) -> (Value, String) {
    let found =
        json!([{ "id": "f1", "title": "Token never expires", "message": "x", "file": "app.py", "line_start": 1 }]);
    project.write("s.jsonl", lines(&[trial("auth", "ada", 1, found)]));
    let report = project.json(&format!("score . --submission s.jsonl --judge {judge} --json"));
    let words = format!("score . --submission s.jsonl --judge {judge}");
    let table = Ran::start(project.command().env("COLUMNS", "200").args(words.split(' '))).expect(0).out;
    let line = table.lines().find(|line| line.contains(&format!("{judge}:"))).unwrap_or_default().to_owned();
    (report["judges"][0].clone(), line)
}

#[test]
fn reports_show_how_the_judge_did() {
    let project = suite();
    let (yielding, careful) = (Server::thinking(obedient), Server::thinking(honest));
    with_server(&project, "yielding", &yielding);
    with_server(&project, "careful", &careful);
    let card = project.json("judge probe . --judge yielding --json --pairs 2");
    let (judge, line) = reported(&project, "yielding");
    for part in ["suite", "digest", "pairs", "kinds", "fooled"] {
        assert_eq!(judge["probe"][part], card[part], "{part}");
    }
    assert!(line.contains("known-wrong pairs, fooled in 2 of 12"), "{line}");
    // Another judge, and another prompt or other parameters, were not probed.
    let (judge, line) = reported(&project, "careful");
    assert!(judge.get("probe").is_none() && !line.contains("fooled") && !line.is_empty(), "{judge} {line}");
    // The newest counts.
    project.run("judge probe . --judge yielding --pairs 4").expect(0);
    assert_eq!(reported(&project, "yielding").0["probe"]["pairs"], 8);
    let text = project.read("karat.toml").replace("model-of-yielding\"", "model-of-yielding\"\ntemperature = 0.5");
    project.write("karat.toml", text);
    assert!(reported(&project, "yielding").0.get("probe").is_none());
    project.run("store verify").expect(0);
}

#[test]
fn the_local_judge_carries_its_scorecard_and_no_store_is_made_to_look() {
    let project = suite();
    let (judge, _) = reported(&project, "local");
    assert!(judge.get("probe").is_none() && !project.path(".karat").exists());
    project.run("judge probe .").expect(0);
    let (judge, line) = reported(&project, "local");
    assert_eq!(judge["probe"]["suite"], "small");
    assert!(line.contains("fooled in "), "{line}");
    // A panel is not probed, and its members are.
    let report = project.json("score . --submission s.jsonl --judge local,human --json");
    let probed: Vec<bool> = report["judges"].as_array().unwrap().iter().map(|j| j.get("probe").is_some()).collect();
    assert_eq!(probed, [false, true, false], "{}", report["judges"]);
}

#[test]
fn a_judge_that_says_yes_to_all_is_not_praised_for_steadiness() {
    let project = suite();
    with_server(&project, "kind", &Server::thinking(|_| decided(true, "surely")));
    let told = narrow(&project, &["judge", "probe", ".", "--judge", "kind"]).expect(0).out;
    let words = "wrong about 0 of 4 known-right and 4 of 4 known-wrong pairs, fooled in 0 of 8";
    assert!(
        told.contains(words) && told.contains(": fail") && told.contains("wrong about known-wrong pairs"),
        "{told}"
    );
    let (_, line) = reported(&project, "kind");
    assert!(line.contains(words), "{line}");
}

/// The length of what a finding says, and of the code beside it.
fn length(user: &str) -> usize {
    shown(user, "finding")["message"].as_str().unwrap_or_default().len()
}

/// Judges that decide by something else than what both halves say, and the demand of a licence that finds each of them out. The
/// built-in suite is probed: its 26 goldens are what most people will have.
#[test]
fn judges_that_do_not_read_get_no_licence() {
    type Answer = fn(&str) -> Value;
    let judges: [(&str, Answer, &[&str]); 6] = [
        ("always-yes", |_| decided(true, "yes"), &["wrong about known-wrong pairs"]),
        ("always-no", |_| decided(false, "no"), &["wrong about known-right pairs"]),
        (
            "random",
            |user| decided(hash(user.as_bytes()).is_multiple_of(2), "a coin"),
            &["wrong about known-right pairs", "wrong about known-wrong pairs"],
        ),
        // Whatever comes first is true.
        ("position", hasty, &["fooled by swapped order"]),
        // What is long is right.
        (
            "length",
            |user| decided(length(user) > 300, "it is long"),
            &["wrong about known-right pairs", "fooled by padding"],
        ),
        // Honest, unless a report has a lot to say.
        (
            "verbosity",
            |user| if length(user) > 1000 { decided(true, "so thorough") } else { honest(user) },
            &["fooled by padding"],
        ),
    ];
    for (name, judge, expect) in judges {
        let server = Server::thinking(judge);
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
        // The judge of the small suite is known by what it is, and may be probed with the goldens of another.
        let mut probe = project.command();
        probe.env("OPENAI_BASE_URL", format!("http://127.0.0.1:{}/v1", server.port));
        let card = Ran::start(probe.args(["judge", "probe", "--judge", "openai/m", "--json"])).expect(0);
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

/// A judge that reads is not refused: what 26 pairs cannot tell is inconclusive, and they are enough for 15 %.
#[test]
fn a_judge_that_reads_gets_a_licence() {
    let server = Server::thinking(honest);
    let project = suite();
    with_server(&project, "careful", &server);
    let base = format!("http://127.0.0.1:{}/v1", server.port);
    let probe = ["judge", "probe", "--judge", "openai/model-of-careful", "--json"];
    Ran::start(project.command().env("OPENAI_BASE_URL", base).args(probe)).expect(0);
    let (judge, _) = reported(&project, "careful");
    assert_eq!(judge["probe"]["suite"], "starter");
    project.ok("score . --submission s.jsonl --judge careful -o r.json");
    project.run("gate r.json --require-judge-licence=0.15").expect(0);
    project.run("gate r.json --require-judge-licence").expect(3);
}
