//! Searches every requirement of every bundle once, for all assessors.

use super::corpus::Corpus;
use super::event::{AssessEvent, BundleRef};
use super::{Bundle, Template};
use crate::retrieval::embed::Embedder;
use crate::retrieval::rerank::Reranker;
use crate::retrieval::{Hit, Index, ModelUse, Query, RetrievalError, SearchOptions};
use karat_core::assessment::part_match::Matches;
use karat_core::assessment::record::Requirement;
use karat_format::assessment::CutV1;
use karat_format::template::TemplateRequirementV1;
use std::collections::BTreeMap;
use std::time::Instant;

/// A bundle with its search results.
#[expect(missing_docs, reason = "field names say it")]
pub struct SearchedBundle<'a> {
    pub corpus: Corpus<'a>,
    /// In the order of the record.
    pub requirements: Vec<RequirementSearch<'a>>,
}

/// A requirement and its search results.
#[expect(missing_docs, reason = "field names say it")]
pub struct RequirementSearch<'a> {
    pub requirement: &'a Requirement,
    pub stated: &'a TemplateRequirementV1,
    pub query: String,
    pub hits: Vec<Hit>,
    pub matches: Matches,
}

impl RequirementSearch<'_> {
    /// The retrieved parts as indices into the corpus, best first.
    pub fn ranked(&self) -> Vec<usize> {
        self.hits.iter().map(|hit| hit.part).collect()
    }
}

/// What searching the requirements of a template needs.
#[expect(missing_docs, reason = "field names say it")]
pub struct SearchProviders<'m> {
    pub options: SearchOptions,
    /// `None` if vectors are not used.
    pub embedder: Option<&'m dyn Embedder>,
    pub reranker: Option<&'m dyn Reranker>,
}

/// The cost of searching.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct SearchCost {
    pub searches: usize,
    /// Truncated texts, by provider.
    pub cut: BTreeMap<String, CutV1>,
}

/// Searches all requirements selected by `wanted` in each bundle.
pub fn search<'a, 'm>(
    bundles: &'a [Bundle],
    wanted: &dyn Fn(&str) -> bool,
    means: &mut dyn FnMut(&Template) -> Result<SearchProviders<'m>, RetrievalError>,
    observer: &mut dyn FnMut(AssessEvent<'_>),
) -> Result<(Vec<SearchedBundle<'a>>, SearchCost), RetrievalError> {
    let (mut results, mut took) = (Vec::new(), SearchCost::default());
    for bundle in bundles {
        let began = Instant::now();
        let means = means(&bundle.template)?;
        let found = search_bundle(bundle, wanted, &means, &mut took)?;
        let named = BundleRef { bundle_id: &bundle.record.bundle, template_id: &bundle.template.id };
        observer(AssessEvent::Searched {
            bundle: named,
            requirements: found.requirements.len(),
            took: began.elapsed(),
        });
        results.push(found);
    }
    Ok((results, took))
}

fn search_bundle<'a>(
    bundle: &'a Bundle,
    wanted: &dyn Fn(&str) -> bool,
    means: &SearchProviders<'_>,
    took: &mut SearchCost,
) -> Result<SearchedBundle<'a>, RetrievalError> {
    let mut corpus = Corpus::new(bundle)?;
    let language = corpus.analysis.language.code;
    let with_query = |requirement: &'a Requirement| {
        let stated = bundle.template.config.requirements.get(requirement.id.as_str())?;
        wanted(requirement.id.as_str()).then(|| (requirement, stated, query(stated, language)))
    };
    let asked: Vec<_> = bundle.record.requirements.iter().filter_map(with_query).collect();
    let queries: Vec<Query> = asked
        .iter()
        .map(|(requirement, _, text)| Query { id: requirement.id.to_string(), text: text.clone() })
        .collect();
    let embedder = means.embedder.filter(|_| means.options.by_vectors());
    let index = Index::new(&corpus.passages(), &corpus.analysis, embedder)?;
    let found = index.search(&queries, &means.options, embedder, means.reranker)?;
    took.searches += queries.len();
    let mut cut = |who: Option<String>, effort: ModelUse| {
        if let Some(who) = who.filter(|_| effort.cut.texts > 0) {
            let cut = took.cut.entry(who).or_default();
            cut.texts += effort.cut.texts;
            cut.characters += effort.cut.chars;
        }
    };
    cut(embedder.map(Embedder::id), index.effort());
    cut(embedder.map(Embedder::id), found.embedder);
    cut(means.reranker.map(Reranker::id), found.reranker);
    let mut requirements = Vec::with_capacity(asked.len());
    for ((requirement, stated, query), hits) in asked.into_iter().zip(found.ranked) {
        let matches = corpus.matches(requirement);
        requirements.push(RequirementSearch { requirement, stated, query, hits, matches });
    }
    Ok(SearchedBundle { corpus, requirements })
}

/// The query: the template's words for the documents' language, else title and description.
fn query(stated: &TemplateRequirementV1, language: &str) -> String {
    let own = stated.queries.get(language).filter(|query| !query.trim().is_empty());
    own.cloned().unwrap_or_else(|| format!("{}\n\n{}", stated.title.trim(), stated.description.trim()))
}
