//! Search over document sections: by words, by vectors, fused and reranked.
//!
//! An [`Index`] holds [`Passage`]s. BM25 finds them by words, as [`Analysis`] reads them in a [`language`], and an
//! [`embed::Embedder`] by vectors; the two lists are fused by rank, and a [`rerank::Reranker`] reorders the first hits. Texts
//! longer than what a model reads are [`cut`].

pub mod cut;
pub mod embed;
pub mod language;
pub mod rerank;

mod bert;
mod bm25;
mod error;
mod fuse;
mod index;
mod options;
mod server;
mod split;
mod stop_words;
mod words;

#[cfg(test)]
mod tests;

pub use error::RetrievalError;
pub use fuse::{Hit, ListRank};
pub use index::{Index, ModelUse, Passage, Query, SearchResults};
pub use language::Language;
pub use options::SearchOptions;
pub use words::Analysis;
