//! The search index: BM25 and vectors, fused by rank and reranked.

use super::bm25::{Bm25, best};
use super::provider::{Embedded, Embedder, ModelUse, RerankRequest, Reranker, Side, cosine, unusable_answer};
use super::words::Analysis;
use super::{DocumentError, Passage, Result, SearchOptions, no_vectors};
use karat_format::assessment::ScoredV1;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The usual constant of reciprocal rank fusion.
const SMOOTHING: f64 = 60.0;

#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    pub part: usize,
    /// The reranker's score if there is one, else the weighted sum of reciprocal ranks.
    pub score: f64,
    pub bm25: Option<ScoredV1>,
    pub embedding: Option<ScoredV1>,
    pub rerank: Option<f64>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchResults {
    /// By query, best first.
    pub ranked: Vec<Vec<Hit>>,
    /// For the queries only.
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
}

impl Index {
    /// Builds an index by words, and by vectors if there is an embedder.
    pub fn new(passages: &[Passage], analysis: &Analysis, embedder: Option<&dyn Embedder>) -> Result<Self> {
        let texts: Vec<String> = passages.iter().map(Passage::text).collect();
        let lengths = passages.iter().map(|passage| passage.body.trim().chars().count()).collect();
        let words = Bm25::new(&texts, analysis);
        let embedded = embedder.map(|embedder| embed_texts(embedder, &texts, Side::Passage, None)).transpose()?;
        Ok(Self { texts, lengths, words, vectors: embedded.map(|own| own.vectors) })
    }

    /// Searches all queries. Without a reranker, or if the options disable it, the fused list is the result.
    pub fn search(
        &self,
        queries: &[String],
        options: &SearchOptions,
        embedder: Option<&dyn Embedder>,
        reranker: Option<&dyn Reranker>,
    ) -> Result<SearchResults> {
        options.check()?;
        let candidate = |part: usize| self.lengths[part] >= options.min_candidate_length;
        let words = match options.bm25_weight > 0.0 {
            true => self.words.search(queries, options.search_limit, &candidate),
            false => vec![Vec::new(); queries.len()],
        };
        let mut searched = SearchResults::default();
        let mut vectors_of_query = vec![Vec::new(); queries.len()];
        let vectors = match (options.by_vectors(), &self.vectors, embedder) {
            (false, ..) => vec![Vec::new(); queries.len()],
            (true, Some(own), Some(embedder)) => {
                let length = own.iter().flatten().next().map(Vec::len);
                // Each query is a call of its own, so that its tokens belong to one requirement.
                let one = |query| embed_texts(embedder, std::slice::from_ref(query), Side::Query, length);
                let asked: Vec<Embedded> = queries.par_iter().map(one).collect::<Result<_, _>>()?;
                vectors_of_query.clear();
                for mut embedded in asked {
                    searched.embedder += embedded.used;
                    vectors_of_query.append(&mut embedded.vectors);
                }
                vectors_of_query.par_iter().map(|query| nearest(query, own, options.search_limit, &candidate)).collect()
            }
            (true, ..) => return Err(no_vectors(options.bm25_weight)),
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
        queries: &[String],
        vectors_of_query: &[Vec<Vec<f32>>],
        options: &SearchOptions,
        reranker: &dyn Reranker,
    ) -> Result<()> {
        let one = |((query, vectors_of_query), hits): ((&String, &Vec<Vec<f32>>), &mut Vec<Hit>)| {
            hits.truncate(options.search_limit);
            if hits.is_empty() {
                return Ok(ModelUse::default());
            }
            let texts: Vec<&str> = hits.iter().map(|hit| self.texts[hit.part].as_str()).collect();
            // A passage without words has the least similarity.
            let like = |hit: &Hit, own: &[Vec<Vec<f32>>]| likeness(vectors_of_query, &own[hit.part]).unwrap_or(-1.0);
            let likeness: Option<Vec<f64>> = match &self.vectors {
                Some(own) if !vectors_of_query.is_empty() => Some(hits.iter().map(|hit| like(hit, own)).collect()),
                _ => None,
            };
            let likeness = likeness.as_deref();
            let reranked = reranker.rerank(&RerankRequest { query, texts: &texts, likeness, bm25: &self.words })?;
            if reranked.scores.len() != hits.len() || reranked.scores.iter().any(|score| score.is_nan()) {
                let why = format!("{} texts were given, and {} scores came back", hits.len(), reranked.scores.len());
                return Err(unusable_answer(format!("the reranker {}", reranker.id()), why));
            }
            for (hit, score) in hits.iter_mut().zip(&reranked.scores) {
                (hit.score, hit.rerank) = (*score, Some(*score));
            }
            sort(hits);
            Ok(reranked.used)
        };
        let asked = queries.par_iter().zip(vectors_of_query).zip(searched.ranked.par_iter_mut());
        let efforts: Vec<ModelUse> = asked.map(one).collect::<Result<_, _>>()?;
        efforts.into_iter().for_each(|effort| searched.reranker += effort);
        Ok(())
    }
}

/// Embeds texts and checks number and length of the vectors.
fn embed_texts(embedder: &dyn Embedder, texts: &[String], side: Side, length: Option<usize>) -> Result<Embedded> {
    let embedded = embedder.embed(texts, side)?;
    let who = || format!("the embedder {}", embedder.id());
    if embedded.vectors.len() != texts.len() {
        let why = format!("{} texts were given, and {} vectors came back", texts.len(), embedded.vectors.len());
        return Err(unusable_answer(who(), why));
    }
    let expected = length.or_else(|| embedded.vectors.iter().flatten().next().map(Vec::len)).unwrap_or_default();
    match embedded.vectors.iter().flatten().find(|vector| vector.len() != expected) {
        Some(other) => {
            let found = format!("{} returned vectors of {} numbers", who(), other.len());
            let message = format!("{found}, but those of the index have {expected}; rebuild the index");
            Err(DocumentError::Failed(message))
        }
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
    best(among.filter_map(|(part, own)| Some((part, likeness(query, own)?))).collect(), most)
}

/// For each window of the query the best window of the passage, averaged.
fn likeness(query: &[Vec<f32>], passage: &[Vec<f32>]) -> Option<f64> {
    let best = |own: &Vec<f32>| passage.iter().map(|other| cosine(own, other)).reduce(f32::max);
    let all = query.iter().map(best).collect::<Option<Vec<f32>>>().filter(|all| !all.is_empty())?;
    Some(all.iter().map(|one| f64::from(*one)).sum::<f64>() / all.len() as f64)
}

/// Fuses two lists by reciprocal rank, best first; ties by index. BM25 and vector scores are not comparable, ranks are.
fn fuse(words: &[(usize, f64)], vectors: &[(usize, f64)], bm25_weight: f64) -> Vec<Hit> {
    let mut hits: BTreeMap<usize, Hit> = BTreeMap::new();
    let blank = |part| Hit { part, score: 0.0, bm25: None, embedding: None, rerank: None };
    for (list, weight, by_words) in [(words, bm25_weight, true), (vectors, 1.0 - bm25_weight, false)] {
        for (at, (part, score)) in list.iter().enumerate() {
            let hit = hits.entry(*part).or_insert_with(|| blank(*part));
            let place = Some(ScoredV1 { rank: at + 1, score: *score });
            *(if by_words { &mut hit.bm25 } else { &mut hit.embedding }) = place;
            hit.score += weight / (SMOOTHING + (at + 1) as f64);
        }
    }
    let mut hits: Vec<Hit> = hits.into_values().collect();
    sort(&mut hits);
    hits
}

/// Best first; ties by index.
fn sort(hits: &mut [Hit]) {
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.part.cmp(&b.part)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &[usize], vectors: &[usize], bm25_weight: f64, expect: &[usize]) {
        let list = |parts: &[usize]| parts.iter().map(|part| (*part, 1.0)).collect::<Vec<_>>();
        let fused = fuse(&list(words), &list(vectors), bm25_weight);
        assert_eq!(fused.iter().map(|hit| hit.part).collect::<Vec<_>>(), expect);
    }

    #[test]
    fn reciprocal_ranks_are_added() {
        // Both rankings have 2; 1 and 3 have the same rank in one each, and are ordered by part.
        check(&[2, 3], &[2, 1], 0.5, &[2, 1, 3]);
        check(&[2, 3], &[1, 2], 0.5, &[2, 1, 3]);
        check(&[1], &[2], 0.6, &[1, 2]);
        check(&[1], &[2], 0.4, &[2, 1]);
        check(&[], &[5, 4], 0.5, &[5, 4]);
        check(&[], &[], 0.5, &[]);
        let hit = &fuse(&[(7, 2.5)], &[(3, 0.1), (7, 0.2)], 0.25)[0];
        let (bm25, embedding) = (ScoredV1 { rank: 1, score: 2.5 }, ScoredV1 { rank: 2, score: 0.2 });
        assert_eq!((hit.part, hit.bm25, hit.embedding), (7, Some(bm25), Some(embedding)));
        assert!((hit.score - (0.25 / 61.0 + 0.75 / 62.0)).abs() < 1e-15);
    }
}
