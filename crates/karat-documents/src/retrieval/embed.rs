//! Embedders: the registry and the built-in model.

pub use super::provider::{Embedded, Embedder, SearchProviderEntry, Side};

use super::cut::{Truncation, truncate_at_whitespace, windows};
use super::{Result, RetrievalError, folder, http, provider};
use karat_format::retrieval::EmbeddingProviderV1;
use karat_llm::provider::ProviderEnv;
use pocket_encoder::Encoder;
use rayon::prelude::*;

/// All embedders, in listing order.
pub static EMBEDDERS: &[SearchProviderEntry<EmbeddingProviderV1, dyn Embedder>] = &[
    SearchProviderEntry { name: "embedded", open: Some(open_built_in) },
    SearchProviderEntry { name: "folder", open: Some(folder::open_embedder) },
    SearchProviderEntry { name: "http", open: Some(http::open_embedder) },
    SearchProviderEntry { name: "none", open: None },
];

/// Opens an embedder; `None` if `none` is chosen. Files are read now; no connection is made before the first text.
pub fn open_embedder(config: &EmbeddingProviderV1, env: &ProviderEnv<'_>) -> Result<Option<Box<dyn Embedder>>> {
    provider::open("embedder", EMBEDDERS, &config.provider, config, env)
}

/// In estimated tokens; the model reads 128, two of which are special.
const WINDOW: usize = 110;

const OVERLAP: usize = 30;

const MOST_WINDOWS: usize = 64;

/// The model rejects more characters; a longer word is data.
const LONGEST_WINDOW: usize = 8_000;

struct BuiltInEmbedder {
    encoder: Encoder,
    config: EmbeddingProviderV1,
}

fn open_built_in(config: &EmbeddingProviderV1, _: &ProviderEnv<'_>) -> Result<Box<dyn Embedder>> {
    let encoder = Encoder::new().map_err(|error| failed(&error))?;
    Ok(Box::new(BuiltInEmbedder { encoder, config: config.clone() }))
}

impl Embedder for BuiltInEmbedder {
    fn id(&self) -> String {
        pocket_encoder::model_info().id
    }

    fn embed(&self, texts: &[String], side: Side) -> Result<Embedded> {
        let prefix = side.prefix(&self.config);
        let most = self.config.max_chars.map_or(usize::MAX, |most| most as usize);
        let mut cut = Truncation::default();
        let mut pieces = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            let (kept, behind) = truncate_at_whitespace(text, most);
            let (windows, beyond) = windows(kept, WINDOW, OVERLAP, MOST_WINDOWS);
            let mut left_out = behind + beyond;
            for window in windows {
                let (window, more) = truncate_at_whitespace(window, LONGEST_WINDOW);
                left_out += more;
                pieces.push((number, format!("{prefix}{window}")));
            }
            cut.count(left_out);
        }
        let read = |(_, piece): &(usize, String)| self.encoder.embed(&[piece]).map_err(|error| failed(&error));
        let read: Vec<Vec<Vec<f32>>> = pieces.par_iter().map(read).collect::<Result<_, _>>()?;
        let mut vectors = vec![Vec::new(); texts.len()];
        for ((number, _), own) in pieces.iter().zip(read) {
            vectors[*number].extend(own);
        }
        Ok(Embedded { vectors, cut, calls: pieces.len() })
    }
}

fn failed(error: &pocket_encoder::Error) -> RetrievalError {
    RetrievalError::Failed { who: "the model inside Karat".to_owned(), why: error.to_string() }
}
