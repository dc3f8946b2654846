//! Every metric of the table, with several profiles: the two values of a comparison equal those in the report.

use super::Project;
use crate::project::{lines, number, suite};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const CASES: usize = 40;

/// A small deterministic generator (LCG).
struct Rng(u64);

impl Rng {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn pick<'w>(&mut self, words: &[&'w str]) -> &'w str {
        words[self.below(words.len() as u64) as usize]
    }
}

fn is_safe(at: usize) -> bool {
    at % 4 == 3
}

/// Cases of three categories, two languages and five repositories; every fourth is safe and the twin of the case before it.
fn case(at: usize) -> Value {
    let id = super::case_id(at);
    let category = ["injection", "crypto", "races"][at % 3];
    let golden = |name: &str, line: usize, severity: &str, target: bool| {
        json!({ "id": name, "title": format!("{name} is broken"), "file": "app.py", "line_start": line, "line_end": line + 2,
            "keywords": [name], "severity": severity, "category": category, "rule_id": name, "target": target })
    };
    let language = ["python", "go"][at % 2];
    let severity = ["critical", "low"][at % 2];
    let mut case = json!({ "id": id, "language": language, "repo": format!("repo-{}", at % 5),
        "categories": [category], "cwe": [89], "verdict": if is_safe(at) { "safe" } else { "vulnerable" }, "issues": [] });
    if is_safe(at) {
        case["twin"] = json!(super::case_id(at - 1));
    } else {
        case["issues"] = json!([golden("query", 10, severity, true), golden("update", 50, "medium", false)]);
    }
    case
}

/// Adds three trials of a case, some of them failed, with findings, verdict and confidence, and their audits.
fn add_trials(tool: &str, at: usize, rng: &mut Rng, submitted: &mut Vec<Value>, audits: &mut Vec<Value>) {
    let id = super::case_id(at);
    for number in 1..=3 {
        let outcome = match rng.below(12) {
            0 => "crashed",
            1 => "timed_out",
            _ => "reported",
        };
        let mut trial = json!({ "case": id, "tool": tool, "trial": number, "outcome": outcome });
        if outcome != "reported" {
            submitted.push(trial);
            continue;
        }
        let (mut findings, mut classified) = (Vec::new(), Vec::new());
        let hit = !is_safe(at) && rng.below(3) > 0;
        for (name, line) in [("query", 10), ("update", 50)] {
            let found = !is_safe(at) && if name == "query" { hit } else { rng.below(2) > 0 };
            if found {
                let line = line + rng.below(3);
                findings.push(json!({ "id": name, "title": format!("{name} is broken"), "file": "app.py", "line_start": line,
                    "line_end": line + 2, "rule_id": name, "cwe": [89], "severity": rng.pick(&["critical", "high", "low"]),
                    "confidence": 0.5 + rng.below(6) as f64 / 10.0 }));
                let class = if name == "query" { "TARGET_MATCH" } else { rng.pick(&["BONUS_VALID", "PARTIAL_MATCH"]) };
                classified.push(json!({ "finding": name, "classification": class }));
            }
        }
        for extra in 0..rng.below(3) {
            let name = format!("x{extra}");
            let mut finding = json!({ "id": name, "title": "a name is too short", "file": "other.py", "line_start": 900 + extra,
                "rule_id": "names", "category": rng.pick(&["injection", "style"]) });
            if rng.below(4) > 0 {
                finding["confidence"] = json!(rng.below(9) as f64 / 10.0);
                finding["severity"] = json!(rng.pick(&["medium", "info"]));
            }
            findings.push(finding);
            let class = rng.pick(&[
                "HALLUCINATED",
                "MISCHARACTERIZED",
                "DESIGN_CHOICE",
                "OUT_OF_SCOPE",
                "SECURITY_THEATER",
                "INFORMATIONAL",
                "BONUS_VALID",
            ]);
            classified.push(json!({ "finding": name, "classification": class }));
        }
        let says_vulnerable = hit || rng.below(4) == 0;
        let stated_confidence = rng.below(11) as f64 / 10.0;
        trial["findings"] = json!(findings);
        trial["verdict"] = json!(if says_vulnerable { "vulnerable" } else { "safe" });
        trial["confidence"] = json!(stated_confidence);
        submitted.push(trial);
        let level = |rng: &mut Rng| rng.below(5) as f64 / 4.0;
        let mut audit = json!({ "case": id, "tool": tool, "trial": number, "judge": "m", "kind": "audit", "said_vulnerable": says_vulnerable,
            "confidence_expressed": stated_confidence, "findings": classified });
        if !is_safe(at) {
            audit["target"] = if hit {
                json!({ "found": true, "finding": "query", "type_match": rng.pick(&["exact", "semantic", "partial"]),
                    "rcir": level(rng), "ava": level(rng), "fsv": level(rng) })
            } else {
                json!({ "found": false })
            };
        }
        audits.push(audit);
    }
}

fn project() -> Project {
    let project = suite(&(0..CASES).map(case).collect::<Vec<_>>());
    let (mut submitted, mut audits) = (Vec::new(), Vec::new());
    for (tool, seed) in [("a", 1), ("b", 2)] {
        let mut rng = Rng(seed);
        (0..CASES).for_each(|at| add_trials(tool, at, &mut rng, &mut submitted, &mut audits));
    }
    project.write("submissions/all.jsonl", lines(&submitted));
    project.write("audits.jsonl", lines(&audits));
    project
}

/// The headline value of a metric in the report: the macro average where the profile asks for one.
fn headline_value(report: &Value, tool: usize, id: &str) -> Option<f64> {
    let tool = &report["tools"][tool];
    let by = report["profile"]["headline_macro_by"].as_str();
    let headline = by.map(|by| &tool["macro_by"][by][id]).filter(|estimate| estimate.is_object());
    headline.unwrap_or(&tool["metrics"][id])["value"].as_f64()
}

/// All but those that only a fixer measures.
fn metric_ids(project: &Project) -> Vec<String> {
    let all = project.json("metrics list --json");
    let metrics = all.as_array().or_else(|| all["metrics"].as_array()).unwrap();
    let findings_metrics = metrics.iter().filter(|metric| metric["track"] == "findings");
    let ids = findings_metrics.map(|metric| metric["id"].as_str().unwrap().to_owned());
    ids.filter(|id| !id.starts_with("fix_through")).collect()
}

/// Compares two sides by these metrics and checks the values against the report. Returns the metrics with a value on both
/// sides, and those of them without a test.
fn check_comparison(
    project: &Project,
    sides: &str,
    report: &Value,
    tools: [usize; 2],
    metric_ids: &[String],
) -> [BTreeSet<String>; 2] {
    let flags: String = metric_ids.iter().map(|id| format!(" --metric {id}")).collect();
    let output = project.ok(&format!("compare {sides} --json{flags}"));
    let zero = |line: &&str| line.trim_end_matches(',').ends_with("-0.0");
    assert_eq!(output.lines().find(zero), None, "negative zero in the output");
    let output: Value = serde_json::from_str(&output).unwrap();
    let warnings: Vec<&str> = output["warnings"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let [mut with_value, mut untested] = [BTreeSet::new(), BTreeSet::new()];
    for difference in output["comparisons"][0]["metrics"].as_array().unwrap() {
        let id = difference["metric"].as_str().unwrap();
        let expected = tools.map(|tool| headline_value(report, tool, id));
        // At a smaller number of trials than a side has, its figure is another one.
        let has_fewer_trials = warnings.iter().any(|warning| warning.starts_with(&format!("{id} depends on")));
        if has_fewer_trials {
            with_value.insert(id.to_owned());
            continue;
        }
        for (end, expected) in ["a", "b"].into_iter().zip(expected) {
            let got = difference[end].as_f64();
            let same = match (got, expected) {
                (Some(got), Some(expected)) => (got - expected).abs() < 1e-9,
                (got, expected) => got.is_none() && expected.is_none(),
            };
            assert!(same, "{sides}: {id}: {end} is {got:?}, and the report states {expected:?}: {difference}");
        }
        let [Some(a), Some(b)] = expected else {
            assert!(!difference["because"].as_str().unwrap().is_empty());
            continue;
        };
        assert!((number(difference, "/difference") - (b - a)).abs() < 1e-9, "{difference}");
        with_value.insert(id.to_owned());
        if difference["p"].is_null() {
            assert!(!difference["because"].as_str().unwrap().is_empty());
            untested.insert(id.to_owned());
        }
    }
    [with_value, untested]
}

/// Profile, changes to it, and the least number of metrics with a value on both sides.
const PROFILES: [(&str, &str, usize); 8] = [
    ("karat", "", 65),
    ("karat", "--set failed_trials=exclude --set headline_macro_by=language", 70),
    ("crb", "", 70),
    ("audit", "", 70),
    ("audit-strict", "", 70),
    ("recorded", "", 67),
    ("owasp", "", 49),
    ("identity", "", 70),
];

#[test]
fn comparison_values_equal_report_values() {
    let project = project();
    let metric_ids = metric_ids(&project);
    let mut covered = BTreeSet::new();
    for (profile, changes, least) in PROFILES {
        project.run(&format!("score . --judge none --judgements audits.jsonl --profile {profile} {changes} -o r.json"));
        let report: Value = serde_json::from_str(&project.read("r.json")).unwrap();
        let [with_value, untested] = check_comparison(&project, "r.json --tools a,b", &report, [0, 1], &metric_ids);
        assert!(
            with_value.len() >= least,
            "{profile} {changes}: only {} have a value: {with_value:?}",
            with_value.len()
        );
        // Not testable: a metric over all tools at once, and means over labels of single findings.
        let by_label = ["precision", "recall"].into_iter().filter(|_| profile == "owasp");
        let allowed: BTreeSet<String> = by_label.chain(["sui_rank_stability"]).map(str::to_owned).collect();
        assert!(untested.is_subset(&allowed), "{profile} {changes}: {untested:?} cannot be compared");
        let flags: String = metric_ids.iter().map(|id| format!(" --metric {id}")).collect();
        project.run(&format!("baseline write r.json --tool a -o base.json{flags}")).expect(0);
        let baseline_values = check_comparison(&project, "base.json r.json --tools a", &report, [0, 0], &metric_ids);
        assert_eq!(baseline_values[0], with_value.iter().cloned().collect(), "{profile} {changes}");
        let gate = project.run(&format!("gate r.json --tool a --no-worse-than base.json --json{flags}"));
        let gate: Value = serde_json::from_str(&gate.out).unwrap();
        for demand in gate["demands"].as_array().unwrap() {
            let id = demand["metric"].as_str().unwrap();
            let (Some(value), why) = (headline_value(&report, 0, id), demand["why"].as_str().unwrap()) else {
                continue;
            };
            let shown = karat_report::number::three(Some(value));
            let shown = format!("{shown} → {shown}");
            assert!(why.starts_with(&shown), "{profile} {changes}: {id}: {why}, and the report states {value}");
        }
        covered.extend(with_value);
    }
    let missing: Vec<&String> = metric_ids.iter().filter(|id| !covered.contains(*id)).collect();
    assert!(missing.is_empty(), "no profile gives a value for {missing:?}");
}

/// Values outside a metric's range, and values that do not follow from the report's cases, are violations.
#[test]
fn implausible_values_of_any_metric_are_reported() {
    use karat::plausibility::check_report;
    use karat_core::metric::table::{Basis, basis};
    use karat_format::report::ReportV1;
    let project = project();
    project.run("score . --judge none --judgements audits.jsonl --profile crb -o r.json");
    let report: ReportV1 = serde_json::from_str(&project.read("r.json")).unwrap();
    assert_eq!(check_report(&report), [""; 0]);
    let assert_violation = |change: &dyn Fn(&mut karat_format::report::EstimateV1), id: &str, field: &str| {
        let mut report = report.clone();
        change(report.tools[1].metrics.get_mut(id).unwrap());
        let path = format!("tools[1].metrics.{id}.{field}: ");
        let found = check_report(&report);
        assert!(found.iter().any(|violation| violation.starts_with(&path)), "{path}: {found:?}");
    };
    let mut tried = 0;
    for id in metric_ids(&project) {
        let metric = karat_core::metric::table::find(&id).unwrap();
        let (low, high) = metric.range();
        let Some(value) = report.tools[1].metrics.get(&id).and_then(|estimate| estimate.value) else { continue };
        tried += 1;
        assert_violation(&|estimate| estimate.value = Some(low - 0.01), &id, "value");
        assert_violation(&|estimate| estimate.ci = Some([low - 0.5, value]), &id, "ci");
        if high < f64::MAX {
            assert_violation(&|estimate| estimate.value = Some(high + 6.5), &id, "value");
            assert_violation(&|estimate| estimate.ci = Some([value, high + 0.1]), &id, "ci");
        }
        assert_violation(&|estimate| estimate.ci = Some([value + 0.01, value]), &id, "ci");
        assert_violation(&|estimate| estimate.se = Some(-0.1), &id, "se");
        assert_violation(&|estimate| estimate.unreliable = !estimate.unreliable, &id, "unreliable");
        if metric.aggregation == karat_core::metric::table::Aggregation::MeanOfCases {
            assert_violation(&|estimate| estimate.n = CASES + 1, &id, "n");
        }
        if !matches!(basis(&id), Some(Basis::Whole(_))) {
            let other = if value > (low + high.min(1.0)) / 2.0 { value - 0.05 } else { value + 0.05 };
            assert_violation(&|estimate| estimate.value = Some(other), &id, "value");
        }
    }
    assert!(tried >= 70, "{tried}");
}

/// The confidence stays at 0.9 while the accuracy falls from 0.9 to 0.5.
#[test]
fn gate_fails_when_calibration_gets_worse() {
    let cases: Vec<Value> = (0..CASES).map(case).collect();
    let project = suite(&cases);
    let submit = |wrong: usize| {
        let trial = |at: usize| {
            let right = at % 10 >= wrong;
            json!({ "case": super::case_id(at), "tool": "t", "trial": 1, "outcome": "reported", "findings": [], "confidence": 0.9,
                "verdict": if is_safe(at) == right { "safe" } else { "vulnerable" } })
        };
        project.write("submissions/all.jsonl", lines(&(0..CASES).map(trial).collect::<Vec<_>>()));
    };
    submit(1);
    super::score_to_file(&project, "old.json", "");
    submit(5);
    super::score_to_file(&project, "new.json", "");
    project.run("baseline write old.json --metric ece --metric mce --metric brier -o base.json").expect(0);
    for old in ["base.json", "old.json --metric ece --metric mce --metric brier"] {
        let ran = project.run(&format!("gate new.json --no-worse-than {old} -v")).expect(1);
        assert_eq!(ran.out.matches("0.000 → 0.400").count(), 2, "{}", ran.out);
        project.run(&format!("gate old.json --no-worse-than {old}")).expect(0);
    }
}

/// A baseline of an older version may lack the sums that a metric needs.
#[test]
fn baseline_without_sums_asks_to_be_rewritten() {
    let project = project();
    project.run("score . --judge none --judgements audits.jsonl --profile audit -o r.json").expect(0);
    project.run("baseline write r.json --metric invalid_rate --metric ece --metric f1 -o base.json").expect(0);
    let mut base: Value = serde_json::from_str(&project.read("base.json")).unwrap();
    for tool in base["tools"].as_array_mut().unwrap() {
        for case in tool["cases"].as_array_mut().unwrap() {
            let Some(sums) = case.get_mut("sums").and_then(Value::as_object_mut) else { continue };
            sums.retain(|name, _| name != "audits" && !name.ends_with(".weight"));
        }
    }
    project.write("old.json", base.to_string());
    let ran = project.run("gate r.json --no-worse-than old.json --json").expect(3);
    let gate: Value = serde_json::from_str(&ran.out).unwrap();
    for demand in gate["demands"].as_array().unwrap() {
        let why = demand["why"].as_str().unwrap();
        assert_eq!(why.contains("write it again"), demand["metric"] != "f1", "{demand}");
    }
    // A metric missing from the baseline is named together with the flag that adds it.
    let ran = project.run("gate r.json --no-worse-than base.json --metric sui -v").expect(3);
    assert!(ran.out.contains("--metric sui"), "{}", ran.out);
}

#[test]
fn cases_counted_on_one_side_only_are_excluded() {
    for (outcome, flags) in [("crashed", "--set failed_trials=exclude"), ("unavailable", "")] {
        check_exclusion(outcome, flags);
    }
}

fn check_exclusion(failed_outcome: &str, flags: &str) {
    let project = suite(&(0..CASES).map(case).collect::<Vec<_>>());
    let mut all = Vec::new();
    for tool in ["a", "b"] {
        for at in 0..CASES {
            let failed = tool == "b" && at < 5;
            let outcome = if failed { failed_outcome } else { "reported" };
            let verdict = if at % 3 == 0 { "vulnerable" } else { "safe" };
            let mut trial = json!({ "case": super::case_id(at), "tool": tool, "trial": 1, "outcome": outcome });
            if !failed {
                trial["findings"] = json!([]);
                trial["verdict"] = json!(verdict);
            }
            all.push(trial);
        }
    }
    project.write("submissions/all.jsonl", lines(&all));
    super::score_to_file(&project, "r.json", flags);
    let json = project.json("compare r.json --json --metric accuracy --metric recall --metric tpr");
    for difference in json["comparisons"][0]["metrics"].as_array().unwrap() {
        assert_eq!(difference["left_out"], 5, "{difference}");
        let because = difference["because"].as_str().unwrap();
        assert!(because.starts_with("both have the same value in every case"), "{difference}");
    }
    let output = project.ok("compare r.json --metric accuracy");
    assert!(output.contains("5 cases excluded: only one side has trials that count"), "{output}");
}

/// An outage loses no golden: no table is about cases that one side never reported.
#[test]
fn goldens_of_cases_without_a_report_are_not_lost() {
    let project = super::graded_suite(20, 1, &[("a", |_| (2, 0)), ("b", |_| (2, 0))]);
    let without_report = |line: &str| {
        let mut trial: Value = serde_json::from_str(line).unwrap();
        let is_out = trial["tool"] == "b" && trial["case"].as_str().unwrap() < super::case_id(8).as_str();
        if is_out {
            (trial["outcome"], trial["findings"]) = (json!("unavailable"), json!([]));
        }
        trial
    };
    let all: Vec<Value> = project.read("submissions/all.jsonl").lines().map(without_report).collect();
    project.write("submissions/all.jsonl", lines(&all));
    super::score_to_file(&project, "r.json", "");
    let json = project.json("compare r.json --json --metric recall");
    let pair = &json["comparisons"][0];
    assert_eq!((&pair["goldens"]["lost"], &pair["goldens"]["p"]), (&json!([]), &json!(1.0)), "{pair}");
    // Of the 12 others two are clean.
    assert_eq!(pair["goldens"]["both"], 20);
    assert_eq!(pair["moved"], json!([]));
}

/// With more trials more is found in some of them, which makes no tool better.
#[test]
fn metrics_over_trials_are_compared_at_the_same_number_of_trials() {
    let project = super::graded_suite(24, 1, &[("t", |_| (2, 0))]);
    let trials = |count: u32| {
        let mut all = Vec::new();
        for at in 0..24 {
            for number in 1..=count {
                // Every other trial finds both goldens.
                let found = if (at as u32 + number).is_multiple_of(2) { 2 } else { 0 };
                all.push(crate::project::trial(&super::case_id(at), "t", number, super::findings(at, (found, 0))));
            }
        }
        lines(&all)
    };
    for (count, report) in [(1, "one.json"), (4, "four.json")] {
        project.write("submissions/all.jsonl", trials(count));
        super::score_to_file(&project, report, "");
    }
    let flags = "--metric found_any --metric found_all --metric consistency";
    let json = project.json(&format!("compare one.json four.json --json {flags}"));
    for at in [0, 1] {
        let difference = &json["comparisons"][0]["metrics"][at];
        crate::project::near(difference, "/a", 10.0 / 22.0);
        crate::project::near(difference, "/b", 0.5);
        assert_eq!(difference["verdict"], "inconclusive", "{difference}");
    }
    let warnings = json["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|own| own.as_str().unwrap().starts_with("found_any depends on")), "{warnings:?}");
    // One trial agrees with itself, which says nothing.
    assert_eq!(json["comparisons"][0]["metrics"][2]["verdict"], "inconclusive");
    // So are the ranks of tools of one report.
    let both = trials(1).replace("\"t\"", "\"few\"") + "\n" + &trials(4).replace("\"t\"", "\"many\"");
    project.write("submissions/all.jsonl", both);
    super::score_to_file(&project, "both.json", "");
    let json = project.json("compare both.json --ranks --metric found_any --json");
    crate::project::near(&json, "/ranks/pairs/0/difference", 10.0 / 22.0 - 0.5);
}
