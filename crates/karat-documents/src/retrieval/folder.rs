//! Models of the BERT family from a folder: `config.json`, `tokenizer.json` and `model.safetensors`.

use super::cut::truncate_at_whitespace;
use super::provider::{Embedded, Embedder, ModelUse, RerankRequest, Reranked, Reranker, Side, unit};
use super::{DocumentError, Result};
use candle_core::{DType, Device, Tensor};
use candle_nn::{Linear, Module, VarBuilder, linear};
use candle_transformers::models::bert::{BertModel, Config};
use karat_format::assessment::CutV1;
use karat_format::retrieval::{EmbeddingProviderV1, RerankProviderV1};
use karat_llm::provider::ProviderEnv;
use rayon::prelude::*;
use std::fmt::Display;
use std::io::Read;
use std::path::{Path, PathBuf};
use tokenizers::{Encoding, Tokenizer, TruncationParams, TruncationStrategy};

const CONFIG: (&str, u64) = ("config.json", 1 << 20);
const TOKENIZER: (&str, u64) = ("tokenizer.json", 64 << 20);
const WEIGHTS: (&str, u64) = ("model.safetensors", 4 << 30);

/// How a model reads texts that are longer than its window.
struct Reading {
    /// In tokens; models were trained with no more.
    window: usize,
    /// The part of a window that is repeated in the next one.
    overlap: usize,
    most_windows: usize,
    /// Default limit of characters per text.
    longest_text: usize,
    strategy: TruncationStrategy,
}

const EMBEDDING: Reading = Reading {
    window: 256,
    overlap: 4,
    most_windows: 64,
    longest_text: 200_000,
    strategy: TruncationStrategy::LongestFirst,
};

const RERANKING: Reading = Reading {
    window: 512,
    overlap: 8,
    most_windows: 16,
    longest_text: 100_000,
    strategy: TruncationStrategy::OnlySecond,
};

struct Bert {
    tokenizer: Tokenizer,
    limit: usize,
    width: usize,
    /// Prefix of the hash of its files.
    hash: String,
    folder: PathBuf,
    model: BertModel,
    reading: &'static Reading,
    most_characters: usize,
}

impl Bert {
    /// Loads a model and returns its weights for further layers.
    fn load(
        who: &str,
        path: Option<&str>,
        max_chars: Option<u32>,
        env: &ProviderEnv<'_>,
        reading: &'static Reading,
    ) -> Result<(Self, VarBuilder<'static>)> {
        let path = path.ok_or_else(|| DocumentError::Usage(format!("{who} needs `path: …`")))?;
        let folder = env.folder.join(path);
        let bad = |file: &str, reason: String| bad(&folder.join(file), reason);
        let config = read(&folder, CONFIG)?;
        let tokenizer = read(&folder, TOKENIZER)?;
        let weights = read(&folder, WEIGHTS)?;
        let hash = blake3::Hasher::new().update(&config).update(&tokenizer).update(&weights).finalize();
        let config: Config = serde_json::from_slice(&config)
            .map_err(|error| bad(CONFIG.0, format!("it is not that of a BERT model: {error}")))?;
        check_sizes(&config).map_err(|reason| bad(CONFIG.0, reason))?;
        let mut tokenizer = Tokenizer::from_bytes(&tokenizer)
            .map_err(|error| bad(TOKENIZER.0, format!("it is not a tokenizer: {error}")))?;
        let limit = reading.window.min(config.max_position_embeddings);
        let truncation = TruncationParams {
            max_length: limit,
            stride: limit / reading.overlap,
            strategy: reading.strategy,
            ..TruncationParams::default()
        };
        let truncated = tokenizer.with_padding(None).with_truncation(Some(truncation));
        truncated.map_err(|error| bad(TOKENIZER.0, error.to_string()))?;
        let (words, known) = (tokenizer.get_vocab_size(true), config.vocab_size);
        if words > known {
            let reason = format!("it has {words} tokens, and the model knows {known}; take both from one model");
            return Err(bad(TOKENIZER.0, reason));
        }
        let broken = |error| bad(WEIGHTS.0, format!("the weights cannot be used: {}", first_line(&error)));
        let weights = VarBuilder::from_buffered_safetensors(weights, DType::F32, &Device::Cpu).map_err(broken)?;
        let model = BertModel::load(weights.clone(), &config).map_err(broken)?;
        let bert = Self {
            tokenizer,
            limit,
            width: config.hidden_size,
            hash: hash.to_hex()[..16].to_owned(),
            folder,
            model,
            reading,
            most_characters: max_chars.map_or(reading.longest_text, |most| most as usize),
        };
        Ok((bert, weights))
    }

    /// The windows of an encoded text, and the characters behind the last one that is read.
    fn windows<'e>(&self, encoding: &'e Encoding, text: &str) -> (Vec<&'e Encoding>, usize) {
        let mut windows: Vec<&Encoding> = std::iter::once(encoding).chain(encoding.get_overflowing()).collect();
        if windows.len() <= self.reading.most_windows {
            return (windows, 0);
        }
        windows.truncate(self.reading.most_windows);
        let last = windows[windows.len() - 1];
        let places = last.get_offsets().iter().zip(last.get_type_ids());
        // The second sequence is divided into windows if the first is the query.
        let divided = u32::from(self.reading.strategy == TruncationStrategy::OnlySecond);
        let own = places.filter(|(_, sequence)| **sequence == divided);
        let end = own.map(|((_, end), _)| *end).max().unwrap_or_default();
        (windows, text.get(end..).map_or(0, |rest| rest.chars().count()))
    }

    /// The hidden states of all tokens.
    fn read(&self, encoding: &Encoding) -> candle_core::Result<Tensor> {
        let row = |numbers: &[u32]| Tensor::new(numbers, &Device::Cpu)?.unsqueeze(0);
        let (ids, types) = (row(encoding.get_ids())?, row(encoding.get_type_ids())?);
        self.model.forward(&ids, &types, Some(&row(encoding.get_attention_mask())?))?.squeeze(0)
    }

    fn fault(&self, why: impl Display) -> DocumentError {
        DocumentError::Failed(format!("the model in {}: {why}", self.folder.display()))
    }
}

fn bad(file: &Path, reason: String) -> DocumentError {
    DocumentError::BadInput(format!("{}: {reason}", file.display()))
}

/// What reading these windows of a text took, of which this many characters were left out.
fn windows_used(windows: &[&Encoding], left_out: usize) -> ModelUse {
    let mut cut = CutV1::default();
    cut.count(left_out);
    let tokens = windows.iter().map(|window| window.len() as u64).sum();
    ModelUse { calls: windows.len(), cut, tokens: Some(tokens) }
}

/// The error without its backtrace.
fn first_line(error: &candle_core::Error) -> String {
    match error {
        candle_core::Error::WithBacktrace { inner, .. }
        | candle_core::Error::WithPath { inner, .. }
        | candle_core::Error::Context { inner, .. } => first_line(inner),
        other => other.to_string().lines().next().unwrap_or_default().to_owned(),
    }
}

fn read(folder: &Path, (name, most): (&str, u64)) -> Result<Vec<u8>> {
    let path = folder.join(name);
    let missing = |error: std::io::Error| {
        let files = "config.json, tokenizer.json and model.safetensors";
        bad(&path, format!("it cannot be read: {error}; a model is a folder with {files}"))
    };
    let file = karat_io::regular_file::open(&path).map_err(missing)?;
    if !file.metadata().map_err(missing)?.is_file() {
        return Err(bad(&path, "it is not a file".to_owned()));
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(missing)?;
    if bytes.len() as u64 > most {
        return Err(bad(&path, format!("it is larger than {most} bytes")));
    }
    Ok(bytes)
}

/// Checks the sizes before anything is divided or allocated by them.
fn check_sizes(config: &Config) -> Result<(), String> {
    let kind = config.model_type.as_deref().unwrap_or("bert");
    if kind != "bert" {
        return Err(format!(
            "`model_type` is {kind:?}, and only \"bert\" is read; take a model of the BERT or MiniLM family"
        ));
    }
    let sizes = [
        ("vocab_size", config.vocab_size, 1 << 21),
        ("hidden_size", config.hidden_size, 1 << 13),
        ("num_hidden_layers", config.num_hidden_layers, 1 << 8),
        ("num_attention_heads", config.num_attention_heads, 1 << 8),
        ("intermediate_size", config.intermediate_size, 1 << 15),
        ("max_position_embeddings", config.max_position_embeddings, 1 << 15),
        ("type_vocab_size", config.type_vocab_size, 1 << 8),
    ];
    for (name, size, most) in sizes {
        if !(1..=most).contains(&size) {
            return Err(format!("`{name}` is {size}, and must be from 1 to {most}"));
        }
    }
    let positions = config.max_position_embeddings;
    if positions < 16 {
        return Err(format!("`max_position_embeddings` is {positions}, and must be at least 16"));
    }
    if !config.hidden_size.is_multiple_of(config.num_attention_heads) {
        return Err("`hidden_size` is no multiple of `num_attention_heads`".to_owned());
    }
    Ok(())
}

/// Embeds by mean pooling.
struct BertEmbedder {
    bert: Bert,
    config: EmbeddingProviderV1,
}

pub(super) fn open_embedder(config: &EmbeddingProviderV1, env: &ProviderEnv<'_>) -> Result<Box<dyn Embedder>> {
    let path = config.path.as_deref();
    let (bert, _) = Bert::load("the embedder `folder`", path, config.max_chars, env, &EMBEDDING)?;
    Ok(Box::new(BertEmbedder { bert, config: config.clone() }))
}

impl Embedder for BertEmbedder {
    fn id(&self) -> String {
        format!("folder/{}", self.bert.hash)
    }

    fn embed(&self, texts: &[String], side: Side) -> Result<Embedded> {
        let prefix = side.prefix(&self.config);
        let read = texts.par_iter().map(|text| self.embed_text(prefix, text)).collect::<Result<Vec<_>, _>>()?;
        let mut embedded = Embedded::default();
        for (vectors, used) in read {
            embedded.used += used;
            embedded.vectors.push(vectors);
        }
        Ok(embedded)
    }
}

impl BertEmbedder {
    /// The vectors of a text's windows.
    fn embed_text(&self, prefix: &str, text: &str) -> Result<(Vec<Vec<f32>>, ModelUse)> {
        if text.trim().is_empty() {
            return Ok((Vec::new(), ModelUse::default()));
        }
        let (kept, left_out) = truncate_at_whitespace(text, self.bert.most_characters);
        let kept = format!("{prefix}{kept}");
        let encoding = self.bert.tokenizer.encode(kept.as_str(), true).map_err(|error| self.bert.fault(error))?;
        let (windows, behind) = self.bert.windows(&encoding, &kept);
        let used = windows_used(&windows, left_out + behind);
        let vectors = windows.into_iter().map(|window| self.mean(window)).collect::<Result<_, _>>()?;
        Ok((vectors, used))
    }

    /// Mean of the hidden states. There is no padding, so all tokens count.
    fn mean(&self, window: &Encoding) -> Result<Vec<f32>> {
        let mean = self.bert.read(window).and_then(|tokens| tokens.mean(0)?.to_vec1::<f32>());
        let mean = mean.map_err(|error| self.bert.fault(first_line(&error)))?;
        unit(mean).ok_or_else(|| self.bert.fault("a vector contains a number that is not finite"))
    }
}

struct CrossEncoder {
    bert: Bert,
    /// Reads texts whole.
    whole: Tokenizer,
    pooler: Linear,
    classifier: Linear,
}

pub(super) fn open_reranker(config: &RerankProviderV1, env: &ProviderEnv<'_>) -> Result<Box<dyn Reranker>> {
    let path = config.path.as_deref();
    let (bert, weights) = Bert::load("the reranker `folder`", path, config.max_chars, env, &RERANKING)?;
    let mut whole = bert.tokenizer.clone();
    whole.with_truncation(None).map_err(|error| bert.fault(error))?;
    let other = |error| {
        let why = first_line(&error);
        let reason = format!("this is no cross-encoder with one score ({why}); take a BertForSequenceClassification");
        bad(&bert.folder.join(WEIGHTS.0), reason)
    };
    let pooler = linear(bert.width, bert.width, weights.pp("bert.pooler.dense")).map_err(other)?;
    let classifier = linear(bert.width, 1, weights.pp("classifier")).map_err(other)?;
    Ok(Box::new(CrossEncoder { bert, whole, pooler, classifier }))
}

impl Reranker for CrossEncoder {
    fn id(&self) -> String {
        format!("folder/{}", self.bert.hash)
    }

    fn rerank(&self, request: &RerankRequest<'_>) -> Result<Reranked> {
        let mut reranked = Reranked::default();
        let (query, left_out) = self.short(request.query)?;
        reranked.used.cut.count(left_out);
        let scores = request.texts.par_iter().map(|text| self.score(query, text)).collect::<Result<Vec<_>, _>>()?;
        for (score, used) in scores {
            reranked.scores.push(score);
            reranked.used += used;
        }
        Ok(reranked)
    }
}

impl CrossEncoder {
    /// Truncates the query so that at least half of each window is left for the text.
    fn short<'a>(&self, query: &'a str) -> Result<(&'a str, usize)> {
        let mut most = query.chars().count().min(self.bert.most_characters);
        loop {
            let (kept, left_out) = truncate_at_whitespace(query, most);
            let encoding = self.whole.encode(kept, false).map_err(|error| self.bert.fault(error))?;
            if encoding.len() <= self.bert.limit / 2 {
                return Ok((kept, left_out));
            }
            most = most.min(kept.chars().count()) / 2;
        }
    }

    /// The score of the best window.
    fn score(&self, query: &str, text: &str) -> Result<(f64, ModelUse)> {
        let (kept, left_out) = truncate_at_whitespace(text, self.bert.most_characters);
        let encoding = self.bert.tokenizer.encode((query, kept), true).map_err(|error| self.bert.fault(error))?;
        let (windows, behind) = self.bert.windows(&encoding, kept);
        let mut best = f64::NEG_INFINITY;
        for window in &windows {
            let score = self.score_window(window).map_err(|error| self.bert.fault(first_line(&error)))?;
            if !score.is_finite() {
                return Err(self.bert.fault("a score is not a finite number"));
            }
            best = best.max(f64::from(score));
        }
        Ok((best, windows_used(&windows, left_out + behind)))
    }

    fn score_window(&self, window: &Encoding) -> candle_core::Result<f32> {
        let tokens = self.bert.read(window)?;
        let all = self.pooler.forward(&tokens.narrow(0, 0, 1)?)?.tanh()?;
        self.classifier.forward(&all)?.flatten_all()?.get(0)?.to_scalar::<f32>()
    }
}
