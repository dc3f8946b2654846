//! Reranks with a BERT cross-encoder from a folder.

use super::super::RetrievalError;
use super::super::bert::{Bert, bad, first};
use super::super::cut::truncate_at_whitespace;
use super::{RerankRequest, Reranked, Reranker};
use candle_core::Tensor;
use candle_nn::{Linear, Module, VarBuilder, linear};
use karat_format::retrieval::RerankProviderV1;
use karat_llm::provider::ProviderEnv;
use rayon::prelude::*;
use std::path::Path;
use tokenizers::{Encoding, Tokenizer, TruncationParams, TruncationStrategy};

/// In tokens.
const WINDOW: usize = 512;

const MOST_WINDOWS: usize = 16;

/// Default limit of characters per text.
const LONGEST_TEXT: usize = 100_000;

struct CrossEncoder {
    bert: Bert,
    whole: Tokenizer,
    pooler: Linear,
    classifier: Linear,
    most: usize,
}

pub(super) fn open(config: &RerankProviderV1, around: &ProviderEnv<'_>) -> Result<Box<dyn Reranker>, RetrievalError> {
    let needs = || RetrievalError::Needs { who: "the reranker `folder`".to_owned(), field: "path" };
    let folder = around.folder.join(config.path.as_deref().ok_or_else(needs)?);
    let (mut bert, weights) = Bert::load(&folder, WINDOW)?;
    let mut whole = bert.tokenizer.clone();
    let set = whole.with_truncation(None).map(|_| ());
    set.map_err(|error| bert.fault(error))?;
    let truncation = TruncationParams {
        max_length: bert.limit,
        stride: bert.limit / 8,
        strategy: TruncationStrategy::OnlySecond,
        ..TruncationParams::default()
    };
    let set = bert.tokenizer.with_truncation(Some(truncation)).map(|_| ());
    set.map_err(|error| bert.fault(error))?;
    let (pooler, classifier) = head(&folder, &weights, bert.width)?;
    let most = config.max_chars.map_or(LONGEST_TEXT, |most| most as usize);
    Ok(Box::new(CrossEncoder { bert, whole, pooler, classifier, most }))
}

/// The classification head.
fn head(folder: &Path, weights: &VarBuilder<'_>, width: usize) -> Result<(Linear, Linear), RetrievalError> {
    let file = folder.join("model.safetensors");
    let other = |error: candle_core::Error| {
        let why = first(&error);
        bad(&file, format!("this is no cross-encoder with one score ({why}); take a BertForSequenceClassification"))
    };
    let pooler = linear(width, width, weights.pp("bert.pooler.dense")).map_err(other)?;
    let classifier = linear(width, 1, weights.pp("classifier")).map_err(other)?;
    Ok((pooler, classifier))
}

impl Reranker for CrossEncoder {
    fn id(&self) -> String {
        format!("folder/{}", self.bert.hash)
    }

    fn rerank(&self, request: &RerankRequest<'_>) -> Result<Reranked, RetrievalError> {
        let mut reranked = Reranked::default();
        let (query, left_out) = self.short(request.query)?;
        reranked.cut.count(left_out);
        let scores = request.texts.par_iter().map(|text| self.score(query, text)).collect::<Result<Vec<_>, _>>()?;
        for (score, windows, left_out) in scores {
            reranked.scores.push(score);
            reranked.calls += windows;
            reranked.cut.count(left_out);
        }
        Ok(reranked)
    }
}

impl CrossEncoder {
    /// Truncates the query so that at least half of each window is left for the text.
    fn short<'a>(&self, query: &'a str) -> Result<(&'a str, usize), RetrievalError> {
        let mut most = query.chars().count().min(self.most);
        loop {
            let (kept, left_out) = truncate_at_whitespace(query, most);
            let encoding = self.whole.encode(kept, false).map_err(|error| self.bert.fault(error))?;
            if encoding.len() <= self.bert.limit / 2 {
                return Ok((kept, left_out));
            }
            most = most.min(kept.chars().count()) / 2;
        }
    }

    /// The score of the best window, the number of windows, and the characters not read.
    fn score(&self, query: &str, text: &str) -> Result<(f64, usize, usize), RetrievalError> {
        let (kept, mut left_out) = truncate_at_whitespace(text, self.most);
        let encoding = self.bert.tokenizer.encode((query, kept), true).map_err(|error| self.bert.fault(error))?;
        let windows: Vec<&Encoding> = std::iter::once(&encoding).chain(encoding.get_overflowing()).collect();
        let read = &windows[..windows.len().min(MOST_WINDOWS)];
        if let Some(last) = read.last().filter(|_| read.len() < windows.len()) {
            let second = last.get_offsets().iter().zip(last.get_type_ids()).filter(|(_, side)| **side == 1);
            let end = second.map(|((_, end), _)| *end).max().unwrap_or_default();
            left_out += kept.get(end..).map_or(0, |rest| rest.chars().count());
        }
        let mut best = f64::NEG_INFINITY;
        for window in read {
            let score = self.fit(&self.bert.read(window)?).map_err(|error| self.bert.failed(&error))?;
            if !score.is_finite() {
                return Err(self.bert.fault("a score is no finite number"));
            }
            best = best.max(f64::from(score));
        }
        Ok((best, read.len(), left_out))
    }

    fn fit(&self, tokens: &Tensor) -> candle_core::Result<f32> {
        let all = self.pooler.forward(&tokens.narrow(0, 0, 1)?)?.tanh()?;
        self.classifier.forward(&all)?.flatten_all()?.get(0)?.to_scalar::<f32>()
    }
}
