//! Metrics corrected for the judge's errors, checked by simulation through the command line: coverage and bias.
//!
//! For every simulated tool the findings, their truth, the judge's answers and the labelled pairs are drawn at random. The true
//! value of a metric is what `karat score` reports when people decide every candidate.

use crate::project::{Project, lines, suite, trial};
use karat_core::stats::random::Random;
use serde_json::{Value, json};

/// The parameters of a simulation.
#[derive(Clone, Copy)]
struct Scenario {
    name: &'static str,
    flags: &'static str,
    cases: usize,
    /// Goldens per case; a fifth of them gets no finding.
    goldens: usize,
    /// Most candidates for a golden. With several, about every third is a candidate for another golden as well.
    candidates: usize,
    /// The probability that a golden with candidates is truly found.
    found: f64,
    /// The probability of a label, by whether the judge calls the pair a match.
    picked: [f64; 2],
}

const UNREPORTED: Scenario = Scenario {
    name: "goldens that nobody reported",
    flags: "--profile recorded",
    cases: 60,
    goldens: 4,
    candidates: 1,
    found: 0.6,
    picked: [0.35, 0.35],
};
const SEVERAL: Scenario = Scenario {
    name: "several candidates for a golden, several goldens for a finding",
    candidates: 3,
    goldens: 3,
    ..UNREPORTED
};
const ONE_TO_ONE: Scenario =
    Scenario { name: "several candidates, assigned one to one", flags: "--judge none", ..SEVERAL };
const RARE: Scenario = Scenario { name: "rare matches", cases: 100, found: 0.08, ..UNREPORTED };
const UNEQUAL: Scenario = Scenario { name: "unequal probabilities", picked: [0.2, 0.6], ..UNREPORTED };
const FEW: Scenario = Scenario { name: "few labels", cases: 45, picked: [0.3, 0.3], ..UNREPORTED };

/// The judge's sensitivity and specificity.
const JUDGE_ACCURACY: f64 = 0.85;

/// Simulated tools per run, and number of runs.
const TOOLS: usize = 25;
const RUNS: usize = 8;

struct Files {
    trials: Vec<Value>,
    judged: Vec<Value>,
    labels: Vec<Value>,
    truth: Vec<Value>,
}

impl Scenario {
    fn project(&self) -> Project {
        let golden = |g: usize| {
            json!({ "id": format!("g{g}"), "title": format!("problem{g}"), "file": format!("d{g}/m{g}.py"), "line_start": 5,
                    "keywords": [format!("problem{g}")] })
        };
        let case =
            |n: usize| json!({ "id": format!("c{n}"), "issues": (0..self.goldens).map(golden).collect::<Vec<_>>() });
        suite(&(0..self.cases).map(case).collect::<Vec<_>>())
    }

    fn simulate_files(&self, random: &mut Random) -> Files {
        let mut files = Files { trials: Vec::new(), judged: Vec::new(), labels: Vec::new(), truth: Vec::new() };
        for tool in 0..TOOLS {
            for case in 0..self.cases {
                self.add_trial(&mut files, random, &format!("t{tool}"), &format!("c{case}"));
            }
        }
        files
    }

    fn add_trial(&self, files: &mut Files, random: &mut Random, tool: &str, case: &str) {
        let mut findings: Vec<Value> = Vec::new();
        for golden in 0..self.goldens {
            if random.unit() < 0.2 {
                continue;
            }
            let mut own: Vec<usize> = Vec::new();
            for _ in 0..1 + random.below(self.candidates) {
                let shared = self.candidates > 1 && !findings.is_empty() && random.unit() < 0.3;
                let finding = if shared { random.below(findings.len()) } else { findings.len() };
                if finding == findings.len() {
                    findings.push(json!({ "id": format!("f{finding}"), "message": format!("report {finding}"),
                                          "file": format!("x{finding}/y{finding}.py"), "line_start": 90 }));
                }
                if !own.contains(&finding) {
                    own.push(finding);
                }
            }
            let (found, reports) = (random.unit() < self.found, random.below(own.len()));
            for (place, finding) in own.into_iter().enumerate() {
                let truth = found && (place == reports || random.unit() < 0.2);
                let says = (random.unit() < JUDGE_ACCURACY) == truth;
                let picked = self.picked[usize::from(says)];
                let line = |judge: &str, says: bool| {
                    json!({ "kind": "pair", "case": case, "tool": tool, "trial": 1, "judge": judge,
                            "golden": format!("g{golden}"), "finding": format!("f{finding}"), "match": says })
                };
                files.judged.push(line("model", says));
                files.truth.push(line("human:all", truth));
                if random.unit() < picked {
                    let mut label = line("human:anna", truth);
                    label["probability"] = json!(picked);
                    files.labels.push(label);
                }
            }
        }
        files.trials.push(trial(case, tool, 1, Value::Array(findings)));
    }
}

/// One corrected metric over all simulated tools.
#[derive(Default)]
struct Outcome {
    /// Value, interval, and true value for this tool.
    estimates: Vec<(f64, [f64; 2], f64)>,
    refused: Vec<String>,
    truths: Vec<f64>,
}

impl Outcome {
    fn add(&mut self, figure: &Value, truth: f64) {
        self.truths.push(truth);
        match figure["refused"].as_str() {
            Some(why) => self.refused.push(why.to_owned()),
            None => {
                let ends = [&figure["ci"][0], &figure["ci"][1]].map(|end| end.as_f64().unwrap());
                self.estimates.push((figure["value"].as_f64().unwrap(), ends, truth));
            }
        }
    }

    /// The bias, and the coverage of the tool's true value and of the mean over all tools.
    fn summary(&self) -> (f64, f64, f64) {
        let all = self.truths.iter().sum::<f64>() / self.truths.len() as f64;
        let n = self.estimates.len() as f64;
        let bias = self.estimates.iter().map(|(value, _, truth)| value - truth).sum::<f64>() / n;
        let coverage = |target: &dyn Fn(f64) -> f64| {
            let covers = |(_, [low, high], truth): &&(f64, [f64; 2], f64)| (*low..=*high).contains(&target(*truth));
            self.estimates.iter().filter(covers).count() as f64 / n
        };
        (bias, coverage(&|truth| truth), coverage(&|_| all))
    }

    /// Nominal coverage is 95 %; 90 % is three standard errors below with 200 tools.
    #[track_caller]
    fn assert_unbiased_with_coverage(&self, what: &str) {
        let (bias, own, all) = self.summary();
        assert!(bias.abs() <= 0.015, "{what}: bias {bias:+.4}");
        assert!(own >= 0.93 && all >= 0.905, "{what}: coverage {own:.3} of the tool's value, {all:.3} of the mean");
    }
}

/// By metric: PPI++ and Rogan–Gladen.
type Outcomes = [[Outcome; 2]; 3];

fn simulate(scenario: Scenario) -> Outcomes {
    let mut outcomes = Outcomes::default();
    let project = scenario.project();
    for run in 0..RUNS {
        let files = scenario.simulate_files(&mut Random::new(11, run as u64));
        project.write("s.jsonl", lines(&files.trials));
        project.write("judged.jsonl", lines(&files.judged));
        project.write("labels.jsonl", lines(&files.labels));
        project.write("truth.jsonl", lines(&files.truth));
        let flags = format!("score . --submission s.jsonl --json --resamples 100 {}", scenario.flags);
        let report = project.json(&format!("{flags} --judgements judged.jsonl --labels labels.jsonl"));
        let truths = project.json(&format!("{flags} --judgements truth.jsonl"));
        let by_tool = |report: &Value, tool: &Value| -> Value {
            report["tools"].as_array().unwrap().iter().find(|own| own["tool"] == *tool).unwrap().clone()
        };
        for tool in report["tools"].as_array().unwrap() {
            let truth = by_tool(&truths, &tool["tool"]);
            for (metric, outcome) in ["precision", "recall", "f1"].iter().zip(&mut outcomes) {
                let corrected = &tool["corrected"][metric];
                let truth = truth["micro"][metric]["value"].as_f64().unwrap();
                outcome[0].add(&corrected["ppi"], truth);
                outcome[1].add(&corrected["rogan_gladen"], truth);
            }
        }
    }
    outcomes
}

/// Both corrections of every metric: rarely refused, unbiased, and with the nominal coverage.
fn check_both_corrections(scenario: Scenario, refused_at_most: [f64; 2]) {
    for (metric, outcomes) in ["precision", "recall", "f1"].iter().zip(&simulate(scenario)) {
        for ((outcome, most), method) in outcomes.iter().zip(refused_at_most).zip(["PPI++", "Rogan–Gladen"]) {
            let what = format!("{}: {metric} by {method}", scenario.name);
            let refused = outcome.refused.len() as f64 / (TOOLS * RUNS) as f64;
            assert!(refused <= most, "{what}: {refused} refused, {:?}", outcome.refused.first());
            // Where most are refused, the rest is not a fair sample.
            if refused < 0.5 {
                outcome.assert_unbiased_with_coverage(&what);
            }
        }
    }
}

/// As [`check_both_corrections`], for scenarios where the Rogan–Gladen correction does not apply and is refused.
fn check_ppi_only(scenario: Scenario) {
    for (metric, [ppi, rogan_gladen]) in ["precision", "recall", "f1"].iter().zip(&simulate(scenario)) {
        assert_eq!(ppi.refused, Vec::<String>::new(), "{}: {metric}", scenario.name);
        ppi.assert_unbiased_with_coverage(&format!("{}: {metric}", scenario.name));
        assert!(
            rogan_gladen.estimates.is_empty()
                && rogan_gladen.refused.iter().all(|why| why.contains("several candidates"))
        );
    }
}

#[test]
fn unreported_goldens() {
    check_both_corrections(UNREPORTED, [0.0, 0.0]);
}

#[test]
fn several_candidates() {
    check_ppi_only(SEVERAL);
}

#[test]
fn several_candidates_assigned_one_to_one() {
    check_ppi_only(ONE_TO_ONE);
}

#[test]
fn rare_matches() {
    // Usually fewer than ten true matches are labelled, too few to estimate the sensitivity.
    check_both_corrections(RARE, [0.05, 1.0]);
}

#[test]
fn unequal_label_probabilities() {
    check_both_corrections(UNEQUAL, [0.1, 0.1]);
}

#[test]
fn few_labels() {
    check_both_corrections(FEW, [0.25, 0.25]);
}
