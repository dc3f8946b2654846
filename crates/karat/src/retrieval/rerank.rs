//! Who puts candidates into a better order: one small interface, and the table of all who do.

use super::RetrievalError;
use super::bm25::Bm25;
use super::cut::Cut;
use super::embed::unknown;
use crate::format::retrieval::RerankProviderV1;
use crate::judge::provider::Surroundings;

mod embedded;
mod folder;
mod http;

/// A query with its candidates.
pub struct Asked<'a> {
    /// What is searched for.
    pub query: &'a str,
    /// The candidates, in the order in which they were found.
    pub texts: &'a [&'a str],
    /// What they were found with: their weighted sums of reciprocal ranks.
    pub fused: &'a [f64],
    /// How like the query they are by vectors, where there are any.
    pub likeness: Option<&'a [f64]>,
    /// The words of all passages.
    pub(super) words: &'a Bm25,
}

impl Asked<'_> {
    /// The words of a text, as they are searched for.
    pub fn words(&self, text: &str) -> Vec<String> {
        self.words.analysis().words(text)
    }

    /// How much a word tells, by how few passages have it.
    pub fn rarity(&self, word: &str) -> Result<f64, RetrievalError> {
        self.words.rarity(word)
    }
}

/// What a reranker says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reranked {
    /// A score for each candidate, the higher the better, in the order of the candidates.
    pub scores: Vec<f64>,
    /// What was not read.
    pub cut: Cut,
    /// How many requests were made, or texts read by a model inside.
    pub calls: usize,
}

/// Somebody who puts candidates into a better order.
pub trait Reranker: Send + Sync {
    /// Everything about it that changes scores, in a word.
    fn id(&self) -> String;

    /// What must be set before it can be asked, such as a key; nothing where all is there.
    fn lacks(&self) -> Option<&str> {
        None
    }

    /// The host to which a key is sent only because the configuration says so; whoever did not write it may not want that.
    fn entrusts(&self) -> Option<&str> {
        None
    }

    /// The host beyond this machine that gets to read the texts.
    fn tells(&self) -> Option<&str> {
        None
    }

    /// Scores for candidates.
    fn rerank(&self, asked: &Asked<'_>) -> Result<Reranked, RetrievalError>;
}

/// An entry of the table.
pub struct RerankerEntry {
    /// The name, as `provider: …` has it.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    open: Option<Open>,
}

type Open = fn(&RerankProviderV1, &Surroundings<'_>) -> Result<Box<dyn Reranker>, RetrievalError>;

/// All who put candidates into a better order, as they are listed.
pub static RERANKERS: &[RerankerEntry] = &[
    RerankerEntry {
        name: "embedded",
        about: "what Karat has inside: how much of the query a text covers",
        open: Some(embedded::open),
    },
    RerankerEntry { name: "folder", about: "a cross-encoder of the BERT family in a folder", open: Some(folder::open) },
    RerankerEntry { name: "http", about: "a server with `/rerank` as Jina and Cohere have it", open: Some(http::open) },
    RerankerEntry { name: "none", about: "nobody; the order is that of the search", open: None },
];

/// Opens a reranker, or nobody where that is the choice. Files are read now; no connection is made before the first query.
pub fn open_reranker(
    config: &RerankProviderV1,
    around: &Surroundings<'_>,
) -> Result<Option<Box<dyn Reranker>>, RetrievalError> {
    let name = config.provider.as_str();
    let entry = RERANKERS.iter().find(|entry| entry.name == name);
    let entry = entry.ok_or_else(|| unknown("reranker", name, RERANKERS.iter().map(|entry| entry.name)))?;
    entry.open.map(|open| open(config, around)).transpose()
}
