//! Models from folders, with real models of one layer.

use super::*;
use candle_core::{Device, Tensor};
use karat_format::assessment::CutV1;
use std::collections::{BTreeMap, HashMap};

#[test]
fn invalid_model_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    let check = |expect: &str| {
        for message in open_both("folder", Some(folder.path())) {
            assert!(message.contains(expect), "{message}");
        }
    };
    check("config.json: it cannot be read");
    let config = |change: &str, by: &str| write("config.json", CONFIG.replace(change, by).as_bytes());
    write("tokenizer.json", b"{}");
    write("model.safetensors", b"\xff\xff\xff\xff\xff\xff\xff\x7f{}");
    write("config.json", b"not json");
    check("config.json: it is not that of a BERT model");
    config("\"bert\"", "\"gpt2\"");
    check("config.json: `model_type` is \"gpt2\"");
    config("\"num_attention_heads\": 2", "\"num_attention_heads\": 0");
    check("`num_attention_heads` is 0");
    config("\"num_attention_heads\": 2", "\"num_attention_heads\": 3");
    check("`hidden_size` is no multiple");
    config("\"vocab_size\": 8", "\"vocab_size\": 99999999999");
    check("`vocab_size` is 99999999999");
    config("", "");
    check("tokenizer.json: it is not a tokenizer");
    write("tokenizer.json", TOKENIZER.as_bytes());
    check("model.safetensors: the weights cannot be used");
    write("model.safetensors", b"\x02\0\0\0\0\0\0\0{}");
    check("model.safetensors: the weights cannot be used: tensor `embeddings");
    config("\"vocab_size\": 8", "\"vocab_size\": 3");
    check("tokenizer.json: it has 6 tokens, and the model knows 3");
}

const CONFIG: &str = r#"{"vocab_size": 8, "hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 2,
    "intermediate_size": 8, "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "max_position_embeddings": 16,
    "type_vocab_size": 2, "initializer_range": 0.02, "layer_norm_eps": 1e-12, "pad_token_id": 0, "model_type": "bert"}"#;

const TOKENIZER: &str = r###"{"version": "1.0", "pre_tokenizer": {"type": "Whitespace"},
    "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
    "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
    "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "a": 4, "b": 5}}}"###;

/// Arbitrary weights of a model with one layer and a hidden size of four.
fn tiny_weights(prefix: &str) -> HashMap<String, Tensor> {
    let mut weights = HashMap::new();
    let mut add = |name: String, shape: &[usize]| {
        let seed = weights.len() as f32;
        let numbers = (0..shape.iter().product::<usize>()).map(|at| (seed + 3.0 * at as f32).sin()).collect();
        weights.insert(name, Tensor::from_vec::<_, f32>(numbers, shape, &Device::Cpu).unwrap());
    };
    let embeddings = [("word_embeddings", 8), ("position_embeddings", 16), ("token_type_embeddings", 2)];
    for (name, rows) in embeddings {
        add(format!("{prefix}embeddings.{name}.weight"), &[rows, 4]);
    }
    let layer = "encoder.layer.0";
    let square = ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"];
    let mut linear = square.map(|name| (format!("{prefix}{layer}.{name}"), 4, 4)).to_vec();
    linear.push((format!("{prefix}{layer}.intermediate.dense"), 8, 4));
    linear.push((format!("{prefix}{layer}.output.dense"), 4, 8));
    linear.push((format!("{prefix}pooler.dense"), 4, 4));
    linear.push(("classifier".to_owned(), 1, 4));
    for (name, rows, columns) in linear {
        add(format!("{name}.weight"), &[rows, columns]);
        add(format!("{name}.bias"), &[rows]);
    }
    for name in ["embeddings".to_owned(), format!("{layer}.attention.output"), format!("{layer}.output")] {
        add(format!("{prefix}{name}.LayerNorm.weight"), &[4]);
        add(format!("{prefix}{name}.LayerNorm.bias"), &[4]);
    }
    weights
}

#[test]
fn models_are_loaded_from_folders() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("config.json"), CONFIG).unwrap();
    std::fs::write(folder.path().join("tokenizer.json"), TOKENIZER).unwrap();
    let save = |prefix: &str| {
        candle_core::safetensors::save(&tiny_weights(prefix), folder.path().join("model.safetensors")).unwrap()
    };
    save("");
    // Without a classification head the model is not a reranker.
    let [embedder, reranker] = open_both("folder", Some(folder.path()));
    assert!(embedder.starts_with("opened folder/"), "{embedder}");
    assert!(reranker.contains("this is no cross-encoder with one score"), "{reranker}");
    save("bert.");
    let env = ProviderEnv { variable: &|_| None, folder: folder.path() };
    let config =
        EmbeddingProviderV1 { provider: "folder".into(), path: Some(".".into()), ..EmbeddingProviderV1::default() };
    let embedder = open_embedder(&config, &env).unwrap().unwrap();
    let texts: Vec<String> = ["a b", "b a", "a b", " ", &"a b ".repeat(4000)].map(str::to_owned).to_vec();
    let embedded = embedder.embed(&texts, Side::Passage).unwrap();
    let windows: Vec<usize> = embedded.vectors.iter().map(Vec::len).collect();
    assert_eq!(windows, [1, 1, 1, 0, 64]);
    assert_eq!(embedded.used.cut.texts, 1);
    // 64 windows of 14 words that overlap by 4; the rest is cut, two characters per word.
    assert_eq!(embedded.used.cut.characters, 16_000 - (64 * 10 + 4) * 2 + 1);
    assert!(embedded.vectors[0] == embedded.vectors[2] && embedded.vectors[0] != embedded.vectors[1]);
    let length: f32 = embedded.vectors[0][0].iter().map(|number| number * number).sum();
    assert!((length - 1.0).abs() < 1e-5, "{length}");

    let config = RerankProviderV1 { provider: "folder".into(), path: Some(".".into()), ..RerankProviderV1::default() };
    let reranker = open_reranker(&config, &env).unwrap().unwrap();
    let long = "b ".repeat(100);
    let index = Index::new(&passages(&["a b", "b a", "a b", &long]), &Analysis::new(&PLAIN, &[]), None).unwrap();
    let search = |text: &str| {
        let results =
            index.search(&query(text), &SearchOptions { rerank: true, ..WORDS_ONLY }, None, Some(&*reranker)).unwrap();
        let scores: BTreeMap<usize, f64> = results.ranked[0].iter().map(|hit| (hit.part, hit.score)).collect();
        (scores, results.reranker)
    };
    let (scores, effort) = search("b");
    assert!(scores.len() == 4 && scores[&0] == scores[&2] && scores[&0] != scores[&1], "{scores:?}");
    assert!(effort.calls > 4 && effort.cut == CutV1::default(), "{effort:?}");
    // A query that leaves no room for the text is cut, and the long text exceeds the number of windows.
    assert_eq!(search(&"b ".repeat(50)).1.cut.texts, 2);
}
