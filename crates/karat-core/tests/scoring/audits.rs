//! Tiers 2 to 7 by hand, from five audited cases; and what they are without audits, findings, targets or confidence.

use crate::story::{case, profile, suite, trial};
use karat_core::ids::{CaseId, FindingId, JudgeName, ToolName};
use karat_core::judgement::{
    AuditDecision, Classification, ClassifiedFinding, Decision, Expressed, Judgement, TargetAssessment, TypeMatch,
};
use karat_core::metric::table::{METRICS, Track};
use karat_core::scorecard::{Metrics, Scorecard, score};
use karat_core::suite::Suite;
use karat_core::trial::{Outcome, Trial};

/// `case judge said confidence classes target`, such as `v1 m yes 0.9 TB exact,1,.5,.75`; `-` for nothing, `no` for a target missed.
///
/// Classes: Target, Partial, Bonus, Hallucinated, Mischaracterized, Design choice, Out of scope, Security theater, Informational.
pub(crate) fn audit(line: &str) -> Judgement {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [case, judge, said, confidence, classes, target] = words.as_slice() else { panic!("{line}") };
    let class = |(index, letter): (usize, char)| ClassifiedFinding {
        classification: Some(Classification::ALL["TPBHMDOSI".find(letter).unwrap()]),
        ..ClassifiedFinding::unasked(FindingId::new(format!("response:{index}")))
    };
    let parts: Vec<&str> = target.split(',').collect();
    let rated = |index: usize| parts.get(index).and_then(|text| text.parse().ok());
    let assessment = TargetAssessment {
        found: Some(*target != "no"),
        finding: None,
        type_match: TypeMatch::ALL.into_iter().find(|level| level.as_str() == parts[0]),
        rcir: rated(1),
        ava: rated(2),
        fsv: rated(3),
    };
    Judgement {
        case: CaseId::new(*case),
        tool: ToolName::new("t"),
        trial: 1,
        judge: JudgeName::new(*judge),
        exchange: None,
        decision: Decision::Audit(AuditDecision {
            said_vulnerable: Some((*said != "-").then_some(*said == "yes").into()),
            confidence_expressed: Some(confidence.parse().ok().into()),
            findings: classes.chars().filter(|c| *c != '-').enumerate().map(class).collect(),
            target: (*target != "-").then_some(assessment),
            explanation: None,
        }),
    }
}

/// Three vulnerable cases and two safe ones, of which one is the first one's fix.
fn five() -> Suite {
    let mut cases = vec![
        case("v1", "g a.sol:1 sev=critical target | x"),
        case("v2", "g a.sol:1 sev=low target | x"),
        case("v3", "g a.sol:1 sev=high target | x"),
        case("s1", ""),
        case("s2", ""),
    ];
    cases[0].twin = Some(CaseId::new("s1"));
    suite(cases)
}

const AUDITS: &str =
    "v1 m yes 0.9 TB exact,1,.5,.75\n v2 m yes 0.7 H no\n v3 m - 0 P no\n s1 m no 0.6 - -\n s2 m yes 0.95 HS -";

fn scored(suite: &Suite, audits: &str, name: &str) -> Scorecard {
    let trials: Vec<Trial> = suite.cases.iter().map(|case| trial(case.id.as_str(), 1, "")).collect();
    let audits: Vec<Judgement> = audits.lines().filter(|line| !line.trim().is_empty()).map(audit).collect();
    score(suite, &trials, &audits, &profile(name, ""))
}

#[track_caller]
pub(crate) fn check(metrics: &Metrics, expect: &[(&str, f64)]) {
    for (id, expect) in expect {
        let got = metrics.iter().find(|(own, _)| own == id).unwrap_or_else(|| panic!("{id}")).1.value;
        assert!(got.is_some_and(|value| (value - expect).abs() < 1e-12), "{id}: {got:?}, expected {expect}");
    }
}

#[track_caller]
pub(crate) fn undefined(metrics: &Metrics, expect: &[(&str, &str)]) {
    for (id, reason) in expect {
        let estimate = &metrics.iter().find(|(own, _)| own == id).unwrap_or_else(|| panic!("{id}")).1;
        assert_eq!((estimate.value, estimate.undefined), (None, Some(*reason)), "{id}");
    }
}

#[test]
fn five_cases_by_hand() {
    let card = scored(&five(), AUDITS, "karat");
    let metrics = &card.tools[0].metrics;
    check(
        metrics,
        &[
            ("accuracy", 3.0 / 5.0),
            ("verdict_f2", 10.0 / 15.0),
            ("target_detection_rate", 1.0 / 3.0),
            // Weights 3, 0.5 and 2.
            ("severity_weighted_detection", 3.0 / 5.5),
            ("partial_credit_detection", 1.5 / 3.0),
            ("lucky_guess_rate", 1.0 / 2.0),
            ("bonus_discovery_rate", 1.0 / 5.0),
            ("twin_recall", 1.0),
            ("finding_precision", 3.0 / 6.0),
            ("finding_precision_macro", 2.0 / 4.0),
            ("finding_precision_confirmed", 2.0 / 6.0),
            ("invalid_rate", 3.0 / 6.0),
            ("hallucination_rate", 2.0 / 6.0),
            ("security_theater_rate", 1.0 / 6.0),
            ("mischaracterized_rate", 0.0),
            ("design_choice_rate", 0.0),
            ("out_of_scope_rate", 0.0),
            ("informational_rate", 0.0),
            ("harm_weighted_invalid_rate", 2.75 / 6.0),
            ("over_flagging_score", 3.0 / 5.0),
            ("mean_rcir", 1.0),
            ("mean_ava", 0.5),
            ("mean_fsv", 0.75),
            ("reasoning", 0.75),
            ("exact_match_rate", 1.0),
            ("semantic_match_rate", 1.0),
            ("partial_match_rate", 0.0),
            ("ece", (0.1 + 0.3 + 0.0 + 0.4 + 0.95) / 5.0),
            ("ece_adaptive", (0.1 + 0.3 + 0.0 + 0.4 + 0.95) / 5.0),
            ("mce", 0.95),
            ("brier", (0.01 + 0.09 + 0.0 + 0.16 + 0.9025) / 5.0),
            ("overconfidence_rate", 0.5),
            ("underconfidence_rate", 0.0),
            ("sui", 0.25 * 2.0 / 3.0 + 0.25 / 3.0 + 0.15 * 0.5 + 0.25 * 0.75 + 0.1 * 0.65),
            ("true_understanding_score", 0.125),
            ("true_understanding_geometric", 0.5),
            ("lucky_guess_indicator", 0.6 - 1.0 / 3.0),
        ],
    );
    undefined(
        metrics,
        &[
            ("ece_debiased", "no two cases state a confidence in the same bin"),
            ("std_rcir", "fewer than two targets were found and rated"),
            ("sui_rank_stability", "fewer than two tools have an SUI"),
        ],
    );
    let lucky: Vec<String> = card.tools[0].lucky.iter().map(|g| format!("{} {}", g.case, g.trial)).collect();
    assert_eq!(lucky, ["v2 1"]);
    assert_eq!(card.tools[0].reliability.len(), 5);
    // Every metric of the table is there, once, in its order.
    let ids: Vec<&str> = metrics.iter().map(|(id, _)| *id).collect();
    assert_eq!(
        ids,
        METRICS.iter().filter(|metric| metric.track == Track::Findings).map(|metric| metric.id).collect::<Vec<_>>()
    );
}

/// What the `audit` profile counts as the metrics framework does.
#[test]
fn the_conventions_of_the_framework() {
    let card = scored(&five(), AUDITS, "audit");
    check(
        &card.tools[0].metrics,
        &[
            // v3's only valid finding is not accounted for by a found target.
            ("bonus_discovery_rate", 2.0 / 5.0),
            // The case without findings counts 1.
            ("finding_precision_macro", 3.0 / 5.0),
            ("std_rcir", 0.0),
            ("std_ava", 0.0),
            ("accuracy", 3.0 / 5.0),
        ],
    );
    let bare = scored(&suite(vec![case("v", "g a.sol:1 target | x")]), "v m yes - - -", "audit");
    check(
        &bare.tools[0].metrics,
        &[
            ("finding_precision", 1.0),
            ("invalid_rate", 0.0),
            ("hallucination_rate", 0.0),
            // F2 1, no target, finding precision 1, no reasoning, no confidence.
            ("sui", 0.25 + 0.0 + 0.15 + 0.0 + 0.05),
        ],
    );
    let zero = |name: &str| scored(&suite(vec![case("s", "")]), "s m no 0 - -", name).tools[0].metrics.clone();
    check(&zero("karat"), &[("ece", 1.0)]);
    check(&zero("audit"), &[("ece", 0.0)]);
}

/// The composites of `audit-strict`: near misses have partial credit, and a bonus that no person confirmed has none.
#[test]
fn strict_composites_by_hand() {
    let strict = scored(&five(), AUDITS, "audit-strict");
    let parts: [(f64, f64); 5] = [(2.0 / 3.0, 0.25), (0.5, 0.25), (1.0 / 3.0, 0.15), (0.75, 0.25), (0.65, 0.1)];
    check(
        &strict.tools[0].metrics,
        &[
            ("target_detection_rate", 1.0 / 3.0),
            ("partial_credit_detection", 0.5),
            ("finding_precision", 0.5),
            ("finding_precision_confirmed", 1.0 / 3.0),
            ("ece", 0.35),
            ("sui", parts.iter().map(|(part, weight)| libm::pow(*part, *weight)).product()),
            ("true_understanding_score", libm::cbrt(0.5 * 0.75 / 3.0)),
            ("true_understanding_geometric", libm::cbrt(0.5 * 0.75 / 3.0)),
        ],
    );
    // All other figures are those of the published profile.
    let plain = scored(&five(), AUDITS, "audit");
    let composites = ["sui", "true_understanding_score", "true_understanding_geometric"];
    for ((id, own), (_, other)) in strict.tools[0].metrics.iter().zip(&plain.tools[0].metrics) {
        assert!(own.value == other.value || composites.contains(id), "{id}: {own:?} {other:?}");
    }
}

#[test]
fn missing_data_is_undefined_with_a_reason() {
    let none = scored(&five(), "", "karat");
    let audits = METRICS.iter().filter(|m| m.tier == 3 || m.id == "bonus_discovery_rate").map(|m| (m.id, "no audit"));
    undefined(&none.tools[0].metrics, &audits.collect::<Vec<_>>());
    let of_tier_5 = METRICS.iter().filter(|m| m.tier == 5).map(|m| (m.id, "no audit"));
    undefined(&none.tools[0].metrics, &of_tier_5.collect::<Vec<_>>());
    undefined(
        &none.tools[0].metrics,
        &[
            ("mean_rcir", "no audit"),
            ("reasoning", "no target was found and rated"),
            ("sui", "no audit"),
            ("true_understanding_score", "no target was found and rated"),
            ("sui_rank_stability", "no audit"),
            ("brier", "no verdict states a confidence"),
            ("ece", "no verdict states a confidence"),
            ("ece_debiased", "no verdict states a confidence"),
            ("overconfidence_rate", "no verdict is confident enough"),
        ],
    );
    // Found by a match or not, a target needs no audit.
    check(&none.tools[0].metrics, &[("target_detection_rate", 0.0), ("twin_recall", 0.0)]);
    let safe = scored(&suite(vec![case("s", "")]), "s m no 0.5 - -", "karat");
    undefined(
        &safe.tools[0].metrics,
        &[
            ("target_detection_rate", "no vulnerable case has a judged target"),
            ("severity_weighted_detection", "no vulnerable case has a judged target that states a severity"),
            ("partial_credit_detection", "no vulnerable case has a judged target"),
            ("lucky_guess_rate", "no vulnerable case with a judged target was called vulnerable"),
            ("twin_recall", "no vulnerable case has a safe twin"),
            ("finding_precision", "no audited finding"),
            ("finding_precision_macro", "no audited finding"),
            ("harm_weighted_invalid_rate", "no audited finding"),
            ("mean_rcir", "no target was found and rated"),
            ("exact_match_rate", "no target was found with its type judged"),
            ("overconfidence_rate", "no verdict is confident enough"),
            ("underconfidence_rate", "no verdict is doubtful enough"),
            ("lucky_guess_indicator", "no vulnerable case has a judged target"),
        ],
    );
}

/// A bonus counts in full once a person calls it true, and a failed trial finds no target.
#[test]
fn people_confirm_and_failures_find_nothing() {
    let one = suite(vec![case("v1", "g a.sol:1 target | x")]);
    let by =
        |judge: &str| scored(&one, &format!("v1 {judge} yes 0.9 TB exact,1,1,1"), "karat").tools[0].metrics.clone();
    check(&by("m"), &[("finding_precision_confirmed", 0.5)]);
    check(&by("human:ann"), &[("finding_precision_confirmed", 1.0)]);
    let crashed = Trial { outcome: Outcome::Crashed, ..trial("v1", 2, "") };
    let card =
        score(&one, &[trial("v1", 1, ""), crashed], &[audit("v1 m yes 0.9 TB exact,1,1,1")], &profile("audit", ""));
    check(
        &card.tools[0].metrics,
        &[
            ("target_detection_rate", 0.5),
            ("bonus_discovery_rate", 0.5),
            ("over_flagging_score", 0.0),
            ("mean_rcir", 1.0),
            ("lucky_guess_rate", 0.0),
        ],
    );
}

#[test]
fn unaudited_trials_are_undefined_unless_silent() {
    let one = suite(vec![case("v1", "g a.sol:1 target | x")]);
    let of = |trial: Trial| {
        let card = score(&one, &[trial], &[], &profile("audit", ""));
        let tool = &card.tools[0];
        let warned = card.warnings.iter().any(|warning| warning.contains("not audited"));
        (
            tool.cases[0].trials[0].target_found,
            tool.metrics.iter().find(|(id, _)| *id == "target_detection_rate").unwrap().1.value,
            warned,
        )
    };
    let (found, rate, warned) = of(trial("v1", 1, "f1 a.sol:1 | drain"));
    assert!(found.is_none() && rate.is_none() && warned);
    let prose = Trial { response: Some("It can be drained.".to_owned()), ..trial("v1", 1, "") };
    assert_eq!((of(prose.clone()).0, of(prose).2), (None, true));
    let (found, rate, warned) = of(trial("v1", 1, ""));
    assert_eq!((found, rate, warned), (Some(false), Some(0.0), false));
}

/// An audit of trial 1 on v1: `judge f1=TARGET_MATCH f2=HALLUCINATED | f1`, where the finding after the bar is the target.
fn audit_of_findings(line: &str) -> Judgement {
    let (words, target) = line.split_once('|').unwrap_or((line, ""));
    let mut words = words.split_whitespace();
    let judge = JudgeName::new(words.next().unwrap());
    let classified = |word: &str| {
        let (finding, class) = word.split_once('=').unwrap();
        let class = Classification::ALL.into_iter().find(|known| known.as_str() == class).unwrap();
        ClassifiedFinding { classification: Some(class), ..ClassifiedFinding::unasked(FindingId::new(finding)) }
    };
    let by = Some(target.trim()).filter(|target| !target.is_empty()).map(FindingId::new);
    let rcir = (!judge.is_human()).then_some(0.75);
    let found =
        |finding| TargetAssessment { found: Some(true), finding: Some(finding), rcir, ..TargetAssessment::default() };
    Judgement {
        case: CaseId::new("v1"),
        tool: ToolName::new("t"),
        trial: 1,
        judge,
        exchange: None,
        decision: Decision::Audit(AuditDecision {
            said_vulnerable: Some(Expressed::Value(true)),
            findings: words.map(classified).collect(),
            target: by.map(found),
            ..AuditDecision::default()
        }),
    }
}

#[test]
fn a_model_completes_the_audit_of_people() {
    let suite = suite(vec![case("v1", "g a.sol:1 sev=critical target | x")]);
    let trials = [trial("v1", 1, "f1 a.sol:1 | drain\nf2 a.sol:9 | style\nf3 a.sol:20 | typo")];
    let describe = |audits: &[&str]| {
        let audits: Vec<Judgement> = audits.iter().map(|line| audit_of_findings(line)).collect();
        let card = score(&suite, &trials, &audits, &profile("audit", ""));
        let trial = &card.tools[0].cases[0].trials[0];
        let audited = trial.audited.as_ref().unwrap();
        let class = |class| audited.classes.count(class);
        let rcir = audited.target.as_ref().and_then(|target| target.rcir);
        (trial.target_found, class(Classification::Hallucinated), class(Classification::BonusValid), rcir)
    };
    let model = "m f1=TARGET_MATCH f2=HALLUCINATED f3=HALLUCINATED | f1";
    assert_eq!(describe(&[model]), (Some(true), 2.0, 0.0, Some(0.75)));
    // A person who looked at one finding takes nothing back of the others, whoever comes first.
    let anna = "human:anna f2=BONUS_VALID";
    assert_eq!(describe(&[model, anna]), (Some(true), 1.0, 1.0, Some(0.75)));
    assert_eq!(describe(&[anna, model]), describe(&[model, anna]));
    // What a model saw as the target and a person calls something else is not found.
    assert_eq!(describe(&[model, "human:anna f1=HALLUCINATED"]), (Some(false), 3.0, 0.0, None));
    // Of people most decide, finding by finding; of equal voices the one that credits the tool least.
    let (ben, carl) = ("human:ben f2=HALLUCINATED", "human:carl f2=HALLUCINATED f3=BONUS_VALID");
    assert_eq!(describe(&[model, anna, ben]).2, 0.0);
    assert_eq!(describe(&[model, anna, ben, carl]), (Some(true), 1.0, 1.0, Some(0.75)));
    // Where people agree with a model on the target, how well it is understood is the model's word still.
    assert_eq!(describe(&[model, "human:anna f1=TARGET_MATCH | f1"]).3, Some(0.75));
}

/// Whatever a case expects and an audit says of it, every finding and every golden gets an outcome once.
#[test]
fn every_combination_of_goldens_and_audits_is_scored() {
    let goldens = [
        "",
        "g a.sol:1 | x",
        "g a.sol:1 target | x",
        "g a.sol:1 acceptable | x",
        "g a.sol:1 trap | x",
        "g a.sol:1 | x\nh b.sol:2 target | y",
    ];
    let findings = ["", "f0 a.sol:1 | x", "f0 a.sol:1 | x\nf1 b.sol:9 | z"];
    let named = [None, Some("f0"), Some("f1"), Some("unknown")];
    for (goldens, findings) in goldens.iter().flat_map(|own| findings.map(|findings| (*own, findings))) {
        let suite = suite(vec![case("c", goldens)]);
        let trial = trial("c", 1, findings);
        // An audit looks for one golden, and the others can neither be found nor missed.
        let compared = usize::from(!suite.cases[0].is_clean());
        for (found, named) in [false, true].into_iter().flat_map(|found| named.map(|named| (found, named))) {
            for class in [None].into_iter().chain(Classification::ALL.map(Some)) {
                let mut judgement = audit("c m yes 0.9 - exact");
                let Decision::Audit(decision) = &mut judgement.decision else { unreachable!() };
                let target = decision.target.as_mut().unwrap();
                (target.found, target.finding) = (Some(found), named.map(FindingId::new));
                decision.findings = class
                    .map(|class| ClassifiedFinding {
                        classification: Some(class),
                        ..ClassifiedFinding::unasked(FindingId::new("f0"))
                    })
                    .into_iter()
                    .collect();
                let card = score(&suite, std::slice::from_ref(&trial), &[judgement], &profile("audit", ""));
                let result = &card.tools[0].cases[0].trials[0].result;
                let what = format!("{goldens} / {findings} / {found} {named:?} {class:?}");
                let placed =
                    result.matches.len() + result.extras.len() + result.duplicates.len() + result.acceptable.len();
                assert_eq!(placed, trial.findings.len(), "{what}");
                assert_eq!(result.matches.len() + result.misses.len(), compared, "{what}");
            }
        }
    }
}
