//! Who turns texts into vectors: one small interface, and the table of all who do.

use super::RetrievalError;
use super::cut::Cut;
use crate::document::suggest::nearest;
use crate::format::retrieval::EmbeddingProviderV1;
use crate::judge::provider::Surroundings;

mod embedded;
mod folder;
mod http;

/// What a text is to a search; some models read the two differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It is searched for.
    Query,
    /// It is searched.
    Passage,
}

/// Vectors of length 1, or all zeros where a text says nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Embedded {
    /// For each text the vectors of its windows, from its beginning to its end; none for a blank text.
    pub vectors: Vec<Vec<Vec<f32>>>,
    /// What was not read.
    pub cut: Cut,
    /// How many requests were made, or texts read by a model inside.
    pub calls: usize,
}

/// Somebody who turns texts into vectors.
pub trait Embedder: Send + Sync {
    /// Everything about it that changes vectors, in a word.
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

    /// The vectors of texts.
    fn embed(&self, texts: &[String], side: Side) -> Result<Embedded, RetrievalError>;
}

/// An entry of the table.
pub struct EmbedderEntry {
    /// The name, as `provider: …` has it.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    open: Option<Open>,
}

type Open = fn(&EmbeddingProviderV1, &Surroundings<'_>) -> Result<Box<dyn Embedder>, RetrievalError>;

/// All who turn texts into vectors, in the order in which they are listed.
pub static EMBEDDERS: &[EmbedderEntry] = &[
    EmbedderEntry {
        name: "embedded",
        about: "the small model inside Karat; it reads English best",
        open: Some(embedded::open),
    },
    EmbedderEntry { name: "folder", about: "a model of the BERT family in a folder", open: Some(folder::open) },
    EmbedderEntry { name: "http", about: "a server with `/embeddings` as OpenAI has it", open: Some(http::open) },
    EmbedderEntry { name: "none", about: "nobody; the search goes by words alone", open: None },
];

/// Opens an embedder, or nobody where that is the choice. Files are read now; no connection is made before the first text.
pub fn open_embedder(
    config: &EmbeddingProviderV1,
    around: &Surroundings<'_>,
) -> Result<Option<Box<dyn Embedder>>, RetrievalError> {
    let name = config.provider.as_str();
    let entry = EMBEDDERS.iter().find(|entry| entry.name == name);
    let entry = entry.ok_or_else(|| unknown("embedder", name, EMBEDDERS.iter().map(|entry| entry.name)))?;
    entry.open.map(|open| open(config, around)).transpose()
}

/// The fault of a name that nobody has.
pub(super) fn unknown(
    what: &'static str,
    name: &str,
    known: impl Iterator<Item = &'static str> + Clone,
) -> RetrievalError {
    let hint = nearest(name, known.clone()).map(|near| format!("did you mean `{near}`?"));
    let hint = hint.unwrap_or_else(|| format!("there are {}", known.collect::<Vec<_>>().join(", ")));
    RetrievalError::UnknownProvider { what, name: name.to_owned(), hint }
}

/// A vector with length 1. One without a direction stays without one, and is like nothing; one with numbers that are none is
/// refused.
pub(super) fn unit(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let length = vector.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt();
    if !length.is_finite() {
        return None;
    }
    if length > 0.0 {
        vector.iter_mut().for_each(|number| *number = (f64::from(*number) / length) as f32);
    }
    Some(vector)
}

/// How like two vectors of length 1 are, from -1 to 1.
pub(super) fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
