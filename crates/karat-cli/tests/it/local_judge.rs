//! The local judge: `judge fit`, `judge eval`, and its accuracy on published data.

use crate::data::shared;
use crate::project::{Project, lines, number, root, suite, trial};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Two repositories with one case of two goldens each, and a tool with one match and one unrelated finding per case.
fn labelled_project() -> Project {
    let issue = |id: &str, text: &str| json!({ "id": id, "description": text });
    let case = |id: &str, repo: &str, issues: Value| json!({ "id": id, "repo": repo, "issues": issues });
    let project = suite(&[
        case(
            "shop",
            "a/shop",
            json!([
                issue("g1", "SQL injection: the search term is concatenated into the query"),
                issue("g2", "The token cache grows without bound"),
            ]),
        ),
        case(
            "bank",
            "b/bank",
            json!([
                issue("g1", "Race between checking the balance and withdrawing it"),
                issue("g2", "The password is written to the log"),
            ]),
        ),
    ]);
    let finding = |id: &str, text: &str| json!({ "id": id, "message": text });
    let found = [
        trial(
            "shop",
            "ada",
            1,
            json!([
                finding("f1", "The query is built by concatenating the search term"),
                finding("f2", "Rename x to total")
            ]),
        ),
        trial(
            "bank",
            "ada",
            1,
            json!([finding("f1", "The balance is checked and withdrawn in a race"), finding("f2", "Add a docstring")]),
        ),
        trial("shop", "bob", 1, json!([])),
    ];
    let judgement = |case: &str, golden: Value, finding: &str, matched: bool| {
        json!({ "kind": "pair", "case": case, "tool": "ada", "trial": 1, "judge": "human:eve", "golden": golden,
                "finding": finding, "match": matched })
    };
    let judgements = [
        judgement("shop", json!("g1"), "f1", true),
        judgement("shop", Value::Null, "f2", false),
        judgement("bank", json!("g1"), "f1", true),
        judgement("bank", Value::Null, "f2", false),
    ];
    project.with("s.jsonl", lines(&found)).with("j.jsonl", lines(&judgements))
}

const LABELS: &str = ". --submission s.jsonl --judgements j.jsonl";

#[test]
fn fit_writes_parameters_and_eval_measures_them() {
    let project = labelled_project();
    project
        .run(&format!("judge fit {LABELS} -o p.toml"))
        .expect_error(0, &["wrote p.toml (8 pairs, 2 of them matches"]);
    let written = project.read("p.toml");
    for part in ["suite = \"tiny\"", "judges = [\"human:eve\"]", "group_by = \"repo\"", "[text.weights.golden_words]"] {
        assert!(written.contains(part), "{part} is not in\n{written}");
    }
    project.run(&format!("judge fit {LABELS} -o again.toml -j 1")).expect(0);
    assert_eq!(written, project.read("again.toml"), "the fit depends on the number of threads");

    let fitted = project.json(&format!("judge fit {LABELS} -o third.toml --json"));
    assert_eq!((&fitted["output"], &fitted["provenance"]["pairs"]), (&"third.toml".into(), &8.into()));
    assert!(fitted["threshold"].is_f64() && fitted["provenance"]["judges"][0] == "human:eve", "{fitted}");

    let figures = project.json(&format!("judge eval {LABELS} --params p.toml --group-by repo --json"));
    assert_eq!(figures["params"], "p.toml");
    // Two goldens in each of three trials; one trial has no findings.
    assert_eq!(figures["golden_found"]["n"], 6);
    assert_eq!(number(&figures, "/golden_found/kappa"), 1.0);
    assert_eq!(number(&figures, "/golden_found/recall"), 1.0);
    // Only given judgements, not those that follow from them.
    assert_eq!(figures["pairs"]["n"], 6);
    assert_eq!(number(&figures, "/pairs/auc"), 1.0);
    assert_eq!(figures["groups"]["a/shop"]["golden_found"]["n"], 4);
    assert_eq!(figures["groups"]["b/bank"]["golden_found"]["n"], 2);
}

#[test]
fn eval_holds_out_groups_without_parameters() {
    let project = labelled_project();
    let held_out = project.json(&format!("judge eval {LABELS} --group-by repo --json"));
    assert_eq!(held_out["params"], "held-out");
    assert_eq!(held_out["groups"].as_object().unwrap().len(), 2);
    let shipped = project.json(&format!("judge eval {LABELS} --json"));
    assert_eq!((&shipped["params"], &shipped["groups"]), (&json!("shipped"), &json!({})));
    assert_eq!(shipped["golden_found"]["n"], held_out["golden_found"]["n"]);
    let table = project.ok(&format!("judge eval {LABELS} --group-by repo"));
    for part in ["fitted on the others, against human:eve", "a/shop", "mean of groups", "word overlap"] {
        assert!(table.contains(part), "{part} is not in\n{table}");
    }
    // All cases are in one group, so nothing is left to fit on.
    project.run(&format!("judge eval {LABELS} --group-by meta.team")).expect_error(4, &["cannot be held out"]);
}

#[test]
fn invalid_input_is_reported() {
    let project = labelled_project().with("none.jsonl", "").with("bad.toml", "schema = 1\n");
    let check = |line: &str, code: i32, texts: &[&str]| {
        project.run(line).expect_error(code, texts);
    };
    check("judge eval . --submission s.jsonl --judgements none.jsonl", 4, &["no pair of these submissions is judged"]);
    check(&format!("judge eval {LABELS} --params bad.toml"), 4, &["bad.toml", "karat judge fit"]);
    check(&format!("judge eval {LABELS} --params gone.toml"), 4, &["gone.toml"]);
    check(&format!("judge eval {LABELS} --group-by colour"), 2, &["colour", "meta.NAME"]);
    check(&format!("judge fit {LABELS} --group-by language -o p.toml"), 0, &["nothing was held out"]);
    project.write("no.jsonl", project.read("j.jsonl").replace("true", "false"));
    check("judge fit . --submission s.jsonl --judgements no.jsonl -o x.toml", 4, &["no judged pair matches"]);
    assert!(!project.path("x.toml").exists());
}

/// The published benchmark as one suite. Its judges saw different texts, so each has its own submission.
pub(crate) fn import_bench() -> Option<(Project, Vec<String>)> {
    let bench = shared("code-review-bench")?;
    let project = Project::new();
    let mut judges: Vec<PathBuf> =
        std::fs::read_dir(bench.join("results")).unwrap().map(|entry| entry.unwrap().path()).collect();
    judges.sort();
    let mut names = Vec::new();
    for judge in &judges {
        let goldens = bench.join("golden_comments").display().to_string();
        let from = judge.display().to_string();
        project
            .run_list(&["import", "--from", "code-review-bench", &goldens, &from, "-o", "suites/code-review-bench/"])
            .expect(0);
        names.push(judge.file_name().unwrap().to_string_lossy().into_owned());
    }
    Some((project, names))
}

fn bench_arguments(verb: &str, judges: &[String]) -> String {
    let files = |folder: &str| {
        judges.iter().map(|name| format!(" suites/code-review-bench/{folder}/{name}.jsonl")).collect::<String>()
    };
    format!(
        "judge {verb} suites/code-review-bench --group-by repo --submission{} --judgements{}",
        files("submissions"),
        files("judgements")
    )
}

#[test]
fn held_out_repositories_reach_the_promised_accuracy() {
    let Some((project, judges)) = import_bench() else { return };
    // Fitted on one judge's decisions; the shipped parameters use all three.
    for judge in judges.iter().take(1) {
        let figures = project.json(&format!("{} --json", bench_arguments("eval", std::slice::from_ref(judge))));
        assert_eq!(figures["params"], "held-out");
        assert_eq!(figures["groups"].as_object().unwrap().len(), 3);
        // 85 goldens, 12 tools.
        assert_eq!(figures["golden_found"]["n"], 1020);
        let kappa = number(&figures, "/mean/golden_found/kappa");
        assert!(kappa >= 0.75, "{judge}: kappa {kappa}");
        assert!(
            kappa > number(&figures, "/overlap/golden_found/kappa") + 0.05,
            "{judge}: not better than word overlap"
        );
        for (group, own) in figures["groups"].as_object().unwrap() {
            let error = number(own, "/pairs/ece");
            assert!(error <= 0.05, "{judge}, {group}: calibration error {error}");
        }
    }
}

#[test]
fn shipped_parameters_are_current() {
    let Some((project, judges)) = import_bench() else { return };
    project.run(&format!("{} -o local.toml", bench_arguments("fit", &judges))).expect(0);
    let written = project.read("local.toml");
    let held_out = written.split("[provenance.held_out]").nth(1).unwrap();
    let figure = |name: &str| -> f64 {
        let value = held_out.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
        value.unwrap().parse().unwrap()
    };
    assert!(figure("kappa") >= 0.75 && figure("ece") <= 0.05, "{held_out}");
    let shipped = root().join("crates/karat/judges/local.toml");
    if std::env::var_os("KARAT_UPDATE").is_some() {
        std::fs::copy(project.path("local.toml"), &shipped).unwrap();
    }
    let same = written == std::fs::read_to_string(shipped).unwrap();
    assert!(same, "crates/karat/judges/local.toml is not current; KARAT_UPDATE=1 rewrites it");
}

/// Figures of docs/local-judge.md and of the parameters, with families of rules held out.
#[test]
fn documented_agreement_on_scanners_findings() {
    let project = Project::new();
    let rules = root().join("suites/scanner-rules");
    let held_out = project.json(&format!("judge eval {} --group-by meta.family --json", rules.display()));
    let (found, pairs) = (&held_out["mean"]["golden_found"], &held_out["mean"]["pairs"]);
    let row = format!(
        "| local judge, mean over held-out families | {:.3} | {:.3} | {:.3} | {:.3} |",
        number(found, "/kappa"),
        number(found, "/precision"),
        number(found, "/recall"),
        number(pairs, "/auc"),
    );
    let docs = std::fs::read_to_string(root().join("docs/local-judge.md")).unwrap();
    assert!(docs.contains(&row), "{row}");
    // The README names this command, and states this figure wherever it states one.
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.contains("karat judge eval suites/scanner-rules --group-by meta.family"));
    let (stated, measured) = (readme.matches("κ ").count(), format!("κ {:.2}", number(found, "/kappa")));
    assert!(stated >= 2 && readme.matches(&measured).count() == stated, "README.md does not state {measured} alone");
    let scanned = project.json("judge eval scanned --json");
    let sentence = format!("κ is {:.3} (0.522", number(&scanned, "/golden_found/kappa"));
    assert!(docs.contains(&sentence), "{sentence}");
}

/// Where an equal CWE number or a word in common is right about a scanner's finding, the judge must not do much worse.
#[test]
fn plain_pairs_of_scanners_are_decided_rightly() {
    let read = |name: &str| -> Vec<Value> {
        let text = std::fs::read_to_string(root().join("suites/scanner-rules").join(name)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let cases: BTreeMap<String, Value> =
        read("cases.jsonl").into_iter().map(|case| (case["id"].as_str().unwrap().to_owned(), case)).collect();
    let labelled: Vec<(Value, Value)> =
        read("calibration/submission.jsonl").into_iter().zip(read("calibration/judgements.jsonl")).collect();
    let case_of = |trial: &Value| &cases[trial["case"].as_str().unwrap()];
    let is_right = |label: &Value| label["match"] == true;
    let mut families: BTreeSet<(String, String)> = BTreeSet::new();
    for (trial, _) in labelled.iter().filter(|(_, label)| is_right(label)) {
        families.insert((trial["findings"][0]["message"].to_string(), case_of(trial)["meta"]["family"].to_string()));
    }
    let words = |text: &str| -> BTreeSet<String> {
        let long = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() > 4);
        long.map(|word| word.to_lowercase().chars().take(6).collect()).collect()
    };
    let is_plain = |(trial, label): &&(Value, Value)| {
        let (golden, finding) = (&case_of(trial)["issues"][0], &trial["findings"][0]);
        let numbers = |of: &Value| of["cwe"].as_array().cloned().unwrap_or_default();
        let text = |of: &Value| {
            [&of["title"], &of["description"], &of["message"]]
                .map(|text| text.as_str().unwrap_or("").to_owned())
                .join(" ")
        };
        let glance = numbers(golden).iter().any(|number| numbers(finding).contains(number))
            || !words(&text(golden)).is_disjoint(&words(&text(finding)));
        let family = (finding["message"].to_string(), case_of(trial)["meta"]["family"].to_string());
        glance == is_right(label) && (is_right(label) || !families.contains(&family))
    };
    let plain: Vec<&(Value, Value)> = labelled.iter().filter(is_plain).collect();
    let kappa = |pairs: &[&(Value, Value)]| {
        assert!(pairs.len() > 500 && pairs.iter().any(|(_, label)| is_right(label)), "{} pairs", pairs.len());
        let (trials, labels): (Vec<Value>, Vec<Value>) = pairs.iter().map(|pair| (*pair).clone()).unzip();
        let project = Project::new().with("s.jsonl", lines(&trials)).with("j.jsonl", lines(&labels));
        let suite = root().join("suites/scanner-rules");
        let figures =
            project.json(&format!("judge eval {} --submission s.jsonl --judgements j.jsonl --json", suite.display()));
        number(&figures, "/golden_found/kappa")
    };
    let all = kappa(&plain);
    assert!(all >= 0.9, "{all}");
    let without: Vec<&(Value, Value)> =
        plain.into_iter().filter(|(trial, _)| trial["findings"][0].get("cwe").is_none()).collect();
    let all = kappa(&without);
    assert!(all >= 0.8, "without CWE numbers: {all}");
}
