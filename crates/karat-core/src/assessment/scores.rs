//! What an assessor's answers are worth: verdicts, evidence, both together, and at which stage evidence was lost.

use super::items::{Adds, Item};
use super::part_match::Matches;
use super::record::{Compliance, Requirement, Role};
use super::rules::Rules;
use crate::metric::{Value, ratio};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an assessor said of a requirement.
#[derive(Clone, Debug, PartialEq)]
pub struct Assessment {
    /// How far the documents meet it.
    pub verdict: Compliance,
    /// The parts named as evidence.
    pub citations: Vec<Citation>,
}

/// A part named as evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Citation {
    /// What it is said to be.
    pub role: Role,
    /// The part, by its place in the index; none where there is no such part.
    pub part: Option<usize>,
}

/// The stage at which a golden part was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// No part of the documents as they were read holds it.
    NotIngested,
    /// One holds it, and the search did not bring it up.
    NotRetrieved,
    /// The assessor saw it and did not name it.
    NotCited,
    /// The assessor named it, as something else than it is.
    WrongRole,
}

/// What an answer to one requirement is worth.
#[derive(Clone, Debug, PartialEq)]
pub struct RequirementScore {
    /// How near the verdict is, from 0 to 1; a requirement without an answer has 0.
    pub compliance: f64,
    /// The share of the evidence that was named; undefined where the record has none.
    pub evidence: Value,
    /// Both together.
    pub combined: f64,
    /// Whether the verdict is the record's.
    pub is_exact: bool,
    /// Whether there is an answer at all.
    pub is_answered: bool,
    /// What became of each golden part.
    pub parts: Vec<PartScore>,
    /// How many parts the assessor named.
    pub citations: usize,
    /// How many of those hold a golden part.
    pub right_citations: usize,
}

/// What became of one golden part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartScore {
    /// What it is.
    pub role: Role,
    /// What it weighs.
    pub weight: f64,
    /// What it was cited as: of several roles the one that is worth most.
    pub cited: Option<Role>,
    /// The share of its weight that was earned.
    pub credit: f64,
    /// Where it was lost; none where it was cited in its own role.
    pub lost: Option<Stage>,
}

/// How near a verdict is to the true one: 1 where they are the same, less by a half for each step from yes over partial to no.
/// `not_applicable` lies off that line, and is near nothing else.
pub fn compliance(golden: Compliance, said: Compliance) -> f64 {
    let step = |verdict: Compliance| match verdict {
        Compliance::Yes => Some(1.0),
        Compliance::Partial => Some(0.5),
        Compliance::No => Some(0.0),
        Compliance::NotApplicable => None,
    };
    match (step(golden), step(said)) {
        (Some(a), Some(b)) => 1.0 - f64::abs(a - b),
        (None, None) => 1.0,
        _ => 0.0,
    }
}

/// The share of the weight of golden parts that was earned by citing them.
pub fn evidence(parts: &[PartScore]) -> Value {
    let whole: f64 = parts.iter().map(|part| part.weight).sum();
    let earned: f64 = parts.iter().map(|part| part.weight * part.credit).sum();
    ratio(earned, whole, "no golden evidence")
}

/// Scores an answer to a requirement; without one, everything is missed.
///
/// `matches` are those of the requirement's golden parts, in the order of its evidence, with all parts that were read; `retrieved` are
/// the ones that the assessor was shown.
pub fn score(
    requirement: &Requirement,
    answer: Option<&Assessment>,
    matches: &Matches,
    retrieved: &[usize],
    rules: &Rules,
) -> RequirementScore {
    let citations = answer.map_or(&[][..], |answer| &answer.citations);
    let roles = requirement.roles();
    let part = |(golden, role): (usize, &Role)| part_score(golden, *role, citations, matches, retrieved, rules);
    let parts: Vec<PartScore> = roles.iter().enumerate().map(part).collect();
    let is_right = |citation: &&Citation| (0..roles.len()).any(|golden| holds(citation, golden, matches));
    let compliance = answer.map_or(0.0, |answer| compliance(requirement.assessment, answer.verdict));
    let evidence = evidence(&parts);
    let share = rules.compliance_share;
    RequirementScore {
        compliance,
        evidence,
        combined: evidence.map_or(compliance, |evidence| share * compliance + (1.0 - share) * evidence),
        is_exact: answer.is_some_and(|answer| answer.verdict == requirement.assessment),
        is_answered: answer.is_some(),
        parts,
        citations: citations.len(),
        right_citations: citations.iter().filter(is_right).count(),
    }
}

fn part_score(
    golden: usize,
    role: Role,
    citations: &[Citation],
    matches: &Matches,
    retrieved: &[usize],
    rules: &Rules,
) -> PartScore {
    let cited_in = citations.iter().filter(|citation| holds(citation, golden, matches)).map(|citation| citation.role);
    // Its own role comes last and wins among equals, so that nothing is called a wrong role without need.
    let cited = cited_in.max_by(|a, b| {
        let worth = |cited: Role| (rules.credit(role, cited), cited == role);
        let (a, b) = (worth(*a), worth(*b));
        a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
    });
    let was_shown = || retrieved.iter().any(|part| matches.category(golden, *part).is_hit());
    let lost = match cited {
        Some(cited) if cited == role => None,
        Some(_) => Some(Stage::WrongRole),
        None if was_shown() => Some(Stage::NotCited),
        None if matches.is_anywhere(golden) => Some(Stage::NotRetrieved),
        None => Some(Stage::NotIngested),
    };
    let credit = cited.map_or(0.0, |cited| rules.credit(role, cited));
    PartScore { role, weight: rules.weight(role), cited, credit, lost }
}

/// Whether what is cited holds a golden part.
fn holds(citation: &Citation, golden: usize, matches: &Matches) -> bool {
    citation.part.is_some_and(|part| matches.category(golden, part).is_hit())
}

impl RequirementScore {
    /// What it adds to the metrics of answers, in the order of the table.
    pub fn adds(&self) -> Item {
        let share = |part: usize, whole: usize| Adds::Share { part: part as f64, whole: whole as f64 };
        vec![
            ("mean_combined_score", Adds::Value(Ok(self.combined))),
            ("mean_compliance_score", Adds::Value(Ok(self.compliance))),
            ("mean_evidence_score", Adds::Value(self.evidence)),
            ("assessment_accuracy", Adds::Value(Ok(f64::from(u8::from(self.is_exact))))),
            ("citation_precision", share(self.right_citations, self.citations)),
        ]
    }
}

#[cfg(test)]
mod tests {
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
            range.map(move |g| GoldenPart {
                id: id(g),
                document: String::new(),
                title: String::new(),
                text: String::new(),
            })
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
}
