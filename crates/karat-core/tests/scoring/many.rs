//! What keeps a large suite small: rounded confidences, parts of a suite, and repeated notes.

use crate::story::{case, finding, profile, suite, trial};
use karat_core::metric::levels::MOST_CONFIDENCES;
use karat_core::scorecard::{CaseScore, Scorecard, TrialScore, score};
use karat_core::suite::Suite;
use karat_core::trial::Trial;

fn one_case() -> Suite {
    suite(vec![case("c", "g a.py:10 | the query is built from input")])
}

fn scored(suite: &Suite, trials: &[Trial]) -> Scorecard {
    score(suite, trials, &[], &profile("karat", ""))
}

#[test]
fn confidences_are_rounded_only_where_there_are_very_many() {
    let level = |count: usize| {
        let mut one = trial("c", 1, "f a.py:10 | the query is built from input");
        let noise = one.findings[0].clone();
        one.findings[0].confidence = Some(0.123_456);
        one.findings.extend((1..count).map(|at| {
            let mut finding = noise.clone();
            finding.id = format!("n{at}").as_str().into();
            finding.confidence = Some(at as f64 / (count as f64 * 2.0) + 0.5);
            finding
        }));
        let card = scored(&one_case(), &[one]);
        card.tools[0].cases[0].levels.cells().next().unwrap().0.level
    };
    assert_eq!(level(MOST_CONFIDENCES), 0.123_456);
    assert_eq!(level(MOST_CONFIDENCES + 1), 0.123);
}

#[test]
fn categories_that_findings_alone_state_are_skipped_where_there_are_many() {
    let check = |count: usize, parts: usize| {
        let mut cases = one_case();
        cases.cases[0].goldens[0].category = Some("injection".to_owned());
        let mut one = trial("c", 1, "f a.py:10 | the query is built from input");
        one.findings.extend((0..count).map(|at| {
            let mut finding = finding(&format!("n{at} lib/other.py:300 | a name is short"));
            finding.category = Some(format!("category {at}"));
            finding
        }));
        let card = scored(&cases, &[one]);
        assert_eq!(card.tools[0].by["category"].len(), parts, "{count}");
        let warned = card.warnings.iter().any(|warning| warning.contains("categories that the suite does not name"));
        assert_eq!(warned, count > 100, "{:?}", card.warnings);
    };
    check(100, 101);
    check(101, 1);
}

#[test]
fn equal_notes_are_one_warning() {
    let trials: Vec<Trial> = (1..=5)
        .map(|number| {
            let mut one = trial("c", number, "");
            one.notes = vec!["a file was not read".to_owned()];
            one.notes.extend((number == 2).then(|| "out of memory".to_owned()));
            one
        })
        .collect();
    let notes = |trials: &[Trial]| {
        let warnings = scored(&one_case(), trials).warnings.into_iter();
        let mentions = |warning: &String| warning.contains("not read") || warning.contains("memory");
        warnings.filter(mentions).map(|warning| warning.split_once(": ").unwrap().1.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        notes(&trials),
        ["a file was not read (5 times: c trial 1, c trial 2, c trial 3, and 2 more)", "c trial 2: out of memory"]
    );
    assert_eq!(notes(&trials[..2])[0], "a file was not read (c trial 1, c trial 2)");
    assert_eq!(notes(&trials[..1]), ["c trial 1: a file was not read"]);
}

#[test]
fn figures_of_a_case_and_a_trial_are_small() {
    // A large suite has millions of them.
    assert!(size_of::<CaseScore>() <= 120, "{}", size_of::<CaseScore>());
    assert!(size_of::<TrialScore>() <= 176, "{}", size_of::<TrialScore>());
}
