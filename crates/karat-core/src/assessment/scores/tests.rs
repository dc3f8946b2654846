use super::super::items::estimates;
use super::super::part_match::PartIndex;
use super::super::record::GoldenPart;
use super::super::rules::Thresholds;
use super::super::text::Tokens;
use super::*;
use crate::metric::Undefined;
use Role::{Primary, Supporting};

#[test]
fn verdicts_lie_on_a_line_with_one_beside_it() {
    let row = |golden| Compliance::ALL.map(|said| compliance(golden, said));
    assert_eq!(row(Compliance::Yes), [1.0, 0.5, 0.0, 0.0]);
    assert_eq!(row(Compliance::Partial), [0.5, 1.0, 0.5, 0.0]);
    assert_eq!(row(Compliance::No), [0.0, 0.5, 1.0, 0.0]);
    assert_eq!(row(Compliance::NotApplicable), [0.0, 0.0, 0.0, 1.0]);
}

/// Golden parts of ten words each: so many primary ones from word 0, then so many supporting ones.
fn requirement(primary: usize, supporting: usize) -> Requirement {
    let parts = |range: std::ops::Range<usize>| {
        let id = |g: usize| format!("g{g}").as_str().into();
        range.map(move |g| GoldenPart { id: id(g), document: String::new(), title: String::new(), text: String::new() })
    };
    Requirement {
        id: "r".into(),
        assessment: Compliance::Partial,
        primary: parts(0..primary).collect(),
        supporting: parts(primary..primary + supporting).collect(),
        rationale: String::new(),
    }
}

/// Part `i` of the documents is golden part `i`, for the first so many; part 8 holds all of them, part 9 none.
fn matches(goldens: usize, ingested: usize) -> Matches {
    let tokens = |from: u32, to: u32| Tokens::new((from..to).collect());
    let golden = |g: usize| tokens(10 * g as u32, 10 * g as u32 + 10);
    let mut parts: Vec<Tokens> = (0..8).map(|g| if g < ingested { golden(g) } else { Tokens::default() }).collect();
    parts.push(tokens(0, 10 * ingested as u32));
    parts.push(tokens(900, 920));
    PartIndex::new(parts).matches(&(0..goldens).map(golden).collect::<Vec<_>>(), &Thresholds::default())
}

/// An answer as `verdict`, and citations such as `p0` and `s3`; `p-` is a part that does not exist.
fn answer(verdict: Compliance, citations: &str) -> Assessment {
    let citation = |text: &str| Citation {
        role: if text.starts_with('p') { Primary } else { Supporting },
        part: text[1..].parse().ok(),
    };
    Assessment { verdict, citations: citations.split_whitespace().map(citation).collect() }
}

#[track_caller]
fn check(primary: usize, supporting: usize, citations: &str, evidence: f64, combined: f64) {
    let requirement = requirement(primary, supporting);
    let matches = matches(primary + supporting, 8);
    let said = answer(Compliance::Yes, citations);
    let score = score(&requirement, Some(&said), &matches, &[0, 1, 2, 3], &Rules::default());
    assert_eq!((score.compliance, score.is_exact), (0.5, false));
    let found = score.evidence.unwrap();
    assert!((found - evidence).abs() < 1e-12, "{found}, expected {evidence}");
    assert!((score.combined - combined).abs() < 1e-12, "{}, expected {combined}", score.combined);
}

#[test]
fn evidence_is_weighed_by_role() {
    // 2·1 + 1·1 of 3.
    check(1, 1, "p0 s1", 1.0, 0.75);
    // A primary part cited as supporting is worth a half: 2·0.5 + 1·1 of 3.
    check(1, 1, "s0 s1", 2.0 / 3.0, 0.5 * 0.5 + 0.5 * 2.0 / 3.0);
    // A supporting part cited as primary is worth three quarters: 2·1 + 1·0.75 of 3.
    check(1, 1, "p0 p1", 2.75 / 3.0, 0.25 + 0.5 * 2.75 / 3.0);
    // Missed: 1·1 of 3, 2·1 of 4.
    check(1, 1, "s1", 1.0 / 3.0, 0.25 + 0.5 / 3.0);
    check(1, 2, "p0 s9", 2.0 / 4.0, 0.5);
    check(2, 0, "", 0.0, 0.25);
    // Cited in both roles, the better one counts, whichever comes first.
    check(0, 1, "p0 s0", 1.0, 0.75);
    check(1, 0, "s0 p0", 1.0, 0.75);
    // One part may hold several: as supporting, 2·0.5 + 2·0.5 + 1·1 of 5.
    check(2, 1, "s8", 3.0 / 5.0, 0.25 + 0.3);
}

#[test]
fn each_loss_has_its_stage() {
    let requirement = requirement(3, 2);
    let said = answer(Compliance::Partial, "p0 s1 p-");
    // Golden part 4 is not among what was read; 2 and 3 are, and 2 was shown.
    let score = score(&requirement, Some(&said), &matches(5, 4), &[0, 1, 2], &Rules::default());
    let lost: Vec<Option<Stage>> = score.parts.iter().map(|part| part.lost).collect();
    use Stage::{NotCited, NotIngested, NotRetrieved, WrongRole};
    // The part that holds all that was read makes golden part 3 one that could have been retrieved.
    assert_eq!(lost, [None, Some(WrongRole), Some(NotCited), Some(NotRetrieved), Some(NotIngested)]);
    assert_eq!((score.citations, score.right_citations), (3, 2));
    assert_eq!(score.evidence, Ok((2.0 + 1.0) / 8.0));
    assert_eq!(
        score.parts[1],
        PartScore { role: Primary, weight: 2.0, cited: Some(Supporting), credit: 0.5, lost: Some(WrongRole) }
    );
}

#[test]
fn without_golden_evidence_the_verdict_alone_counts() {
    let said = answer(Compliance::Partial, "p0");
    let score = score(&requirement(0, 0), Some(&said), &Matches::default(), &[0], &Rules::default());
    assert_eq!((score.evidence, score.combined), (Err(Undefined("no golden evidence")), 1.0));
    assert_eq!((score.citations, score.right_citations), (1, 0));
}

#[test]
fn no_answer_is_a_miss() {
    let score = score(&requirement(1, 0), None, &matches(1, 1), &[0], &Rules::default());
    assert_eq!((score.compliance, score.evidence, score.combined), (0.0, Ok(0.0), 0.0));
    assert_eq!((score.is_exact, score.is_answered, score.parts[0].lost), (false, false, Some(Stage::NotCited)));
}

/// An outage says nothing about the evidence of a record.
#[test]
fn metrics_of_an_unreachable_assessor_say_why_they_are_undefined() {
    let of = |goldens: usize| RequirementScore {
        is_left_out: true,
        ..score(&requirement(goldens, 0), None, &matches(goldens, 1), &[0], &Rules::default())
    };
    let reasons = |scores: &[RequirementScore]| -> Vec<Option<&'static str>> {
        let items: Vec<Item> = scores.iter().map(RequirementScore::adds).collect();
        estimates(&items).iter().map(|(_, estimate)| estimate.undefined).collect()
    };
    assert_eq!(reasons(&[of(1), of(0)]), [Some("the assessor could not be asked"); 5]);
    let answered =
        score(&requirement(0, 0), Some(&answer(Compliance::No, "")), &matches(0, 1), &[0], &Rules::default());
    let reasons = reasons(&[of(0), answered]);
    assert_eq!(reasons, [None, None, Some("no golden evidence"), None, Some("nothing was cited")]);
}

#[test]
fn metrics_by_hand() {
    let rules = Rules::default();
    let of = |requirement: &Requirement, goldens: usize, verdict, citations: &str| {
        score(requirement, Some(&answer(verdict, citations)), &matches(goldens, 8), &[0], &rules)
    };
    let scores = [
        of(&requirement(1, 1), 2, Compliance::Partial, "p0 s1"),
        of(&requirement(1, 0), 1, Compliance::No, "s0 p9 p9"),
        of(&requirement(0, 0), 0, Compliance::NotApplicable, ""),
    ];
    let expect = [
        ("mean_combined_score", (1.0 + 0.5 + 0.0) / 3.0, 3, 0),
        ("mean_compliance_score", (1.0 + 0.5 + 0.0) / 3.0, 3, 0),
        ("mean_evidence_score", (1.0 + 0.5) / 2.0, 2, 1),
        ("assessment_accuracy", 1.0 / 3.0, 3, 0),
        ("citation_precision", 3.0 / 5.0, 5, 0),
    ];
    let items: Vec<Item> = scores.iter().map(RequirementScore::adds).collect();
    for ((id, estimate), (name, value, n, left_out)) in estimates(&items).iter().zip(expect) {
        assert_eq!((*id, estimate.n, estimate.left_out), (name, n, left_out));
        assert!((estimate.value.unwrap() - value).abs() < 1e-12, "{id}: {estimate:?}, expected {value}");
    }
}
