//! The built-in embedding model.

use super::super::RetrievalError;
use super::super::cut::{Truncation, truncate_at_whitespace, windows};
use super::{Embedded, Embedder, Side};
use karat_format::retrieval::EmbeddingProviderV1;
use karat_llm::provider::ProviderEnv;
use pocket_encoder::Encoder;
use rayon::prelude::*;

/// In estimated tokens; the model reads 128, two of which are special.
const WINDOW: usize = 110;

const OVERLAP: usize = 30;

const MOST_WINDOWS: usize = 64;

/// The model rejects more characters; a longer word is data.
const LONGEST_WINDOW: usize = 8_000;

struct BuiltInEmbedder {
    encoder: Encoder,
    most: usize,
    prefixes: [String; 2],
}

pub(super) fn open(config: &EmbeddingProviderV1, _: &ProviderEnv<'_>) -> Result<Box<dyn Embedder>, RetrievalError> {
    let encoder = Encoder::new().map_err(|error| failed(&error))?;
    let prefix = |stated: &Option<String>| stated.clone().unwrap_or_default();
    let prefixes = [prefix(&config.query_prefix), prefix(&config.passage_prefix)];
    Ok(Box::new(BuiltInEmbedder { encoder, most: config.max_chars.map_or(usize::MAX, |most| most as usize), prefixes }))
}

impl Embedder for BuiltInEmbedder {
    fn id(&self) -> String {
        pocket_encoder::model_info().id
    }

    fn embed(&self, texts: &[String], side: Side) -> Result<Embedded, RetrievalError> {
        let prefix = match side {
            Side::Query => &self.prefixes[0],
            Side::Passage => &self.prefixes[1],
        };
        let mut cut = Truncation::default();
        let mut pieces = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            let (kept, behind) = truncate_at_whitespace(text, self.most);
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
