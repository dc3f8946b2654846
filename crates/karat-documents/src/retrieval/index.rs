//! The search index.

use super::bm25::Bm25;
use super::cut::Truncation;
use super::embed::{Embedded, Embedder, Side, cosine};
use super::fuse::{Hit, fuse, sort};
use super::rerank::{RerankRequest, Reranker};
use super::words::Analysis;
use super::{RetrievalError, SearchOptions};
use rayon::prelude::*;

/// A passage to search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Passage {
    pub heading: String,
    pub body: String,
}

impl Passage {
    /// Heading and body, as searched.
    pub fn text(&self) -> String {
        match (self.heading.trim(), self.body.trim()) {
            ("", body) => body.to_owned(),
            (heading, "") => heading.to_owned(),
            (heading, body) => format!("{heading}\n\n{body}"),
        }
    }
}

/// A query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Query {
    pub id: String,
    pub text: String,
}

/// What a model did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelUse {
    /// Requests made, or texts read by a built-in model.
    pub calls: usize,
    /// Texts longer than what the model reads.
    pub cut: Truncation,
}

/// The results of a search.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct SearchResults {
    /// By query, best first.
    pub ranked: Vec<Vec<Hit>>,
    /// For the queries only; the index has its own.
    pub embedder: ModelUse,
    pub reranker: ModelUse,
}

/// An index of passages, in the order given.
pub struct Index {
    texts: Vec<String>,
    lengths: Vec<usize>,
    words: Bm25,
    /// The vectors of each passage's windows; `None` without an embedder.
    vectors: Option<Vec<Vec<Vec<f32>>>>,
    effort: ModelUse,
}

impl Index {
    /// Builds an index by words, and by vectors if there is an embedder.
    pub fn new(
        passages: &[Passage],
        analysis: &Analysis,
        embedder: Option<&dyn Embedder>,
    ) -> Result<Self, RetrievalError> {
        let texts: Vec<String> = passages.iter().map(Passage::text).collect();
        let lengths = passages.iter().map(|passage| passage.body.trim().chars().count()).collect();
        let words = Bm25::new(&texts, analysis);
        let (mut vectors, mut effort) = (None, ModelUse::default());
        if let Some(embedder) = embedder {
            let embedded = embed_texts(embedder, &texts, Side::Passage, None)?;
            effort = ModelUse { calls: embedded.calls, cut: embedded.cut };
            vectors = Some(embedded.vectors);
        }
        Ok(Self { texts, lengths, words, vectors, effort })
    }

    /// The number of passages.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are no passages.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// What the embedder did for the passages.
    pub fn effort(&self) -> ModelUse {
        self.effort
    }

    /// Searches all queries. Without a reranker, or if the options disable it, the fused list is the result.
    pub fn search(
        &self,
        queries: &[Query],
        options: &SearchOptions,
        embedder: Option<&dyn Embedder>,
        reranker: Option<&dyn Reranker>,
    ) -> Result<SearchResults, RetrievalError> {
        options.check()?;
        let candidate = |part: usize| self.lengths[part] >= options.min_candidate_length;
        let texts: Vec<&str> = queries.iter().map(|query| query.text.as_str()).collect();
        let words = match options.by_words() {
            true => self.words.search(&texts, options.search_limit, &candidate),
            false => vec![Vec::new(); queries.len()],
        };
        let mut searched = SearchResults::default();
        let mut vectors_of_query = vec![Vec::new(); queries.len()];
        let vectors = match (options.by_vectors(), &self.vectors, embedder) {
            (false, ..) => vec![Vec::new(); queries.len()],
            (true, Some(own), Some(embedder)) => {
                let length = own.iter().flatten().next().map(Vec::len);
                let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
                let asked = embed_texts(embedder, &texts, Side::Query, length)?;
                searched.embedder = ModelUse { calls: asked.calls, cut: asked.cut };
                vectors_of_query = asked.vectors;
                vectors_of_query.par_iter().map(|query| nearest(query, own, options.search_limit, &candidate)).collect()
            }
            (true, ..) => return Err(RetrievalError::NoVectors { weight: options.bm25_weight }),
        };
        for (words, vectors) in words.iter().zip(&vectors) {
            searched.ranked.push(fuse(words, vectors, options.bm25_weight));
        }
        if let Some(reranker) = reranker.filter(|_| options.rerank) {
            self.rerank(&mut searched, queries, &vectors_of_query, options, reranker)?;
        }
        for hits in &mut searched.ranked {
            hits.truncate(options.rerank_top_n);
        }
        Ok(searched)
    }

    /// Reorders the first hits of each query by the reranker.
    fn rerank(
        &self,
        searched: &mut SearchResults,
        queries: &[Query],
        vectors_of_query: &[Vec<Vec<f32>>],
        options: &SearchOptions,
        reranker: &dyn Reranker,
    ) -> Result<(), RetrievalError> {
        let one = |((query, vectors_of_query), hits): ((&Query, &Vec<Vec<f32>>), &mut Vec<Hit>)| {
            hits.truncate(options.search_limit);
            if hits.is_empty() {
                return Ok(ModelUse::default());
            }
            let texts: Vec<&str> = hits.iter().map(|hit| self.texts[hit.part].as_str()).collect();
            let fused: Vec<f64> = hits.iter().map(|hit| hit.score).collect();
            // A passage without words has the least similarity.
            let like = |hit: &Hit, own: &[Vec<Vec<f32>>]| likeness(vectors_of_query, &own[hit.part]).unwrap_or(-1.0);
            let likeness: Option<Vec<f64>> = match &self.vectors {
                Some(own) if !vectors_of_query.is_empty() => Some(hits.iter().map(|hit| like(hit, own)).collect()),
                _ => None,
            };
            let likeness = likeness.as_deref();
            let asked =
                RerankRequest { query: &query.text, texts: &texts, fused: &fused, likeness, words: &self.words };
            let reranked = reranker.rerank(&asked)?;
            if reranked.scores.len() != hits.len() || reranked.scores.iter().any(|score| score.is_nan()) {
                let why = format!("{} texts were given, and {} scores came back", hits.len(), reranked.scores.len());
                return Err(RetrievalError::BadAnswer { who: format!("the reranker {}", reranker.id()), why });
            }
            for (hit, score) in hits.iter_mut().zip(&reranked.scores) {
                (hit.score, hit.rerank) = (*score, Some(*score));
            }
            sort(hits);
            Ok(ModelUse { calls: reranked.calls, cut: reranked.cut })
        };
        let efforts: Vec<ModelUse> = queries
            .par_iter()
            .zip(vectors_of_query)
            .zip(searched.ranked.par_iter_mut())
            .map(one)
            .collect::<Result<_, _>>()?;
        for effort in efforts {
            searched.reranker.calls += effort.calls;
            searched.reranker.cut.add(effort.cut);
        }
        Ok(())
    }
}

/// Embeds texts and checks number and length of the vectors.
fn embed_texts(
    embedder: &dyn Embedder,
    texts: &[String],
    side: Side,
    length: Option<usize>,
) -> Result<Embedded, RetrievalError> {
    let embedded = embedder.embed(texts, side)?;
    let who = || format!("the embedder {}", embedder.id());
    if embedded.vectors.len() != texts.len() {
        let why = format!("{} texts were given, and {} vectors came back", texts.len(), embedded.vectors.len());
        return Err(RetrievalError::BadAnswer { who: who(), why });
    }
    let expected = length.or_else(|| embedded.vectors.iter().flatten().next().map(Vec::len)).unwrap_or_default();
    match embedded.vectors.iter().flatten().find(|vector| vector.len() != expected) {
        Some(other) => Err(RetrievalError::OtherVectors { who: who(), found: other.len(), expected }),
        None => Ok(embedded),
    }
}

/// The most similar passages, best first, with similarities; ties by index.
fn nearest(
    query: &[Vec<f32>],
    passages: &[Vec<Vec<f32>>],
    most: usize,
    candidate: &dyn Fn(usize) -> bool,
) -> Vec<(usize, f64)> {
    let among = passages.iter().enumerate().filter(|(part, _)| candidate(*part));
    let mut found: Vec<(usize, f64)> = among.filter_map(|(part, own)| Some((part, likeness(query, own)?))).collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found.truncate(most);
    found
}

/// For each window of the query the best window of the passage, averaged.
fn likeness(query: &[Vec<f32>], passage: &[Vec<f32>]) -> Option<f64> {
    let best = |own: &Vec<f32>| passage.iter().map(|other| cosine(own, other)).reduce(f32::max);
    let all = query.iter().map(best).collect::<Option<Vec<f32>>>().filter(|all| !all.is_empty())?;
    Some(all.iter().map(|one| f64::from(*one)).sum::<f64>() / all.len() as f64)
}
