//! Compares assessors requirement by requirement.

use super::Shared;
use super::answers::ScoredAnswers;
use karat_core::assessment::items::{AnswerPair, compare};
use karat_format::assessment::{PairV1, RequirementAnswersV1, SideBySideV1};
use karat_format::comparison::DifferenceV1;
use karat_format::ordered_map::OrderedMap;

/// Compares every two assessors. The pairs of each metric form one family for adjusting p-values.
pub(super) fn side_by_side(shared: &Shared<'_>, scored: &[ScoredAnswers<'_>]) -> SideBySideV1 {
    let both: Vec<(usize, usize)> =
        (0..scored.len()).flat_map(|a| (a + 1..scored.len()).map(move |b| (a, b))).collect();
    let sides: Vec<AnswerPair<'_>> =
        both.iter().map(|(a, b)| AnswerPair { a: &scored[*a].items, b: &scored[*b].items }).collect();
    let named = |at: usize| scored[at].name.to_owned();
    let mut pairs: Vec<PairV1> =
        both.iter().map(|(a, b)| PairV1 { a: named(*a), b: named(*b), metrics: Vec::new() }).collect();
    let ids: Vec<&str> = scored.first().map(|one| one.report.metrics.names().collect()).unwrap_or_default();
    let requirements: usize = shared.bundles.iter().map(|bundle| bundle.requirements.len()).sum();
    for id in ids {
        let compared = compare(&sides, id, shared.clusters.as_deref(), &shared.rules());
        for (pair, compared) in pairs.iter_mut().zip(&compared) {
            pair.metrics.push(DifferenceV1::new(id, compared, requirements - compared.n));
        }
    }
    SideBySideV1 { margin: shared.how.margin, pairs, requirements: answers_by_requirement(scored) }
}

fn answers_by_requirement(scored: &[ScoredAnswers<'_>]) -> Vec<RequirementAnswersV1> {
    let Some(first) = scored.first() else { return Vec::new() };
    let one = |(at, requirement): (usize, &karat_format::assessment::AssessedV1)| RequirementAnswersV1 {
        bundle_id: requirement.bundle_id.clone(),
        template_id: requirement.template_id.clone(),
        requirement_id: requirement.requirement_id.clone(),
        golden: requirement.golden,
        said: OrderedMap(scored.iter().map(|one| (one.name.to_owned(), one.report.requirements[at].said)).collect()),
        combined: OrderedMap(
            scored.iter().map(|one| (one.name.to_owned(), one.report.requirements[at].combined)).collect(),
        ),
    };
    first.report.requirements.iter().enumerate().map(one).collect()
}
