//! The figures of docs/evidence.md that no other test checks.

use crate::local_judge::import_bench;
use crate::project::{Project, lines, number, root, trial};
use karat_core::stats::rank::kendall;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Categories of the OWASP Benchmark 1.2: name, CWE number, vulnerable tests, safe tests.
const CATEGORIES: [(&str, u32, usize, usize); 11] = [
    ("cmdi", 78, 126, 125),
    ("xss", 79, 246, 209),
    ("securecookie", 614, 36, 31),
    ("ldapi", 90, 27, 32),
    ("pathtraver", 22, 133, 135),
    ("sqli", 89, 272, 232),
    ("trustbound", 501, 83, 43),
    ("crypto", 327, 130, 116),
    ("hash", 328, 129, 107),
    ("weakrand", 330, 218, 275),
    ("xpathi", 643, 15, 20),
];

/// A scorecard of the project OWASP Benchmark for Java, version 1.2, in its folder `scorecard` at commit 33ef78d2.
struct PublishedScorecard {
    tool: &'static str,
    /// True and false positives of each category, and the published score in percent.
    rows: [(usize, usize, &'static str); 11],
    /// TPR, FPR and score over all categories, in percent.
    overall: [&'static str; 3],
}

const SCORECARDS: [PublishedScorecard; 3] = [
    PublishedScorecard {
        tool: "FBwFindSecBugs v1.4.0",
        rows: [
            (93, 95, "-2.19"),
            (3, 0, "1.22"),
            (0, 0, "0.00"),
            (4, 9, "-13.31"),
            (112, 107, "4.95"),
            (146, 129, "-1.93"),
            (0, 0, "0.00"),
            (97, 66, "17.72"),
            (28, 0, "21.71"),
            (218, 0, "100.00"),
            (15, 20, "0.00"),
        ],
        overall: ["47.64", "35.99", "11.65"],
    },
    PublishedScorecard {
        tool: "OWASP ZAP vD-2016-09-05",
        rows: [
            (41, 0, "32.54"),
            (71, 0, "28.86"),
            (36, 0, "100.00"),
            (0, 0, "0.00"),
            (0, 0, "0.00"),
            (158, 3, "56.80"),
            (0, 0, "0.00"),
            (0, 0, "0.00"),
            (0, 0, "0.00"),
            (0, 0, "0.00"),
            (0, 0, "0.00"),
        ],
        overall: ["19.95", "0.12", "19.84"],
    },
    PublishedScorecard {
        tool: "SonarQube Java Plugin v3.14",
        rows: [
            (107, 109, "-2.28"),
            (0, 0, "0.00"),
            (36, 0, "100.00"),
            (27, 32, "0.00"),
            (0, 0, "0.00"),
            (0, 0, "0.00"),
            (0, 0, "0.00"),
            (130, 0, "100.00"),
            (89, 0, "68.99"),
            (218, 0, "100.00"),
            (0, 0, "0.00"),
        ],
        overall: ["50.36", "17.02", "33.34"],
    },
];

/// A rate in percent, as the scorecards print it.
fn percent(tool: &Value, pointer: &str) -> String {
    let text = format!("{:.2}", 100.0 * number(tool, pointer));
    if text == "-0.00" { "0.00".to_owned() } else { text }
}

/// The tests are generated in the published numbers, because the rates depend on nothing else.
#[test]
fn published_owasp_scorecards_are_reproduced() {
    let (mut expected, mut trials) = ("# test name, category, real vulnerability, cwe\n".to_owned(), Vec::new());
    for (at, (category, cwe, vulnerable, safe)) in CATEGORIES.into_iter().enumerate() {
        for n in 0..vulnerable + safe {
            let (name, real) = (format!("{category}-{n}"), n < vulnerable);
            expected.push_str(&format!("{name},{category},{real},{cwe}\n"));
            for card in &SCORECARDS {
                let (tp, fp, _) = card.rows[at];
                let flagged = if real { n < tp } else { n - vulnerable < fp };
                let findings =
                    if flagged { json!([{ "id": "f", "rule_id": category, "cwe": [cwe] }]) } else { json!([]) };
                trials.push(trial(&name, card.tool, 1, findings));
            }
        }
    }
    let project = Project::new().with("expectedresults-1.2.csv", expected).with("alerts.jsonl", lines(&trials));
    project.run("import --from owasp expectedresults-1.2.csv -o bench").expect_error(0, &["2740 cases"]);
    let report = project.json("score bench --profile owasp --submission alerts.jsonl --resamples 100 --json");
    for card in &SCORECARDS {
        let tool = report["tools"].as_array().unwrap().iter().find(|tool| tool["tool"] == card.tool).unwrap();
        for ((category, ..), (.., score)) in CATEGORIES.iter().zip(&card.rows) {
            let ours = percent(tool, &format!("/by/category/{category}/metrics/youden/value"));
            assert_eq!(ours, *score, "{} on {category}", card.tool);
        }
        let ours = ["tpr", "fpr", "youden"].map(|id| percent(tool, &format!("/macro_by/category/{id}/value")));
        assert_eq!(ours, card.overall, "{}", card.tool);
    }
}

const BENCH: &str = "suites/code-review-bench";

/// Mean F1 of every reviewer, in the order of their names, and the number of changes it is the mean of.
fn leaderboard(project: &Project, suite: &str, submission: &str, judge: &str) -> Vec<(f64, f64)> {
    let line = format!(
        "score {suite} --profile karat --resamples 100 --json --submission {suite}/submissions/{submission}.jsonl {judge}"
    );
    let report = project.json(&line);
    let value = |tool: &Value| {
        let name = tool["tool"].as_str().unwrap().to_owned();
        (name, (number(tool, "/metrics/f1/value"), number(tool, "/metrics/f1/n")))
    };
    let by_name: BTreeMap<String, (f64, f64)> = report["tools"].as_array().unwrap().iter().map(value).collect();
    assert_eq!(by_name.len(), 12);
    by_name.into_values().collect()
}

fn tau(a: &[(f64, f64)], b: &[(f64, f64)]) -> f64 {
    let values = |board: &[(f64, f64)]| board.iter().map(|(value, _)| *value).collect::<Vec<_>>();
    kendall(&values(a), &values(b)).unwrap()
}

/// One leaderboard over the changes of several.
fn pool(boards: &[Vec<(f64, f64)>]) -> Vec<(f64, f64)> {
    let tool = |at: usize| {
        let n: f64 = boards.iter().map(|board| board[at].1).sum();
        (boards.iter().map(|board| board[at].0 * board[at].1).sum::<f64>() / n, n)
    };
    (0..boards[0].len()).map(tool).collect()
}

/// A copy of the benchmark with the given cases only.
fn write_part(project: &Project, name: &str, files: &[String], cases: &BTreeSet<String>) {
    for file in files {
        let text = project.read(&format!("{BENCH}/{file}"));
        let kept = text.lines().filter(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            let case = if file == "cases.jsonl" { &line["id"] } else { &line["case"] };
            cases.contains(case.as_str().unwrap())
        });
        project.write(&format!("{name}/{file}"), kept.map(|line| format!("{line}\n")).collect::<String>());
    }
    let judge = "[judges.unseen]\nprovider = \"local\"\nfile = \"unseen.toml\"\n";
    project.write(&format!("{name}/karat.toml"), format!("[suite]\nname = \"part\"\n\n{judge}"));
}

/// How far the local judge orders the twelve reviewers of code-review-bench as models do, with whole repositories held out.
#[test]
fn local_judge_orders_reviewers_as_documented() {
    let Some((project, judges)) = import_bench() else { return };
    let folder = |folder: &str| judges.iter().map(|judge| format!("{folder}/{judge}.jsonl")).collect::<Vec<_>>();
    let files = [vec!["cases.jsonl".to_owned()], folder("submissions"), folder("judgements")].concat();
    let mut repositories: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in project.read(&format!("{BENCH}/cases.jsonl")).lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| case[key].as_str().unwrap().to_owned();
        repositories.entry(text("repo")).or_default().insert(text("id"));
    }
    let repositories: Vec<(String, BTreeSet<String>)> = repositories.into_iter().collect();
    assert_eq!(repositories.len(), 3);

    for (at, (_, cases)) in repositories.iter().enumerate() {
        let others =
            repositories.iter().enumerate().filter(|(other, _)| *other != at).flat_map(|(_, (_, ids))| ids.clone());
        let (part, rest) = (format!("part-{at}"), format!("rest-{at}"));
        write_part(&project, &part, &files, cases);
        write_part(&project, &rest, &files, &others.collect());
        let paths = |folder: &str| judges.iter().map(|j| format!(" {rest}/{folder}/{j}.jsonl")).collect::<String>();
        let labels = format!("--submission{} --judgements{}", paths("submissions"), paths("judgements"));
        project.run(&format!("judge fit {rest} {labels} -o {part}/unseen.toml")).expect(0);
    }

    // By suite: the whole benchmark, then each repository. By judge: its own decisions and those of the local judge.
    let recorded = |suite: &str, judge: &String| {
        leaderboard(&project, suite, judge, &format!("--judge none --judgements {suite}/judgements/{judge}.jsonl"))
    };
    let models: Vec<_> = judges.iter().map(|judge| recorded(BENCH, judge)).collect();
    let parts: Vec<String> = (0..repositories.len()).map(|at| format!("part-{at}")).collect();
    let models_by_part: Vec<Vec<_>> =
        parts.iter().map(|part| judges.iter().map(|judge| recorded(part, judge)).collect()).collect();
    let unseen_by_part: Vec<Vec<_>> = (parts.iter())
        .map(|part| judges.iter().map(|judge| leaderboard(&project, part, judge, "--judge unseen")).collect())
        .collect();

    let range = |boards: &[Vec<(f64, f64)>]| {
        let all = [tau(&boards[0], &boards[1]), tau(&boards[0], &boards[2]), tau(&boards[1], &boards[2])];
        let (low, high) = all.iter().fold((f64::MAX, f64::MIN), |(low, high), t| (low.min(*t), high.max(*t)));
        format!("{low:.2}–{high:.2}")
    };
    let mut rows = Vec::new();
    for (at, judge) in judges.iter().enumerate() {
        let unseen: Vec<_> = unseen_by_part.iter().map(|part| part[at].clone()).collect();
        let [held_out, shipped, no_judge] = [
            pool(&unseen),
            leaderboard(&project, BENCH, judge, "--judge local"),
            leaderboard(&project, BENCH, judge, "--judge none"),
        ]
        .map(|board| tau(&board, &models[at]));
        rows.push(format!("| `{judge}` | {held_out:.2} | {shipped:.2} | {no_judge:.2} |"));
    }
    rows.push(format!("two models with each other: {}", range(&models)));
    let ends = |board: &[(f64, f64)]| {
        let mut order: Vec<usize> = (0..board.len()).collect();
        order.sort_by(|a, b| board[*b].0.total_cmp(&board[*a].0));
        [order[0], order[1], order[11]]
    };
    for (at, model) in models.iter().enumerate() {
        let unseen: Vec<_> = unseen_by_part.iter().map(|part| part[at].clone()).collect();
        assert_eq!((ends(&pool(&unseen)), ends(model)), (ends(&models[0]), ends(&models[0])), "{}", judges[at]);
    }
    for (at, (name, cases)) in repositories.iter().enumerate() {
        let cells: String =
            unseen_by_part[at].iter().zip(&models_by_part[at]).map(|(a, b)| format!(" {:.2} |", tau(a, b))).collect();
        rows.push(format!("| {name} | {} |{cells} {} |", cases.len(), range(&models_by_part[at])));
    }
    let page = std::fs::read_to_string(root().join("docs/evidence.md")).unwrap();
    let missing: Vec<&String> = rows.iter().filter(|row| !page.contains(row.as_str())).collect();
    assert!(missing.is_empty(), "docs/evidence.md lacks\n{missing:#?}");
}
