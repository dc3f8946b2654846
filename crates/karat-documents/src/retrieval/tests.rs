//! Searches from end to end, with an embedder that knows four things.

use super::cut::Truncation;
use super::embed::{EMBEDDERS, Embedded, Embedder, Side, open_embedder};
use super::rerank::{RERANKERS, RerankRequest, Reranked, Reranker, open_reranker};
use super::*;
use candle_core::{Device, Tensor};
use karat_format::retrieval::{EmbeddingProviderV1, RerankProviderV1, SearchV1};
use karat_llm::provider::ProviderEnv;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// A vector says which of four things a text speaks of, by letters that are in it.
struct Letters;

impl Embedder for Letters {
    fn id(&self) -> String {
        "letters".to_owned()
    }

    fn embed(&self, texts: &[String], _: Side) -> Result<Embedded, RetrievalError> {
        let one = |text: &String| match text.trim() {
            "" => Vec::new(),
            text => embed::unit("xyzw".chars().map(|c| text.matches(c).count() as f32).collect()).into_iter().collect(),
        };
        Ok(Embedded { vectors: texts.iter().map(one).collect(), cut: Truncation::default(), calls: texts.len() })
    }
}

struct Backwards;

impl Reranker for Backwards {
    fn id(&self) -> String {
        "backwards".to_owned()
    }

    fn rerank(&self, asked: &RerankRequest<'_>) -> Result<Reranked, RetrievalError> {
        Ok(Reranked { scores: (0..asked.texts.len()).map(|at| at as f64).collect(), ..Reranked::default() })
    }
}

fn passages(texts: &[&str]) -> Vec<Passage> {
    let passage = |text: &&str| {
        let (heading, body) = text.split_once(" | ").unwrap_or(("", text));
        Passage { heading: heading.to_owned(), body: body.to_owned() }
    };
    texts.iter().map(passage).collect()
}

fn query(text: &str) -> [Query; 1] {
    [Query { id: "q".to_owned(), text: text.to_owned() }]
}

const WORDS: SearchOptions =
    SearchOptions { search_limit: 50, bm25_weight: 1.0, rerank_top_n: 10, min_candidate_length: 1, rerank: false };

fn parts(searched: &SearchResults) -> Vec<usize> {
    searched.ranked[0].iter().map(|hit| hit.part).collect()
}

#[track_caller]
fn by_words(language: &str, texts: &[&str], asked: &str, expect: &[usize]) {
    let analysis = Analysis::new(Language::by_name(language).unwrap(), &[]);
    let index = Index::new(&passages(texts), &analysis, None).unwrap();
    assert_eq!(parts(&index.search(&query(asked), &WORDS, None, None).unwrap()), expect, "{asked}");
}

#[test]
fn swedish_words_are_found_however_they_are_bent() {
    let texts = ["Leverantören ska underrätta kunden.", "Incidenterna loggas.", "Säkerheten hos underleverantörer"];
    by_words("sv", &texts, "incidenter", &[1]);
    by_words("sv", &texts, "en incident", &[1]);
    by_words("sv", &texts, "leverantörerna", &[0]);
    by_words("sv", &texts, "säkerhet", &[2]);
    by_words("sv", &texts, "SA\u{308}KERHETEN", &[2]);
    by_words("none", &texts, "säkerhet", &[]);
}

#[test]
fn english_words_are_found_without_those_that_say_nothing() {
    let texts = ["It is what it is, and that is all.", "Termination | Either party may terminate.", "Terms of payment"];
    by_words("en", &texts, "Is it terminated?", &[1]);
    by_words("en", &texts, "it is that", &[]);
    by_words("en", &texts, "payment terms", &[2]);
}

#[test]
fn what_is_searched_for_is_never_a_command() {
    let texts = ["alpha beta", "beta gamma", "field text body"];
    by_words("en", &texts, "alpha AND NOT beta", &[0, 1]);
    by_words("en", &texts, "+gamma -beta", &[1, 0]);
    by_words("en", &texts, "text:alpha^9999 OR *:*", &[0, 2]);
    for hostile in ["\"", "((((", "[a TO", "heading:", "\\", "/.*/", "\0", "🦀", "\u{202e}", "~1 ^", "'; DROP TABLE--"]
    {
        let index = Index::new(&passages(&texts), &Analysis::default(), None).unwrap();
        assert_eq!(parts(&index.search(&query(hostile), &WORDS, None, None).unwrap()), [0; 0], "{hostile}");
    }
    let long = "alpha ".repeat(200_000);
    by_words("en", &texts, &long, &[0]);
}

#[test]
fn equal_passages_come_in_their_order() {
    // Words in many orders, so that sums would differ in their last digits if they were not always added up in one.
    let texts: Vec<String> = (0..300).map(|n| format!("gamma alpha delta beta {}", "omega ".repeat(n % 2))).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let expect: Vec<usize> = (0..300).step_by(2).take(10).collect();
    by_words("en", &texts, "beta delta gamma alpha", &expect);
}

#[test]
fn nothing_is_found_where_there_is_nothing() {
    by_words("en", &[], "anything", &[]);
    by_words("en", &["", "   ", "the and of"], "anything", &[]);
    by_words("en", &["a text"], "", &[]);
    by_words("en", &["a text"], " \n ", &[]);
    let index = Index::new(&[], &Analysis::default(), Some(&Letters)).unwrap();
    let searched = index.search(&query("x"), &SearchOptions::default(), Some(&Letters), Some(&Backwards)).unwrap();
    assert_eq!(searched.ranked, [[]]);
    assert_eq!(index.search(&[], &SearchOptions::default(), Some(&Letters), None).unwrap().ranked.len(), 0);
}

#[test]
fn short_bodies_are_no_candidates() {
    let texts = ["Security | ", "Security | x", "Security | of the system x"];
    let index = Index::new(&passages(&texts), &Analysis::default(), Some(&Letters)).unwrap();
    let check = |least: usize, expect: &[usize]| {
        let options = SearchOptions { min_candidate_length: least, bm25_weight: 0.5, rerank: false, ..WORDS };
        let mut found = parts(&index.search(&query("security x"), &options, Some(&Letters), None).unwrap());
        found.sort_unstable();
        assert_eq!(found, expect);
    };
    check(0, &[0, 1, 2]);
    check(1, &[1, 2]);
    check(2, &[2]);
    check(1000, &[]);
}

#[test]
fn weights_decide_who_is_asked() {
    let texts = ["apple x", "pear y", "apple pear y", "   "];
    let index = Index::new(&passages(&texts), &Analysis::default(), Some(&Letters)).unwrap();
    let search = |weight: f64, embedder: Option<&dyn Embedder>| {
        let options = SearchOptions { bm25_weight: weight, ..WORDS };
        index.search(&query("apple y"), &options, embedder, None)
    };
    // Words alone ask nobody for vectors, and vectors alone know no words.
    let words = search(1.0, None).unwrap();
    assert_eq!((parts(&words), words.embedder.calls), (vec![2, 0, 1], 0));
    assert!(words.ranked[0].iter().all(|hit| hit.embedding.is_none() && hit.bm25.is_some()));
    let vectors = search(0.0, Some(&Letters)).unwrap();
    assert!(vectors.ranked[0].iter().all(|hit| hit.bm25.is_none() && hit.embedding.is_some()));
    assert_eq!((parts(&vectors).len(), vectors.embedder.calls), (3, 1));
    let both = search(0.5, Some(&Letters)).unwrap();
    assert_eq!(both.ranked[0][0].part, 2);
    let refused = search(0.5, None).unwrap_err().to_string();
    assert!(refused.contains("`bm25_weight` 0.5") && refused.contains("no embedder"), "{refused}");
    for (weight, expect) in [(-0.1, "-0.1 is not from 0"), (1.5, "1.5 is not from 0"), (f64::NAN, "NaN is not from 0")]
    {
        let message = search(weight, Some(&Letters)).unwrap_err().to_string();
        assert!(message.contains("`bm25_weight`") && message.contains(expect), "{message}");
    }
}

#[test]
fn a_reranker_decides_where_it_may() {
    let texts = ["apple apple apple", "apple apple pear", "apple pear pear"];
    let index = Index::new(&passages(&texts), &Analysis::default(), None).unwrap();
    let search = |options: SearchOptions, reranker: Option<&dyn Reranker>| {
        let searched = index.search(&query("apple"), &options, None, reranker).unwrap();
        (parts(&searched), searched.ranked[0].first().and_then(|hit| hit.rerank))
    };
    let options = SearchOptions { rerank: true, ..WORDS };
    assert_eq!(search(options, None), (vec![0, 1, 2], None));
    assert_eq!(search(options, Some(&Backwards)), (vec![2, 1, 0], Some(2.0)));
    assert_eq!(search(SearchOptions { rerank: false, ..options }, Some(&Backwards)), (vec![0, 1, 2], None));
    // Only so many are looked at, and only so many are left.
    assert_eq!(search(SearchOptions { search_limit: 2, ..options }, Some(&Backwards)), (vec![1, 0], Some(1.0)));
    assert_eq!(search(SearchOptions { rerank_top_n: 1, ..options }, Some(&Backwards)), (vec![2], Some(2.0)));
}

#[test]
fn an_answer_of_another_size_is_refused() {
    struct Bad;
    impl Embedder for Bad {
        fn id(&self) -> String {
            "bad".to_owned()
        }
        fn embed(&self, _: &[String], side: Side) -> Result<Embedded, RetrievalError> {
            let vectors = vec![vec![vec![1.0; if side == Side::Query { 3 } else { 2 }]]];
            Ok(Embedded { vectors, ..Embedded::default() })
        }
    }
    impl Reranker for Bad {
        fn id(&self) -> String {
            "bad".to_owned()
        }
        fn rerank(&self, _: &RerankRequest<'_>) -> Result<Reranked, RetrievalError> {
            Ok(Reranked { scores: vec![f64::NAN], ..Reranked::default() })
        }
    }
    let check = |result: Result<SearchResults, RetrievalError>, expect: &str| {
        let message = result.unwrap_err().to_string();
        assert!(message.contains(expect), "{message}");
    };
    let one = Index::new(&passages(&["one"]), &Analysis::default(), Some(&Bad)).unwrap();
    check(
        one.search(&query("one"), &SearchOptions::default(), Some(&Bad), None),
        "vectors of 3 numbers, but those of the index have 2",
    );
    check(one.search(&query("one"), &SearchOptions { rerank: true, ..WORDS }, None, Some(&Bad)), "the reranker bad");
    let two = Index::new(&passages(&["one", "two"]), &Analysis::default(), Some(&Bad));
    assert!(two.is_err_and(|error| error.to_string().contains("2 texts were given, and 1 vectors came back")));
}

#[test]
fn what_a_template_states_is_kept() {
    let stated = SearchV1 { search_limit: Some(7), bm25_weight: Some(0.25), ..SearchV1::default() };
    let expect = SearchOptions { search_limit: 7, bm25_weight: 0.25, ..SearchOptions::default() };
    assert_eq!(SearchOptions::from(&stated), expect);
    assert_eq!(SearchOptions::from(&SearchV1::default()), SearchOptions::default());
    let message = SearchOptions { rerank_top_n: 0, ..expect }.check().unwrap_err().to_string();
    assert!(message.contains("`rerank_top_n` cannot be used: 0 finds nothing"), "{message}");
}

/// What is said of a provider that nothing is stated of, or of one in a folder.
fn message(provider: &str, path: Option<&Path>) -> [String; 2] {
    let around = ProviderEnv { variable: &|_| None, folder: Path::new("/nowhere") };
    let path = path.map(|path| path.display().to_string());
    let embedder =
        EmbeddingProviderV1 { provider: provider.into(), path: path.clone(), ..EmbeddingProviderV1::default() };
    let reranker = RerankProviderV1 { provider: provider.into(), path, ..RerankProviderV1::default() };
    let say = |id: Option<String>| format!("opened {}", id.unwrap_or_else(|| "nobody".to_owned()));
    [
        open_embedder(&embedder, &around).map_or_else(|error| error.to_string(), |one| say(one.map(|one| one.id()))),
        open_reranker(&reranker, &around).map_or_else(|error| error.to_string(), |one| say(one.map(|one| one.id()))),
    ]
}

#[test]
fn everybody_in_the_tables_is_described_and_can_be_tried() {
    let names = EMBEDDERS.iter().map(|entry| (entry.name, entry.about));
    assert!(names.chain(RERANKERS.iter().map(|entry| (entry.name, entry.about))).all(|(_, about)| !about.is_empty()));
    assert!(EMBEDDERS.iter().map(|entry| entry.name).eq(RERANKERS.iter().map(|entry| entry.name)));
    for entry in EMBEDDERS {
        for message in message(entry.name, None) {
            let known = match entry.name {
                "embedded" => message.starts_with("opened "),
                "none" => message == "opened nobody",
                "folder" => message.contains("`folder` needs `path: …`"),
                _ => message.contains("needs `model: …`"),
            };
            assert!(known, "{message}");
        }
    }
    assert_eq!(message("embeded", None)[0], "unknown embedder `embeded`; did you mean `embedded`?");
    assert_eq!(message("gpt", None)[1], "unknown reranker `gpt`; there are embedded, folder, http, none");
}

#[test]
fn the_model_inside_knows_what_words_do_not() {
    let around = ProviderEnv { variable: &|_| None, folder: Path::new("/nowhere") };
    let config = EmbeddingProviderV1 { provider: "embedded".into(), ..EmbeddingProviderV1::default() };
    let embedder = open_embedder(&config, &around).unwrap().unwrap();
    let long =
        format!("{} The parties will settle quarrels before a judge.", "Nothing is said here of anything. ".repeat(60));
    let texts = ["The weather was fine all week.", &long, "Salaries are paid every month.", ""];
    let index = Index::new(&passages(&texts), &Analysis::default(), Some(&*embedder)).unwrap();
    // The long text is read in windows, and its end is found.
    assert!(index.effort().calls > 4 && index.effort().cut == Truncation::default());
    let options = SearchOptions { bm25_weight: 0.0, ..WORDS };
    let searched = index.search(&query("disputes are resolved in court"), &options, Some(&*embedder), None).unwrap();
    assert_eq!(parts(&searched)[0], 1);
    assert_eq!(searched.ranked[0].len(), 3);
}

#[test]
fn files_that_are_no_model_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    let check = |expect: &str| {
        for message in message("folder", Some(folder.path())) {
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
    check("tokenizer.json: it is no tokenizer");
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

/// Weights of a model with one layer and four numbers a token, whatever they are worth.
fn tiny(prefix: &str) -> HashMap<String, Tensor> {
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
fn models_are_read_from_folders() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("config.json"), CONFIG).unwrap();
    std::fs::write(folder.path().join("tokenizer.json"), TOKENIZER).unwrap();
    let save =
        |prefix: &str| candle_core::safetensors::save(&tiny(prefix), folder.path().join("model.safetensors")).unwrap();
    save("");
    // Without the head of a cross-encoder, a model reads and does not compare.
    let [embedder, reranker] = message("folder", Some(folder.path()));
    assert!(embedder.starts_with("opened folder/"), "{embedder}");
    assert!(reranker.contains("this is no cross-encoder with one score"), "{reranker}");
    save("bert.");
    let around = ProviderEnv { variable: &|_| None, folder: folder.path() };
    let config =
        EmbeddingProviderV1 { provider: "folder".into(), path: Some(".".into()), ..EmbeddingProviderV1::default() };
    let embedder = open_embedder(&config, &around).unwrap().unwrap();
    let given: Vec<String> = ["a b", "b a", "a b", " ", &"a b ".repeat(4000)].map(str::to_owned).to_vec();
    let embedded = embedder.embed(&given, Side::Passage).unwrap();
    let windows: Vec<usize> = embedded.vectors.iter().map(Vec::len).collect();
    assert_eq!(windows, [1, 1, 1, 0, 64]);
    assert_eq!(embedded.cut.texts, 1);
    // 64 windows of 14 words with 4 of the one before: what comes behind them is left out, of two characters each.
    assert_eq!(embedded.cut.chars, 16_000 - (64 * 10 + 4) * 2 + 1);
    assert!(embedded.vectors[0] == embedded.vectors[2] && embedded.vectors[0] != embedded.vectors[1]);
    let length: f32 = embedded.vectors[0][0].iter().map(|number| number * number).sum();
    assert!((length - 1.0).abs() < 1e-5, "{length}");

    let config = RerankProviderV1 { provider: "folder".into(), path: Some(".".into()), ..RerankProviderV1::default() };
    let reranker = open_reranker(&config, &around).unwrap().unwrap();
    let long = "b ".repeat(100);
    let index = Index::new(&passages(&["a b", "b a", "a b", &long]), &Analysis::default(), None).unwrap();
    let search = |text: &str| {
        let searched =
            index.search(&query(text), &SearchOptions { rerank: true, ..WORDS }, None, Some(&*reranker)).unwrap();
        let scores: BTreeMap<usize, f64> = searched.ranked[0].iter().map(|hit| (hit.part, hit.score)).collect();
        (scores, searched.reranker)
    };
    let (scores, effort) = search("b");
    assert!(scores.len() == 4 && scores[&0] == scores[&2] && scores[&0] != scores[&1], "{scores:?}");
    assert!(effort.calls > 4 && effort.cut == Truncation::default(), "{effort:?}");
    // A query that leaves no room for a text is cut, and of the long text so many windows are too few then.
    assert_eq!(search(&"b ".repeat(50)).1.cut.texts, 2);
}
