//! What can be turned about a search.

use super::RetrievalError;
use crate::format::retrieval::SearchV1;

/// What can be turned about a search. The usual values are those that found most in `docs/retrieval.md`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knobs {
    /// How many candidates words and vectors give each, and how many of the fused list are put into a better order.
    pub search_limit: usize,
    /// The weight of words against that of vectors, from 0 to 1. At 1 no embedder is asked, at 0 no words are searched.
    pub bm25_weight: f64,
    /// How many parts are found at most.
    pub rerank_top_n: usize,
    /// The fewest characters of the body of a part that is a candidate; a heading alone says nothing.
    pub min_candidate_length: usize,
    /// Whether the candidates are put into a better order.
    pub rerank: bool,
}

impl Default for Knobs {
    fn default() -> Self {
        Self { search_limit: 50, bm25_weight: 0.7, rerank_top_n: 10, min_candidate_length: 1, rerank: true }
    }
}

impl From<&SearchV1> for Knobs {
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

impl Knobs {
    /// Refuses what no search can do.
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

    /// Whether vectors count.
    pub fn by_vectors(&self) -> bool {
        self.bm25_weight < 1.0
    }

    /// Whether words count.
    pub fn by_words(&self) -> bool {
        self.bm25_weight > 0.0
    }
}
