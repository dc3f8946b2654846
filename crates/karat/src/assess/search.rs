//! Every requirement of every bundle searched for, once, whoever assesses it afterwards.

use super::corpus::Corpus;
use super::event::{AssessEvent, Named};
use super::{Bundle, Template};
use crate::format::assessment::CutV1;
use crate::format::template::TemplateRequirementV1;
use crate::retrieval::embed::Embedder;
use crate::retrieval::rerank::Reranker;
use crate::retrieval::{Effort, Hit, Index, Knobs, Query, RetrievalError};
use karat_core::assessment::part_match::Matches;
use karat_core::assessment::record::Requirement;
use std::collections::BTreeMap;
use std::time::Instant;

/// A bundle whose requirements were searched for.
pub struct Looked<'a> {
    /// Its parts.
    pub corpus: Corpus<'a>,
    /// The requirements, in the order of the record.
    pub sought: Vec<Sought<'a>>,
}

/// A requirement, and what was found for it.
pub struct Sought<'a> {
    /// The requirement, as the record has it.
    pub requirement: &'a Requirement,
    /// The same as the template has it.
    pub stated: &'a TemplateRequirementV1,
    /// What was searched for.
    pub query: String,
    /// What was found, the best first.
    pub hits: Vec<Hit>,
    /// How all parts stand to its golden parts.
    pub matches: Matches,
}

impl Sought<'_> {
    /// The parts that were found, by their places in the corpus, the best first.
    pub fn ranked(&self) -> Vec<usize> {
        self.hits.iter().map(|hit| hit.part).collect()
    }
}

/// Who helps to search for the requirements of a template.
pub struct Means<'m> {
    /// How.
    pub knobs: Knobs,
    /// What makes vectors; nobody where none are needed.
    pub embedder: Option<&'m dyn Embedder>,
    /// What puts candidates into a better order.
    pub reranker: Option<&'m dyn Reranker>,
}

/// What searching took beside time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Took {
    /// How many requirements were searched for.
    pub searches: usize,
    /// What was cut, by who could not take more.
    pub cut: BTreeMap<String, CutV1>,
}

/// Searches for every requirement that `wanted` lets through, in each bundle.
pub fn search<'a, 'm>(
    bundles: &'a [Bundle],
    wanted: &dyn Fn(&str) -> bool,
    means: &mut dyn FnMut(&Template) -> Result<Means<'m>, RetrievalError>,
    tell: &mut dyn FnMut(AssessEvent<'_>),
) -> Result<(Vec<Looked<'a>>, Took), RetrievalError> {
    let (mut looked, mut took) = (Vec::new(), Took::default());
    for bundle in bundles {
        let began = Instant::now();
        let means = means(&bundle.template)?;
        let found = one(bundle, wanted, &means, &mut took)?;
        let named = Named { bundle_id: &bundle.record.bundle, template_id: &bundle.template.id };
        tell(AssessEvent::Searched { bundle: named, requirements: found.sought.len(), took: began.elapsed() });
        looked.push(found);
    }
    Ok((looked, took))
}

fn one<'a>(
    bundle: &'a Bundle,
    wanted: &dyn Fn(&str) -> bool,
    means: &Means<'_>,
    took: &mut Took,
) -> Result<Looked<'a>, RetrievalError> {
    let mut corpus = Corpus::new(bundle)?;
    let language = corpus.analysis.language.code;
    let of = |requirement: &'a Requirement| {
        let stated = bundle.template.config.requirements.get(requirement.id.as_str())?;
        wanted(requirement.id.as_str()).then(|| (requirement, stated, query(stated, language)))
    };
    let asked: Vec<_> = bundle.record.requirements.iter().filter_map(of).collect();
    let queries: Vec<Query> = asked
        .iter()
        .map(|(requirement, _, text)| Query { id: requirement.id.to_string(), text: text.clone() })
        .collect();
    let embedder = means.embedder.filter(|_| means.knobs.by_vectors());
    let index = Index::new(&corpus.passages(), &corpus.analysis, embedder)?;
    let found = index.search(&queries, &means.knobs, embedder, means.reranker)?;
    took.searches += queries.len();
    let mut cut = |who: Option<String>, effort: Effort| {
        if let Some(who) = who.filter(|_| effort.cut.texts > 0) {
            let cut = took.cut.entry(who).or_default();
            cut.texts += effort.cut.texts;
            cut.characters += effort.cut.chars;
        }
    };
    cut(embedder.map(Embedder::id), index.effort());
    cut(embedder.map(Embedder::id), found.embedder);
    cut(means.reranker.map(Reranker::id), found.reranker);
    let mut sought = Vec::with_capacity(asked.len());
    for ((requirement, stated, query), hits) in asked.into_iter().zip(found.ranked) {
        let matches = corpus.matches(requirement);
        sought.push(Sought { requirement, stated, query, hits, matches });
    }
    Ok(Looked { corpus, sought })
}

/// What is searched for: the words for the language of the documents, else title and description.
fn query(stated: &TemplateRequirementV1, language: &str) -> String {
    let own = stated.queries.get(language).filter(|query| !query.trim().is_empty());
    own.cloned().unwrap_or_else(|| format!("{}\n\n{}", stated.title.trim(), stated.description.trim()))
}
