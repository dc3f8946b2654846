//! What holds for the suites of the repository: they are clean, their traps trap somebody, and their proofs are kept and hold.

use crate::docs::check_beginning;
use crate::project::{Project, copy_tree, root};
use serde_json::Value;
use std::collections::BTreeSet;

fn names() -> Vec<String> {
    let entries = std::fs::read_dir(root().join("suites")).unwrap().map(|entry| entry.unwrap());
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Where a suite is, as an argument of the command.
fn folder(name: &str) -> String {
    root().join("suites").join(name).canonicalize().unwrap().display().to_string()
}

/// Every issue of a suite as it stands in its file, with its case.
fn issues(name: &str) -> Vec<(String, Value)> {
    let snapshot = karat::suite::load_suite(&folder(name)).unwrap().snapshot();
    let of_case = |case: karat_format::snapshot::SnapshotCaseV1| {
        let id = case.case.id.clone();
        case.case.issues.into_iter().map(move |issue| (id.clone(), serde_json::to_value(issue).unwrap()))
    };
    snapshot.cases.into_iter().flat_map(of_case).collect()
}

fn is_required(issue: &Value) -> bool {
    issue.get("acceptance").is_none_or(|acceptance| acceptance == "required")
}

fn golden_of(case: &str, issue: &Value) -> (String, String) {
    (case.to_owned(), issue["id"].as_str().unwrap().to_owned())
}

#[test]
fn every_suite_has_no_problems() {
    assert!(names().len() >= 7, "{:?}", names());
    for name in names() {
        let out = Project::new().run_list(&["check", "--strict", &folder(&name)]).expect(0).out;
        assert!(out.contains("no problems"), "{name}: {out}");
    }
}

#[test]
fn every_case_has_a_canary_and_a_date() {
    let mut canaries = BTreeSet::new();
    for name in ["code-review", "contracts", "identity"] {
        for case in karat::suite::load_suite(&folder(name)).unwrap().snapshot().cases {
            let case = serde_json::to_value(&case.case).unwrap();
            let (id, canary) = (&case["id"], case["canary"].as_str().unwrap_or_default());
            assert!(canary.starts_with("karat-canary-"), "{name}: {id} has no canary");
            assert!(case["made"].is_string(), "{name}: {id} has no date");
            assert!(canaries.insert(canary.to_owned()), "{name}: {id} repeats {canary}");
        }
    }
    assert!(canaries.len() >= 139, "{}", canaries.len());
}

#[test]
fn every_trap_is_hit_by_a_recorded_tool_or_a_rule() {
    for (name, command, least) in [("code-review", "score", 80), ("contracts", "run", 30)] {
        let traps = issues(name).into_iter().filter(|(_, issue)| issue["acceptance"] == "trap");
        let mut left: BTreeSet<_> = traps.map(|(case, issue)| golden_of(&case, &issue)).collect();
        assert!(left.len() >= least, "{name} has {} traps", left.len());
        let project = Project::new();
        project.run_list(&[command, &folder(name), "-o", "report.json", "-q"]).expect(0);
        let report: Value = serde_json::from_str(&project.read("report.json")).unwrap();
        for tool in report["tools"].as_array().unwrap() {
            for case in tool["cases"].as_array().unwrap() {
                for extra in case["trials"][0]["extras"].as_array().unwrap() {
                    if extra["reason"]["kind"] == "trap" {
                        let golden = extra["reason"]["golden"].as_str().unwrap();
                        left.remove(&(case["case"].as_str().unwrap().to_owned(), golden.to_owned()));
                    }
                }
            }
        }
        assert!(left.is_empty(), "{name}: nothing hits {left:?}");
    }
}

/// `karat check --strict` refuses kept verdicts whose proof, code or patch has changed since.
#[test]
fn every_required_golden_is_proven() {
    for (name, least) in [("code-review", 40), ("contracts", 30)] {
        let wanted: BTreeSet<_> = issues(name)
            .into_iter()
            .filter(|(_, issue)| is_required(issue))
            .map(|(case, issue)| golden_of(&case, &issue))
            .collect();
        let kept = std::fs::read_to_string(root().join("suites").join(name).join("proofs.json")).unwrap();
        let kept: Value = serde_json::from_str(&kept).unwrap();
        let proven = kept["proofs"].as_array().unwrap().iter().filter(|proof| proof["verdict"] == "proven");
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let proven: BTreeSet<_> = proven.map(|proof| (text(&proof["case"]), text(&proof["golden"]))).collect();
        assert_eq!(wanted, proven, "{name}");
        assert!(wanted.len() >= least, "{name} has {} goldens", wanted.len());
    }
}

/// Some proofs are run here, too. One whose toolchain is missing on this machine is no failure.
#[test]
fn proofs_hold_on_this_machine() {
    for (name, case) in [
        ("code-review", "c-template-expand"),
        ("code-review", "py-archive-import"),
        ("code-review", "sh-release-switch"),
        ("contracts", "tip-pool"),
    ] {
        let project = Project::new().with("suite/karat.toml", "[suite]\nname = \"proofs\"\n");
        for case in [case.to_owned(), format!("{case}-fixed")] {
            let to = project.path(&format!("suite/cases/{case}"));
            copy_tree(&root().join("suites").join(name).join("cases").join(case), &to);
        }
        let ran = project.run("suite prove suite --json -q").expect(0);
        let report: Value = serde_json::from_str(&ran.out).unwrap();
        let proofs = report["proofs"].as_array().unwrap();
        assert!(!proofs.is_empty(), "{case}: {}", ran.out);
        for proof in proofs {
            assert!(proof["verdict"] == "proven" || proof["verdict"] == "no_toolchain", "{proof}");
        }
    }
}

#[test]
fn leaderboards_are_current() {
    for (name, command) in [("code-review", "score"), ("contracts", "run")] {
        let path = format!("suites/{name}/README.md");
        check_beginning(&path, &format!("```text\n{name}"), &[command, &folder(name), "-q"], 2);
    }
}

/// A tool's figures of a report, next to each other.
struct Figures<'a> {
    tool: &'a Value,
    what: String,
}

impl Figures<'_> {
    fn value(&self, id: &str) -> Option<f64> {
        let estimate = &self.tool["metrics"][id];
        let value = estimate["value"].as_f64();
        assert_eq!(value.is_none(), estimate["undefined"].is_string(), "{}: {id} {estimate}", self.what);
        value
    }

    fn at_most(&self, less: &str, more: &str) {
        if let (Some(own), Some(other)) = (self.value(less), self.value(more)) {
            assert!(own <= other + 1e-9, "{}: {less} {own} is above {more} {other}", self.what);
        }
    }

    fn add_up_to_one(&self, one: &str, other: &str) {
        let sum = self.value(one).zip(self.value(other)).map(|(a, b)| a + b);
        assert!(sum.is_none_or(|sum| (sum - 1.0).abs() < 1e-9), "{}: {one} + {other} = {sum:?}", self.what);
        assert_eq!(self.value(one).is_some(), self.value(other).is_some(), "{}: {one}, {other}", self.what);
    }

    fn check(&self) {
        let what = &self.what;
        for [less, more] in [
            ["twin_recall_silent", "twin_recall"],
            ["found_all", "recall"],
            ["recall", "found_any"],
            ["precision_lower", "precision"],
            ["precision", "precision_upper"],
            ["location_exact", "location_iou"],
            ["location_exact", "location_within_5"],
            ["exact_match_rate", "semantic_match_rate"],
            ["hallucination_rate", "invalid_rate"],
        ] {
            self.at_most(less, more);
        }
        for [one, other] in [["tpr", "fnr"], ["specificity", "fpr"]] {
            self.add_up_to_one(one, other);
        }
        // Whoever is never silent on a safe case is silent on no fix.
        if self.value("clean_pass") == Some(0.0) {
            assert!(
                self.value("twin_recall_silent").unwrap_or(0.0) == 0.0,
                "{what}: silent on a fix, and on no clean case"
            );
        }
        if self.value("target_detection_rate") == Some(0.0) {
            assert!(self.value("twin_recall").unwrap_or(0.0) == 0.0, "{what}: twins without a target found");
        }
        let trials: Vec<&Value> = self.tool["cases"]
            .as_array()
            .into_iter()
            .flatten()
            .flat_map(|case| case["trials"].as_array().unwrap())
            .collect();
        let said = trials.iter().filter(|trial| trial["verdict"].is_string()).count();
        // Of a tool that gives no verdict, a failed trial is no wrong one; only an audit expects one of every trial.
        let expected = trials.iter().filter(|trial| trial["verdict_correct"].is_boolean()).count();
        assert!(expected == 0 || said > 0 || what.contains(" audit"), "{what}: {expected} verdicts that nobody gave");
        let of_verdicts =
            ["accuracy", "tpr", "fpr", "specificity", "youden", "verdict_f1", "lucky_guess_rate", "ece", "brier"];
        for id in of_verdicts.into_iter().filter(|_| expected == 0) {
            assert_eq!(self.value(id), None, "{what}: {id} without a verdict");
        }
        assert_eq!(expected > 0, self.value("accuracy").is_some(), "{what}: {expected} verdicts");
        let verdicts = ["tp", "fp", "tn", "fn"].map(|cell| self.tool["verdicts"][cell].as_f64().unwrap());
        let cases = self.tool["metrics"]["accuracy"]["n"].as_f64().unwrap();
        assert!((verdicts.iter().sum::<f64>() - cases).abs() < 1e-6, "{what}: {verdicts:?} of {cases} cases");
        let derived = self.tool["verdicts_derived"].as_u64().unwrap_or(0);
        assert!(derived <= said as u64, "{what}: {derived} derived of {said}");
        // Nobody finds a target and guesses it in the same trial.
        for trial in trials.iter().filter(|trial| trial["lucky_guess"] == true) {
            assert_eq!(trial["verdict_correct"], true, "{what}: {trial}");
        }
    }
}

/// Every figure makes sense beside the others, whatever the tool and the rules.
#[test]
fn figures_agree_with_each_other() {
    let mut checked = 0;
    for name in names().iter().filter(|name| *name != "agreements") {
        for profile in ["karat", "crb", "identity", "audit", "audit-strict", "owasp", "recorded"] {
            let derived = if profile == "karat" { &["none", "any", "cwe"][..] } else { &["cwe"] };
            for verdicts in derived {
                let project = Project::new();
                let changes = format!("verdict_from={verdicts}");
                let line = [
                    "score",
                    &folder(name),
                    "--profile",
                    profile,
                    "--judge",
                    "none",
                    "--set",
                    &changes,
                    "-o",
                    "r.json",
                    "-q",
                ];
                // A suite without recorded findings has nothing to score, and one that asks to pass may not.
                project.run_list(&line);
                let Ok(text) = std::fs::read_to_string(project.path("r.json")) else { continue };
                let report: Value = serde_json::from_str(&text).unwrap();
                for tool in report["tools"].as_array().unwrap() {
                    let what = format!("{name} {profile} {verdicts} {}", tool["tool"]);
                    Figures { tool, what }.check();
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 100, "{checked}");
}
