//! Public data sets beside the repository; these tests are skipped where they are absent.

use crate::project::{Project, lines, report_skipped, root};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A folder of the shared data.
pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    let base = std::env::var_os("KARAT_SHARED_DATA").map_or_else(|| root().join("../shared/data"), PathBuf::from);
    let path = base.join(name);
    if path.exists() {
        return path.canonicalize().ok();
    }
    report_skipped(&format!("{} is not here", path.display()));
    None
}

fn text(path: &std::path::Path) -> String {
    path.display().to_string()
}

#[test]
fn published_challenges_load_unchanged() {
    let Some(folder) = shared("crb-challenges/challenges") else { return };
    let project = Project::new();
    let ran = project.run_list(&["check", &text(&folder), "--profile", "crb"]).expect(0);
    let facts = ran.out.lines().last().unwrap();
    assert!(facts.contains("12 cases, 44 goldens to find, profile crb"), "{facts}");
    // Every case has the code it is about, with a known change.
    let ids: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with('_') && folder.join(name).join("challenge.yaml").exists())
        .collect();
    assert_eq!(ids.len(), 12);
    let report = project.run_list(&["check", &text(&folder), "--json"]).expect(0);
    let remarks: Vec<Value> = serde_json::from_str(&report.out).unwrap();
    assert!(remarks.iter().all(|remark| remark["level"] != "error"), "{}", report.out);
}

/// The labelled issues of smartbugs as a suite: a case per file, a golden per label.
fn smartbugs(labels: &str) -> (String, usize) {
    let files: Vec<Value> = serde_json::from_str(labels).unwrap();
    let mut goldens = 0;
    let mut cases = Vec::new();
    for file in &files {
        let path = file["path"].as_str().unwrap();
        let mut issues = Vec::new();
        for label in file["vulnerabilities"].as_array().unwrap() {
            let numbers: Vec<u64> = label["lines"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
            let category = label["category"].as_str().unwrap();
            issues.push(json!({
                "id": format!("i{}", issues.len() + 1),
                "title": category,
                "category": category,
                "file": path,
                "line_start": numbers.iter().min(),
                "line_end": numbers.iter().max(),
            }));
            goldens += 1;
        }
        cases.push(json!({ "id": path, "issues": issues }));
    }
    (lines(&cases), goldens)
}

#[test]
fn scanner_is_scored_on_labelled_contracts() {
    let (Some(labels), Some(solhint)) = (shared("smartbugs-curated/vulnerabilities.json"), shared("solhint")) else {
        return;
    };
    let (cases, goldens) = smartbugs(&std::fs::read_to_string(labels).unwrap());
    assert_eq!(goldens, 207);
    let project = Project::new().with("karat.toml", "[suite]\nname = \"smartbugs\"\n").with("cases.jsonl", cases);
    let (sarif, map) = (text(&solhint.join("solhint.sarif")), text(&solhint.join("rule-categories.csv")));
    // Each file is a case, identified by its whole path.
    let import =
        ["import", "--from", "sarif", "--suite", ".", "--case-from", ".*", "--rule-map", &map, &sarif, "-o", "s.jsonl"];
    project.run_list(&import).expect_error(0, &["143 trials, 9572 findings"]);
    let mut found = Vec::new();
    for tolerance in [0, 1, 3] {
        let tolerance = format!("line_tolerance={tolerance}");
        let arguments = [
            "score",
            ".",
            "--json",
            "--submission",
            "s.jsonl",
            "--set",
            "require=[\"file\", \"category\"]",
            "--set",
            &tolerance,
        ];
        let report: Value = serde_json::from_str(&project.run_list(&arguments).expect(0).out).unwrap();
        let counts = &report["tools"][0]["counts"];
        assert_eq!(counts["tp"].as_u64().unwrap() + counts["fn"].as_u64().unwrap(), 207);
        found.push(counts["tp"].as_u64().unwrap());
    }
    assert_eq!(found, [128, 129, 129]);
}

/// Pooled TP, FP and FN of every tool, as in the published evaluations.
fn published(evaluations: &str) -> BTreeMap<String, [u64; 3]> {
    let by_review: BTreeMap<String, BTreeMap<String, Value>> = serde_json::from_str(evaluations).unwrap();
    let mut pooled: BTreeMap<String, [u64; 3]> = BTreeMap::new();
    for (tool, result) in by_review.values().flatten() {
        if result["skipped"] == true {
            continue;
        }
        let own = pooled.entry(tool.clone()).or_default();
        for (sum, key) in own.iter_mut().zip(["tp", "fp", "fn"]) {
            *sum += result[key].as_u64().unwrap_or_default();
        }
    }
    pooled
}

fn counts(report: &Value, key: &str) -> BTreeMap<String, [u64; 3]> {
    let tools = report["tools"].as_array().unwrap().iter();
    let of = |tool: &Value| ["tp", "fp", "fn"].map(|count| tool[key][count].as_u64().unwrap());
    tools.map(|tool| (tool["tool"].as_str().unwrap().to_owned(), of(tool))).collect()
}

#[test]
fn published_table_is_reproduced() {
    let Some(bench) = shared("code-review-bench") else { return };
    let judges: Vec<PathBuf> =
        std::fs::read_dir(bench.join("results")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(judges.len(), 3);
    for judge in judges {
        let project = Project::new();
        let goldens = text(&bench.join("golden_comments"));
        project.run_list(&["import", "--from", "code-review-bench", &goldens, &text(&judge), "-o", "bench"]).expect(0);
        let name = judge.file_name().unwrap().to_string_lossy().into_owned();
        let stored: Vec<_> =
            std::fs::read_dir(project.path("bench/judgements")).unwrap().map(|e| e.unwrap().path()).collect();
        assert_eq!(stored.len(), 1);
        let file = text(&stored[0]);
        let score = |profile: &str| -> Value {
            let arguments = ["score", "bench", "--json", "--profile", profile, "--judgements", &file];
            serde_json::from_str(&project.run_list(&arguments).expect(0).out).unwrap()
        };
        let expected = published(&std::fs::read_to_string(judge.join("evaluations.json")).unwrap());
        assert_eq!(expected.len(), 12, "{name}");
        let recorded = score("recorded");
        assert_eq!(counts(&recorded, "counts"), expected, "{name}");
        // With one-to-one matching no tool can have found more; the differences are in the report.
        let one_to_one = counts(&recorded, "one_to_one");
        let karat = counts(&score("karat"), "counts");
        for (tool, [tp, ..]) in &expected {
            assert!(one_to_one[tool][0] <= *tp, "{name} {tool}");
            assert!(karat[tool][0] <= *tp, "{name} {tool}: {} of {tp}", karat[tool][0]);
        }
        assert!(one_to_one != expected, "{name}: one-to-one matching must change these figures");
    }
}

/// Twelve tools on thirty changes, by three judges: neighbours do not differ significantly, the best and the last
/// differ from many.
#[test]
fn published_ranking_has_the_expected_rank_intervals() {
    let Some(bench) = shared("code-review-bench") else { return };
    let mut judges: Vec<PathBuf> =
        std::fs::read_dir(bench.join("results")).unwrap().map(|entry| entry.unwrap().path()).collect();
    judges.sort();
    for judge in judges {
        let project = Project::new();
        let goldens = text(&bench.join("golden_comments"));
        project.run_list(&["import", "--from", "code-review-bench", &goldens, &text(&judge), "-o", "bench"]).expect(0);
        let file = std::fs::read_dir(project.path("bench/judgements")).unwrap().next().unwrap().unwrap().path();
        let score = ["score", "bench", "--profile", "recorded", "--judgements", &text(&file), "-o", "r.json"];
        project.run_list(&score).expect(0);
        let json = project.json("compare r.json --ranks --json");
        let tools = json["ranks"]["tools"].as_array().unwrap();
        assert_eq!((tools.len(), json["ranks"]["pairs"].as_array().unwrap().len()), (12, 66));
        for tool in tools {
            let (value, ci) = (tool["value"].as_f64().unwrap(), &tool["ci"]);
            assert!(ci[0].as_f64().unwrap() < value && value < ci[1].as_f64().unwrap(), "{tool}");
        }
        // Enumerated by another program: 1–6, 1–6 and 1–10 for the best, 6–12, 7–12 and 6–12 for the last. Sampling
        // may move an end by one.
        let name = judge.file_name().unwrap().to_string_lossy().into_owned();
        let set = |at: usize| ["rank_low", "rank_high"].map(|end| tools[at][end].as_u64().unwrap());
        let ends = [&tools[0]["tool"], &tools[11]["tool"]].map(|tool| tool.as_str().unwrap());
        assert_eq!(ends, ["augment", "graphite"], "{name}");
        let most = if name.contains("gpt") { 11 } else { 7 };
        assert!(set(0)[0] == 1 && set(0)[1] <= most, "{name}: {:?}", set(0));
        assert!(set(11)[0] >= 5 && set(11)[1] == 12, "{name}: {:?}", set(11));
        let statement = json["ranks"]["statement"].as_str().unwrap();
        assert_eq!(statement, format!("By F1, augment is among the best {}.", set(0)[1]), "{name}");
        assert!(project.ok("compare r.json --ranks").contains(statement), "{name}");
    }
}
