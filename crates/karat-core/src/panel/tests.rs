//! Small panels by hand, and what must hold for any.

use super::*;
use crate::ids::{FindingId, JudgeName};
use crate::judgement::{AuditDecision, Classification, ClassifiedFinding, Expressed, TargetAssessment, TypeMatch};
use proptest::prelude::*;
use std::fmt::Write as _;

/// One sign a judge: `y` and `n`, `.` for silence; a number after it is the confidence in tenths.
fn votes(item: &str) -> Vec<Vote> {
    let voice = |(judge, word): (usize, &str)| {
        let confidence = word[1..].parse().ok().map(|tenths: f64| tenths / 10.0);
        (word != ".").then(|| Vote { judge, matched: word.starts_with('y'), confidence })
    };
    item.split(' ').enumerate().filter_map(voice).collect()
}

fn describe(ruling: Option<PanelDecision>) -> String {
    ruling.map_or("open".to_owned(), |r| format!("{} {:.2}", if r.matched { "yes" } else { "no" }, r.confidence))
}

#[test]
fn a_majority_decides_and_a_tie_only_by_confidence() {
    let check = |item: &str, expect: &str| {
        let rulings = settle_pairs(&[votes(item)], Consensus::Majority);
        assert_eq!((describe(rulings.items[0]).as_str(), rulings.note), (expect, None), "{item}");
    };
    check("y y n", "yes 0.67");
    check("n1 n1 y10", "no 0.67");
    check("y", "yes 1.00");
    check(". .", "open");
    check("y n", "open");
    check("y9 n8", "yes 0.50");
    check("y8 n9", "no 0.50");
    check("y9 n9", "open");
    // Whoever states no confidence cannot be outweighed by somebody who does.
    check("y n9", "open");
    check("y1 n y2 n9", "open");
    check("y1 n2 y2 n2", "no 0.50");
}

#[test]
fn nobody_votes_twice() {
    let vote = |judge, matched| Vote { judge, matched, confidence: None };
    let rulings = settle_pairs(&[vec![vote(0, true), vote(0, true), vote(1, false)]], Consensus::Majority);
    assert_eq!(rulings.items, [None]);
}

/// Three good judges and two who say yes to everything: counting heads, the two need one voice more to win.
#[test]
fn dawid_and_skene_hear_those_who_know() {
    let mut items: Vec<Vec<Vote>> = Vec::new();
    for at in 0..40 {
        items.push(votes(if at % 2 == 0 { "y y y y y" } else { "n n n y y" }));
    }
    items.push(votes("n n . y y"));
    items.push(votes("y . . y y"));
    let by = |how| settle_pairs(&items, how);
    assert_eq!(describe(by(Consensus::Majority).items[40]), "open");
    let learnt = by(Consensus::DawidSkene);
    assert_eq!(learnt.note, None);
    assert_eq!((describe(learnt.items[40]).as_str(), describe(learnt.items[41]).as_str()), ("no 1.00", "yes 1.00"));
    assert!(learnt.items[..40].iter().enumerate().all(|(at, ruling)| ruling.unwrap().matched == (at % 2 == 0)));
}

#[test]
fn too_little_to_learn_from_is_said() {
    let check = |item: &str, times: usize, expect: Option<&str>| {
        let rulings = settle_pairs(&vec![votes(item); times], Consensus::DawidSkene);
        assert_eq!(rulings.note.is_some(), expect.is_some(), "{item} {times}: {:?}", rulings.note);
        let note = rulings.note.unwrap_or_default();
        assert!(note.contains(expect.unwrap_or_default()), "{note}");
        assert_eq!(describe(rulings.items[0]), if item == "y n y" { "yes 0.67" } else { "yes 1.00" });
    };
    check("y y y", 30, None);
    check("y n y", 29, Some("there are 3 and 29, so the majority decided"));
    check("y y", 500, Some("there are 2 and 500"));
    check("y", 500, Some("there are 1 and 0"));
}

#[test]
fn an_item_nobody_judged_stays_open() {
    let mut items = vec![votes("y y n"); 40];
    items.push(Vec::new());
    for how in [Consensus::Majority, Consensus::DawidSkene] {
        let rulings = settle_pairs(&items, how);
        assert_eq!((rulings.items.len(), rulings.items[40], rulings.items[0].is_some()), (41, None, true), "{how:?}");
    }
    // Nobody ever said match, so that there is one class only.
    let never = settle_pairs(&vec![votes("n n n"); 40], Consensus::DawidSkene);
    assert_eq!((describe(never.items[0]).as_str(), never.note), ("no 1.00", None));
}

#[test]
fn ways_have_names() {
    for (name, way) in Consensus::NAMES {
        assert_eq!(Consensus::parse(name), Some(way));
    }
    assert_eq!(Consensus::parse("mean"), None);
}

/// `said confidence | id=CLASS … | found finding type rcir ava fsv | explanation`, `-` for nothing.
fn audit(text: &str) -> AuditDecision {
    let parts: Vec<&str> = text.split('|').map(str::trim).collect();
    let head: Vec<&str> = parts[0].split_whitespace().collect();
    let number = |word: &str| word.parse::<f64>().ok();
    let findings = parts[1].split_whitespace().map(|word| {
        let (id, class) = word.split_once('=').unwrap();
        let classification = Classification::ALL.into_iter().find(|known| known.as_str() == class).unwrap();
        ClassifiedFinding {
            finding: FindingId::new(id),
            classification: Some(classification),
            matches_target: Some(classification.is_about_target()),
            is_valid_concern: Some(classification.is_valid()),
        }
    });
    let target: Vec<&str> = parts[2].split_whitespace().collect();
    AuditDecision {
        said_vulnerable: Some(match head[0] {
            "yes" => Expressed::Value(true),
            "no" => Expressed::Value(false),
            _ => Expressed::Nothing,
        }),
        confidence_expressed: Some(number(head[1]).into()),
        findings: findings.collect(),
        target: (target.len() > 1).then(|| TargetAssessment {
            found: Some(target[0] == "found"),
            finding: (target[1] != "-").then(|| FindingId::new(target[1])),
            type_match: TypeMatch::ALL.into_iter().find(|level| level.as_str() == target[2]),
            rcir: number(target[3]),
            ava: number(target[4]),
            fsv: number(target[5]),
        }),
        explanation: parts.get(3).map(|words| (*words).to_owned()),
    }
}

fn written(merged: &MergedAudit) -> String {
    let number = |n: Option<f64>| n.map_or("-".to_owned(), |n| n.to_string());
    let AuditDecision { said_vulnerable, confidence_expressed, findings, target, explanation } = &merged.decision;
    let mut text = match said_vulnerable {
        Some(Expressed::Value(true)) => "yes",
        Some(Expressed::Value(false)) => "no",
        _ => "-",
    }
    .to_owned();
    write!(text, " {} |", number(confidence_expressed.and_then(Expressed::value))).unwrap();
    for found in findings {
        let class = found.classification.unwrap();
        write!(text, " {}={}", found.finding, class.as_str()).unwrap();
        assert_eq!(found.is_valid_concern, Some(class.is_valid()));
        assert_eq!(found.matches_target, Some(class.is_about_target()));
    }
    match target {
        None => text.push_str(" | -"),
        Some(t) => write!(
            text,
            " | {} {} {} {} {} {}",
            if t.found == Some(true) { "found" } else { "missed" },
            t.finding.as_ref().map_or("-", |id| id.as_str()),
            t.type_match.map_or("-", TypeMatch::as_str),
            number(t.rcir),
            number(t.ava),
            number(t.fsv)
        )
        .unwrap(),
    }
    write!(text, " | {}", explanation.as_deref().unwrap_or("-")).unwrap();
    if !merged.ties.is_empty() {
        let ties: Vec<String> = merged.ties.iter().map(ToString::to_string).collect();
        write!(text, " | ties: {}", ties.join(", ")).unwrap();
    }
    text
}

/// Audits by models.
fn merged(audits: &[&AuditDecision]) -> Option<MergedAudit> {
    merged_with(audits, &[])
}

/// Audits by models and by people, without which of them comes nearest, which depends on the order.
fn merged_with(models: &[&AuditDecision], people: &[&AuditDecision]) -> Option<MergedAudit> {
    let (model, person) = (JudgeName::new("m"), JudgeName::new("human:ann"));
    let models = models.iter().map(|decision| AuditVote { judge: &model, decision });
    let people = people.iter().map(|decision| AuditVote { judge: &person, decision });
    let audits = models.chain(people).collect();
    let merged = merge_audits(&AuditVotes { audits, has_target: true, ..AuditVotes::default() })?;
    Some(MergedAudit { nearest: 0, ..merged })
}

#[track_caller]
fn check_audits(given: &[&str], expect: &str) {
    let given: Vec<AuditDecision> = given.iter().map(|text| audit(text)).collect();
    let mut order: Vec<&AuditDecision> = given.iter().collect();
    for _ in 0..given.len() {
        order.rotate_left(1);
        assert_eq!(written(&merged(&order).unwrap()), expect);
        let back: Vec<&AuditDecision> = order.iter().rev().copied().collect();
        assert_eq!(written(&merged(&back).unwrap()), expect);
    }
}

#[test]
fn most_voices_decide_field_by_field() {
    check_audits(
        &[
            "yes 0.9 | f1=TARGET_MATCH f2=HALLUCINATED | found f1 exact 1 0.75 0.5 | a",
            "yes 0.8 | f1=TARGET_MATCH f2=BONUS_VALID | found f1 semantic 0.5 0.5 0.5 | b",
            "no - | f1=MISCHARACTERIZED f2=HALLUCINATED | missed - - - - - | c",
        ],
        "yes 0.8500000000000001 | f1=TARGET_MATCH f2=HALLUCINATED | found f1 semantic 0.75 0.625 0.5 | a | ties: type_match",
    );
    // Valid against invalid first, then the class: three voices of three classes are two that it is valid.
    check_audits(
        &["yes - | f=TARGET_MATCH | -", "yes - | f=PARTIAL_MATCH | -", "yes - | f=HALLUCINATED | -"],
        "yes - | f=PARTIAL_MATCH | - | - | ties: classification of f",
    );
    // Findings keep the order of the trial, and of equals one speaks, whoever comes first.
    check_audits(
        &["no - | z=DESIGN_CHOICE a=DESIGN_CHOICE | - | two", "no - | z=DESIGN_CHOICE a=DESIGN_CHOICE | - | one"],
        "no - | z=DESIGN_CHOICE a=DESIGN_CHOICE | - | one",
    );
    // One voice in three states a confidence, which is not what most say.
    check_audits(&["no 0.9 | | -", "no - | | -", "no - | | -"], "no - | | - | -");
}

#[test]
fn ties_are_settled_by_rule_and_reported() {
    check_audits(
        &[
            "yes 0.5 | f1=TARGET_MATCH f2=INFORMATIONAL | found f1 exact 1 1 1 | a",
            "no 1 | f1=DESIGN_CHOICE f2=HALLUCINATED | missed - - - - - | b",
        ],
        "- 0.75 | f1=DESIGN_CHOICE f2=HALLUCINATED | missed - - - - - | b | ties: said_vulnerable, target.found, \
         classification of f1, is_valid_concern of f1, matches_target of f1, classification of f2",
    );
    check_audits(
        &["yes - | f=TARGET_MATCH | found f exact 1 1 1", "yes - | f=TARGET_MATCH | found f wrong 0.25 0 1"],
        "yes - | f=TARGET_MATCH | found f wrong 0.625 0.5 1 | - | ties: type_match",
    );
}

#[test]
fn the_target_is_found_by_what_most_hold_for_it() {
    check_audits(
        &[
            "yes - | f1=TARGET_MATCH f2=PARTIAL_MATCH | found f1 exact 1 1 1",
            "yes - | f1=OUT_OF_SCOPE f2=TARGET_MATCH | found f2 exact 1 1 1",
            "yes - | f1=OUT_OF_SCOPE f2=PARTIAL_MATCH | found f2 exact 1 1 1",
        ],
        "yes - | f1=OUT_OF_SCOPE f2=PARTIAL_MATCH | found f2 exact 1 1 1 | -",
    );
    check_audits(
        &[
            "yes - | a=TARGET_MATCH b=TARGET_MATCH | found b exact 1 1 1",
            "yes - | a=TARGET_MATCH b=TARGET_MATCH | found a exact 1 1 1",
        ],
        "yes - | a=TARGET_MATCH b=TARGET_MATCH | found a exact 1 1 1 | - | ties: target.finding",
    );
    // As many name the first, and most hold it for something else.
    check_audits(
        &[
            "yes - | f1=TARGET_MATCH f2=PARTIAL_MATCH | found f1 exact 1 1 1",
            "yes - | f1=OUT_OF_SCOPE f2=TARGET_MATCH | found f2 exact 1 1 1",
            "yes - | f1=OUT_OF_SCOPE f2=PARTIAL_MATCH | missed - - - - -",
        ],
        "yes - | f1=OUT_OF_SCOPE f2=PARTIAL_MATCH | found f2 exact 1 1 1 | -",
    );
    // Who was not asked has no vote.
    check_audits(&["yes - | | found - exact 1 1 1", "yes - | | -"], "yes - | | found - exact 1 1 1 | -");
}

/// The first claim of one judge is not that of another, so that claims are not counted against each other.
#[test]
fn claims_are_taken_whole() {
    check_audits(
        &[
            "yes - | response:1=HALLUCINATED response:2=TARGET_MATCH | found response:2 exact 1 1 1 | a",
            "yes - | response:1=TARGET_MATCH | found response:1 exact 1 1 1 | b",
            "yes - | response:1=TARGET_MATCH response:2=INFORMATIONAL | found response:1 exact 0.5 1 1 | c",
        ],
        "yes - | response:1=HALLUCINATED response:2=TARGET_MATCH | found response:2 exact 1 1 1 | a",
    );
}

#[test]
fn no_audits_are_no_audit() {
    assert_eq!(merged(&[]), None);
}

fn any_audit() -> impl Strategy<Value = AuditDecision> {
    let class = (0..9_usize).prop_map(|at| Classification::ALL[at]);
    let level = || prop::option::of((0..5_u8).prop_map(|at| f64::from(at) / 4.0));
    let flag = || prop::option::of(any::<bool>());
    let classes = prop::collection::vec((prop::option::of(class), flag(), flag()), 3);
    let kind = prop::option::of((0..5_usize).prop_map(|at| TypeMatch::ALL[at]));
    let target = (flag(), prop::option::of(0..3_usize), kind, level(), level(), level());
    let target = prop::option::of(target.prop_map(|(found, finding, type_match, rcir, ava, fsv)| TargetAssessment {
        found,
        finding: finding.map(|at| FindingId::new(format!("f{at}"))),
        type_match,
        rcir,
        ava,
        fsv,
    }));
    let words = prop::option::of("[ab]");
    (prop::option::of(flag()), prop::option::of(level()), classes, target, words).prop_map(
        |(said_vulnerable, confidence_expressed, classes, target, words)| {
            let named = |(at, (classification, matches_target, is_valid_concern))| ClassifiedFinding {
                finding: FindingId::new(format!("f{at}")),
                classification,
                matches_target,
                is_valid_concern,
            };
            let findings = classes.into_iter().enumerate().map(named).collect();
            let (said_vulnerable, confidence_expressed) =
                (said_vulnerable.map(Into::into), confidence_expressed.map(Into::into));
            AuditDecision { said_vulnerable, confidence_expressed, findings, target, explanation: words }
        },
    )
}

/// A number that chooses whether a person made an audit.
fn said_by(audit: &AuditDecision) -> usize {
    audit.findings.iter().filter(|found| found.is_valid_concern.is_some()).count()
}

/// The same audit with its findings as claims of free text.
fn in_prose(mut audit: AuditDecision) -> AuditDecision {
    let claim = |id: &FindingId| FindingId::claim(1 + id.as_str()[1..].parse::<usize>().unwrap());
    audit.findings.iter_mut().for_each(|found| found.finding = claim(&found.finding));
    if let Some(target) = &mut audit.target {
        target.finding = target.finding.as_ref().map(claim);
    }
    audit
}

proptest! {
    #[test]
    fn the_order_of_judges_makes_no_difference(
        (given, shuffled) in prop::collection::vec(any_audit(), 1..6)
            .prop_flat_map(|given| (Just(given.clone()), Just(given).prop_shuffle())),
        prose in any::<bool>(),
        people in 0..3_usize,
    ) {
        let dressed = |all: &[AuditDecision]| -> Vec<AuditDecision> {
            all.iter().map(|audit| if prose { in_prose(audit.clone()) } else { audit.clone() }).collect()
        };
        let (given, shuffled) = (dressed(&given), dressed(&shuffled));
        let split = |all: &[AuditDecision], people: usize| {
            let side = |humans: bool| -> Vec<AuditDecision> {
                all.iter().filter(|audit| (said_by(audit) < people) == humans).cloned().collect()
            };
            let (models, people) = (side(false), side(true));
            merged_with(&models.iter().collect::<Vec<_>>(), &people.iter().collect::<Vec<_>>())
        };
        prop_assert_eq!(split(&given, people), split(&shuffled, people));
    }

    /// Whatever models say, a field that a person answered is as the person said, and the others are as models said.
    #[test]
    fn a_person_decides_what_the_person_answered(
        models in prop::collection::vec(any_audit(), 0..5),
        person in any_audit(),
    ) {
        let models: Vec<&AuditDecision> = models.iter().collect();
        let without = merged(&models).map(|merged| merged.decision).unwrap_or_default();
        let with = merged_with(&models, &[&person]).unwrap().decision;
        prop_assert_eq!(with.said_vulnerable, person.said_vulnerable.or(without.said_vulnerable));
        prop_assert_eq!(with.confidence_expressed, person.confidence_expressed.or(without.confidence_expressed));
        let found = |audit: &AuditDecision| audit.target.as_ref().and_then(|target| target.found);
        prop_assert!(found(&person).is_none() || found(&with) == found(&person));
        for own in &person.findings {
            let find = |audit: &AuditDecision| audit.findings.iter().find(|found| found.finding == own.finding).cloned();
            let of_models = find(&without).unwrap_or(ClassifiedFinding::unasked(own.finding.clone()));
            let settled = find(&with).unwrap();
            prop_assert_eq!(settled.classification, own.classification.or(of_models.classification));
            // A class that a person gives implies the rest.
            let valid = own.classification.map(Classification::is_valid).or(of_models.is_valid_concern);
            prop_assert_eq!(settled.is_valid_concern, own.is_valid_concern.or(valid));
            let about = own.classification.map(Classification::is_about_target).or(of_models.matches_target);
            prop_assert_eq!(settled.matches_target, own.matches_target.or(about));
        }
        let rated = |audit: &AuditDecision| audit.target.as_ref().and_then(|target| target.rcir);
        prop_assert!(rated(&person).is_none() || rated(&with) == rated(&person));
    }

    #[test]
    fn unanimous_audits_stay_unchanged(audit in any_audit(), judges in 1..6_usize, prose in any::<bool>()) {
        let mut audit = if prose { in_prose(audit) } else { audit };
        // Nothing asked of the target is no target.
        audit.target = audit.target.filter(|target| *target != TargetAssessment::default());
        let merged = merged(&vec![&audit; judges]).unwrap();
        prop_assert_eq!(&merged.decision, &audit);
        prop_assert!(merged.ties.is_empty());
    }

    #[test]
    fn renaming_judges_changes_no_ruling(
        rows in prop::collection::vec(prop::collection::vec(prop::option::of((any::<bool>(), 0..4_u8)), 4), 0..60),
        names in Just(vec![0_usize, 1, 2, 3]).prop_shuffle(),
        learnt in any::<bool>(),
    ) {
        let how = if learnt { Consensus::DawidSkene } else { Consensus::Majority };
        let items = |names: &[usize]| -> Vec<Vec<Vote>> {
            let vote = |(at, said): (usize, &Option<(bool, u8)>)| {
                let confidence = |quarter: u8| (quarter < 3).then(|| f64::from(quarter) / 3.0);
                said.map(|(matched, sure)| Vote { judge: names[at], matched, confidence: confidence(sure) })
            };
            rows.iter().map(|row| row.iter().enumerate().filter_map(vote).collect()).collect()
        };
        prop_assert_eq!(settle_pairs(&items(&[0, 1, 2, 3]), how), settle_pairs(&items(&names), how));
    }

    #[test]
    fn unanimous_votes_stay(said in prop::collection::vec(any::<bool>(), 30..60), judges in 3..6_usize) {
        let items: Vec<Vec<Vote>> = said
            .iter()
            .map(|matched| (0..judges).map(|judge| Vote { judge, matched: *matched, confidence: None }).collect())
            .collect();
        for how in [Consensus::Majority, Consensus::DawidSkene] {
            let rulings = settle_pairs(&items, how);
            for (ruling, matched) in rulings.items.iter().zip(&said) {
                prop_assert_eq!(*ruling, Some(PanelDecision { matched: *matched, confidence: 1.0 }));
            }
        }
    }
}
