//! The model inside Karat: small, quick, and no file or server is needed.

use super::super::RetrievalError;
use super::super::cut::{Cut, truncate_at_whitespace, windows};
use super::{Embedded, Embedder, Side};
use crate::format::retrieval::EmbeddingProviderV1;
use crate::judge::provider::Surroundings;
use pocket_encoder::Encoder;
use rayon::prelude::*;

/// The longest window, by estimate; the model takes 128 tokens, two of which are its own.
const WINDOW: usize = 110;

/// How much of a window is in the one before.
const OVERLAP: usize = 30;

/// The most windows of one text.
const MOST_WINDOWS: usize = 64;

/// The most characters of one window, which the model refuses beyond; a longer word is data.
const LONGEST_WINDOW: usize = 8_000;

struct Inside {
    encoder: Encoder,
    most: usize,
    prefixes: [String; 2],
}

/// Opens the model.
pub(super) fn open(config: &EmbeddingProviderV1, _: &Surroundings<'_>) -> Result<Box<dyn Embedder>, RetrievalError> {
    let encoder = Encoder::new().map_err(|error| failed(&error))?;
    let prefix = |stated: &Option<String>| stated.clone().unwrap_or_default();
    let prefixes = [prefix(&config.query_prefix), prefix(&config.passage_prefix)];
    Ok(Box::new(Inside { encoder, most: config.max_chars.map_or(usize::MAX, |most| most as usize), prefixes }))
}

impl Embedder for Inside {
    fn id(&self) -> String {
        pocket_encoder::model_info().id
    }

    fn embed(&self, texts: &[String], side: Side) -> Result<Embedded, RetrievalError> {
        let prefix = match side {
            Side::Query => &self.prefixes[0],
            Side::Passage => &self.prefixes[1],
        };
        let mut cut = Cut::default();
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
