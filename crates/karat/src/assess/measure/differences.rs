//! Assessors held against each other, requirement by requirement.

use super::Shared;
use super::answers::Scored;
use crate::format::assessment::{PairV1, SaidV1, SideBySideV1};
use crate::format::comparison::DifferenceV1;
use crate::format::in_order::InOrder;
use karat_core::assessment::items::{Sides, compare};

/// Every two assessors, and what each said. For each metric the pairs are one family, over which p values are adjusted.
pub(super) fn side_by_side(shared: &Shared<'_>, scored: &[Scored<'_>]) -> SideBySideV1 {
    let both: Vec<(usize, usize)> =
        (0..scored.len()).flat_map(|a| (a + 1..scored.len()).map(move |b| (a, b))).collect();
    let sides: Vec<Sides<'_>> =
        both.iter().map(|(a, b)| Sides { a: &scored[*a].items, b: &scored[*b].items }).collect();
    let named = |at: usize| scored[at].name.to_owned();
    let mut pairs: Vec<PairV1> =
        both.iter().map(|(a, b)| PairV1 { a: named(*a), b: named(*b), metrics: Vec::new() }).collect();
    let ids: Vec<&str> = scored.first().map(|one| one.report.metrics.names().collect()).unwrap_or_default();
    let requirements: usize = shared.looked.iter().map(|bundle| bundle.sought.len()).sum();
    for id in ids {
        let compared = compare(&sides, id, shared.clusters.as_deref(), &shared.rules());
        for (pair, compared) in pairs.iter_mut().zip(&compared) {
            pair.metrics.push(DifferenceV1::new(id, compared, requirements - compared.n));
        }
    }
    SideBySideV1 { margin: shared.how.margin, pairs, requirements: said(scored) }
}

fn said(scored: &[Scored<'_>]) -> Vec<SaidV1> {
    let Some(first) = scored.first() else { return Vec::new() };
    let one = |(at, requirement): (usize, &crate::format::assessment::AssessedV1)| SaidV1 {
        bundle_id: requirement.bundle_id.clone(),
        template_id: requirement.template_id.clone(),
        requirement_id: requirement.requirement_id.clone(),
        golden: requirement.golden,
        said: InOrder(scored.iter().map(|one| (one.name.to_owned(), one.report.requirements[at].said)).collect()),
        combined: InOrder(
            scored.iter().map(|one| (one.name.to_owned(), one.report.requirements[at].combined)).collect(),
        ),
    };
    first.report.requirements.iter().enumerate().map(one).collect()
}
