//! Trials of which an audit answers some questions, or none: what nobody judged is in no figure.

use crate::audits::{audit, check, undefined};
use crate::story::{case, profile, suite, trial};
use karat_core::ids::{CaseId, FindingId, JudgeName, ToolName};
use karat_core::judgement::{AuditDecision, Classification, ClassifiedFinding, Decision, Judgement, TargetAssessment};
use karat_core::scorecard::{Scorecard, score};
use karat_core::trial::Trial;

/// What a person was asked of trial 1 of a case, such as `v1 f1=HALLUCINATED found f2`: classes of findings, then whether the target
/// was `found`, maybe by a finding, or `missed`.
fn asked(line: &str) -> Judgement {
    let mut words = line.split_whitespace();
    let case = CaseId::new(words.next().unwrap());
    let (mut findings, mut target) = (Vec::new(), None);
    while let Some(word) = words.next() {
        match word.split_once('=') {
            Some((finding, class)) => findings.push(ClassifiedFinding {
                classification: Classification::ALL.into_iter().find(|known| known.as_str() == class),
                ..ClassifiedFinding::unasked(FindingId::new(finding))
            }),
            None => {
                let finding = words.next().map(FindingId::new);
                target = Some(TargetAssessment { found: Some(word == "found"), finding, ..Default::default() });
            }
        }
    }
    let decision = Decision::Audit(AuditDecision { findings, target, ..AuditDecision::default() });
    let (tool, judge) = (ToolName::new("t"), JudgeName::new("human:ann"));
    Judgement { case, tool, trial: 1, judge, exchange: None, decision }
}

/// Two vulnerable cases and a safe one with two findings each, in the profile `audit`.
fn partly_audited(asked_of: &[&str]) -> Scorecard {
    let target = "g a.sol:1 sev=high cat=x target | x";
    let cases = vec![case("v1", target), case("v2", target), case("s", "")];
    let trials = ["v1", "v2", "s"].map(|case| trial(case, 1, "f1 a.sol:1 cat=x | drain\nf2 a.sol:9 cat=x | style"));
    let audits: Vec<Judgement> = asked_of.iter().map(|line| asked(line)).collect();
    score(&suite(cases), &trials, &audits, &profile("audit", ""))
}

/// True positives, false positives and misses.
fn counts(card: &Scorecard) -> [usize; 3] {
    let counts = card.tools[0].counts;
    [counts.tp, counts.fp, counts.fn_]
}

const OF_GOLDENS: [&str; 10] = [
    "precision",
    "recall",
    "f1",
    "f2",
    "f_beta",
    "found_any",
    "found_all",
    "severity_weighted_recall",
    "precision_lower",
    "precision_upper",
];

#[test]
fn what_nobody_judged_counts_neither_for_nor_against() {
    // Of v2, people were asked whether the target was found, and not by which finding.
    for audits in [&[][..], &["v2 found"]] {
        let card = partly_audited(audits);
        let tool = &card.tools[0];
        undefined(&tool.metrics, &OF_GOLDENS.map(|id| (id, "no audit")));
        undefined(&tool.metrics, &[("clean_pass", "no audit")]);
        assert!(tool.micro.iter().all(|(_, estimate)| estimate.value.is_none()), "{:?}", tool.micro);
        assert!(tool.by.values().flat_map(|values| values.values()).all(|slice| {
            let stated = slice.metrics.iter().filter(|(id, _)| OF_GOLDENS.contains(id));
            stated.into_iter().all(|(_, estimate)| estimate.value.is_none())
        }));
        assert_eq!((counts(&card), tool.pass), ([0; 3], false));
        assert_eq!(tool.cases[2].trials[0].unlabelled_extras(&profile("audit", "")), [0, 1]);
    }
    check(&partly_audited(&["v2 found"]).tools[0].metrics, &[("target_detection_rate", 1.0)]);
    let nobody = partly_audited(&[]);
    undefined(
        &nobody.tools[0].metrics,
        &[
            ("target_detection_rate", "no audit"),
            ("partial_credit_detection", "no audit"),
            ("severity_weighted_detection", "no vulnerable case has a judged target that states a severity"),
            ("lucky_guess_indicator", "no verdict was given, and `verdict_from` derives none"),
        ],
    );
    // One finding was called false, and nothing is known of the target.
    let card = partly_audited(&["v2 f1=HALLUCINATED"]);
    assert_eq!(counts(&card), [0, 1, 0]);
    undefined(&card.tools[0].metrics, &OF_GOLDENS.map(|id| (id, "no audit")));
    check(&card.tools[0].metrics, &[("hallucination_rate", 1.0)]);
}

#[test]
fn what_was_judged_counts_alone() {
    let found = partly_audited(&["v1 found f1"]);
    assert_eq!(counts(&found), [1, 0, 0]);
    // The other finding may be right or false.
    check(
        &found.tools[0].metrics,
        &[("precision", 1.0), ("recall", 1.0), ("f1", 1.0), ("precision_lower", 0.5), ("precision_upper", 1.0)],
    );
    let recall = found.tools[0].metrics.iter().find(|(id, _)| *id == "recall").unwrap();
    assert_eq!(recall.1.n, 1);
    let missed = partly_audited(&["v1 missed", "v2 f2=BONUS_VALID found f1"]);
    assert_eq!(counts(&missed), [1, 0, 1]);
    check(&missed.tools[0].metrics, &[("recall", 0.5), ("found_any", 0.5), ("precision", 1.0), ("f1", 0.5)]);
    // All that can be asked: as a model's audit that says the same.
    let whole = partly_audited(&["v1 f1=TARGET_MATCH f2=HALLUCINATED found f1"]);
    assert_eq!(counts(&whole), [1, 1, 0]);
    check(&whole.tools[0].metrics, &[("precision", 0.5), ("precision_lower", 0.5), ("precision_upper", 0.5)]);
}

#[test]
fn a_clean_case_passes_once_all_of_its_findings_were_judged() {
    let pass = |classes: &str| {
        let card = partly_audited(&[&format!("s {classes}")]);
        let estimate = &card.tools[0].metrics.iter().find(|(id, _)| *id == "clean_pass").unwrap().1;
        (estimate.value, card.tools[0].cases[2].pass)
    };
    assert_eq!(pass("f1=BONUS_VALID"), (None, false));
    assert_eq!(pass("f1=HALLUCINATED"), (Some(0.0), false));
    assert_eq!(pass("f1=BONUS_VALID f2=HALLUCINATED"), (Some(0.0), false));
    assert_eq!(pass("f1=BONUS_VALID f2=BONUS_VALID"), (Some(1.0), true));
    // The claims of prose are judged as well.
    let safe = suite(vec![case("s", "")]);
    let prose = Trial { response: Some("The owner can drain it.".to_owned()), ..trial("s", 1, "") };
    let clean = |audits: &[Judgement]| {
        let card = score(&safe, std::slice::from_ref(&prose), audits, &profile("audit", ""));
        card.tools[0].metrics.iter().find(|(id, _)| *id == "clean_pass").unwrap().1.value
    };
    assert_eq!((clean(&[]), clean(&[audit("s m no 0.5 - -")])), (None, Some(1.0)));
}

#[test]
fn trials_that_nobody_judged_make_no_golden_flaky_and_no_twin_silent() {
    let one = suite(vec![case("v1", "g a.sol:1 target | x")]);
    let trials = [1, 2].map(|number| trial("v1", number, "f1 a.sol:1 | drain"));
    let card = score(&one, &trials, &[asked("v1 found f1")], &profile("audit", ""));
    check(&card.tools[0].metrics, &[("found_any", 1.0), ("found_all", 1.0), ("recall", 1.0)]);
    undefined(&card.tools[0].metrics, &[("consistency", "too few trials")]);
    assert_eq!(card.tools[0].flaky, []);

    let mut cases = vec![case("v1", "g a.sol:1 target | x"), case("s1", "")];
    cases[0].twin = Some(CaseId::new("s1"));
    let trials = ["v1", "s1"].map(|case| trial(case, 1, "f1 a.sol:1 | drain"));
    let card = score(&suite(cases), &trials, &[asked("v1 found f1")], &profile("audit", ""));
    let none = "no vulnerable case has a safe twin";
    undefined(&card.tools[0].metrics, &[("twin_recall", none), ("twin_recall_silent", none)]);
}

/// A model's audit that lists no findings says nothing of those that the trial has.
#[test]
fn findings_that_an_audit_leaves_out_are_not_precise() {
    let one = suite(vec![case("v1", "g a.sol:1 target | x")]);
    let of = |findings: &str, response: Option<&str>| {
        let response = response.map(str::to_owned);
        let trial = Trial { response, ..trial("v1", 1, findings) };
        score(&one, &[trial], &[audit("v1 m yes 0.9 - exact,.5")], &profile("audit", "")).tools[0].clone()
    };
    let left_out = of("f1 a.sol:1 | drain\nf2 a.sol:9 | style", None);
    let unknown = [
        "finding_precision",
        "finding_precision_confirmed",
        "invalid_rate",
        "hallucination_rate",
        "over_flagging_score",
        "bonus_discovery_rate",
        "sui",
    ];
    undefined(&left_out.metrics, &unknown.map(|id| (id, "no audit")));
    undefined(&left_out.metrics, &[("finding_precision_macro", "no audited finding")]);
    check(&left_out.metrics, &[("target_detection_rate", 1.0), ("mean_rcir", 0.5)]);
    assert_eq!((left_out.audited_findings, left_out.counts.fp), (None, 0));
    for (findings, response) in [("", None), ("", Some("It can be drained."))] {
        check(&of(findings, response).metrics, &[("finding_precision", 1.0), ("over_flagging_score", 0.0)]);
    }
}
