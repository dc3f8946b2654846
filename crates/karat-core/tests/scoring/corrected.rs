//! Pooled figures without the judge's errors.

use crate::story::{case, judgement, profile, suite, trial};
use karat_core::ids::CaseId;
use karat_core::judgement::{Decision, Judgement};
use karat_core::scorecard::{CorrectedTool, Picked, corrected, picked, score};
use karat_core::stats::correct::Refused;
use karat_core::stats::random::Random;
use karat_core::suite::Suite;
use karat_core::trial::Trial;

/// What the judge and people say of one pair in each of so many cases.
struct Told {
    suite: Suite,
    trials: Vec<Trial>,
    judged: Vec<Judgement>,
    labels: Vec<Judgement>,
}

fn about(number: usize, who: &str, says: bool, probability: Option<f64>) -> Judgement {
    let mut said = judgement(&format!("{who} g1 f1 {}", if says { "yes" } else { "no" }));
    said.case = CaseId::new(format!("c{number}"));
    if let Decision::Pair(pair) = &mut said.decision {
        pair.probability = probability;
    }
    said
}

/// One golden and one finding a case; `of` says what is true, what the judge says, and with which chance it is labelled.
fn told(cases: usize, mut of: impl FnMut(usize) -> (bool, bool, Option<Option<f64>>)) -> Told {
    let mut told = Told { suite: suite(Vec::new()), trials: Vec::new(), judged: Vec::new(), labels: Vec::new() };
    for number in 0..cases {
        let name = format!("c{number}");
        told.suite.cases.push(case(&name, "g1 a.py:5 kw=sql | x"));
        told.trials.push(trial(&name, 1, "f1 a.py:5 | sql"));
        let (truth, says, label) = of(number);
        told.judged.push(about(number, "model", says, None));
        told.labels.extend(label.map(|probability| about(number, "human:a", truth, probability)));
    }
    told
}

fn figures(told: &Told) -> Option<CorrectedTool> {
    let rules = profile("recorded", "");
    let card = score(&told.suite, &told.trials, &told.judged, &rules);
    corrected(&card, &told.suite, &told.trials, &told.labels, &rules, 0.95).into_iter().next()
}

#[test]
fn by_hand() {
    // Of 100 cases the judge calls 60 a match. Of 40 labelled ones, every tenth call of either kind is wrong.
    let told = told(100, |n| {
        let says = n % 5 < 3;
        let wrong = n < 40 && n % 10 == if n < 20 { 0 } else { 3 };
        (says != wrong, says, (n < 40).then_some(None))
    });
    assert_eq!(picked(&told.labels), Picked::Alike);
    let found = figures(&told).unwrap();
    assert_eq!((found.findings, found.goldens), (40, 40));
    assert_eq!(found.precision.raw, Some(0.6));
    // Labelled: 24 called a match, 2 of them wrongly; 16 not, 2 of them wrongly. se 22/24, sp 14/16.
    let (se, sp) = (22.0 / 24.0, 14.0 / 16.0);
    let expected = (0.6 + sp - 1.0) / (se + sp - 1.0);
    assert!((found.precision.rogan_gladen.unwrap().value - expected).abs() < 1e-12);
    let ppi = found.precision.ppi.unwrap();
    assert!((ppi.value - 0.6).abs() < 1e-9, "{ppi:?}");
    // Every case has one golden and one finding, so that all three are the same figure.
    assert_eq!(found.recall, found.precision);
    assert!((found.f1.ppi.unwrap().value - ppi.value).abs() < 1e-12);
}

#[test]
fn what_nobody_could_be_wrong_about_is_left_as_it_is() {
    let mut told = told(80, |n| (n % 2 == 0, n % 2 == 0, Some(None)));
    // As many goldens again in trials without a finding, and as many findings in a case without goldens.
    for number in 80..160 {
        let name = format!("c{number}");
        told.suite.cases.push(case(&name, "g1 a.py:5 kw=sql | x"));
        told.trials.push(trial(&name, 1, ""));
    }
    let found = figures(&told).unwrap();
    assert_eq!((found.precision.raw, found.recall.raw), (Some(0.5), Some(0.25)));
    assert!((found.recall.ppi.unwrap().value - 0.25).abs() < 1e-9);
    // 2·40 / (80 findings + 160 goldens).
    assert!((found.f1.raw.unwrap() - 80.0 / 240.0).abs() < 1e-12);
}

#[test]
fn too_few_labels_and_judges_that_tell_nothing_are_refused() {
    let few = figures(&told(60, |n| (n % 2 == 0, n % 2 == 0, (n < 12).then_some(None)))).unwrap();
    assert_eq!((few.precision.rogan_gladen, few.precision.ppi), (Err(Refused::FewLabels), Err(Refused::FewLabels)));
    // Right and wrong as often, whatever the truth.
    let coin = figures(&told(80, |n| (n % 2 == 0, n % 4 < 2, Some(None)))).unwrap();
    assert_eq!(coin.precision.rogan_gladen, Err(Refused::JudgeTellsNothing));
    assert_eq!(figures(&told(40, |n| (n % 2 == 0, true, None))), None);
}

#[test]
fn labels_without_a_probability_are_left_out_beside_those_with_one() {
    let mixed = told(90, |n| (n % 2 == 0, n % 2 == 0, Some((n < 60).then_some(0.5))));
    assert_eq!(picked(&mixed.labels), Picked::Stated { left_out: 30 });
    assert_eq!(figures(&mixed).unwrap().findings, 60);
}

/// Of 300 simulated runs nineteen in twenty must hold the truth, labels picked at random by how sure the judge is.
#[test]
fn corrected_intervals_hold_the_truth() {
    let mut random = Random::new(5, 0);
    let (mut ppi, mut gladen, mut raw, mut all) = (0, 0, 0, 0);
    for _ in 0..300 {
        let told = told(300, |_| {
            let truth = random.unit() < 0.4;
            let says = random.unit() < if truth { 0.7 } else { 0.05 };
            let chance = if says { 0.5 } else { 0.25 };
            (truth, says, (random.unit() < chance).then_some(Some(chance)))
        });
        let found = figures(&told).unwrap();
        let (a, b) = (found.f1.ppi.unwrap(), found.f1.rogan_gladen.unwrap());
        ppi += usize::from(a.interval.holds(0.4));
        gladen += usize::from(b.interval.holds(0.4));
        raw += usize::from((found.f1.raw.unwrap() - 0.4).abs() < (a.interval.high - a.interval.low) / 2.0);
        all += 1;
    }
    // Five standard deviations below 95 % of 300; what the judge says alone is off more often.
    assert!(ppi * 100 >= all * 88 && gladen * 100 >= all * 88, "PPI++ {ppi}, Rogan–Gladen {gladen} of {all}");
    assert!(raw < ppi, "{raw}, {ppi}");
}
