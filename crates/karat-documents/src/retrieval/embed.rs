//! Embedders: the trait and the registry.

use super::RetrievalError;
use super::cut::Truncation;
use karat_format::document::suggest::nearest;
use karat_format::retrieval::EmbeddingProviderV1;
use karat_llm::provider::ProviderEnv;

mod embedded;
mod folder;
mod http;

/// The role of a text; some models treat them differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The query.
    Query,
    /// A passage to find.
    Passage,
}

/// Unit vectors, or zeros for texts without content.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Embedded {
    /// By text: the vectors of its windows; none for a blank text.
    pub vectors: Vec<Vec<Vec<f32>>>,
    pub cut: Truncation,
    /// Requests made, or texts read by a built-in model.
    pub calls: usize,
}

/// Turns texts into vectors.
pub trait Embedder: Send + Sync {
    /// Everything that affects the vectors, as text.
    fn id(&self) -> String;

    /// What must be configured first, such as a key; `None` if ready.
    fn missing_setting(&self) -> Option<&str> {
        None
    }

    /// The host that gets a key only because the configuration says so, which its user may not have written.
    fn unconfirmed_key_host(&self) -> Option<&str> {
        None
    }

    /// The remote host that gets the texts, if any.
    fn remote_host(&self) -> Option<&str> {
        None
    }

    /// Embeds texts.
    fn embed(&self, texts: &[String], side: Side) -> Result<Embedded, RetrievalError>;
}

/// An entry of the registry.
#[expect(missing_docs, reason = "field names say it")]
pub struct EmbedderEntry {
    /// The name used in `provider: …`.
    pub name: &'static str,
    pub about: &'static str,
    open: Option<Open>,
}

type Open = fn(&EmbeddingProviderV1, &ProviderEnv<'_>) -> Result<Box<dyn Embedder>, RetrievalError>;

/// All embedders, in listing order.
pub static EMBEDDERS: &[EmbedderEntry] = &[
    EmbedderEntry {
        name: "embedded",
        about: "the small model inside Karat; it reads English best",
        open: Some(embedded::open),
    },
    EmbedderEntry { name: "folder", about: "a model of the BERT family in a folder", open: Some(folder::open) },
    EmbedderEntry { name: "http", about: "a server with `/embeddings` as OpenAI has it", open: Some(http::open) },
    EmbedderEntry { name: "none", about: "none; the search uses only words", open: None },
];

/// Opens an embedder; `None` if `none` is chosen. Files are read now; no connection is made before the first text.
pub fn open_embedder(
    config: &EmbeddingProviderV1,
    around: &ProviderEnv<'_>,
) -> Result<Option<Box<dyn Embedder>>, RetrievalError> {
    let name = config.provider.as_str();
    let entry = EMBEDDERS.iter().find(|entry| entry.name == name);
    let entry = entry.ok_or_else(|| unknown("embedder", name, EMBEDDERS.iter().map(|entry| entry.name)))?;
    entry.open.map(|open| open(config, around)).transpose()
}

pub(super) fn unknown(
    what: &'static str,
    name: &str,
    known: impl Iterator<Item = &'static str> + Clone,
) -> RetrievalError {
    let hint = nearest(name, known.clone()).map(|near| format!("did you mean `{near}`?"));
    let hint = hint.unwrap_or_else(|| format!("there are {}", known.collect::<Vec<_>>().join(", ")));
    RetrievalError::UnknownProvider { what, name: name.to_owned(), hint }
}

/// Normalises a vector. A zero vector stays zero; `None` if a number is not finite.
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

/// Cosine of two unit vectors.
pub(super) fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
