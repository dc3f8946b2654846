//! Embeds with a BERT model from a folder, by mean pooling.

use super::super::RetrievalError;
use super::super::bert::Bert;
use super::super::cut::truncate_at_whitespace;
use super::{Embedded, Embedder, Side, unit};
use karat_format::retrieval::EmbeddingProviderV1;
use karat_llm::provider::ProviderEnv;
use rayon::prelude::*;
use tokenizers::{Encoding, TruncationParams};

/// In tokens; such models were trained with no more.
const WINDOW: usize = 256;

const MOST_WINDOWS: usize = 64;

/// Default limit of characters per text.
const LONGEST_TEXT: usize = 200_000;

struct BertEmbedder {
    bert: Bert,
    config: EmbeddingProviderV1,
}

pub(super) fn open(
    config: &EmbeddingProviderV1,
    around: &ProviderEnv<'_>,
) -> Result<Box<dyn Embedder>, RetrievalError> {
    let needs = || RetrievalError::Needs { who: "the embedder `folder`".to_owned(), field: "path" };
    let path = config.path.as_deref().ok_or_else(needs)?;
    let (mut bert, _) = Bert::load(&around.folder.join(path), WINDOW)?;
    let truncation = TruncationParams { max_length: bert.limit, stride: bert.limit / 4, ..TruncationParams::default() };
    let set = bert.tokenizer.with_truncation(Some(truncation)).map(|_| ());
    set.map_err(|error| bert.fault(error))?;
    Ok(Box::new(BertEmbedder { bert, config: config.clone() }))
}

impl Embedder for BertEmbedder {
    fn id(&self) -> String {
        format!("folder/{}", self.bert.hash)
    }

    fn embed(&self, texts: &[String], side: Side) -> Result<Embedded, RetrievalError> {
        let prefix = match side {
            Side::Query => &self.config.query_prefix,
            Side::Passage => &self.config.passage_prefix,
        };
        let prefix = prefix.as_deref().unwrap_or_default();
        let own: Vec<(Vec<Vec<f32>>, usize)> =
            texts.par_iter().map(|text| self.one(prefix, text)).collect::<Result<_, _>>()?;
        let mut embedded = Embedded::default();
        for (vectors, left_out) in own {
            embedded.calls += vectors.len();
            embedded.cut.count(left_out);
            embedded.vectors.push(vectors);
        }
        Ok(embedded)
    }
}

impl BertEmbedder {
    fn one(&self, prefix: &str, text: &str) -> Result<(Vec<Vec<f32>>, usize), RetrievalError> {
        if text.trim().is_empty() {
            return Ok((Vec::new(), 0));
        }
        let (kept, mut left_out) =
            truncate_at_whitespace(text, self.config.max_chars.map_or(LONGEST_TEXT, |most| most as usize));
        let kept = format!("{prefix}{kept}");
        let encoding = self.bert.tokenizer.encode(kept.as_str(), true).map_err(|error| self.bert.fault(error))?;
        let windows: Vec<&Encoding> = std::iter::once(&encoding).chain(encoding.get_overflowing()).collect();
        let read = &windows[..windows.len().min(MOST_WINDOWS)];
        if let Some(last) = read.last().filter(|_| read.len() < windows.len()) {
            let end = last.get_offsets().iter().map(|(_, end)| *end).max().unwrap_or_default();
            left_out += kept.get(end..).map_or(0, |rest| rest.chars().count());
        }
        let vectors = read.iter().map(|window| self.mean(window)).collect::<Result<_, _>>()?;
        Ok((vectors, left_out))
    }

    /// Mean of the hidden states. There is no padding, so all tokens count.
    fn mean(&self, window: &Encoding) -> Result<Vec<f32>, RetrievalError> {
        let tokens = self.bert.read(window)?;
        let mean = tokens.mean(0).and_then(|mean| mean.to_vec1::<f32>()).map_err(|error| self.bert.failed(&error))?;
        unit(mean).ok_or_else(|| self.bert.fault("a vector holds something that is no finite number"))
    }
}
