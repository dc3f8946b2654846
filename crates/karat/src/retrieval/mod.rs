//! Search over the sections of documents: by words, by vectors, both fused, and the best of them put into a better order.
//!
//! [`Index`] holds [`Passage`]s, which know nothing of the documents they are from. BM25 finds them by words as [`Analysis`]
//! reads them in a [`language`], an [`embed::Embedder`] by vectors; one list is made of the two by places, not scores, and
//! a [`rerank::Reranker`] looks at the first of that list again. Texts that are longer than what a model takes are [`cut`].

pub mod cut;
pub mod embed;
pub mod language;
pub mod rerank;

mod bert;
mod bm25;
mod error;
mod fuse;
mod index;
mod knobs;
mod server;
mod split;
mod stop_words;
mod words;

#[cfg(test)]
mod tests;

pub use error::RetrievalError;
pub use fuse::{Hit, Place};
pub use index::{Effort, Index, Passage, Query, Searched};
pub use knobs::Knobs;
pub use language::Language;
pub use words::Analysis;
