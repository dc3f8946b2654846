//! `karat label`: people decide whether findings match goldens.

use crate::project::{CommandOutput, Project, lines, trial};
use serde_json::{Value, json};

/// A suite of one case with code, and the submissions of two tools whose first findings have the same text.
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

/// A marker in everything that annotators must not see.
const MARK: &str = "marktool";

const SUBMISSION_A: &str = "--suite . --submission a.jsonl";
const SUBMISSION_B: &str = "--suite . --submission b.jsonl";

/// The id of the next pair.
fn next_id(project: &Project, name: &str, from: &str) -> String {
    let output = project.json(&format!("label next --as {name} {from} --json"));
    output["next"]["id"].as_str().unwrap_or_else(|| panic!("nothing left: {output}")).to_owned()
}

/// Labels all remaining pairs: yes for the first golden with the first finding, no for all others. Returns their number.
fn label_all(project: &Project, name: &str, from: &str) -> usize {
    let mut labelled = 0;
    loop {
        let output = project.json(&format!("label next --as {name} {from} --json"));
        let Some(id) = output["next"]["id"].as_str() else { return labelled };
        let same =
            output["next"]["golden"]["golden"] == "g1" && output["next"]["finding"]["title"] == "Possible injection";
        project.run(&format!("label add {id} {} --as {name} {from}", if same { "yes" } else { "no" })).expect(0);
        labelled += 1;
    }
}

/// The labels as short texts.
fn list_labels(project: &Project, flags: &str) -> Vec<String> {
    let labels = project.json(&format!("label list {flags} --json"));
    let to_text = |l: &Value| {
        let counts = if l["counts"] == true { "" } else { " (before)" };
        format!("{} {} {}{counts}", l["annotator"].as_str().unwrap(), l["golden"].as_str().unwrap(), l["match"])
    };
    labels.as_array().unwrap().iter().map(to_text).collect()
}

#[test]
fn pair_is_shown_with_code_and_can_be_labelled() {
    let project = project();
    let command = |width: &str| {
        let words = format!("label next --as anna {SUBMISSION_A}");
        CommandOutput::start(project.command().env("COLUMNS", width).args(words.split_whitespace())).expect(0)
    };
    let ran = command("80");
    for part in ["Known problem", "Report", "Code", "case orders"] {
        assert!(ran.out.contains(part), "no {part:?}:\n{}", ran.out);
    }
    assert!(ran.out.lines().all(|line| line.chars().count() <= 80), "{}", ran.out);
    assert!(ran.err.contains("0 of 4 pairs labelled by anna"), "{}", ran.err);
    let answer = ran.err.lines().last().unwrap().trim().strip_prefix("karat ").unwrap();
    project.run(answer).expect_error(0, &["anna labelled the pair"]);
    command("80").expect_error(0, &["1 of 4 pairs labelled by anna"]);
    assert_eq!(label_all(&project, "anna", SUBMISSION_A), 3);
    project
        .run(&format!("label next --as anna {SUBMISSION_A}"))
        .expect_error(0, &["4 of 4 pairs labelled by anna; nothing left"]);
    let done = project.json(&format!("label next --as anna {SUBMISSION_A} --json"));
    assert_eq!((&done["labelled"], &done["pairs"], &done["next"]), (&json!(4), &json!(4), &Value::Null));
}

#[test]
fn label_next_hides_tools_judges_and_other_annotators() {
    let project = project();
    project.run(&format!("run . --tool replay:a.jsonl replay:b.jsonl --trials 2 --model {MARK}-model -q")).expect(0);
    let judged = json!({ "kind": "pair", "case": "orders", "tool": MARK, "trial": 1, "judge": format!("{MARK}-judge"),
        "golden": "g1", "finding": MARK, "match": true, "explanation": format!("{MARK} says so") });
    let mut store = karat_store::Store::open(project.path(".karat")).unwrap();
    let run = store.find("latest").unwrap().id;
    store.set_judgements(&run, &[serde_json::from_value(judged).unwrap()]).unwrap();
    drop(store);
    assert!(project.ok("store show --json").contains(&format!("{MARK}-model")), "the run has no model");
    let id = next_id(&project, "anna", "");
    let first = project.ok("label next --as ben");
    project.run(&format!("label add {id} no --as anna --note {MARK}-note")).expect(0);
    let mut printed = String::new();
    for skip in 0..5 {
        for json in ["", "--json"] {
            let ran = project.run(&format!("label next --as ben --skip {skip} {json}")).expect(0);
            printed.push_str(&ran.out);
            printed.push_str(&ran.err);
        }
    }
    assert!(printed.contains("Possible injection") && printed.contains("resource may leak"), "{printed}");
    for word in [MARK, "tool-b", "anna", "trial", "judge", "second-f"] {
        assert!(!printed.contains(word), "{word} is shown:\n{printed}");
    }
    assert_eq!(project.ok("label next --as ben"), first, "labels of others changed the question");
}

#[test]
fn order_of_pairs_is_stable() {
    let project = project();
    let order = |from: &str| -> Vec<String> {
        let output = |skip: usize| {
            project.json(&format!("label next --as anna {from} --skip {skip} --json"))["next"]["id"].clone()
        };
        (0..4).map(|skip| output(skip).as_str().unwrap().to_owned()).collect()
    };
    let expected = order(SUBMISSION_A);
    assert_eq!(order(SUBMISSION_A), expected);
    let turned: String = project.read("a.jsonl").lines().rev().map(|line| format!("{line}\n")).collect();
    project.write("turned.jsonl", turned);
    assert_eq!(order("--suite . --submission turned.jsonl"), expected);
}

#[test]
fn labels_are_changed_only_with_change_and_keep_history() {
    let project = project();
    let id = next_id(&project, "anna", SUBMISSION_A);
    project.run(&format!("label add {id} yes --as anna {SUBMISSION_A}")).expect(0);
    for answer in ["yes", "no", "partial"] {
        let ran = project.run(&format!("label add {id} {answer} --as anna {SUBMISSION_A}"));
        ran.expect_error(2, &["anna said yes of the pair", &id, "--change"]);
    }
    project.run(&format!("label add {id} no --as ben {SUBMISSION_A}")).expect(0);
    // Correcting a label needs no run.
    project.run(&format!("label add {id} partial --as anna --change --note closer")).expect(0);
    assert_eq!(list_labels(&project, "").len(), 2);
    let history = list_labels(&project, "--history");
    assert!(history[0].starts_with("anna") && history[0].ends_with("true (before)"), "{history:?}");
    assert_eq!(history.len(), 3);
    let table = project.ok("label list --history");
    assert!(table.contains("corrected") && table.contains("closer") && table.contains(&id), "{table}");
    assert_eq!(list_labels(&project, "--as ben").len(), 1);
    assert!(project.ok("store verify").contains("2 labels"));
}

#[test]
fn label_applies_to_equal_findings_of_other_submissions() {
    let project = project();
    assert_eq!(label_all(&project, "anna", SUBMISSION_A), 4);
    let output = project.json(&format!("label next --as anna {SUBMISSION_B} --json"));
    assert_eq!((&output["labelled"], &output["pairs"]), (&json!(2), &json!(2)));
    let exported = project.ok(&format!("label export {SUBMISSION_B}"));
    let judgements: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let texts: Vec<String> = judgements
        .iter()
        .map(|j| format!("{} {} {} {} {}", j["judge"], j["tool"], j["finding"], j["golden"], j["match"]))
        .collect();
    assert_eq!(
        texts,
        ["\"human:anna\" \"tool-b\" \"second-f\" \"g1\" true", "\"human:anna\" \"tool-b\" \"second-f\" \"g2\" false",]
    );
    // The finding is in two trials of the other tool, so one label gives two judgements.
    assert_eq!(project.ok(&format!("label export {SUBMISSION_A}")).lines().count(), 6);
    project.run(&format!("label export {SUBMISSION_B}")).expect_error(0, &["2 labels skipped"]);
}

#[test]
fn exported_labels_work_as_judgements() {
    let project = project();
    label_all(&project, "anna", SUBMISSION_A);
    label_all(&project, "ben", SUBMISSION_A);
    project
        .run(&format!("label export {SUBMISSION_A} -o labels.jsonl"))
        .expect_error(0, &["12 judgements from 8 labels"]);
    let report = project.json("score . --submission a.jsonl --judgements labels.jsonl --json");
    let text = report.to_string();
    assert!(text.contains("human:anna"), "{text}");
    let agreement = project.json("judge agree labels.jsonl --json");
    assert_eq!(
        (&agreement["raters"], &agreement["percent"]["value"]),
        (&json!(["human:anna", "human:ben"]), &json!(1.0))
    );
    let bens = project.ok(&format!("label export {SUBMISSION_A} --as ben"));
    assert!(!bens.contains("anna") && bens.lines().count() == 6);
}

#[test]
fn labels_are_exported_and_imported() {
    let (here, there) = (project(), project());
    label_all(&here, "anna", SUBMISSION_A);
    let id = next_id(&here, "ben", SUBMISSION_A);
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
    let exported = here.ok(&format!("label export {SUBMISSION_A}"));
    there.write("labels.jsonl", &exported);
    there
        .run(&format!("label import labels.jsonl {SUBMISSION_A}"))
        .expect_error(0, &["5 labels added, 0 already present"]);
    there
        .run(&format!("label import labels.jsonl {SUBMISSION_A}"))
        .expect_error(0, &["0 labels added, 5 already present"]);
    assert_eq!(there.ok(&format!("label export {SUBMISSION_A}")), exported);
    // A contradicting label is refused with its position, and nothing is imported, new labels included.
    let turned = exported.replacen("\"match\":true", "\"match\":false", 2).replace("human:ben", "human:cleo");
    there.write("turned.jsonl", turned);
    there
        .run(&format!("label import turned.jsonl {SUBMISSION_A}"))
        .expect_error(4, &["anna has said yes", "turned.jsonl:", "--change", "nothing was loaded"]);
    assert_eq!(list_labels(&there, "").len(), 5);
    let imported = there.json(&format!("label import turned.jsonl {SUBMISSION_A} --change --json"));
    assert_eq!(imported, json!({ "added": 1, "corrected": 1, "were_here": 3 }));
    assert_eq!((list_labels(&there, "").len(), list_labels(&there, "--history").len()), (6, 7));
    there.ok("store verify");
}

#[test]
fn invalid_arguments_and_files_are_reported() {
    let project = project();
    let check = |line: &str, code: i32, text: &str| drop(project.run(line).expect_error(code, &[text]));
    check(&format!("label next {SUBMISSION_A}"), 2, "--as NAME");
    check(&format!("label next {SUBMISSION_A} --as a:b"), 2, "no colon");
    check(&format!("label next {SUBMISSION_A} --as -x"), 2, "");
    check("label next --as anna", 2, "--suite");
    check("label next nightly --as anna", 5, "there is no store");
    check("label next nightly --as anna --suite .", 2, "cannot be used with");
    check(&format!("label add zz yes --as anna {SUBMISSION_A}"), 2, "invalid id");
    check(&format!("label add 000000000000 yes --as anna {SUBMISSION_A}"), 2, "no pair, extra, finding or response");
    check(&format!("label add 0000 maybe --as anna {SUBMISSION_A}"), 2, "partial");
    check("label list", 5, "there is no store");
    assert!(!project.path(".karat").exists(), "a read-only command created a store");
    project.write("bad.jsonl", "{\"kind\":\"pair\"}\nnot json\n");
    check(&format!("label import bad.jsonl {SUBMISSION_A}"), 4, "nothing was loaded");
    let model = json!({ "kind": "pair", "case": "orders", "tool": MARK, "trial": 1, "judge": "sonnet", "golden": "g1",
        "finding": "nobody", "match": true });
    project.write("model.jsonl", lines(&[model]));
    let ran = project.run(&format!("label import model.jsonl {SUBMISSION_A}"));
    ran.expect_error(4, &["`sonnet` is not a person", "human:NAME", "has no finding `nobody`", "2 faults in 1 file"]);
    assert!(!project.path(".karat").exists());
}

#[test]
fn annotator_is_read_from_the_environment() {
    let project = project();
    let run_as = |words: &str, name: &str| {
        CommandOutput::start(project.command().env("KARAT_ANNOTATOR", name).args(words.split_whitespace()))
    };
    let id = next_id(&project, "anna", SUBMISSION_A);
    run_as(&format!("label add {id} yes {SUBMISSION_A}"), "anna").expect_error(0, &["anna labelled the pair"]);
    run_as(&format!("label add {id} no --as ben {SUBMISSION_A}"), "anna").expect_error(0, &["ben labelled the pair"]);
    run_as(&format!("label next {SUBMISSION_A}"), "").expect_error(2, &["--as NAME"]);
    // Annotators see other people's labels only with --all.
    assert!(!run_as("label list", "anna").expect(0).out.contains("ben"));
    assert!(run_as("label list --all", "anna").expect(0).out.contains("ben"));
}

#[test]
fn concurrent_labels_are_all_stored() {
    let project = project();
    let id = next_id(&project, "anna", SUBMISSION_A);
    std::thread::scope(|scope| {
        for person in 0..6 {
            let (project, id) = (&project, &id);
            // Three people, each twice: the second label is refused.
            scope.spawn(move || project.run(&format!("label add {id} yes --as p{} {SUBMISSION_A}", person / 2)).code);
        }
    });
    assert_eq!(list_labels(&project, "--history").len(), 3);
    project.ok("store verify");
}

/// Each answer is stored immediately.
#[test]
fn interactive_mode_asks_pair_after_pair() {
    let project = project();
    let typed = "what\ny same query\nskip\np\nq\n";
    let Some(ran) = project.run_on_terminal(&format!("label next --as anna {SUBMISSION_A}"), typed) else { return };
    let out = ran.out;
    for text in ["q(uit) >", "type a letter, with an optional note", "1 of 4 pairs labelled by anna"] {
        assert!(out.contains(text), "no {text:?}:\n{out}");
    }
    assert!(!out.contains(MARK), "{out}");
    let labels = project.json("label list --json");
    let texts: Vec<(&Value, &Value)> = labels.as_array().unwrap().iter().map(|l| (&l["match"], &l["note"])).collect();
    assert_eq!(texts, [(&json!(true), &json!("same query")), (&json!(false), &Value::Null)]);
    assert_eq!(labels[1]["partial"], true);
}

#[test]
fn sample_depends_on_the_seed_only_and_is_recorded() {
    let project = project();
    let sampled_ids = |name: &str, flags: &str| -> Vec<String> {
        let output =
            |skip: usize| project.json(&format!("label next --as {name} {SUBMISSION_A} --skip {skip} --json {flags}"));
        let ids = (0..4).map(|skip| output(skip)["next"]["id"].clone());
        ids.filter_map(|id| id.as_str().map(str::to_owned)).collect()
    };
    assert_eq!(sampled_ids("anna", "--sample 1").len(), 4);
    let seeds: Vec<Vec<String>> =
        (0..6).map(|seed| sampled_ids("anna", &format!("--sample 0.5 --seed {seed}"))).collect();
    assert!(seeds.iter().any(|ids| *ids != seeds[0]), "every seed gives the same sample: {seeds:?}");
    let seed = seeds.iter().position(|ids| !ids.is_empty() && ids.len() < 4).expect("a seed that samples some pairs");
    let flags = format!("--sample 0.5 --seed {seed}");
    assert_eq!(sampled_ids("ben", &flags), seeds[seed]);
    let ran = project.run(&format!("label next --as anna {SUBMISSION_A} {flags}"));
    let ran = ran.expect_error(0, &[&format!("0 of {} pairs labelled by anna", seeds[seed].len())]);
    let answer = ran.err.lines().last().unwrap().trim().strip_prefix("karat ").unwrap();
    project.run(answer).expect(0);
    let unsampled = sampled_ids("anna", "").into_iter().find(|id| !seeds[seed].contains(id)).unwrap();
    project
        .run(&format!("label add {unsampled} no --as anna {SUBMISSION_A} {flags}"))
        .expect_error(2, &["is not in this sample", "--seed"]);
    project.run(&format!("label add {unsampled} no --as anna {SUBMISSION_A}")).expect(0);
    let labels = project.json("label list --json");
    let picked: Vec<&Value> = labels.as_array().unwrap().iter().map(|l| &l["picked_with_probability"]).collect();
    assert_eq!(picked, [&json!(0.5), &Value::Null]);
    project.run(&format!("label export {SUBMISSION_A} -o labels.jsonl")).expect(0);
    assert!(project.read("labels.jsonl").contains("\"probability\":0.5"));
    let report = project.json("score . --submission a.jsonl --labels labels.jsonl --json");
    assert!(
        report["warnings"].to_string().contains("without the probability of picking their pair"),
        "{}",
        report["warnings"]
    );
    let there = self::project();
    there.write("labels.jsonl", project.read("labels.jsonl"));
    there.run(&format!("label import labels.jsonl {SUBMISSION_A}")).expect(0);
    assert_eq!(there.ok(&format!("label export {SUBMISSION_A}")), project.read("labels.jsonl"));
    for wrong in ["0", "1.5", "-1", "NaN", "x"] {
        project.run(&format!("label next --as anna {SUBMISSION_A} --sample={wrong}")).expect_error(2, &[""]);
    }
    project.run(&format!("label next --as anna {SUBMISSION_A} --sample=0")).expect_error(2, &["above 0 and up to 1"]);
    project.run(&format!("label next --as anna {SUBMISSION_A} --seed 3")).expect_error(2, &["--sample"]);
}
