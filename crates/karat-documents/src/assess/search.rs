//! Searches every requirement of every bundle once, for all assessors.
//!
//! The documents of a bundle form a [`Corpus`] of parts, which are searched, cited and matched with golden parts.

use super::Template;
use super::bundle::{Bundle, BundleRef};
use super::event::AssessEvent;
use crate::ingest::{Document, Section};
use crate::retrieval::embed::Embedder;
use crate::retrieval::rerank::Reranker;
use crate::retrieval::{Analysis, Hit, Index, Language, ModelUse, Passage, Query, RetrievalError, SearchOptions};
use karat_core::assessment::part_match::{Matches, PartIndex};
use karat_core::assessment::record::{GoldenPart, Requirement};
use karat_core::assessment::retrieval::{RankedItem, Retrieval};
use karat_core::assessment::text::{Tokens, Vocabulary};
use karat_format::assessment::CutV1;
use karat_format::template::TemplateRequirementV1;
use std::collections::BTreeMap;
use std::time::Instant;

/// All parts of a bundle's documents, in document order.
pub struct Corpus<'a> {
    pub bundle: &'a Bundle,
    /// Referred to by index everywhere else.
    pub parts: Vec<Part<'a>>,
    pub analysis: Analysis,
    vocabulary: Vocabulary,
    index: PartIndex,
}

#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    pub document: &'a str,
    pub section: &'a Section,
}

impl Part<'_> {
    /// The heading with those above it.
    pub fn full_heading(&self) -> String {
        let above = self.section.path.iter().map(String::as_str);
        above.chain([self.section.heading.as_str()]).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" › ")
    }
}

impl<'a> Corpus<'a> {
    /// Builds the corpus of a bundle, in its template's language or the detected one.
    pub fn new(bundle: &'a Bundle) -> Result<Self, RetrievalError> {
        let document_parts =
            |document: &'a Document| document.sections.iter().map(|section| Part { document: &document.name, section });
        let parts: Vec<Part<'a>> = bundle.documents.iter().flat_map(document_parts).collect();
        let mut vocabulary = Vocabulary::default();
        let tokens = parts.iter().map(|part| vocabulary.read(&part.section.heading, &part.section.body)).collect();
        let stated = &bundle.template.config.search;
        let language = Language::resolve(stated.language.as_deref(), &passages(&parts))?;
        let analysis = Analysis::new(language, &stated.stop_words);
        Ok(Self { bundle, parts, analysis, vocabulary, index: PartIndex::new(tokens) })
    }

    /// Matches all parts with the golden parts of a requirement.
    pub fn matches(&mut self, requirement: &Requirement) -> Matches {
        let mut read = |part: &GoldenPart| self.vocabulary.read(&part.title, &part.text);
        let goldens: Vec<Tokens> = requirement.evidence_parts().map(|(_, part)| read(part)).collect();
        self.index.matches(&goldens, &self.bundle.template.config.scoring.thresholds)
    }
}

fn passages(parts: &[Part<'_>]) -> Vec<Passage> {
    let passage = |part: &Part<'_>| Passage { heading: part.section.heading.clone(), body: part.section.body.clone() };
    parts.iter().map(passage).collect()
}

/// A bundle with its search results.
pub struct SearchedBundle<'a> {
    pub corpus: Corpus<'a>,
    /// In the order of the record.
    pub requirements: Vec<RequirementSearch<'a>>,
}

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
pub struct SearchProviders<'m> {
    pub options: SearchOptions,
    /// `None` if vectors are not used.
    pub embedder: Option<&'m dyn Embedder>,
    pub reranker: Option<&'m dyn Reranker>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    let index = Index::new(&passages(&corpus.parts), &corpus.analysis, embedder)?;
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

/// A run and its relevance judgements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trec {
    /// Lines of `topic Q0 document rank score name`.
    pub run: String,
    /// Lines of `topic 0 document relevance`.
    pub qrels: String,
}

const NAME: &str = "karat";

/// Topics are requirements; documents are golden parts and other retrieved parts. A golden part is ranked where it is first
/// found completely; a part with several takes as many ranks. Measures computed from these files equal those of the report.
pub fn trec(bundles: &[SearchedBundle<'_>]) -> Trec {
    let mut trec = Trec::default();
    for bundle in bundles {
        for search in &bundle.requirements {
            let own = bundle.corpus.bundle;
            let topic = plain(&format!("{}/{}/{}", own.template.id, own.record.bundle, search.requirement.id));
            let golden: Vec<String> =
                search.requirement.evidence_parts().map(|(_, part)| plain(&format!("golden:{}", part.id))).collect();
            trec.qrels.extend(golden.iter().map(|part| format!("{topic} 0 {part} 1\n")));
            let places = Retrieval::new(&search.matches, &search.ranked()).places();
            for (at, place) in places.iter().enumerate() {
                let document = match place {
                    RankedItem::Golden(part) => golden[*part].clone(),
                    RankedItem::Other(rank) => other(bundle, search, *rank),
                };
                // Scores only state the order; those of different stages are not comparable.
                trec.run.push_str(&format!("{topic} Q0 {document} {} {} {NAME}\n", at + 1, places.len() - at));
            }
        }
    }
    trec
}

fn other(bundle: &SearchedBundle<'_>, search: &RequirementSearch<'_>, rank: usize) -> String {
    let part = &bundle.corpus.parts[search.hits[rank - 1].part];
    plain(&format!("{}:{}", part.document, part.section.id))
}

/// Escapes blanks, which separate columns, keeping names distinct.
fn plain(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '%' => out.push_str("%25"),
            c if c.is_whitespace() || c.is_control() => out.push_str(&format!("%{:02X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}
