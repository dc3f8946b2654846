//! Scores search results.

use super::Shared;
use crate::assess::search::{RequirementSearch, SearchedBundle};
use crate::retrieval::Hit;
use karat_core::assessment::items::Item;
use karat_core::assessment::part_match::{Category, Near};
use karat_core::assessment::retrieval::Retrieval;
use karat_format::assessment::{FoundV1, RankedV1, RetrievalV1, RetrievedV1};
use std::collections::BTreeMap;

pub(super) fn retrieval(shared: &Shared<'_>) -> RetrievalV1 {
    let (mut items, mut requirements): (Vec<Item>, Vec<RetrievedV1>) = (Vec::new(), Vec::new());
    let mut categories: BTreeMap<Category, usize> = BTreeMap::new();
    let mut k = None;
    for bundle in shared.bundles {
        let own = bundle.bundle.template.config.scoring.k;
        k.get_or_insert(own);
        for search in &bundle.requirements {
            let found = Retrieval::new(&search.matches, &search.ranked());
            found.parts.iter().for_each(|part| *categories.entry(part.category).or_default() += 1);
            items.push(found.adds(own));
            requirements.push(retrieved(bundle, search, &found));
        }
    }
    RetrievalV1 { k: k.unwrap_or_default(), metrics: shared.metrics(&items), categories, requirements }
}

fn retrieved(bundle: &SearchedBundle<'_>, search: &RequirementSearch<'_>, found: &Retrieval) -> RetrievedV1 {
    let goldens: Vec<_> = search.requirement.evidence_parts().collect();
    let parts = goldens.iter().zip(&found.parts).enumerate().map(|(at, ((role, part), found))| {
        let best = found.rank.and_then(|rank| match_with(search, at, search.hits[rank - 1].part));
        FoundV1 {
            part: part.id.to_string(),
            role: *role,
            document: part.document.clone(),
            title: part.title.clone(),
            category: found.category,
            rank: found.rank,
            golden_coverage: best.map_or(0.0, |near| near.found.golden_coverage),
            part_coverage: best.map_or(0.0, |near| near.found.part_coverage),
        }
    });
    RetrievedV1 {
        bundle_id: bundle.bundle.record.bundle.clone(),
        template_id: bundle.bundle.template.id.clone(),
        requirement_id: search.requirement.id.to_string(),
        query: search.query.clone(),
        recall: found.recall().ok(),
        ranked: search.hits.iter().enumerate().map(|(at, hit)| ranked(bundle, search, at + 1, hit)).collect(),
        parts: parts.collect(),
    }
}

fn match_with<'a>(search: &'a RequirementSearch<'_>, golden: usize, part: usize) -> Option<&'a Near> {
    search.matches.near_parts(golden).iter().find(|near| near.part == part)
}

fn ranked(bundle: &SearchedBundle<'_>, search: &RequirementSearch<'_>, rank: usize, hit: &Hit) -> RankedV1 {
    let part = &bundle.parts[hit.part];
    let golden = search.requirement.evidence_parts().enumerate().filter_map(|(at, (_, golden))| {
        match_with(search, at, hit.part).map(|near| (golden.id.to_string(), near.found.category))
    });
    RankedV1 {
        rank,
        part: part.section.id.to_string(),
        document: part.document.to_owned(),
        heading: part.section.heading.clone(),
        place: part.section.place.to_string(),
        score: hit.score,
        bm25: hit.bm25,
        embedding: hit.embedding,
        rerank: hit.rerank,
        golden: golden.collect(),
    }
}
