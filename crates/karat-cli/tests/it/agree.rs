//! `karat judge agree`: agreement between judges.

use crate::data::shared;
use crate::project::{Project, lines, near, number, suite, trial};
use serde_json::{Value, json};
use std::path::Path;

fn pair(judge: &str, case: &str, golden: Value, finding: &str, matched: bool) -> Value {
    json!({ "case": case, "tool": "t", "trial": 1, "judge": judge, "kind": "pair", "golden": golden, "finding": finding,
            "match": matched, "explanation": format!("{judge} on {finding}") })
}

fn audit(judge: &str, case: &str, vulnerable: Value, class: &str, fit: &str, rcir: f64) -> Value {
    json!({ "case": case, "tool": "t", "trial": 1, "judge": judge, "kind": "audit", "said_vulnerable": vulnerable,
            "findings": [{ "finding": "f1", "classification": class }],
            "target": { "found": rcir > 0.0, "type_match": fit, "rcir": rcir } })
}

/// The three annotators of PandaLM's test set: Cohen's kappas as computed by scikit-learn 1.9.1 from the published
/// labels, Fleiss' kappa by statsmodels 0.15.0.
#[test]
fn human_agreement_matches_published_labels() {
    let Some(file) = shared("pandalm/testset-v1.json") else { return };
    let answers: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(answers.len(), 999);
    let mut rows = "item,rater,value\n".to_owned();
    for answer in &answers {
        for rater in ["annotator1", "annotator2", "annotator3"] {
            rows.push_str(&format!("{},{rater},{}\n", answer["idx"], answer[rater]));
        }
    }
    let project = Project::new().with("people.csv", rows);
    let found = project.json("judge agree people.csv --json");
    let check = |pointer: &str, expected: f64| {
        let value = number(&found, pointer);
        assert!((value - expected).abs() < 5e-7, "{pointer} is {value}, expected {expected}");
    };
    check("/cohen/0/kappa", 0.852023);
    check("/cohen/1/kappa", 0.878944);
    check("/cohen/2/kappa", 0.861661);
    check("/fleiss/value", 0.864175);
    assert_eq!([&found["items"], &found["fleiss"]["n"], &found["cohen"][0]["n"]], [999, 999, 999]);
}

/// Golden-found decisions of three judges, compared with scikit-learn 1.9.1, statsmodels 0.15.0 and krippendorff
/// 0.9.0 on the published `evaluations.json`: 1,020 goldens of 360 reviews, 61 of them empty.
#[test]
fn judge_agreement_matches_reference_packages() {
    let Some(bench) = shared("code-review-bench") else { return };
    let project = Project::new();
    let display = |path: &Path| path.display().to_string();
    let judges = ["anthropic_claude-opus-4-5-20251101", "anthropic_claude-sonnet-4-5-20250929", "openai_gpt-5.2"];
    let (mut judgements, mut submissions) = (Vec::new(), Vec::new());
    for (folder, judge) in ["one", "two", "three"].into_iter().zip(judges) {
        let (goldens, results) = (display(&bench.join("golden_comments")), display(&bench.join("results").join(judge)));
        project.run_list(&["import", "--from", "code-review-bench", &goldens, &results, "-o", folder]).expect(0);
        judgements.push(format!("{folder}/judgements/{judge}.jsonl"));
        submissions.push(format!("{folder}/submissions/{judge}.jsonl"));
    }
    let line = format!(
        "judge agree {} --json --on found --suite one --submission {}",
        judgements.join(" "),
        submissions.join(" ")
    );
    let found = project.json(&line);
    assert_eq!(found["raters"], json!(judges));
    assert_eq!(found["items"], 1020);
    near(&found, "/cohen/0/kappa", 0.9492242595204513);
    near(&found, "/cohen/1/kappa", 0.9660311381233869);
    near(&found, "/cohen/2/kappa", 0.9491669020050834);
    near(&found, "/fleiss/value", 0.9547959168599414);
    near(&found, "/krippendorff/value", 0.9548106894361308);
    assert_eq!(found["fleiss"].get("unreliable"), None);
}

#[test]
fn figures_have_intervals_and_methods() {
    let mut rows = "item,rater,value\n".to_owned();
    for item in 0..60 {
        for (rater, value) in [("a", item % 4), ("b", (item + item % 7 / 6) % 4), ("c", (item + item % 5 / 4) % 4)] {
            rows.push_str(&format!("{item},{rater},{value}\n"));
        }
    }
    let project = Project::new().with("r.csv", &rows);
    let found = project.json("judge agree r.csv --json");
    let figures = ["percent", "fleiss", "krippendorff", "ac1", "krippendorff/nominal", "krippendorff/ordinal"];
    let others = ["krippendorff/interval", "cohen/0/linear", "cohen/2/quadratic"];
    for figure in figures.into_iter().chain(others) {
        let value = number(&found, &format!("/{figure}/value"));
        let (low, high) = (number(&found, &format!("/{figure}/ci/0")), number(&found, &format!("/{figure}/ci/1")));
        assert!(low < value && value < high, "{figure}: {low} {value} {high}");
        assert_eq!(found.pointer(&format!("/{figure}/method")), Some(&json!("bootstrap-bca")), "{figure}");
        assert_eq!(found.pointer(&format!("/{figure}/n")), Some(&json!(60)), "{figure}");
    }
    for pair in 0..3 {
        assert!(number(&found, &format!("/cohen/{pair}/ci/0")) < number(&found, &format!("/cohen/{pair}/kappa")));
    }
    // The same bytes with any number of threads and any row order; other intervals with another seed.
    let mut sorted: Vec<&str> = rows.lines().skip(1).collect();
    sorted.reverse();
    project.write("s.csv", format!("item,rater,value\n{}\n", sorted.join("\n")));
    assert_eq!(project.ok("judge agree s.csv --json -j 1"), project.ok("judge agree r.csv --json"));
    let other = project.json("judge agree r.csv --json --seed 7");
    assert_ne!(other["fleiss"]["ci"], found["fleiss"]["ci"]);
    assert_eq!(other["fleiss"]["value"], found["fleiss"]["value"]);
}

#[test]
fn agreement_is_printed_as_a_table() {
    let judgements = [
        pair("ann", "c1", json!("g1"), "f1", true),
        pair("ann", "c1", json!("g1"), "f2", false),
        pair("ann", "c1", json!("g2"), "f3", true),
        pair("ann", "c2", json!("g1"), "f1", true),
        pair("bob", "c1", json!("g1"), "f1", true),
        pair("bob", "c1", json!("g1"), "f2", false),
        pair("bob", "c1", json!("g2"), "f3", false),
        pair("bob", "c2", json!("g1"), "f1", true),
        pair("bob\u{1b}[31m\n", "c2", json!("g1"), "f1", false),
    ];
    let project = Project::new().with("j.jsonl", lines(&judgements));
    insta::assert_snapshot!(project.ok("judge agree j.jsonl --seed 1"));
}

#[test]
fn unjudged_goldens_count_as_not_found() {
    let issues = json!([{ "id": "g1", "title": "one" }, { "id": "g2", "title": "two" }]);
    let case = |id: &str| json!({ "id": id, "issues": issues });
    let finding = json!([{ "id": "f1", "title": "x" }]);
    // Nobody has an opinion about what could not be tried.
    let outage = json!({ "case": "c3", "tool": "t", "trial": 2, "outcome": "unavailable" });
    let project = suite(&[case("c1"), case("c2"), case("c3"), case("c4"), case("c5")])
        .with(
            "s.jsonl",
            lines(&[
                trial("c1", "t", 1, finding.clone()),
                trial("c2", "t", 1, json!([])),
                trial("c3", "t", 1, finding.clone()),
                trial("c4", "t", 1, finding.clone()),
                trial("c5", "t", 1, finding),
            ]),
        )
        // The second judge's submission repeats trials of the first, which is allowed, one of them without findings.
        .with("again.jsonl", lines(&[trial("c2", "t", 1, json!([])), trial("c5", "t", 1, json!([])), outage]))
        .with(
            "a.jsonl",
            lines(&[("c1", "g1"), ("c4", "g2"), ("c5", "g1")].map(|(case, g)| pair("a", case, json!(g), "f1", true))),
        )
        .with("b.jsonl", lines(&[pair("b", "c1", json!(null), "f1", false)]));
    let found =
        project.json("judge agree a.jsonl b.jsonl --on found --json --suite . --submission s.jsonl again.jsonl");
    // c1: both judged; c2: no findings; c3: unjudged; c4: only one judged, so the other is unknown; c5: there was
    // nothing to judge for the second.
    assert_eq!((&found["items"], &found["percent"]["n"]), (&json!(10), &json!(8)));
    near(&found, "/percent/value", 6.0 / 8.0);
    assert_eq!(found["percent"]["unreliable"], true);
    assert_eq!(found["confusion"]["counts"], json!([[6, 0], [2, 0]]));
    assert!(found["notes"].to_string().contains("1 time a judge decided nothing"), "{}", found["notes"]);
    // Without the suite only judged goldens count, and these two have none in common.
    project.run("judge agree a.jsonl b.jsonl --on found").expect_error(4, &["all ratings are by a"]);
    project.run("judge agree a.jsonl b.jsonl --suite .").expect_error(2, &["--submission"]);
    project.run("judge agree a.jsonl --suite . --submission s.jsonl").expect_error(2, &["require --on found"]);
}

#[test]
fn audit_agreement_is_computed_per_decision() {
    let project = Project::new().with(
        "audits.jsonl",
        lines(&[
            audit("a", "c1", json!(true), "TARGET_MATCH", "exact", 1.0),
            audit("b", "c1", json!(true), "TARGET_MATCH", "semantic", 0.75),
            audit("a", "c2", json!(null), "HALLUCINATED", "wrong", 0.0),
            audit("b", "c2", json!(false), "OUT_OF_SCOPE", "not_mentioned", 0.0),
            audit("a", "c3", json!(true), "BONUS_VALID", "partial", 0.5),
            audit("b", "c3", json!(true), "BONUS_VALID", "partial", 0.25),
        ]),
    );
    let check = |on: &str, percent: f64, level: &str, values: Value| {
        let found = project.json(&format!("judge agree audits.jsonl --json {on}"));
        near(&found, "/percent/value", percent);
        assert_eq!(found["percent"]["method"], "wilson", "{on}");
        assert_eq!((&found["krippendorff"]["level"], &found["confusion"]["values"]), (&json!(level), &values), "{on}");
    };
    check("", 2.0 / 3.0, "nominal", json!(["none", "safe", "vulnerable"]));
    check("--on found", 1.0, "nominal", json!(["false", "true"]));
    let classes = json!(["TARGET_MATCH", "BONUS_VALID", "HALLUCINATED", "OUT_OF_SCOPE"]);
    check("--on classification", 2.0 / 3.0, "nominal", classes);
    check("--on type_match", 1.0 / 3.0, "ordinal", json!(["not_mentioned", "wrong", "partial", "semantic", "exact"]));
    check("--on rcir", 1.0 / 3.0, "interval", json!(["0", "0.25", "0.5", "0.75", "1"]));
    project.run("judge agree audits.jsonl --on ava").expect_error(4, &["nobody decided `ava`", "type_match"]);
}

/// Equal verdicts do not hide that judges contradict each other on everything else.
#[test]
fn each_decision_of_audits_has_its_agreement() {
    let contradicting = |case: usize| {
        let mut yes = audit("a", &format!("c{case}"), json!(true), "TARGET_MATCH", "exact", 1.0);
        let mut no = audit("b", &format!("c{case}"), json!(true), "HALLUCINATED", "wrong", 0.0);
        // Each finds what the other misses.
        if case.is_multiple_of(2) {
            (yes["judge"], no["judge"]) = (json!("b"), json!("a"));
        }
        [yes, no]
    };
    let judgements: Vec<Value> = (0..6).flat_map(contradicting).collect();
    let project = Project::new().with("audits.jsonl", lines(&judgements));
    let found = project.json("judge agree audits.jsonl --json");
    let fields = found["audits"]["fields"].as_array().unwrap();
    assert_eq!((fields.len(), &found["audits"]["judges"]), (10, &json!(["a", "b"])));
    let field = |name: &str| fields.iter().find(|own| own["field"] == name).unwrap();
    assert_eq!((&field("said_vulnerable")["percent"], &field("said_vulnerable")["alpha"]), (&json!(1.0), &Value::Null));
    for name in ["target.found", "classification", "type_match", "rcir"] {
        let own = field(name);
        assert!(own["percent"] == 0.0 && own["n"] == 6 && number(own, "/alpha") < 0.0, "{own}");
    }
    for name in ["target.found", "classification"] {
        assert!(number(field(name), "/kappa") < 0.0, "{}", field(name));
    }
    // Nobody was asked for these, which is neither agreement nor disagreement.
    for name in ["confidence_expressed", "ava", "is_valid_concern"] {
        assert_eq!((&field(name)["n"], &field(name)["percent"]), (&json!(0), &Value::Null), "{name}");
        assert!(field(name)["undefined"].is_string(), "{name}");
    }
    let table = project.ok("judge agree audits.jsonl");
    assert!(table.contains("Agreement on audits (a, b)") && table.contains("Agreement on verdict"), "{table}");
    assert_eq!(project.json("judge agree audits.jsonl --on found --json").get("audits"), None);
    // People were asked for a class and nothing else.
    let person = |judge: &str, class: &str| {
        json!({ "case": "c1", "tool": "t", "trial": 1, "judge": judge, "kind": "audit",
            "findings": [{ "finding": "f1", "classification": class }] })
    };
    project.write("people.jsonl", lines(&[person("human:ann", "TARGET_MATCH"), person("human:ben", "INFORMATIONAL")]));
    let found = project.json("judge agree people.jsonl --json");
    assert_eq!((&found["on"], &found["percent"]["value"]), (&json!("classification"), &json!(0.0)));
}

/// The table of ten decisions and the details of one of them are about the same ratings.
#[test]
fn one_figure_has_one_interval() {
    let (classes, fits) = (["TARGET_MATCH", "BONUS_VALID", "HALLUCINATED"], ["exact", "partial", "wrong"]);
    let of = |judge: &str, at: usize, shift: [usize; 4]| {
        let [vulnerable, class, fit, rcir] = shift.map(|shift| at + shift);
        let rcir = (rcir % 4) as f64 / 4.0;
        audit(judge, &format!("c{at:02}"), json!(vulnerable % 2 == 0), classes[class % 3], fits[fit % 3], rcir)
    };
    let both = |at: usize| {
        let every = |n: usize| usize::from(at.is_multiple_of(n));
        [of("a", at, [0; 4]), of("b", at, [every(5), every(4), every(5), every(3)])]
    };
    let mut judgements: Vec<Value> = (0..15).flat_map(both).collect();
    // Each judge numbers the claims of a text anew.
    for (own, class) in judgements.iter_mut().zip(classes.iter().cycle()) {
        let findings = own["findings"].as_array_mut().unwrap();
        findings.push(json!({ "finding": "response:1", "classification": class }));
    }
    let project = Project::new().with("audits.jsonl", lines(&judgements));
    let mut intervals = Vec::new();
    for seed in ["", "--seed 7"] {
        let found = project.json(&format!("judge agree audits.jsonl --json {seed}"));
        let fields = found["audits"]["fields"].as_array().unwrap();
        let field = |name: &str| fields.iter().find(|own| own["field"] == name).unwrap();
        let verdict = field("said_vulnerable");
        assert_eq!((&found["on"], &found["krippendorff"]["ci"]), (&json!("verdict"), &verdict["alpha_ci"]));
        assert_eq!((&found["cohen"][0]["kappa"], &found["cohen"][0]["ci"]), (&verdict["kappa"], &verdict["kappa_ci"]));
        intervals.push(verdict["alpha_ci"].clone());
        let others = ["target.found", "classification", "type_match", "rcir"].map(|name| (name, name));
        for (on, name) in [("verdict", "said_vulnerable")].into_iter().chain(others) {
            let details = project.json(&format!("judge agree audits.jsonl --on {on} --json {seed}"));
            let (own, alpha) = (field(name), &details["krippendorff"]);
            assert_eq!((&alpha["value"], &alpha["ci"]), (&own["alpha"], &own["alpha_ci"]), "{name}");
            assert!(own["alpha_ci"].is_array() && own["n"] == 15, "{own}");
        }
    }
    assert_ne!(intervals[0], intervals[1]);
}

#[test]
fn unreadable_input_is_reported_with_its_location() {
    let project = Project::new()
        .with("r.csv", "item,rater,value\nq,,1\nq,a\n")
        .with("swapped.csv", "item,reter,value\nq,a,1\n")
        .with(
            "j.jsonl",
            "{\"case\":\"c\",\"tool\":\"t\",\"trial\":1,\"judge\":\"a\",\"kind\":\"pair\",\"fnding\":\"f\"}\n",
        )
        .with("alone.csv", "item,rater,value\nq,a,1\n")
        .with("empty.jsonl", "");
    project.run("judge agree r.csv").expect_error(4, &["r.csv:2:3", "the rater is missing", "r.csv:3:1", "2 fields"]);
    project.run("judge agree swapped.csv").expect_error(4, &["swapped.csv:1:6", "did you mean `rater`?"]);
    project.run("judge agree j.jsonl").expect_error(4, &["j.jsonl:1:", "fnding", "match"]);
    project.run("judge agree alone.csv").expect_error(4, &["all ratings are by a; agreement needs two raters"]);
    project.run("judge agree empty.jsonl").expect_error(4, &["the files contain no judgement"]);
    project.run("judge agree missing.csv").expect_error(4, &["missing.csv"]);
    project.run("judge agree j.jsonl alone.csv").expect_error(2, &["cannot be combined"]);
    project.run("judge agree alone.csv --on match").expect_error(2, &["--on applies to judgements"]);
    project.run("judge agree alone.csv --on mood").expect_error(2, &["mood", "type_match"]);
    project.run("judge agree").expect_error(2, &["FILE"]);
}
