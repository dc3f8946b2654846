use super::*;
use crate::metric::table::{METRICS, find};
use crate::profile::DetectionPart;

fn profile() -> Profile {
    toml::from_str(include_str!("../../../../karat/profiles/karat.toml")).unwrap()
}

const PRECISIONS: &[&str] = &["precision", "f1", "f2", "f_beta", "precision_lower", "precision_upper"];
const BINNED: &[&str] = &["ece", "ece_debiased", "ece_adaptive", "mce", "finding_ece", "finding_ece_debiased"];
const OF_AUDITED_FINDINGS: [&str; 11] = [
    "finding_precision",
    "finding_precision_macro",
    "finding_precision_confirmed",
    "invalid_rate",
    "hallucination_rate",
    "mischaracterized_rate",
    "design_choice_rate",
    "out_of_scope_rate",
    "security_theater_rate",
    "informational_rate",
    "harm_weighted_invalid_rate",
];
const COMPOSITES: [&str; 3] = ["sui", "true_understanding_score", "true_understanding_geometric"];
const DEVIATIONS: &[&str] = &["std_rcir", "std_ava", "std_fsv"];

/// Makes sure that a change of the profile changes the formulas of these metrics and of no others.
fn check(change: fn(&mut Profile), expect: &[&str]) {
    let before = profile();
    let mut after = profile();
    change(&mut after);
    let differs = |metric: &&Metric| applied_formula(metric, &before) != applied_formula(metric, &after);
    let mut found: Vec<&str> = METRICS.iter().filter(differs).map(|metric| metric.id).collect();
    let mut expect = expect.to_vec();
    found.sort_unstable();
    expect.sort_unstable();
    assert_eq!(found, expect);
}

#[test]
fn each_value_of_a_profile_shows_in_the_formulas_it_changes() {
    check(|_| {}, &[]);
    check(|p| p.duplicates_are_false = !p.duplicates_are_false, PRECISIONS);
    check(|p| p.acceptable_are_false = !p.acceptable_are_false, PRECISIONS);
    check(|p| p.undefined_is_zero = !p.undefined_is_zero, &[PRECISIONS, &["recall"]].concat());
    check(|p| p.beta = 3.0, &["f_beta"]);
    check(|p| p.severity_weights.low = 0.7, &["severity_weighted_recall", "severity_weighted_detection"]);
    check(|p| p.credit.partial = 0.3, &["partial_credit_detection"]);
    check(|p| p.credit.unconfirmed_bonus = 0.3, &["finding_precision_confirmed"]);
    check(|p| p.harm_weights.design_choice = 0.3, &["harm_weighted_invalid_rate"]);
    check(|p| p.calibration.bins = 15, BINNED);
    check(|p| p.calibration.overconfident_above = 0.9, &["overconfidence_rate"]);
    check(|p| p.calibration.underconfident_below = 0.4, &["underconfidence_rate"]);
    check(|p| p.sui.reasoning = 0.5, &["sui"]);
    check(|p| p.composites.detection = DetectionPart::PartialCreditDetection, &COMPOSITES);
    check(|p| p.composites.precision = PrecisionPart::FindingPrecisionConfirmed, &COMPOSITES);
    check(|p| p.composites.mean = CompositeMean::Geometric, &["sui", "true_understanding_score"]);
    check(|p| p.audit_conventions.no_findings_is_precise = true, &OF_AUDITED_FINDINGS);
    check(|p| p.audit_conventions.population_std = true, DEVIATIONS);
    check(
        |p| p.audit_conventions.zero_confidence_in_no_bin = true,
        &["ece", "ece_debiased", "mce", "finding_ece", "finding_ece_debiased"],
    );
    check(|p| p.audit_conventions.sui_fills_missing = true, &["sui", "sui_rank_stability"]);
    check(|p| p.audit_conventions.bonus_is_any_valid_beyond_target = true, &["bonus_discovery_rate"]);
}

#[test]
fn weights_are_those_that_are_applied() {
    let mut own = profile();
    let formula = |profile: &Profile| find("sui").map(|metric| applied_formula(metric, profile)).unwrap();
    assert_eq!(
        formula(&own),
        "0.25 verdict_f2 + 0.25 target_detection_rate + 0.15 finding_precision + 0.25 reasoning + 0.1 (1 − ece)"
    );
    own.sui.reasoning = 0.0;
    own.sui.calibration = 0.35;
    own.sui.verdict_f2 = 1.25;
    assert_eq!(
        formula(&own),
        "0.625 verdict_f2 + 0.125 target_detection_rate + 0.075 finding_precision + 0.175 (1 − ece)"
    );
    own.composites.detection = DetectionPart::PartialCreditDetection;
    own.composites.mean = CompositeMean::Geometric;
    assert_eq!(
        formula(&own),
        "verdict_f2^0.625 · partial_credit_detection^0.125 · finding_precision^0.075 · (1 − ece)^0.175"
    );
}
