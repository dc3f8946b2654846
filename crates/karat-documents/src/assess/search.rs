//! Searches every requirement of every bundle once, for all assessors.

use super::bundle::Bundle;
use super::{AssessEvent, Template};
use crate::Result;
use crate::ingest::{Document, Section};
use crate::retrieval::embed::{Embedded, Embedder, Side};
use crate::retrieval::rerank::{RerankRequest, Reranked, Reranker};
use crate::retrieval::{Analysis, Hit, Index, Language, ModelUse, Passage, SearchOptions};
use karat_core::assessment::part_match::{Matches, PartIndex};
use karat_core::assessment::record::{GoldenPart, Requirement, Role};
use karat_core::assessment::retrieval::{RankedItem, Retrieval};
use karat_core::assessment::text::{Tokens, Vocabulary};
use karat_format::assessment::CutV1;
use karat_format::template::TemplateRequirementV1;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What is searched, cited and matched with golden parts.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    pub document: &'a str,
    pub section: &'a Section,
}

impl Part<'_> {
    pub(super) fn full_heading(&self) -> String {
        let above = self.section.path.iter().map(String::as_str);
        above.chain([self.section.heading.as_str()]).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" › ")
    }
}

/// A bundle with its search results.
pub struct SearchedBundle<'a> {
    pub bundle: &'a Bundle,
    /// In document order; referred to by index everywhere else.
    pub parts: Vec<Part<'a>>,
    /// In the template's language or the detected one.
    pub analysis: Analysis,
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
    /// The indices of the retrieved parts, best first.
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
    providers: &mut dyn FnMut(&Template) -> Result<SearchProviders<'m>>,
    observer: &mut dyn FnMut(AssessEvent<'_>),
) -> Result<(Vec<SearchedBundle<'a>>, SearchCost)> {
    let (mut results, mut cost) = (Vec::new(), SearchCost::default());
    for bundle in bundles {
        let began = Instant::now();
        let providers = providers(&bundle.template)?;
        let found = search_bundle(bundle, wanted, &providers, &mut cost, observer)?;
        let (bundle_id, template_id) = (bundle.record.bundle.as_str(), bundle.template.id.as_str());
        let (requirements, took) = (found.requirements.len(), began.elapsed());
        observer(AssessEvent::Searched { bundle_id, template_id, requirements, took });
        results.push(found);
    }
    Ok((results, cost))
}

fn search_bundle<'a>(
    bundle: &'a Bundle,
    wanted: &dyn Fn(&str) -> bool,
    providers: &SearchProviders<'_>,
    cost: &mut SearchCost,
    observer: &mut dyn FnMut(AssessEvent<'_>),
) -> Result<SearchedBundle<'a>> {
    let document_parts =
        |document: &'a Document| document.sections.iter().map(|section| Part { document: &document.name, section });
    let parts: Vec<Part<'a>> = bundle.documents.iter().flat_map(document_parts).collect();
    let passage = |part: &Part<'_>| Passage { heading: part.section.heading.clone(), body: part.section.body.clone() };
    let passages: Vec<Passage> = parts.iter().map(passage).collect();
    let stated = &bundle.template.config.search;
    let language = Language::resolve(stated.language.as_deref(), &passages)?;
    let analysis = Analysis::new(language, &stated.stop_words);
    let with_query = |requirement: &'a Requirement| {
        let stated = bundle.template.config.requirements.get(requirement.id.as_str())?;
        wanted(requirement.id.as_str()).then(|| (requirement, stated, query(stated, language.code)))
    };
    let asked: Vec<_> = bundle.record.requirements.iter().filter_map(with_query).collect();
    let queries: Vec<String> = asked.iter().map(|(_, _, text)| text.clone()).collect();
    let calls = Calls::default();
    let embedder = providers.embedder.filter(|_| providers.options.by_vectors());
    let embedder = embedder.map(|model| Recorded { model, calls: &calls });
    let reranker = providers.reranker.map(|model| Recorded { model, calls: &calls });
    let embedder = embedder.as_ref().map(|recorded| recorded as &dyn Embedder);
    let found = Index::new(&passages, &analysis, embedder).and_then(|index| {
        let reranker = reranker.as_ref().map(|recorded| recorded as &dyn Reranker);
        index.search(&queries, &providers.options, embedder, reranker)
    });
    let ids: Vec<&str> = asked.iter().map(|(requirement, ..)| requirement.id.as_str()).collect();
    report_calls(calls, bundle, &queries, &ids, cost, observer);
    let found = found?;
    cost.searches += queries.len();
    let mut vocabulary = Vocabulary::default();
    let tokens = parts.iter().map(|part| vocabulary.read(&part.section.heading, &part.section.body)).collect();
    let part_index = PartIndex::new(tokens);
    let mut requirements = Vec::with_capacity(asked.len());
    for ((requirement, stated, query), hits) in asked.into_iter().zip(found.ranked) {
        let golden = |(_, part): (Role, &GoldenPart)| vocabulary.read(&part.title, &part.text);
        let goldens: Vec<Tokens> = requirement.evidence_parts().map(golden).collect();
        let matches = part_index.matches(&goldens, &bundle.template.config.scoring.thresholds);
        requirements.push(RequirementSearch { requirement, stated, query, hits, matches });
    }
    Ok(SearchedBundle { bundle, parts, analysis, requirements })
}

/// What embedders and rerankers were asked, in the order of completion.
type Calls = Mutex<Vec<Call>>;

struct Call {
    stage: &'static str,
    provider: String,
    /// `None` if sections were embedded.
    query: Option<String>,
    took: Duration,
    used: Result<ModelUse>,
}

/// An embedder or reranker whose calls are recorded.
struct Recorded<'m, M: ?Sized> {
    model: &'m M,
    calls: &'m Calls,
}

impl<M: ?Sized> Recorded<'_, M> {
    fn record<T>(
        &self,
        stage: &'static str,
        provider: String,
        query: Option<&str>,
        ask: impl FnOnce(&M) -> Result<T>,
        used: impl FnOnce(&T) -> ModelUse,
    ) -> Result<T> {
        let began = Instant::now();
        let answer = ask(self.model);
        let used = answer.as_ref().map(used).map_err(Clone::clone);
        let call = Call { stage, provider, query: query.map(str::to_owned), took: began.elapsed(), used };
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
        answer
    }
}

impl Embedder for Recorded<'_, dyn Embedder + '_> {
    fn id(&self) -> String {
        self.model.id()
    }

    fn embed(&self, texts: &[String], side: Side) -> Result<Embedded> {
        let query = texts.first().filter(|_| side == Side::Query).map(String::as_str);
        self.record("embedding", self.id(), query, |model| model.embed(texts, side), |embedded| embedded.used)
    }
}

impl Reranker for Recorded<'_, dyn Reranker + '_> {
    fn id(&self) -> String {
        self.model.id()
    }

    fn rerank(&self, request: &RerankRequest<'_>) -> Result<Reranked> {
        let ask = |model: &(dyn Reranker + '_)| model.rerank(request);
        self.record("rerank", self.id(), Some(request.query), ask, |reranked| reranked.used)
    }
}

/// Reports calls by requirement; those for sections come first.
fn report_calls(
    calls: Calls,
    bundle: &Bundle,
    queries: &[String],
    requirements: &[&str],
    cost: &mut SearchCost,
    observer: &mut dyn FnMut(AssessEvent<'_>),
) {
    // Requirements with equal queries get the calls in turn.
    let mut next: BTreeMap<(&str, usize), usize> = BTreeMap::new();
    let mut placed = Vec::new();
    let calls = calls.into_inner().unwrap_or_else(PoisonError::into_inner);
    for call in &calls {
        let place = call.query.as_ref().and_then(|query| {
            let first = queries.iter().position(|own| own == query)?;
            let from = next.entry((call.stage, first)).or_insert(first);
            let place = *from + queries[*from..].iter().position(|own| own == query)?;
            *from = place + 1;
            Some(place)
        });
        placed.push((place, call));
    }
    placed.sort_by_key(|(place, call)| (*place, call.stage));
    for (place, call) in placed {
        if let Ok(used) = &call.used
            && used.cut.texts > 0
        {
            *cost.cut.entry(call.provider.clone()).or_default() += used.cut;
        }
        observer(AssessEvent::SearchModelUsed {
            stage: call.stage,
            provider: &call.provider,
            bundle_id: &bundle.record.bundle,
            template_id: &bundle.template.id,
            requirement_id: place.map(|place| requirements[place]),
            took: call.took,
            used: &call.used,
        });
    }
}

/// The query: the template's words for the documents' language, else title and description.
fn query(stated: &TemplateRequirementV1, language: &str) -> String {
    let own = stated.queries.get(language).filter(|query| !query.trim().is_empty());
    own.cloned().unwrap_or_else(|| format!("{}\n\n{}", stated.title.trim(), stated.description.trim()))
}

/// A run and its relevance judgements as TREC files, by name. Topics are requirements; documents are golden parts and other
/// retrieved parts. A golden part is ranked where it is first found completely; a part with several takes as many ranks.
/// Measures computed from these files equal those of the report.
pub fn trec(bundles: &[SearchedBundle<'_>]) -> [(&'static str, String); 2] {
    let (mut run, mut qrels) = (String::new(), String::new());
    for bundle in bundles {
        for search in &bundle.requirements {
            let own = bundle.bundle;
            let topic = plain(&format!("{}/{}/{}", own.template.id, own.record.bundle, search.requirement.id));
            let golden: Vec<String> =
                search.requirement.evidence_parts().map(|(_, part)| plain(&format!("golden:{}", part.id))).collect();
            qrels.extend(golden.iter().map(|part| format!("{topic} 0 {part} 1\n")));
            let places = Retrieval::new(&search.matches, &search.ranked()).places();
            for (at, place) in places.iter().enumerate() {
                let document = match place {
                    RankedItem::Golden(part) => golden[*part].clone(),
                    RankedItem::Other(rank) => {
                        let part = &bundle.parts[search.hits[*rank - 1].part];
                        plain(&format!("{}:{}", part.document, part.section.id))
                    }
                };
                // Scores only state the order; those of different stages are not comparable.
                run.push_str(&format!("{topic} Q0 {document} {} {} karat\n", at + 1, places.len() - at));
            }
        }
    }
    [("run.txt", run), ("qrels.txt", qrels)]
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
