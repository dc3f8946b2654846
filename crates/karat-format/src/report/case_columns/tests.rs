use super::*;
use crate::report::EstimateV1;
use serde_json::{Value, json};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Tool {
    #[serde(with = "super")]
    cases: Vec<CaseResultV1>,
}

/// A trial in which everything a bare trial can say depends on a number.
fn trial(number: usize) -> TrialResultV1 {
    let bit = |at: usize| number >> at & 1 == 1;
    TrialResultV1 {
        trial: number as u32 + 1,
        detail: DetailV1::None,
        outcome: Outcome::ALL[number % Outcome::ALL.len()],
        counted: bit(0),
        notes: ThinVec::new(),
        verdict: [None, Some(Verdict::Vulnerable), Some(Verdict::Safe)][number % 3],
        verdict_correct: (!number.is_multiple_of(4)).then_some(bit(1)),
        lucky_guess: bit(2).then_some(bit(1)),
        confidence: bit(3).then_some(number as f64 / 7.0),
        calibration_error: bit(3).then_some(number as f64 / 9.0),
        tp: number % 5,
        fp: number % 2 * 3,
        r#fn: number / 30,
        untouched_extras: number % 11 / 10,
        findings: ThinVec::new(),
        matches: ThinVec::new(),
        misses: ThinVec::new(),
        extras: ThinVec::new(),
        duplicates: ThinVec::new(),
        acceptable: ThinVec::new(),
        audit: None,
    }
}

fn refusal_of(columns: Value) -> String {
    serde_json::from_value::<Tool>(json!({ "cases": columns })).unwrap_err().to_string()
}

fn case(number: usize, trials: std::ops::Range<usize>) -> CaseResultV1 {
    let rare = format!("confidence@0.{number}.right");
    CaseResultV1 {
        case: format!("case-{number}"),
        pass: number.is_multiple_of(2),
        metrics: MetricsV1::new(),
        values: [("f1", number as f64 / 3.0), ("recall", 0.0), ("same", 1.0)]
            .into_iter()
            .filter(|(name, _)| *name != "recall" || number.is_multiple_of(2))
            .collect(),
        sums: [("tp", number as f64), (rare.as_str(), 1.0), ("fn", -0.5)]
            .into_iter()
            .filter(|(_, sum)| *sum != 0.0)
            .collect(),
        untouched_extras: number % 3,
        trials: trials.map(trial).collect(),
    }
}

fn cases(count: usize) -> Tool {
    // Some cases have no trial.
    Tool { cases: (0..count).map(|number| case(number, number..number + number % 4)).collect() }
}

#[test]
fn cases_without_details_come_back_from_columns() {
    for count in [0, 1, 2, 3, 10, 70] {
        let tool = cases(count);
        let text = serde_json::to_string(&tool).unwrap();
        assert_eq!(serde_json::from_str::<Tool>(&text).unwrap(), tool, "{text}");
        let is_list = serde_json::from_str::<Value>(&text).unwrap()["cases"].is_array();
        assert_eq!(is_list, count < 2, "{text}");
    }
}

#[test]
fn cases_with_details_are_a_list() {
    let bare = cases(6);
    let with = |change: fn(&mut CaseResultV1)| {
        let mut tool = Tool { cases: bare.cases.clone() };
        change(&mut tool.cases[5]);
        let value = serde_json::to_value(&tool).unwrap();
        assert!(value["cases"].is_array(), "{value}");
    };
    with(|case| case.trials[0].detail = DetailV1::Misses);
    with(|case| case.trials[0].notes.push("read half of it".to_owned()));
    with(|case| {
        case.metrics.insert("f1".to_owned(), EstimateV1::default());
    });
}

#[test]
fn column_is_written_in_its_shortest_form() {
    let text = |numbers: &[Option<f64>]| serde_json::to_string(&ColumnV1::new(numbers.iter().copied())).unwrap();
    let (one, half, nothing) = (Some(1.0), Some(0.5), None);
    assert_eq!(text(&[one, one, one]), "1");
    assert_eq!(text(&[Some(0.0), Some(-0.0)]), "[0,-0.0]");
    assert_eq!(text(&[one, half, nothing, Some(-0.0)]), "[1,0.5,null,-0.0]");
    assert_eq!(text(&[nothing, nothing, nothing, half]), r#"{"at":[3],"is":[0.5]}"#);
    assert_eq!(text(&[Some(9_007_199_254_740_993.0)]), "9007199254740992.0");
}

#[test]
fn columns_that_do_not_fit_together_are_refused() {
    let written = serde_json::to_value(cases(6)).unwrap();
    let refused = |pointer: &str, value: Value, why: &str| {
        let mut changed = written.clone();
        *changed.pointer_mut(&format!("/cases/{pointer}")).unwrap_or_else(|| panic!("{pointer}: {written:#}")) = value;
        let message = serde_json::from_value::<Tool>(changed).unwrap_err().to_string();
        assert!(message.contains(why), "{message}");
    };
    refused("values/f1", json!([1, 2]), "values.f1: 2 numbers for 6 rows");
    refused("values/f1", json!({ "at": [6], "is": [1] }), "values.f1: a position beyond 6 rows");
    refused("values/f1", json!({ "at": [2, 2], "is": [1, 2] }), "values.f1: positions that do not rise");
    refused("case/1", json!("case-0"), "`case-0` is there twice");
    refused("sums/tp", json!({ "at": [1, 2], "is": [1] }), "sums.tp: 2 positions of 1 number");
    refused("trials_of_case", json!([1]), "trials_of_case: 1 number for 6 rows");
    refused("trials_of_case/0", json!(1), "trials.trial: 7 trials");
    refused("trials_of_case/0", json!(u64::MAX), "is no count");
    refused("trials_of_case", json!(1_u64 << 52), "trials.trial: 7 trials");
    refused("trials/tp", json!(0.5), "trials.tp: 0.5 is no count");
    refused("trials/fp", json!(-1), "trials.fp: -1 is no count");
    refused("trials/fp", json!(u64::MAX), "is no count");
    refused(
        "trials/outcome",
        json!({ "reported": 1, "crashed": [0, 0, 0, 1, 0, 0, 0] }),
        "trials.outcome: trial 3 of 7 has two",
    );
    refused("trials/outcome", json!({}), "trials.outcome: trial 0 of 7 has none");
    refused("pass", json!("yes"), "ColumnV1");
}

#[test]
fn a_sum_of_zero_is_none() {
    let sums = |number: usize| [("fn", 1.0), ("tp", 0.0)].into_iter().take(1 + number).collect();
    let with_sums = |number| CaseResultV1 { sums: sums(number), ..case(number, 0..1) };
    let once = serde_json::to_string(&Tool { cases: vec![with_sums(0), with_sums(1)] }).unwrap();
    let again: Tool = serde_json::from_str(&once).unwrap();
    assert_eq!(serde_json::to_string(&again).unwrap(), once);
    assert!(once.contains(r#""sums":{"fn":1}"#), "{once}");
}

/// Small files that stand for many numbers.
#[test]
fn few_columns_stand_for_many_numbers() {
    let names: Vec<String> = (0..40_000).map(|n| n.to_string()).collect();
    let columns = |count: usize| -> BTreeMap<String, u8> { (0..count).map(|n| (format!("x{n}"), 1)).collect() };
    let trials = json!({ "trial": [] });
    let message = refusal_of(json!({ "case": names, "values": columns(33), "trials": trials }));
    assert!(message.contains("33 columns have the same number for all 40000 cases"), "{message}");
    let few = json!({ "cases": { "case": ["a"], "values": columns(1_000), "trials": trials } });
    assert_eq!(serde_json::from_value::<Tool>(few).unwrap().cases[0].values.iter().count(), 1_000);
    // What is written is read.
    let tool = |case: &String| CaseResultV1 {
        case: case.clone(),
        values: (0..40).map(|n| (format!("x{n}"), 1.0)).collect(),
        trials: vec![trial(0)],
        ..case_without_figures()
    };
    let many = Tool { cases: names.iter().map(tool).collect() };
    let read: Tool = serde_json::from_str(&serde_json::to_string(&many).unwrap()).unwrap();
    assert!(read == many);
}

fn case_without_figures() -> CaseResultV1 {
    CaseResultV1 { values: FiguresV1::default(), sums: FiguresV1::default(), trials: Vec::new(), ..case(0, 0..0) }
}
