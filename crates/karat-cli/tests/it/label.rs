//! `karat label`: people say whether findings report goldens.

use crate::project::{Project, Ran, lines, skipped, trial};
use serde_json::{Value, json};

/// A suite of two cases with code, and what two tools said of it; the first finding of both says the same.
fn project() -> Project {
    let case = "id: orders\nissues:\n  - id: g1\n    title: SQL injection in order search\n    description: The query is \
                built from the request.\n    file: orders.py\n    line_start: 3\n    line_end: 4\n    severity: high\n    \
                keywords: [sql]\n  - id: g2\n    title: Connection never closed\n    file: orders.py\n    line_start: 9\n";
    let code = "import db\n\ndef search(term):\n    return db.run('select * from o where t = ' + term)\n\n\n\n\n    c = db.open()\n";
    let injection = |id: &str| {
        json!({ "id": id, "title": "Possible injection", "message": "user input reaches a sql query", "file": "orders.py",
                "line_start": 4, "severity": "critical", "rule_id": format!("{MARK}-rule") })
    };
    let other =
        json!({ "id": format!("{MARK}-2"), "message": "resource may leak", "file": "orders.py", "line_start": 9 });
    let first =
        [trial("orders", MARK, 1, json!([injection(MARK), other])), trial("orders", MARK, 2, json!([injection("x")]))];
    let second =
        [trial("orders", "tool-b", 1, json!([injection("second-f")])), trial("orders", "tool-b", 2, json!([]))];
    Project::new()
        .with("karat.toml", "[suite]\nname = \"tiny\"\n")
        .with("cases/orders/case.yaml", case)
        .with("cases/orders/before/orders.py", "import db\n")
        .with("cases/orders/after/orders.py", code)
        .with("a.jsonl", lines(&first))
        .with("b.jsonl", lines(&second))
}

/// Stands wherever a label page must not look.
const MARK: &str = "marktool";

const A: &str = "--suite . --submission a.jsonl";
const B: &str = "--suite . --submission b.jsonl";

/// The id of the next pair.
fn next(project: &Project, name: &str, from: &str) -> String {
    let shown = project.json(&format!("label next --as {name} {from} --json"));
    shown["next"]["id"].as_str().unwrap_or_else(|| panic!("nothing is left: {shown}")).to_owned()
}

/// Labels everything that is left, yes for the first golden with the first finding and no for all else.
fn label_all(project: &Project, name: &str, from: &str) -> usize {
    let mut labelled = 0;
    loop {
        let shown = project.json(&format!("label next --as {name} {from} --json"));
        let Some(id) = shown["next"]["id"].as_str() else { return labelled };
        let same =
            shown["next"]["golden"]["golden"] == "g1" && shown["next"]["finding"]["title"] == "Possible injection";
        project.run(&format!("label add {id} {} --as {name} {from}", if same { "yes" } else { "no" })).expect(0);
        labelled += 1;
    }
}

/// Labels in few words.
fn listed(project: &Project, flags: &str) -> Vec<String> {
    let labels = project.json(&format!("label list {flags} --json"));
    let told = |l: &Value| {
        let counts = if l["counts"] == true { "" } else { " (before)" };
        format!("{} {} {}{counts}", l["annotator"].as_str().unwrap(), l["golden"].as_str().unwrap(), l["match"])
    };
    labels.as_array().unwrap().iter().map(told).collect()
}

#[test]
fn a_pair_is_shown_with_its_code_and_can_be_answered() {
    let project = project();
    let command = |width: &str| {
        let words = format!("label next --as anna {A}");
        Ran::start(project.command().env("COLUMNS", width).args(words.split_whitespace())).expect(0)
    };
    let ran = command("80");
    for part in ["Known problem", "Report", "Code", "case orders"] {
        assert!(ran.out.contains(part), "no {part:?}:\n{}", ran.out);
    }
    assert!(ran.out.lines().all(|line| line.chars().count() <= 80), "{}", ran.out);
    assert!(ran.err.contains("0 of 4 pairs labelled by anna"), "{}", ran.err);
    let answer = ran.err.lines().last().unwrap().trim().strip_prefix("karat ").unwrap();
    project.run(answer).says(0, &["anna labelled the pair"]);
    command("80").says(0, &["1 of 4 pairs labelled by anna"]);
    assert_eq!(label_all(&project, "anna", A), 3);
    project.run(&format!("label next --as anna {A}")).says(0, &["4 of 4 pairs labelled by anna; nothing left"]);
    let done = project.json(&format!("label next --as anna {A} --json"));
    assert_eq!((&done["labelled"], &done["pairs"], &done["next"]), (&json!(4), &json!(4), &Value::Null));
}

#[test]
fn nothing_tells_who_reported_it_or_what_others_think() {
    let project = project();
    project.run(&format!("run . --tool replay:a.jsonl replay:b.jsonl --trials 2 --model {MARK}-model -q")).expect(0);
    let judged = json!({ "kind": "pair", "case": "orders", "tool": MARK, "trial": 1, "judge": format!("{MARK}-judge"),
        "golden": "g1", "finding": MARK, "match": true, "explanation": format!("{MARK} says so") });
    let mut store = karat_store::Store::open(&project.path(".karat")).unwrap();
    let run = store.find("latest").unwrap().id;
    store.set_judgements(&run, &[serde_json::from_value(judged).unwrap()]).unwrap();
    drop(store);
    assert!(project.ok("store show --json").contains(&format!("{MARK}-model")), "the run knows the model");
    let id = next(&project, "anna", "");
    let first = project.ok("label next --as ben");
    project.run(&format!("label add {id} no --as anna --note {MARK}-note")).expect(0);
    let mut seen = String::new();
    for skip in 0..5 {
        for json in ["", "--json"] {
            let ran = project.run(&format!("label next --as ben --skip {skip} {json}")).expect(0);
            seen.push_str(&ran.out);
            seen.push_str(&ran.err);
        }
    }
    assert!(seen.contains("Possible injection") && seen.contains("resource may leak"), "{seen}");
    for word in [MARK, "tool-b", "anna", "trial", "judge", "second-f"] {
        assert!(!seen.contains(word), "{word} is told:\n{seen}");
    }
    assert_eq!(project.ok("label next --as ben"), first, "what others said changes nothing");
}

#[test]
fn the_order_is_always_the_same() {
    let project = project();
    let order = |from: &str| -> Vec<String> {
        let shown = |skip: usize| {
            project.json(&format!("label next --as anna {from} --skip {skip} --json"))["next"]["id"].clone()
        };
        (0..4).map(|skip| shown(skip).as_str().unwrap().to_owned()).collect()
    };
    let once = order(A);
    assert_eq!(order(A), once);
    let turned: String = project.read("a.jsonl").lines().rev().map(|line| format!("{line}\n")).collect();
    project.write("turned.jsonl", turned);
    assert_eq!(order("--suite . --submission turned.jsonl"), once);
}

#[test]
fn what_was_said_is_never_overwritten() {
    let project = project();
    let id = next(&project, "anna", A);
    project.run(&format!("label add {id} yes --as anna {A}")).expect(0);
    for answer in ["yes", "no", "partial"] {
        let ran = project.run(&format!("label add {id} {answer} --as anna {A}"));
        ran.says(2, &["anna said yes of the pair", &id, "--change"]);
    }
    project.run(&format!("label add {id} no --as ben {A}")).expect(0);
    // What was labelled before needs no run.
    project.run(&format!("label add {id} partial --as anna --change --note closer")).expect(0);
    assert_eq!(listed(&project, "").len(), 2);
    let history = listed(&project, "--history");
    assert!(history[0].starts_with("anna") && history[0].ends_with("true (before)"), "{history:?}");
    assert_eq!(history.len(), 3);
    let table = project.ok("label list --history");
    assert!(table.contains("corrected") && table.contains("closer") && table.contains(&id), "{table}");
    assert_eq!(listed(&project, "--as ben").len(), 1);
    assert!(project.ok("store verify").contains("2 labels"));
}

#[test]
fn a_label_holds_in_every_run_that_says_the_same() {
    let project = project();
    assert_eq!(label_all(&project, "anna", A), 4);
    let shown = project.json(&format!("label next --as anna {B} --json"));
    assert_eq!((&shown["labelled"], &shown["pairs"]), (&json!(2), &json!(2)));
    let exported = project.ok(&format!("label export {B}"));
    let judgements: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<String> = judgements
        .iter()
        .map(|j| format!("{} {} {} {} {}", j["judge"], j["tool"], j["finding"], j["golden"], j["match"]))
        .collect();
    assert_eq!(
        told,
        ["\"human:anna\" \"tool-b\" \"second-f\" \"g1\" true", "\"human:anna\" \"tool-b\" \"second-f\" \"g2\" false",]
    );
    // The finding stands in two trials of the other tool, so one label is two judgements.
    assert_eq!(project.ok(&format!("label export {A}")).lines().count(), 6);
    project.run(&format!("label export {B}")).says(0, &["2 labels skipped"]);
}

#[test]
fn labels_are_judgements_that_score_and_agree_hear() {
    let project = project();
    label_all(&project, "anna", A);
    label_all(&project, "ben", A);
    project.run(&format!("label export {A} -o labels.jsonl")).says(0, &["12 judgements from 8 labels"]);
    let report = project.json("score . --submission a.jsonl --judgements labels.jsonl --json");
    let text = report.to_string();
    assert!(text.contains("human:anna"), "{text}");
    let agreement = project.json("judge agree labels.jsonl --json");
    assert_eq!(
        (&agreement["raters"], &agreement["percent"]["value"]),
        (&json!(["human:anna", "human:ben"]), &json!(1.0))
    );
    let only = project.ok(&format!("label export {A} --as ben"));
    assert!(!only.contains("anna") && only.lines().count() == 6);
}

#[test]
fn labels_move_from_store_to_store() {
    let (here, there) = (project(), project());
    label_all(&here, "anna", A);
    let id = next(&here, "ben", A);
    here.run_list(&[
        "label",
        "add",
        &id,
        "partial",
        "--as",
        "ben",
        "--note",
        "line\nbreak \u{1b}[1m",
        "--suite",
        ".",
        "--submission",
        "a.jsonl",
    ])
    .expect(0);
    assert!(!here.ok("label list").contains('\u{1b}'));
    let exported = here.ok(&format!("label export {A}"));
    there.write("labels.jsonl", &exported);
    there.run(&format!("label import labels.jsonl {A}")).says(0, &["5 labels added, 0 already present"]);
    there.run(&format!("label import labels.jsonl {A}")).says(0, &["0 labels added, 5 already present"]);
    assert_eq!(there.ok(&format!("label export {A}")), exported);
    // One word the other way is refused with its place, and nothing is taken; a new one beside it neither.
    let turned = exported.replacen("\"match\":true", "\"match\":false", 2).replace("human:ben", "human:cleo");
    there.write("turned.jsonl", turned);
    there
        .run(&format!("label import turned.jsonl {A}"))
        .says(4, &["anna has said yes", "turned.jsonl:", "--change", "nothing was loaded"]);
    assert_eq!(listed(&there, "").len(), 5);
    let taken = there.json(&format!("label import turned.jsonl {A} --change --json"));
    assert_eq!(taken, json!({ "added": 1, "corrected": 1, "were_here": 3 }));
    assert_eq!((listed(&there, "").len(), listed(&there, "--history").len()), (6, 7));
    there.ok("store verify");
}

#[test]
fn wrong_input_is_refused_with_what_to_do() {
    let project = project();
    let says = |line: &str, code: i32, text: &str| drop(project.run(line).says(code, &[text]));
    says(&format!("label next {A}"), 2, "--as NAME");
    says(&format!("label next {A} --as a:b"), 2, "no colon");
    says(&format!("label next {A} --as -x"), 2, "");
    says("label next --as anna", 2, "--suite");
    says("label next nightly --as anna", 5, "there is no store");
    says("label next nightly --as anna --suite .", 2, "cannot be used with");
    says(&format!("label add zz yes --as anna {A}"), 2, "invalid id");
    says(&format!("label add 000000000000 yes --as anna {A}"), 2, "no pair, extra or finding");
    says(&format!("label add 0000 maybe --as anna {A}"), 2, "partial");
    says("label list", 5, "there is no store");
    assert!(!project.path(".karat").exists(), "looking makes no store");
    project.write("bad.jsonl", "{\"kind\":\"pair\"}\nnot json\n");
    says(&format!("label import bad.jsonl {A}"), 4, "nothing was loaded");
    let model = json!({ "kind": "pair", "case": "orders", "tool": MARK, "trial": 1, "judge": "sonnet", "golden": "g1",
        "finding": "nobody", "match": true });
    project.write("model.jsonl", lines(&[model]));
    let ran = project.run(&format!("label import model.jsonl {A}"));
    ran.says(4, &["`sonnet` is not a person", "human:NAME", "has no finding `nobody`", "2 faults in 1 file"]);
    assert!(!project.path(".karat").exists());
}

#[test]
fn a_name_comes_from_the_environment_too() {
    let project = project();
    let named = |words: &str, name: &str| {
        Ran::start(project.command().env("KARAT_ANNOTATOR", name).args(words.split_whitespace()))
    };
    let id = next(&project, "anna", A);
    named(&format!("label add {id} yes {A}"), "anna").says(0, &["anna labelled the pair"]);
    named(&format!("label add {id} no --as ben {A}"), "anna").says(0, &["ben labelled the pair"]);
    named(&format!("label next {A}"), "").says(2, &["--as NAME"]);
    // Who is labelling does not see the others by accident.
    assert!(!named("label list", "anna").expect(0).out.contains("ben"));
    assert!(named("label list --all", "anna").expect(0).out.contains("ben"));
}

#[test]
fn several_people_label_at_once() {
    let project = project();
    let id = next(&project, "anna", A);
    std::thread::scope(|scope| {
        for person in 0..6 {
            let (project, id) = (&project, &id);
            // Three people, each of them twice: one of the two is refused.
            scope.spawn(move || project.run(&format!("label add {id} yes --as p{} {A}", person / 2)).code);
        }
    });
    assert_eq!(listed(&project, "--history").len(), 3);
    project.ok("store verify");
}

/// On a terminal one pair follows the other, and every answer is kept at once.
#[test]
fn a_terminal_is_asked_pair_after_pair() {
    let project = project();
    let karat = assert_cmd::cargo::cargo_bin("karat");
    let command = format!("{} label next --as anna {A}", karat.display());
    let mut script = assert_cmd::Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).current_dir(project.path("."));
    script.env_remove("KARAT_STORE").env("TERM", "dumb").write_stdin("what\ny same query\nskip\np\nq\n");
    if std::process::Command::new("script").arg("--version").output().is_err() {
        return skipped("there is no `script` to make a terminal with");
    }
    let out = String::from_utf8_lossy(&script.output().unwrap().stdout).into_owned();
    for text in ["q(uit) >", "type a letter, with an optional note", "1 of 4 pairs labelled by anna"] {
        assert!(out.contains(text), "no {text:?}:\n{out}");
    }
    assert!(!out.contains(MARK), "{out}");
    let labels = project.json("label list --json");
    let told: Vec<(&Value, &Value)> = labels.as_array().unwrap().iter().map(|l| (&l["match"], &l["note"])).collect();
    assert_eq!(told, [(&json!(true), &json!("same query")), (&json!(false), &Value::Null)]);
    assert_eq!(labels[1]["partial"], true);
}

#[test]
fn a_sample_is_the_same_for_everybody_and_is_remembered() {
    let project = project();
    let drawn = |name: &str, flags: &str| -> Vec<String> {
        let shown = |skip: usize| project.json(&format!("label next --as {name} {A} --skip {skip} --json {flags}"));
        let ids = (0..4).map(|skip| shown(skip)["next"]["id"].clone());
        ids.filter_map(|id| id.as_str().map(str::to_owned)).collect()
    };
    assert_eq!(drawn("anna", "--sample 1").len(), 4);
    let seeds: Vec<Vec<String>> = (0..6).map(|seed| drawn("anna", &format!("--sample 0.5 --seed {seed}"))).collect();
    assert!(seeds.iter().any(|ids| *ids != seeds[0]), "every seed draws the same: {seeds:?}");
    let seed = seeds.iter().position(|ids| !ids.is_empty() && ids.len() < 4).expect("a seed that draws some");
    let flags = format!("--sample 0.5 --seed {seed}");
    assert_eq!(drawn("ben", &flags), seeds[seed]);
    let ran = project.run(&format!("label next --as anna {A} {flags}"));
    let ran = ran.says(0, &[&format!("0 of {} pairs labelled by anna", seeds[seed].len())]);
    let answer = ran.err.lines().last().unwrap().trim().strip_prefix("karat ").unwrap();
    project.run(answer).expect(0);
    let left = drawn("anna", "").into_iter().find(|id| !seeds[seed].contains(id)).unwrap();
    project.run(&format!("label add {left} no --as anna {A} {flags}")).says(2, &["is not in this sample", "--seed"]);
    project.run(&format!("label add {left} no --as anna {A}")).expect(0);
    let labels = project.json("label list --json");
    let picked: Vec<&Value> = labels.as_array().unwrap().iter().map(|l| &l["picked_with_probability"]).collect();
    assert_eq!(picked, [&json!(0.5), &Value::Null]);
    project.run(&format!("label export {A} -o labels.jsonl")).expect(0);
    assert!(project.read("labels.jsonl").contains("\"probability\":0.5"));
    let report = project.json("score . --submission a.jsonl --labels labels.jsonl --json");
    assert!(
        report["warnings"].to_string().contains("without the probability of picking their pair"),
        "{}",
        report["warnings"]
    );
    let there = self::project();
    there.write("labels.jsonl", project.read("labels.jsonl"));
    there.run(&format!("label import labels.jsonl {A}")).expect(0);
    assert_eq!(there.ok(&format!("label export {A}")), project.read("labels.jsonl"));
    for wrong in ["0", "1.5", "-1", "NaN", "x"] {
        project.run(&format!("label next --as anna {A} --sample={wrong}")).says(2, &[""]);
    }
    project.run(&format!("label next --as anna {A} --sample=0")).says(2, &["above 0 and up to 1"]);
    project.run(&format!("label next --as anna {A} --seed 3")).says(2, &["--sample"]);
}
