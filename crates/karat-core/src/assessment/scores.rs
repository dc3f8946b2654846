//! Scores an assessor's verdicts and evidence, and finds the stage at which evidence was lost.

use super::items::{Adds, Item, NOT_ASKED};
use super::part_match::Matches;
use super::record::{Compliance, Requirement, Role};
use super::rules::Rules;
use crate::metric::{Part, Value, ratio};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an assessor said of a requirement.
#[derive(Clone, Debug, PartialEq)]
pub struct Assessment {
    pub verdict: Compliance,
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
    pub combined: f64,
    pub is_exact: bool,
    pub is_answered: bool,
    /// Whether the assessor could not be asked, so that this says nothing about it.
    pub is_left_out: bool,
    pub parts: Vec<PartScore>,
    pub citations: usize,
    pub right_citations: usize,
}

/// What became of one golden part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartScore {
    pub role: Role,
    pub weight: f64,
    /// What it was cited as: of several roles the one that is worth most.
    pub cited: Option<Role>,
    pub credit: f64,
    /// Where it was lost; none where it was cited in its own role.
    pub lost: Option<Stage>,
}

/// How near a verdict is to the true one: 1 where they are the same, less by a half for each step from yes over partial to no.
/// `not_applicable` lies off that line, and is near nothing else.
pub fn compliance(golden: Compliance, answer: Compliance) -> f64 {
    let step = |verdict: Compliance| match verdict {
        Compliance::Yes => Some(1.0),
        Compliance::Partial => Some(0.5),
        Compliance::No => Some(0.0),
        Compliance::NotApplicable => None,
    };
    match (step(golden), step(answer)) {
        (Some(a), Some(b)) => 1.0 - f64::abs(a - b),
        (None, None) => 1.0,
        _ => 0.0,
    }
}

/// The share of the weight of golden parts that was earned by citing them.
pub fn evidence(parts: &[PartScore]) -> Value {
    let whole: f64 = parts.iter().map(|part| part.weight).sum();
    ratio(parts.iter().map(|part| part.weight * part.credit).sum(), whole, "no golden evidence")
}

/// Scores an answer to a requirement; without one, everything is missed.
/// `matches` compares its golden parts, in the order of the evidence, with all parts read; `retrieved` were shown to the assessor.
pub fn score(
    requirement: &Requirement,
    answer: Option<&Assessment>,
    matches: &Matches,
    retrieved: &[usize],
    rules: &Rules,
) -> RequirementScore {
    let citations = answer.map_or(&[][..], |answer| &answer.citations);
    let roles: Vec<Role> = requirement.evidence_parts().map(|(role, _)| role).collect();
    let part = |(golden, &role): (usize, &Role)| {
        let cited_in = citations.iter().filter(|citation| holds(citation, golden, matches));
        // Its own role comes last and wins among equals, so that nothing is called a wrong role without need.
        let cited = cited_in.map(|citation| citation.role).max_by(|a, b| {
            rules.credit(role, *a).total_cmp(&rules.credit(role, *b)).then((*a == role).cmp(&(*b == role)))
        });
        let lost = match cited {
            Some(cited) if cited == role => None,
            Some(_) => Some(Stage::WrongRole),
            None if retrieved.iter().any(|part| matches.category(golden, *part).is_hit()) => Some(Stage::NotCited),
            None if matches.is_anywhere(golden) => Some(Stage::NotRetrieved),
            None => Some(Stage::NotIngested),
        };
        let credit = cited.map_or(0.0, |cited| rules.credit(role, cited));
        PartScore { role, weight: rules.weight(role), cited, credit, lost }
    };
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
        is_left_out: false,
        parts,
        citations: citations.len(),
        right_citations: citations.iter().filter(is_right).count(),
    }
}

fn holds(citation: &Citation, golden: usize, matches: &Matches) -> bool {
    citation.part.is_some_and(|part| matches.category(golden, part).is_hit())
}

impl RequirementScore {
    /// What it adds to the metrics of answers, in the order of the table.
    pub fn adds(&self) -> Item {
        let value = |value: Value| Adds::Value(if self.is_left_out { value.and(Err(NOT_ASKED)) } else { value });
        vec![
            ("mean_combined_score", value(Ok(self.combined))),
            ("mean_compliance_score", value(Ok(self.compliance))),
            ("mean_evidence_score", value(self.evidence)),
            ("assessment_accuracy", value(Ok(f64::from(u8::from(self.is_exact))))),
            ("citation_precision", Adds::Share(Part::count(self.right_citations, self.citations))),
        ]
    }
}

#[cfg(test)]
mod tests;
