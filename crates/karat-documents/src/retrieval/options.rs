//! Search options.

use super::RetrievalError;
use karat_format::retrieval::SearchV1;

/// Search options. The defaults performed best in `docs/retrieval.md`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct SearchOptions {
    /// Candidates from each of BM25 and vectors, and hits that are reranked.
    pub search_limit: usize,
    /// Weight of BM25 against vectors, from 0 to 1. At 1 no embedder is used, at 0 no BM25.
    pub bm25_weight: f64,
    pub rerank_top_n: usize,
    /// Parts with a shorter body are not candidates.
    pub min_candidate_length: usize,
    pub rerank: bool,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self { search_limit: 50, bm25_weight: 0.7, rerank_top_n: 10, min_candidate_length: 1, rerank: true }
    }
}

impl From<&SearchV1> for SearchOptions {
    fn from(stated: &SearchV1) -> Self {
        let usual = Self::default();
        let or = |stated: Option<u32>, usual: usize| stated.map_or(usual, |stated| stated as usize);
        Self {
            search_limit: or(stated.search_limit, usual.search_limit),
            bm25_weight: stated.bm25_weight.unwrap_or(usual.bm25_weight),
            rerank_top_n: or(stated.rerank_top_n, usual.rerank_top_n),
            min_candidate_length: or(stated.min_candidate_length, usual.min_candidate_length),
            rerank: usual.rerank,
        }
    }
}

impl SearchOptions {
    /// Rejects invalid options.
    pub fn check(&self) -> Result<(), RetrievalError> {
        let bad = |field, reason: String| Err(RetrievalError::BadValue { field, reason });
        if !(0.0..=1.0).contains(&self.bm25_weight) {
            return bad(
                "bm25_weight",
                format!("{} is not from 0 (vectors alone) to 1 (words alone)", self.bm25_weight),
            );
        }
        for (field, value) in [("search_limit", self.search_limit), ("rerank_top_n", self.rerank_top_n)] {
            if value == 0 {
                return bad(field, "0 finds nothing; give 1 or more".to_owned());
            }
        }
        Ok(())
    }

    /// Whether vectors are used.
    pub fn by_vectors(&self) -> bool {
        self.bm25_weight < 1.0
    }

    /// Whether BM25 is used.
    pub fn by_words(&self) -> bool {
        self.bm25_weight > 0.0
    }
}
