//! Searches from end to end, with a test embedder.

use super::embed::{EMBEDDERS, Embedded, Embedder, Side, open_embedder};
use super::language::PLAIN;
use super::provider::unit;
use super::rerank::{RERANKERS, RerankRequest, Reranked, Reranker, open_reranker};
use super::*;
use karat_format::retrieval::{EmbeddingProviderV1, RerankProviderV1, SearchV1};
use karat_llm::provider::ProviderEnv;
use std::path::Path;

#[cfg(feature = "models")]
mod folder;

/// Embeds a text as its counts of the letters x, y, z and w.
struct LetterEmbedder;

impl Embedder for LetterEmbedder {
    fn id(&self) -> String {
        "letters".to_owned()
    }

    fn embed(&self, texts: &[String], _: Side) -> Result<Embedded, DocumentError> {
        let one = |text: &String| match text.trim() {
            "" => Vec::new(),
            text => unit("xyzw".chars().map(|c| text.matches(c).count() as f32).collect()).into_iter().collect(),
        };
        let used = ModelUse { calls: texts.len(), ..ModelUse::default() };
        Ok(Embedded { vectors: texts.iter().map(one).collect(), used })
    }
}

struct ReverseReranker;

impl Reranker for ReverseReranker {
    fn id(&self) -> String {
        "backwards".to_owned()
    }

    fn rerank(&self, request: &RerankRequest<'_>) -> Result<Reranked, DocumentError> {
        Ok(Reranked { scores: (0..request.texts.len()).map(|at| at as f64).collect(), ..Reranked::default() })
    }
}

fn passages(texts: &[&str]) -> Vec<Passage> {
    let passage = |text: &&str| {
        let (heading, body) = text.split_once(" | ").unwrap_or(("", text));
        Passage { heading: heading.to_owned(), body: body.to_owned() }
    };
    texts.iter().map(passage).collect()
}

fn query(text: &str) -> [String; 1] {
    [text.to_owned()]
}

const WORDS_ONLY: SearchOptions =
    SearchOptions { search_limit: 50, bm25_weight: 1.0, rerank_top_n: 10, min_candidate_length: 1, rerank: false };

fn parts(results: &SearchResults) -> Vec<usize> {
    results.ranked[0].iter().map(|hit| hit.part).collect()
}

#[track_caller]
fn check_word_search(language: &str, texts: &[&str], query_text: &str, expect: &[usize]) {
    let analysis = Analysis::new(Language::by_name(language).unwrap(), &[]);
    let index = Index::new(&passages(texts), &analysis, None).unwrap();
    assert_eq!(parts(&index.search(&query(query_text), &WORDS_ONLY, None, None).unwrap()), expect, "{query_text}");
}

#[test]
fn swedish_words_are_found_in_every_inflection() {
    let texts = ["Leverantören ska underrätta kunden.", "Incidenterna loggas.", "Säkerheten hos underleverantörer"];
    check_word_search("sv", &texts, "incidenter", &[1]);
    check_word_search("sv", &texts, "en incident", &[1]);
    check_word_search("sv", &texts, "leverantörerna", &[0]);
    check_word_search("sv", &texts, "säkerhet", &[2]);
    check_word_search("sv", &texts, "SA\u{308}KERHETEN", &[2]);
    check_word_search("none", &texts, "säkerhet", &[]);
}

#[test]
fn english_stop_words_are_ignored() {
    let texts = ["It is what it is, and that is all.", "Termination | Either party may terminate.", "Terms of payment"];
    check_word_search("en", &texts, "Is it terminated?", &[1]);
    check_word_search("en", &texts, "it is that", &[]);
    check_word_search("en", &texts, "payment terms", &[2]);
}

#[test]
fn queries_have_no_operators() {
    let texts = ["alpha beta", "beta gamma", "field text body"];
    check_word_search("en", &texts, "alpha AND NOT beta", &[0, 1]);
    check_word_search("en", &texts, "+gamma -beta", &[1, 0]);
    check_word_search("en", &texts, "text:alpha^9999 OR *:*", &[0, 2]);
    for hostile in ["\"", "((((", "[a TO", "heading:", "\\", "/.*/", "\0", "🦀", "\u{202e}", "~1 ^", "'; DROP TABLE--"]
    {
        let index = Index::new(&passages(&texts), &Analysis::new(&PLAIN, &[]), None).unwrap();
        assert_eq!(parts(&index.search(&query(hostile), &WORDS_ONLY, None, None).unwrap()), [0; 0], "{hostile}");
    }
    let long = "alpha ".repeat(200_000);
    check_word_search("en", &texts, &long, &[0]);
}

#[test]
fn equal_passages_are_in_document_order() {
    // Scores would differ in their last digits if words were summed in different orders.
    let texts: Vec<String> = (0..300).map(|n| format!("gamma alpha delta beta {}", "omega ".repeat(n % 2))).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let expect: Vec<usize> = (0..300).step_by(2).take(10).collect();
    check_word_search("en", &texts, "beta delta gamma alpha", &expect);
}

#[test]
fn empty_passages_and_queries_give_no_results() {
    check_word_search("en", &[], "anything", &[]);
    check_word_search("en", &["", "   ", "the and of"], "anything", &[]);
    check_word_search("en", &["a text"], "", &[]);
    check_word_search("en", &["a text"], " \n ", &[]);
    let index = Index::new(&[], &Analysis::new(&PLAIN, &[]), Some(&LetterEmbedder)).unwrap();
    let results =
        index.search(&query("x"), &SearchOptions::default(), Some(&LetterEmbedder), Some(&ReverseReranker)).unwrap();
    assert_eq!(results.ranked, [[]]);
    assert_eq!(index.search(&[], &SearchOptions::default(), Some(&LetterEmbedder), None).unwrap().ranked.len(), 0);
}

#[test]
fn short_bodies_are_not_candidates() {
    let texts = ["Security | ", "Security | x", "Security | of the system x"];
    let index = Index::new(&passages(&texts), &Analysis::new(&PLAIN, &[]), Some(&LetterEmbedder)).unwrap();
    let check = |least: usize, expect: &[usize]| {
        let options = SearchOptions { min_candidate_length: least, bm25_weight: 0.5, rerank: false, ..WORDS_ONLY };
        let mut found = parts(&index.search(&query("security x"), &options, Some(&LetterEmbedder), None).unwrap());
        found.sort_unstable();
        assert_eq!(found, expect);
    };
    check(0, &[0, 1, 2]);
    check(1, &[1, 2]);
    check(2, &[2]);
    check(1000, &[]);
}

#[test]
fn bm25_weight_selects_the_rankings() {
    let texts = ["apple x", "pear y", "apple pear y", "   "];
    let index = Index::new(&passages(&texts), &Analysis::new(&PLAIN, &[]), Some(&LetterEmbedder)).unwrap();
    let search = |weight: f64, embedder: Option<&dyn Embedder>| {
        let options = SearchOptions { bm25_weight: weight, ..WORDS_ONLY };
        index.search(&query("apple y"), &options, embedder, None)
    };
    // With weight 1 the embedder is not called; with weight 0 there are no word scores.
    let words = search(1.0, None).unwrap();
    assert_eq!((parts(&words), words.embedder.calls), (vec![2, 0, 1], 0));
    assert!(words.ranked[0].iter().all(|hit| hit.embedding.is_none() && hit.bm25.is_some()));
    let vectors = search(0.0, Some(&LetterEmbedder)).unwrap();
    assert!(vectors.ranked[0].iter().all(|hit| hit.bm25.is_none() && hit.embedding.is_some()));
    assert_eq!((parts(&vectors).len(), vectors.embedder.calls), (3, 1));
    let both = search(0.5, Some(&LetterEmbedder)).unwrap();
    assert_eq!(both.ranked[0][0].part, 2);
    let refused = search(0.5, None).unwrap_err().to_string();
    assert!(refused.contains("`bm25_weight` 0.5") && refused.contains("no embedder"), "{refused}");
    for (weight, expect) in [(-0.1, "-0.1 is not from 0"), (1.5, "1.5 is not from 0"), (f64::NAN, "NaN is not from 0")]
    {
        let message = search(weight, Some(&LetterEmbedder)).unwrap_err().to_string();
        assert!(message.contains("`bm25_weight`") && message.contains(expect), "{message}");
    }
}

#[test]
fn reranker_orders_the_candidates_if_enabled() {
    let texts = ["apple apple apple", "apple apple pear", "apple pear pear"];
    let index = Index::new(&passages(&texts), &Analysis::new(&PLAIN, &[]), None).unwrap();
    let search = |options: SearchOptions, reranker: Option<&dyn Reranker>| {
        let results = index.search(&query("apple"), &options, None, reranker).unwrap();
        (parts(&results), results.ranked[0].first().and_then(|hit| hit.rerank))
    };
    let options = SearchOptions { rerank: true, ..WORDS_ONLY };
    assert_eq!(search(options, None), (vec![0, 1, 2], None));
    assert_eq!(search(options, Some(&ReverseReranker)), (vec![2, 1, 0], Some(2.0)));
    assert_eq!(search(SearchOptions { rerank: false, ..options }, Some(&ReverseReranker)), (vec![0, 1, 2], None));
    // `search_limit` bounds the candidates, `rerank_top_n` the results.
    assert_eq!(search(SearchOptions { search_limit: 2, ..options }, Some(&ReverseReranker)), (vec![1, 0], Some(1.0)));
    assert_eq!(search(SearchOptions { rerank_top_n: 1, ..options }, Some(&ReverseReranker)), (vec![2], Some(2.0)));
}

#[test]
fn vectors_and_scores_of_wrong_size_are_errors() {
    struct Bad;
    impl Embedder for Bad {
        fn id(&self) -> String {
            "bad".to_owned()
        }
        fn embed(&self, _: &[String], side: Side) -> Result<Embedded, DocumentError> {
            let vectors = vec![vec![vec![1.0; if side == Side::Query { 3 } else { 2 }]]];
            Ok(Embedded { vectors, ..Embedded::default() })
        }
    }
    impl Reranker for Bad {
        fn id(&self) -> String {
            "bad".to_owned()
        }
        fn rerank(&self, _: &RerankRequest<'_>) -> Result<Reranked, DocumentError> {
            Ok(Reranked { scores: vec![f64::NAN], ..Reranked::default() })
        }
    }
    let check = |result: Result<SearchResults, DocumentError>, expect: &str| {
        let message = result.unwrap_err().to_string();
        assert!(message.contains(expect), "{message}");
    };
    let one = Index::new(&passages(&["one"]), &Analysis::new(&PLAIN, &[]), Some(&Bad)).unwrap();
    check(
        one.search(&query("one"), &SearchOptions { bm25_weight: 0.5, ..SearchOptions::default() }, Some(&Bad), None),
        "vectors of 3 numbers, but those of the index have 2",
    );
    check(
        one.search(&query("one"), &SearchOptions { rerank: true, ..WORDS_ONLY }, None, Some(&Bad)),
        "the reranker bad",
    );
    let two = Index::new(&passages(&["one", "two"]), &Analysis::new(&PLAIN, &[]), Some(&Bad));
    assert!(two.is_err_and(|error| error.to_string().contains("2 texts were given, and 1 vectors came back")));
}

#[test]
fn options_are_read_from_the_template() {
    let settings = SearchV1 { search_limit: Some(7), bm25_weight: Some(0.25), ..SearchV1::default() };
    let expect = SearchOptions { search_limit: 7, bm25_weight: 0.25, ..SearchOptions::default() };
    assert_eq!(SearchOptions::default().with(&settings), expect);
    assert_eq!(SearchOptions::default().with(&SearchV1::default()), SearchOptions::default());
    let message = SearchOptions { rerank_top_n: 0, ..expect }.check().unwrap_err().to_string();
    assert!(message.contains("`rerank_top_n` cannot be used: 0 finds nothing"), "{message}");
}

/// The messages of opening an embedder and a reranker of this provider.
fn open_both(provider: &str, path: Option<&Path>) -> [String; 2] {
    let env = ProviderEnv { variable: &|_| None, folder: Path::new("/nowhere") };
    let path = path.map(|path| path.display().to_string());
    let embedder =
        EmbeddingProviderV1 { provider: provider.into(), path: path.clone(), ..EmbeddingProviderV1::default() };
    let reranker = RerankProviderV1 { provider: provider.into(), path, ..RerankProviderV1::default() };
    let opened = |id: Option<String>| format!("opened {}", id.unwrap_or_else(|| "nobody".to_owned()));
    [
        open_embedder(&embedder, &env).map_or_else(|error| error.to_string(), |one| opened(one.map(|one| one.id()))),
        open_reranker(&reranker, &env).map_or_else(|error| error.to_string(), |one| opened(one.map(|one| one.id()))),
    ]
}

#[test]
fn every_provider_reports_missing_settings() {
    // The built-in reranker is the only provider that is not an embedder as well.
    assert!(EMBEDDERS.iter().map(|entry| entry.name).eq(RERANKERS.iter().skip(1).map(|entry| entry.name)));
    assert_eq!(
        open_both("embedded", None),
        ["unknown embedder `embedded`; there are folder, http, none", "opened embedded/coverage-1"]
    );
    for entry in EMBEDDERS {
        for message in open_both(entry.name, None) {
            let known = match entry.name {
                "none" => message == "opened nobody",
                "folder" if cfg!(feature = "models") => message.contains("`folder` needs `path: …`"),
                "folder" => message.contains("install it with `--features models`"),
                _ => message.contains("needs `model: …`"),
            };
            assert!(known, "{message}");
        }
    }
    assert_eq!(open_both("htp", None)[0], "unknown embedder `htp`; did you mean `http`?");
    assert_eq!(open_both("gpt", None)[1], "unknown reranker `gpt`; there are embedded, folder, http, none");
}
