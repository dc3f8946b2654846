//! Several audits of the same trials: merged field by field, in any order, from any files, live or recorded.

use super::{JUDGES, find_judge, report, run, user_message};
use crate::judge_engine::server::{Behaviour, Server};
use crate::project::{Project, lines, near, number, trial};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const CASES: usize = 3;
const CLASSES: [&str; 9] = [
    "TARGET_MATCH",
    "PARTIAL_MATCH",
    "BONUS_VALID",
    "HALLUCINATED",
    "MISCHARACTERIZED",
    "DESIGN_CHOICE",
    "OUT_OF_SCOPE",
    "SECURITY_THEATER",
    "INFORMATIONAL",
];
const TYPES: [&str; 5] = ["exact", "semantic", "partial", "wrong", "not_mentioned"];

/// Cases with a target, and a tool with two findings on each, which states no verdict.
fn project() -> Project {
    let case = |n: usize| {
        json!({ "id": format!("c{n}"), "description": format!("contract {n}"), "issues": [{ "id": "re",
            "title": "Reentrancy", "target": true, "severity": "high", "file": "Bank.sol", "line_start": 10 }] })
    };
    let finding = |id: &str| json!({ "id": id, "title": format!("Report {id}"), "file": "Bank.sol", "line_start": 9 });
    let trials: Vec<Value> =
        (0..CASES).map(|n| trial(&format!("c{n}"), "it", 1, json!([finding("f1"), finding("f2")]))).collect();
    Project::new()
        .with("suite/karat.toml", format!("[suite]\nname = \"contracts\"\n{JUDGES}"))
        .with("suite/cases.jsonl", lines(&(0..CASES).map(case).collect::<Vec<_>>()))
        .with("it.jsonl", lines(&trials))
}

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn pick<'v, T>(&mut self, values: &'v [T]) -> &'v T {
        &values[self.below(values.len())]
    }

    /// Now and then nothing.
    fn maybe(&mut self, value: Value) -> Value {
        if self.below(4) == 0 { Value::Null } else { value }
    }

    fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.below(last + 1));
        }
    }

    fn level(&mut self) -> Value {
        json!(self.below(5) as f64 / 4.0)
    }
}

fn audit(judge: &str, case: usize) -> Value {
    json!({ "case": format!("c{case}"), "tool": "it", "trial": 1, "judge": judge, "kind": "audit" })
}

/// A whole audit of a model, or some answers of a person.
fn any_audit(judge: &str, case: usize, numbers: &mut Numbers) -> Value {
    let mut audit = audit(judge, case);
    let human = judge.starts_with("human:");
    let may = |numbers: &mut Numbers, value: Value| if human { numbers.maybe(value) } else { value };
    let verdict = numbers.pick(&[json!(true), json!(false), json!("none")]).clone();
    audit["said_vulnerable"] = may(numbers, verdict);
    let confidence = numbers.level();
    audit["confidence_expressed"] = may(numbers, confidence);
    let mut findings = Vec::new();
    for id in ["f1", "f2"] {
        let class = json!(numbers.pick(&CLASSES));
        let (about, valid) = (json!(numbers.below(2) == 0), json!(numbers.below(2) == 0));
        findings.push(json!({ "finding": id, "classification": may(numbers, class),
            "matches_target": may(numbers, about), "is_valid_concern": may(numbers, valid) }));
    }
    audit["findings"] = json!(findings);
    let found = json!(numbers.below(2) == 0);
    let mut target = json!({ "found": may(numbers, found) });
    let by = json!(*numbers.pick(&["f1", "f2"]));
    target["finding"] = if target["found"] == true { by } else { Value::Null };
    let fit = json!(numbers.pick(&TYPES));
    target["type_match"] = may(numbers, fit);
    for score in ["rcir", "ava", "fsv"] {
        let level = numbers.level();
        target[score] = may(numbers, level);
    }
    audit["target"] = target;
    audit["explanation"] = json!(format!("{judge} on c{case}"));
    audit
}

fn score(project: &Project, files: &[Vec<Value>]) -> String {
    let names: Vec<String> = (0..files.len()).map(|number| format!("votes{number}.jsonl")).collect();
    for (name, audits) in names.iter().zip(files) {
        project.write(name, lines(audits));
    }
    let names = names.join(" ");
    project.ok(&format!("score suite --submission it.jsonl --profile audit --judge none --json --judgements {names}"))
}

fn trial_of(report: &Value, case: usize) -> &Value {
    &report["tools"][0]["cases"][case]["trials"][0]
}

/// Any order and any split of judgement files gives the same bytes, and what most models say is what counts.
#[test]
fn order_and_split_of_files_make_no_difference() {
    let project = project();
    for seed in 0..10 {
        let mut numbers = Numbers(seed);
        let judges: &[&str] = if seed % 2 == 0 { &["m", "n", "o"] } else { &["m", "n", "human:ann", "human:ben"] };
        let mut all: Vec<Value> = Vec::new();
        for judge in judges {
            all.extend((0..CASES).map(|case| any_audit(judge, case, &mut numbers)));
        }
        // People may also have said of single findings whether they are real problems.
        for judge in judges.iter().filter(|judge| judge.starts_with("human:")) {
            let extra = json!({ "case": "c0", "tool": "it", "trial": 1, "judge": judge, "kind": "extra", "finding": "f2",
                "valid": numbers.below(2) == 0 });
            all.push(extra);
        }
        let first = score(&project, &[all.clone()]);
        for parts in 1..=4 {
            let mut mixed = all.clone();
            numbers.shuffle(&mut mixed);
            let mut files = vec![Vec::new(); parts];
            mixed.into_iter().for_each(|audit| numbers.pick_mut(&mut files).push(audit));
            files.retain(|file| !file.is_empty());
            assert_eq!(score(&project, &files), first, "seed {seed} in {parts} files");
        }
        if seed % 2 == 0 {
            let report: Value = serde_json::from_str(&first).unwrap();
            (0..CASES).for_each(|case| expect_majority(trial_of(&report, case), case, &all));
        }
    }
}

impl Numbers {
    fn pick_mut<'v, T>(&mut self, values: &'v mut [T]) -> &'v mut T {
        let at = self.below(values.len());
        &mut values[at]
    }
}

/// Of three answers, the one that two give; none if all differ.
fn majority(answers: &[Value]) -> Option<&Value> {
    answers.iter().find(|own| answers.iter().filter(|other| other == own).count() >= 2)
}

fn expect_majority(trial: &Value, case: usize, all: &[Value]) {
    let audits: Vec<&Value> = all.iter().filter(|audit| audit["case"] == format!("c{case}")).collect();
    let answers =
        |pointer: &str| -> Vec<Value> { audits.iter().map(|audit| audit.pointer(pointer).unwrap().clone()).collect() };
    let ties = trial["audit"]["ties"].to_string();
    let verdicts = answers("/said_vulnerable");
    let expected = match majority(&verdicts) {
        Some(Value::Bool(true)) => json!("vulnerable"),
        Some(Value::Bool(false)) => json!("safe"),
        _ => Value::Null,
    };
    assert_eq!(trial["verdict"], expected, "{verdicts:?}");
    assert_eq!(ties.contains("said_vulnerable"), majority(&verdicts).is_none(), "{ties}");
    let found = answers("/target/found");
    assert_eq!(trial["audit"]["target_found"], *majority(&found).unwrap(), "{found:?}");
    for (at, id) in ["f1", "f2"].into_iter().enumerate() {
        let classes = answers(&format!("/findings/{at}/classification"));
        match majority(&classes) {
            Some(class) => assert_eq!(trial["audit"]["findings"][id], *class, "{classes:?}"),
            None => assert!(
                ties.contains(&format!("classification of {id}")) || valid_alone(&classes),
                "{ties} {classes:?}"
            ),
        }
    }
    if trial["audit"]["target_found"] == true {
        for score in ["rcir", "ava", "fsv"] {
            let agreeing = audits.iter().filter(|audit| audit["target"]["found"] == true);
            let mut values: Vec<f64> = agreeing.map(|audit| audit["target"][score].as_f64().unwrap()).collect();
            values.sort_by(f64::total_cmp);
            let middle = if values.len() == 2 { (values[0] + values[1]) / 2.0 } else { values[1] };
            near(trial, &format!("/audit/{score}"), middle);
        }
    }
}

/// Whether the judges agree that it is valid or not, and one class alone is on that side.
fn valid_alone(classes: &[Value]) -> bool {
    let valid = classes.iter().filter(|class| CLASSES[..3].contains(&class.as_str().unwrap())).count();
    valid == 1 || valid == classes.len() - 1
}

/// What the report says of a trial: each of the decisions that figures rest on.
fn decisions(report: &Value) -> BTreeMap<&'static str, Value> {
    let trial = trial_of(report, 0);
    let audit = &trial["audit"];
    BTreeMap::from([
        ("said_vulnerable", trial["verdict"].clone()),
        ("confidence_expressed", trial["confidence"].clone()),
        ("classification", audit["findings"].clone()),
        ("is_valid_concern", report["tools"][0]["metrics"]["finding_precision_confirmed"]["value"].clone()),
        ("target.found", audit["target_found"].clone()),
        ("type_match", audit["type_match"].clone()),
        ("rcir", audit["rcir"].clone()),
        ("ava", audit["ava"].clone()),
        ("fsv", audit["fsv"].clone()),
    ])
}

/// A person answers one question; everything else stays as the model said.
#[test]
fn an_answer_of_a_person_changes_its_own_field_only() {
    let project = project();
    let finding = |id: &str, class: &str| json!({ "finding": id, "classification": class });
    let whole = |case: usize| {
        let mut own = audit("m", case);
        own["said_vulnerable"] = json!(true);
        own["confidence_expressed"] = json!(0.75);
        own["findings"] = json!([finding("f1", "TARGET_MATCH"), finding("f2", "BONUS_VALID")]);
        own["target"] =
            json!({ "found": true, "finding": "f1", "type_match": "exact", "rcir": 0.5, "ava": 0.5, "fsv": 0.5 });
        own
    };
    let models: Vec<Value> = (0..CASES).map(whole).collect();
    let without: Value = serde_json::from_str(&score(&project, std::slice::from_ref(&models))).unwrap();
    let answers = [
        ("said_vulnerable", json!({ "said_vulnerable": false })),
        ("said_vulnerable", json!({ "said_vulnerable": "none" })),
        ("confidence_expressed", json!({ "confidence_expressed": 0.25 })),
        ("classification", json!({ "findings": [finding("f2", "PARTIAL_MATCH")] })),
        ("is_valid_concern", json!({ "findings": [{ "finding": "f2", "is_valid_concern": true }] })),
        ("type_match", json!({ "target": { "type_match": "wrong" } })),
        ("rcir", json!({ "target": { "rcir": 0.75 } })),
        ("ava", json!({ "target": { "ava": 0.75 } })),
        ("fsv", json!({ "target": { "fsv": 0.75 } })),
        ("", json!({})),
        ("", json!({ "said_vulnerable": null, "confidence_expressed": null, "findings": [], "target": null })),
        ("", json!({ "findings": [{ "finding": "f2", "classification": null, "matches_target": null }] })),
        ("", json!({ "findings": [{ "finding": "f1", "matches_target": true }] })),
        ("", json!({ "target": { "found": null, "rcir": null } })),
        ("", json!({ "target": { "found": true } })),
    ];
    for (field, answer) in answers {
        let mut person = audit("human:ann", 0);
        person.as_object_mut().unwrap().extend(answer.as_object().unwrap().clone());
        let with = serde_json::from_str(&score(&project, &[vec![person.clone()], models.clone()])).unwrap();
        let (before, after) = (decisions(&without), decisions(&with));
        // Precision that only counts what people confirmed follows a class, too.
        let follows = |name: &str| field == "classification" && name == "is_valid_concern";
        for (name, value) in &before {
            if *name != field && !follows(name) {
                assert_eq!(after[name], *value, "{name} after {person}");
            } else if *name == field {
                assert_ne!(after[name], *value, "{name} after {person}");
            }
        }
        // Who was asked one thing does not disagree on the others.
        let shared = |report: &Value| -> Vec<(String, u64)> {
            let fields = report["audit_agreement"]["fields"].as_array().cloned().unwrap_or_default();
            let n = fields.iter().map(|own| (own["field"].as_str().unwrap().to_owned(), own["n"].as_u64().unwrap()));
            n.filter(|(_, n)| *n > 0).collect()
        };
        let expected: Vec<(String, u64)> = match (
            field,
            answer.to_string().contains("\"matches_target\":true"),
            answer.to_string().contains("\"found\":true"),
        ) {
            (
                "said_vulnerable" | "confidence_expressed" | "classification" | "type_match" | "rcir" | "ava" | "fsv",
                ..,
            ) => vec![(field.to_owned(), 1)],
            (_, _, true) => vec![("target.found".to_owned(), 1)],
            // The model answered only the class.
            _ => Vec::new(),
        };
        assert_eq!(shared(&with), expected, "{person}");
    }
    // What people say of the target counts as well.
    for answer in [
        json!({ "target": { "found": false } }),
        json!({ "findings": [{ "finding": "f1", "matches_target": false }] }),
        json!({ "findings": [finding("f1", "HALLUCINATED")] }),
    ] {
        let mut person = audit("human:ann", 0);
        person.as_object_mut().unwrap().extend(answer.as_object().unwrap().clone());
        let with: Value = serde_json::from_str(&score(&project, &[vec![person], models.clone()])).unwrap();
        let trial = trial_of(&with, 0);
        assert_eq!(
            (&trial["audit"]["target_found"], &trial["verdict"]),
            (&json!(false), &json!("vulnerable")),
            "{answer}"
        );
    }
}

/// Without a model, what people were not asked is unknown, and no figure takes it for a no or a 0.
#[test]
fn what_nobody_was_asked_is_undefined() {
    let project = project();
    let mut person = audit("human:ann", 0);
    person["findings"] = json!([{ "finding": "f2", "classification": "BONUS_VALID" }]);
    let report: Value = serde_json::from_str(&score(&project, &[vec![person]])).unwrap();
    let plain = project.json("score suite --submission it.jsonl --profile audit --judge none --json");
    let trial = trial_of(&report, 0);
    assert_eq!((&trial["audit"]["target_found"], &trial["misses"][0]["flags"]), (&Value::Null, &json!(["unjudged"])));
    let table = project.ok("score suite --submission it.jsonl --profile audit --judge none");
    assert!(table.contains("  c0    –  not judged\n") && !table.contains("0/1 found"), "{table}");
    for id in [
        "accuracy",
        "ece",
        "brier",
        "target_detection_rate",
        "partial_credit_detection",
        "mean_rcir",
        "lucky_guess_rate",
    ] {
        assert_eq!(report["tools"][0]["metrics"][id]["value"], plain["tools"][0]["metrics"][id]["value"], "{id}");
    }
    near(&report, "/tools/0/metrics/finding_precision/value", 1.0);
    // Only the other trials of the tool have no audit at all.
    let mut person = audit("human:ann", 0);
    person["target"] = json!({ "rcir": 0.5 });
    let report: Value = serde_json::from_str(&score(&project, &[vec![person]])).unwrap();
    for id in ["finding_precision", "finding_precision_macro", "over_flagging_score", "bonus_discovery_rate", "sui"] {
        assert_eq!(report["tools"][0]["metrics"][id]["value"], Value::Null, "{id}");
    }
}

/// The model decides by its name what it says, so that the two contradict each other.
fn contradicting_server() -> Server {
    Server::deciding_by_request(Behaviour::GOOD, |body| {
        let yes = body["model"] == "claude-test";
        let third = user_message(body).contains("contract 2");
        let entry = |name: &str, class: &str| {
            let about = ["TARGET_MATCH", "PARTIAL_MATCH"].contains(&class);
            json!({ "finding": name, "reason": null, "classification": class, "matches_target": about,
                "is_valid_concern": about || class == "BONUS_VALID" })
        };
        let found = yes || third;
        let target = match found {
            true => json!({ "found": true, "finding": "f1", "type_match": if yes { "exact" } else { "wrong" },
                "rcir": if yes { 1.0 } else { 0.5 }, "ava": 0.5, "fsv": 0.25 }),
            false => {
                json!({ "found": false, "finding": null, "type_match": null, "rcir": null, "ava": null, "fsv": null })
            }
        };
        Ok(
            json!({ "findings": [entry("f1", if found { "TARGET_MATCH" } else { "HALLUCINATED" }), entry("f2", "OUT_OF_SCOPE")],
            "said_vulnerable": true, "confidence_expressed": if yes { json!(0.9) } else { Value::Null },
            "target": target, "explanation": if yes { "Yes." } else { "No." } }),
        )
    })
}

/// A panel that is asked and its votes read from a file give the same report, but for who was asked and what it cost.
#[test]
fn a_panel_and_its_recorded_votes_give_the_same_report() {
    let project = project();
    let server = contradicting_server();
    let live =
        "score suite --submission it.jsonl --profile audit --judge sonnet,gpt --save-judgements votes.jsonl --json";
    let mut asked = report(&project, &server, live);
    let recorded = "score suite --submission it.jsonl --profile audit --judge none --judgements votes.jsonl --json";
    let mut read = report(&project, &server, recorded);
    let panel = find_judge(&asked, "sonnet,gpt");
    assert_eq!(
        (&panel["agreement"]["on"], &panel["agreement"]["n"]),
        (&json!("said_vulnerable"), &json!(3)),
        "{panel}"
    );
    // The verdicts agree, and hardly anything else does.
    let agreement = |field: &str| {
        let fields = asked["audit_agreement"]["fields"].as_array().unwrap();
        fields.iter().find(|own| own["field"] == field).unwrap().clone()
    };
    assert_eq!(asked["audit_agreement"]["judges"], json!(["gpt", "sonnet"]));
    let verdict = agreement("said_vulnerable");
    assert_eq!((&verdict["alpha"], &verdict["n"]), (&Value::Null, &json!(3)), "{verdict}");
    assert!(verdict["undefined"].as_str().unwrap().contains("all ratings are the same"), "{verdict}");
    let found = agreement("target.found");
    near(&found, "/percent", 1.0 / 3.0);
    assert!(number(&found, "/alpha") < 0.0 && found["n"] == 3 && found["level"] == "nominal", "{found}");
    assert!(agreement("confidence_expressed")["undefined"].is_string());
    assert_eq!((&agreement("rcir")["n"], &agreement("rcir")["level"]), (&json!(1), &json!("interval")));
    // Ties are flagged on the trial, in the warnings and in `explain`.
    let ties = trial_of(&asked, 0)["audit"]["ties"].to_string();
    assert!(ties.contains("target.found") && ties.contains("classification of f1"), "{ties}");
    assert!(
        super::warnings(&asked).contains("3 trials have audits that are evenly split"),
        "{}",
        super::warnings(&asked)
    );
    near(trial_of(&asked, 2), "/audit/rcir", 0.75);
    let table = run(&project, &server, &recorded.replace(" --json", "")).expect(0).out;
    assert!(table.contains("Agreement on audits (gpt, sonnet)") && table.contains("target.found"), "{table}");
    project.ok(&recorded.replace("--json", "-o report.html"));
    assert!(project.read("report.html").contains("Agreement on audits"));
    let explain = project
        .ok("explain c0 --suite suite --submission it.jsonl --profile audit --judge none --judgements votes.jsonl");
    assert!(explain.contains("Audit by gpt, sonnet") && explain.contains("evenly split on"), "{explain}");
    for report in [&mut asked, &mut read] {
        for part in ["judges", "measured"] {
            report.as_object_mut().unwrap().remove(part);
        }
        report["profile"].as_object_mut().unwrap().remove("judge");
    }
    assert_eq!(asked, read);
}

/// What people say of an extra counts where responses are audited, with and without an audit.
#[test]
fn confirmed_extras_count_among_audited_findings() {
    let project = project();
    let extra = |judge: &str, case: usize, finding: &str, valid: bool| {
        json!({ "case": format!("c{case}"), "tool": "it", "trial": 1, "judge": judge, "kind": "extra", "finding": finding,
            "valid": valid })
    };
    let precision = |files: &[Vec<Value>]| -> (Value, Value) {
        let report: Value = serde_json::from_str(&score(&project, files)).unwrap();
        let metrics = &report["tools"][0]["metrics"];
        (metrics["finding_precision"]["value"].clone(), metrics["target_detection_rate"]["value"].clone())
    };
    let alone =
        [extra("human:ann", 0, "f1", true), extra("human:ann", 0, "f2", false), extra("human:ben", 1, "f1", true)];
    assert_eq!(precision(&[alone.to_vec()]), (json!(2.0 / 3.0), Value::Null));
    let counted = |files: &[Vec<Value>], counts: [usize; 4]| {
        let report: Value = serde_json::from_str(&score(&project, files)).unwrap();
        let [total, valid, invalid, hallucinated] = counts;
        let expected = json!({ "total": total, "valid": valid, "invalid": invalid, "hallucinated": hallucinated });
        assert_eq!(report["tools"][0]["audited_findings"], expected);
    };
    counted(&[alone.to_vec()], [3, 2, 1, 0]);
    // A model's class does not outweigh them.
    let mut model = audit("m", 0);
    model["said_vulnerable"] = json!(true);
    model["findings"] = json!([{ "finding": "f1", "classification": "HALLUCINATED" },
        { "finding": "f2", "classification": "BONUS_VALID" }]);
    model["target"] = json!({ "found": false });
    assert_eq!(precision(&[vec![model.clone()]]).0, json!(0.5));
    counted(&[vec![model.clone()]], [2, 1, 1, 1]);
    counted(&[vec![model.clone()], vec![extra("human:ann", 0, "f2", false)]], [2, 0, 2, 1]);
    project.write("model.jsonl", lines(&[model.clone()]));
    let shown =
        project.ok("score suite --submission it.jsonl --profile audit --judge none --judgements model.jsonl -o r.html");
    assert!(shown.contains("Audited findings") && shown.contains("hallucinated"), "{shown}");
    assert!(project.read("r.html").contains("Hallucinated"));
    assert_eq!(precision(&[vec![model], vec![extra("human:ann", 0, "f2", false)]]).0, json!(0.0));
    // With another profile they are extras as before, and no audit.
    project.write("votes.jsonl", lines(&alone));
    let line = "score suite --submission it.jsonl --judge none --judgements votes.jsonl --json";
    let report = project.json(line);
    assert_eq!(trial_of(&report, 0).get("audit"), None, "{}", trial_of(&report, 0));
}

/// A pair, or that nobody decided it.
fn any_pair(judge: &str, case: usize, finding: &str, numbers: &mut Numbers) -> Value {
    let mut pair = json!({ "case": format!("c{case}"), "tool": "it", "trial": 1, "judge": judge, "kind": "pair",
        "golden": "re", "finding": finding, "match": numbers.below(2) == 0 });
    let confidence = numbers.level();
    pair["confidence"] = numbers.maybe(confidence);
    pair
}

/// Any order and any split of files of pair judgements gives the same bytes; most votes count, and ties show both sides.
#[test]
fn votes_on_pairs_count_in_any_order() {
    let project = project();
    let line = "score suite --submission it.jsonl --judge none --json --judgements";
    let (mut ties, mut decided) = (0, 0);
    for seed in 0..10 {
        let mut numbers = Numbers(100 + seed);
        let judges: &[&str] = if seed % 2 == 0 { &["m", "n", "o", "p"] } else { &["m", "n", "human:ann", "human:ben"] };
        let mut all: Vec<Value> = Vec::new();
        for judge in judges {
            for (case, finding) in [(0, "f1"), (0, "f2"), (1, "f1"), (1, "f2"), (2, "f1"), (2, "f2")] {
                all.push(any_pair(judge, case, finding, &mut numbers));
            }
        }
        let score = |files: &[Vec<Value>]| {
            for (number, judgements) in files.iter().enumerate() {
                project.write(&format!("pairs{number}.jsonl"), lines(judgements));
            }
            let names: Vec<String> = (0..files.len()).map(|number| format!("pairs{number}.jsonl")).collect();
            project.ok(&format!("{line} {}", names.join(" ")))
        };
        let first = score(&[all.clone()]);
        for parts in 1..=4 {
            let mut mixed = all.clone();
            numbers.shuffle(&mut mixed);
            let mut files = vec![Vec::new(); parts];
            mixed.into_iter().for_each(|pair| numbers.pick_mut(&mut files).push(pair));
            files.retain(|file| !file.is_empty());
            assert_eq!(score(&files), first, "seed {seed} in {parts} files");
        }
        let report: Value = serde_json::from_str(&first).unwrap();
        for case in 0..CASES {
            let trial = trial_of(&report, case);
            let votes = |finding: &str| -> Vec<&Value> {
                let humans = judges.iter().any(|judge| judge.starts_with("human:"));
                let counts = |pair: &&Value| !humans || pair["judge"].as_str().unwrap().starts_with("human:");
                let about = |pair: &&Value| pair["case"] == format!("c{case}") && pair["finding"] == finding;
                all.iter().filter(about).filter(counts).collect()
            };
            let outcome = |finding: &str| {
                let votes = votes(finding);
                let yes = votes.iter().filter(|vote| vote["match"] == true).count();
                (2 * yes).cmp(&votes.len())
            };
            let found = trial["tp"] == 1;
            if ["f1", "f2"].iter().any(|finding| outcome(finding).is_gt()) {
                decided += 1;
                assert!(found, "{trial}");
            } else if ["f1", "f2"].iter().all(|finding| outcome(finding).is_lt()) {
                assert!(!found, "{trial}");
            } else {
                // Some are evenly split: by confidence or left open, and flagged either way.
                ties += 1;
                let text = trial.to_string();
                assert!(text.contains("\"tied\"") && text.contains("\"votes\""), "{trial}");
                assert!(super::warnings(&report).contains("evenly split judges"), "{}", super::warnings(&report));
            }
        }
    }
    assert!(ties > 0 && decided > 0, "{ties} {decided}");
}

/// `explain` names who said yes and who said no.
#[test]
fn a_tie_on_a_pair_shows_both_sides() {
    let project = project();
    let pair = |judge: &str, yes: bool| {
        json!({ "case": "c0", "tool": "it", "trial": 1, "judge": judge, "kind": "pair", "golden": "re", "finding": "f1",
            "match": yes })
    };
    project.write("ties.jsonl", lines(&[pair("m", true), pair("n", false), pair("o", true), pair("p", false)]));
    let from = "--judge none --judgements ties.jsonl";
    let report = project.json(&format!("score suite --submission it.jsonl --json {from}"));
    let miss = &trial_of(&report, 0)["misses"][0];
    assert_eq!(miss["flags"], json!(["unjudged", "tied"]), "{miss}");
    assert_eq!(miss["why"], "the judges are evenly split: m, o yes; n, p no");
    assert_eq!(miss["votes"][1], json!({ "judge": "n", "yes": false }));
    assert!(
        super::warnings(&report).contains("1 pair or extra has evenly split judges"),
        "{}",
        super::warnings(&report)
    );
    let explained = project.ok(&format!("explain c0 --suite suite --submission it.jsonl {from}"));
    assert!(explained.contains("the judges are evenly split: m, o yes; n, p no"), "{explained}");
}

/// What a warning announces, `explain` shows, of a repeat as well; a tie that changes nothing is not announced.
#[test]
fn a_tie_on_a_repeat_shows_both_sides() {
    let project = project();
    let pair = |judge: &str, finding: &str, yes: bool, confidence: f64| {
        json!({ "case": "c0", "tool": "it", "trial": 1, "judge": judge, "kind": "pair", "golden": "re", "finding": finding,
            "match": yes, "confidence": confidence })
    };
    let agreed = [pair("m", "f1", true, 0.9), pair("n", "f1", true, 0.9)];
    let tie = [pair("m", "f2", true, 0.9), pair("n", "f2", false, 0.6)];
    project.write("ties.jsonl", lines(&[agreed, tie].concat()));
    let from = "--judge none --judgements ties.jsonl";
    let report = project.json(&format!("score suite --submission it.jsonl --json {from}"));
    let warnings = super::warnings(&report);
    assert!(warnings.contains("1 pair or extra has evenly split judges"), "{warnings}");
    let repeat = &trial_of(&report, 0)["duplicates"][0];
    assert_eq!((&repeat["finding"], &repeat["flags"]), (&json!("f2"), &json!(["tied"])), "{repeat}");
    assert_eq!(repeat["votes"][1], json!({ "judge": "n", "yes": false }));
    let explained = project.ok(&format!("explain c0 -v --suite suite --submission it.jsonl {from}"));
    assert!(explained.contains("the judges are evenly split: m yes; n no"), "{explained}");
}

/// In the profile `audit`, what nobody was asked about is neither missed nor false, in no figure.
#[test]
fn unaudited_trials_are_in_no_figure() {
    let project = project();
    let mut person = audit("human:ann", 0);
    person["target"] = json!({ "found": true });
    let report: Value = serde_json::from_str(&score(&project, &[vec![person]])).unwrap();
    let tool = &report["tools"][0];
    assert_eq!(tool["counts"], json!({ "tp": 0, "fp": 0, "fn": 0 }));
    near(&report, "/tools/0/metrics/target_detection_rate/value", 1.0);
    for id in ["precision", "recall", "f1", "f2", "found_any", "found_all"] {
        let estimate = &tool["metrics"][id];
        assert_eq!((&estimate["value"], &estimate["undefined"]), (&Value::Null, &json!("no audit")), "{id}");
    }
    let table = project.ok("score suite --submission it.jsonl --profile audit --judge none");
    assert!(table.contains("  c1    –  not judged\n") && !table.contains("Never found"), "{table}");
}

/// A panel that is asked about pairs and its votes read from a file give the same report, ties included.
#[test]
fn a_panel_on_pairs_and_its_recorded_votes_give_the_same_report() {
    let project = project();
    let server = Server::deciding_by_request(Behaviour::GOOD, |body| {
        let first = body["model"] == "claude-test";
        let text = user_message(body);
        if text.contains("Agreed") {
            return Ok(super::pair_answer(true, 0.9));
        }
        // They agree on the first case, and are evenly split on the others: with equal confidences, and with different ones.
        let (matched, confidence) = match (text.contains("Report f1"), first) {
            (true, true) => (true, 0.9),
            (true, false) => (false, 0.9),
            (false, true) => (false, 0.9),
            (false, false) => (true, 0.6),
        };
        Ok(super::pair_answer(matched, confidence))
    });
    // Another tool is found by the judges alone, and this one by the rules alone, so that their order rests on the judges.
    let own = project.read("it.jsonl");
    project.write("other.jsonl", own.replace("\"it\"", "\"other\"").replace("Report f1", "Agreed"));
    project.write("it.jsonl", own.replace("\"line_start\":9", "\"line_start\":10"));
    let line = "score suite --submission it.jsonl other.jsonl --json";
    let mut asked = report(&project, &server, &format!("{line} --judge gpt,sonnet --save-judgements votes.jsonl"));
    let mut read = report(&project, &server, &format!("{line} --judge none --judgements votes.jsonl"));
    assert!(asked["tools"].to_string().contains("\"tied\""), "{}", asked["tools"]);
    assert!(asked["sensitivity"].is_object() && read["warnings"].to_string().contains("evenly split"), "{asked}");
    for report in [&mut asked, &mut read] {
        for part in ["judges", "measured"] {
            report.as_object_mut().unwrap().remove(part);
        }
        // How many questions the panel left open is about who was asked.
        let warnings = report["warnings"].as_array_mut().unwrap();
        warnings.retain(|warning| !warning.as_str().unwrap().starts_with("gpt,sonnet: "));
        report["profile"].as_object_mut().unwrap().remove("judge");
    }
    assert_eq!(asked, read);
}

/// A person who classifies a finding says nothing of the verdict.
#[test]
fn classifying_a_finding_asserts_no_verdict() {
    let project = project();
    let from = "--suite suite --submission it.jsonl";
    let plain = project.json("score suite --submission it.jsonl --profile audit --judge none --json");
    let id = project.json(&format!("label audits --as ann {from} --json"))["next"]["id"].as_str().unwrap().to_owned();
    project.run(&format!("label add {id} INFORMATIONAL --as ann {from}")).expect(0);
    project.run(&format!("label export {from} -o labels.jsonl")).expect(0);
    let exported: Value = serde_json::from_str(project.read("labels.jsonl").lines().next().unwrap()).unwrap();
    for unasked in ["said_vulnerable", "confidence_expressed", "target"] {
        assert!(exported.get(unasked).is_none_or(Value::is_null), "{exported}");
    }
    assert!(exported["findings"][0].get("is_valid_concern").is_none_or(Value::is_null), "{exported}");
    let labelled =
        project.json("score suite --submission it.jsonl --profile audit --judge none --json --judgements labels.jsonl");
    for id in ["accuracy", "ece", "brier", "verdict_f1", "target_detection_rate", "lucky_guess_rate"] {
        assert_eq!(labelled["tools"][0]["metrics"][id], plain["tools"][0]["metrics"][id], "{id}");
    }
}
