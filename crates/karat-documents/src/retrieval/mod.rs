//! Search over document sections: by words, by vectors, fused and reranked.
//!
//! An [`Index`] holds [`Passage`]s. BM25 finds them by words, as [`Analysis`] reads them in a [`language`], and an
//! [`embed::Embedder`] by vectors; the two lists are fused by rank, and a [`rerank::Reranker`] reorders the first hits. Texts
//! longer than what a model reads are [`cut`].

pub mod cut;
pub mod embed;
pub mod language;
pub mod rerank;

mod bm25;
#[cfg(feature = "models")]
mod folder;
#[cfg(not(feature = "models"))]
#[path = "no_models.rs"]
mod folder;
mod http;
#[expect(missing_docs, reason = "field names say it")]
mod index;
#[expect(missing_docs, reason = "field names say it")]
mod provider;
mod words;

#[cfg(test)]
mod tests;

pub use index::{Hit, Index, SearchResults};
pub use language::Language;
pub use provider::ModelUse;
pub use words::Analysis;

use crate::{DocumentError, Result};
use karat_format::retrieval::SearchV1;

/// A section to be searched.
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

/// Search options. The defaults performed best in `docs/retrieval.md`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct SearchOptions {
    /// Candidates from each of BM25 and vectors, and hits that are reranked.
    pub search_limit: usize,
    /// Weight of BM25 against vectors, from 0 to 1. At 1 no embedder is used, at 0 no BM25. 0.7 works best with vectors.
    pub bm25_weight: f64,
    pub rerank_top_n: usize,
    /// Parts with a shorter body are not candidates.
    pub min_candidate_length: usize,
    pub rerank: bool,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self { search_limit: 50, bm25_weight: 1.0, rerank_top_n: 10, min_candidate_length: 1, rerank: true }
    }
}

impl SearchOptions {
    /// These options where none are stated.
    pub fn with(self, stated: &SearchV1) -> Self {
        let or = |stated: Option<u32>, usual: usize| stated.map_or(usual, |stated| stated as usize);
        Self {
            search_limit: or(stated.search_limit, self.search_limit),
            bm25_weight: stated.bm25_weight.unwrap_or(self.bm25_weight),
            rerank_top_n: or(stated.rerank_top_n, self.rerank_top_n),
            min_candidate_length: or(stated.min_candidate_length, self.min_candidate_length),
            rerank: self.rerank,
        }
    }

    /// Rejects invalid options.
    pub fn check(&self) -> Result<()> {
        let bad = |field: &str, reason: &str| Err(DocumentError::Usage(format!("`{field}` cannot be used: {reason}")));
        if !(0.0..=1.0).contains(&self.bm25_weight) {
            let reason = format!("{} is not from 0 (vectors alone) to 1 (words alone)", self.bm25_weight);
            return bad("bm25_weight", &reason);
        }
        for (field, value) in [("search_limit", self.search_limit), ("rerank_top_n", self.rerank_top_n)] {
            if value == 0 {
                return bad(field, "0 finds nothing; give 1 or more");
            }
        }
        Ok(())
    }

    /// Whether vectors are used.
    pub fn by_vectors(&self) -> bool {
        self.bm25_weight < 1.0
    }
}

/// A search by vectors without an embedder.
pub fn no_vectors(bm25_weight: f64) -> DocumentError {
    let help = "name one, or set `bm25_weight: 1`";
    DocumentError::Usage(format!(
        "with `bm25_weight` {bm25_weight} the search needs vectors, and there is no embedder; {help}"
    ))
}
