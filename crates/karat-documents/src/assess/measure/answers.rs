//! Scores answers.

use super::{EvaluationResult, Shared};
use crate::assess::assessor::{Assessed, CitedPart};
use crate::assess::search::{RequirementSearch, SearchedBundle};
use karat_core::assessment::items::Item;
use karat_core::assessment::record::Compliance;
use karat_core::assessment::scores::{self, Assessment, Citation, RequirementScore, Stage};
use karat_format::assessment::{AssessedV1, AssessmentV1, CitationV1, PartV1};
use karat_format::ordered_map::OrderedMap;
use karat_format::report::EstimateV1;
use std::collections::BTreeMap;

pub(super) struct ScoredAnswers<'a> {
    pub(super) name: &'a str,
    pub(super) items: Vec<Item>,
    pub(super) report: AssessmentV1,
}

pub(super) fn scored<'a>(shared: &Shared<'_>, answers: &EvaluationResult<'a>) -> ScoredAnswers<'a> {
    let mut all: Vec<(RequirementScore, AssessedV1)> = Vec::new();
    for (bundle, assessed) in shared.bundles.iter().zip(&answers.assessed) {
        let asked = bundle.requirements.iter().zip(assessed);
        all.extend(asked.map(|(search, assessed)| score_requirement(bundle, search, assessed)));
    }
    let items: Vec<Item> = all.iter().map(|(score, _)| score.adds()).collect();
    let answered = all.iter().filter(|(score, _)| score.is_answered).count();
    let in_part = 0 < answered && answered < all.len();
    let answered_only = if in_part { only_answered(shared, &all) } else { OrderedMap::default() };
    let (mut lost, mut kept): (BTreeMap<Stage, usize>, usize) = (BTreeMap::new(), 0);
    let mut unanswered: BTreeMap<String, usize> = BTreeMap::new();
    let mut verdicts: BTreeMap<Compliance, BTreeMap<String, usize>> = BTreeMap::new();
    for (score, one) in &all {
        for part in &score.parts {
            match part.lost {
                Some(stage) => *lost.entry(stage).or_default() += 1,
                None => kept += 1,
            }
        }
        if let Some(why) = &one.unanswered {
            *unanswered.entry(why.kind.clone()).or_default() += 1;
        }
        let said = one.said.map_or("unanswered", Compliance::name);
        *verdicts.entry(one.golden).or_default().entry(said.to_owned()).or_default() += 1;
    }
    let (provider, model) = answers.assessor.provider_and_model();
    let report = AssessmentV1 {
        provider: provider.to_owned(),
        model: model.to_owned(),
        prompts: answers.assessor.prompts(),
        metrics: shared.metrics(&items),
        answered_only,
        answered,
        unanswered,
        lost,
        kept,
        verdicts,
        requirements: all.into_iter().map(|(_, one)| one).collect(),
    };
    ScoredAnswers { name: &answers.assessor.name, items, report }
}

/// The metrics of the answered requirements. They may be biased: hard requirements may fail more often.
fn only_answered(shared: &Shared<'_>, all: &[(RequirementScore, AssessedV1)]) -> OrderedMap<EstimateV1> {
    let places: Vec<usize> = (0..all.len()).filter(|at| all[*at].0.is_answered).collect();
    let items: Vec<Item> = places.iter().map(|at| all[*at].0.adds()).collect();
    let clusters = shared.clusters.as_ref().map(|names| places.iter().map(|at| names[*at]).collect());
    Shared { bundles: shared.bundles, clusters, how: shared.how }.metrics(&items)
}

fn score_requirement(
    bundle: &SearchedBundle<'_>,
    search: &RequirementSearch<'_>,
    assessed: &Assessed,
) -> (RequirementScore, AssessedV1) {
    let rules = &bundle.bundle.template.config.scoring;
    let part = |cited: &CitedPart| cited.part.and_then(|at| search.hits.get(at)).map(|hit| hit.part);
    let answer = assessed.as_ref().ok().map(|opinion| Assessment {
        verdict: opinion.verdict,
        citations: opinion.citations.iter().map(|cited| Citation { role: cited.role, part: part(cited) }).collect(),
    });
    let score = scores::score(search.requirement, answer.as_ref(), &search.matches, &search.ranked(), rules);
    let goldens: Vec<_> = search.requirement.evidence_parts().collect();
    let citation = |cited: &CitedPart| {
        let place = part(cited);
        let held = |at: &usize| place.is_some_and(|part| search.matches.category(*at, part).is_hit());
        CitationV1 {
            name: cited.name.clone(),
            role: cited.role,
            part: place.map(|part| bundle.parts[part].section.id.to_string()),
            golden: (0..goldens.len()).filter(held).map(|at| goldens[at].1.id.to_string()).collect(),
        }
    };
    let parts = goldens.iter().zip(&score.parts).map(|((role, golden), part)| PartV1 {
        part: golden.id.to_string(),
        role: *role,
        weight: part.weight,
        cited: part.cited,
        credit: part.credit,
        lost: part.lost,
    });
    let opinion = assessed.as_ref().ok();
    let report = AssessedV1 {
        bundle_id: bundle.bundle.record.bundle.clone(),
        template_id: bundle.bundle.template.id.clone(),
        requirement_id: search.requirement.id.to_string(),
        golden: search.requirement.assessment,
        said: opinion.map(|opinion| opinion.verdict),
        compliance: score.compliance,
        evidence: score.evidence.ok(),
        combined: score.combined,
        rationale: opinion.map(|opinion| opinion.rationale.clone()).unwrap_or_default(),
        relevant: opinion.map_or(0, |opinion| opinion.relevant.len()),
        citations: opinion.map(|opinion| opinion.citations.iter().map(citation).collect()).unwrap_or_default(),
        parts: parts.collect(),
        unanswered: assessed.as_ref().err().cloned(),
    };
    (score, report)
}
