//! What answers are worth.

use super::{Answers, Shared};
use crate::assess::assessor::{Assessed, Cited};
use crate::assess::search::{Looked, Sought};
use crate::format::assessment::{AssessedV1, AssessmentV1, CitationV1, PartV1, UnansweredV1};
use crate::format::in_order::InOrder;
use karat_core::assessment::items::Item;
use karat_core::assessment::record::Compliance;
use karat_core::assessment::scores::{self, Assessment, Citation, RequirementScore, Stage};
use std::collections::BTreeMap;

/// Somebody's answers, scored.
pub(super) struct Scored<'a> {
    /// Who.
    pub(super) name: &'a str,
    /// What each requirement adds to the metrics.
    pub(super) items: Vec<Item>,
    /// All of it.
    pub(super) report: AssessmentV1,
}

/// Scores everything that somebody said.
pub(super) fn scored<'a>(shared: &Shared<'_>, answers: &Answers<'a>) -> Scored<'a> {
    let mut all: Vec<(RequirementScore, AssessedV1)> = Vec::new();
    for (bundle, assessed) in shared.looked.iter().zip(&answers.evaluated.assessed) {
        all.extend(bundle.sought.iter().zip(assessed).map(|(sought, assessed)| one(bundle, sought, assessed)));
    }
    let items: Vec<Item> = all.iter().map(|(score, _)| score.adds()).collect();
    let answered = all.iter().filter(|(score, _)| score.is_answered).count();
    let answered_only = match answered == all.len() || answered == 0 {
        true => InOrder::default(),
        false => only_answered(shared, &all),
    };
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
    let (provider, model) = answers.evaluation.who();
    let report = AssessmentV1 {
        provider: provider.to_owned(),
        model: model.to_owned(),
        prompts: answers.evaluation.prompts(),
        metrics: shared.metrics(&items),
        answered_only,
        answered,
        unanswered,
        lost,
        kept,
        verdicts,
        requirements: all.into_iter().map(|(_, one)| one).collect(),
    };
    Scored { name: &answers.evaluation.name, items, report }
}

/// The metrics of the requirements that were answered. They are no fairer: what is hard may be what failed.
fn only_answered(
    shared: &Shared<'_>,
    all: &[(RequirementScore, AssessedV1)],
) -> InOrder<crate::format::report::EstimateV1> {
    let is_answered = |at: &usize| all[*at].0.is_answered;
    let places: Vec<usize> = (0..all.len()).filter(is_answered).collect();
    let items: Vec<Item> = places.iter().map(|at| all[*at].0.adds()).collect();
    let clusters = shared.clusters.as_ref().map(|names| places.iter().map(|at| names[*at]).collect());
    Shared { looked: shared.looked, clusters, how: shared.how }.metrics(&items)
}

fn one(bundle: &Looked<'_>, sought: &Sought<'_>, assessed: &Assessed) -> (RequirementScore, AssessedV1) {
    let rules = &bundle.corpus.bundle.template.config.scoring;
    let part = |cited: &Cited| cited.part.and_then(|at| sought.hits.get(at)).map(|hit| hit.part);
    let answer = assessed.as_ref().ok().map(|opinion| Assessment {
        verdict: opinion.verdict,
        citations: opinion.citations.iter().map(|cited| Citation { role: cited.role, part: part(cited) }).collect(),
    });
    let score = scores::score(sought.requirement, answer.as_ref(), &sought.matches, &sought.ranked(), rules);
    let goldens: Vec<_> = sought.requirement.evidence_parts().collect();
    let citation = |cited: &Cited| {
        let place = part(cited);
        let held = |at: &usize| place.is_some_and(|part| sought.matches.category(*at, part).is_hit());
        CitationV1 {
            name: cited.name.clone(),
            role: cited.role,
            part: place.map(|part| bundle.corpus.parts[part].section.id.to_string()),
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
        bundle_id: bundle.corpus.bundle.record.bundle.clone(),
        template_id: bundle.corpus.bundle.template.id.clone(),
        requirement_id: sought.requirement.id.to_string(),
        golden: sought.requirement.assessment,
        said: opinion.map(|opinion| opinion.verdict),
        compliance: score.compliance,
        evidence: score.evidence.ok(),
        combined: score.combined,
        rationale: opinion.map(|opinion| opinion.rationale.clone()).unwrap_or_default(),
        relevant: opinion.map_or(0, |opinion| opinion.relevant.len()),
        citations: opinion.map(|opinion| opinion.citations.iter().map(citation).collect()).unwrap_or_default(),
        parts: parts.collect(),
        unanswered: assessed.as_ref().err().map(|why| UnansweredV1 {
            step: why.step,
            kind: why.kind.to_owned(),
            why: why.why.clone(),
        }),
    };
    (score, report)
}
