//! Every metric of the table, over several profiles: what a comparison starts and ends with is what the report states.

use super::Project;
use crate::project::{lines, number, suite};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const CASES: usize = 40;

/// Numbers that look random and are the same everywhere.
struct Dice(u64);

impl Dice {
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

/// Cases of three categories, two languages and five repositories; every fourth is safe, and the fix of the case before it.
fn case(at: usize) -> Value {
    let id = super::name(at);
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
        case["twin"] = json!(super::name(at - 1));
    } else {
        case["issues"] = json!([golden("query", 10, severity, true), golden("update", 50, "medium", false)]);
    }
    case
}

/// Three trials of a case, some of which fail, each with findings, a verdict, how sure it is, and an audit.
fn trials(tool: &str, at: usize, dice: &mut Dice, submitted: &mut Vec<Value>, audits: &mut Vec<Value>) {
    let id = super::name(at);
    for number in 1..=3 {
        let outcome = match dice.below(12) {
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
        let hit = !is_safe(at) && dice.below(3) > 0;
        for (name, line) in [("query", 10), ("update", 50)] {
            let found = !is_safe(at) && if name == "query" { hit } else { dice.below(2) > 0 };
            if found {
                let line = line + dice.below(3);
                findings.push(json!({ "id": name, "title": format!("{name} is broken"), "file": "app.py", "line_start": line,
                    "line_end": line + 2, "rule_id": name, "cwe": [89], "severity": dice.pick(&["critical", "high", "low"]),
                    "confidence": 0.5 + dice.below(6) as f64 / 10.0 }));
                let class = if name == "query" { "TARGET_MATCH" } else { dice.pick(&["BONUS_VALID", "PARTIAL_MATCH"]) };
                classified.push(json!({ "finding": name, "classification": class }));
            }
        }
        for extra in 0..dice.below(3) {
            let name = format!("x{extra}");
            let mut finding = json!({ "id": name, "title": "a name is too short", "file": "other.py", "line_start": 900 + extra,
                "rule_id": "names", "category": dice.pick(&["injection", "style"]) });
            if dice.below(4) > 0 {
                finding["confidence"] = json!(dice.below(9) as f64 / 10.0);
                finding["severity"] = json!(dice.pick(&["medium", "info"]));
            }
            findings.push(finding);
            let class = dice.pick(&[
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
        let says = hit || dice.below(4) == 0;
        let sure = dice.below(11) as f64 / 10.0;
        trial["findings"] = json!(findings);
        trial["verdict"] = json!(if says { "vulnerable" } else { "safe" });
        trial["confidence"] = json!(sure);
        submitted.push(trial);
        let level = |dice: &mut Dice| dice.below(5) as f64 / 4.0;
        let mut audit = json!({ "case": id, "tool": tool, "trial": number, "judge": "m", "kind": "audit", "said_vulnerable": says,
            "confidence_expressed": sure, "findings": classified });
        if !is_safe(at) {
            audit["target"] = if hit {
                json!({ "found": true, "finding": "query", "type_match": dice.pick(&["exact", "semantic", "partial"]),
                    "rcir": level(dice), "ava": level(dice), "fsv": level(dice) })
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
        let mut dice = Dice(seed);
        (0..CASES).for_each(|at| trials(tool, at, &mut dice, &mut submitted, &mut audits));
    }
    project.write("submissions/all.jsonl", lines(&submitted));
    project.write("audits.jsonl", lines(&audits));
    project
}

/// What the report's own tables show of a metric: where the headline is a mean over parts, that.
fn stated(report: &Value, tool: usize, id: &str) -> Option<f64> {
    let tool = &report["tools"][tool];
    let by = report["profile"]["headline_macro_by"].as_str();
    let headline = by.map(|by| &tool["macro_by"][by][id]).filter(|estimate| estimate.is_object());
    headline.unwrap_or(&tool["metrics"][id])["value"].as_f64()
}

fn ids(project: &Project) -> Vec<String> {
    let all = project.json("metrics list --json");
    let metrics = all.as_array().or_else(|| all["metrics"].as_array()).unwrap();
    let of_findings = metrics.iter().filter(|metric| metric["track"] == "findings");
    of_findings.map(|metric| metric["id"].as_str().unwrap().to_owned()).collect()
}

/// Compares two sides by all of these metrics, and holds what is said against what the reports state. Says which of them have a
/// value on both sides, and which of these have no interval.
fn check(project: &Project, sides: &str, report: &Value, tools: [usize; 2], ids: &[String]) -> [BTreeSet<String>; 2] {
    let flags: String = ids.iter().map(|id| format!(" --metric {id}")).collect();
    let told = project.ok(&format!("compare {sides} --json{flags}"));
    let zero = |line: &&str| line.trim_end_matches(',').ends_with("-0.0");
    assert_eq!(told.lines().find(zero), None, "a zero has a sign");
    let told: Value = serde_json::from_str(&told).unwrap();
    let [mut with_value, mut untested] = [BTreeSet::new(), BTreeSet::new()];
    for difference in told["comparisons"][0]["metrics"].as_array().unwrap() {
        let id = difference["metric"].as_str().unwrap();
        let expected = tools.map(|tool| stated(report, tool, id));
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

/// So many metrics have a value on both sides, by profile and what is changed of it.
const PROFILES: [(&str, &str, usize); 7] = [
    ("karat", "", 65),
    ("karat", "--set failed_trials=exclude --set headline_macro_by=language", 70),
    ("crb", "", 70),
    ("audit", "", 70),
    ("recorded", "", 67),
    ("owasp", "", 49),
    ("identity", "", 70),
];

#[test]
fn a_comparison_states_what_the_report_states() {
    let project = project();
    let ids = ids(&project);
    let mut met = BTreeSet::new();
    for (profile, changes, least) in PROFILES {
        project.run(&format!("score . --judge none --judgements audits.jsonl --profile {profile} {changes} -o r.json"));
        let report: Value = serde_json::from_str(&project.read("r.json")).unwrap();
        let [with_value, untested] = check(&project, "r.json --tools a,b", &report, [0, 1], &ids);
        assert!(
            with_value.len() >= least,
            "{profile} {changes}: only {} have a value: {with_value:?}",
            with_value.len()
        );
        // Everything is tested but what is about all tools at once, and what is a mean over labels of single findings.
        let by_label = ["precision", "recall"].into_iter().filter(|_| profile == "owasp");
        let allowed: BTreeSet<String> = by_label.chain(["sui_rank_stability"]).map(str::to_owned).collect();
        assert!(untested.is_subset(&allowed), "{profile} {changes}: {untested:?} cannot be compared");
        let flags: String = ids.iter().map(|id| format!(" --metric {id}")).collect();
        project.run(&format!("baseline write r.json --tool a -o base.json{flags}")).expect(0);
        let of_baseline = check(&project, "base.json r.json --tools a", &report, [0, 0], &ids);
        assert_eq!(of_baseline[0], with_value.iter().cloned().collect(), "{profile} {changes}");
        let gate = project.run(&format!("gate r.json --tool a --no-worse-than base.json --json{flags}"));
        let gate: Value = serde_json::from_str(&gate.out).unwrap();
        for demand in gate["demands"].as_array().unwrap() {
            let id = demand["metric"].as_str().unwrap();
            let (Some(value), why) = (stated(&report, 0, id), demand["why"].as_str().unwrap()) else { continue };
            let shown = karat_report::number::three(Some(value));
            let shown = format!("{shown} → {shown}");
            assert!(why.starts_with(&shown), "{profile} {changes}: {id}: {why}, and the report states {value}");
        }
        met.extend(with_value);
    }
    let missing: Vec<&String> = ids.iter().filter(|id| !met.contains(*id)).collect();
    assert!(missing.is_empty(), "no suite has a value of {missing:?}");
}

/// Every metric of the table has its range, and what cannot be is refused wherever it stands; so is a figure that the cases of the
/// file do not come to.
#[test]
fn an_impossible_value_of_any_metric_is_refused() {
    use karat::plausibility::check_report;
    use karat_core::metric::basis::{Basis, basis};
    use karat_format::report::ReportV1;
    let project = project();
    project.run("score . --judge none --judgements audits.jsonl --profile crb -o r.json");
    let report: ReportV1 = serde_json::from_str(&project.read("r.json")).unwrap();
    assert_eq!(check_report(&report), []);
    let refused = |change: &dyn Fn(&mut karat_format::report::EstimateV1), id: &str, field: &str| {
        let mut report = report.clone();
        change(report.tools[1].metrics.get_mut(id).unwrap());
        let path = format!("tools[1].metrics.{id}.{field}");
        let found = check_report(&report);
        assert!(found.iter().any(|violation| violation.path == path), "{path}: {found:?}");
    };
    let mut tried = 0;
    for id in ids(&project) {
        let metric = karat_core::metric::table::find(&id).unwrap();
        let (low, high) = metric.range();
        let Some(value) = report.tools[1].metrics.get(&id).and_then(|estimate| estimate.value) else { continue };
        tried += 1;
        refused(&|estimate| estimate.value = Some(low - 0.01), &id, "value");
        refused(&|estimate| estimate.ci = Some([low - 0.5, value]), &id, "ci");
        if high < f64::MAX {
            refused(&|estimate| estimate.value = Some(high + 6.5), &id, "value");
            refused(&|estimate| estimate.ci = Some([value, high + 0.1]), &id, "ci");
        }
        refused(&|estimate| estimate.ci = Some([value + 0.01, value]), &id, "ci");
        refused(&|estimate| estimate.se = Some(-0.1), &id, "se");
        refused(&|estimate| estimate.unreliable = !estimate.unreliable, &id, "unreliable");
        if metric.aggregation == karat_core::metric::table::Aggregation::MeanOfCases {
            refused(&|estimate| estimate.n = CASES + 1, &id, "n");
        }
        if !matches!(basis(&id), Some(Basis::Whole(_))) {
            let other = if value > (low + high.min(1.0)) / 2.0 { value - 0.05 } else { value + 0.05 };
            refused(&|estimate| estimate.value = Some(other), &id, "value");
        }
    }
    assert!(tried >= 70, "{tried}");
}

/// A tool that is as sure as it is right, and later as sure as before, and mostly wrong.
#[test]
fn a_gate_sees_calibration_fall() {
    let cases: Vec<Value> = (0..CASES).map(case).collect();
    let project = suite(&cases);
    let submit = |wrong: usize| {
        let trial = |at: usize| {
            let right = at % 10 >= wrong;
            json!({ "case": super::name(at), "tool": "t", "trial": 1, "outcome": "reported", "findings": [], "confidence": 0.9,
                "verdict": if is_safe(at) == right { "safe" } else { "vulnerable" } })
        };
        project.write("submissions/all.jsonl", lines(&(0..CASES).map(trial).collect::<Vec<_>>()));
    };
    submit(1);
    super::scored(&project, "old.json", "");
    submit(5);
    super::scored(&project, "new.json", "");
    project.run("baseline write old.json --metric ece --metric mce --metric brier -o base.json").expect(0);
    for old in ["base.json", "old.json --metric ece --metric mce --metric brier"] {
        let ran = project.run(&format!("gate new.json --no-worse-than {old}")).expect(1);
        assert_eq!(ran.out.matches("0.000 → 0.400").count(), 2, "{}", ran.out);
        project.run(&format!("gate old.json --no-worse-than {old}")).expect(0);
    }
}

/// What an older version wrote may lack sums that a figure is made of; that is said, and no figure is made up.
#[test]
fn a_baseline_that_lacks_sums_is_to_be_written_again() {
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
    // A metric that was not kept is named, and how to keep it.
    let ran = project.run("gate r.json --no-worse-than base.json --metric sui").expect(3);
    assert!(ran.out.contains("--metric sui"), "{}", ran.out);
}

/// A case whose trials count on one side only is compared on neither.
#[test]
fn cases_that_count_on_one_side_only_are_left_out() {
    let project = suite(&(0..CASES).map(case).collect::<Vec<_>>());
    let mut all = Vec::new();
    for tool in ["a", "b"] {
        for at in 0..CASES {
            let failed = tool == "b" && at < 5;
            let outcome = if failed { "crashed" } else { "reported" };
            let verdict = if at % 3 == 0 { "vulnerable" } else { "safe" };
            let mut trial = json!({ "case": super::name(at), "tool": tool, "trial": 1, "outcome": outcome });
            if !failed {
                trial["findings"] = json!([]);
                trial["verdict"] = json!(verdict);
            }
            all.push(trial);
        }
    }
    project.write("submissions/all.jsonl", lines(&all));
    super::scored(&project, "r.json", "--set failed_trials=exclude");
    let told = project.json("compare r.json --json --metric accuracy --metric recall --metric tpr");
    for difference in told["comparisons"][0]["metrics"].as_array().unwrap() {
        assert_eq!(difference["left_out"], 5, "{difference}");
        let because = difference["because"].as_str().unwrap();
        assert!(because.starts_with("both have the same value in every case"), "{difference}");
    }
    let seen = project.ok("compare r.json --metric accuracy");
    assert!(seen.contains("5 cases excluded: only one side has trials that count"), "{seen}");
}
