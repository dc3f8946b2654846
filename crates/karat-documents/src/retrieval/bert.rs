//! Loads a BERT model from a folder: `config.json`, `tokenizer.json` and `model.safetensors`.

use super::RetrievalError;
use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};
use std::io::Read;
use std::path::{Path, PathBuf};
use tokenizers::{Encoding, Tokenizer};

const CONFIG: (&str, u64) = ("config.json", 1 << 20);
const TOKENIZER: (&str, u64) = ("tokenizer.json", 64 << 20);
const WEIGHTS: (&str, u64) = ("model.safetensors", 4 << 30);

pub(super) struct Bert {
    pub(super) tokenizer: Tokenizer,
    pub(super) limit: usize,
    pub(super) width: usize,
    /// Prefix of the hash of its files.
    pub(super) hash: String,
    folder: PathBuf,
    model: BertModel,
}

impl Bert {
    /// Loads a model and returns its weights for further layers. `most` limits the tokens read at once.
    pub(super) fn load(folder: &Path, most: usize) -> Result<(Self, VarBuilder<'static>), RetrievalError> {
        let bad = |file: &str, reason: String| bad(&folder.join(file), reason);
        let (config, tokenizer, weights) = (read(folder, CONFIG)?, read(folder, TOKENIZER)?, read(folder, WEIGHTS)?);
        let hash = blake3::Hasher::new().update(&config).update(&tokenizer).update(&weights).finalize();
        let config: Config = serde_json::from_slice(&config)
            .map_err(|error| bad(CONFIG.0, format!("it is not that of a BERT model: {error}")))?;
        sound(&config).map_err(|reason| bad(CONFIG.0, reason))?;
        let mut tokenizer = Tokenizer::from_bytes(&tokenizer)
            .map_err(|error| bad(TOKENIZER.0, format!("it is no tokenizer: {error}")))?;
        tokenizer.with_padding(None);
        let (words, known) = (tokenizer.get_vocab_size(true), config.vocab_size);
        if words > known {
            return Err(bad(
                TOKENIZER.0,
                format!("it has {words} tokens, and the model knows {known}; take both from one model"),
            ));
        }
        let broken =
            |error: candle_core::Error| bad(WEIGHTS.0, format!("the weights cannot be used: {}", first(&error)));
        let weights = VarBuilder::from_buffered_safetensors(weights, DType::F32, &Device::Cpu).map_err(broken)?;
        let model = BertModel::load(weights.clone(), &config).map_err(broken)?;
        let limit = most.min(config.max_position_embeddings);
        let hash = hash.to_hex()[..16].to_owned();
        let bert = Self { tokenizer, limit, width: config.hidden_size, hash, folder: folder.to_owned(), model };
        Ok((bert, weights))
    }

    /// The hidden states of all tokens.
    pub(super) fn read(&self, encoding: &Encoding) -> Result<Tensor, RetrievalError> {
        let forward = || {
            let row = |numbers: &[u32]| Tensor::new(numbers, &Device::Cpu)?.unsqueeze(0);
            let (ids, types) = (row(encoding.get_ids())?, row(encoding.get_type_ids())?);
            self.model.forward(&ids, &types, Some(&row(encoding.get_attention_mask())?))?.squeeze(0)
        };
        forward().map_err(|error| self.failed(&error))
    }

    pub(super) fn failed(&self, error: &candle_core::Error) -> RetrievalError {
        self.fault(first(error))
    }

    pub(super) fn fault(&self, why: impl ToString) -> RetrievalError {
        RetrievalError::Failed { who: format!("the model in {}", self.folder.display()), why: why.to_string() }
    }
}

pub(super) fn bad(file: &Path, reason: String) -> RetrievalError {
    RetrievalError::BadModel { file: file.display().to_string(), reason }
}

/// The error without its backtrace.
pub(super) fn first(error: &candle_core::Error) -> String {
    match error {
        candle_core::Error::WithBacktrace { inner, .. } => first(inner),
        candle_core::Error::WithPath { inner, .. } => first(inner),
        candle_core::Error::Context { inner, .. } => first(inner),
        other => other.to_string().lines().next().unwrap_or_default().to_owned(),
    }
}

fn read(folder: &Path, (name, most): (&str, u64)) -> Result<Vec<u8>, RetrievalError> {
    let path = folder.join(name);
    let missing = |error: std::io::Error| {
        let reason = format!(
            "it cannot be read: {error}; a model is a folder with {}, {} and {}",
            CONFIG.0, TOKENIZER.0, WEIGHTS.0
        );
        bad(&path, reason)
    };
    let file = karat_io::regular_file::open(&path).map_err(missing)?;
    if !file.metadata().map_err(missing)?.is_file() {
        return Err(bad(&path, "it is no file".to_owned()));
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(missing)?;
    if bytes.len() as u64 > most {
        return Err(bad(&path, format!("it is larger than {most} bytes")));
    }
    Ok(bytes)
}

/// Checks the sizes before anything is divided or allocated by them.
fn sound(config: &Config) -> Result<(), String> {
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
    if config.max_position_embeddings < 16 {
        return Err(format!(
            "`max_position_embeddings` is {}, and must be at least 16",
            config.max_position_embeddings
        ));
    }
    if !config.hidden_size.is_multiple_of(config.num_attention_heads) {
        return Err("`hidden_size` is no multiple of `num_attention_heads`".to_owned());
    }
    Ok(())
}
